"""Comparators that look at batches in a background thread: nothing is lost, and no sum changes."""

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from threading import Event

import numpy as np
import pytest

import helpers as states
import novikoff as nk
from helpers import sparse
from novikoff.comparators import tracker as module
from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.core.types import Batch


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
    at_once, behind = LinearTracker(keep=100_000, **given), LinearTracker(keep=100_000, **given)
    for batch, wrong in batches:
        at_once.see(batch, wrong)
    for batch, wrong in batches[:before]:
        behind.see(owned(batch), wrong)
    behind.catch_up()
    return at_once, behind


@contextmanager
def held_up(tracker):
    """Have the background thread wait after all that it was given."""
    go_on = Event()
    tracker._background._thread.submit(go_on.wait, 60)
    try:
        yield
    finally:
        go_on.set()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_background_thread_changes_nothing(kind):
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


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_single_rows_and_small_batches_come_in_their_turn(kind):
    batches = batches_of(kind, (700, 700, 30, 900, 20, 800))
    at_once, behind = two_trackers(batches, 2, bias=0.5)
    for batch, wrong in batches[2:]:
        with held_up(behind):
            if len(batch) >= module.SMALL:
                behind.see(owned(batch), wrong)
        if len(batch) < module.SMALL:
            behind.see(owned(batch), wrong)
    assert same(at_once, behind)


def test_queue_of_the_background_thread_is_bounded(monkeypatch):
    batches = batches_of("sparse")
    at_once, behind = two_trackers(batches, 8)
    monkeypatch.setattr(module, "MOST_BEHIND", 1)
    monkeypatch.setattr(behind._background, "_wait", lambda: 1 / 0)
    with held_up(behind), pytest.raises(ZeroDivisionError):
        behind.see(owned(batches[8][0]), batches[8][1])
    monkeypatch.undo()
    for batch, wrong in batches[9:]:
        behind.see(owned(batch), wrong)
    assert same(at_once, behind)


def test_batches_in_a_mapped_file_may_all_wait(monkeypatch):
    batches = batches_of("sparse")
    at_once, behind = two_trackers(batches, 3)
    monkeypatch.setattr(module, "MOST_BEHIND", 1)
    with held_up(behind):
        for batch, wrong in batches[3:]:
            behind.see(replace(batch, memory="mapped"), wrong)
        assert len(behind._background._behind) == 9
    assert same(at_once, behind)


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
        before = list(tracker._background._behind)
        with pytest.raises(KeyboardInterrupt):
            tracker.catch_up()
        assert list(tracker._background._behind) == before
    assert tracker.rows == 6500


@pytest.mark.parametrize("make", [nk.FTRL, partial(nk.LinearMixture, fast=True), nk.Logistic])
@pytest.mark.parametrize("keep", [20_000, 10**9])
def test_background_thread_changes_no_scores(make, keep):
    def seen(memory):
        game = nk.Game(make())
        game.ledger.tracker.keep = keep
        for batch, _ in batches_of("sparse"):
            game.learn_batch(replace(batch, memory=memory))
        return game.ledger

    at_once, behind = seen("borrowed"), seen("owned")
    assert (behind.tracker._background._thread is None, at_once.tracker._background._thread is None) == (False, True)
    assert states.same(at_once.tracker.state(), behind.tracker.state())
    assert at_once.certify() == behind.certify()
