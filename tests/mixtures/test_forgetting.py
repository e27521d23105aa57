"""Second-order logistic regression that forgets."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import InputError, ModelFileError
from novikoff.mixtures.forgetting import ForgettingLogistic


def twin(rows, y, gamma, ridge):
    """The rule with a solve in every round: log-odds, and the last A."""
    size, kappa = rows.shape[1] + 1, math.tanh(3.0) / 3.0
    a, b, played = ridge * np.eye(size), np.zeros(size), []
    for t in range(len(y)):
        seen = rows[: t + 1]
        deviation = np.nanstd(seen, axis=0)
        s = (rows[t] - np.nanmean(seen, axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
        x = np.append(np.clip(np.where(np.isnan(s) | (deviation == 0.0), 0.0, s), -4.0, 4.0), 1.0)
        px = np.linalg.solve(a, x)
        z0, v = px @ b, px @ x
        low, high = sorted((z0, z0 - math.copysign(v / 2.0, z0)))
        for _ in range(100):
            z = 0.5 * (low + high)
            low, high = (z, high) if z + v / 2.0 * math.tanh(z / 2.0) < z0 else (low, z)
        p = 1.0 / (1.0 + math.exp(-z))
        g, h = p - (y[t] > 0), kappa * p * (1.0 - p)
        a = gamma * (a + h * np.outer(x, x))
        a[t % size, t % size] += size * (1.0 - gamma) * ridge
        b = gamma * (b - (g - h * z) * x)
        played.append(z)
    return np.array(played), a


def stream(rounds, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(3.0, [1.0, 5.0, 0.1], (rounds, 3))
    y = np.where(rows[:, 0] + rng.normal(0.0, 0.5, rounds) > 3.0, 1, -1).astype(np.int8)
    return rows, y


@pytest.mark.parametrize("gamma", [1.0, 0.99, 0.9])
def test_rule_agrees_with_a_solve_in_every_round(gamma):
    rows, y = stream(150)
    rows[::7, 1] = np.nan
    rows[0] = 1.0, 2.0, np.nan
    learner = ForgettingLogistic(3, gamma, 2.0)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        expected, a = twin(rows, y, gamma, 2.0)
    np.testing.assert_allclose(learner.play(rows, y), expected, atol=1e-9)
    np.testing.assert_allclose(learner._inverse, np.linalg.inv(a), atol=1e-10)


def test_inverse_stays_symmetric_and_finite_for_long():
    rows, y = stream(40_000)
    for gamma in (0.99, 0.9):
        learner = ForgettingLogistic(3, gamma)
        played = learner.play(rows, y)
        assert np.isfinite(played).all()
        assert (learner._inverse == learner._inverse.T).all()
        assert np.linalg.eigvalsh(learner._inverse).min() > 0.0
        assert np.linalg.eigvalsh(learner._inverse).max() < 10.0  # the ridge is never forgotten


def test_forgetting_follows_a_change():
    rows, y = stream(4000, 1)
    y[2000:] *= -1
    lost = {g: np.logaddexp(0.0, -y * ForgettingLogistic(3, g).play(rows, y))[2050:2500].mean() for g in (1.0, 0.99)}
    assert lost[0.99] < 0.75 * lost[1.0]


def test_random_features_learn_nonlinear_target():
    rng = np.random.default_rng(2)
    rows = rng.normal(0.0, 1.0, (3000, 2))
    y = np.where(rows[:, 0] * rows[:, 1] > 0.0, 1, -1).astype(np.int8)
    loss = lambda learner: np.logaddexp(0.0, -y * learner.play(rows, y)).mean()
    assert loss(ForgettingLogistic(2)) > 0.69
    assert loss(ForgettingLogistic(2, ridge=10.0, features=96)) < 0.45


@given(st.lists(st.tuples(st.floats(-9, 9), st.sampled_from([math.nan, 1.0, 2.0]), st.sampled_from([-1, 1])),
                min_size=1, max_size=20), st.integers(0, 20), st.sampled_from([0, 8]))  # fmt: skip
def test_batches_rows_and_resumed_learners_are_the_same_to_the_bit(examples, cut, features):
    rows, y = np.array([row[:2] for row in examples]), np.array([row[2] for row in examples], dtype=np.int8)
    whole, parts = (ForgettingLogistic(2, 0.9, features=features) for _ in range(2))
    expected, found = whole.play(rows, y), []
    for t in range(len(y)):
        looked = parts.look(rows[t : t + 1])[0]
        found.append(parts.play(rows[t : t + 1], y[t : t + 1])[0])
        assert looked == found[-1]
        if t == cut:
            parts = ForgettingLogistic.restore(parts.state())
    assert expected.tolist() == found
    assert repr(whole.state()) == repr(parts.state())


def test_bad_arguments_rows_and_states_are_refused():
    for given_ in ({"width": 0}, {"width": 2, "gamma": 0.0}, {"width": 2, "ridge": 0.0}, {"width": 2, "features": -1}):
        with pytest.raises(InputError):
            ForgettingLogistic(**given_)
    learner = ForgettingLogistic(2)
    for rows in ([[1.0]], [[1.0, math.inf]]):
        with pytest.raises(InputError, match="2 numbers"):
            learner.play(rows, np.array([1], dtype=np.int8))
    assert learner.rounds == 0
    with pytest.raises(ModelFileError):
        ForgettingLogistic.restore({**learner.state(), "inverse": np.full((3, 3), math.nan)})
