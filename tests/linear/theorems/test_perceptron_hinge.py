"""The Perceptron's bound by the hinge loss: golden values, arbitrary streams, warm starts, floats, broken learners."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cases
from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.linear.theorems.perceptron_facts import PerceptronFacts, rounding_factor
from novikoff.linear.theorems.perceptron_hinge import largest_count, perceptron_hinge
from novikoff.linear.theorems.perceptron_lengths import perceptron_lengths
from novikoff.linear.theorems.perceptron_margin import perceptron_margin
from novikoff.linear.theorems.perceptron_squared_hinge import perceptron_squared_hinge

CASES = {
    "perceptron_hinge": cases.perceptron_case,
}
"""Cases for tests/test_every_theorem.py."""

WILD = [0.0, 1.0, -1.0, 0.1, 3.0, 1e16, -1e16, 1e-160, -3e-160, 1e-320, 5e-324, 1e150, 1e308, 2.0**-449, 2.0**449]
THEOREMS = (perceptron_hinge, perceptron_lengths, perceptron_margin, perceptron_squared_hinge)
labels = st.sampled_from([-1, 1])


def streams(values, most=25, width=3):
    row = st.lists(values, min_size=width, max_size=width)
    return st.lists(st.tuples(row, labels), min_size=1, max_size=most)


def split(stream):
    return [x for x, _ in stream], [y for _, y in stream]


def by_bisection(loss, a2, b2):
    """The largest whole M with M <= loss or (M - loss)^2 <= b2 + a2 M."""
    holds = lambda m: m <= loss or (m - loss) ** 2 <= b2 + a2 * m
    low, high = 0, 1
    while holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def least_of_all(run, weight):
    """The least bound there is: no count below it obeys every inequality, and it obeys them all."""
    terms = [(u.hinge - u.start, run.tracked.square * u.square, u.square * weight) for u in run.tracked.comparators]
    obeys = lambda m, loss, a2, b2: m <= loss or (m - loss) ** 2 <= b2 + a2 * m
    bound = 0
    while all(obeys(bound + 1, *term) for term in terms):
        bound += 1
    return bound


@given(st.fractions(-20, 50, max_denominator=90), st.fractions(0, 50, max_denominator=90), st.fractions(0, 9))
def test_the_root_is_the_largest_count_that_obeys_the_inequality(loss, a2, slack):
    b2 = (loss * loss if loss < 0 else 0) + slack  # the loss is at least -b
    assert largest_count(loss, a2, b2) == by_bisection(loss, a2, b2)


def test_golden_root_values():
    assert largest_count(Fraction(0), Fraction(7)) == 7
    assert largest_count(Fraction(10), Fraction(0)) == 10
    assert largest_count(Fraction(1), Fraction(1)) == 2  # 1 + 1/2 + sqrt(5/4) = 2.618


def test_the_golden_separable_stream(game):
    run = game([(2, 1), (-1, -2), (1, 3), (-2, 0)], [1, -1, 1, -1])
    found = perceptron_hinge(run)
    assert run.mistakes == 1
    assert 1 <= found.bound <= 3
    assert found.status == "valid"


def test_alternating_labels_on_one_point_are_vacuous(game):
    run = game([[1]] * 10, [1, -1] * 5)
    found = perceptron_hinge(run)
    assert (run.mistakes, found.bound, found.status) == (9, 10, "vacuous")


@given(streams(st.integers(-3, 3)), st.integers(1, 3), st.sampled_from([0.0, 1.0]))
def test_the_theorem_holds_on_arbitrary_integer_streams_and_is_the_least_of_all(game, perceptron, stream, passes, bias):
    run = game(*split(stream), passes, perceptron(bias))
    found = perceptron_hinge(run)
    assert run.mistakes <= found.bound <= run.rounds
    assert found.status in ("valid", "vacuous")
    assert found.bound == least_of_all(run, 0)


@given(streams(st.floats(-10, 10)), st.integers(1, 3), st.sampled_from([0.0, 0.3]))
def test_every_theorem_holds_on_arbitrary_float_streams(game, perceptron, stream, passes, bias):
    run = game(*split(stream), passes, perceptron(bias))
    for found in (theorem(run) for theorem in THEOREMS):
        assert found.status in ("valid", "vacuous", "void")
        assert (
            found.status != "void"
            or "rescale" in found.reason
            or found.reason.startswith(("nothing separates", "no comparator"))
        )


@given(streams(st.sampled_from(WILD), most=12), st.integers(1, 2))
def test_extreme_floats_never_break_the_bound(game, stream, passes):
    run = game(*split(stream), passes)
    assert {theorem(run).status for theorem in THEOREMS} <= {"valid", "vacuous", "void"}


@pytest.mark.parametrize("size", [1e-160, 1e-155, 2.0**-449, 1e-300, 1e-320, 1e160])
def test_tiny_and_huge_orthogonal_examples_are_bounded_or_void(game, size):
    run = game(np.eye(5) * size, [-1] * 5, passes=2)
    found = perceptron_hinge(run)
    assert found.status == "void" or (found.bound >= run.mistakes and found.status in ("valid", "vacuous"))
    if 2.0**-450 <= size <= 2.0**450:
        assert found.bound == 5
    else:
        assert "rescale" in found.reason


def test_rounding_of_the_run_itself_is_accounted_for(game):
    run = game([[0.1, 0.2], [0.3, -0.1]] * 10, [1, -1] * 10)
    assert 1 < rounding_factor(run) < 1 + Fraction(1, 2**40)


@pytest.mark.parametrize("theorem", THEOREMS)
def test_every_theorem_accounts_for_the_rounding_of_a_long_run(game, theorem):
    """2^48 updates in floats may have lost a thirty-second of each weight."""
    run = game(np.eye(40) * 0.1, [-1] * 40, passes=2)
    after = dataclasses.replace(run.after, updates=2**48)
    tracked = dataclasses.replace(run.tracked, mistakes=2**48)
    long = dataclasses.replace(run, mistakes=2**48, after=after, tracked=tracked)
    assert theorem(run).bound == 40
    assert 40 * 1.1 < theorem(long).bound < 40 * 1.2


@given(
    streams(st.integers(-3, 3)), st.lists(st.integers(-9, 9), min_size=3, max_size=3), st.sampled_from([0.0, 1.0]),
    st.integers(-5, 5),
)  # fmt: skip
def test_the_warm_start_holds_from_arbitrary_integer_weights(game, perceptron, stream, first, bias, own):
    weights = dict(enumerate(map(float, first))) | ({"bias": float(own)} if bias else {})
    run = game(*split(stream), 1, perceptron(bias, weights=weights))
    found = perceptron_hinge(run)
    assert run.mistakes <= found.bound
    assert found.status in ("valid", "vacuous")
    weight = sum(value**2 for value in first) + (own**2 if bias else 0)
    assert weight <= run.tracked.start_square <= weight * (1 + Fraction(1, 2**40))
    assert found.bound == least_of_all(run, weight)


@given(streams(st.floats(-2, 2)), st.lists(st.floats(-9, 9), min_size=3, max_size=3))
def test_the_warm_start_holds_from_arbitrary_float_weights(game, perceptron, stream, first):
    found = perceptron_hinge(game(*split(stream), 1, perceptron(weights=dict(enumerate(first)))))
    assert found.status in ("valid", "vacuous", "void")
    assert found.status != "void" or "rescale" in found.reason


def test_a_learner_that_knows_the_answer_starts_with_a_better_bound(game, perceptron):
    coins = np.random.default_rng(5)
    x = coins.integers(-5, 6, (400, 6))
    y = np.where(x @ [3, -2, 1, 0, 5, 1] >= 1, 1, -1).tolist()
    cold = perceptron_hinge(game(x, y))
    warm = perceptron_hinge(game(x, y, 1, perceptron(weights=dict(enumerate([30.0, -20, 10, 0, 50, 10])))))
    assert warm.observed <= warm.bound < cold.bound


def test_warm_start_unknown_to_the_comparators_is_void(game, perceptron):
    found = perceptron_hinge(game([[1.0]], [1], 1, perceptron(weights={0: 5.0}), tell=False))
    assert found.status == "void"
    assert "warm start" in found.reason


def test_a_start_that_was_not_the_learners_is_void(game):
    found = perceptron_hinge(game([[1.0]] * 4, [1] * 4, 1, tracked=LinearTracker(start=[5.0, 0.0], additive=True)))
    assert (found.status, found.bound) == ("void", None)


def test_other_features_than_the_learners_are_void(game, perceptron):
    for other in (LinearTracker(0.0), LinearTracker(1.0, normalize=True)):
        found = perceptron_hinge(game([[1.0]] * 4, [1] * 4, 1, perceptron(1.0), tracked=other))
        assert found.status == "void"
        assert "features" in found.reason


def test_rounds_that_the_comparators_or_the_ledger_missed_are_void(game):
    run = game([[1.0], [2.0]], [1, -1])
    for change in (
        {"rounds": 3},
        {"tracked": dataclasses.replace(run.tracked, rows=1)},
        {"after": dataclasses.replace(run.after, rounds=5)},
        {"after": dataclasses.replace(run.after, updates=5)},
    ):
        assert perceptron_hinge(dataclasses.replace(run, **change)).status == "void"


@pytest.mark.parametrize("theorem", THEOREMS)
@pytest.mark.parametrize("step", [0.0, -1.0, 0.5])
def test_a_learner_that_learns_something_else_is_detected(game, perceptron, theorem, step):
    found = theorem(game([[1, 2], [2, -1]] * 20, [-1, 1] * 20, 1, perceptron(step=step)))
    assert found.status == "void"
    assert "each mistake added y x to its weights, and nothing else changed them" in found.reason


@given(st.lists(st.sampled_from([*WILD, 1e200, 2.0**-1074]), min_size=1, max_size=6), st.sampled_from(WILD))
@example([1e-320], 1e-320)
def test_the_norm_of_the_facts_is_never_too_small(weights, own):
    square = sum((Fraction(w) ** 2 for w in [*weights, own]), Fraction(0))
    norm = PerceptronFacts.of(np.array(weights), own, 0, 0).norm
    assert math.isinf(norm) or Fraction(norm) ** 2 >= square
    assert (norm == 0.0) == (square == 0)
