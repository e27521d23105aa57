"""The Randomized Budget Perceptron's bounds: exact expectations beside them, golden values, unfair evictions."""

import dataclasses
import math
import random
import statistics
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.orthogonal import Orthogonal
from novikoff.core.types import Run
from novikoff.game.play import play as play_game
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron
from novikoff.kernel.theorems.kernel_facts import KernelFacts
from novikoff.kernel.theorems.rbp_expected import notes, once_full, rbp_expected, simpler
from novikoff.kernel.theorems.rbp_no_eviction import rbp_no_eviction

CASES = {
    "rbp_no_eviction": cases.of_vectors(
        lambda: nk.RandomizedBudgetPerceptron(50, **cases.LINEAR),
        lambda: cases.run_of(cases.opposite(nk.RandomizedBudgetPerceptron, 50), cases.apart(20)),
    ),
    "rbp_expected": cases.of_vectors(
        lambda: nk.RandomizedBudgetPerceptron(4, **cases.LINEAR),
        None,
        tight=False,
        sample=cases.two_in_turn(4, 60),
        more=(
            (
                lambda: cases.run_of(nk.RandomizedBudgetPerceptron(4, **cases.LINEAR), Orthogonal(9), 9),
                "fixed in advance",
            ),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""

LINEAR = Kernel.of("linear")
ROUND = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
labels = st.sampled_from([-1, 1])


def dot(u, x):
    return sum(a * b for a, b in zip(u, x, strict=True))


def said(kept, rows, ys, x):
    return 1 if sum(ys[k] * dot(rows[k], x) for k in kept) >= 0 else -1


def exactly(rows, ys, budget):
    """E[M], and whether an example had to leave: every list there may be, with its chance."""
    lists, total, full = {(): Fraction(1)}, Fraction(0), False
    for t, (x, y) in enumerate(zip(rows, ys, strict=True)):
        after = defaultdict(Fraction)
        for kept, chance in lists.items():
            if said(kept, rows, ys, x) == y:
                after[kept] += chance
                continue
            total += chance
            if len(kept) < budget:
                after[(*kept, t)] += chance
            else:
                full = True
                for gone in range(budget):
                    after[(*kept[:gone], *kept[gone + 1 :], t)] += chance / budget
        lists = after
    return total, full


def hinge(u, rows, ys):
    return sum(max(Fraction(0), 1 - y * dot(u, x)) for x, y in zip(rows, ys, strict=True))


def play(rows, ys, budget, choose, similarity=LINEAR, tracked=None, adaptive=False):
    """A game; `choose(count)` says which of the list leaves."""
    kept, mistakes, evictions = [], 0, 0
    values = similarity.matrix(np.array(rows, dtype=float), np.array(rows, dtype=float))
    tracker = KernelTracker(similarity) if tracked is None else None
    for t, (x, y) in enumerate(zip(rows, ys, strict=True)):
        score = sum(ys[k] * values[k, t] for k in kept)
        wrong = (1 if score >= 0 else -1) != y
        if wrong:
            mistakes += 1
            if len(kept) == budget:
                evictions += 1
                kept.pop(choose(budget))
            kept.append(t)
        if tracker is not None:
            tracker.see_row(np.array(x, dtype=np.float64), y, wrong)
    before = KernelFacts(0, 0, 0, 0, budget, similarity, empty=True)
    after = KernelFacts(len(rows), mistakes, len(kept), evictions, budget, similarity, empty=not kept)
    seen = tracked if tracker is None else tracker.facts()
    return Run(before, after, len(rows), mistakes, float(mistakes), (0, 0), adaptive, True, seen)


def fair(seed):
    return random.Random(seed).randrange


@pytest.mark.parametrize(
    ("hinge", "a2", "budget", "bound", "full"),
    [(50, 16, 64, 116, 106.176015), (200, 16, 64, 416, 413.308174), (0, 25, 100, 25, None), (1000, 25, 36, 6045, None)],
)
def test_golden_values_of_the_theorem(hinge, a2, budget, bound, full):
    assert float(simpler(Fraction(hinge), Fraction(a2), budget)) == pytest.approx(bound, abs=1e-6)
    if full is not None:
        assert float(once_full(Fraction(hinge), Fraction(a2), budget)) == pytest.approx(full, abs=1e-6)


def test_the_bound_of_the_literature_is_false_without_the_clamp():
    """B = 1, one example (e1, -1), u = -0.05 e1: a mistake for certain."""
    eps = 1 / 0.05 - 1
    unclamped = (1 + 2 / eps) * (
        0.95 + (1 + eps) ** 2 * 0.05**3 + 2 * (1 + eps) * 0.05**2 * math.log(0.05 + 0.05 / eps)
    )
    assert unclamped == pytest.approx(0.7798, abs=1e-4)
    assert exactly([(1,)], [-1], 1) == (1, False)
    assert notes(0.95, 0.05, 1) >= 1
    assert notes(1000.0, 5.0, 36) == pytest.approx(15224.790, abs=1e-3)


def test_golden_expectations():
    assert exactly(ROUND * 2, [-1] * 6, 2) == (Fraction("4.875"), True)
    assert exactly(ROUND * 4, [-1] * 12, 2) == (Fraction("8.888671875"), True)
    assert exactly([(1, 0), (0, 1)] * 2 + [(1, 0)], [-1] * 5, 1) == (5, True)


@given(
    st.lists(st.tuples(st.tuples(*[st.integers(-1, 1)] * 3), labels), min_size=1, max_size=10),
    st.integers(1, 3),
    st.lists(st.tuples(*[st.fractions(-1, 1, max_denominator=6)] * 3), min_size=1, max_size=8),
)
def test_the_exact_expectation_stays_below_the_theorem_for_every_comparator(stream, budget, comparators):
    rows, ys = [x for x, _ in stream], [y for _, y in stream]
    expected, full = exactly(rows, ys, budget)
    square = max(dot(x, x) for x in rows)
    for u in [(0, 0, 0), *comparators]:
        a2 = Fraction(square * dot(u, u))
        if a2 < budget:
            loss = hinge(u, rows, ys)
            assert expected <= simpler(loss, a2, budget)
            if full:
                assert expected <= once_full(loss, a2, budget) <= simpler(loss, a2, budget)


@given(st.lists(st.tuples(st.tuples(*[st.integers(-1, 1)] * 2), labels), min_size=4, max_size=10), st.integers(1, 3))
def test_the_certificate_bounds_the_exact_expectation(stream, budget):
    rows, ys = [x for x, _ in stream], [y for _, y in stream]
    expected, full = exactly(rows, ys, budget)
    run = play(rows, ys, budget, fair(0))
    found, perceptron = rbp_expected(run), rbp_no_eviction(run)
    assert (found is None) == (not full)
    assert (perceptron is None) == full
    if found is not None:
        assert found.kind == "E"
        assert found.status in ("valid", "vacuous")
        assert expected <= Fraction(found.bound) <= Fraction(found.quantities["simpler"])
    else:
        assert perceptron.kind == "D"
        assert expected == run.mistakes <= perceptron.bound


def two_in_turn(budget, times):
    """`budget` vectors once each, then two others in turn."""
    rows = np.eye(budget + 2)
    order = [*range(budget), *[budget, budget + 1] * times]
    return rows[order].tolist(), [-1] * len(order)


def test_evictions_that_are_not_fair_break_the_bound_and_fair_ones_keep_it():
    """Nine times out of ten the newest leaves: of two vectors in turn, the one that comes was just forgotten."""
    rows, ys = two_in_turn(16, 60)
    run = play(rows, ys, 16, fair(0))
    bound = rbp_expected(run).bound
    assert bound < 60

    def unfair(seed):
        coins = random.Random(seed)
        return lambda count: count - 1 if coins.random() < 0.9 else coins.randrange(count)

    def mistakes(choice):
        counts = [play(rows, ys, 16, choice(seed), tracked=run.tracked).mistakes for seed in range(40)]
        return statistics.mean(counts), statistics.stdev(counts) / math.sqrt(len(counts))

    mean, error = mistakes(fair)
    assert mean + 3 * error < bound
    mean, error = mistakes(unfair)
    assert mean - 3 * error > bound


def test_one_run_above_the_bound_violates_nothing():
    rows, ys = two_in_turn(16, 60)
    found = rbp_expected(play(rows, ys, 16, lambda count: count - 1))
    assert found.observed > found.bound
    assert found.status == "valid"


def test_expectation_is_not_rounded_to_an_integer():
    rows, ys = two_in_turn(16, 60)
    found = rbp_expected(play(rows, ys, 16, fair(1)))
    assert isinstance(found.bound, float)
    assert not found.bound.is_integer()
    assert found.bound <= found.quantities["simpler"] <= found.quantities["notes"]
    assert found.quantities["rho"] < 1


def test_the_rounding_of_the_scores_is_accounted_for():
    run = play(ROUND * 2, [-1] * 6, 2, fair(0))
    rough = dataclasses.replace(run, tracked=dataclasses.replace(run.tracked, error=Fraction(1, 100)))
    assert rbp_expected(rough).bound >= rbp_expected(run).bound
    rows, ys = two_in_turn(16, 60)
    run = play(rows, ys, 16, fair(0))
    rough = dataclasses.replace(run, tracked=dataclasses.replace(run.tracked, error=Fraction(1, 100)))
    assert rbp_expected(rough).bound > rbp_expected(run).bound * 1.01


def test_the_learner_itself_has_the_golden_expectation():
    rows, ys = np.array(ROUND * 4, dtype=float), np.array([-1] * 12)
    ledgers = [play_game(RandomizedBudgetPerceptron(2, "linear", seed=seed), (rows, ys)) for seed in range(300)]
    counts = [ledger.mistakes for ledger in ledgers]
    assert abs(statistics.mean(counts) - 8.888671875) < 4 * statistics.stdev(counts) / math.sqrt(300)
    bounds = {certificate.bound for ledger in ledgers[:5] for certificate in ledger.certify()}
    assert len(bounds) == 1  # it depends on the stream, not on the coins
    assert min(bounds) >= 8.888671875


def test_the_learner_itself_keeps_its_bound_over_many_seeds():
    coins = np.random.default_rng(9)
    x = coins.normal(size=(600, 2))
    y = np.where(x[:, 0] > 0, 1, -1) * np.where(coins.random(600) < 0.08, -1, 1)
    ledgers = [play_game(RandomizedBudgetPerceptron(30, gamma=0.3, seed=seed), (x, y)) for seed in range(12)]
    found = ledgers[0].certify()[0]
    counts = [ledger.mistakes for ledger in ledgers]
    assert (found.theorem, found.kind, found.status) == ("rbp_expected", "E", "valid")
    assert statistics.mean(counts) + 3 * statistics.stdev(counts) / math.sqrt(12) < found.bound < 600
