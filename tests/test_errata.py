"""Formulas of the lecture notes that are wrong, and what we do instead: one test a difference.

The notes are slides and scribed lectures on the same algorithms; the line numbers are those of the errata list in
docs/errata.md.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk
from novikoff.adversaries import Bisection, GridBisection
from novikoff.core.certificate import floor_log2
from novikoff.finite.classes import cube, halfspaces, sphere_cover, table


class AsPrinted:
    """The slide's threshold learner: on +1 it sets r to r - 1/(2n) instead of x - 1/(2n)."""

    def __init__(self, n):
        self.n, self.left, self.right = n, Fraction(-1, 2 * n), 1 + Fraction(1, 2 * n)

    def play_one(self, i, y):
        x = Fraction(i, self.n)
        said = 1 if (x - self.left) - (self.right - x) >= 0 else -1
        if self.left <= x <= self.right:
            if y == 1:
                self.right -= Fraction(1, 2 * self.n)
            else:
                self.left = x + Fraction(1, 2 * self.n)
        return said


def test_the_threshold_update_as_printed_breaks_the_bound():
    n, worst = 10, 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, n + 1, 200)
        y = np.where(x >= rng.integers(0, n + 2), 1, -1)
        slide = AsPrinted(n)
        worst = max(worst, sum(slide.play_one(i, s) != s for i, s in zip(x.tolist(), y.tolist(), strict=True)))
        assert nk.play(nk.ThresholdHalving(n), (x, y)).mistakes <= 3
    assert worst > 3 == math.floor(math.log2(n + 2))


def test_thresholds_on_a_grid_are_n_plus_two_and_log2_of_n_plus_one_can_be_exceeded():
    n = 2
    ledger = nk.play(nk.ThresholdHalving(n), GridBisection(n), rounds=10)
    assert ledger.mistakes == 2 == math.floor(math.log2(n + 2))
    assert ledger.mistakes > math.floor(math.log2(n + 1))


def test_a_version_space_that_includes_the_current_round_would_be_cheating():
    # As printed V_t contains only what is right at t too, so predicting x_t with it peeks at y_t: no mistake, ever.
    hypotheses, peeking, mistakes = cube(6), nk.Halving(cube(6)), 0
    for t in range(6):
        peeking.learn_one(t, -1)  # the notes' V_t has already seen y_t ...
        mistakes += peeking.predict_one(t) != -1  # ... when it predicts x_t
    assert mistakes == 0
    assert nk.play(nk.Halving(hypotheses), [(t, -1) for t in range(6)]).mistakes == 6


def test_the_first_state_predicts_the_first_round():
    assert nk.ThresholdHalving(10).predict_one(5) == 1  # V_1 = H, nothing seen


def test_the_number_of_weight_vectors_is_not_the_number_of_halfspaces():
    assert halfspaces(10, 3).size == 9261
    assert halfspaces(10, 3, distinct=True).size == 7491


def test_with_mistake_driven_filtering_the_survivors_are_not_the_correct_experts():
    rows = [(1, -1, -1), (-1, -1, 1), (-1, -1, -1), (-1, 1, -1)]
    stream = [(0, -1), (1, -1), (2, -1)]
    kept = {conservative: nk.Halving(table(rows), conservative=conservative) for conservative in (False, True)}
    for learner in kept.values():
        nk.play(learner, stream)
    assert kept[False].size == 1
    assert kept[True].size == 4  # three of them have erred


def test_the_last_mistake_may_come_arbitrarily_late():
    # "After a finite number of iterations the predictor never makes mistakes" is false: finitely many mistakes, yes.
    for delay in (10, 1000, 100_000):
        x = np.append(np.zeros(delay, dtype=np.int64), 1)
        y = np.append(-np.ones(delay, dtype=np.int64), -1)
        ledger = nk.play(nk.ThresholdHalving(1), (x, y), record=True)
        assert ledger.recorded()[-1] != y[-1]


def test_the_sign_of_zero_is_plus_one_not_zero():
    assert np.sign(0.0) == 0.0  # what numpy says, and would count as a mistake for both labels
    for learner in (nk.Halving(sphere_cover(2, 0.5)), nk.CoverHalving(2)):
        assert learner.predict_one([0.0, 0.0]) == 1
    assert nk.Halving(halfspaces(1, 2)).predict_one([0, 0]) == 1


def test_a_constructed_cover_guarantees_less_than_the_existence_bound():
    from novikoff.finite.classes.sphere import corollary

    assert [math.floor(corollary(d, 0.1, 1.0)) for d in (2, 3)] == [12, 19]
    assert sphere_cover(2, 0.05).size == 63
    assert nk.Halving(sphere_cover(2, 0.05)).facts().hypotheses.bit_length() - 1 == 5


def test_duplicates_and_distinct_functions_must_not_be_mixed():
    rows = [[1, 1]] * 4 + [[-1, 1]] * 2 + [[-1, -1]]  # A four times, B twice, C once
    ledger = nk.play(nk.Halving(table(rows)), [(0, -1), (1, -1)])
    assert ledger.mistakes == 2
    assert ledger.mistakes > math.floor(math.log2(3))  # three functions, but seven votes
    assert ledger.certify()[0].bound == math.floor(math.log2(7))


def test_doubles_run_out_where_rationals_do_not():
    for label, rounds in ((1, 53), (-1, 1074)):
        doubles = nk.play(nk.Constant(label), Bisection(exact=False), rounds=1200)
        assert doubles.mistakes == rounds
    assert nk.play(nk.Constant(1), Bisection(), rounds=1200).mistakes == 1200


@pytest.mark.parametrize("bits", [1, 2, 5, 20])
def test_all_bit_strings_of_at_most_b_bits_guarantee_b(bits):
    assert floor_log2(2 ** (bits + 1) - 2, 1) == bits
