"""Trees and forests of all tasks under conditions of real streams: windows, many columns, weights, late labels."""

import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.types import Batch, Sparse
from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree
from novikoff.trees.regrown import RegrownForest
from novikoff.trees.store import RowStore
from tree_rows import stored

TWO = ["tree:threshold=3", "forest:trees=2"]
MANY = {"tree": nk.MulticlassTree, "forest": lambda **how: nk.MulticlassForest(trees=2, **how)}
NUMBERS = ["tree-regression:threshold=3", "forest-regression:trees=2"]


def noisy(rounds=700, columns=4, seed=0):
    """Rows, and a score that depends on three columns."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, columns))
    return x, x[:, 0] + (x[:, -1] > 0.3) * x[:, 1] + 0.3 * rng.normal(size=rounds)


def played(learner, x, y, size):
    game = nk.Game(learner)
    for start in range(0, len(y), size):
        game.learn_batch(Batch(x[start : start + size], y[start : start + size], start + 1))
    return game.ledger


def outcomes(spec, score):
    return score if "regression" in spec else np.where(score > 0.0, 1, -1).astype(np.int8)


@pytest.mark.parametrize("spec", [*TWO, *NUMBERS])
def test_more_than_64_columns_dense_and_sparse_are_the_same_bits(spec):
    x, score = noisy(columns=100)
    x[np.abs(x) < 0.5] = 0.0
    y = outcomes(spec, score)
    dense, sparse = (
        played(nk.make(spec, "learner"), rows, y, size) for rows, size in ((x, 700), (Sparse.of_dense(x), 9))
    )
    assert dense.loss == sparse.loss
    assert dense.log_loss == sparse.log_loss
    found = dense.certify()[0]
    assert found.status == "valid", found.reason
    assert str(found) == str(sparse.certify()[0])
    top = dense.importance().columns[0] if spec != "tree-regression:threshold=3" else "x0"
    assert top in ("x0", "0")


def test_a_cut_is_found_among_200_columns_in_the_last_one():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 200))
    tree = nk.play(nk.Tree(), (x, np.where(x[:, 199] > 0.0, 1, -1))).learner
    assert tree.pruning().column == 199
    assert abs(tree.pruning().cut) < 0.3


TASKS = ["two labels", "three labels", "numbers"]


def task_of(task, score):
    """Outcomes of a task, and how to read them."""
    if task == "two labels":
        return np.where(score > 0.0, 1, -1).astype(np.int8), {}
    if task == "three labels":
        return np.digitize(score, [-0.7, 0.7]), {"labels": "multiclass"}
    return score, {"outcomes": "numbers"}


def made_for(task, kind):
    if task == "three labels":
        return MANY[kind](labels=3)
    names = {"tree": "threshold=3", "forest": "trees=2"}
    return nk.make(f"{kind}{'-regression' if task == 'numbers' else ''}:{names[kind]}", "learner")


def arrays(task, x, y):
    return nk.RegressionArrays(x, y) if task == "numbers" else (x, y)


def total_loss(task, ledger):
    return ledger.loss if task == "numbers" else ledger.log_loss


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_weighted_rows_are_played_as_repeated_rows(kind, task, tmp_path):
    x, score = noisy(300)
    y, how = task_of(task, score)
    weights = np.random.default_rng(1).integers(0, 4, 300)
    again = np.repeat(np.arange(300), weights)
    if task == "three labels":  # labels are numbered as they come
        numbers = {label: k for k, label in enumerate(dict.fromkeys(y[again].tolist()))}
        y = np.array([numbers[label] for label in y.tolist()])
    named = {1: "yes", -1: "no"} if task == "two labels" else {}
    lines = [",".join([*map(repr, row), str(w), str(named.get(z, z))])
             for row, w, z in zip(x.tolist(), weights, y.tolist(), strict=True)]  # fmt: skip
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,d,w,label\n" + "\n".join(lines) + "\n")
    weighted = nk.play(made_for(task, kind), nk.read(str(path), weight="w", **how))
    repeated = nk.play(made_for(task, kind), arrays(task, x[again], y[again]))
    assert weighted.rounds == repeated.rounds == weights.sum()
    found = weighted.certify()[0]
    assert found.status == "valid", found.reason
    if kind == "tree":  # a forest puts all rounds of a row into one bag: tests/mixtures/test_copies_of_rows.py
        assert total_loss(task, weighted) == total_loss(task, repeated)
        assert found.bound == repeated.certify()[0].bound


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_late_labels_are_learned_as_the_game_in_order_of_arrival(kind, task):
    x, score = noisy(400)
    y, _ = task_of(task, score)
    late, order = nk.Game(made_for(task, kind)), []
    for start in range(0, 400, 8):
        for t in range(start, start + 8):
            late.predict_one(x[t], t)
        for t in reversed(range(start, start + 8)):
            late.learn_one(t, y[t].item())
            order.append(t)
    found = next(one for one in late.ledger.certify() if not one.theorem.startswith("delayed_"))
    assert found.status == "valid", found.reason
    in_order = nk.play(made_for(task, kind), arrays(task, x[order], y[order]))
    assert total_loss(task, late.ledger) == total_loss(task, in_order)
    assert found.bound == in_order.certify()[0].bound


@pytest.mark.parametrize("kind", MANY)
def test_labels_that_are_not_announced_cost_their_reserve(kind):
    x, score = noisy(600)
    y = np.digitize(score, [-0.7, 0.7]) % 3
    numbers = {label: k for k, label in enumerate(dict.fromkeys(y.tolist()))}
    y = np.array([numbers[label] for label in y.tolist()])
    ledger = nk.play(MANY[kind](), (x, y))
    found, firsts = ledger.certify()[0], [int(np.argmax(y == label)) for label in range(3)]
    assert found.status == "valid", found.reason
    kept = [1.0 / (t + 1.0) ** 2 for t in range(600)]
    cost = math.fsum(-math.log(kept[t]) if t in firsts else -math.log1p(-kept[t]) for t in range(600))
    played = 0.0 if kind == "tree" else cost - float(ledger.learner.novelty)  # a forest plays the new label too
    assert float(ledger.learner.novelty) + played == pytest.approx(cost)
    assert 0.0 <= played < 9.0
    assert found.observed <= found.bound


CELLS = "size,kind,when,label\n" + "".join(
    f"{'' if t % 7 == 0 else t % 31},{'' if t % 11 == 0 else 'abcde'[t % 5]},2024-0{1 + t % 4}-1{t % 9},"
    "{}\n" for t in range(800)
)  # fmt: skip


@pytest.mark.parametrize("spec", [*TWO, "tree:labels=many", "forest:trees=2,labels=many", *NUMBERS])
def test_categories_and_missing_values_give_the_same_bits_in_rows_and_batches(spec, tmp_path):
    many, regression = "labels=many" in spec, "regression" in spec
    names = ["no", "yes"] if not many else ["low", "mid", "high"]
    labels = [
        str(t % 5 + (t % 7 == 0)) if regression else names[(t % 5 + (t % 7 == 0)) % len(names)] for t in range(800)
    ]
    path = tmp_path / "rows.csv"
    path.write_text(CELLS.format(*labels))
    spec = spec.replace(",labels=many", "").replace(":labels=many", "")
    how = {"outcomes": "numbers"} if regression else {"labels": "multiclass"} if many else {}
    ledger = nk.play(spec, nk.read(str(path), **how))
    learner = ledger.learner
    assert learner.columns.kinds.tolist() == [0, 1, 0, 1, 1]
    single = nk.Game(
        type(learner)(**{name: getattr(learner, name) for name in ("trees", "threshold") if name in vars(learner)})
    )
    for batch in nk.read(str(path), **how).batches():
        single.ledger.read_by(batch.encoding)
        for row, label in batch.rows():
            single.learn_one(row, label)
    assert single.ledger.loss == ledger.loss
    assert single.ledger.log_loss == ledger.log_loss
    assert ledger.certify()[0].status == "valid", ledger.certify()[0].reason


def test_a_forest_grows_from_the_last_rows_only():
    """Two streams that differ before the window of the last build have the same cuts after it."""
    x, score = noisy(3000)
    y, kinds = (score > 0.0).astype(float), np.zeros(4, np.int8)
    other, flipped = x.copy(), y.copy()
    other[:1500], flipped[:1500] = x[1500:], 1.0 - y[:1500]
    grown = []
    for rows, labels in ((x, y), (other, flipped)):
        forest = RegrownForest(trees=2, window=200)
        forest.play(stored(rows, labels), 3000, kinds)
        assert forest.fitted == 200
        grown.append(forest.forest)
    for name in ("column", "cut", "left", "nodes"):
        np.testing.assert_array_equal(getattr(grown[0], name), getattr(grown[1], name))


def test_a_tree_examines_the_last_rows_only():
    x, score = noisy(3000)
    y, kinds = (score > 0.0).astype(float), np.zeros(4, np.int8)
    tree, store = GrowingTree(threshold=3.0), RowStore(100)
    for start in range(0, 3000, 500):
        store.add(x[start : start + 500], y[start : start + 500], np.zeros(4))
        tree.play(store, kinds, start, start + 500)
    # A node that was born at a cut has the counts of its rows, and there are at most 100.
    assert tree.count > 9
    assert tree.start[1 : tree.count].sum(axis=1).max() <= 100
    assert (tree.whole[: tree.count, at.ROWS] >= 0).all()


@pytest.mark.parametrize("spec", ["tree:threshold=2", "forest:trees=3"])
def test_rounding_stays_far_below_its_allowance(spec):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(6000, 3)) * np.array([1e-200, 1.0, 1e200])
    y = np.where((x[:, 1] > 0.0) ^ (rng.random(6000) < 0.02), 1, -1)
    ledger = nk.play(spec, (x, y))
    facts, exact = ledger.learner.facts(), ledger.log_loss
    if spec.startswith("tree"):
        assert abs(facts.mixed - exact) <= 1e-12 * (1.0 + exact)
        assert facts.drift <= 1e-12
        assert facts.root_error <= 1e-12
    else:
        mean = math.fsum(facts.played) / 3
        assert abs(mean - facts.disagreement - exact) <= 1e-12 * (1.0 + exact)
        assert facts.off <= 1e-12
    assert ledger.certify()[0].bound >= exact


@pytest.mark.slow
def test_a_million_rows_in_a_forest_with_a_small_window():
    rng = np.random.default_rng(0)
    forest = nk.Forest(trees=2, rows=10_000)
    game = nk.Game(forest)
    for start in range(0, 1_000_000, 50_000):
        x = rng.normal(size=(50_000, 3))
        flipped = 1 if start < 500_000 else -1
        y = np.where((x[:, 0] > 0) ^ (rng.random(50_000) < 0.1), flipped, -flipped).astype(np.int8)
        game.learn_batch(Batch(x, y, start + 1))
    assert forest.rows_stored <= 10_000 + 2048
    assert forest.store.x.nbytes < 2**20
    found = game.ledger.certify()[0]
    assert found.status == "valid", found.reason
    assert found.observed <= found.bound
    assert game.ledger.mistake_rate < 0.2
