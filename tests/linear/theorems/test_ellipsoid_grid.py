"""The grid corollary: golden values, with and without the constant feature, and where the notes' bound fails."""

import dataclasses
import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.comparators.tally import Comparator
from novikoff.core.types import Run
from novikoff.linear.ellipsoid import Ellipsoid
from novikoff.linear.theorems.ellipsoid_facts import Ball, Body, log_shrink
from novikoff.linear.theorems.ellipsoid_grid import before_the_game, ellipsoid_grid, grid_margin
from novikoff.linear.theorems.ellipsoid_margin import ellipsoid_margin

CASES = {
    "ellipsoid_grid": dataclasses.replace(
        cases.ellipsoid_case,
        game=lambda stream: cases.run_of(nk.Ellipsoid(grid=3, bias=3.0), stream),
        broken=lambda: cases.run_of(cases.broken(nk.Ellipsoid(grid=1, width=2)), cases.on_one_side(60, 2)),
        void=((lambda: cases.run_of(nk.Ellipsoid(grid=1), cases.BOTH), "the same example with opposite labels"),),
        unless="on the grid",
        sample=[((1.0, 0.2), 1)] * 90,
    ),
}
"""Cases for tests/test_every_theorem.py."""

GOLDEN = {
    (2, 1): (13.183347, 8.398404),
    (2, 2): (26.366695, 16.796807),
    (2, 10): (63.639659, 40.541414),
    (5, 10): (372.996366, 308.738393),
    (10, 50): (2227.867643, 2021.950750),
}


def by_volume(d, g):
    return d * math.log1p(1.0 / g) / log_shrink(d)


def play(learner, rows, labels, u):
    """The run on whole rows beside the whole comparator u, the weight of the bias last, exactly."""
    before, bias = learner.facts(), learner.bias
    mistakes = sum(learner.play_one(np.array(x, dtype=float), y) != y for x, y in zip(rows, labels, strict=True))
    normalize = bias == 0.0
    lengths = [(math.sqrt(sum(a * a for a in x)) or 1.0) if normalize else 1.0 for x in rows]
    seen = [[Fraction(a / length) for a in x] + [Fraction(bias)] for x, length in zip(rows, lengths, strict=True)]
    margins = [y * sum(Fraction(a) * b for a, b in zip(u, x, strict=True)) for x, y in zip(seen, labels, strict=True)]
    found = [Comparator(0, 1.0, Fraction(0), Fraction(len(rows)), Fraction(len(rows)), Fraction(0))]
    if min(margins) > 0:
        square = sum(Fraction(a) ** 2 for a in u) / min(margins) ** 2
        found.append(Comparator(1, float(min(margins)), square, Fraction(0), Fraction(0), Fraction(0)))
    tracked = SimpleNamespace(
        rows=len(rows), square=max(sum(a * a for a in x) for x in seen), comparators=tuple(found),
        directions=(np.array(u, dtype=float),), bias=bias, normalize=normalize, invalid_reason="", witness=None,
    )  # fmt: skip
    return Run(before=before, after=learner.facts(), rounds=len(rows), mistakes=mistakes, expected=float(mistakes),
               constants=(0, 0), adaptive=False, deterministic=True, tracked=tracked)  # fmt: skip


def test_golden_bounds_on_grids():
    for (d, n), (plain, volume) in GOLDEN.items():
        g = grid_margin(d, n)
        assert before_the_game(d, g) == pytest.approx(plain, abs=1e-6)
        assert by_volume(d, g) == pytest.approx(volume, abs=1e-6)


def test_golden_bounds_with_the_constant_feature():
    for d, n in GOLDEN:
        g = grid_margin(d, n, 1.0)
        wanted = 2 * (d + 1) * (d + 2) * math.log(1 + 2 * n**2 * math.sqrt(d + 1) * math.sqrt(d + 1 / (4 * n**4)))
        assert before_the_game(d + 1, g) == pytest.approx(wanted, rel=1e-12)
        assert by_volume(d + 1, g) < wanted


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_bound_of_the_notes_fails_on_the_smallest_grid(d):
    rows = [tuple(int(i == j) for j in range(d)) for i in range(d)]
    run = play(Ellipsoid(grid=1), rows, [-1] * d, [-1] * d + [0])  # w* = (-1, .., -1), never 0 on these
    notes = 2 * d * (2 * d + 2) * math.log(1)
    assert notes == 0.0
    assert run.mistakes == d
    found = ellipsoid_grid(run)
    assert found.observed <= found.bound
    assert found.bound == math.floor(by_volume(d, grid_margin(d, 1)) + 0.01)


strict = st.sampled_from([(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (3, 4), (4, 2)])


@given(strict, st.data())
def test_the_corollary_holds_for_strict_targets_without_a_constant(size, data):
    d, n = size
    point = st.lists(st.integers(-n, n), min_size=d, max_size=d)
    target, rows = data.draw(point), data.draw(st.lists(point, min_size=1, max_size=30))
    rows = [x for x in rows if np.dot(x, target)] * 3
    if not rows:
        return
    run = play(Ellipsoid(grid=n), rows, [1 if np.dot(x, target) > 0 else -1 for x in rows], [*target, 0])
    found = ellipsoid_grid(run)
    assert found.status in ("valid", "vacuous"), str(found)
    assert found.observed <= found.bound <= by_volume(d, grid_margin(d, n)) + 0.01
    assert found.bound <= found.quantities["before"]
    assert ellipsoid_margin(run).bound <= found.bound


@given(strict, st.booleans(), st.data())
def test_the_corollary_holds_for_ties_with_a_constant(size, unit, data):
    d, n = size
    point = st.lists(st.integers(-n, n), min_size=d, max_size=d)
    target, rows = data.draw(point), data.draw(st.lists(point, min_size=1, max_size=30))
    labels = [1 if np.dot(x, target) >= 0 else -1 for x in rows]
    bias = 1.0 if unit else float(n)
    u = [2 * int(bias) * a for a in target] + [1]  # (w*, 1/(2 bias)): ties are +1/2, the rest at least 1/2
    run = play(Ellipsoid(bias=bias, grid=n), rows * 3, labels * 3, u)
    found = ellipsoid_grid(run)
    assert found.status in ("valid", "vacuous"), str(found)
    assert found.observed <= found.bound <= by_volume(d + 1, grid_margin(d, n, bias / n)) + 0.01


def test_ties_without_a_constant_are_void():
    rows = list(itertools.product((-1, 0, 1), repeat=2)) * 400
    run = play(Ellipsoid(grid=1), rows, [1 if -x[0] >= 0 else -1 for x in rows], [-1, 0, 0])
    assert run.mistakes > 500
    assert ellipsoid_grid(run).status == "void"


def test_a_margin_below_that_of_the_grid_is_void():
    rows, labels = [(100, 1), (100, -1)], [1, -1]  # not on the grid of 1: the margin is 1/100
    run = play(Ellipsoid(grid=1), rows * 60, labels * 60, [0, 1, 0])
    found = ellipsoid_grid(run)
    assert found.status == "void"
    assert "grid" in found.reason
    assert ellipsoid_margin(run).status == "valid"


def test_no_grid_certificate_without_a_grid():
    run = play(Ellipsoid(), [(1, 1)], [-1], [-1, -1, 0])
    assert ellipsoid_grid(run) is None
    named = dataclasses.replace(run, after=dataclasses.replace(run.after, grid=1))
    assert ellipsoid_grid(named) is not None
    assert ellipsoid_grid(dataclasses.replace(named, tracked=None)) is None
    assert ellipsoid_grid(dataclasses.replace(named, after=dataclasses.replace(named.after, margin=0.1))) is None


@pytest.mark.parametrize("bias", [1e-200, 1e-320, 1e120, 1e200])
def test_a_constant_far_from_the_grid_has_a_margin_or_none(bias):
    """Its square would underflow or overflow."""
    learner = Ellipsoid(bias=bias, grid=3, width=2)
    found = ellipsoid_grid(play(learner, [[1, 0], [2, 1]], [1, 1], [1, 0, 0]))
    assert found.status in ("void", "vacuous")
    g = grid_margin(2, 3, Fraction(bias) / 3)
    assert 0.0 < g <= min(bias, 1.0 / bias)
    assert math.isfinite(before_the_game(3, g))


def test_a_margin_too_small_for_squares_still_has_a_reach():
    for g in (1e-170, 1e-300):
        ball = Ball(g, np.array([0.6, 0.8]))
        assert Body(np.ones(2), np.eye(2), np.zeros(2)).reach(ball) == pytest.approx(1.0)
        assert Body(np.array([2.0, 0.5]), np.eye(2), np.array([0.6, 0.0])).reach(ball) == pytest.approx(1.6)
