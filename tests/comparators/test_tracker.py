"""Linear comparators that watch a game: what they report follows from rows and mistakes alone, against fractions."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from helpers import sparse
from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.comparators.tracker import restored
from novikoff.core.types import Batch


def dense(rows):
    return np.array(rows, dtype=np.float64)


def dot(u, x):
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(u, x, strict=True)), Fraction(0))


def check(tracker, rows, labels, wrong):
    """A few comparators of each direction against fractions, rows not normalised."""
    facts = tracker.facts()
    assert (facts.rows, facts.mistakes, facts.invalid_reason) == (len(rows), sum(wrong), "")
    x = [[*row, tracker.bias] for row in rows]
    squares = [dot(row, row) for row in x]
    assert max(squares) <= facts.square <= max(squares) * (1 + Fraction(1, 2**40))
    truth = sum((x2 for x2, mistake in zip(squares, wrong, strict=True) if mistake), Fraction(0))
    assert truth <= facts.mistakes_square <= truth * (1 + Fraction(1, 2**40)) + Fraction(1, 2**900)
    for k, weights in enumerate(facts.directions, start=1):
        u = np.zeros(len(x[0]))
        u[: len(weights) - 1], u[-1] = weights[:-1], weights[-1]
        margins = [y * dot(u, row) for row, y in zip(x, labels, strict=True)]

        def losses(one, margins=margins):
            scale, kappa = Fraction(one.scale), getattr(one, "kappa", 0)
            return [max(Fraction(0), 1 + kappa * x2 - m / scale) for m, x2 in zip(margins, squares, strict=True)]

        for one in [one for one in facts.comparators if one.direction == k][::40]:
            assert dot(u, u) / Fraction(one.scale) ** 2 <= one.square
            assert sum(losses(one)) <= one.hinge
            assert sum(loss**2 for loss in losses(one)) <= one.squared_hinge
        for one in [one for one in facts.penalized if one.direction == k][::60]:
            assert sum(losses(one)) <= one.loss
        for one in [one for one in facts.over_mistakes if one.direction == k][::60]:
            assert sum(loss for loss, mistake in zip(losses(one), wrong, strict=True) if mistake) <= one.loss
    assert facts.penalized
    return facts


def example_stream(rows, width=7, seed=0):
    """Rows, labels, and rounds that were mistakes."""
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width))
    x[coins.random((rows, width)) < 0.4] = 0.0
    y = np.where(x @ np.arange(1, width + 1) + coins.normal(size=rows) > 0, 1, -1).astype(np.int8)
    return x, y, coins.random(rows) < 0.2


def seen(state):
    """A state as bytes, to compare two of them to the bit."""
    if isinstance(state, dict):
        return {key: seen(value) for key, value in state.items()}
    return (str(state.dtype), state.shape, state.tobytes()) if isinstance(state, np.ndarray) else state


@pytest.mark.parametrize(("bias", "normalize"), [(0.0, False), (1.0, False), (0.5, True)])
@pytest.mark.parametrize("form", [dense, sparse])
@pytest.mark.parametrize("keep", [5_000, 10**7])
def test_batches_rows_and_stops_change_nothing_to_the_bit(bias, normalize, form, keep):
    x, y, wrong = example_stream(700)
    table = form(x)
    states, facts = [], []
    for sizes in ([700], [1, 63, 64, 65, 507], [100] * 7, None):
        tracker = LinearTracker(bias, normalize, keep=keep)
        start = 0
        for size in sizes or []:
            some = slice(start, start + size)
            memory = "owned" if size == 100 else "borrowed"
            tracker.see(Batch(table[some], y[some], start + 1, memory=memory), wrong[some])
            start += size
            if size == 65:
                tracker.facts()
            if size in (64, 100):
                tracker = restored(tracker.state())
        if sizes is None:
            rows = table.rows() if form is sparse else table
            for row, label, mistake in zip(rows, y.tolist(), wrong.tolist(), strict=True):
                tracker.see_row(row, label, mistake)
        assert tracker.rows == 700
        facts.append(tracker.facts())
        states.append(seen(tracker.state()))
    assert states[1:] == states[:1] * 3
    assert facts[1:] == facts[:1] * 3
    assert (states[0]["scorer"] is not None) == (keep == 5_000)
    assert facts[0].mistakes == np.count_nonzero(wrong)


@pytest.mark.parametrize("form", [dense, sparse])
@pytest.mark.parametrize("keep", [1_500, 10**7])
def test_fitted_comparators_are_rounded_outward(form, keep):
    x, y, wrong = example_stream(300)
    for late in (None, 1e-30, 2.0**20, 2.0**300):
        rows = x.copy()
        if late is not None:
            rows[250, 2] = late
        tracker = LinearTracker(1.0, keep=keep)
        tracker.see(Batch(form(rows), y, 1), wrong)
        check(tracker, rows.tolist(), y.tolist(), wrong.tolist())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, 1e-320])
@pytest.mark.parametrize("keep", [0, 10**6])
def test_nonfinite_or_extreme_rows_are_invalid(value, keep):
    tracker = LinearTracker(keep=keep)
    for row in ([1e-320, 0.0] if value == 1e-320 else [1.0, 2.0], [0.0, value]):
        tracker.see_row(np.array(row), 1, True)
    facts = tracker.facts()
    assert ("NaN" if math.isnan(value) else "rescale") in facts.invalid_reason
    assert (facts.square, facts.mistakes_square, facts.penalized, facts.over_mistakes) == (0, 0, (), ())
    assert len(facts.comparators) == 1


def test_rows_of_zeros_are_valid():
    tracker = LinearTracker()
    tracker.see(Batch(np.zeros((100, 3)), np.ones(100, np.int8), 1), np.zeros(100, np.bool_))
    facts = tracker.facts()
    assert (facts.invalid_reason, facts.square, len(facts.comparators)) == ("", 0, 1)


def test_no_rows_are_valid():
    facts = LinearTracker().facts()
    assert (facts.invalid_reason, facts.rows, facts.comparators[0].hinge) == ("", 0, 0)


def test_rows_without_features_are_seen():
    tracker = LinearTracker(1.0)
    tracker.see(Batch(np.zeros((100, 0)), np.ones(100, np.int8), 1), np.zeros(100, np.bool_))
    tracker.see(Batch(np.zeros((0, 0)), np.ones(0, np.int8), 101), np.zeros(0, np.bool_))
    facts = tracker.facts()
    assert facts.rows == 100
    assert 1 <= facts.square < 1 + Fraction(1, 10**12)


def test_rows_may_change_after_they_were_shown():
    x, y, wrong = example_stream(300)
    buffer, places = np.empty(7), np.arange(7, dtype=np.uint32)
    for shown in (lambda row: row, lambda row: (places, row)):
        first, second = LinearTracker(keep=2_000), LinearTracker(keep=2_000)
        for row, label, mistake in zip(x, y.tolist(), wrong.tolist(), strict=True):
            buffer[:] = row
            first.see_row(shown(buffer), label, mistake)
            second.see_row(shown(row), label, mistake)
        assert seen(first.state()) == seen(second.state())


@pytest.mark.parametrize("form", [dense, sparse])
@pytest.mark.parametrize("keep", [2_000, 10**7])
def test_batches_may_change_after_they_were_shown(form, keep):
    """Those that a background thread looks at, after it has."""
    x, y, wrong = example_stream(200)
    for memory in ("borrowed", "owned", "mapped"):
        tracker, lent, labels, mistakes = LinearTracker(keep=keep), form(x), y.copy(), wrong.copy()
        tracker.see(Batch(lent, labels, 1, memory=memory), mistakes)
        facts = tracker.facts()
        (lent.values if form is sparse else lent)[:] = -7.0
        labels[:], mistakes[:] = 1, True
        assert tracker.facts() == facts


def every_part(state):
    """The parts of a state that are not arrays or other states."""
    for value in state.values():
        if isinstance(value, dict):
            yield from every_part(value)
        elif not isinstance(value, np.ndarray):
            yield value


@pytest.mark.parametrize("keep", [3_000, 10**6])
def test_the_state_is_arrays_and_json(keep):
    x, y, wrong = example_stream(200)
    tracker = LinearTracker(1.0, start=[1.0, 2.0], keep=keep)
    tracker.see(Batch(x, y, 1), wrong)
    json.dumps(list(every_part(tracker.state())), allow_nan=False)


@pytest.mark.parametrize(
    ("keep", "path", "value"),
    [
        (10**6, ("kept", "x", "indptr"), np.array([0, 500, 10**9], np.uint64)),
        (10**6, ("kept", "x", "indices"), np.zeros(3, np.uint32)),
        (10**6, ("kept", "y"), np.ones(3, np.int8)),
        (10**6, ("kept", "wrong"), np.ones(3, np.bool_)),
        (3_000, ("scorer", "U"), np.zeros((5, 3), np.float32)),
        (3_000, ("scorer", "U"), np.ones((5, 4), np.float32)),
        (3_000, ("scorer", "bias_weights"), np.zeros(2)),
        (3_000, ("scorer", "longest"), np.zeros(2)),
        (3_000, ("scorer", "tally", "counts"), np.zeros((9, 7), np.int64)),
        (3_000, ("scorer", "tally", "sums"), np.zeros((9, 130), np.float32)),
        (3_000, ("scorer", "tally", "least"), np.zeros(2)),
        (3_000, ("scorer", "tally", "penalties"), [[3, 1.0]]),
        (3_000, ("scorer", "tally", "mistakes"), 201),
    ],
)
def test_a_damaged_state_is_refused(keep, path, value):
    x, y, wrong = example_stream(200)
    tracker = LinearTracker(keep=keep)
    tracker.see(Batch(x, y, 1), wrong)
    part = state = tracker.state()
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    with pytest.raises(ValueError):
        restored(state)


def test_dense_and_sparse_rows_of_integers_give_the_same_facts():
    x, y, wrong = example_stream(500)
    x = np.rint(3 * x)
    facts = []
    for table in (x, x.astype(np.int64), x.astype(np.float32), sparse(x)):
        tracker = LinearTracker(2.0, keep=4_000)
        tracker.see(Batch(table, y, 1), wrong)
        facts.append(tracker.facts())
    assert all(one == facts[0] for one in facts[1:3])
    assert facts[3].square == pytest.approx(facts[0].square)
    for a, b in zip(facts[0].comparators, facts[3].comparators, strict=True):
        assert (a.direction, a.square) == (b.direction, b.square)
        assert float(a.hinge) == pytest.approx(float(b.hinge), abs=1e-9)


def test_features_that_were_not_fitted_have_no_weight():
    x, y, wrong = example_stream(200)
    tracker = LinearTracker(keep=2_000)
    tracker.see(Batch(sparse(x[:150]), y[:150], 1), wrong[:150])
    wide = np.zeros((50, 12))
    wide[:, :7], wide[:, 11] = x[150:], 100.0
    tracker.see(Batch(sparse(wide), y[150:], 151), wrong[150:])
    every = np.zeros((200, 12))
    every[:150, :7], every[150:] = x[:150], wide
    check(tracker, every.tolist(), y.tolist(), wrong.tolist())


def test_float32_rows_are_those_of_their_doubles():
    x, y, wrong = example_stream(300)
    x = x.astype(np.float32)
    first, second = LinearTracker(0.1, True, keep=2_000), LinearTracker(0.1, True, keep=2_000)
    first.see(Batch(x, y, 1), wrong)
    second.see(Batch(x.astype(np.float64), y, 1), wrong)
    assert first.facts() == second.facts()


def test_early_facts_do_not_fix_the_directions():
    x, y, wrong = example_stream(400)
    asked, silent = LinearTracker(keep=10_000), LinearTracker(keep=10_000)
    for start in range(0, 400, 100):
        some = slice(start, start + 100)
        for tracker in (asked, silent):
            tracker.see(Batch(x[some], y[some], start + 1), wrong[some])
        asked.facts()
    assert seen(asked.state()) == seen(silent.state())


def test_weights_too_large_at_the_start_are_invalid():
    tracker = LinearTracker(start=[1e200, 0.0])
    tracker.see_row(np.ones(1), 1, False)
    assert "start" in tracker.facts().invalid_reason


def test_dense_rows_may_become_wider():
    rng = np.random.default_rng(8)
    narrow, wide = rng.normal(size=(400, 5)), rng.normal(size=(400, 9))
    wide[:, 5:] = rng.normal(size=(400, 4)) * 100.0
    y, wrong = np.where(rng.random(400) < 0.5, 1, -1).astype(np.int8), rng.random(400) < 0.5
    one, two = LinearTracker(keep=10_000), LinearTracker(keep=10_000)
    for x in (narrow, wide):
        one.see(Batch(x, y, 1), wrong)
        two.see(Batch(sparse(x), y, 1), wrong)
    for name in ("counts", "rows", "mistakes"):
        np.testing.assert_array_equal(getattr(one.scorer.tally, name), getattr(two.scorer.tally, name))
    assert one.scorer.tally.added.sum(axis=1) == pytest.approx(two.scorer.tally.added.sum(axis=1))
