"""The Perceptron's bound by the squared hinge loss: exact on whole numbers, sound on floats."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import cases
from novikoff.linear.theorems.perceptron_hinge import perceptron_hinge
from novikoff.linear.theorems.perceptron_squared_hinge import perceptron_squared_hinge, square_of_sum

CASES = {
    "perceptron_squared_hinge": cases.from_zero_case,
}
"""Cases for tests/test_every_theorem.py."""


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


@given(streams(st.integers(-3, 3)), st.integers(1, 3), st.sampled_from([0.0, 1.0]))
def test_the_theorem_holds_on_arbitrary_whole_streams(game, perceptron, stream, passes, bias):
    run = game(*split(stream), passes, perceptron(bias))
    found = perceptron_squared_hinge(run)
    assert found.status in ("valid", "vacuous")
    assert run.mistakes <= found.bound <= run.rounds
    assert found.bound == min(
        square_of_sum(run.tracked.square * u.square, u.squared_hinge) for u in run.tracked.comparators
    )


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


def test_reported_comparator_losses_are_upper_bounds(game):
    run = game([[0.1, 0.7], [0.3, -0.2], [-0.5, 0.1]] * 5, [1, -1, -1] * 5)
    for u in run.tracked.comparators:
        assert u.squared_hinge * run.rounds * (1 + Fraction(1, 2**30)) >= u.hinge**2  # Cauchy
