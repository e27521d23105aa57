"""Regrown forests: the mixture over prunings against brute force, slices, resuming, and the parts of the bound."""

import itertools
import math

import numpy as np
import pytest

from novikoff.core.errors import ModelFileError
from novikoff.trees import regrown
from novikoff.trees.regrown import PARTS, RegrownForest
from novikoff.trees.store import RowStore
from tree_rows import stored, table


def part(forest, name):
    return forest.parts[:, PARTS.index(name)]


def losses(forecasts, y):
    return -forecasts[np.arange(len(y)), y.astype(int)]


def three_labels(rows=300, seed=1):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, 3))
    return x, np.digitize(x[:, 0] + 0.2 * coins.normal(size=rows), [-0.5, 0.5]).astype(float), np.zeros(3, np.int8)


def prunings(forest, m, v):
    """Yield the leaves of every pruning below node v, each with ln of its prior probability."""
    if forest.column[m, v] < 0:
        yield [v], 0.0
        return
    prior, child = forest.prior[m, v], int(forest.left[m, v])
    yield [v], -math.log1p(math.exp(-prior))
    go = -math.log1p(math.exp(prior))
    for (a, p), (b, q) in itertools.product(prunings(forest, m, child), prunings(forest, m, child + 1)):
        yield a + b, p + q + go


def leaves_of(node):
    return [node] if node.left is None else leaves_of(node.left) + leaves_of(node.right)


def few_nodes(monkeypatch):
    monkeypatch.setattr(regrown, "MOST_NODES", 9)


def test_a_tree_is_the_mixture_of_all_its_prunings(monkeypatch):
    few_nodes(monkeypatch)
    x, y, kinds = table(200)
    forest = RegrownForest(trees=3)
    forest.play(stored(x, y), 200, kinds)
    assert forest.forest.nodes.max() == 9
    forest.totals[:] = 0.0  # the current trees alone
    for m in range(3):
        own = forest.forest.losses[m].sum(axis=1)
        logs = [prior - own[leaves].sum() for leaves, prior in prunings(forest.forest, m, 0)]
        assert len(logs) > 5
        assert part(forest, "played")[m] == pytest.approx(-np.logaddexp.reduce(logs), rel=1e-12)
        assert part(forest, "mixture")[m] == pytest.approx(-np.logaddexp.reduce(logs), rel=1e-12)
        assert part(forest, "bound")[m] == pytest.approx(-max(logs), rel=1e-12)
    found = [(prior - forest.forest.losses[0].sum(axis=1)[some].sum(), some)
             for some, prior in prunings(forest.forest, 0, 0)]  # fmt: skip
    rounds = sorted(tuple(forest.forest.rounds[0, v].tolist()) for v in max(found)[1])
    assert sorted(leaf.counts for leaf in leaves_of(forest.pruning())) == rounds


@pytest.mark.parametrize("labels", [2, 3])
def test_losses_are_at_most_the_bounds_and_the_forest_gains_the_disagreement(labels):
    x, y, kinds = table(400) if labels == 2 else three_labels()
    forest = RegrownForest(labels)
    loss = losses(forest.play(stored(x, y), len(y), kinds), y).sum()
    played, mixture, bound = (part(forest, name) for name in ("played", "mixture", "bound"))
    np.testing.assert_allclose(played, mixture, rtol=1e-12)
    assert (played <= bound).all()
    np.testing.assert_allclose(bound, sum(part(forest, name) for name in ("constants", "regret", "price")), rtol=1e-12)
    assert forest.disagreement.sum() > 0.0
    assert loss == pytest.approx(played.mean() - forest.disagreement.sum(), rel=1e-12)
    assert part(forest, "off").max() < 1e-9
    assert loss < len(y) * math.log(labels) * 0.8  # it learns


def test_changed_odds_are_found():
    x, y, kinds = table(400)
    forest = RegrownForest()
    forest.play(stored(x, y), 300, kinds)
    forest.forest.odds[0, 0] += 1.0
    assert part(forest, "off")[0] == pytest.approx(1.0)


def test_forecasts_are_probabilities():
    x, y, kinds = three_labels()
    forest = RegrownForest(3)
    forecasts = np.exp(forest.play(stored(x, y), len(y), kinds))
    np.testing.assert_allclose(forecasts.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(forest.look(x[:9])).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("window", [0, 64])
def test_rows_and_batches_give_the_same_forecasts(window):
    x, y, kinds = table(300)
    whole = RegrownForest(window=window).play(stored(x, y), 300, kinds)
    rows, single = stored(x, y), RegrownForest(window=window)
    parts = [single.play(rows, count, kinds) for count in [1] * 60 + [7, 33, 100, 100]]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_look_returns_the_forecast_before_the_label():
    x, y, kinds = table(120)
    rows, forest = stored(x, y), RegrownForest()
    for t in range(120):
        ahead = forest.look(x[t : t + 1])
        np.testing.assert_array_equal(forest.play(rows, 1, kinds), ahead)


@pytest.mark.parametrize("rounds", [0, 10, 17, 60, 257])
def test_a_saved_state_continues_to_the_same_bits(rounds, monkeypatch):
    monkeypatch.setattr(regrown, "SHARE", 2_000)  # trees grow for several rounds
    x, y, kinds = table(300)
    whole = RegrownForest().play(stored(x, y), 300, kinds)
    rows, before, after = stored(x, y), RegrownForest(), RegrownForest()
    before.play(rows, rounds, kinds)
    after.load(before.state())
    after.resume(rows)
    np.testing.assert_array_equal(after.play(rows, 300 - rounds, kinds), whole[rounds:])


@pytest.mark.parametrize("share", [2_000, 500_000])
def test_forecasts_do_not_depend_on_the_size_of_chunks(share, monkeypatch):
    monkeypatch.setattr(regrown, "SHARE", share)
    x, y, kinds = table(300)
    whole = RegrownForest().play(stored(x, y), 300, kinds)
    monkeypatch.setattr(regrown, "CHUNK", 37)
    np.testing.assert_array_equal(RegrownForest().play(stored(x, y), 300, kinds)[:34], whole[:34])
    single, rows = RegrownForest(), stored(x, y)
    np.testing.assert_array_equal(np.concatenate([single.play(rows, 1, kinds) for _ in range(300)]), whole)


def test_growing_is_spread_over_rounds(monkeypatch):
    monkeypatch.setattr(regrown, "SHARE", 2_000)
    x, y, kinds = table(300)
    rows, forest, spread = stored(x, y), RegrownForest(), 0
    for _ in range(300):
        forest.play(rows, 1, kinds)
        spread += forest.building
    assert spread > 40


def test_labels_can_be_added():
    x, y, kinds = three_labels()
    first = int(np.flatnonzero(y == 2)[0])
    coins = np.random.default_rng(0)
    late = np.where(y == 2, coins.integers(0, 2, len(y)), y)
    late[200:] = y[200:]  # the third label appears after 200 rows
    rows, forest = stored(x, late), RegrownForest(2)
    early = losses(forest.play(rows, 200, kinds), late[:200])
    forest.add_label()
    after = losses(forest.play(rows, 100, kinds), late[200:])
    assert first < 200
    played, mixture, bound = (part(forest, name) for name in ("played", "mixture", "bound"))
    np.testing.assert_allclose(played, mixture, rtol=1e-12)
    assert (played <= bound).all()
    assert early.sum() + after.sum() == pytest.approx(played.mean() - forest.disagreement.sum(), rel=1e-12)


def test_missing_values_categories_and_extreme_scales_are_played():
    x, y, kinds = table(400)
    plain = RegrownForest().play(stored(x, y), 400, kinds)
    scaled = x * np.array([2.0**600, 2.0**-600, 1.0])
    np.testing.assert_array_equal(RegrownForest().play(stored(scaled, y), 400, kinds), plain)
    gone = np.full_like(x, np.nan)
    forecasts = RegrownForest().play(stored(gone, y), 400, kinds)
    assert np.isfinite(forecasts).all()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("left", lambda a: a.fill(0)),
        ("left", lambda a: a.fill(4000)),
        ("column", lambda a: a.fill(3)),
        ("nodes", lambda a: a.fill(5000)),
        ("nodes", lambda a: a.fill(0)),
        ("counts", lambda a: a.fill(-1.0)),
        ("odds", lambda a: a.fill(np.nan)),
    ],
)
def test_a_damaged_forest_is_refused(name, damage):
    x, y, kinds = table()
    forest = RegrownForest()
    forest.play(stored(x, y), len(y), kinds)
    state = forest.state()
    damage(state["forest"][name])
    with pytest.raises(ModelFileError):
        RegrownForest().load(state)


def test_a_store_without_rows_keeps_the_trees():
    x, y, kinds = table(400)
    forest, again, empty = RegrownForest(), RegrownForest(), RowStore()
    forest.play(stored(x, y), 300, kinds)
    empty.count = empty.begin = 300
    again.load(forest.state())
    again.resume(empty)
    empty.add(x[300:350], y[300:350], np.zeros(3))
    again.play(empty, 50, kinds)
    assert again.fitted == forest.fitted
