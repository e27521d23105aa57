"""Growing trees that correct the logit of another forecaster."""

import math

import numpy as np
import pytest

from helpers import one_in
from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree
from novikoff.trees.residual import ResidualTree
from novikoff.trees.store import RowStore


def residual(**how):
    return GrowingTree(at.RESIDUALS, **how)


def play(tree, x, y, offsets, size=10**9):
    """Progressive forecasts (rows, 2), in batches of that size, and the store."""
    store, said, start, kinds = RowStore(), [], 0, np.zeros(x.shape[1], dtype=np.int8)
    while start < len(y):
        stop = start + store.together(min(size, len(y) - start))
        store.add(x[start:stop], y[start:stop], np.zeros(x.shape[1]))
        said.append(tree.play(store, kinds, start, stop, offsets[start:stop]))
        start = stop
    return np.concatenate(said), store


def regions(rounds=3000, seed=0):
    """A base forecaster that is right in one region and wrong in another."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    base = x[:, 1]
    y = (rng.random(rounds) < 1.0 / (1.0 + np.exp(-(base + np.where(x[:, 0] > 0, 2.0, 0.0))))).astype(float)
    return x, y, base


def log_loss(said, y):
    return -np.log(said[np.arange(len(y)), y.astype(int)])


def test_one_node_by_hand():
    tree, y = residual(threshold=1e9), np.array([1.0, 1.0, 0.0, 1.0])
    said, _ = play(tree, np.zeros((4, 1)), y, np.array([1.0, -1.0, 2.0, 0.0]))
    np.testing.assert_allclose(said[:, 1], [0.731058579, 0.315345043, 0.937582491, 0.518016424], atol=1e-8)
    assert tree.n[0].tolist() == pytest.approx([0.352204056, 1.720711452], abs=1e-8)
    assert log_loss(said, y).sum() == pytest.approx(4.899007338, abs=1e-8)


@pytest.mark.parametrize("forgetting", [1.0, 0.98])
def test_it_corrects_the_base_where_that_is_wrong_within_its_bound(forgetting):
    x, y, base = regions()
    tree = residual(forgetting=forgetting)
    said, _ = play(tree, x, y, base)
    lost, alone = log_loss(said, y).sum(), np.logaddexp(0.0, np.where(y == 1.0, -base, base)).sum()
    settled = tree.settle()
    assert tree.count > 1
    assert lost < alone - 100.0
    assert settled.sound
    assert settled.drift < 1e-12
    assert settled.mixed == pytest.approx(lost, rel=1e-12)
    assert lost <= settled.bound * (1.0 + 1e-12) <= lost + 10.0
    assert settled.regret + settled.price == pytest.approx(settled.bound)


@pytest.mark.parametrize("forgetting", [1.0, 0.98])
@pytest.mark.parametrize("seed", one_in(2, range(5)))
def test_one_node_keeps_its_bound_against_every_correction(forgetting, seed):
    """sum l <= A(u-w)^2/2 + sum g^2/(2A') + sum max(l(u), Q(u)) for every u, from the first w and A on."""
    rng = np.random.default_rng(seed)
    offsets, y = rng.normal(size=200) * 2.0, (rng.random(200) < 0.7).astype(float)
    for u in (-2.0, -0.5, 0.0, 0.5, 1.0, 3.0):
        w, a, lost, steps, compared = 0.0, 1.0, 0.0, 0.0, 0.5 * u * u
        for o, label in zip(offsets, y, strict=True):
            p, sign = 1.0 / (1.0 + math.exp(-(o + w))), 1.0 if label else -1.0
            g, h, here = p - label, p * (1.0 - p), np.logaddexp(0.0, -sign * (o + w))
            a = forgetting * a + h + (1.0 - forgetting)
            lost, steps = lost + here, steps + 0.5 * g * g / a
            parabola = here + g * (u - w) + 0.5 * h * (u - w) ** 2
            compared += max(np.logaddexp(0.0, -sign * (o + u)), parabola)
            w -= g / a
        assert lost <= compared + steps
    tree = residual(threshold=1e9, forgetting=forgetting)
    said, _ = play(tree, np.zeros((200, 1)), y, offsets)
    assert tree.n[0].tolist() == pytest.approx([w, a])
    assert log_loss(said, y).sum() == pytest.approx(lost)


def test_extreme_logits_do_not_drift():
    x, y, _ = regions(800)
    for size in (20.0, 40.0, 700.0):
        tree = residual(threshold=2.0)
        said, _ = play(tree, x, y, np.where(np.arange(800) % 2, size, -size))
        assert np.isfinite(log_loss(said, y)).all()
        assert tree.settle().mixed == pytest.approx(log_loss(said, y).sum(), rel=1e-12)


def test_rows_batches_and_resumed_trees_give_the_same_bits():
    x, y, base = regions(1500)
    whole, few = residual(threshold=3.0), residual(threshold=3.0)
    said, store = play(whole, x, y, base)
    again, _ = play(few, x, y, base, size=7)
    assert np.array_equal(said, again)
    begun, resumed = residual(threshold=3.0), residual(threshold=3.0)
    _, half = play(begun, x[:700], y[:700], base[:700])
    copy = RowStore.restore(half.state())
    resumed.load(begun.state())
    resumed.attach(copy)
    copy.add(x[700:], y[700:], np.zeros(3))
    rest = resumed.play(copy, np.zeros(3, dtype=np.int8), 700, 1500, base[700:])
    assert np.array_equal(rest, said[700:])
    assert np.array_equal(resumed.look(x, np.zeros(3, np.int8), base), whole.look(x, np.zeros(3, np.int8), base))
    assert store.count == copy.count


def numbers(rounds=2000, seed=0):
    """A base that is right but for a step in one region."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    base = 10.0 * x[:, 1]
    return x, base + np.where(x[:, 0] > 0, 5.0, 0.0) + 0.5 * rng.normal(size=rounds), base


def corrected(tree, x, y, base, size=1024, window=131_072, kinds=None):
    store, found, start = RowStore(window), [], 0
    kinds = np.zeros(x.shape[1], dtype=np.int8) if kinds is None else kinds
    while start < len(y):
        stop = start + store.together(min(size, len(y) - start))
        store.add(x[start:stop], y[start:stop], np.zeros(x.shape[1]))
        found.append(tree.correct(store, kinds, start, stop, base[start:stop]))
        start = stop
    return np.concatenate(found), store


def test_predictions_of_numbers_are_corrected_within_their_bound():
    x, y, base = numbers()
    tree = ResidualTree("numbers")
    found, _ = corrected(tree, x, y, base)
    lost, alone, settled = ((found - y) ** 2).sum(), ((base - y) ** 2).sum(), tree.settle()
    assert tree.count > 1
    assert lost < 0.1 * alone
    assert settled.sound
    assert settled.mixed == pytest.approx(lost, rel=1e-9)
    assert lost <= settled.bound * (1.0 + 1e-9)


def test_a_base_of_numbers_is_the_tree_on_the_residuals():
    x, y, base = numbers()
    base = np.round(base)  # sums and differences of few bits are exact
    y = np.round(y, 0)
    found, _ = corrected(ResidualTree("numbers"), x, y, base)
    plain, store = GrowingTree(at.NUMBERS), RowStore()
    for start in range(0, len(y), 1000):
        store.add(x[start : start + 1000], (y - base)[start : start + 1000], np.zeros(3))
        part = plain.play(store, np.zeros(3, dtype=np.int8), start, start + 1000)[:, 0]
        np.testing.assert_array_equal(found[start : start + 1000], part + base[start : start + 1000])


@pytest.mark.parametrize("task", ["labels", "numbers"])
@pytest.mark.parametrize(("window", "stop"), [(131_072, 700), (1000, 3300)])  # the second store is full
def test_rows_batches_and_resumed_corrections_give_the_same_bits(task, window, stop):
    x, y, base = regions(stop + 800) if task == "labels" else numbers(stop + 800)
    whole, few = ResidualTree(task, threshold=3.0), ResidualTree(task, threshold=3.0)
    found, _ = corrected(whole, x, y, base, window=window)
    assert np.array_equal(corrected(few, x, y, base, 7, window)[0], found)
    begun, resumed = ResidualTree(task, threshold=3.0), ResidualTree(task, threshold=3.0)
    _, half = corrected(begun, x[:stop], y[:stop], base[:stop], window=window)
    store = RowStore.restore(half.state())
    resumed.load(begun.state())
    resumed.attach(store)
    store.add(x[stop:], y[stop:], np.zeros(3))
    kinds = np.zeros(3, dtype=np.int8)
    assert np.array_equal(resumed.correct(store, kinds, stop, stop + 800, base[stop:]), found[stop:])
    assert np.array_equal(resumed.corrected(x, kinds, base), whole.corrected(x, kinds, base))


@pytest.mark.parametrize("task", ["labels", "numbers"])
def test_a_row_is_corrected_as_it_will_be_played(task):
    x, y, base = regions(400) if task == "labels" else numbers(400)
    tree, store, kinds = ResidualTree(task, threshold=3.0), RowStore(), np.zeros(3, dtype=np.int8)
    for t in range(400):
        ahead = tree.corrected(x[t : t + 1], kinds, base[t : t + 1])
        store.add(x[t : t + 1], y[t : t + 1], np.zeros(3))
        assert tree.correct(store, kinds, t, t + 1, base[t : t + 1]) == ahead
    assert tree.count > 1


@pytest.mark.parametrize("task", ["labels", "numbers"])
def test_corrections_use_categories_and_missing_values(task):
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.integers(0, 6, 2500), rng.normal(size=2500)]).astype(float)
    x[rng.random(2500) < 0.3, 1] = np.nan
    shift = np.where(np.isin(x[:, 0], (1, 4)), 3.0, 0.0) - np.where(np.isnan(x[:, 1]), 3.0, 0.0)
    base = rng.normal(size=2500)
    kinds = np.array([1, 0], dtype=np.int8)
    if task == "labels":
        y = (rng.random(2500) < 1.0 / (1.0 + np.exp(-(base + shift)))).astype(float)
    else:
        y = base + shift + 0.1 * rng.normal(size=2500)
    tree = ResidualTree(task)
    found, _ = corrected(tree, x, y, base, kinds=kinds)
    assert {0, 1} <= set(tree.whole[: tree.count, at.COLUMN].tolist())
    assert np.abs(found - (base + shift))[-500:].mean() < 0.5 * np.abs(shift)[-500:].mean()


@pytest.mark.parametrize("task", ["labels", "numbers"])
def test_corrections_grow_from_the_last_rows_only(task):
    x, y, base = regions(3000) if task == "labels" else numbers(3000)
    tree = ResidualTree(task, threshold=3.0)
    corrected(tree, x, y, base, size=500, window=100)
    assert tree.count > 3
    heads = tree.whole[: tree.count, at.HEAD]
    assert heads.max() == 2999
    if task == "numbers":  # a node that was born at a cut counts its rows, and there are at most 100
        assert tree.start[1 : tree.count, 1].max() <= 100
    assert tree.settle().sound


def test_corrections_of_repeated_rows_and_of_rows_in_order_of_arrival_keep_their_bound():
    """Whole weights are repeated rounds, and late labels are rounds in the order of arrival: other streams, no more."""
    x, y, base = regions(1200)
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 4, 1200)
    late = np.argsort(np.arange(1200) + rng.integers(0, 40, 1200), kind="stable")
    for order in (np.repeat(np.arange(1200), weights), late):
        tree = ResidualTree(threshold=3.0, forgetting=0.98)
        found, _ = corrected(tree, x[order], y[order], base[order])
        lost = np.logaddexp(0.0, np.where(y[order] == 1.0, -found, found)).sum()
        settled = tree.settle()
        assert settled.mixed == pytest.approx(lost, rel=1e-12)
        assert lost <= settled.bound * (1.0 + 1e-12)
        assert int(tree.c[0].sum()) == len(order)
