"""The Perceptron's bound by the squared hinge loss: exact on whole numbers, sound on floats."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.certificates.perceptron_hinge import perceptron_hinge
from novikoff.certificates.perceptron_squared_hinge import perceptron_squared_hinge, square_of_sum

WILD = [0.0, 1.0, -1.0, 0.1, 3.0, 1e16, -1e16, 1e-160, 1e-320, 5e-324, 1e130, 1e308, 2.0**-449, 2.0**449]


def streams(values, most=25, width=3):
    row = st.lists(values, min_size=width, max_size=width)
    return st.lists(st.tuples(row, st.sampled_from([-1, 1])), min_size=1, max_size=most)


def split(stream):
    return [x for x, _ in stream], [y for _, y in stream]


@given(st.fractions(0, 99, max_denominator=99), st.fractions(0, 99, max_denominator=99))
def test_the_square_of_the_sum_is_floored_exactly(a2, q):
    """m <= a2 + q + 2 sqrt(a2 q) if and only if m - a2 - q <= 0 or its square is at most 4 a2 q."""
    obeys = lambda m: m <= a2 + q or (m - a2 - q) ** 2 <= 4 * a2 * q
    assert obeys(square_of_sum(a2, q))
    assert not obeys(square_of_sum(a2, q) + 1)


def test_the_theorem_is_tight_on_orthogonal_examples(game):
    found = perceptron_squared_hinge(game(np.eye(8), [-1] * 8, passes=3))
    assert (found.observed, found.bound, found.status) == (8, 8, "valid")


@settings(max_examples=80)
@given(streams(st.integers(-3, 3)), st.integers(1, 3), st.sampled_from([0.0, 1.0]))
def test_the_theorem_holds_on_arbitrary_whole_streams(game, perceptron, stream, passes, bias):
    run = game(*split(stream), passes, perceptron(bias))
    found = perceptron_squared_hinge(run)
    assert found.status in ("valid", "vacuous")
    assert run.mistakes <= found.bound <= run.rounds
    assert found.bound == min(
        square_of_sum(run.tracked.square * u.square, u.squared_hinge) for u in run.tracked.comparators
    )


@settings(max_examples=60)
@given(streams(st.floats(-10, 10)), st.integers(1, 3))
def test_the_theorem_holds_on_arbitrary_float_streams(game, stream, passes):
    found = perceptron_squared_hinge(game(*split(stream), passes))
    assert found.status in ("valid", "vacuous", "void")
    assert found.status != "void" or "rescale" in found.reason


@settings(max_examples=150)
@given(streams(st.sampled_from(WILD), most=12), st.integers(1, 2))
def test_wild_floats_never_break_the_promise(game, stream, passes):
    assert perceptron_squared_hinge(game(*split(stream), passes)).status in ("valid", "vacuous", "void")


def test_noise_is_bounded_by_either_loss(game):
    coins = np.random.default_rng(2)
    x = coins.normal(size=(2000, 5))
    y = np.where(x[:, 0] + 0.1 * coins.normal(size=2000) > 0, 1, -1)
    y[coins.random(2000) < 0.02] *= -1
    run = game(x, y.tolist())
    for theorem in (perceptron_hinge, perceptron_squared_hinge):
        found = theorem(run)
        assert found.status == "valid"
        assert run.mistakes <= found.bound < run.rounds / 2


def test_a_warm_start_is_void(game, perceptron):
    found = perceptron_squared_hinge(game([[1.0]], [1], 1, perceptron(weights={0: 5.0})))
    assert found.status == "void"
    assert "warm start" in found.reason


def test_a_broken_learner_is_found_out(game, perceptron):
    run = game([[1, 2], [2, -1]] * 20, [-1, 1] * 20, 1, perceptron(says=-1))
    assert perceptron_squared_hinge(run).status == "violated"


def test_the_losses_of_a_comparator_never_exceed_what_was_reported(game):
    run = game([[0.1, 0.7], [0.3, -0.2], [-0.5, 0.1]] * 5, [1, -1, -1] * 5)
    for u in run.tracked.comparators:
        assert u.squared_hinge * run.rounds * (1 + Fraction(1, 2**30)) >= u.hinge**2  # Cauchy
