"""The parts of the search: the best scale against brute force, the descent against LIBLINEAR, limits against any u."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from novikoff.comparators.blocks import Blocks
from novikoff.comparators.descent import Descent
from novikoff.comparators.limits import Mixture, down, hinge_limit, margin_limit, objective, squared_limit, up
from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.comparators.scale import hinge_scale, squared_scale
from novikoff.comparators.search import Step, Task, hinge_search, lengths_search, margin_search, squared_search
from novikoff.comparators.second_pass import placed
from novikoff.core.types import Batch
from novikoff.data.arrays import Arrays

margins = st.lists(st.integers(-20, 40).map(lambda k: k / 8), min_size=1, max_size=12).map(np.array)


def hinge_bound(m, s, radius, passes, start=0.0, weight=0.0):
    loss = passes * np.maximum(0.0, 1.0 - s * m).sum() - s * start
    a, b = s * radius, s * weight
    return loss + a * a / 2 + math.sqrt(max(a * a * loss + a**4 / 4 + b * b, 0.0))


def squared_bound(m, s, radius, passes):
    return (s * radius + math.sqrt(passes * np.square(np.maximum(0.0, 1.0 - s * m)).sum())) ** 2


@given(margins, st.sampled_from([0.1, 0.5, 1.0, 3.0]), st.integers(1, 3))
def test_no_scale_is_better_for_the_hinge_loss(m, radius, passes):
    s, bound = hinge_scale(m, radius, passes)
    assert bound == pytest.approx(hinge_bound(m, s, radius, passes))
    tried = np.concatenate([np.linspace(0.0, 12.0, 100), np.geomspace(1e-3, 100.0, 100), 1.0 / m[m > 0]])
    assert bound <= min(hinge_bound(m, t, radius, passes) for t in tried) * (1 + 1e-9)


@given(margins, st.sampled_from([0.1, 0.5, 1.0, 3.0]), st.integers(1, 3))
def test_no_scale_is_better_for_the_squared_hinge_loss(m, radius, passes):
    s, bound = squared_scale(m, radius, passes)
    assert bound == pytest.approx(squared_bound(m, s, radius, passes), rel=1e-6, abs=1e-9)
    tried = np.concatenate([np.linspace(0.0, 12.0, 100), np.geomspace(1e-3, 100.0, 100), 1.0 / m[m > 0]])
    assert bound <= min(squared_bound(m, t, radius, passes) for t in tried) * (1 + 1e-6) + 1e-6


@given(margins, st.sampled_from([-2.0, 0.5, 3.0]))
def test_with_weights_at_the_start_the_bound_is_that_of_its_scale(m, start):
    s, bound = hinge_scale(m, 1.0, 1, start, 3.0)
    assert bound == pytest.approx(hinge_bound(m, s, 1.0, 1, start, 3.0))
    assert bound <= len(m)


def test_the_best_scale_of_a_squared_loss_may_lie_between_two_margins():
    s, bound = squared_scale(np.array([1.0, 0.5, 0.25, -0.1]), 0.2)
    assert all(abs(s * m - 1.0) > 1e-3 for m in (1.0, 0.5, 0.25))
    assert bound < min(squared_bound(np.array([1.0, 0.5, 0.25, -0.1]), t, 0.2, 1) for t in (0.0, 1.0, 2.0, 4.0))


def noisy(rows=500, width=8, noise=3.0, seed=0):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width))
    y = np.where(x @ np.arange(1, width + 1) + noise * coins.normal(size=rows) > 0, 1, -1)
    return x, y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("cost", [0.05, 1.0])
def test_the_descent_finds_the_optimum_that_liblinear_finds(loss, cost):
    x, y = noisy()
    peer = LinearSVC(loss=loss, dual=True, fit_intercept=False, C=cost, tol=1e-8, max_iter=100_000, random_state=0)
    weights = peer.fit(x, y).coef_.ravel()
    power = 1 if loss == "hinge" else 2

    def objective(u):
        return 0.5 * u @ u + cost * (np.maximum(0.0, 1.0 - y * (x @ u)) ** power).sum()

    blocks = Blocks(Arrays(x, y), 0.0, False)
    descent, inner = Descent(blocks), cost / blocks.unit**2
    finished = descent.solve(
        inner if power == 1 else math.inf, 0.0 if power == 1 else 0.5 / inner, lambda m: False, 5e6
    )
    assert not finished
    u = descent.u[1:] * blocks.unit
    assert objective(u) == pytest.approx(objective(weights), rel=1e-5)
    np.testing.assert_allclose(blocks.combined(descent.alpha)[0], descent.u, atol=1e-9)
    assert descent.alpha.min() >= 0.0
    assert descent.alpha.max() <= descent.cost


@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_every_step_has_its_primal_above_its_dual(noise):
    x, y = noisy(noise=noise)
    blocks = Blocks(Arrays(x, y), 1.0, False)
    told: list[Step] = []
    task = Task(math.sqrt(blocks.longest), 1, 0, 0.01, None, told.append)
    hinge = hinge_search(Descent(blocks), task)
    squared = squared_search(Descent(blocks), task)
    lengths = lengths_search(Descent(blocks), task)
    assert {step.problem for step in told} == {"hinge", "squared hinge", "lengths"}
    for step in told:
        assert step.dual <= step.primal * (1 + 1e-6)
        assert step.primal - step.dual <= 0.01 * step.primal
        assert step.limit <= step.bound * (1 + 1e-6)
    assert hinge.gap() <= 0.01
    assert squared.gap() <= 0.01
    assert lengths.gap() <= 0.01


def test_a_margin_that_bounds_nothing_is_given_up():
    x, y = noisy(noise=8.0)
    blocks = Blocks(Arrays(x, y), 0.0, False)
    task = Task(math.sqrt(blocks.longest), 1, 0, 0.01)
    found = margin_search(Descent(blocks), task)
    assert found.bound <= 0.0
    assert (task.radius / found.limit) ** 2 >= len(y)


def watched(x, y):
    """What comparators that watched a game on these rows report."""
    tracker = LinearTracker()
    tracker.see(Batch(x, y.astype(np.int8), 1), np.zeros(len(y), np.bool_))
    return tracker.facts()


def test_limits_of_any_weights_hold_for_any_comparator():
    coins = np.random.default_rng(5)
    x, y = noisy(60, 3)
    z = x * y[:, None]
    blocks = Blocks(Arrays(x, y), 0.0, False)
    facts = watched(x, y)
    r2 = float(np.max(np.sum(x * x, axis=1)))
    start = np.array([1.0, -2.0, 0.5, 0.0])
    for _ in range(20):
        alpha = coins.random(60) ** 3
        mixture, warm = (Mixture.of(blocks, alpha, facts.square, w) for w in (None, start))
        low = {E: hinge_limit(mixture, Fraction(1), facts, E, 0) for E in (1, 3)}
        low_start = {E: hinge_limit(warm, Fraction(1), facts, E, 0) for E in (1, 3)}
        low_squared = {E: squared_limit(mixture, Fraction(1), facts, E, 0) for E in (1, 3)}
        widest = margin_limit(mixture)
        assert widest >= np.linalg.norm(alpha @ z) / alpha.sum()
        assert widest <= np.linalg.norm(alpha @ z) / alpha.sum() * (1 + 1e-3)
        for u in coins.normal(size=(50, 3)) * np.exp(coins.uniform(-3, 2, size=(50, 1))):
            norm = float(np.linalg.norm(u))
            assert (z @ u).min() / norm <= widest
            for E in (1, 3):
                assert hinge_bound(z @ u, 1.0, math.sqrt(r2) * norm, E) >= low[E]
                warm_bound = hinge_bound(
                    z @ u, 1.0, math.sqrt(r2) * norm, E, u @ start[:3], norm * np.linalg.norm(start)
                )
                assert warm_bound >= low_start[E]
                assert squared_bound(z @ u, 1.0, math.sqrt(r2) * norm, E) >= low_squared[E]


def test_limits_are_rounded_outward():
    third = Fraction(1, 3)
    assert down(third) < third < up(third)
    assert (down(Fraction(5)), up(Fraction(5))) == (5.0, 5.0)
    huge = Fraction(10) ** 400
    assert (down(huge), up(huge)) == (np.finfo(np.float64).max, math.inf)


def test_directions_and_their_kappas_are_placed_at_the_length_that_was_found():
    x, y = noisy(200)
    blocks = Blocks(Arrays(x, y), 1.0, False)
    coins = np.random.default_rng(0)
    wanted = [coins.normal(size=9) * scale for scale in (1.0, 7.0, 0.3)]
    scorer = placed(blocks, [None, *wanted[1:]], [(2, 0.125)])
    assert not scorer.U[:, 0].any()
    for k, u in ((1, wanted[1]), (2, wanted[2])):
        U = np.concatenate([[scorer.bias_weights[k]], scorer.U[:-1, k]]).astype(np.float64)
        off = [np.linalg.norm(U / edge - u * blocks.unit) / np.linalg.norm(u * blocks.unit)
               for edge in scorer.tally.edges]  # fmt: skip
        assert min(off) < 1e-6
    ((k, kappa),) = scorer.tally.penalties
    assert (k, kappa / float(scorer.tally.edges[int(np.argmin(off))])) == (2, 0.125 * blocks.unit**2)


def solved(stream, cost, bias=0.0, normalize=False, memory=10**8, visits=2e5):
    """Blocks and a descent that has arrived."""
    blocks = Blocks(stream, bias, normalize, memory=memory)
    descent = Descent(blocks)
    descent.solve(cost / blocks.unit**2, 0.0, lambda m: False, visits)
    return blocks, descent


def exact_objective(rows, labels, u, cost, bias=0.0):
    """(1/2)||u||^2 + cost * (hinge loss), in fractions; the weight of the bias first, as in blocks."""
    u, loss = [Fraction(float(weight)) for weight in u], Fraction(0)
    for row, y in zip(rows, labels, strict=True):
        x = [Fraction(bias), *(Fraction(float(value)) for value in row)]
        loss += max(Fraction(0), 1 - y * sum(a * b for a, b in zip(u, x, strict=True)))
    return sum(weight * weight for weight in u) / 2 + Fraction(cost) * loss


def exact_dual(rows, labels, alpha, cost, bias=0.0):
    """The sum of alpha - (1/2)||sum of alpha y x||^2 in fractions, alpha cut at the cost; zero rows have it all."""
    total, mixed = Fraction(0), [Fraction(0)] * (len(rows[0]) + 1)
    for row, y, weight in zip(rows, labels, alpha, strict=True):
        x = [Fraction(bias), *(Fraction(float(value)) for value in row)]
        a = min(Fraction(float(weight)), Fraction(cost)) if any(x) else Fraction(cost)
        total += a
        mixed = [m + a * y * value for m, value in zip(mixed, x, strict=True)]
    return total - sum(m * m for m in mixed) / 2


numbers = st.one_of(st.integers(-4, 4).map(float), st.floats(-50, 50), st.sampled_from([1e-3, 1e3, 0.1]))
tables = st.lists(
    st.tuples(st.lists(numbers, min_size=2, max_size=2), st.sampled_from([-1, 1])), min_size=1, max_size=8
)


@given(tables, st.sampled_from([0.01, 0.3, 1.0, 20.0]), st.sampled_from([0.0, 0.5]), st.sampled_from([10**8, 120]))
def test_the_objective_of_a_cost_is_between_its_dual_and_its_primal(table, cost, bias, memory):
    rows, labels = np.array([x for x, _ in table]), np.array([y for _, y in table])
    blocks, descent = solved(Arrays(rows, labels), cost, bias, memory=memory, visits=2e3)
    bracket = objective(blocks, descent.u, descent.alpha, cost)
    assert 0.0 <= bracket.low <= bracket.high
    kept = [t for t in range(len(rows)) if bias or rows[t].any() or labels[t] == -1]
    alpha = np.zeros(len(rows))
    alpha[kept] = descent.alpha * blocks.unit**2
    assert exact_dual(rows, labels, alpha, cost, bias) <= bracket.high
    for factor in (0.0, 0.5, 1.0, 1.5):
        u = descent.u * blocks.unit * factor
        assert bracket.low <= exact_objective(rows, labels, u, cost, bias)


@pytest.mark.parametrize("memory", [10**8, 4_000])
def test_the_gap_at_a_cost_is_certified_and_small(memory):
    x, y = noisy(noise=5.0)
    for cost in (0.02, 1.0):
        blocks, descent = solved(Arrays(x, y), cost, 1.0, memory=memory, visits=2e6)
        assert blocks.fits == (memory == 10**8)
        bracket = objective(blocks, descent.u, descent.alpha, cost)
        assert bracket.gap <= 1e-3
        assert bracket.low <= exact_objective(x.tolist(), y.tolist(), descent.u * blocks.unit, cost, 1.0)
        assert exact_dual(x.tolist(), y.tolist(), descent.alpha * blocks.unit**2, cost, 1.0) <= bracket.high


@pytest.mark.parametrize(("cost", "least"), [(0.25, 0.21875), (4.0, 0.5)])
def test_one_example_has_the_objective_computed_by_hand(cost, least):
    """u = min(1, cost) is best; a zero row costs `cost`, whatever its label and u."""
    for rows, labels, more in (([[1.0]], [1], 0.0), ([[1.0], [0.0], [0.0]], [1, 1, -1], 2.0 * cost)):
        blocks, descent = solved(Arrays(np.array(rows), np.array(labels)), cost)
        bracket = objective(blocks, descent.u, descent.alpha, cost)
        assert bracket.low <= least + more <= bracket.high
        assert bracket.high - bracket.low <= 1e-5


def test_an_alpha_above_the_cost_proves_no_more_than_one_at_it():
    x, y = noisy(60, 3)
    blocks, descent = solved(Arrays(x, y), 1.0)
    alpha = descent.alpha * 1e6
    bracket = objective(blocks, descent.u, alpha, 0.001)
    for scale in np.geomspace(1e-4, 1.0, 30):
        assert bracket.low <= exact_objective(x.tolist(), y.tolist(), descent.u * blocks.unit * scale, 0.001)
    assert objective(blocks, descent.u * 0.0, alpha * 0.0, 0.001) == objective(
        blocks, descent.u * np.nan, alpha * 0.0, 0.001
    )


def test_a_stream_that_changed_has_no_objective():
    x, y = noisy(60, 3)
    blocks, descent = solved(Arrays(x, y), 1.0)
    assert objective(blocks, descent.u, descent.alpha, 1.0).gap < 0.01
    x[5, 1] += 1.0
    bracket = objective(blocks, descent.u, descent.alpha, 1.0)
    assert (bracket.low, bracket.high) == (0.0, math.inf)


def test_rows_that_are_not_held_have_no_weight():
    """A wide row of few non-zeros is held while there is room, and not in a smaller block: its alpha proves nothing."""
    x = np.zeros((6, 9))
    x[:, 0], x[:, 1] = 1.0, [0.5, -0.5, 1.0, 0.25, -1.0, 0.75]
    blocks = Blocks(Arrays(x, np.ones(6, dtype=int)), 0.0, False, memory=120)
    assert (blocks.fits, blocks.sample.square.tolist()) == (False, [blocks.longest * 0.625])
    u, counted = blocks.combined(np.ones(6))
    assert not u.any()
    assert not counted.any()
    assert margin_limit(Mixture.of(blocks, np.ones(6), watched(x, np.ones(6)).square)) == math.inf
