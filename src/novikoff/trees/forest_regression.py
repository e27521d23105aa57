"""Random forest for regression that follows the stream: regrown trees, each choosing between its prunings.

Algorithm
    10 trees. New trees begin to grow at round 16, then whenever the number of rounds has grown by half, from the stored
    rows. A row is in the bag of a tree with probability 0.7. A node is split at the best cut of all columns if its
    gain, (n/2) ln(SSE/SSE after the cut) less 1/2 per category beyond the second, is above 2. The rows out of the bag
    are then played through the tree in their order, and counted. The weights of stopping and of going on start over at
    every node, as in trees/tree_regression.py. The work is spread over rounds: the new trees take over at a round that
    is fixed when they begin to grow, and rows that arrive meanwhile are not used. Predict the mean of the trees.
Promise
    trees/theorems/forest_gaps.py: the squared loss is the mean loss of the trees less their disagreement, which is
    known without the outcomes, so at most the mean of the bounds of their best prunings less that disagreement.
Cost
    O(depth) per row and tree, growing included. At most 256 columns; the last `rows` rows are stored, 64 MB at most.
Reference
    [breiman2001] for forests, [derooij2014] for the choice at a node.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.decision_tree import DrawnTree, Node
from novikoff.core.state import Argument, Array, Count, Parts, Stateful, Sum, keeps_rows, require
from novikoff.core.types import State, StepResult, Theorem
from novikoff.numerics.records import astuple
from novikoff.numerics.total import Total
from novikoff.trees import _loops
from novikoff.trees._loops import layout as at
from novikoff.trees._loops.boosting_layout import SAMPLE
from novikoff.trees.bins import Edges
from novikoff.trees.forest import TREES, checked_seed, checked_trees, drawn_forest
from novikoff.trees.growing import GrowingTree
from novikoff.trees.learner import NumberTableLearner
from novikoff.trees.paths import Steps
from novikoff.trees.regrown import HASTE, SORTED
from novikoff.trees.store import MOST_ROWS, TOGETHER, RowStore
from novikoff.trees.theorems.forest_gaps import NumberForestFacts, forest_gaps

FIRST, GROWTH, BAG = 16, 1.5, 0.7
"""Round at which the first trees begin to grow; ratio of consecutive such rounds; probability of a row in a bag."""
THRESHOLD, LEAST, MOST_NODES = 2.0, 2, 4000
"""Least gain of a cut, in nats; fewest rows on either side; largest number of nodes of a tree."""
SHARE = 500_000
"""Cells visited per round while trees grow."""
UNIT = 50_000
"""Cells visited in one unit of work."""
LOST, MIXED, BOUND, NODES, PRICE, OFF, PARTS = range(7)
"""Columns of `RegrownNumbers.parts`: loss as played and as the nodes record it, bound, losses of the pruning's nodes,
price; and the largest relative difference of the first two, or excess of a price, in any epoch."""


def _new_tree(columns: int) -> GrowingTree:
    tree = GrowingTree(at.NUMBERS, 2, THRESHOLD, LEAST)
    tree.rule = tree.rule._replace(most_nodes=MOST_NODES)
    tree.edges, tree.edge_counts = np.full((columns, at.ROOM), np.inf), np.zeros(columns, dtype=np.int64)
    return tree


class RegrownNumbers(Stateful):
    """Regression trees that follow a stream, and are regrown.

    Args:
        trees: Number of trees.
        seed: Seed of the bags.
        skipped: Number of leading columns of the stored rows that are not features.

    Attributes:
        seen: Rows seen.
        epochs: Number of takeovers.
        next: Round at which new trees begin to grow.
        began: Round at which the trees in progress began; -1 if there are none.
        build_first: Number of their first row.
        build_kinds: (columns,) kinds of their columns, skipped ones first.
        kinds: (columns,) 1 for categories, of the current trees, skipped ones first.
        grown: Current trees.
        played: (trees, 2) loss of each current tree, and its compensation.
        totals: (trees, PARTS) sums over the former trees; the last column has the largest.
        disagreement: Sum of the mean of (prediction of a tree - their mean)^2.
    """

    described = "a forest"
    fields = (
        Count("seen"),
        Count("epochs", most="seen"),
        Count("next", 1),
        Count("began", -1, "seen"),
        Count("build_first", most="seen"),
        Array("build_kinds", (None,), np.int8, nonnegative=True, most=1),
        Array("kinds", (None,), np.int8, nonnegative=True, most=1),
        Parts("grown"),
        Array("played", ("trees", 2)),
        Array("totals", ("trees", PARTS)),
        Sum("disagreement"),
    )

    def __init__(self, trees: int, seed: int, skipped: int = 0) -> None:
        self.trees, self.seed, self.skipped = trees, seed, skipped
        self.seen, self.epochs, self.next, self.began, self.build_first = 0, 0, FIRST, -1, 0
        self.build_kinds = self.kinds = np.zeros(0, dtype=np.int8)
        self.grown = [_new_tree(0) for _ in range(trees)]
        self.played, self.totals, self.disagreement = np.zeros((trees, 2)), np.zeros((trees, PARTS)), Total()
        self._build: _Build | None = None

    @property
    def count(self) -> int:
        """Number of nodes of all trees."""
        return sum(tree.count for tree in self.grown)

    def play(self, store: RowStore, kinds: NDArray[np.int8], first: int, stop: int) -> NDArray[np.float64]:
        """Return the predictions (rows, 1) of stored rows, each before its outcome, and learn them.

        Args:
            store: Rows.
            kinds: (columns,) 1 for categories, without skipped columns.
            first: Number of the first row.
            stop: Number of the row to stop before.
        """
        predicted, done = np.empty((self.trees, stop - first)), first
        while done < stop:
            if self._build is None and self.seen >= self.next:
                self._begin(store, kinds)
            event = self.next if self._build is None else self._build.takeover
            end = min(stop, done + event - self.seen)
            rows = np.arange(done, end) % len(store.y)
            for m, tree in enumerate(self.grown):
                some = predicted[m, done - first : end - first]
                _loops.number_forest.follow(
                    astuple(tree.nodes), astuple(tree.rule), store.x, store.y, self.kinds, rows, some
                )
                total = Total(*self.played[m].tolist())
                total.add_all((some - store.y[rows]) ** 2)
                self.played[m] = total.sum, total.lost
            self.seen += end - done
            done = end
            if self._build is not None and self._build.advance(store, self.seen):
                self._take_over(self._build)
        mean = _mean(predicted)
        self.disagreement.add_all(_mean((predicted - mean) ** 2))
        return mean[:, None]

    def look(self, x: NDArray[np.float64], kinds: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return the predictions (rows, 1) of rows without learning."""
        return _mean(np.array([tree.look(x, self.kinds)[:, 0] for tree in self.grown]))[:, None]

    def steps(self, x: NDArray[np.float64], kinds: NDArray[np.int8]) -> list[Steps]:
        """Return the path of a row (columns,) through each tree."""
        found = [steps for tree in self.grown for steps in tree.steps(x, self.kinds)]
        return [steps._replace(columns=steps.columns - self.skipped) for steps in found]

    def mixed(self) -> list[Node]:
        """Return the trees, whose leaves have the forecast of the mixture."""
        return [root for tree in self.grown for root in tree.mixed()]

    def gains(self, columns: int) -> NDArray[np.float64]:
        """Return the mean over the trees of the gain of the cuts on each column (columns,)."""
        found: NDArray[np.float64] = np.sum(
            [tree.gains(columns + self.skipped) / len(self.grown) for tree in self.grown], axis=0
        )
        return found[self.skipped :]

    def add_label(self, store: RowStore, kinds: NDArray[np.int8], row: int) -> float:
        """Raise an error: numbers have no labels."""
        raise TypeError("a regression forest has no labels")

    @property
    def parts(self) -> NDArray[np.float64]:
        """(trees, PARTS) bound and its parts for each tree, over all its regrown forms."""
        now = np.empty((self.trees, PARTS))
        for m, tree in enumerate(self.grown):
            settled, lost = tree.settle(), float(self.played[m].sum())
            off = max(abs(lost - settled.mixed) / (lost + 1e-290), settled.drift * 1e-3, 0.0 if settled.sound else 1.0)
            now[m] = lost, settled.mixed, settled.bound, settled.regret, settled.price, off
        return np.column_stack([self.totals[:, :OFF] + now[:, :OFF], np.maximum(self.totals[:, OFF], now[:, OFF])])

    def _begin(self, store: RowStore, kinds: NDArray[np.int8]) -> None:
        now = self.seen
        self.next = max(now + 1, int(now * GROWTH))
        first = max(store.first, now - store.window)
        if now - first >= FIRST:
            self.began, self.build_first = now, first
            self.build_kinds = np.concatenate([np.zeros(self.skipped, dtype=np.int8), kinds])
            self._build = _Build(self, store)

    def _take_over(self, build: _Build) -> None:
        self.totals = self.parts
        self.kinds, self.grown, self.epochs = build.kinds, build.trees, self.epochs + 1
        self.played = np.zeros((self.trees, 2))
        self._build, self.began = None, -1

    def attach(self, store: RowStore) -> None:
        """Repeat the work on the trees in progress when the state was saved; drop them if their rows are not there."""
        require(self.seen == store.count, "a forest must have seen all rows", self.seen)
        known = len(self.kinds) <= store.width and len(self.build_kinds) <= store.width
        same = all(len(tree.edges) == len(self.kinds) for tree in self.grown)
        require(known and same, "trees must have the columns of the store", len(self.kinds))
        if self.began >= 0 and store.first <= self.build_first <= self.began - FIRST:
            self._build = _Build(self, store)
            require(self.seen < self._build.takeover, "trees in progress must not have taken over", self.seen)
            self._build.advance(store, self.seen)
        else:
            self.began = -1

    def state(self) -> State:
        state = super().state()
        return state if keeps_rows() else {**state, "began": -1}


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the trees, added in their order: numpy's order depends on the number of rows."""
    total: NDArray[np.float64] = values[0].copy()
    for one in values[1:]:
        total += one
    total /= len(values)
    return total


class _Build:
    """Trees in progress: bins first, then tree by tree, its nodes and the rows out of its bag.

    Attributes:
        takeover: Round from which the new trees predict.
        trees: Trees that are complete.
    """

    def __init__(self, owner: RegrownNumbers, store: RowStore) -> None:
        self.owner, self.first, self.kinds = owner, owner.build_first, owner.build_kinds
        self.began, self.rows = owner.began, owner.began - owner.build_first
        columns = len(self.kinds)
        work = self.rows * (columns + owner.trees * columns * max(self.rows, 2).bit_length())
        self.takeover = self.began + max(1, min(work // SHARE, self.rows // 8, TOGETHER))
        work += SORTED * columns * min(self.rows, SAMPLE)
        self.share = -(-HASTE * work // (self.takeover - self.began))
        self.codes, self.edges = np.empty((columns, self.rows), dtype=np.uint8), Edges.none(columns)
        self.trees: list[GrowingTree] = []
        self.done = self.coded = self.node = self.out_at = 0
        self.found = owner.skipped
        self.tree: GrowingTree | None = None
        self.places = np.zeros((MOST_NODES, 2), dtype=np.int64)
        self.bag = self.spare = np.zeros(0, dtype=np.int32)
        self.out = np.zeros(0, dtype=np.int64)

    def advance(self, store: RowStore, now: int) -> bool:
        """Do the work that is due after `now` rounds; return whether the trees take over."""
        last = now == self.takeover
        due = self.share * (now - self.began)
        while (last or self.done < due) and len(self.trees) < self.owner.trees:
            self._step(store)
        return last

    def _step(self, store: RowStore) -> None:
        """Do one unit of work; the division into units does not depend on when they are done."""
        loops, columns = _loops.number_forest, len(self.kinds)
        if self.found < columns:
            if self.kinds[self.found] == 0:
                some = np.arange(self.first, self.began, max(1, self.rows // SAMPLE)) % len(store.y)
                self.edges.find(self.found, store.x[some, self.found])
                self.done += SORTED * len(some)
            self.found += 1
        elif self.coded < self.rows:
            stop = min(self.rows, self.coded + TOGETHER)
            _loops.codes.code(
                store.x, 0, self.kinds, self.edges.edges, self.first, self.coded, stop, self.codes
            )  # fmt: skip
            self.done += (stop - self.coded) * columns
            self.coded = stop
        elif self.tree is None:
            self._start(store)
        elif self.node < self.tree.count:
            bag = loops.Bag(self.codes, *self.edges, self.bag, self.spare, self.places)
            self.node, visited = loops.expand(
                astuple(self.tree.nodes), astuple(self.tree.rule), store.y, self.kinds, self.first, astuple(bag),
                self.owner.skipped, self.node, UNIT,
            )  # fmt: skip
            self.done += visited
        elif self.out_at < len(self.out):
            stop = min(len(self.out), self.out_at + TOGETHER)
            rows = (self.first + self.out[self.out_at : stop]) % len(store.y)
            loops.follow(
                astuple(self.tree.nodes),
                astuple(self.tree.rule),
                store.x,
                store.y,
                self.kinds,
                rows,
                np.empty(len(rows)),
            )
            self.done += 8 * len(rows)
            self.out_at = stop
        else:
            self._finish(self.tree)

    def _start(self, store: RowStore) -> None:
        coins = np.random.default_rng([self.owner.seed, self.began, len(self.trees)])
        # One coin for all rounds of a row: out of the bag, a copy of a row in it would seem well predicted.
        inside = (coins.random(self.rows) < BAG)[store.begins(self.first, self.began)]
        self.bag, self.out = np.flatnonzero(inside).astype(np.int32), np.flatnonzero(~inside)
        self.spare, self.node, self.out_at = np.empty(len(self.bag), dtype=np.int32), 0, 0
        self.tree = _new_tree(len(self.kinds))
        self.tree._make_room(min(MOST_NODES, max(len(self.bag), 3)))
        self.places[0] = 0, len(self.bag)
        self.done += self.rows

    def _finish(self, tree: GrowingTree) -> None:
        """Complete a tree: keep its counts, reset its losses and its weights of stopping."""
        tree.sums[:] = 0.0
        tree.c[:] = tree.split[:] = 0
        tree.start[:] = tree.n
        self.trees.append(tree)
        self.tree = None


class ForestRegression(NumberTableLearner):
    """Random forest for numbers whose trees are regrown as the stream goes on.

    Args:
        trees: Number of trees.
        seed: Seed of the bags.
        rows: Number of last rows from which trees grow, at most 131,072.

    Guarantee:
        Squared loss at most the mean over the trees of the bounds of their best prunings, in each epoch, less their
        disagreement, which is known without the outcomes (`forest_gaps`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.ForestRegression()
        >>> ledger = nk.play(learner, [([float(t % 10)], 5.0 if t % 10 > 4 else 1.0) for t in range(200)])
        >>> print(round(learner.predict_one([9.0]), 2))
        4.96
    """

    seed: int
    promises: ClassVar[tuple[Theorem, ...]] = (forest_gaps,)
    fields = (Argument("trees", int), Argument("seed", int), *NumberTableLearner.fields, Sum("squares"))
    part: RegrownNumbers

    def __init__(self, trees: int = TREES, seed: int = 0, rows: int = MOST_ROWS) -> None:
        super().__init__(rows)
        self.trees, self.seed, self.squares = checked_trees(trees), checked_seed(seed), Total()
        self.part = RegrownNumbers(self.trees, self.seed)

    def _play(self, first: int, y: NDArray[np.generic]) -> StepResult:
        self.squares.add_all(y**2)
        return super()._play(first, y)

    def drawn_tree(self) -> DrawnTree:
        return drawn_forest(self.part.grown[0].pruning(), self.trees, self.columns, self.feature_names)

    def facts(self) -> NumberForestFacts:
        parts, engine = self.part.parts, self.part
        bounds = np.maximum(parts[:, BOUND], parts[:, MIXED]) + np.maximum(0.0, parts[:, LOST] - parts[:, MIXED])
        return NumberForestFacts(
            self.rounds, engine.epochs + 1, parts[:, LOST].tolist(), bounds.tolist(), float(parts[:, NODES].mean()),
            float(parts[:, PRICE].mean()), float(parts[:, OFF].max()), float(engine.disagreement), float(self.squares),
        )  # fmt: skip
