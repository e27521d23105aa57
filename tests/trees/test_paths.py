"""Explanations of trees: steps along a path and gains of cuts, by hand and against the forecasts."""

import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.trees.paths import by_column, goes_left, label_gains, number_gains, truncated


def test_a_path_of_three_nodes_by_hand():
    own = np.array([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]])
    found = truncated(own, np.array([0.25, 0.5]), np.array([0.75, 0.5]))
    assert found[0] == pytest.approx([0.5, 0.5])
    assert found[1] == pytest.approx([0.25 * 0.5 + 0.75 * 0.2, 0.25 * 0.5 + 0.75 * 0.8])
    assert found[2] == pytest.approx([0.125 + 0.375 * 0.2 + 0.375 * 0.9, 0.125 + 0.375 * 0.8 + 0.375 * 0.1])


def test_gains_by_hand():
    left, right = np.array([[8.0, 0.0], [4.0, 4.0]]), np.array([[0.0, 8.0], [4.0, 4.0]])
    assert label_gains(left, right) == pytest.approx([16 * math.log(2), 0.0], abs=1e-12)
    sums = np.array([[0.0, 4.0]]), np.array([[8.0, 4.0]])  # four zeros, four twos: 8 squares about the mean 1
    assert number_gains(*sums) == pytest.approx([8.0])
    assert by_column(np.array([2, 0, 2]), np.array([1.0, 5.0, 3.0]), 4).tolist() == [5.0, 0.0, 4.0, 0.0]


def test_sides_of_cuts():
    some = np.array([0b10, 0], dtype=np.uint64)  # category 0
    assert goes_left(1.0, False, 1.0, some, 0)
    assert not goes_left(1.5, False, 1.0, some, 0)
    assert goes_left(0.0, True, math.inf, some, 0)
    assert not goes_left(1.0, True, math.inf, some, 0)
    assert not goes_left(-1.0, True, math.inf, some, 1)
    assert goes_left(math.nan, False, 1.0, some, 1)
    assert not goes_left(math.nan, True, 1.0, some, 0)


def test_a_stump_by_hand():
    rows = [([float(t % 2)], 1 if t % 2 else -1) for t in range(60)]
    tree = nk.Tree(threshold=2.0)
    nk.play(tree, rows)
    assert tree.size == 3
    found = tree.attribution([1.0])
    assert found.base[0] == pytest.approx(math.log(30.5 / 30.5))
    assert found.values[0, 0] == pytest.approx(tree.score_one([1.0]))
    assert tree.importances().values == pytest.approx([60 * math.log(2)])


@pytest.mark.parametrize("make", [nk.Tree, nk.Forest, nk.TreeRegression, nk.ForestRegression, nk.MulticlassTree])
def test_steps_sum_to_the_score(make):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 4))
    z = x[:, 0] + (x[:, 1] > 0) - 0.5
    learner = make()
    y = {"binary": np.where(z > 0, 1, -1), "multiclass": np.digitize(z, [-0.5, 0.5]), "regression": z}[learner.task]
    nk.play(learner, list(zip(x, y.tolist(), strict=True)))
    for row in (*x[:20], np.full(4, 9.0)):
        found = learner.attribution(row)
        score = learner.scores_one(row) if learner.task == "multiclass" else [learner.score_one(row)]
        assert found.method == "path"
        assert found.score == pytest.approx(score)
        assert np.abs(found.rest).max() < 1e-9
    gains = learner.importances().values
    assert gains[0] > gains[2:].max()
    assert gains[1] > gains[2:].max()


def test_the_rest_of_a_multiclass_forest_is_one_number_for_all_labels():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 3))
    forest = nk.MulticlassForest(trees=3)
    nk.play(forest, list(zip(x, np.digitize(x[:, 0], [-0.5, 0.5]).tolist(), strict=True)))
    found = forest.attribution(x[5])  # the trees' disagreement normalises the mean of their logarithms
    assert found.rest == pytest.approx(np.full(3, found.rest[0]))
    assert found.rest[0] >= 0.0


@pytest.mark.parametrize("form", ["array", "names"])
def test_last_rows_are_those_that_were_learned(form):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 3)), rng.choice([-1, 1], 50)
    rows = [dict(zip("abc", row.tolist(), strict=True)) for row in x] if form == "names" else list(x)
    tree = nk.Tree()
    nk.play(tree, list(zip(rows, y.tolist(), strict=True)))
    last = tree.last_rows(7)
    assert len(last) == 7
    assert last.y.tolist() == y[-7:].tolist()
    given = [tuple(row.values()) if form == "names" else tuple(row) for row, _ in last.rows()]
    assert np.array(given) == pytest.approx(x[-7:])
