"""The search with targets that grow with the length of a row: its bracket holds the least bound that there is."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from helpers import first_of
from novikoff.comparators.blocks import Blocks
from novikoff.comparators.descent import Descent
from novikoff.comparators.hindsight import hindsight
from novikoff.comparators.limits import Mixture, lengths_limit
from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.comparators.scale import Kappa, lengths_scale
from novikoff.comparators.search import Task, lengths_search
from novikoff.core.types import Batch
from novikoff.data.arrays import Arrays


def bound(z, u, kappa, passes=1, start=None):
    """passes * (sum of max(0, 1 + kappa ||z||^2 - <u,z>)) - <u,w_1> + kappa ||w_1||^2 + ||u||^2/(4 kappa)."""
    w = np.zeros(len(u)) if start is None else start
    losses = np.maximum(0.0, 1.0 + kappa * np.sum(z * z, axis=1) - z @ u)
    return passes * losses.sum() - u @ w + kappa * (w @ w) + u @ u / (4.0 * kappa)


def least_bound(z, passes=1, start=None):
    """The least bound, by a general convex solver: losses are variables of their own; u = 0 and kappa -> 0 counts."""
    rows, width = z.shape
    w, squares = np.zeros(width) if start is None else start, np.sum(z * z, axis=1)
    scale = float(np.max(squares, initial=0.0))
    if scale == 0.0:
        return float(passes * rows)

    def objective(v):
        u, kappa, losses = v[:width], math.exp(v[width]) / scale, v[width + 1 :]
        value = passes * losses.sum() - u @ w + kappa * (w @ w) + u @ u / (4.0 * kappa)
        slope = kappa * (w @ w) - u @ u / (4.0 * kappa)
        return value, np.concatenate([u / (2.0 * kappa) - w, [slope], np.full(rows, float(passes))])

    def above(v):
        return v[width + 1 :] - 1.0 - math.exp(v[width]) / scale * squares + z @ v[:width]

    def above_slopes(v):
        return np.column_stack([z, -math.exp(v[width]) / scale * squares, np.eye(rows)])

    best = float(passes * rows)
    for first in (-3.0, 0.0):
        begin = np.concatenate([np.zeros(width), [first], np.full(rows, 1.0 + math.exp(first))])
        limits = [(None, None)] * width + [(-12.0, 12.0)] + [(0.0, None)] * rows
        found = minimize(objective, begin, jac=True, bounds=limits, method="SLSQP",
                         constraints={"type": "ineq", "fun": above, "jac": above_slopes},
                         options={"maxiter": 500, "ftol": 1e-12})  # fmt: skip
        if np.all(np.isfinite(found.x)):
            best = min(best, bound(z, found.x[:width], math.exp(found.x[width]) / scale, passes, start))
    return best


def noisy(rows=40, width=3, seed=0, noise=1.0, spread=1.0):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width)) * np.exp(spread * coins.normal(size=(rows, 1)))
    return x, np.where(x @ np.arange(1.0, width + 1) + noise * coins.normal(size=rows) > 0, 1, -1)


@pytest.mark.parametrize("passes", [1, 5, 60])
@pytest.mark.parametrize("noise", [0.0, 1.0, 8.0])
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("seed", first_of(2))
def test_the_bracket_holds_the_optimum_that_a_convex_solver_finds(seed, passes, noise, warm):
    x, y = noisy(20, seed=seed, noise=noise)
    start = np.array([0.5, -1.0, 2.0, 0.0]) if warm else None
    found = hindsight(Arrays(x, y), passes=passes, start=start)
    least = least_bound(x * y[:, None], passes, None if start is None else start[:-1])
    assert found.lengths.low <= least * (1 + 1e-9)
    assert least <= found.lengths.high * (1 + 1e-4)
    assert math.floor(found.lengths.high) <= least * 1.01


rows = st.lists(st.integers(-4, 4) | st.floats(-20, 20), min_size=2, max_size=2)


@given(
    st.lists(st.tuples(rows, st.sampled_from([-1, 1])), min_size=1, max_size=10), st.sampled_from([0.0, 0.5]),
    st.booleans(), st.integers(1, 4), st.none() | st.lists(st.integers(-3, 3), min_size=3, max_size=3),
)  # fmt: skip
def test_the_bracket_holds_the_optimum_of_any_small_stream(stream, bias, normalize, passes, start):
    x, y = np.array([row for row, _ in stream], dtype=np.float64), np.array([label for _, label in stream])
    first = None if start is None else np.array(start, dtype=np.float64)
    found = hindsight(Arrays(x, y), bias, normalize, passes, first)
    lengths = np.linalg.norm(x, axis=1)[:, None]
    unit = np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0.0) if normalize else x
    z = np.column_stack([unit, np.full(len(y), bias)]) * y[:, None]
    kept = z[z.any(axis=1) | (y == -1)]
    least = least_bound(kept, passes, first)
    assert 0.0 <= found.lengths.low <= found.lengths.high
    assert found.lengths.low <= least * (1 + 1e-9) + 1e-9
    assert least <= found.lengths.high * (1 + 1e-3) + 1e-3


def test_a_few_long_rows_are_paid_for_by_themselves_alone():
    """Rows of one more feature, a hundred times as long: the hinge form says nothing any more, the kappa form does."""
    x, y = noisy(600, 5, noise=0.5, spread=0.0)
    x = np.column_stack([x, np.zeros(600)])
    plain = hindsight(Arrays(x, y))
    x[::100], y[::100] = np.eye(6)[5] * 100.0, 1
    found = hindsight(Arrays(x, y))
    assert found.hinge.high == 600.0
    assert found.lengths.high < 1.6 * plain.lengths.high < 300.0
    assert found.lengths.gap <= 0.01


def test_several_passes_over_a_narrow_margin_leave_no_comparator_out():
    """The best u has ||u||^2/(4 kappa) above the rows of one pass."""
    coins = np.random.default_rng(1)
    x = coins.normal(size=(12, 6))
    y = np.where(x @ coins.normal(size=6) > 0, 1, -1)
    x /= np.linalg.norm(x, axis=1)[:, None]
    found = hindsight(Arrays(x, y), passes=100)
    assert 12 < found.lengths.high < 110
    assert found.lengths.gap <= 0.01


def test_rows_of_one_length_are_bounded_as_by_the_hinge_loss():
    x, y = noisy(300, 5, noise=1.0)
    found = hindsight(Arrays(x, y), normalize=True)
    assert found.lengths.high == pytest.approx(found.hinge.high, rel=0.02)


def test_vacuous_bound_is_no_larger_than_the_rounds():
    found = hindsight(Arrays(np.ones((10, 1)), np.tile([1, -1], 5)))
    assert (found.lengths.low, found.lengths.high) == (pytest.approx(10.0), 10.0)


margins = st.lists(st.integers(-20, 40).map(lambda k: k / 8), min_size=1, max_size=12).map(np.array)


@given(margins, st.sampled_from([-2.0, 0.0, 0.1, 3.0, 40.0]), st.integers(1, 3))
def test_no_scale_is_better(m, rest, passes):
    """rest may be negative, with weights at the start."""
    s, found = lengths_scale(m, rest, passes)
    tried = np.concatenate([np.geomspace(1e-3, 100.0, 200), 1.0 / m[m > 0]])
    bounds = [passes * np.maximum(0.0, 1.0 - t * m).sum() + t * rest for t in (s, *tried)]
    assert found == pytest.approx(bounds[0])
    assert found <= passes * len(m)
    if rest >= 0.0:
        assert found <= min(bounds) * (1 + 1e-9) + 1e-9


def test_limits_of_any_weights_hold_for_any_comparator_and_kappa():
    coins = np.random.default_rng(5)
    x, y = noisy(60, 3)
    z, blocks, tracker = x * y[:, None], Blocks(Arrays(x, y), 0.0, False), LinearTracker()
    tracker.see(Batch(x, y.astype(np.int8), 1), np.zeros(60, np.bool_))
    facts, start = tracker.facts(), np.array([1.0, -2.0, 0.5, 0.0])
    for _ in range(20):
        alpha = coins.random(60) ** 3
        cold, warm = (Mixture.of(blocks, alpha, facts.square, w) for w in (None, start))
        assert cold.lengths <= sum((Fraction(a) * sum(Fraction(v) ** 2 for v in row) for a, row in
                                    zip(alpha.tolist(), x.tolist(), strict=True)), Fraction(0))  # fmt: skip
        for E in (1, 3):
            low, low_start = (lengths_limit(mixture, Fraction(1), facts, E, 0) for mixture in (cold, warm))
            G, A, N = E * (alpha @ z), E * alpha.sum(), E * (alpha @ np.sum(x * x, axis=1))
            assert low == pytest.approx(min(1.0, N / (G @ G)) * A, rel=1e-3)
            for kappa in np.exp(coins.uniform(-8, 2, size=20)):
                u = 2.0 * kappa * G * coins.uniform(0.2, 2.0) + coins.normal(size=3) * kappa
                assert bound(z, u, kappa, E) >= low
                assert bound(z, u, kappa, E, start[:-1]) >= low_start


@pytest.mark.parametrize("memory", [10**8, 2_500])
def test_the_search_finds_a_bound_near_its_limit_also_block_by_block(memory):
    x, y = noisy(400, 5)
    blocks = Blocks(Arrays(x, y), 1.0, False, memory=memory)
    found = lengths_search(Descent(blocks), Task(math.sqrt(blocks.longest), 1, 0, 0.01))
    assert blocks.fits == (memory == 10**8)
    assert found.gap() <= (0.01 if blocks.fits else 0.2)
    z = np.column_stack([np.ones(400), x]) * y[:, None] * blocks.unit
    assert found.bound == pytest.approx(bound(z, found.u, found.kappa), rel=1e-4)
    assert all(step.limit <= found.bound * (1 + 1e-6) for step in found.steps)


@pytest.mark.parametrize("first", [1e-3, 1.0, 1e3])
def test_kappa_arrives_where_it_is_wanted(first):
    """What is wanted falls as kappa grows, as on streams."""
    kappa = Kappa(first)
    for _ in range(12):
        factor = kappa.move(2.0 * kappa.value**-0.3)
        assert 1 / 16.001 <= factor <= 16.001
    assert kappa.value == pytest.approx(2.0 ** (1 / 1.3), rel=1e-3)
