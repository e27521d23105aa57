"""The theorem on prunings: golden values, the identity in exact fractions, and trees that lie."""

import dataclasses
import math
import random
from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk
from cases import VECTORS, apart
from exact_trees import ExactTree, best, mixture, prunings
from helpers import one_in
from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree
from novikoff.trees.store import RowStore
from tree_rows import of_tree

CASES = {"tree_pruning": of_tree(lambda: nk.Tree(threshold=2.0), VECTORS, apart(50), [((0.0,), 1)] * 7)}

ROWS = [(-1, 0), (1, 1)] * 4
THREE = [(-1, 0), (1, 1), (-1, 0), (1, 2), (-1, 0), (1, 1), (-1, 0), (1, 1)]


def cut(tree, value, children, prior=0.0):
    """Split the root of a tree by hand, into children with these counts."""
    tree._make_room(256)
    nodes = tree.nodes
    nodes.numbers[at.COUNT] = 3
    nodes.whole[0, [at.COLUMN, at.LEFT, at.HEAD]] = 0, 1, -1
    nodes.cut[0], nodes.split[0] = value, nodes.c[0]
    for v, counts in zip((1, 2), children, strict=True):
        nodes.whole[v] = 0
        nodes.whole[v, [at.COLUMN, at.LEFT, at.PARENT, at.DEPTH, at.HEAD, at.CHECK]] = -1, -1, 0, 1, -1, 2**62
        nodes.low[v], nodes.high[v] = math.inf, -math.inf
        nodes.n[v] = nodes.start[v] = counts
    nodes.sums[0, at.BETA] = nodes.sums[0, at.PRIOR] = prior


def golden(rows, labels, children, before=4):
    """Play rows with a cut x <= 0 made after `before` of them."""
    tree, store, kinds = GrowingTree(at.LABELS, labels, threshold=1e9), RowStore(), np.zeros(1, dtype=np.int8)
    said = []
    for t, (x, y) in enumerate(rows):
        if t == before:
            cut(tree, 0.0, children)
        store.add(np.array([[float(x)]]), np.array([float(y)]), np.zeros(1))
        said.append(tree.play(store, kinds, t, t + 1)[0])
    return tree, said


def loss(said, rows):
    return -sum(math.log(p[y]) for p, (_, y) in zip(said, rows, strict=True))


def own(tree, v):
    return tree.sums[v, [at.BEFORE, at.BEFORE + 1, at.AFTER, at.AFTER + 1]].sum()


def test_children_that_begin_empty():
    tree, said = golden(ROWS, 2, ([0, 0], [0, 0]))
    expected = [1 / 2, 1 / 4, 1 / 2, 3 / 8, 1 / 2, 5 / 12, 5 / 12, 61 / 112]
    np.testing.assert_allclose([p[1] for p in said], expected, atol=1e-8)
    assert loss(said, ROWS) == pytest.approx(6.468655401, abs=1e-8)
    assert [own(tree, v) for v in range(3)] == pytest.approx([6.841859647, 1.098612289, 1.345472367], abs=1e-8)
    assert tree.sums[0, at.BETA] == pytest.approx(-0.644357016, abs=1e-8)
    assert tree.settle().bound == pytest.approx(6.890649811, abs=1e-8)


def test_children_that_inherit_counts():
    tree, said = golden(ROWS, 2, ([2, 0], [0, 2]))
    np.testing.assert_allclose([p[1] for p in said[4:]], [3 / 8, 71 / 120, 101 / 355, 7199 / 10160], atol=1e-8)
    assert loss(said, ROWS) == pytest.approx(5.427533307, abs=1e-8)
    assert tree.settle().bound == pytest.approx(5.557123515, abs=1e-8)
    assert tree.sums[0, at.BETA] == pytest.approx(-1.977883312, abs=1e-8)


def test_three_labels():
    tree, said = golden(THREE, 3, ([0, 0, 0], [0, 0, 0]))
    chances = [p[y] for p, (_, y) in zip(said, THREE, strict=True)]
    np.testing.assert_allclose(chances, [1 / 3, 1 / 5, 3 / 7, 1 / 9, 5 / 11, 3 / 13, 5 / 9, 183 / 425], atol=1e-8)
    assert loss(said, THREE) == pytest.approx(9.437756749, abs=1e-8)
    assert tree.settle().bound == pytest.approx(9.775869675, abs=1e-8)


def test_a_prior_of_the_prunings():
    tree = GrowingTree(at.LABELS, 2, threshold=1e9)
    tree.n[0] = tree.start[0] = [2.0, 2.0]
    cut(tree, 0.0, ([2, 0], [0, 2]), prior=1.0)
    store = RowStore()
    store.add(np.array([[-1.0], [1.0]] * 2), np.array([0.0, 1.0] * 2), np.zeros(1))
    said = tree.play(store, np.zeros(1, dtype=np.int8), 0, 4)
    assert loss(said, ROWS[:4]) == pytest.approx(2.104562017, abs=1e-8)
    assert own(tree, 0) == pytest.approx(3.088441672, abs=1e-8)
    assert own(tree, 1) + own(tree, 2) == pytest.approx(1.110558360, abs=1e-8)
    assert tree.sums[0, at.BETA] == pytest.approx(-0.977883312, abs=1e-8)
    assert tree.settle().bound == pytest.approx(1.110558360 + 1.313261688, abs=1e-8)


def streams(count, seed, rounds=24):
    """Exact trees played on hostile, random and realizable labels, with cuts at random times."""
    coins = random.Random(seed)
    for trial in range(count):
        labels = coins.choice([2, 2, 3])
        tree = ExactTree(labels, coins.choice([1, 2, 4]))
        for _ in range(rounds):
            x = coins.randint(-8, 8)
            q = tree.look(x)[2][0]
            kinds = [min(range(labels), key=q.__getitem__), coins.randrange(labels), int(x > 0)]
            tree.learn(x, kinds[trial % 3])
            if coins.random() < 0.15 and len(prunings(tree.root)) < 40:
                counts = [[coins.randint(0, 2) for _ in range(labels)] for _ in range(2)]
                prior = Fraction(coins.randint(1, 9), coins.randint(1, 9))
                tree.split(coins.randint(-8, 8), coins.randint(-8, 8), counts, prior)
        yield tree


def check_identity(count, seed):
    for tree in streams(count, seed):
        every = prunings(tree.root)
        assert tree.played == mixture(tree.root) == sum(every)
        assert best(tree.root) == max(every) <= tree.played


def test_the_identity_is_exact_on_arbitrary_streams():
    check_identity(200, 1)


@pytest.mark.slow
def test_the_identity_is_exact_on_thousands_of_streams():
    check_identity(4000, 2)


def halved(v):
    """B with half the price."""
    if not v.kids:
        return -math.log(v.own)
    stop, before = v.prior / (1 + v.prior), -math.log(v.own_split)
    stay, go = -math.log(v.own) - before - math.log(stop) / 2, halved(v.kids[0]) + halved(v.kids[1])
    return before + min(stay, go - math.log(1 - stop) / 2)


def test_half_of_the_price_is_not_enough():
    assert sum(-math.log(tree.played) > halved(tree.root) + 1e-9 for tree in streams(200, 3)) > 20


def noisy(rounds=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    return x, np.where((x[:, 0] > 0) ^ (rng.random(rounds) < 0.1), 1, -1)


def certificate(lie):
    """The certificate of a tree whose state is changed after the game."""
    learner, seen = nk.Tree(), []
    theorem, ledger = learner.promises[0], nk.play(learner, noisy())
    learner.promises = (seen.append,)
    ledger.certify()
    lie(learner.part)
    return theorem(dataclasses.replace(seen[0], after=learner.facts()))


def set_sum(place, value):
    def lie(tree):
        tree.sums[0, place] = value

    return lie


def count_one_more(tree):
    tree.c[1, 0] += 1


def book_at_a_leaf(tree):
    leaf = int(np.flatnonzero(tree.whole[: tree.count, at.COLUMN] < 0)[0])
    tree.sums[leaf, at.BEFORE] += 90.0


LIES = {
    "the loss is that of the mixture": set_sum(at.PRIOR, 1.0),
    "the weights follow": set_sum(at.BETA, 1.0),
    "whole numbers and structure": count_one_more,
    "the loss of the root follows from its counts": set_sum(at.BEFORE, 99.0),
    "within its closed forms": book_at_a_leaf,
}


@pytest.mark.parametrize("claim", LIES)
def test_lying_tree_is_detected(claim):
    found = certificate(LIES[claim])
    assert found.status == "void"
    assert claim in found.reason


def test_an_honest_tree_is_not_accused():
    found = certificate(lambda tree: None)
    assert found.status == "valid"
    assert "checked up to" in found.quantities["checks"]


def test_a_tree_that_plays_other_probabilities_is_found():
    class Bold(nk.Tree):
        def _play(self, first, y):
            played = super()._play(first, y)
            return played._replace(probabilities=0.75 * played.probabilities)

    found = nk.play(Bold(), noisy()).certify()[0]
    assert found.status == "void"
    assert "the loss is that of the mixture" in found.reason


@pytest.mark.parametrize("seed", one_in(2, range(4)))
def test_the_bound_is_close_and_the_sum_of_its_parts(seed):
    found = nk.play(nk.Tree(), noisy(3000, seed)).certify()[0]
    assert found.status == "valid"
    assert found.observed <= found.bound <= found.observed + 8.0
    parts = sum(found.number(name) for name in ("constants", "regret", "price", "rounding"))
    assert parts == pytest.approx(found.bound)


def hard(name, rounds=2500):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(rounds, 4)), rng.integers(0, 2, rounds) * 2 - 1
    rule = np.where(x[:, 0] > 0.3, 1, -1)
    return {
        "random": (x, y), "one label": (x, np.ones(rounds, int)), "sorted": (x, np.sort(y)),
        "alternating": (x, np.arange(rounds) % 2 * 2 - 1), "rule": (x, rule),
        "scales": (x * 10.0 ** np.array([-200, -100, 100, 200]), rule), "constant": (np.ones((rounds, 4)), y),
        "flips": (x, np.where(np.arange(rounds) < rounds // 2, rule, -rule)),
    }[name]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["random", "one label", "sorted", "alternating", "rule", "scales", "constant", "flips"]
)
def test_the_certificate_is_sound_on_hard_streams(name):
    found = nk.play(nk.Tree(threshold=2.0), hard(name)).certify()[0]
    assert found.status in ("valid", "vacuous")
    assert found.observed <= found.bound


def test_growing_labels_are_paid_for():
    x, y = noisy()
    labels = np.where(np.arange(400) < 200, (y > 0), (y > 0) * 2).astype(int)
    order = {label: k for k, label in enumerate(dict.fromkeys(labels.tolist()))}
    ledger = nk.play(nk.MulticlassTree(threshold=3.0), (x, np.array([order[label] for label in labels.tolist()])))
    found = ledger.certify()[0]
    assert found.status == "valid"
    assert found.quantities["checks"] == "The parts are consistent"
