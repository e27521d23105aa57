"""The theorem on regression trees: golden values, and streams on which linear weights give a false bound."""

import dataclasses
import math

import numpy as np
import pytest

import novikoff as nk
from cases import TARGETS, run_of
from helpers import one_in
from novikoff.trees._loops import layout as at
from novikoff.trees._loops import tree as loops
from novikoff.trees.growing import GrowingTree
from novikoff.trees.store import RowStore
from novikoff.trees.theorems.tree_gaps import SLACK, tree_gaps
from tree_rows import of_tree

CASES = {
    "tree_gaps": of_tree(
        lambda: nk.TreeRegression(threshold=2.0), TARGETS, [((float(t % 2),), float(t % 2)) for t in range(90)],
        [((0.0,), 1.0)] * 7,
    ),
}  # fmt: skip


def test_bound_allows_for_rounding_of_the_loss():
    """A loss of the ledger that rounding makes larger than the tree's is accepted, and added to the bound."""
    run = run_of(nk.TreeRegression(threshold=2.0), [((float(t % 2),), float(t % 2)) for t in range(90)])
    more = 0.5 * SLACK * run.loss
    plain, above = (tree_gaps(dataclasses.replace(run, loss=run.after.mixed + paid)) for paid in (0.0, more))
    assert above.bound - plain.bound == pytest.approx(more, rel=0.01)


def test_a_cut_from_the_first_round():
    tree, store = GrowingTree(at.NUMBERS, threshold=1e9), RowStore()
    tree._make_room(8)
    nodes = tree.nodes
    nodes.numbers[at.COUNT] = 3
    nodes.whole[0, [at.COLUMN, at.LEFT, at.HEAD]] = 0, 1, -1
    for v in (1, 2):
        nodes.whole[v, [at.COLUMN, at.LEFT, at.PARENT, at.DEPTH, at.HEAD, at.CHECK]] = -1, -1, 0, 1, -1, 2**62
    y = np.array([0.0, 10.0] * 3)
    store.add(np.array([[-1.0], [1.0]] * 3), y, np.zeros(1))
    said = tree.play(store, np.zeros(1, dtype=np.int8), 0, 6)[:, 0]
    np.testing.assert_allclose(said, [0, 0, 2.777777778, 4.5, 2.085488544, 6.607717770], atol=1e-8)
    assert tree.sums[0, at.GAP] == pytest.approx(8.912334891, abs=1e-8)
    settled = tree.settle()
    assert settled.mixed == pytest.approx(153.822890576, abs=1e-7)
    assert settled.bound == pytest.approx(162.874052498, abs=1e-7)


def outcomes(name, rounds, rng):
    if name == "scales":
        return rng.normal(size=rounds) * 10.0 ** rng.uniform(-6, 6, rounds)
    if name == "heavy tails":
        return rng.standard_cauchy(rounds)
    if name == "huge":
        return 1e16 + rng.normal(size=rounds) * 4
    return np.where(np.arange(rounds) % 7 < 3, 1.0, -1.0) * 2.0 ** (np.arange(rounds) % 60)


@pytest.mark.parametrize("name", ["scales", "heavy tails", "huge", "powers"])
@pytest.mark.parametrize("seed", one_in(2, range(6)))
def test_the_bound_holds_on_wild_outcomes(name, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(400, 2))
    found = nk.play(nk.TreeRegression(threshold=0.5), nk.RegressionArrays(x, outcomes(name, 400, rng))).certify()[0]
    assert found.status in ("valid", "vacuous"), found.reason
    assert found.observed <= found.bound


@pytest.mark.parametrize("difference", [-1e3, -60.0, 60.0, 1e3])
@pytest.mark.parametrize("gap", [1e-300, 1e-8, 1.0, 1e8])
def test_the_gap_is_booked_when_a_weight_rounds_to_zero(difference, gap):
    """The leader loses heavily once: the gap must be at least what the other side would have saved, less the lead."""
    stop, go = (50.0, 0.0) if difference > 0 else (0.0, 50.0)
    booked = loops.gap_of(difference * gap, gap, stop, go)
    lead = abs(difference * gap)
    assert booked >= (50.0 - lead - 2.0 * gap) * (1.0 - 1e-9) - 1e-9
    assert booked <= 50.0
    assert math.isfinite(booked)
