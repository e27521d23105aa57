"""Growing trees as they are played, relative to the mixture over all their prunings in exact fractions."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from exact_trees import ExactNode, ExactTree, best, mixture, prunings
from novikoff.trees import growing
from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree
from novikoff.trees.store import RowStore


def follow(exact, tree, known):
    """Give the exact tree the cuts of the other, with the counts that its new nodes have at birth."""
    for v in range(tree.count):
        if tree.whole[v, at.COLUMN] >= 0 and known[v].kids is None:
            left, node = int(tree.whole[v, at.LEFT]), known[v]
            node.kids = [ExactNode(map(int, tree.start[left + side])) for side in (0, 1)]
            node.cut, node.own_split, known[left], known[left + 1] = Fraction(float(tree.cut[v])), node.own, *node.kids


def play(seed, rounds=40):
    """Play a tree and its exact twin on random labels, hostile ones or a rule; return both and the loss."""
    coins = random.Random(seed)
    labels, way = coins.choice([2, 2, 3]), coins.randrange(3)
    tree = GrowingTree(at.LABELS, labels, threshold=coins.choice([0.2, 1.0, 2.0]), least=coins.choice([1, 2, 4]))
    exact = ExactTree(labels, at.CONCENTRATION, at.FLOOR)
    store, kinds, known, lost = RowStore(), np.zeros(1, dtype=np.int8), {0: exact.root}, 0.0
    for t in range(rounds):
        x = coins.randint(-8, 8)
        q = exact.look(x)[2][0]
        y = [coins.randrange(labels), min(range(labels), key=q.__getitem__), int(x > 1) + (x > 5) * (labels > 2)][way]
        store.add(np.array([[float(x)]]), np.array([float(y)]), np.zeros(1))
        played = tree.play(store, kinds, t, t + 1)[0]
        np.testing.assert_allclose(played, [float(one / sum(q)) for one in q], rtol=1e-13)
        lost -= math.log(played[y])
        exact.learn(x, y)
        follow(exact, tree, known)
        if len(prunings(exact.root)) > 400:
            break
    return tree, exact, lost


def check(seeds):
    cuts = 0
    for seed in seeds:
        tree, exact, lost = play(seed)
        every = prunings(exact.root)
        assert exact.played == mixture(exact.root) == sum(every)
        assert lost == pytest.approx(-math.log(exact.played), rel=1e-12)
        settled = tree.settle()
        assert settled.mixed == pytest.approx(-math.log(exact.played), rel=1e-12)
        assert settled.bound == pytest.approx(-math.log(max(every)), rel=1e-12)
        assert max(every) == best(exact.root)
        cuts += tree.count > 1
    assert cuts > len(seeds) // 3


@pytest.fixture(autouse=True)
def early_edges(monkeypatch):
    monkeypatch.setattr(growing, "FIRST_EDGES", 6)  # cuts after 6 rounds, not 32


def test_the_tree_as_played_is_the_mixture_over_its_prunings():
    check(range(60))


@pytest.mark.slow
def test_the_tree_as_played_is_the_mixture_over_its_prunings_on_thousands_of_streams():
    check(range(60, 2060))
