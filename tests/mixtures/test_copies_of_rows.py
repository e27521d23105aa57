"""Rows of larger weight are played in several rounds, but are one row for lags, previous outcomes and bags."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.batch import weights_of_copies
from novikoff.core.types import Batch
from novikoff.game.ledger_state import packed, unpacked
from novikoff.mixtures.stacks import Lags, RecentLabels
from novikoff.trees.store import RowStore

COPIES = np.array([3, 1, 2, 1, 1, 4, 1, 2])


def rounds_of(counts):
    """Return the row of each round, and whether it is another round of its row."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.append(False, rows[1:] == rows[:-1])


def cut(length, at=5):
    return [slice(start, start + at) for start in range(0, length, at)]


@pytest.mark.parametrize("start", [0.5, None])
def test_lags_of_copies_are_those_of_the_first_round(start):
    rows, copies = rounds_of(COPIES)
    y = np.random.default_rng(0).normal(size=len(COPIES))
    plain, whole, parts, single = Lags(start), Lags(start), Lags(start), Lags(start)
    expected = plain.columns(y)[rows]
    np.testing.assert_array_equal(whole.columns(y[rows], copies), expected)
    np.testing.assert_array_equal(np.vstack([parts.columns(y[rows][s], copies[s]) for s in cut(len(rows))]), expected)
    for t, row in enumerate(rows):
        if not copies[t]:
            np.testing.assert_array_equal(single.look(), expected[t : t + 1])
        single = Lags.restore(single.state())
        np.testing.assert_array_equal(single.columns(y[row : row + 1], copies[t : t + 1]), expected[t : t + 1])
    for other in (whole, parts, single):
        np.testing.assert_array_equal(other.look(), plain.look())


def test_recent_labels_of_copies_are_those_of_the_first_round():
    rows, copies = rounds_of(COPIES)
    y = np.array([0, 1, 1, 0, 2, 1, 2, 0])
    plain, whole, single = RecentLabels(), RecentLabels(), RecentLabels()
    expected = plain.columns(y)[rows], plain.play(y, 3)[rows]
    np.testing.assert_array_equal(whole.columns(y[rows], copies), expected[0])
    np.testing.assert_array_equal(whole.play(y[rows], 3, copies), expected[1])
    for t, row in enumerate(rows):
        one, again = y[row : row + 1], copies[t : t + 1]
        if not copies[t]:
            np.testing.assert_array_equal(single.look(1, 3)[0], expected[1][t])
            np.testing.assert_array_equal(single.columns_ahead(1)[0], expected[0][t])
        single = RecentLabels.restore(single.state())
        np.testing.assert_array_equal(single.columns(one, again)[0], expected[0][t])
        np.testing.assert_array_equal(single.play(one, 3, again)[0], expected[1][t])
    np.testing.assert_array_equal(whole.look(1, 3), plain.look(1, 3))


def test_looking_ahead_does_not_change_recent_labels():
    recent = RecentLabels()
    before = recent.state()
    assert recent.look(1, 4).shape == (1, 3, 4)
    assert {name: np.shape(value) for name, value in recent.state().items()} == {
        name: np.shape(value) for name, value in before.items()
    }


def noise(task, rows=50, seed=0):
    """Return rows whose outcomes nobody can predict."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, 3)), rng.integers(0, 3, rows)
    y[:3] = 0, 1, 2
    if task == "binary":
        return x, np.where(y > 0, 1, -1).astype(np.int8)
    return x, y if task == "multiclass" else rng.normal(size=rows)


LEARNERS = {
    "binary": nk.Auto, "multiclass": nk.MulticlassAuto, "regression": nk.AutoRegression,
    "linear": nk.LinearMixtureRegression, "forest": nk.Forest,
}  # fmt: skip


def weighted_game(learner, x, y, counts, size=1000, single=False, stop=None):
    """Play rows with weights, in batches of some size or single rounds; save and load before round `stop`."""
    rows, each = np.repeat(np.arange(len(y)), counts), weights_of_copies(counts)
    game, start = nk.Game(learner), 0
    while start < len(rows):
        end = min(start + (1 if single else size), len(rows))
        end = min(end, stop) if stop is not None and start < stop else end
        some = rows[start:end]
        batch = Batch(list(x[some]) if single else x[some], y[some], start + 1, weights=each[start:end])
        game.learn_batch(batch)
        start = end
        if start == stop:
            ledger = unpacked(packed(game.ledger))
            game = nk.Game(ledger.learner, ledger)
    return game.ledger


@pytest.mark.parametrize("task", LEARNERS)
def test_copies_are_one_row_in_batches_rows_and_resumed_games(task):
    x, y = noise(task if task in ("binary", "multiclass") else "binary" if task == "forest" else "regression")
    counts = np.resize(COPIES, len(y))
    whole = weighted_game(LEARNERS[task](), x, y, counts)
    others = [weighted_game(LEARNERS[task](), x, y, counts, size=17, stop=61),
              weighted_game(LEARNERS[task](), x, y, counts, single=True)]  # fmt: skip
    for other in others:
        assert other.metrics.log_loss == whole.metrics.log_loss
        assert other.metrics.loss == whole.metrics.loss
        assert other.loss == whole.loss


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_stored_columns_of_copies_hold_the_outcomes_before_the_row(task):
    x, y = noise(task)
    counts = np.resize(COPIES, len(y))
    weighted = weighted_game(LEARNERS[task](), x, y, counts).learner.stored
    plain = weighted_game(LEARNERS[task](), x, y, np.ones(len(y), np.int64)).learner.stored
    lags = {"binary": slice(0, 4), "multiclass": slice(0, 2), "regression": slice(1, 5)}[task]
    rows = np.repeat(np.arange(len(y)), counts)
    np.testing.assert_array_equal(weighted.rows(0, len(rows))[0][:, lags], plain.rows(0, len(y))[0][rows, lags])


def test_previous_outcome_is_not_that_of_the_row_itself():
    x, y = noise("regression", 120)
    ledger = weighted_game(nk.LinearMixtureRegression(), x, y, np.full(len(y), 6))
    shares = dict(zip(ledger.learner.names, ledger.learner.shares.tolist(), strict=True))
    assert shares["last outcome"] < 0.2


@pytest.mark.parametrize(("learner", "most"), [(nk.Forest, 1.2), (nk.ForestRegression, 1.1)])
def test_copies_of_a_row_in_the_bag_are_not_out_of_the_bag(learner, most):
    """Pure noise: if copies of rows in the bag set the prior of the prunings, deep trees win: 1.36, 1.15."""
    x, y = noise("binary" if learner is nk.Forest else "regression", 300)
    metrics = weighted_game(learner(trees=3), x, y, np.full(len(y), 4)).metrics
    lost, constant = (metrics.log_loss, 0.64) if learner is nk.Forest else (metrics.loss, y.var())
    assert lost / metrics.rounds < most * constant


def test_store_knows_the_first_round_of_each_row():
    rows, copies = rounds_of(COPIES)
    store = RowStore()
    for part in cut(len(rows)):
        store.add(np.zeros((len(rows[part]), 1)), rows[part] * 1.0, np.zeros(1), copies[part])
    expected = np.flatnonzero(~copies)[rows]
    np.testing.assert_array_equal(store.begins(0, len(rows)), expected)
    assert store.begins(1, 5).tolist() == [0, 0, 2, 3]  # the first row began before
    np.testing.assert_array_equal(RowStore.restore(store.state()).begins(0, len(rows)), expected)
