"""Weights of rows as rounds: the coins, and the theorem of core/weights.py in exact arithmetic, over all coins."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from novikoff.core.errors import InputError
from novikoff.core.weights import MOST_BALANCED, Balance, check_weights, rounds_of
from novikoff.numerics.coins import uniform


def test_whole_weights_are_their_rounds_and_fractions_are_rounded_by_the_coin_of_the_row():
    weights = np.array([0.0, 1.0, 3.0, 0.25, 2.75])
    want = [0, 1, 3, *(int(w) + (uniform(0, "weight of a row", t) < w % 1) for t, w in ((3, 0.25), (4, 2.75)))]
    assert rounds_of(weights).tolist() == want
    assert rounds_of(weights[3:], 3).tolist() == want[3:]  # cut anywhere
    assert rounds_of(np.full(40_000, 1.3)).mean() == pytest.approx(1.3, abs=0.01)


@pytest.mark.parametrize("wrong", [-0.1, float("nan"), float("inf"), 10_001.0])
def test_invalid_weights_are_refused_with_their_row(wrong):
    with pytest.raises(InputError, match="that of row 2"):
        check_weights([1.0, wrong], 2)


def test_number_of_weights_is_checked():
    with pytest.raises(InputError, match="for 3 rows"):
        check_weights([1.0, 1.0], 3)


def perceptron(rows, rounds, peeks=False):
    """Play rows as often as `rounds` says; return mistakes of all rounds, and of the first prediction of every row."""
    w, mistakes, first = [0] * len(rows[0][0]), 0, []
    for (x, y), times in zip(rows, rounds, strict=True):
        for time in range(max(times, 1)):
            wrong = y * sum(a * b for a, b in zip(w, x, strict=True)) <= 0
            wrong = wrong and not (peeks and times)  # a broken learner, which predicts by the coin of the row
            first += [wrong] * (time == 0)
            if times:
                mistakes += wrong
                w = [a + y * b * wrong for a, b in zip(w, x, strict=True)]
    return mistakes, first


ROWS = [((1, 0), 1), ((1, 1), -1), ((0, 2), 1), ((1, -1), 1), ((2, 1), -1), ((0, 1), -1)]
WEIGHTS = [Fraction(1, 3), Fraction(1), Fraction(3, 4), Fraction(1, 2), Fraction(2, 5), Fraction(1, 7)]


def over_all_coins(rows, weights, value, peeks=False):
    """Return the exact expectation over the coins."""
    total = Fraction(0)
    for coins in product((0, 1), repeat=len(rows)):
        chance, rounds = Fraction(1), []
        for weight, coin in zip(weights, coins, strict=True):
            rest = weight - int(weight)
            chance *= rest if coin else 1 - rest
            rounds.append(int(weight) + coin)
        total += chance * value(rounds, *perceptron(rows, rounds, peeks))
    return total


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("peeks", [False, True])
def test_metrics_that_count_rounds_are_unbiased_unless_the_learner_sees_the_coin(shift, peeks):
    weights = [weight + shift for weight in WEIGHTS]
    counted = over_all_coins(
        ROWS, weights, lambda n, _, first: sum(k * wrong for k, wrong in zip(n, first, strict=True)), peeks
    )
    meant = over_all_coins(
        ROWS, weights, lambda n, _, first: sum(w * wrong for w, wrong in zip(weights, first, strict=True)), peeks
    )
    assert (counted == meant) == (not peeks or shift == 1)  # with whole rounds the broken one is never wrong
    if shift == 0:
        assert meant > 0


@pytest.mark.parametrize("u", [(0, 0), (1, -1), (2, -2), (1, -3)])
def test_weighted_mistakes_are_within_the_expected_bound_of_the_perceptron(u):
    def hinge(row):
        return max(0, 1 - row[1] * (u[0] * row[0][0] + u[1] * row[0][1]))

    def squared_excess(n, mistakes, _):  # (mistakes - hinge)^2 <= ||u||^2 R^2 mistakes, as in perceptron_hinge
        excess = mistakes - sum(k * hinge(row) for k, row in zip(n, ROWS, strict=True))
        assert excess <= 0 or excess**2 <= (u[0] ** 2 + u[1] ** 2) * 5 * mistakes
        return Fraction(max(excess, 0))

    meant = over_all_coins(
        ROWS, WEIGHTS, lambda n, _, first: sum(w * wrong for w, wrong in zip(WEIGHTS, first, strict=True))
    )
    allowed = sum(w * hinge(row) for w, row in zip(WEIGHTS, ROWS, strict=True))
    assert meant <= allowed + over_all_coins(ROWS, WEIGHTS, squared_excess)


@pytest.mark.parametrize("rounds", [[1, 2, 3, 1, 2, 1], [4, 4, 4, 4, 4, 4], [1, 1, 1, 1, 1, 5]])
def test_weighted_mistakes_are_at_most_the_largest_weight_times_the_mistakes(rounds):
    mistakes, first = perceptron(ROWS, rounds)
    assert sum(n * wrong for n, wrong in zip(rounds, first, strict=True)) <= max(rounds) * mistakes


def test_weighted_mistakes_reach_the_largest_weight_times_the_mistakes():
    rows = [((1, 0), -1), ((0, 1), -1)]  # one mistake each, and none on the copies
    mistakes, first = perceptron(rows, [3, 3])
    assert (mistakes, sum(3 * wrong for wrong in first)) == (2, 6)


def test_balanced_weights_come_from_the_labels_so_far():
    y = np.array([0, 0, 1, 0, 1, 1, 1])
    assert Balance().weights(y).tolist() == [1.0, 1.0, 2.0, 1.0, 1.5, 1.0, 1.0]
    for cut in range(len(y)):  # in pieces, and whatever comes later
        parts = Balance()
        assert [*parts.weights(y[:cut]), *parts.weights(y[cut:])] == Balance().weights(y).tolist()


def test_balanced_weights_are_limited():
    assert Balance().weights(np.array([0] * 1000 + [1]))[-1] == MOST_BALANCED
