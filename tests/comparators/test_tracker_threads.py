"""Comparators that look at batches in a background thread: who waits helps, nothing is lost, and no sum changes."""

from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from threading import Event

import numpy as np
import pytest

from novikoff.comparators import tracker as module
from novikoff.comparators.linear import LinearScorer
from novikoff.comparators.tracker import LinearTracker
from novikoff.types import Batch, Sparse


def sparse(x):
    where, places = np.nonzero(x)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=len(x)))]).astype(np.uint64)
    return Sparse(indptr, places.astype(np.uint32), x[where, places], x.shape[1])


def batches_of(kind, sizes=(500,) * 12):
    """Batches of rows of 30 features, and their mistakes."""
    rng = np.random.default_rng(4)
    rows = sum(sizes)
    x = 0.3 * rng.integers(-3, 4, (rows, 30))
    y = np.where(x[:, 0] + x[:, 1] * rng.random(rows) > 0, 1, -1).astype(np.int8)
    wrong = rng.random(rows) < 0.2
    parts = [slice(*ends) for ends in pairwise(np.cumsum([0, *sizes]).tolist())]
    form = sparse if kind == "sparse" else np.array
    return [(Batch(form(x[part]), y[part], part.start + 1), wrong[part]) for part in parts]


def owned(batch):
    """The same, in memory that nobody writes over: it may be looked at in the background."""
    return replace(batch, memory="owned")


def seen(state):
    """A state as bytes, to compare two of them to the bit."""
    if isinstance(state, dict):
        return {key: seen(value) for key, value in state.items()}
    return (str(state.dtype), state.shape, state.tobytes()) if isinstance(state, np.ndarray) else state


def same(one, two):
    return seen(one.state()) == seen(two.state()) and one.facts() == two.facts()


def two_trackers(batches, before, **given):
    """One that saw all batches, and one that saw so many of them in its background thread."""
    at_once, helped = LinearTracker(keep=100_000, **given), LinearTracker(keep=100_000, **given)
    for batch, wrong in batches:
        at_once.see(batch, wrong)
    for batch, wrong in batches[:before]:
        helped.see(owned(batch), wrong)
    helped.catch_up()
    return at_once, helped


@contextmanager
def held_up(tracker):
    """Have the background thread wait after all that it was given."""
    go_on = Event()
    tracker._thread.submit(go_on.wait, 60)
    try:
        yield
    finally:
        go_on.set()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_looking_at_batches_behind_the_game_changes_nothing(kind):
    batches = batches_of(kind)
    at_once, behind = two_trackers(batches, 12, bias=1.0)
    assert behind.rows == 6000
    assert same(at_once, behind)
    row = np.arange(30.0)
    for tracker in (at_once, behind):
        tracker.see_row(row, 1, True)
    assert same(at_once, behind)


def test_an_error_in_the_background_thread_is_raised_in_the_first(monkeypatch):
    tracker = LinearTracker()
    monkeypatch.setattr(tracker, "_see", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):  # noqa: PT012
        tracker.see(owned(Batch(np.ones((100, 3)), np.ones(100, dtype=np.int8), 1)), np.zeros(100, np.bool_))
        tracker.catch_up()


def counted(method, found):
    """The method, which notes that it was called."""

    def call(*arguments):
        found.append(1)
        return method(*arguments)

    return call


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_who_waits_for_the_background_thread_helps_it_and_no_sum_changes(kind, monkeypatch):
    batches, found = batches_of(kind), []
    at_once, helped = two_trackers(batches, 9, bias=1.0)
    monkeypatch.setattr(LinearScorer, "margins", counted(LinearScorer.margins, found))
    with held_up(helped):
        for batch, wrong in batches[9:]:
            helped.see(owned(batch), wrong)
        monkeypatch.setattr(helped, "_caught_up", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):  # the first wait: what could be helped with has been
            helped.catch_up()
        monkeypatch.undo()
        assert len(found) == 3
    assert same(at_once, helped)


def test_who_may_not_go_on_helps_with_the_last_batch(monkeypatch):
    batches = batches_of("sparse")
    at_once, helped = two_trackers(batches, 8)
    monkeypatch.setattr(module, "MOST_BEHIND", 1)
    monkeypatch.setattr(helped, "_caught_up", lambda: 1 / 0)
    with held_up(helped), pytest.raises(ZeroDivisionError):
        helped.see(owned(batches[8][0]), batches[8][1])
    assert helped._behind[0].margins is not None
    monkeypatch.undo()
    for batch, wrong in batches[9:]:
        helped.see(owned(batch), wrong)
    assert same(at_once, helped)


def test_the_margins_that_wait_are_of_some_rows_only(monkeypatch):
    monkeypatch.setattr(module, "MOST_HELPED", 1500)
    batches = batches_of("sparse")
    at_once, helped = two_trackers(batches, 5)
    most, plain, go_on = [], helped._caught_up, Event()

    def caught_up():
        most.append(sum(len(pending.y) for pending in helped._behind if pending.margins is not None))
        go_on.set()
        plain()

    helped._thread.submit(go_on.wait, 60)
    for batch, wrong in batches[5:]:
        helped.see(owned(batch), wrong)
    monkeypatch.setattr(helped, "_caught_up", caught_up)
    helped.catch_up()
    assert most[0] == max(most) == 1500
    assert same(at_once, helped)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_single_rows_and_small_batches_before_a_batch_that_was_helped_with_come_first(kind):
    batches = batches_of(kind, (700, 700, 30, 900, 20, 800))
    at_once, helped = LinearTracker(bias=0.5, keep=60_000), LinearTracker(bias=0.5, keep=60_000)
    for batch, wrong in batches:
        at_once.see(batch, wrong)
    for batch, wrong in batches:
        if len(batch) < 100:
            helped.see(owned(batch), wrong)
            continue
        helped.catch_up()
        if helped._thread is not None:
            with held_up(helped):
                helped.see(owned(batch), wrong)
                helped._help(helped._behind[0])
        else:
            helped.see(owned(batch), wrong)
    assert same(at_once, helped)


def test_an_interrupt_while_waiting_loses_nothing(monkeypatch):
    batches, tracker = batches_of("sparse"), LinearTracker(keep=100_000)
    for batch, wrong in batches:
        tracker.see(owned(batch), wrong)
    plain, asked = module.wait, []

    def interrupted(futures):
        asked.append(futures)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return plain(futures)

    monkeypatch.setattr(module, "wait", interrupted)
    with held_up(tracker):
        tracker.see(owned(batches[0][0]), batches[0][1])
        before = list(tracker._behind)
        with pytest.raises(KeyboardInterrupt):
            tracker.catch_up()
        assert list(tracker._behind) == before
    assert tracker.rows == 6500
