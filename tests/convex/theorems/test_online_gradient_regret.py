import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.convex._loops import gradient_layout as at
from novikoff.convex.comparators.ball import best_in_ball, squared_loss
from novikoff.convex.online_gradient import OnlineGradient
from novikoff.convex.outcome_range import OutcomeRange
from novikoff.convex.theorems.online_gradient_regret import a_priori, online_gradient_regret
from novikoff.core.types import Batch, Run
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger

CASES = {
    "online_gradient_regret": cases.of_targets(
        lambda: cases.run_of(cases.broken(nk.OnlineGradient(), 4.0), cases.ones(90)),
        lambda: cases.run_of(
            nk.OnlineGradient(radius=2.0, low=-2.0, high=2.0, loss="absolute", horizon=100),
            nk.RegressionArrays(np.eye(100), np.full(100, 2.0)),
        ),
        [((1.0,), 1.0)] * 90,
        (lambda: cases.changed(cases.run_of(nk.OnlineGradient(), cases.ones(9)), rate=9.0), "never increased"),
    ),
}
"""Cases for tests/test_every_theorem.py."""


def found(ledger):
    (certificate,) = [c for c in ledger.certify() if c.theorem == "online_gradient_regret"]
    return certificate


def run_of(learner, loss):
    facts = learner.facts()
    before = dataclasses.replace(facts, rounds=0)
    return Run(before, facts, facts.rounds, 0, loss, (0, 0), False, True, loss=loss)


def test_golden_values_of_the_bounds():
    assert a_priori("fixed", radius=2.0, steepest=1.0, rounds=100, horizon=100) == 20.0  # D = W = 2
    assert a_priori("anytime", radius=1.0, steepest=1.0, rounds=100) == 30.0  # D = 2W = 2
    assert a_priori("adaptive", radius=1.0, steepest=1.0, rounds=100) == pytest.approx(20.0 * math.sqrt(2.0))


def test_the_theorem_is_tight_on_one_example_again_and_again():
    learner = OnlineGradient(loss="absolute", horizon=64)  # a rate of 1/8: eight rounds to the surface
    certificate = found(nk.play(learner, (np.ones((8, 1)), np.ones(8))))
    assert certificate.observed == 4.5
    assert 4.5 <= certificate.bound <= 4.5 + 1e-8


@given(st.data())
def test_the_theorem_holds_on_arbitrary_streams_against_arbitrary_comparators(data):
    width = data.draw(st.integers(1, 3))
    rate = data.draw(st.sampled_from(["fixed", "anytime", "adaptive"]))
    loss = data.draw(st.sampled_from(["squared", "absolute"]))
    learner = OnlineGradient(
        radius=data.draw(st.sampled_from([0.01, 1.0, 30.0])), bias=data.draw(st.sampled_from([0.0, 0.5])), loss=loss,
        rate=rate, horizon=data.draw(st.integers(1, 40)) if rate == "fixed" else None,
        hindsight=data.draw(st.sampled_from([0, 64])),
    )  # fmt: skip
    rows = st.tuples(st.lists(st.floats(-0.5, 0.5), min_size=width, max_size=width), st.floats(-1.0, 1.0))
    stream = data.draw(st.lists(rows, min_size=1, max_size=40))
    ledger = nk.play(learner, stream)
    certificate = found(ledger)
    assert certificate.status in ("valid", "vacuous"), str(certificate)
    x = np.hstack([np.array([row for row, _ in stream]), np.full((len(stream), 1), learner.bias)])
    y = np.array([outcome for _, outcome in stream])
    for _ in range(3):
        u = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=width + 1, max_size=width + 1)))
        u *= learner.radius / max(np.linalg.norm(u), 1e-3)
        lost = ((x @ u - y) ** 2 if loss == "squared" else np.abs(x @ u - y)).sum()
        assert ledger.loss - lost <= certificate.quantities["against_all"] + 1e-7
        assert ledger.loss - lost <= certificate.bound
        if learner.hindsight and loss == "squared":
            assert certificate.quantity == "regret against the best in the ball"
            assert ledger.loss - lost <= certificate.observed + 1e-7


@given(st.data())
def test_with_a_learned_range_it_holds_for_the_outcomes_as_they_were_scaled(data):
    loss = data.draw(st.sampled_from(["squared", "absolute"]))
    learner = OnlineGradient(radius=data.draw(st.sampled_from([0.01, 1.0, 30.0])), bias=0.5, loss=loss)
    rows = st.tuples(st.lists(st.floats(-9.0, 9.0), min_size=2, max_size=2), st.floats(-50.0, 300.0))
    stream = data.draw(st.lists(rows, min_size=1, max_size=40))
    y = np.array([outcome for _, outcome in stream])
    game = Game(learner)
    seen, scaled, said = OutcomeRange(), [], []
    for row, outcome in stream:
        scaled.append(seen.scaled(np.array([outcome])).item())
        said.append(learner.weights[:2] @ row + 0.5 * learner.constant_weight if learner.rounds else 0.0)
        game.learn_one(row, outcome)
        seen.see(np.array([outcome]))
    certificate = found(game.ledger)
    assert certificate.status in ("valid", "vacuous"), str(certificate)
    assert certificate.quantity.startswith("regret on scaled outcomes" if np.abs(y).max() > 1.0 else "regret against")
    x = np.hstack([np.array([row for row, _ in stream]), np.full((len(stream), 1), 0.5)])
    cost = (lambda p: ((p - scaled) ** 2).sum()) if loss == "squared" else (lambda p: np.abs(p - scaled).sum())
    u = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=3, max_size=3)))
    u *= learner.radius / max(np.linalg.norm(u), 1e-3)
    assert cost(np.array(said)) - cost(x @ u) <= certificate.bound + 1e-7


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("rate", ["fixed", "anytime", "adaptive"])
def test_outcome_always_on_the_other_side_does_not_break_the_bound(loss, rate):
    rng = np.random.default_rng(0)
    for radius in (0.1, 1.0, 10.0):
        learner = OnlineGradient(radius=radius, loss=loss, rate=rate, horizon=2000 if rate == "fixed" else None)
        game = Game(learner)
        for _ in range(2000):
            x = rng.choice([-0.5, 0.5], 4)
            game.learn_one(x, -1.0 if learner.predict_one(x) > 0 else 1.0)
        certificate = found(game.ledger)
        assert certificate.status in ("valid", "vacuous")
        if loss == "absolute":
            assert certificate.observed >= 0.2 * certificate.bound  # and comes near it
        assert certificate.bound <= certificate.quantities["a_priori"] * (1 + 1e-6)


def test_long_streams_leave_little_to_rounding():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200_000, 8))
    x /= np.linalg.norm(x, axis=1)[:, None]
    y = np.clip(x @ rng.normal(size=8) * 0.3, -1, 1)
    certificate = found(nk.play(OnlineGradient(radius=1.0), (x, y)))
    assert certificate.quantities["rounding"] <= 1e-4 * certificate.bound


class Forgetful(OnlineGradient):
    """Begins every round with zero weights."""

    def play_one(self, x, y):
        played = super().play_one(x, y)
        self._held[at.WEIGHT] = 0.0
        self._totals[[at.WEIGHT, at.LENGTH2]] = 0.0
        return played


class Backward(OnlineGradient):
    """Steps along the gradient."""

    def play_one(self, x, y):
        before = self._held[at.WEIGHT].copy() if self.rounds else 0.0
        played = super().play_one(x, y)
        self._held[at.WEIGHT] = 2.0 * before - self._held[at.WEIGHT]
        return played


@pytest.mark.parametrize("broken", [Forgetful, Backward])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_broken_learner_is_detected(broken, loss):
    learner = broken(radius=1.0, loss=loss, rate="adaptive")
    game = Game(learner)
    for _ in range(400):
        game.learn_one(np.array([1.0]), 1.0)
    assert found(game.ledger).status == "violated"


def test_lost_rounds_and_infinite_values_are_void():
    learner = OnlineGradient()
    learner.learn_many(Batch(np.ones((5, 1)), np.ones(5), 1))
    run = run_of(learner, 3.0)
    assert online_gradient_regret(run).status != "void"
    for wrong, words in [
        ({"rounds": 6}, "5 of the learner's 6"),
        ({"pull": math.inf}, "finite"),
    ]:
        certificate = online_gradient_regret(dataclasses.replace(run, after=dataclasses.replace(run.after, **wrong)))
        assert certificate.status == "void"
        assert words in certificate.reason


def test_bound_includes_the_allowance_for_rounding():
    learner = OnlineGradient()
    for k in range(1, 50):
        learner.play_one([1.0 / k, 0.5], 1.0 / 3.0)
    run = run_of(learner, 3.0)
    doubtful = dataclasses.replace(run.after, doubt=run.after.doubt + 1.0)
    bounds = [online_gradient_regret(dataclasses.replace(run, after=facts)).bound for facts in (run.after, doubtful)]
    assert bounds[1] - bounds[0] == pytest.approx(1.0, rel=1e-6)


def test_nothing_happened_yet():
    certificate = found(Ledger(OnlineGradient()))
    assert certificate.observed == 0.0
    assert certificate.status == "vacuous"


@given(st.integers(1, 6), st.integers(0, 1000), st.floats(0.01, 5.0))
def test_the_best_in_the_ball_is_no_worse_than_any_other(width, seed, radius):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(20, width)) @ np.diag(rng.random(width) > 0.3)
    y = rng.normal(size=20)
    gram, moments, outcomes = x.T @ x, x.T @ y, float(y @ y)
    best = best_in_ball(np.tril(gram), moments, radius)
    lost, doubt = squared_loss(np.tril(gram), moments, outcomes, best, 20)
    assert np.linalg.norm(best) <= radius
    assert lost == pytest.approx(np.sum((x @ best - y) ** 2), abs=1e-9)
    assert doubt < 1e-9
    for u in rng.normal(size=(20, width)):
        u *= radius * rng.random() / np.linalg.norm(u)
        assert lost <= np.sum((x @ u - y) ** 2) + 1e-9


def test_the_best_in_the_ball_is_the_least_squares_solution_where_that_is_inside():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    solution = np.linalg.lstsq(x, y, rcond=None)[0]
    assert best_in_ball(x.T @ x, x.T @ y, 10.0) == pytest.approx(solution)
    assert best_in_ball(np.zeros((2, 2)), np.zeros(2), 1.0).tolist() == [0.0, 0.0]
