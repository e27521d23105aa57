"""Linear comparators: every number they report of a stream, against fractions, on ordinary and on wild floats."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers import sparse
from novikoff.comparators._loops.margins import SLACK
from novikoff.comparators.linear import BLOCK, LinearScorer
from novikoff.comparators.tally import Tally

WILD = [0.0, 1.0, -1.0, 0.1, 3.0, 1e16, -1e16, 1e-160, -3e-160, 1e-320, 5e-324, 1e150, -1e150, 1e308, 2.0**-450,
        2.0**449]  # fmt: skip
KAPPAS = [1.0, 0.25, 2.0**-300, 2.0**300]


def dense(rows):
    return np.array(rows, dtype=np.float64)


def features(row, bias, normalize):
    """The x~ of a row: the very doubles that the learner computes with."""
    row = [float(value) for value in row]
    if normalize:
        total = 0.0
        for value in row:
            total += value * value
        scale = 1.0 / math.sqrt(total) if total > 0.0 else 0.0
        row = [value * scale for value in row]
    return [*row, float(bias)]


def dot(u, x):
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(u, x, strict=True)), Fraction(0))


def scored(rows, labels, U, bias_weights, top, bias=0.0, normalize=False, form=sparse, penalties=(), wrong=None):
    """Given directions that saw these rows; wrong: the mistakes, none if it is not said."""
    tally = Tally(3, top, penalties, probes=1)
    scorer = LinearScorer(np.array(U, np.float32), np.append(bias_weights, 1.0), tally, bias, normalize)
    mistakes = np.zeros(len(rows), np.bool_) if wrong is None else np.array(wrong, np.bool_)
    scorer.see(form(rows), np.array(labels, np.int8), mistakes)
    return scorer


class Exact:
    """The same stream and directions in fractions."""

    def __init__(self, scorer, rows, labels, start=None):
        self.x = [features(row, scorer.bias, scorer.normalize) for row in rows]
        self.squares = [dot(x, x) for x in self.x]
        self.weights, width = [], len(rows[0])
        for k in range(3):
            column = np.zeros(width)
            column[: min(width, len(scorer.U))] = scorer.U[:width, k]
            self.weights.append([*column.tolist(), float(scorer.bias_weights[k])])
        self.norms2 = [dot(u, u) for u in self.weights]
        self.margins = [[y * dot(u, x) for x, y in zip(self.x, labels, strict=True)] for u in self.weights]
        self.starts = [0 if start is None else dot(u, start) for u in self.weights]

    def losses(self, u, kappa=Fraction(0)):
        """max(0, 1 + kappa ||x||^2 - y<u,x>) of every row."""
        scale, margins = Fraction(u.scale), self.margins[u.direction - 1]
        return [max(Fraction(0), 1 + kappa * x2 - m / scale) for m, x2 in zip(margins, self.squares, strict=True)]


def some(comparators, most=12):
    """A few of each direction."""
    found = list(comparators)
    return found[:: max(1, len(found) // most)]


def outward(told, exact, rows):
    """At least the exact value, and hardly more where nothing cancels; `rows` is what rounding is measured by."""
    assert told >= exact
    return told - exact <= Fraction(1, 2**30) * (exact + rows)


def check(scorer, rows, labels, start=None, wrong=None):
    """Every value of every comparator against fractions."""
    assert not scorer.invalid_reason
    exact, first = Exact(scorer, rows, labels, start), None if start is None else np.array(start, np.float64)
    longest = max(exact.squares, default=Fraction(0))
    assert longest <= scorer.square() <= longest * (1 + Fraction(1, 2**40))
    every = scorer.comparators(first)
    assert every[0].hinge == every[0].squared_hinge == len(rows)
    for k in (1, 2, 3):
        for u in some(u for u in every if u.direction == k):
            losses = exact.losses(u)
            assert exact.norms2[k - 1] / Fraction(u.scale) ** 2 <= u.square
            assert u.square <= exact.norms2[k - 1] / Fraction(u.scale) ** 2 * (1 + Fraction(1, 2**40))
            assert u.hinge >= sum(losses)
            assert u.squared_hinge >= sum(loss**2 for loss in losses)
            assert u.start <= exact.starts[k - 1] / Fraction(u.scale)
    check_penalized(scorer, exact, first)
    check_over_mistakes(scorer, exact, wrong or [False] * len(rows), first)
    return every


def check_penalized(scorer, exact, start):
    for p, (k, kappa) in enumerate(scorer.tally.penalties):
        mine = [u for u in scorer.penalized(start) if u.kappa * Fraction(u.scale) == Fraction(kappa)]
        assert p or mine or not exact.norms2[k] or start is None
        for u in some(u for u in mine if u.direction == k + 1):
            assert u.loss >= sum(exact.losses(u, u.kappa))
            assert u.square >= exact.norms2[k] / Fraction(u.scale) ** 2
            assert u.start <= exact.starts[k] / Fraction(u.scale)


def check_over_mistakes(scorer, exact, wrong, start):
    for u in some(scorer.over_mistakes(start), 20):
        losses = [loss for loss, mistake in zip(exact.losses(u), wrong, strict=True) if mistake]
        assert u.kappa == 0
        assert u.loss >= sum(losses)
        assert u.square >= exact.norms2[u.direction - 1] / Fraction(u.scale) ** 2
        assert u.start <= exact.starts[u.direction - 1] / Fraction(u.scale)
    truth = sum((x2 for x2, mistake in zip(exact.squares, wrong, strict=True) if mistake), Fraction(0))
    assert truth <= scorer.tally.mistakes_square() <= truth * (1 + Fraction(1, 2**40)) + Fraction(1, 2**990)
    assert scorer.tally.mistakes == sum(wrong)


def streams(values, most=12, width=4):
    row = st.lists(values, min_size=width, max_size=width)
    return st.lists(st.tuples(row, st.sampled_from([-1, 1]), st.booleans()), min_size=1, max_size=most)


def directions(values):
    rows = st.lists(st.lists(values, min_size=4, max_size=4), min_size=4, max_size=4)
    return rows.map(lambda U: [[*row[:3], 0] for row in U] + [[0] * 4])


def split(stream):
    return [x for x, *_ in stream], [y for _, y, _ in stream], [mistake for *_, mistake in stream]


penalties = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(KAPPAS)), max_size=3)


@given(
    streams(st.floats(-1e3, 1e3)), directions(st.floats(-1, 1, width=32)), st.sampled_from([0, 0.3]), st.booleans(),
    st.sampled_from([dense, sparse]), penalties,
)  # fmt: skip
def test_floats_are_rounded_outward_for_arbitrary_comparators(stream, U, bias, normalize, form, penalties):
    rows, labels, wrong = split(stream)
    scorer = scored(rows, labels, U, [0.5, 0.0, -1.0], 4, bias, normalize, form, penalties, wrong)
    if not scorer.invalid_reason:
        check(scorer, rows, labels, [0.1, 1e-9, -7.3, 0.0, 1 / 3], wrong)
        check(scorer, rows, labels, None, wrong)


@given(
    streams(st.sampled_from(WILD), most=6), directions(st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-20, -0.25])), penalties
)
@example([([1e16, 1.0, -1e16, 0.0], 1, True), ([1e16, -1.0, -1e16, 0.0], 1, True)], [[1, 1, 1, 0]] * 4 + [[0] * 4], [])
@example([([1e-160, 0.0, 0.0, 0.0], 1, True)] * 3, [[1, 1, 1, 0]] * 4 + [[0] * 4], [(0, 2.0**300)])
@example([([1e-160] * 4, 1, True), ([1.0] * 4, 1, False)], [[1, 1, 1, 0]] * 4 + [[0] * 4], [(1, 2.0**400)])
def test_wild_floats_are_rounded_outward_or_refused(stream, U, penalties):
    rows, labels, wrong = split(stream)
    for form in (sparse, dense):
        scorer = scored(rows, labels, U, [0, 0, 0], 3, form=form, penalties=penalties, wrong=wrong)
        longest = max(dot(row, row) for row in rows)
        if longest > Fraction(2) ** 901 or 0 < longest < Fraction(2) ** -901:
            assert "rescale" in scorer.invalid_reason
        if scorer.invalid_reason:
            assert [u.direction for u in scorer.comparators(None)] == [0]
            assert not scorer.penalized(None)
            assert not scorer.over_mistakes(None)
        else:
            check(scorer, rows, labels, None, wrong)


def test_facts_of_ordinary_rows_are_close_to_exact():
    coins = np.random.default_rng(2)
    rows, labels = coins.normal(size=(60, 4)).tolist(), coins.choice([-1, 1], 60).tolist()
    wrong = (coins.random(60) < 0.4).tolist()
    U = [*np.column_stack([coins.normal(size=(4, 3)) / 2, np.zeros(4)]).tolist(), [0] * 4]
    scorer = scored(rows, labels, U, [0.1, 0.2, 0.3], 3, 0.5, penalties=[(0, 0.3), (2, 0.01)], wrong=wrong)
    exact = Exact(scorer, rows, labels)
    for u in some(scorer.comparators(None)[1:], 40):
        losses = exact.losses(u)
        assert outward(u.hinge, sum(losses), 60)
        assert outward(u.squared_hinge, sum(loss**2 for loss in losses), 60)
    assert len(scorer.penalized(None)) > 10
    for u in some(scorer.penalized(None), 40):
        assert outward(u.loss, sum(exact.losses(u, u.kappa)), 60)
    for u in some(scorer.over_mistakes(None), 40):
        losses = [loss for loss, mistake in zip(exact.losses(u), wrong, strict=True) if mistake]
        assert outward(u.loss, sum(losses), 60)


def test_the_bound_of_orthogonal_examples_is_the_number_of_their_mistakes():
    """e_1 .. e_7, all labelled -1: u = -(1 .. 1) and kappa = 1/2 say 7, and so does every multiple of them."""
    U = [[-1, 0, 0, 0]] * 7 + [[0] * 4]
    scorer = scored(np.eye(7).tolist(), [-1] * 7, U, [0, 0, 0], 3, penalties=[(0, 0.5)], wrong=[True] * 7)
    bounds = {u.scale: u.bound() for u in scorer.penalized(None)}
    assert 7 <= bounds[1.0] <= 7 + Fraction(1, 10**9)
    assert min(bounds.values()) >= 7
    assert 7 <= scorer.tally.mistakes_square() <= 7 + Fraction(1, 10**9)


def test_cancellation_is_not_taken_for_a_margin():
    """In doubles 1e16 + 1 - 1e16 is 0 or 2, never 1."""
    rows, U = [[1e16, 1.0, -1e16]], [[1, 0, 0, 0]] * 3 + [[0] * 4]
    scorer = scored(rows, [-1], U, [0, 0, 0], 60, penalties=[(0, 1e-40)], wrong=[True])
    every = check(scorer, rows, [-1], wrong=[True])
    assert all(u.hinge > 0 for u in every)
    assert all(u.loss > 0 for u in (*scorer.penalized(None), *scorer.over_mistakes(None)))


def test_rows_whose_squares_vanish_still_have_their_margins_rounded_down():
    coins = np.random.default_rng(7)
    U = np.zeros((4, 4), np.float32)
    U[:3, :3] = coins.random((3, 3))
    for _ in range(20):
        rows, labels = [[1.0, 1.0, 1.0], (coins.random(3) * 1e-163).tolist()], [1, 1]
        scorer = scored(rows, labels, U, [0, 0, 0], 2, penalties=[(0, 2.0**400)])
        assert sum(u.hinge == 0 for u in check(scorer, rows, labels)) == 3


@pytest.mark.parametrize("form", [sparse, dense])
def test_many_rows_leave_the_same_sums_as_few_at_a_time(form):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(BLOCK + 300, 3)) * (rng.random((BLOCK + 300, 3)) < 0.5)
    y = np.where(rng.random(len(rows)) < 0.5, 1, -1).astype(np.int8)
    wrong = rng.random(len(rows)) < 0.3
    one, two = (LinearScorer.fitted(sparse(rows[:100]), y[:100], 0.5, False) for _ in range(2))
    one.see(form(rows), y, wrong)
    for start in range(0, len(rows), 700):
        some = slice(start, start + 700)
        two.see(form(rows[some]), y[some], wrong[some])
    for name in ("counts", "sums", "squares", "least", "added", "rows", "mistakes"):
        np.testing.assert_array_equal(getattr(one.tally, name), getattr(two.tally, name), err_msg=name)
    assert one.tally.mistakes == np.count_nonzero(wrong)
    assert (one.longest[0], one.nonzeros, one.empty) == (two.longest[0], two.nonzeros, two.empty)


@pytest.mark.parametrize("form", [sparse, dense])
@pytest.mark.parametrize("where", [0, 255, 256, 599])
def test_one_nan_row_invalidates_all(where, form):
    rows = np.full((600, 2), 0.5)
    rows[where, 1] = math.nan
    scorer = scored(rows.tolist(), [1] * 600, [[1, 1, 1, 0]] * 2 + [[0] * 4], [0, 0, 0], 3, form=form)
    assert "NaN" in scorer.invalid_reason


@pytest.mark.parametrize("form", [sparse, dense])
@pytest.mark.parametrize("bias", [0.0, 4.0])
def test_the_error_that_is_taken_off_counts_every_entry_and_the_bias(bias, form):
    U = np.zeros((3, 4), np.float32)
    U[:2, :3] = [[0.5], [0.25]]
    scorer = LinearScorer(U, np.full(4, 0.75), Tally(3, 3, probes=1), bias, False)
    rows, n, square = [[3.0, 5.0]] * 300, 2 + (bias != 0.0), 34.0 + bias * bias
    error = SLACK * (n + 4.0) * (np.sqrt(square) + 2.0**-500) * scorer._norms[0]
    found = scorer.margins(form(rows), np.full(300, -1, np.int8))
    margin = -(2.75 + 0.75 * bias) - error
    assert np.array_equal(found, [[margin] * 3 + [-0.75 * bias, square * (1.0 + SLACK * (n + 5.0))]] * 300)
