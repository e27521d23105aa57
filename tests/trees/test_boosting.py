"""Boosted trees: the fit against a naive twin, slices, resuming, missing values and categories."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from novikoff.core.errors import ModelFileError
from novikoff.trees import boosting
from novikoff.trees.bins import quantile_edges
from novikoff.trees.boosting import MANY_LABELS, NUMBERS, RESIDUALS, TWO_LABELS, BoostedTrees, Boosting
from novikoff.trees.store import RowStore
from tree_rows import stored, table

SMALL = replace(TWO_LABELS, rounds=6, leaves=4, prefixes=(2, 6))


def fitted(settings, x, y, kinds, labels=1, **given):
    trees = BoostedTrees(settings, **given)
    return trees, trees.play(stored(x, y), len(y), kinds, labels)


def naive_leaf(g, h, ridge):
    return -g.sum() / (h.sum() + ridge)


def naive_tree(x, kinds, g, h, s):
    """Best-first tree by trying every cut of every leaf; returns the value of each row."""
    leaves = [np.arange(len(x))]
    while len(leaves) < s.leaves:
        best = (s.gain, None, None, None)
        for k, rows in enumerate(leaves):
            for left in naive_cuts(x[rows], kinds, g[rows], h[rows], s):
                fine = left[1]
                here = [rows[left[0]], rows[~left[0]]]
                if min(map(len, here)) < s.least:
                    continue
                gain = sum(0.5 * g[one].sum() ** 2 / (h[one].sum() + s.ridge) for one in here)
                gain -= 0.5 * g[rows].sum() ** 2 / (h[rows].sum() + s.ridge) + fine
                if gain > best[0] + 1e-12:
                    best = (gain, k, *here)
        if best[1] is None:
            break
        leaves[best[1] : best[1] + 1] = best[2:]
    value = np.empty(len(x))
    for rows in leaves:
        value[rows] = naive_leaf(g[rows], h[rows], s.ridge)
    return value


def naive_cuts(x, kinds, g, h, s):
    """Yield (rows that go left, fine) of every allowed cut."""
    for j, kind in enumerate(kinds):
        column, gone = x[:, j], np.isnan(x[:, j])
        values = np.unique(column[~gone])
        if kind:
            means = [g[column == v].sum() / (h[column == v].sum() + 4 * s.ridge) for v in values]
            values = values[np.argsort(means, kind="stable")]
        fine = s.fine * max(len(values) - 2, 0) if kind else 0.0
        for k in range(len(values) if gone.any() else len(values) - 1):
            left = np.isin(column, values[: k + 1])
            yield left, fine
            if gone.any():
                yield left | gone, fine


def naive_rounds(settings, x, y, kinds, bias):
    """Scores (rows, outputs) after each boosting round, without slices, histograms or sibling differences."""
    score = np.tile(bias, (len(y), 1))
    for _ in range(settings.rounds):
        if settings.loss == "squared":
            unit = np.sqrt(np.mean((score[:, 0] - y) ** 2))
            slopes = [((score[:, 0] - y) / unit, np.ones(len(y)), unit)]
        elif settings.loss == "logistic":
            p = 1.0 / (1.0 + np.exp(-score[:, 0]))
            slopes = [(p - y, p * (1 - p), 1.0)]
        else:
            p = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
            slopes = [(p[:, c] - (y == c), p[:, c] * (1 - p[:, c]), 1.0) for c in range(len(bias))]
        steps = [settings.rate * unit * naive_tree(x, kinds, g, h, settings) for g, h, unit in slopes]
        score = score + np.column_stack(steps)
        yield score


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_fit_equals_that_of_a_naive_twin(loss):
    x, y, kinds = table(120)
    x[:, 2] %= 3
    y[(x[:, 2] == 1.0) & (np.arange(120) % 4 > 0)] = 1.0
    if loss == "softmax":
        y = y + (x[:, 0] > 1.0) * y
    elif loss == "squared":
        y = y * 3.0 + np.where(x[:, 2] == 1.0, 4.0 + x[:, 0], 0.0)
    settings = replace(SMALL, loss=loss, rows=1.0, rounds=3, prefixes=(1, 2, 3), gain=0.1, fine=0.05)
    trees, labels = BoostedTrees(settings), 3 if loss == "softmax" else 1
    rows = stored(x, y)
    trees.play(rows, 110, kinds, labels)
    while trees.building:  # to the takeover
        trees.play(rows, 1, kinds, labels)
    first = trees.fitted
    x, y, bias = x[:first], y[:first], trees.trees.bias
    counts = np.bincount(y.astype(int), minlength=3) if loss == "softmax" else np.zeros(3)
    constants = {
        "logistic": lambda: np.log(y.mean() / (1.0 - y.mean())), "squared": y.mean,
        "softmax": lambda: np.log((counts + 0.5) / (first + 1.5)),
    }  # fmt: skip
    np.testing.assert_allclose(bias, constants[loss](), rtol=1e-3)
    for k, score in enumerate(naive_rounds(settings, x, y, kinds, bias)):
        np.testing.assert_allclose(trees.look(x, labels)[:, k], score, rtol=1e-9)
    assert set(trees.trees.column.ravel().tolist()) == {-1, 0, 1, 2}  # also cuts on the category


@pytest.mark.parametrize("settings", [TWO_LABELS, MANY_LABELS, NUMBERS, replace(TWO_LABELS, window=100)])
def test_rows_and_batches_give_the_same_scores(settings):
    settings = replace(settings, rounds=8, prefixes=(4, 8))
    x, y, kinds = table(300)
    labels = 2 if settings.loss == "softmax" else 1
    whole = fitted(settings, x, y, kinds, labels)[1]
    rows, single = stored(x, y), BoostedTrees(settings)
    parts = [single.play(rows, count, kinds, labels) for count in [1] * 60 + [7, 33, 100, 100]]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_forecasts_do_not_depend_on_later_rows():
    x, y, kinds = table(300)
    other, flipped = x.copy(), y.copy()
    other[200:], flipped[200:] = x[:100], 1.0 - y[200:]
    ours, theirs = fitted(SMALL, x, y, kinds)[1], fitted(SMALL, other, flipped, kinds)[1]
    np.testing.assert_array_equal(ours[:200], theirs[:200])
    assert (ours[200:] != theirs[200:]).any()


@pytest.mark.parametrize("rounds", [0, 10, 33, 41, 120, 257])
def test_a_saved_state_continues_to_the_same_bits(rounds, monkeypatch):
    monkeypatch.setattr(boosting, "SHARE", 20_000)  # refits last for several rounds
    x, y, kinds = table(300)
    whole = fitted(SMALL, x, y, kinds)[1]
    rows, before, after = stored(x, y), BoostedTrees(SMALL), BoostedTrees(SMALL)
    before.play(rows, rounds, kinds)
    after.load(before.state())
    after.resume(rows)
    np.testing.assert_array_equal(after.play(rows, 300 - rounds, kinds), whole[rounds:])


def test_scores_do_not_depend_on_the_size_of_chunks(monkeypatch):
    x, y, kinds = table(300)
    whole = fitted(SMALL, x, y, kinds)[1]
    monkeypatch.setattr(boosting, "CHUNK", 37)
    np.testing.assert_array_equal(fitted(SMALL, x, y, kinds)[1], whole)


def test_refits_are_spread_over_rounds(monkeypatch):
    monkeypatch.setattr(boosting, "SHARE", 20_000)
    x, y, kinds = table(300)
    rows, trees, done = stored(x, y), BoostedTrees(SMALL), []
    for _ in range(300):
        trees.play(rows, 1, kinds)
        if trees.building:
            build = trees._build
            spread = build.takeover - build.began
            done.append(int(build.work.counters[1]) - math.ceil(build.units * (trees.rounds - build.began) / spread))
            assert spread > 1
            # A tree that ends early counts as a whole one: progress is at most one tree, column or chunk ahead.
            assert 0 <= done[-1] <= max(SMALL.leaves + 1, build.sorted, len(kinds))
    assert len(done) > 10


def test_the_seed_decides():
    x, y, kinds = table(300)
    one, again, other = (fitted(SMALL, x, y, kinds, seed=seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


@pytest.mark.parametrize("settings", [TWO_LABELS, NUMBERS])
def test_a_rule_on_the_last_of_100_columns_is_found(settings):
    coins = np.random.default_rng(6)
    x = coins.normal(size=(600, 100))
    y = (x[:, 99] > 0.2).astype(float)
    trees, scores = fitted(settings, x, y, np.zeros(100, np.int8))
    assert np.argmax(trees.gains(100)) == 99
    split = 0.0 if settings is TWO_LABELS else 0.5
    assert ((scores[-200:, -1, 0] > split) == (y[-200:] == 1.0)).mean() > 0.95


def test_refits_use_the_rows_in_the_window_of_the_store_only():
    """Two streams that differ before the window of the last refit have the same trees."""
    x, y, kinds = table(4000)
    other, flipped = x.copy(), y.copy()
    other[:2000], flipped[:2000] = x[2000:], 1.0 - y[:2000]
    found = [fitted_in_a_window(rows, labels, kinds, 300) for rows, labels in ((x, y), (other, flipped))]
    assert found[0].fitted == found[1].fitted == 300
    for one, two in zip(found[0].trees, found[1].trees, strict=True):
        np.testing.assert_array_equal(one, two)


def fitted_in_a_window(x, y, kinds, window):
    store, trees = RowStore(window), BoostedTrees(SMALL)
    for start in range(0, len(y), 500):
        store.add(x[start : start + 500], y[start : start + 500], np.zeros(x.shape[1]))
        trees.play(store, 500, kinds)
    return trees


@pytest.mark.slow
def test_a_million_rows_with_a_small_window():
    coins, kinds = np.random.default_rng(0), np.zeros(4, np.int8)
    store, trees = RowStore(10_000), BoostedTrees(replace(TWO_LABELS, window=10_000))
    right = 0
    for start in range(0, 1_000_448, 1024):
        x = coins.normal(size=(1024, 4))
        y = ((x[:, 0] > 0) ^ (start >= 500_000) ^ (coins.random(1024) < 0.1)).astype(float)
        store.add(x, y, np.zeros(4))
        right += int(((trees.play(store, 1024, kinds)[:, -1, 0] > 0) == (y > 0)).sum())
    assert store.x.nbytes < 2**19
    assert trees.fitted == 10_000
    assert trees.refits > 190
    assert right > 880_000


def test_labels_that_come_later_get_small_probabilities_until_they_are_fitted():
    coins = np.random.default_rng(3)
    x = coins.normal(size=(200, 2))
    y = (x[:, 0] > 0).astype(float)
    rows, trees = stored(x, y), BoostedTrees(MANY_LABELS)
    trees.play(rows, 150, np.zeros(2, np.int8), 2)
    scores = trees.look(x[150:], 3)
    assert scores.shape == (50, 3, 3)
    assert (scores[:, -1, 2] < scores[:, -1, :2].max(axis=1) - 1.0).all()


def test_residual_trees_add_to_their_base():
    coins = np.random.default_rng(4)
    x = np.column_stack([coins.normal(size=(400, 1)), coins.normal(size=(400, 2))])
    x[:, 0] = 100.0 * x[:, 1]  # base
    y = x[:, 0] + np.where(x[:, 2] > 0, 5.0, -5.0)
    _, scores = fitted(RESIDUALS, x, y, np.zeros(2, np.int8), skipped=1, base=0)
    errors = np.abs(scores[-100:, -1, 0] - y[-100:])
    assert errors.mean() < 0.5  # 5 without the trees


def test_scores_do_not_depend_on_the_scale_of_outcomes():
    x, y, kinds = table(300)
    small, large = (fitted(NUMBERS, x, scale * y, kinds)[1] for scale in (1.0, 2.0**40))
    np.testing.assert_array_equal(small * 2.0**40, large)


def test_a_window_forgets_older_rows():
    coins = np.random.default_rng(5)
    x = coins.normal(size=(1000, 1))
    y = (x[:, 0] > 0).astype(float)
    y[500:] = 1.0 - y[500:]
    kinds = np.zeros(1, np.int8)
    window = fitted(replace(TWO_LABELS, window=100), x, y, kinds)[1][-200:, -1, 0]
    whole = fitted(TWO_LABELS, x, y, kinds)[1][-200:, -1, 0]
    assert ((window > 0) == y[-200:]).mean() > 0.95 > ((whole > 0) == y[-200:]).mean()


def test_a_store_without_rows_keeps_the_trees_until_it_has_half_as_many():
    x, y, kinds = table(600)
    trees, _ = fitted(SMALL, x[:400], y[:400], kinds)
    before = trees.fitted
    empty = RowStore()
    empty.count = empty.begin = 400
    again = BoostedTrees(SMALL)
    again.load(trees.state())
    again.resume(empty)
    for start in range(400, 600):
        empty.add(x[start : start + 1], y[start : start + 1], np.zeros(3))
        again.play(empty, 1, kinds)
        assert again.fitted == before or 2 * (again.rounds - 400) >= before


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("left", lambda a: a.fill(0)),
        ("left", lambda a: a.fill(100)),
        ("column", lambda a: a.fill(3)),
        ("bias", lambda a: a.fill(np.nan)),
        ("value", lambda a: a.fill(np.inf)),
    ],
)
def test_a_damaged_tree_is_refused(name, damage):
    x, y, kinds = table()
    state = fitted(SMALL, x, y, kinds)[0].state()
    damage(state["trees"][name])
    with pytest.raises(ModelFileError):
        BoostedTrees(SMALL).load(state)


@pytest.mark.parametrize("change", [{"outputs": 33}, {"began": 0, "build_first": 0, "build_labels": 33}])
def test_trees_of_more_labels_than_are_fitted_are_refused(change):
    state = {**BoostedTrees(MANY_LABELS).state(), "build_kinds": np.zeros(0, np.int8), **change}
    with pytest.raises(ModelFileError, match="from 1 to 32"):
        BoostedTrees(MANY_LABELS).load(state)


def test_edges_separate_distinct_values():
    assert quantile_edges(np.array([2.0, 1.0, np.nan, 1.0])).tolist() == [1.5]
    assert quantile_edges(np.array([np.nan])).tolist() == []
    close = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert quantile_edges(close).tolist() == [1.0]
    huge = np.array([-1.7e308, 1.7e308])
    assert quantile_edges(huge).tolist() == [0.0]
    many = quantile_edges(np.repeat(np.arange(1000.0), 3))
    assert len(many) <= 126
    assert all(a < b for a, b in itertools.pairwise(many))


def test_only_squared_loss_takes_a_base():
    with pytest.raises(ValueError, match="base"):
        BoostedTrees(Boosting("logistic"), base=0)


@pytest.mark.parametrize(("settings", "sums"), [(TWO_LABELS, 0), (TWO_LABELS, 2), (NUMBERS, 2), (MANY_LABELS, 0)])
def test_sums_of_another_number_of_outputs_are_refused(settings, sums):
    state = BoostedTrees(settings).state()
    BoostedTrees(settings).load(state)
    with pytest.raises(ModelFileError, match="a number per output"):
        BoostedTrees(settings).load({**state, "sums": np.zeros(sums)})
