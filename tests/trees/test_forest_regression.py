"""The regression forest: regrown in slices, the same bits however it is played."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.types import Batch
from novikoff.trees import forest_regression
from novikoff.trees.forest_regression import RegrownNumbers
from novikoff.trees.store import RowStore
from samples import NUMBERS

SAMPLES = {"forest-regression": [("forest-regression:trees=2", *NUMBERS)]}


def bent(rounds=900, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 4))
    return x, 2.0 * x[:, 0] + np.abs(x[:, 1]) + 0.1 * rng.normal(size=rounds)


def played(x, y, size, **how):
    game = nk.Game(nk.ForestRegression(trees=9, **how))  # more than 8: numpy would add them in another order
    for start in range(0, len(y), size):
        game.learn_batch(Batch(x[start : start + size], y[start : start + size], start + 1))
    return game.ledger


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f") if isinstance(one, np.ndarray) else one == other


def test_it_is_better_than_one_tree():
    x, y = bent(3000)
    forest, tree = (nk.play(make(), nk.RegressionArrays(x, y)) for make in (nk.ForestRegression, nk.TreeRegression))
    assert forest.rmse < tree.rmse
    assert forest.certify()[0].number("epochs") > 8


@pytest.mark.parametrize("share", [2_000, 500_000])
def test_rows_batches_and_resumed_games_give_the_same_bits(share, monkeypatch, tmp_path):
    monkeypatch.setattr(forest_regression, "SHARE", share)  # small shares: trees grow for many rounds
    x, y = bent()
    whole = played(x, y, 900)
    assert same(played(x, y, 1).learner.state(), whole.learner.state())
    assert played(x, y, 7).loss == whole.loss
    for stop in (15, 120, 560):
        begun = played(x[:stop], y[:stop], 50)
        nk.save(begun, tmp_path / "model.nk")
        ledger = nk.load(tmp_path / "model.nk")
        nk.play(ledger.learner, nk.RegressionArrays(x[stop:], y[stop:]), ledger=ledger)
        assert same(ledger.learner.state(), whole.learner.state())
        assert ledger.loss == whole.loss


def test_categories_and_missing_values_are_used(tmp_path):
    path = tmp_path / "rows.csv"
    lines = (f"{'?' if t % 7 == 0 else t % 30},{'abcd'[t % 4]},{10 * (t % 4 == 2) + t % 2}" for t in range(800))
    path.write_text("size,kind,label\n" + "\n".join(lines) + "\n")
    ledger = nk.play("forest-regression:trees=3", nk.read(str(path), outcomes="numbers"))
    assert ledger.learner.columns.kinds.tolist() == [0, 1]
    assert ledger.rmse < 2.0


def test_skipped_columns_are_not_used():
    """A forest that skips the first columns of a store plays as one on a store without them."""
    x, y = bent(700)
    kinds, found = np.zeros(4, np.int8), []
    for skipped, rows in ((0, x), (2, np.column_stack([y, 100.0 * y, x]))):  # skipped columns would give y away
        forest, store = RegrownNumbers(3, 0, skipped), RowStore()
        store.add(rows, y, np.zeros(rows.shape[1]))
        found.append(forest.play(store, kinds, 0, 700))
        assert forest.epochs > 5
        assert np.argmax(forest.gains(4)) == 0
        assert forest.steps(rows[0], kinds)[0].columns.min() >= 0
    np.testing.assert_array_equal(found[0], found[1])


def test_the_seed_decides():
    x, y = bent(300)
    one, again, other = (nk.play(nk.ForestRegression(2, seed), nk.RegressionArrays(x, y)).loss for seed in (1, 1, 2))
    assert one == again != other
