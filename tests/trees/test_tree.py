"""The growing tree: columns of every kind, bits, rows in force, and what a file holds."""

import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.core.types import Batch, Sparse
from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree
from novikoff.trees.store import RowStore
from samples import GRID, NAMED, SPARSE, VECTORS

SAMPLES = {
    "tree": [
        ("tree:threshold=2", *VECTORS),
        ("tree:threshold=1,rows=50", *GRID),
        ("tree:threshold=2", *SPARSE),
        ("tree:threshold=2", *NAMED),
    ],
}


def xor(rounds=1500, columns=4, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, columns))
    return x, np.where((x[:, 0] > 0) ^ (x[:, 1] > 0.5) ^ (rng.random(rounds) < noise), 1, -1)


def played(learner, x, y, size):
    game = nk.Game(learner)
    for start in range(0, len(y), size):
        game.learn_batch(Batch(x[start : start + size], y[start : start + size].astype(np.int8), start + 1))
    return game.ledger


def same(one, other):
    """Do two states agree to the bit?"""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f") if isinstance(one, np.ndarray) else one == other


def test_the_first_rounds_by_hand():
    tree = nk.Tree()
    said = []
    for t in range(4):
        said.append(tree.probability_one([float(t)]))
        tree.play_one([float(t)], 1 if t % 2 else -1)
    assert said == pytest.approx([1 / 2, 1 / 4, 1 / 2, 3 / 8])
    assert nk.Tree().predict_one([0.0]) == 1  # a tie


def test_a_rule_is_learned_and_drawn():
    x, y = xor(4000, noise=0.0)
    tree = nk.Tree()
    ledger = nk.play(tree, (x, y))
    assert ledger.mistakes < 400
    root = tree.pruning()
    assert sum(root.counts) == 4000
    assert root.column in (0, 1)
    assert all(abs(sum(node.forecast) - 1.0) < 1e-12 for node in (root, root.left, root.right))


@pytest.mark.parametrize("make", [nk.Tree, lambda: nk.Tree(threshold=1.0, rows=100), lambda: nk.Forest(trees=3)])
def test_rows_batches_and_sparse_rows_give_the_same_bits(make):
    x, y = xor(900)
    x[np.abs(x) < 0.3] = 0.0
    whole, few, sparse = (played(make(), rows, y, size) for rows, size in ((x, 900), (x, 7), (Sparse.of_dense(x), 40)))
    assert same(whole.learner.state()["part"], few.learner.state()["part"])
    assert whole.log_loss == few.log_loss == sparse.log_loss
    assert same(whole.learner.state()["part"], sparse.learner.state()["part"])


@pytest.mark.parametrize("make", [nk.Tree, lambda: nk.Tree(threshold=1.0, rows=100), lambda: nk.Forest(trees=3)])
@pytest.mark.parametrize("stop", [1, 33, 700])
def test_a_resumed_game_gives_the_same_bits(make, stop, tmp_path):
    x, y = xor(1400)
    whole, begun = nk.play(make(), (x, y)), nk.play(make(), (x, y), rounds=stop)
    assert nk.save(begun, tmp_path / "model.nk") == min(stop, begun.learner.rows_stored)
    ledger = nk.load(tmp_path / "model.nk")
    ledger = nk.play(ledger.learner, (x, y), ledger=ledger, resume=True)
    assert ledger.log_loss == whole.log_loss
    assert same(ledger.learner.state(), whole.learner.state())
    assert str(ledger.certify()[0]) == str(whole.certify()[0])


@pytest.mark.parametrize("make", [nk.Tree, lambda: nk.Forest(trees=3)])
def test_model_without_rows_predicts_the_same_and_resumes(make, tmp_path):
    x, y = xor(1400)
    begun = nk.play(make(), (x, y), rounds=700)
    assert nk.save(begun, tmp_path / "model.nk", without_rows=True) == 0
    ledger = nk.load(tmp_path / "model.nk")
    assert ledger.learner.rows_stored == 0
    batch = Batch(x[700:], y[700:].astype(np.int8), 701)
    assert np.array_equal(ledger.learner.probabilities_many(batch), begun.learner.probabilities_many(batch))
    again = nk.play(ledger.learner, (x[700:], y[700:]))
    assert again.rounds == 700
    assert again.certify()[0].status == "void"  # a warm start


TABLE = "age,colour,when,label\n" + "".join(
    f"{'?' if t % 9 == 0 else t % 50},{['red', 'green', 'blue', '?'][t % 4]},2024-0{1 + t % 3}-11,"
    f"{'yes' if (t % 4 == 1) ^ (t % 50 > 40) else 'no'}\n"
    for t in range(1200)
)


def test_categories_missing_values_and_dates_are_used_as_they_are(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(TABLE)
    ledger = nk.play("tree", str(path))
    tree = ledger.learner
    assert tree.columns.names == ["age", "colour", "when", "when: month", "when: weekday"]
    assert ledger.mistakes < 200
    root = tree.pruning()
    assert root.name == "colour"
    assert root.values in (("green",), ("red", "blue"))
    single = nk.Game(nk.Tree())
    fresh = nk.read(str(path))
    for batch in fresh.batches():
        single.ledger.read_by(batch.encoding)
        for row, label in batch.rows():
            single.learn_one(row, label)
    assert single.ledger.log_loss == ledger.log_loss


def test_a_category_that_was_never_seen_goes_right():
    tree, store = GrowingTree(threshold=1.0), RowStore()
    x = np.array([[float(t % 3)] for t in range(90)])
    store.add(x, (x[:, 0] == 1.0).astype(float), np.zeros(1))
    kinds = np.ones(1, dtype=np.int8)
    tree.play(store, kinds, 0, 90)
    assert tree.count == 3
    right = next(code for code in (0, 1, 2) if code not in tree.pruning().categories)
    assert tree.look(np.array([[-1.0]]), kinds).tolist() == tree.look(np.array([[float(right)]]), kinds).tolist()
    assert tree.look(np.array([[77.0]]), kinds).tolist() == tree.look(np.array([[-1.0]]), kinds).tolist()


def test_cuts_on_numbers_have_no_categories():
    rng = np.random.default_rng(0)
    x = np.column_stack([np.arange(1000) % 2, rng.random(1000)])
    tree, store = GrowingTree(), RowStore()
    store.add(x, ((x[:, 0] == 1.0) ^ (x[:, 1] > 0.35)).astype(float), np.zeros(2))
    tree.play(store, np.array([1, 0], dtype=np.int8), 0, 1000)
    columns = tree.whole[: tree.count, at.COLUMN]
    assert columns.tolist()[:3] == [0, 1, 1]  # the children are cut in the same round as the root
    assert np.array_equal(tree.sets[: tree.count].any(axis=1), columns == 0)


def test_scales_do_not_matter():
    x, y = xor(1500)
    plain = nk.play(nk.Tree(), (x, y))
    scaled = nk.play(nk.Tree(), (x * 2.0 ** np.array([600, -600, 900, -900]), y))
    assert scaled.log_loss == plain.log_loss


def test_more_than_256_columns_are_refused():
    with pytest.raises(InputError, match="at most 256 columns: got 257"):
        nk.play("tree", (np.ones((3, 257)), np.array([1, -1, 1])))
    tree = nk.Tree()
    with pytest.raises(InputError, match="at most 256 columns"):
        tree.play_one({300: 1.0}, 1)
    assert tree.rounds == 0
    assert tree.features.count == 0


def test_only_the_last_rows_are_used():
    x, y = xor(6000)
    few = nk.play(nk.Tree(rows=500), (x, y)).learner
    assert few.store.window == 500
    assert few.rows_stored <= 500 + 2048
    tree = few.part
    heads = tree.whole[: tree.count, at.HEAD]
    assert heads.max() == 5999
    assert np.array_equal(tree.n[: tree.count], np.floor(tree.n[: tree.count]))


@pytest.mark.slow
def test_a_million_rows_with_a_small_window():
    rng = np.random.default_rng(0)
    tree = nk.Tree(rows=10_000)
    game = nk.Game(tree)
    for start in range(0, 1_000_000, 50_000):
        x = rng.normal(size=(50_000, 6))
        flipped = 1 if start < 500_000 else -1
        y = np.where((x[:, 0] > 0) ^ (rng.random(50_000) < 0.1), flipped, -flipped).astype(np.int8)
        game.learn_batch(Batch(x, y, start + 1))
    assert tree.store.x.nbytes < 2**20
    assert tree.size <= 16_384
    found = game.ledger.certify()[0]
    assert found.status == "valid", found.reason
    assert found.observed <= found.bound


def test_a_threshold_must_be_positive():
    for wrong in (0.0, -1.0, math.nan, math.inf, True):
        with pytest.raises(InputError, match="threshold"):
            nk.Tree(threshold=wrong)
    with pytest.raises(InputError, match="rows must be"):
        nk.Tree(rows=0)
