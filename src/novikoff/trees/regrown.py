"""Forests whose trees are regrown at growing intervals: each tree is a mixture over all its prunings.

Algorithm
    New trees begin to grow at round 16, then whenever the number of rounds has grown by half; with a window of R rows,
    every R/2 rounds. A stored row is in the bag of a tree with probability 0.7. The tree is grown on its bag, breadth
    first: a node is split at the best cut of max(3, d/3) random columns if it gains a nat. Then the rows out of the bag
    are played in their order, which sets the prior of the prunings: the odds of stopping at each inner node. The work
    is spread over rounds; rows that arrive meanwhile are not used. The new trees take over at a round that is fixed
    when they begin to grow, and from then on forecast and count new rows (trees/_loops/forest.py). The forecast of the
    forest is the normalised geometric mean of the trees' probabilities. Before round 16 a tree has one node, which
    forecasts the frequencies of the labels.
Promise
    Each tree, from one takeover to the next: log loss at most that of every pruning of it plus the price of its prior
    (trees/theorems/tree_pruning.py). The forest: the mean of the trees' losses minus their disagreement, which needs
    no labels.
Cost
    O(depth) per row and tree, and amortised O(columns tried · depth) to regrow: 10 trees on 20 columns took about 30
    microseconds per row.
Reference
    [willems1995] for mixtures over prunings, [breiman2001] for forests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.decision_tree import Node
from novikoff.core.state import Array, Count, Field, Stateful, array, require
from novikoff.core.types import State
from novikoff.numerics.records import astuple
from novikoff.trees import _loops
from novikoff.trees._loops.boosting_layout import CHUNK, SAMPLE
from novikoff.trees._loops.forest_layout import (
    BAGS,
    DEPTH,
    DONE,
    FLOOR,
    LEARN,
    LOOK,
    OUT,
    PHASE,
    PLAY,
    SHRINK,
    TREE,
    Forest,
    Growing,
)
from novikoff.trees._loops.layout import BINS
from novikoff.trees.bins import Edges, x_log_x
from novikoff.trees.growing import codes_of, mixed_tree
from novikoff.trees.paths import Steps, by_column, goes_left, label_gains, truncated
from novikoff.trees.store import TOGETHER, RowStore

FIRST = 16
"""Round at which the first trees begin to grow."""
GROWTH = 1.5
"""Ratio of the rounds at which consecutive trees begin to grow."""
MOST_LABELS = 2**20
"""Largest number of labels whose frequencies are counted."""
MOST_NODES = 4000
"""Largest number of nodes of a tree."""
SHARE = 500_000
"""Row visits per round, as estimated, from which the round of the takeover follows."""
HASTE = 3
"""Work of a round relative to that of an even spread: deep trees and constant columns take more than was estimated."""
SORTED = 12
"""Approximate cost of sorting one value, in row visits."""
PARTS = ("played", "mixture", "bound", "constants", "regret", "price", "off")
"""Columns of `RegrownForest.parts`: see `bounds` in trees/_loops/forest.py."""


@dataclass(frozen=True)
class _Trees(Field):
    """The arrays of the current trees, without unused nodes; children come after their parents, on known columns."""

    def pack(self, value: Any, owner: object) -> object:
        used = int(value.nodes.max(initial=1))
        return {name: (part[:, :used] if part.ndim > 1 and name != "played" else part).copy()
                for name, part in value._asdict().items()}  # fmt: skip

    def unpack(self, state: State, owner: Any, of: str) -> object:
        saved, trees = state[self.name], owner.trees
        require(
            isinstance(saved, dict) and isinstance(saved.get("nodes"), np.ndarray),
            f"trees of {of} must be saved",
            saved,
        )
        nodes = array(saved, "nodes", (trees,), np.int64, True, of)
        sound = bool((nodes >= 1).all() and (nodes <= MOST_NODES).all())
        require(sound, f"the numbers of nodes of {of} must be from 1 to {MOST_NODES:,}", nodes)
        empty = no_forest(trees, int(nodes.max()), owner.labels)
        parts = {
            name: array(saved, name, part.shape, part.dtype, name != "cut", f"trees of {of}")
            for name, part in empty._asdict().items()
        }
        forest = Forest(**parts)
        places = np.arange(forest.column.shape[1])
        inner = forest.column >= 0
        later = (forest.left > places) & (forest.left + 1 < nodes[:, None])
        require(bool(later[inner].all()), f"children of {of} must come after their parents", forest.left)
        require(int(forest.column.max()) < len(owner.kinds), f"cuts of {of} must be on known columns", forest.column)
        depths = np.zeros(forest.column.shape, np.int64)
        for v in range(len(places)):
            for m in np.flatnonzero(inner[:, v]):
                depths[m, forest.left[m, v] : forest.left[m, v] + 2] = depths[m, v] + 1
        require(int(depths.max()) + 1 < DEPTH, f"paths of {of} must be shorter than {DEPTH}", int(depths.max()))
        whole = bool((forest.counts >= 0).all() and (forest.rounds >= 0).all())
        require(whole, f"counts of {of} must not be negative", forest.counts.min())
        return forest


class RegrownForest(Stateful):
    """Trees that follow a stream.

    Args:
        labels: Number of labels.
        trees: Number of trees.
        seed: Seed of bags and columns.
        skipped: Leading columns of the stored rows that are not used.
        window: Number of latest rows to grow from; 0 for all that are stored.
        tried: Columns tried at each node are max(3, d/3), or max(3, sqrt d) if this is "root".

    Attributes:
        rounds: Rows seen.
        fitted: Rows from which the current trees were grown.
        epochs: Number of takeovers.
        next: Round at which new trees begin to grow.
        began: Round at which the trees in progress began; -1 if there are none.
        build_first: Number of their first row.
        build_kinds: (columns,) Kinds of their columns.
        kinds: (columns,) 0 for numbers, 1 for categories, of the current trees.
        forest: Current trees.
        totals: (trees, 7) Sum of `parts` over the former trees, except for the last column: the largest.
        disagreement: (2,) Sum of the trees' disagreement, and its compensation.
    """

    described = "a forest"
    fields = (
        Count("labels", 1, MOST_LABELS),
        Count("rounds"),
        Count("fitted", most="rounds"),
        Count("epochs", most="rounds"),
        Count("next", 1),
        Count("began", -1, "rounds"),
        Count("build_first", most="began", when="building"),
        Array("build_kinds", (None,), np.int8, nonnegative=True, most=1, when="building"),
        Array("kinds", (None,), np.int8, nonnegative=True, most=1),
        _Trees("forest"),
        Array("totals", ("trees", len(PARTS))),
        Array("disagreement", (2,)),
    )

    def __init__(
        self, labels: int = 2, trees: int = 10, seed: int = 0, skipped: int = 0, window: int = 0, tried: str = "third"
    ) -> None:
        self.labels, self.trees, self.seed, self.skipped = labels, trees, seed, skipped
        self.window, self.tried = window, tried
        self.rounds = self.fitted = self.epochs = 0
        self.next, self.began, self.build_first = FIRST, -1, 0
        self.build_kinds = self.kinds = np.zeros(0, np.int8)
        self.forest = no_forest(trees, 1, labels)
        self.totals, self.disagreement = np.zeros((trees, len(PARTS))), np.zeros(2)
        self._build: _Build | None = None

    @property
    def building(self) -> bool:
        """Whether new trees are growing."""
        return self.began >= 0

    def play(self, rows: RowStore, count: int, kinds: NDArray[np.int8]) -> NDArray[np.float64]:
        """Forecast the next `count` stored rows, each before its label, and learn them.

        Args:
            rows: Stored rows, these included; their outcomes are labels from 0 on.
            count: Number of rows.
            kinds: (d,) 0 for numbers, 1 for categories.

        Returns:
            (count, labels) ln P.
        """
        forecasts, done = np.empty((count, self.labels)), 0
        while done < count:
            if self._build is None and self.rounds >= self.next:
                self._begin(rows, kinds)
            event = self.next if self._build is None else self._build.takeover
            stop = min(count, done + event - self.rounds)
            here = np.arange(self.rounds, self.rounds + stop - done) % len(rows.x)
            _loops.forest.play(
                astuple(self.forest), self.kinds, rows.x[here], self.skipped, rows.y[here].astype(np.int64), LEARN, 0,
                self.trees, forecasts[done:stop], self.disagreement,
            )  # fmt: skip
            self.rounds += stop - done
            done = stop
            if self._build is not None and self._build.advance(rows, self.rounds):
                self._take_over(self._build)
        return forecasts

    def look(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ln P (rows, labels) of rows without learning."""
        forecasts, none = np.empty((len(x), self.labels)), np.zeros(0, np.int64)
        _loops.forest.play(
            astuple(self.forest), self.kinds, x, self.skipped, none, LOOK, 0, self.trees, forecasts, np.zeros(2)
        )  # fmt: skip
        return forecasts

    def steps(self, x: NDArray[np.float64]) -> list[Steps]:
        """Return the path of a row (skipped + columns,) through each tree."""
        return [self._steps(m, x[self.skipped :]) for m in range(self.trees)]

    def _steps(self, m: int, x: NDArray[np.float64]) -> Steps:
        forest, path = self.forest, [0]
        while (column := int(forest.column[m, path[-1]])) >= 0:
            v = path[-1]
            left = goes_left(
                float(x[column]), self.kinds[column] == 1, float(forest.cut[m, v]), forest.sets[m, v],
                int(forest.missing[m, v]),
            )  # fmt: skip
            path.append(int(forest.left[m, v]) + (0 if left else 1))
        return Steps(forest.column[m, path[:-1]].astype(np.int64), self._along(m, path))

    def _along(self, m: int, path: Sequence[int]) -> NDArray[np.float64]:
        """Return Q of each node of a path of tree m (trees/paths.py)."""
        forecasts: list[NDArray[np.float64]] = []
        for v in path:
            forecasts.append(self._own(m, v, forecasts[-1] if forecasts else None))
        odds = self.forest.odds[m, path[:-1]]
        stops, goes = np.exp(-np.logaddexp(0.0, -odds)), np.exp(-np.logaddexp(0.0, odds))
        return truncated(np.array(forecasts), stops, goes)

    def mixed(self) -> list[Node]:
        """Return the trees, whose leaves have the forecast of the mixture."""
        forest, found = self.forest, []
        for m in range(self.trees):
            column, left, missing = (part[m].tolist() for part in (forest.column, forest.left, forest.missing))
            found.append(mixed_tree(column, left, missing, forest.cut[m], forest.sets[m], partial(self._along, m)))
        return found

    def pruning(self) -> Node:
        """Return the best pruning of the first tree since it took over (trees/theorems/tree_pruning.py)."""
        forest, count = self.forest, int(self.forest.nodes[0])
        column, left, prior = forest.column[0].tolist(), forest.left[0].tolist(), forest.prior[0]
        own, stops = forest.losses[0, :count].sum(axis=1), np.ones(count, np.bool_)
        least = own.copy()
        for v in range(count - 1, -1, -1):
            if column[v] >= 0:
                stop = own[v] + np.logaddexp(0.0, -prior[v])
                go = least[left[v]] + least[left[v] + 1] + np.logaddexp(0.0, prior[v])
                stops[v], least[v] = stop <= go, min(stop, go)

        def node(v: int, above: NDArray[np.float64] | None) -> Node:
            p, rounds = self._own(0, v, above), tuple(forest.rounds[0, v].tolist())
            if stops[v]:
                return Node(-1, math.nan, (), False, rounds, tuple(p.tolist()))
            codes = codes_of(forest.sets[0, v])
            cut = math.nan if codes else float(forest.cut[0, v])
            below = node(left[v], p), node(left[v] + 1, p)
            return Node(column[v], cut, codes, bool(forest.missing[0, v]), rounds, tuple(p.tolist()), *below)

        return node(0, None)

    def _own(self, m: int, v: int, above: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the forecast of a node, given its parent's."""
        counts = self.forest.counts[m, v]
        if above is None:
            p = (counts + 0.5) / (counts.sum() + 0.5 * len(counts))
        else:
            p = (counts + SHRINK * above) / (counts.sum() + SHRINK)
        found: NDArray[np.float64] = (1.0 - len(p) * FLOOR) * p + FLOOR
        return found

    def gains(self, columns: int) -> NDArray[np.float64]:
        """Return the mean over the trees of the gain of the cuts on each column (columns,), in nats."""
        trees, nodes = np.nonzero(self.forest.column >= 0)
        left = self.forest.left[trees, nodes]
        found = label_gains(self.forest.counts[trees, left], self.forest.counts[trees, left + 1])
        return by_column(self.forest.column[trees, nodes], found / self.trees, columns)

    @property
    def parts(self) -> NDArray[np.float64]:
        """(trees, 7) bound and its parts for each tree, over all its regrown forms: see `PARTS`."""
        nodes, found = self.forest.column.shape[1], np.empty((self.trees, len(PARTS)))
        _loops.forest.bounds(astuple(self.forest), np.empty(nodes), np.empty(nodes), found)
        off = np.maximum(self.totals[:, -1], found[:, -1])
        return np.column_stack([self.totals[:, :-1] + found[:, :-1], off])

    def resume(self, rows: RowStore) -> None:
        """Repeat the work on the trees in progress when the state was saved; drop them if their rows were not saved."""
        require(self.rounds <= rows.count, "a forest must not have seen more rows than the store", self.rounds)
        if self.building and self.build_first >= rows.first:
            self._build = _Build(self, rows)
            self._build.advance(rows, self.rounds)
        else:
            self.began = -1

    def add_label(self) -> None:
        """Add a label that was never seen; the current trees stay, with the odds so far as their prior."""
        forest = self.forest
        self._settle(
            forest._replace(
                counts=np.pad(forest.counts, ((0, 0), (0, 0), (0, 1))),
                rounds=np.pad(forest.rounds, ((0, 0), (0, 0), (0, 1))),
            )
        )
        self.labels += 1
        self._build, self.began = None, -1

    def _begin(self, rows: RowStore, kinds: NDArray[np.int8]) -> None:
        """Begin to grow trees from the stored rows, if there are enough of them."""
        now = self.rounds
        self.next = max(now + 1, int(now * GROWTH))
        if self.window:
            self.next = min(self.next, now + self.window // 2)
        first = max(rows.first, now - min(self.window or rows.window, rows.window))
        if now - first >= FIRST and 2 * (now - first) >= min(self.fitted, self.window or self.fitted):
            self.began, self.build_first, self.build_kinds = now, first, kinds.copy()
            self._build = _Build(self, rows)

    def _take_over(self, build: _Build) -> None:
        self.kinds, self.fitted, self.epochs = build.kinds, build.count, self.epochs + 1
        self._settle(build.forest)
        self._build, self.began = None, -1

    def _settle(self, forest: Forest) -> None:
        """Add the parts of the bound of the current trees to the totals, and replace the trees."""
        self.totals = self.parts
        forest.prior[:] = forest.odds
        for part in (forest.losses, forest.rounds, forest.played):
            part[:] = 0
        self.forest = forest


class _Build:
    """Trees in progress.

    Attributes:
        forest: Trees, complete at the takeover.
        takeover: Round from which they forecast.
        count: Number of rows from which they grow.
    """

    def __init__(self, owner: RegrownForest, rows: RowStore) -> None:
        first, self.kinds = owner.build_first, owner.build_kinds
        count, columns = owner.began - first, len(self.kinds)
        self.first, self.count, self.began, self.skipped = first, count, owner.began, owner.skipped
        few = math.ceil(math.sqrt(columns)) if owner.tried == "root" else math.ceil(columns / 3)
        self.tried = min(columns, max(3, few))
        # A row is visited about once per column tried and level of each tree.
        work = count * (columns + owner.trees * (9 + 3 * self.tried * max(count, 2).bit_length() // 2))
        work += SORTED * columns * min(count, SAMPLE)
        self.takeover = owner.began + max(1, min(work // SHARE, count // 8, TOGETHER))
        self.share = -(-HASTE * work // (self.takeover - owner.began))
        nodes = min(MOST_NODES, max(2 * count, 3), max(2**17 // owner.labels, 3))  # memory grows with both
        self.forest = no_forest(owner.trees, nodes, owner.labels)
        here = np.arange(first, owner.began) % len(rows.x)
        start = np.random.default_rng([owner.seed, owner.began]).integers(2**63, dtype=np.uint64)
        self.bins, self.found, self.coded, self.played, labels = Edges.none(columns), 0, 0, 0, owner.labels
        self.growing = Growing(
            np.zeros(4, np.int64), np.array([start]), np.empty((columns, count), np.uint8), *self.bins,
            rows.y[here].astype(np.int64),
            rows.begins(first, owner.began), np.empty(count, np.bool_), np.empty(count, np.int32),
            np.empty(count, np.int32), np.empty((nodes, 2), np.int64), np.empty(nodes, np.int64),
            np.empty(columns, np.int64), np.zeros((BINS + 1, labels + 1), np.int64), np.empty(BINS, np.int64),
            np.empty(BINS), np.empty(2, np.uint64), np.empty(count, np.int64), np.empty(labels, np.int64),
        )  # fmt: skip

    def advance(self, rows: RowStore, now: int) -> bool:
        """Do the work that is due after `now` rounds; return whether the trees take over."""
        due = 2**62 if now == self.takeover else self.share * (now - self.began)
        counters = self.growing.counters
        while counters[TREE] < len(self.forest.nodes) and counters[DONE] < due:
            if self.found < len(self.kinds):
                self._find_edges(rows)
            elif self.coded < self.count:
                self._code(rows)
            elif counters[PHASE] != PLAY:
                _loops.forest.grow(
                    astuple(self.forest), astuple(self.growing), self.kinds, self.tried, x_log_x(self.count), due
                )
            else:
                self._play_out(rows)
        return now == self.takeover

    def _find_edges(self, rows: RowStore) -> None:
        """Compute the edges of the next column from evenly spaced rows."""
        if self.kinds[self.found] == 0:
            some = np.arange(self.first, self.began, max(1, self.count // SAMPLE)) % len(rows.x)
            self.bins.find(self.found, rows.x[some, self.skipped + self.found])
            self.growing.counters[DONE] += SORTED * len(some)
        self.found += 1

    def _code(self, rows: RowStore) -> None:
        """Find the bins of the next rows."""
        stop, growing = min(self.coded + CHUNK, self.count), self.growing
        _loops.codes.code(
            rows.x, self.skipped, self.kinds, growing.edges, self.first, self.coded, stop, growing.codes
        )  # fmt: skip
        growing.counters[DONE] += len(self.kinds) * (stop - self.coded)
        self.coded = stop

    def _play_out(self, rows: RowStore) -> None:
        """Play the next rows out of the bag in their order: they set the odds of stopping, and are counted."""
        growing, m, stop = self.growing, int(self.growing.counters[TREE]), min(self.played + CHUNK, self.count)
        out = self.played + np.flatnonzero(~growing.bagged[self.played : stop])
        x, none = rows.x[(self.first + out) % len(rows.x)], np.empty((0, self.forest.counts.shape[2]))
        _loops.forest.play(
            astuple(self.forest), self.kinds, x, self.skipped, growing.labels[out], OUT, m, m + 1, none, np.zeros(2)
        )  # fmt: skip
        growing.counters[DONE] += 8 * (stop - self.played)
        self.played = stop
        if stop == self.count:
            growing.counters[TREE], growing.counters[PHASE], self.played = m + 1, BAGS, 0


def no_forest(trees: int, nodes: int, labels: int) -> Forest:
    """Return trees of one node without rows, with room for `nodes` nodes."""
    shape = trees, nodes
    return Forest(
        np.full(shape, -1, np.int32), np.zeros(shape), np.zeros(shape, np.int32), np.zeros(shape, np.int8),
        np.zeros((*shape, 2), np.uint64), np.zeros((*shape, labels)), np.zeros(shape), np.zeros(shape),
        np.zeros((*shape, 2)), np.zeros((*shape, labels), np.int64), np.zeros((trees, 2)), np.ones(trees, np.int64),
    )  # fmt: skip
