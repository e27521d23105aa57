"""The best mixture: limits that hold, and that are close."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from novikoff.core.errors import InputError
from novikoff.experts.best_mixture import BestMixture


def seen(p, y, pieces=1):
    sums = BestMixture(p.shape[1])
    for part, outcomes in zip(np.array_split(p, pieces), np.array_split(y, pieces), strict=True):
        sums.add(part, outcomes)
    return sums


def exact_loss(weights, p, y):
    """The squared loss of the weights made to sum to 1, in fractions."""
    w = [Fraction(float(value)) for value in weights]
    whole = sum(w)
    rows = ([Fraction(float(value)) for value in row] for row in p)
    return sum(
        (sum(a * b for a, b in zip(w, row, strict=True)) / whole - Fraction(float(outcome))) ** 2
        for row, outcome in zip(rows, y, strict=True)
    )


unit = st.floats(0, 1)


@given(st.data(), st.integers(1, 4), st.integers(1, 6))
def test_the_limits_hold_every_vertex_and_every_point_of_a_grid_between_them(data, experts, rounds):
    p = np.array(data.draw(st.lists(unit, min_size=rounds * experts, max_size=rounds * experts)))
    p = p.reshape(rounds, experts)
    y = np.array(data.draw(st.lists(unit, min_size=rounds, max_size=rounds)))
    found = seen(p, y).best()
    assert np.all(found.weights >= 0)
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-14)
    assert found.lower <= exact_loss(found.weights, p, y) <= found.upper
    assert found.upper - found.lower <= 1e-8 * rounds
    for _ in range(5):
        counts = data.draw(st.lists(st.integers(0, 4), min_size=experts, max_size=experts))
        if sum(counts):
            assert exact_loss(counts, p, y) >= found.lower


def test_a_mixture_of_a_grid_is_no_better():
    rng = np.random.default_rng(4)
    p, y = rng.random((30, 3)), rng.random(30)
    found = seen(p, y).best()
    grid = [(i, j, 60 - i - j) for i in range(61) for j in range(61 - i)]
    best = min(float(np.sum((p @ (np.array(w) / 60) - y) ** 2)) for w in grid)
    assert found.upper <= best <= found.upper * 1.01


def test_a_general_solver_finds_the_same():
    rng = np.random.default_rng(3)
    p = rng.random((500, 8))
    y = np.clip(p @ [0.5, 0.3, 0.2, 0, 0, 0, 0, 0] + rng.normal(0, 0.1, 500), 0, 1)
    found = seen(p, y, pieces=7).best()
    loss = lambda w: float(np.sum((p @ w - y) ** 2))
    slope = lambda w: 2 * p.T @ (p @ w - y)
    solved = minimize(loss, np.full(8, 1 / 8), jac=slope, method="SLSQP", bounds=[(0, 1)] * 8,
                      constraints={"type": "eq", "fun": lambda w: w.sum() - 1}, options={"ftol": 1e-14})  # fmt: skip
    assert found.lower <= solved.fun * (1 + 1e-9)
    assert found.upper <= solved.fun * (1 + 1e-6)
    assert found.upper - found.lower <= 1e-9 * found.upper + 1e-9


def test_one_expert_copies_and_many_more_experts_than_rounds():
    rng = np.random.default_rng(2)
    y = rng.random(100)
    p = rng.random((100, 1))
    alone = seen(p, y).best()
    assert alone.weights.tolist() == [1.0]
    assert alone.lower <= np.sum((p[:, 0] - y) ** 2) <= alone.upper
    copies = seen(np.repeat(p, 6, axis=1), y).best()
    assert copies.upper == pytest.approx(alone.upper, rel=1e-9)
    many = rng.random((5, 60))
    wide = seen(many, many @ rng.dirichlet(np.ones(60))).best()
    assert 0.0 <= wide.lower <= wide.upper <= 1e-8


def test_a_mixture_beats_two_experts_that_err_to_either_side():
    p = np.tile([[0.0, 1.0]], (1000, 1))
    found = seen(p, np.full(1000, 0.5)).best()
    assert found.weights == pytest.approx([0.5, 0.5])
    assert found.upper <= 1e-6  # either expert has 250


def test_pieces_make_no_difference_beyond_the_limits():
    rng = np.random.default_rng(9)
    p, y = rng.random((5000, 4)), rng.random(5000)
    one, many = seen(p, y).best(), seen(p, y, pieces=77).best()
    assert max(one.lower, many.lower) <= min(one.upper, many.upper)
    assert one.upper - one.lower <= 1e-8


@pytest.mark.parametrize("gap", [10.0, 0.02, 1e-3])
def test_a_search_that_stops_early_has_limits_that_hold(gap):
    rng = np.random.default_rng(6)
    p, y = rng.random((200, 6)), rng.random(200)
    rough, fine = seen(p, y).best(gap), seen(p, y).best()
    assert rough.lower <= fine.lower <= fine.upper <= rough.upper
    assert rough.upper - rough.lower <= 200 * min(gap, 2.0) + 1e-6
    assert gap < 10 or (rough.weights.max() == 1.0 and rough.upper > fine.upper + 1)


def test_no_rounds_have_no_loss():
    found = BestMixture(3).best()
    assert (found.lower, found.upper) == (0.0, 0.0)
    assert found.weights.sum() == 1.0


@pytest.mark.parametrize(
    ("p", "y", "words"),
    [
        ([[0.5, 1.5]], [0.0], "expert 1 has .* in round 1"),
        ([[0.5, float("nan")]], [0.0], "expert 1 has .* in round 1"),
        ([[0.5, 0.5]], [-0.1], "outcome must be"),
        ([[0.5]], [0.1], "a row of 2"),
        ([[0.5, 0.5]], [0.1, 0.2], "a row of 2"),
    ],
)
def test_invalid_predictions_are_refused_and_change_nothing(p, y, words):
    sums = BestMixture(2)
    with pytest.raises(InputError, match=words):
        sums.add(p, y)
    assert sums.rounds == 0
