"""Riding comparators: what they report of a stream, against fractions; and that only the rows matter."""

import json
import math
from concurrent.futures import wait
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from threading import Event

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from novikoff.comparators import riding as riding_module
from novikoff.comparators.riders import SLACK, Riders
from novikoff.comparators.riding import Riding
from novikoff.types import Batch, Sparse

WILD = [
    0.0,
    1.0,
    -1.0,
    0.1,
    3.0,
    1e16,
    -1e16,
    1e-160,
    -3e-160,
    1e-320,
    5e-324,
    1e150,
    -1e150,
    1e308,
    2.0**-450,
    2.0**449,
]


def sparse(rows):
    """Dense rows as a Sparse batch without the zeros."""
    places = [[i for i, value in enumerate(row) if value != 0] for row in rows]
    lengths = np.array([0, *map(len, places)], dtype=np.uint64)
    indices = np.array([i for row in places for i in row], dtype=np.uint32)
    values = np.array([row[i] for row, where in zip(rows, places, strict=True) for i in where], dtype=np.float64)
    return Sparse(np.cumsum(lengths, dtype=np.uint64), indices, values, len(rows[0]) if len(rows) else 0)


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


def weights_of(riders, k, width):
    column = np.zeros(width)
    column[: min(width, len(riders.U))] = riders.U[:width, k]
    return [*column.tolist(), float(riders.own[k])]


def check(riding, riders, rows, labels, start=None):
    """Every comparator's values against fractions: equal in whole numbers, outward in floats."""
    facts = riding.facts()
    assert facts.rows == len(rows)
    assert not facts.flaw
    xs = [features(row, riding.bias, riding.normalize) for row in rows]
    longest = max((dot(x, x) for x in xs), default=Fraction(0))
    assert facts.square == longest if facts.exact else longest <= facts.square <= longest * (1 + Fraction(1, 2**40))
    assert facts.comparators[0].hinge == facts.comparators[0].squared_hinge == len(rows)
    for k in {u.direction for u in facts.comparators} - {0}:
        weights = weights_of(riders, k - 1, len(rows[0]))
        margins = [y * dot(weights, x) for x, y in zip(xs, labels, strict=True)]
        norm2 = dot(weights, weights)
        mine = [u for u in facts.comparators if u.direction == k]
        for u in mine[:: max(1, len(mine) // 12)]:
            scale = Fraction(u.scale)
            losses = [max(Fraction(0), 1 - m / scale) for m in margins]
            exact = norm2 / scale**2, sum(losses, Fraction(0)), sum((loss**2 for loss in losses), Fraction(0))
            found = u.square, u.hinge, u.squared_hinge
            if facts.exact:
                assert found == exact
            else:
                assert all(value >= truth for value, truth in zip(found, exact, strict=True))
                assert u.square <= exact[0] * (1 + Fraction(1, 2**40))
            if start is not None:
                first = dot(weights, start) / scale
                assert u.start <= first
                assert u.start == first or not (facts.exact and facts.start_exact)
    return facts


def ridden(rows, labels, U, own, top, exact, bias=0.0, normalize=False, form=sparse, start=None):
    """Comparators with given directions that saw these rows."""
    riders = Riders(np.array(U, dtype=np.float32), np.array(own, dtype=np.float64), top, exact)
    riding = Riding(bias, normalize, start)
    riding._riders = riders
    riders.see(form(rows), np.array(labels, dtype=np.int8), riding.bias, normalize)
    return riding, riders


def streams(values, most=12, width=4):
    row = st.lists(values, min_size=width, max_size=width)
    return st.lists(st.tuples(row, st.sampled_from([-1, 1])), min_size=1, max_size=most)


directions = lambda values: st.lists(st.lists(values, min_size=4, max_size=4), min_size=4, max_size=4).map(
    lambda rows: [[*row[:3], 0] for row in rows] + [[0] * 4]
)
dense = lambda rows: np.array(rows, dtype=np.float64)


@settings(max_examples=60, deadline=None)
@given(streams(st.integers(-9, 9)), directions(st.integers(-(2**20), 2**20)), st.sampled_from([0, 3]), st.booleans())
def test_whole_numbers_are_reported_exactly_for_arbitrary_comparators(stream, U, bias, dense_rows):
    rows, labels = [x for x, _ in stream], [y for _, y in stream]
    form, start = dense if dense_rows else sparse, [3, 0, -1, 2, 5]
    riding, riders = ridden(rows, labels, U, [5, -7, 2**18], 24, True, bias, form=form, start=start)
    assert check(riding, riders, rows, labels, start).exact


@settings(max_examples=60, deadline=None)
@given(
    streams(st.floats(-1e3, 1e3)), directions(st.floats(-1, 1, width=32)), st.sampled_from([0, 0.3]), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_floats_are_rounded_outward_for_arbitrary_comparators(stream, U, bias, normalize, dense_rows):
    rows, labels = [x for x, _ in stream], [y for _, y in stream]
    form, start = dense if dense_rows else sparse, [0.1, 1e-9, -7.3, 0.0, 1 / 3]
    riding, riders = ridden(rows, labels, U, [0.5, 0.0, -1.0], 4, False, bias, normalize, form, start)
    if not riding.facts().flaw:
        check(riding, riders, rows, labels, start)


@settings(max_examples=150, deadline=None)
@given(streams(st.sampled_from(WILD), most=6), directions(st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-20, -0.25])))
@example([([1e16, 1.0, -1e16, 0.0], 1), ([1e16, -1.0, -1e16, 0.0], 1)], [[1, 1, 1, 0]] * 4 + [[0] * 4])
@example([([1e-160, 0.0, 0.0, 0.0], 1)] * 3, [[1, 1, 1, 0]] * 4 + [[0] * 4])
def test_wild_floats_are_rounded_outward_or_refused(stream, U):
    rows, labels = [x for x, _ in stream], [y for _, y in stream]
    for form in (sparse, dense):
        riding, riders = ridden(rows, labels, U, [0, 0, 0], 3, False, form=form)
        facts = riding.facts()
        longest = max(dot(row, row) for row in rows)
        if longest > Fraction(2) ** 901 or 0 < longest < Fraction(2) ** -901:
            assert "rescale" in facts.flaw
        if facts.flaw:
            assert [u.direction for u in facts.comparators] == [0]
        else:
            check(riding, riders, rows, labels)


def test_cancellation_is_not_taken_for_a_margin():
    """In doubles 1e16 + 1 - 1e16 is 0 or 2, never 1."""
    rows, U = [[1e16, 1.0, -1e16]], [[1, 0, 0, 0]] * 3 + [[0] * 4]
    riding, riders = ridden(rows, [-1], U, [0, 0, 0], 60, False)
    facts = check(riding, riders, rows, [-1])
    assert all(u.hinge > 0 for u in facts.comparators)


def test_rows_whose_squares_vanish_still_have_their_margins_rounded_down():
    coins = np.random.default_rng(7)
    U = np.zeros((4, 4), np.float32)
    U[:3, :3] = coins.random((3, 3))
    for _ in range(20):
        rows, labels = [[1.0, 1.0, 1.0], (coins.random(3) * 1e-163).tolist()], [1, 1]
        riding, riders = ridden(rows, labels, U, [0, 0, 0], 2, False)
        assert sum(u.hinge == 0 for u in check(riding, riders, rows, labels).comparators) == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, 1e-320])
@pytest.mark.parametrize("kept", [0, 10**6])
def test_what_is_not_finite_or_not_safe_is_a_flaw(value, kept):
    riding = Riding(keep=kept)
    for row in ([1e-320, 0.0] if value == 1e-320 else [1.0, 2.0], [0.0, value]):
        riding.see_row(np.array(row), 1)
    flaw = riding.facts().flaw
    assert flaw
    assert ("not a number" if math.isnan(value) else "rescale") in flaw


def test_rows_of_zeros_are_no_flaw():
    riding = Riding()
    riding.see(Batch(np.zeros((100, 3)), np.ones(100, np.int8), 1))
    facts = riding.facts()
    assert (facts.flaw, facts.square, len(facts.comparators)) == ("", 0, 1)


def test_no_rows_are_no_flaw():
    facts = Riding().facts()
    assert (facts.flaw, facts.rows, facts.comparators[0].hinge) == ("", 0, 0)


def example_stream(rows, width=7, whole=False, seed=0):
    coins = np.random.default_rng(seed)
    x = coins.integers(-4, 5, (rows, width)).astype(float) if whole else coins.normal(size=(rows, width))
    x[coins.random((rows, width)) < 0.4] = 0.0
    y = np.where(x @ np.arange(1, width + 1) + coins.normal(size=rows) > 0, 1, -1).astype(np.int8)
    return x, y


def seen(state):
    """A state as bytes, to compare two of them to the bit."""
    if isinstance(state, dict):
        return {key: seen(value) for key, value in state.items()}
    return (str(state.dtype), state.shape, state.tobytes()) if isinstance(state, np.ndarray) else state


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("bias", "normalize"), [(0.0, False), (1.0, False), (0.5, True)])
@pytest.mark.parametrize("form", [dense, sparse])
@pytest.mark.parametrize("keep", [5_000, 10**7])
def test_batches_rows_and_stops_change_nothing_to_the_bit(whole, bias, normalize, form, keep):
    x, y = example_stream(700, whole=whole)
    x[600, 3] = 0.5  # whole numbers up to here
    table = form(x)
    states, facts = [], []
    for sizes in ([700], [1, 63, 64, 65, 507], [100] * 7, None):
        riding = Riding(bias, normalize, keep=keep)
        start = 0
        for size in sizes or []:
            riding.see(Batch(table[start : start + size], y[start : start + size], start + 1))
            start += size
            if size == 65:
                riding.facts()
            if size in (64, 100):
                riding = Riding.restore(riding.state())
        if sizes is None:
            for row, label in zip(table.rows() if form is sparse else table, y.tolist(), strict=True):
                riding.see_row(row, label)
        assert riding.rows == 700
        facts.append(riding.facts())
        states.append(seen(riding.state()))
    assert all(state == states[0] for state in states[1:])
    assert all(fact == facts[0] for fact in facts[1:])
    assert (states[0]["riders"] is not None) == (keep == 5_000)
    assert not facts[0].exact


def test_rows_may_change_after_they_were_shown():
    x, y = example_stream(300)
    buffer, places = np.empty(7), np.arange(7, dtype=np.uint32)
    for shown in (lambda row: row, lambda row: (places, row)):
        first, second = Riding(keep=2_000), Riding(keep=2_000)
        for row, label in zip(x, y.tolist(), strict=True):
            buffer[:] = row
            first.see_row(shown(buffer), label)
            second.see_row(shown(row), label)
        assert seen(first.state()) == seen(second.state())


def test_the_state_is_arrays_and_json():
    for keep in (3_000, 10**6):
        riding = Riding(1.0, start=[1.0, 2.0], keep=keep)
        riding.see(Batch(*example_stream(200, whole=True), 1))
        flat = riding.state()
        for part in (flat, flat["kept"] or {}, flat["riders"] or {}):
            json.dumps({k: v for k, v in part.items() if not isinstance(v, (np.ndarray, dict))}, allow_nan=False)


@pytest.mark.parametrize(
    ("keep", "part", "name", "value"),
    [
        (10**6, "kept", "indptr", np.array([0, 500, 10**9], np.uint64)),
        (10**6, "kept", "y", np.ones(3, np.int8)),
        (3_000, "riders", "U", np.zeros((5, 3), np.float32)),
        (3_000, "riders", "U", np.ones((5, 4), np.float32)),
        (3_000, "riders", "own", np.zeros(2)),
        (3_000, "riders", "counts", np.zeros((3, 7), np.int64)),
        (3_000, "riders", "sums", np.zeros((3, 130), np.float32)),
    ],
)
def test_a_state_whose_arrays_do_not_fit_is_refused(keep, part, name, value):
    riding = Riding(keep=keep)
    riding.see(Batch(*example_stream(200, whole=True), 1))
    state = riding.state()
    state[part][name] = value
    with pytest.raises(ValueError):
        Riding.restore(state)


def test_rows_without_features_are_seen():
    riding = Riding(1.0)
    riding.see(Batch(np.zeros((100, 0)), np.ones(100, np.int8), 1))
    riding.see(Batch(np.zeros((0, 0)), np.ones(0, np.int8), 101))
    assert (riding.facts().rows, riding.facts().square) == (100, 1)


def test_dense_and_sparse_whole_numbers_give_the_same_facts():
    x, y = example_stream(500, whole=True)
    facts = []
    for table in (x, x.astype(np.int64), x.astype(np.float32), sparse(x)):
        riding = Riding(2.0, keep=4_000)
        riding.see(Batch(table, y, 1))
        facts.append(riding.facts())
    assert facts[0].exact
    assert all(fact.comparators == facts[0].comparators and fact.square == facts[0].square for fact in facts)


@pytest.mark.parametrize("form", [dense, sparse])
def test_fitted_whole_numbers_are_exact_and_stay_sound_when_a_fraction_comes(form):
    x, y = example_stream(300, whole=True)
    for last in (None, 0.1, 2.0**20, 2.0**30):
        rows = x.copy()
        if last is not None:
            rows[250, 2] = last
        riding = Riding(1.0, keep=1_500)
        riding.see(Batch(form(rows), y, 1))
        facts = check(riding, riding._riders, rows.tolist(), y.tolist())
        assert facts.exact == (last is None)


def test_sums_beyond_two_to_the_sixty_two_carry():
    rows, labels = [[2**14, 2**13, 0, 1]] * 40, [-1] * 40
    U = [[2**15, 1, 2, 0]] * 4 + [[0] * 4]
    riding, riders = ridden(rows, labels, U, [0, 0, 0], 30, True)
    assert riders.carries.any()
    assert check(riding, riders, rows, labels).exact
    riders._leave_whole_numbers()
    assert not check(riding, riders, rows, labels).exact


def test_features_that_were_not_fitted_have_no_weight():
    x, y = example_stream(200)
    riding = Riding(keep=2_000)
    riding.see(Batch(sparse(x[:150]), y[:150], 1))
    wide = np.zeros((50, 12))
    wide[:, :7], wide[:, 11] = x[150:], 100.0
    riding.see(Batch(sparse(wide), y[150:], 151))
    every = np.zeros((200, 12))
    every[:150, :7], every[150:] = x[:150], wide
    check(riding, riding._riders, every.tolist(), y.tolist())


def test_float32_rows_are_those_of_their_doubles():
    x, y = example_stream(300)
    x = x.astype(np.float32)
    first, second = Riding(0.1, True, keep=2_000), Riding(0.1, True, keep=2_000)
    first.see(Batch(x, y, 1))
    second.see(Batch(x.astype(np.float64), y, 1))
    assert first.facts() == second.facts()


def test_asking_early_does_not_settle_the_directions():
    x, y = example_stream(400)
    asked, silent = Riding(keep=10_000), Riding(keep=10_000)
    for start in range(0, 400, 100):
        for riding in (asked, silent):
            riding.see(Batch(x[start : start + 100], y[start : start + 100], start + 1))
        asked.facts()
    assert seen(asked.state()) == seen(silent.state())


def test_weights_too_large_at_the_start_are_a_flaw():
    riding = Riding(start=[1e200, 0.0])
    riding.see_row(np.ones(1), 1)
    assert "start" in riding.facts().flaw


def test_looking_at_batches_behind_the_game_changes_nothing():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(5000, 7))
    y = np.where(x[:, 0] + 0.1 * rng.normal(size=5000) > 0, 1, -1).astype(np.int8)
    at_once, behind = Riding(bias=1.0, keep=50_000), Riding(bias=1.0, keep=50_000)
    for start in range(0, 5000, 500):
        batch = Batch(x[start : start + 500], y[start : start + 500], start + 1)
        at_once.see(batch)
        behind.see(batch, behind=True)
    assert behind.rows == 5000
    assert behind.facts() == at_once.facts()
    behind.see_row(x[0], 1)
    at_once.see_row(x[0], 1)
    assert behind.facts() == at_once.facts()


def test_an_error_in_the_second_thread_is_raised_in_the_first(monkeypatch):
    riding = Riding()
    monkeypatch.setattr(riding, "_see", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):  # noqa: PT012
        riding.see(Batch(np.ones((100, 3)), np.ones(100, dtype=np.int8), 1), behind=True)
        riding.catch_up()


@contextmanager
def held_up(riding):
    """Have the second thread wait after all that it was given."""
    go_on = Event()
    riding._thread.submit(go_on.wait, 60)
    try:
        yield
    finally:
        go_on.set()


def same_state(one, two):
    one, two = one.state(), two.state()
    for name, value in one["riders"].items():
        np.testing.assert_array_equal(two["riders"][name], value, err_msg=name)


def batches_of(kind, sizes=(500,) * 12):
    """Rows of 30 features, from some of which on they are no whole numbers."""
    rng = np.random.default_rng(4)
    rows = sum(sizes)
    x = rng.integers(-3, 4, (rows, 30)).astype(np.float64)
    x[0 if kind in ("sparse", "dense") else 4000 if kind == "late fractions" else rows :] *= 0.3
    y = np.where(x[:, 0] + x[:, 1] * rng.random(rows) > 0, 1, -1).astype(np.int8)
    starts = np.cumsum([0, *sizes]).tolist()
    return [Batch(x[a:b] if kind == "dense" else sparse(x[a:b]), y[a:b], a + 1) for a, b in pairwise(starts)]


@pytest.mark.parametrize("kind", ["sparse", "dense", "whole", "late fractions"])
def test_who_waits_for_the_second_thread_helps_it_and_no_sum_changes(kind, monkeypatch):
    batches = batches_of(kind)
    found = []
    monkeypatch.setattr(Riders, "margins", counted(Riders.margins, found))
    at_once, helped = two_ridings(batches, 9, bias=1.0)
    before = len(found)
    with held_up(helped):
        for batch in batches[9:]:
            helped.see(batch, behind=True)
        monkeypatch.setattr(helped, "_caught_up", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):  # the first wait: what could be helped with has been
            helped.catch_up()
        monkeypatch.undo()
        assert len(found) - before == (0 if kind == "whole" else 3)
    assert helped.facts() == at_once.facts()
    same_state(at_once, helped)


def two_ridings(batches, before, **given):
    """Comparators that saw all batches, and others that saw so many of them in their second thread."""
    at_once, helped = Riding(keep=100_000, **given), Riding(keep=100_000, **given)
    for batch in batches:
        at_once.see(batch)
    for batch in batches[:before]:
        helped.see(batch, behind=True)
    helped.catch_up()
    return at_once, helped


def test_who_may_not_go_on_helps_with_the_last_batch(monkeypatch):
    batches = batches_of("sparse")
    at_once, helped = two_ridings(batches, 8)
    monkeypatch.setattr(riding_module, "MOST_BEHIND", 1)
    monkeypatch.setattr(helped, "_caught_up", lambda: 1 / 0)
    with held_up(helped), pytest.raises(ZeroDivisionError):
        helped.see(batches[8], behind=True)
    assert helped._behind[0].margins is not None
    monkeypatch.undo()
    for batch in batches[9:]:
        helped.see(batch, behind=True)
    same_state(at_once, helped)


def test_the_margins_that_wait_are_of_some_rows_only(monkeypatch):
    monkeypatch.setattr(riding_module, "MOST_HELPED", 1500)
    batches = batches_of("sparse")
    at_once, helped = two_ridings(batches, 5)
    most = []
    plain = helped._caught_up

    def caught_up():
        most.append(sum(len(waiting.batch) for waiting in helped._behind if waiting.margins is not None))
        go_on.set()
        plain()

    go_on = Event()
    helped._thread.submit(go_on.wait, 60)
    for batch in batches[5:]:
        helped.see(batch, behind=True)
    monkeypatch.setattr(helped, "_caught_up", caught_up)
    helped.catch_up()
    assert most[0] == max(most) == 1500
    same_state(at_once, helped)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_single_rows_and_small_batches_before_a_batch_that_was_helped_with_come_first(kind):
    sizes = (700, 700, 30, 900, 20, 800)
    batches = batches_of(kind, sizes)
    at_once, helped = Riding(bias=0.5, keep=60_000), Riding(bias=0.5, keep=60_000)
    for batch in batches:
        at_once.see(batch)
    for batch in batches:
        if len(batch) < 100:
            helped.see(batch, behind=True)
            continue
        helped.catch_up()
        if helped._thread is not None:
            with held_up(helped):
                helped.see(batch, behind=True)
                helped._help(helped._behind[0])
        else:
            helped.see(batch, behind=True)
    same_state(at_once, helped)


def test_margins_are_called_settled_only_when_they_are(monkeypatch):
    riding, seen = Riding(bias=1.0, keep=100_000), []
    plain = Riders._measure

    def measure(riders, exact):
        plain(riders, exact)
        seen.append((exact, getattr(riders, "exact", None)))

    monkeypatch.setattr(Riders, "_measure", measure)
    for batch in batches_of("late fractions"):
        riding.see(batch)
    assert seen == [(True, True), (False, True)]  # the new norms are there before floats are said to be in use
    assert riding._riders.settled


def test_dense_rows_may_become_wider():
    rng = np.random.default_rng(8)
    narrow, wide = rng.normal(size=(400, 5)), rng.normal(size=(400, 9))
    wide[:, 5:] = rng.normal(size=(400, 4)) * 100.0
    y = np.where(rng.random(400) < 0.5, 1, -1).astype(np.int8)
    dense, as_sparse = Riding(keep=10_000), Riding(keep=10_000)
    for x in (narrow, wide):
        dense.see(Batch(x, y, 1))
        as_sparse.see(Batch(sparse(x), y, 1))
    for name in ("counts", "rows"):
        np.testing.assert_array_equal(getattr(dense._riders, name), getattr(as_sparse._riders, name))


def test_an_interrupt_while_waiting_loses_nothing(monkeypatch):
    batches = batches_of("sparse")
    riding = Riding(keep=100_000)
    for batch in batches:
        riding.see(batch, behind=True)
    plain, asked = riding_module.wait, []

    def interrupted(futures):
        asked.append(futures)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return plain(futures)

    monkeypatch.setattr(riding_module, "wait", interrupted)
    with held_up(riding):
        riding.see(batches[0], behind=True)
        before = list(riding._behind)
        with pytest.raises(KeyboardInterrupt):
            riding.catch_up()
        assert list(riding._behind) == before
    assert riding.rows == 6500


def counted(method, found):
    """The method, which notes that it was called."""

    def call(*arguments):
        found.append(1)
        return method(*arguments)

    return call


def test_what_lies_in_a_mapped_file_is_kept_where_it_lies_until_the_game_is_over():
    for behind, copied in (("mapped", False), (True, True)):
        x = sparse(np.ones((100, 3)))
        riding = Riding()
        riding.see(Batch(x, np.ones(100, dtype=np.int8), 1), behind=behind)
        wait([waiting.seen for waiting in riding._behind])
        assert np.shares_memory(riding._kept._values[0], x.values) is not copied
        facts = riding.facts()
        assert not np.shares_memory(riding._kept._values[0], x.values)
        assert not np.shares_memory(riding._kept._indices[0], x.indices)
        x.values[:], x.indices[:] = -7.0, 0  # the file is written anew
        assert riding.facts() == facts


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("bias", [0.0, 0.5])
def test_rows_seen_in_one_go_leave_the_same_sums_as_margins_and_tally(normalize, bias):
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 9, 500)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    indices = np.concatenate([rng.choice(40, n, replace=False) for n in lengths]).astype(np.uint32)
    x = Sparse(indptr, indices, rng.normal(size=len(indices)), 40)
    y = np.where(rng.random(500) < 0.5, 1, -1).astype(np.int8)
    one, two = (Riders.fitted(x[:100], y[:100], bias, normalize) for _ in range(2))
    assert not one.exact
    one.see(x, y, bias, normalize)
    two.add(x, two.margins(x, y, bias, normalize), bias)
    for name in ("counts", "sums", "squares", "least", "longest", "rows", "nonzeros", "empty"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@pytest.mark.parametrize("form", [sparse, dense])
@pytest.mark.parametrize("where", [0, 255, 256, 599])
def test_one_row_that_is_not_a_number_is_a_flaw_wherever_it_is(where, form):
    rows = np.full((600, 2), 0.5)
    rows[where, 1] = math.nan
    riding, _ = ridden(rows.tolist(), [1] * 600, [[1, 1, 1, 0]] * 2 + [[0] * 4], [0, 0, 0], 3, False, form=form)
    assert "not a number" in riding.facts().flaw


@pytest.mark.parametrize("form", [sparse, dense])
@pytest.mark.parametrize("bias", [0.0, 4.0])
def test_the_error_that_is_taken_off_counts_every_entry_and_the_bias(bias, form):
    U = np.zeros((3, 4), np.float32)
    U[:2, :3] = [[0.5], [0.25]]
    riders = Riders(U, np.full(3, 0.75), 3, False)
    rows, n = [[3.0, 5.0]] * 300, 2 + (bias != 0.0)
    length = np.sqrt(34.0 + bias * bias)
    margin = -(2.75 + 0.75 * bias) - SLACK * (n + 4.0) * (length + 2.0**-500) * riders._norms[0]
    found = riders.margins(form(rows), np.full(300, -1, np.int8), bias, False)
    assert np.array_equal(found, [[margin] * 3 + [34.0 + bias * bias]] * 300)
