"""A growing tree as a part of learners: its arrays, how it plays the rows of a store, and how it is saved.

    store.add(x, y, absent)                    # columns and outcomes of the next rows
    forecasts = tree.play(store, kinds, first, store.count)

`play` returns for each row the forecast made before it was learned: the probability of each label, or a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.decision_tree import Node
from novikoff.core.state import Array, Stateful, keeps_rows, require
from novikoff.core.types import State
from novikoff.numerics.records import astuple
from novikoff.trees import _loops
from novikoff.trees._loops import layout as at
from novikoff.trees.bins import Edges, x_log_x
from novikoff.trees.columns import Columns
from novikoff.trees.paths import Steps, by_column, goes_left, label_gains, number_gains, truncated
from novikoff.trees.store import RowStore

FIRST_EDGES = 32
"""Number of rows from which the first edges are found."""
FIRST_NODES = 128
"""Room for nodes when the arrays first grow."""
OTHERS = "others"
"""Name of the bin that rare and unknown categories share."""
MOST_NODES = 16_384
"""Largest number of nodes of a tree."""
SAMPLE, SAMPLED = 2048, 2**17
"""Largest number of rows, and of cells of all columns, from which edges are found at once."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Best pruning of a tree after the rounds played so far, and checks of the tree's sums.

    Attributes:
        bound: Loss of the best pruning's nodes plus its price.
        mixed: Loss of the tree, from the losses of its nodes; for numbers, as recorded.
        constants: Loss of the best constants of the pruning's nodes, each on its own rounds; 0 except for labels.
        regret: Loss of the pruning's nodes beyond these constants.
        price: Price of not knowing the pruning.
        leaves: Number of leaves of the pruning.
        drift: Largest relative error of a weight; for numbers, of a price.
        sound: Whether whole numbers and structure agree.
        width: Sum of the widths of the closed forms of the pruning's nodes, in nats; -1 if a node violates its form.
    """

    bound: float
    mixed: float
    constants: float
    regret: float
    price: float
    leaves: int
    drift: float
    sound: bool
    width: float


def named(node: Node, columns: Columns, features: list[str] | None) -> Node:
    """Return a node and its descendants with the names of columns and categories."""
    if node.left is None or node.right is None:
        return node
    known, last = columns.categories[node.column], at.BINS - 2
    values = [OTHERS if code == last else known[code] for code in node.categories if code == last or code < len(known)]
    return replace(
        node, name=columns.name(node.column, features), values=tuple(values),
        left=named(node.left, columns, features), right=named(node.right, columns, features),
    )  # fmt: skip


def codes_of(sets: NDArray[np.uint64]) -> tuple[int, ...]:
    """Return the categories that go left, from the (2,) words of their bits; `BINS` - 2 is every other one."""
    bits = int(sets[0]) | int(sets[1]) << 64
    return tuple(b - 1 for b in range(1, at.BINS) if bits >> b & 1)


def mixed_tree(
    column: Sequence[int], left: Sequence[int], missing: Sequence[int], cut: NDArray[np.float64],
    sets: NDArray[np.uint64], along: Callable[[Sequence[int]], NDArray[np.float64]],
) -> Node:  # fmt: skip
    """Return a tree whose leaves have the forecast of the mixture over its prunings.

    Args:
        column: Column of the cut of each node; -1 for a leaf.
        left: Left child of each node; the right one is the next.
        missing: Whether missing values go left.
        cut: (nodes,) cut of each node.
        sets: (nodes, 2) categories that go left.
        along: Function from a path to Q of its nodes (trees/paths.py).
    """

    def node(path: tuple[int, ...]) -> Node:
        v = path[-1]
        if column[v] < 0:
            return Node(-1, math.nan, (), False, (), tuple(along(path)[-1].tolist()))
        below = node((*path, left[v])), node((*path, left[v] + 1))
        return Node(column[v], float(cut[v]), codes_of(sets[v]), bool(missing[v]), (), (), *below)

    return node((0,))


class GrowingTree(Stateful):
    """Mixture over all prunings of a tree that grows while it plays.

    Args:
        kind: `LABELS`, `NUMBERS` or `RESIDUALS` of _loops/layout.py.
        labels: Number of labels known at first.
        threshold: Least gain of a cut, in nats.
        least: Least number of rows on each side of a cut.
        forgetting: Factor of the counts in each round; 1 for none.
        ridge: Ridge of the corrections of residuals.
        middle: Forecast before the first outcome, for numbers.
        based: Whether numbers are corrections of base predictions: the tree plays outcome - base.
    """

    described = "a tree"
    fields = (
        Array("numbers", (at.WHOLES,), np.int64, nonnegative=True),
        Array("whole", ("count", at.WHOLE), np.int64),
        Array("cut", ("count",), finite=False),
        Array("sets", ("count", 2), np.uint64),
        Array("n", ("count", "width")),
        Array("c", ("count", "width"), np.int64),
        Array("split", ("count", "width"), np.int64),
        Array("start", ("count", "width")),
        Array("low", ("recorded", "width"), finite=False),
        Array("high", ("recorded", "width"), finite=False),
        Array("sums", ("count", at.SUMS), finite=False),
        Array("chain", (None,), np.int64, assigned=False),
        Array("offsets", (None,), assigned=False),
        Array("edges", (None, at.ROOM), finite=False),
        Array("edge_counts", ("edges.shape.0",), np.int64, nonnegative=True, most=at.EDGES),
    )

    def __init__(
        self, kind: int = at.LABELS, labels: int = 2, threshold: float = 10.0, least: int = 8, forgetting: float = 1.0,
        ridge: float = 1.0, middle: float = 0.0, based: bool = False,
    ) -> None:  # fmt: skip
        self.kind, self.forgetting, self.based = kind, forgetting, based or kind == at.RESIDUALS
        self.rule = at.Rule(kind, threshold, least, forgetting, ridge, MOST_NODES, middle)
        self.numbers = np.zeros(at.WHOLES, dtype=np.int64)
        self.numbers[[at.COUNT, at.NEXT_EDGES, at.KNOWN]] = 1, FIRST_EDGES, labels
        width = labels if kind == at.LABELS else 2
        self.whole, self.cut = np.zeros((1, at.WHOLE), dtype=np.int64), np.zeros(1)
        self.whole[0, [at.COLUMN, at.LEFT, at.PARENT, at.HEAD]] = -1
        self.sets = np.zeros((1, 2), dtype=np.uint64)
        self.n, self.start = np.zeros((2, 1, width))
        self.c, self.split = np.zeros((2, 1, width), dtype=np.int64)
        self.low, self.high = np.full((1, width), math.inf), np.full((1, width), -math.inf)
        if kind != at.LABELS or forgetting < 1.0:
            self.low, self.high = np.zeros((2, 0, width))
        if kind == at.RESIDUALS:
            self.n[0, 1] = self.start[0, 1] = ridge
        self.sums = np.zeros((1, at.SUMS))
        self.edges, self.edge_counts = np.zeros((0, at.ROOM)), np.zeros(0, dtype=np.int64)
        self._room = 0
        self._chain: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._codes = np.zeros((0, 0), dtype=np.uint8)
        self._editions: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._offsets = self._residuals = np.zeros(0)
        self._store: RowStore | None = None

    @property
    def count(self) -> int:
        """Number of nodes."""
        return int(self.numbers[at.COUNT])

    @property
    def width(self) -> int:
        """Number of columns of the counts."""
        return int(self.numbers[at.KNOWN]) if self.kind == at.LABELS else 2

    @property
    def recorded(self) -> int:
        """Number of nodes whose parents' forecasts have a recorded range."""
        return self.count if self.kind == at.LABELS and self.forgetting == 1.0 else 0

    @property
    def nodes(self) -> at.Nodes:
        """Arrays of the nodes."""
        return at.Nodes(
            self.numbers, self.whole, self.cut, self.sets, self.n, self.c, self.split, self.start, self.low, self.high,
            self.sums,
        )  # fmt: skip

    def play(
        self,
        store: RowStore,
        kinds: NDArray[np.int8],
        first: int,
        stop: int,
        offsets: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Forecast and learn the stored rows first .. stop - 1.

        Args:
            store: Rows, of which `first` is the first that this tree has not seen.
            kinds: (columns,) 1 for categories.
            first: Number of the first row.
            stop: Number of the row to stop before; at most `TOGETHER` rows are played at once.
            offsets: (rows,) base logits or base predictions, if the tree corrects them.

        Returns:
            (rows, k) probability of each label before it was learned, or (rows, 1) numbers.
        """
        self._follow(store)
        y = self._residuals if self.based and self.kind == at.NUMBERS else store.y
        if offsets is not None:
            slots = np.arange(first, stop) % len(store.y)
            self._offsets[slots] = offsets
            if y is self._residuals:
                y[slots] = store.y[slots] - offsets
        out = np.empty((stop - first, 1 if self.kind == at.NUMBERS else int(self.numbers[at.KNOWN])))
        table, t = x_log_x(at.EXAMINED), first
        while t < stop:
            t = _loops.tree.play(
                astuple(self.nodes), astuple(self.rule), self._growth(), store.x, y, kinds, store.begin,
                store.window, t, stop, table, out[t - first :],
            )  # fmt: skip
            if t < stop and t >= self.numbers[at.NEXT_EDGES]:
                self._renew_edges(store, kinds, t)
            elif t < stop:
                self._make_room(min(max(2 * len(self.cut), FIRST_NODES), MOST_NODES))
        return out if y is store.y or offsets is None else out + offsets[:, None]

    def look(
        self, x: NDArray[np.float64], kinds: NDArray[np.int8], offsets: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the forecasts of rows (rows, columns) without learning."""
        out = np.empty((len(x), 1 if self.kind == at.NUMBERS else int(self.numbers[at.KNOWN])))
        offsets = np.zeros(0) if offsets is None else offsets
        _loops.tree.look(astuple(self.nodes), astuple(self.rule), x, offsets, kinds, out)
        return out if not self.based or self.kind == at.RESIDUALS else out + offsets[:, None]

    def steps(self, x: NDArray[np.float64], kinds: NDArray[np.int8]) -> list[Steps]:
        """Return the path of a row (columns,), of one tree."""
        path = [0]
        while (column := int(self.whole[path[-1], at.COLUMN])) >= 0:
            v, value = path[-1], float(x[column]) if column < len(x) else math.nan
            left = goes_left(
                value, kinds[column] == 1, float(self.cut[v]), self.sets[v], int(self.whole[v, at.MISSING_LEFT])
            )
            path.append(int(self.whole[v, at.LEFT]) + (0 if left else 1))
        return [Steps(self.whole[path[:-1], at.COLUMN].astype(np.int64), self._along(path))]

    def _along(self, path: Sequence[int]) -> NDArray[np.float64]:
        """Return Q of each node of a path (trees/paths.py)."""
        forecasts: list[NDArray[np.float64]] = []
        for v in path:
            p = self._forecast(v, forecasts[-1] if forecasts else None)
            if self.kind == at.LABELS and forecasts:
                p = (1.0 - len(p) * at.FLOOR) * p + at.FLOOR
            forecasts.append(p)
        weights = np.array([self._stopping(v) for v in path[:-1]]).reshape(-1, 2)
        return truncated(np.array(forecasts), weights[:, 0], weights[:, 1])

    def mixed(self) -> list[Node]:
        """Return the tree whose leaves have the forecast of the mixture."""
        column, left = self.whole[:, at.COLUMN].tolist(), self.whole[:, at.LEFT].tolist()
        missing = self.whole[:, at.MISSING_LEFT].tolist()
        return [mixed_tree(column, left, missing, self.cut, self.sets, self._along)]

    def _stopping(self, v: int) -> tuple[float, float]:
        """Return the weights of stopping at a node and of going on."""
        z, gap = float(self.sums[v, at.BETA] + self.sums[v, at.BETA + 1]), float(self.sums[v, at.GAP])
        if self.kind == at.NUMBERS:
            if gap == 0.0:  # AdaHedge with an infinite rate: follow the leader
                return (0.5, 0.5) if z == 0.0 else (1.0, 0.0) if z > 0.0 else (0.0, 1.0)
            z = z / gap * math.log(2.0)
        e = math.exp(-abs(z))
        return (1.0 / (1.0 + e), e / (1.0 + e)) if z >= 0.0 else (e / (1.0 + e), 1.0 / (1.0 + e))

    def gains(self, columns: int) -> NDArray[np.float64]:
        """Return the gain of the cuts on each column (columns,)."""
        inside = np.flatnonzero(self.whole[: self.count, at.COLUMN] >= 0)
        left = self.whole[inside, at.LEFT]
        gain = number_gains if self.kind == at.NUMBERS else label_gains
        found = gain(self.n[left], self.n[left + 1]) if self.kind != at.RESIDUALS else np.zeros(len(inside))
        return by_column(self.whole[inside, at.COLUMN], found, columns)

    def add_label(self, store: RowStore, kinds: NDArray[np.int8], row: int) -> float:
        """Count a stored row whose label is new in the nodes of its path; return 0: its round is not played."""
        label = int(self.numbers[at.KNOWN])
        self.numbers[at.KNOWN] = label + 1
        for name in ("n", "c", "split", "start"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros((len(old), 1), old.dtype)], axis=1))
        self.low = np.concatenate([self.low, np.full((len(self.low), 1), math.inf)], axis=1)
        self.high = np.concatenate([self.high, np.full((len(self.high), 1), -math.inf)], axis=1)
        self._follow(store)
        room = len(store.y)
        _loops.tree.count_new(astuple(self.nodes), self._growth(), store.x[row % room], kinds, room, row, label)
        return 0.0

    def settle(self) -> Settled:
        """Return the best pruning's bound in parts, and the checks of the state."""
        return Settled(*self._settled()[0])

    def pruning(self) -> Node:
        """Return the best pruning."""
        stops = self._settled()[1]

        def node(v: int, above: NDArray[np.float64] | None) -> Node:
            forecast, total = self._forecast(v, above), self.c[v].sum()
            counts = tuple(self.c[v].tolist()) if self.kind != at.NUMBERS else (int(total),)
            shown = tuple(forecast.tolist())
            if self.whole[v, at.COLUMN] < 0 or stops[v]:
                return Node(-1, math.nan, (), False, counts, shown)
            column, left = int(self.whole[v, at.COLUMN]), int(self.whole[v, at.LEFT])
            codes = codes_of(self.sets[v])
            cut = math.nan if codes else float(self.cut[v])
            goes = bool(self.whole[v, at.MISSING_LEFT])
            return Node(column, cut, codes, goes, counts, shown, node(left, forecast), node(left + 1, forecast))

        return node(0, None)

    def _forecast(self, v: int, above: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the forecast of a node, given its parent's; for residuals the correction of the logit."""
        n, near = self.n[v], at.CONCENTRATION
        if self.kind == at.RESIDUALS:
            found = n[:1]
        elif self.kind == at.NUMBERS:
            first = (n[0] + self.rule.middle) / (n[1] + 1.0)
            found = np.array([first if above is None else (n[0] + near * above[0]) / (n[1] + near)])
        elif above is None:
            found = (n + 0.5) / (n.sum() + 0.5 * len(n))
        else:
            found = (n + near * above) / (n.sum() + near)
        return np.asarray(found, dtype=np.float64)

    def _settled(self) -> tuple[tuple[Any, ...], NDArray[np.bool_]]:
        bounds, mixed = np.zeros((2, self.count))
        stops, found = np.zeros(self.count, dtype=np.bool_), np.zeros(9)
        _loops.tree.settle(astuple(self.nodes), self.kind, bounds, mixed, stops, found)
        bound, loss, constants, regret, price, leaves, drift, sound, width = found.tolist()
        return (bound, loss, constants, regret, price, int(leaves), drift, sound == 1.0, width), stops

    def _growth(self) -> Any:
        return self._chain, self._codes, self._editions, self._offsets, self.edges, self.edge_counts

    def _renew_edges(self, store: RowStore, kinds: NDArray[np.int8], t: int) -> None:
        """Find the edges of all columns of numbers from the stored rows before row t."""
        oldest = max(store.begin, t + 1 - store.window)
        rows = max(min(SAMPLE, SAMPLED // max(store.width, 1)), at.EDGES)
        slots = np.arange(oldest, t, max(1, (t - oldest) // rows)) % len(store.y)
        bins = Edges(self.edges, self.edge_counts)
        for j in np.flatnonzero(kinds == 0).tolist():
            bins.find(j, store.x[slots, j])
        self.numbers[at.EDITION] += 1
        self.numbers[at.NEXT_EDGES] = t + max(1, min(t, store.window // 2))

    def _make_room(self, nodes: int) -> None:
        """Grow the arrays to `nodes` nodes."""
        for name in at.Nodes._fields[1:]:
            old = getattr(self, name)
            if len(old) == 0:
                continue
            new = np.zeros((nodes, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)

    def _follow(self, store: RowStore) -> None:
        """Lay out the arrays with an entry per row as the store lays out its rows."""
        room, width = len(store.y), store.width
        if room == self._room and width == len(self._codes):
            return
        chain, offsets = np.full(room, -1, dtype=np.int64), np.zeros(room if self.based else 0)
        rows = np.arange(store.first, store.count)  # entries of rows not played yet are overwritten when they are
        if self._room:
            chain[rows % room] = self._chain[rows % self._room]
            if self.based:
                offsets[rows % room] = self._offsets[rows % self._room]
        self._store, self._room, self._chain, self._offsets = store, room, chain, offsets
        self._find_residuals(store)
        self._codes, self._editions = np.zeros((width, room), dtype=np.uint8), np.full(room, -1, dtype=np.int64)
        more = width - len(self.edges)
        if more > 0:
            self.edges = np.concatenate([self.edges, np.full((more, at.ROOM), math.inf)])
            self.edge_counts = np.concatenate([self.edge_counts, np.zeros(more, dtype=np.int64)])

    def _find_residuals(self, store: RowStore) -> None:
        """Compute outcome - base of all stored rows, for corrections of numbers."""
        slots = np.arange(store.first, store.count) % max(self._room, 1)
        self._residuals = np.zeros(self._room if self.based and self.kind == at.NUMBERS else 0)
        if len(self._residuals):
            self._residuals[slots] = store.y[slots] - self._offsets[slots]

    def _of_rows(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return the entries of the stored rows, oldest first; none if rows are not saved."""
        store = self._store
        if store is None or not keeps_rows() or not len(values):
            return values[:0]
        return values[np.arange(store.first, store.count) % self._room]

    def state(self) -> State:
        rows = {"chain": self._of_rows(self._chain), "offsets": self._of_rows(self._offsets)}
        state: State = {
            field.name: rows[field.name] if field.name in rows else field.saved(self) for field in self.fields
        }
        if not keeps_rows():
            state["whole"][:, at.HEAD] = -1
        return state

    def after_restoring(self, found: State) -> None:
        numbers, whole, count = self.numbers, self.whole, self.count
        left, column, parent = (whole[:, k] for k in (at.LEFT, at.COLUMN, at.PARENT))
        inside = np.flatnonzero(column >= 0)
        children = np.concatenate([left[inside], left[inside] + 1])
        sound = 1 <= count <= MOST_NODES and bool((column >= -1).all() and (column < len(self.edges)).all())
        # Every node but the root is the child of exactly one earlier node, and one level deeper.
        sound = sound and len(children) == count - 1 == len(np.unique(children))
        sound = sound and bool((left[inside] > inside).all() and (children < count).all() and whole[0, at.DEPTH] == 0)
        sound = sound and bool((parent[children] == np.concatenate([inside, inside])).all())
        sound = sound and bool((whole[children, at.DEPTH] == whole[parent[children], at.DEPTH] + 1).all())
        sound = sound and bool((whole[:, at.DEPTH] <= at.DEEPEST).all() and (whole[:, at.HEAD] >= -1).all())
        sound = sound and bool((whole[:, [at.ROWS, at.CHECK, at.MISSING_LEFT]] >= 0).all() and (self.c >= 0).all())
        sound = sound and (self.kind == at.LABELS or numbers[at.KNOWN] == 2)
        require(sound, "nodes of a tree must form one tree", numbers[: at.COUNT + 1])
        used = np.arange(at.ROOM) < self.edge_counts[:, None]
        rising = np.isfinite(self.edges) == used
        rising[:, 1:] &= (self.edges[:, 1:] > self.edges[:, :-1]) | ~used[:, 1:]
        require(bool(rising.all()), "edges of a tree must be ascending", self.edge_counts)
        self._chain, self._offsets = found["chain"], found["offsets"]
        self.numbers[at.EDITION] = max(int(numbers[at.EDITION]), 0)

    def check_labels(self, labels: int) -> None:
        """Raise `ModelFileError` unless the restored tree knows this number of labels."""
        require(int(self.numbers[at.KNOWN]) == labels, f"a tree must know {labels} labels", self.numbers[at.KNOWN])

    def attach(self, store: RowStore) -> None:
        """Check a restored tree against the restored store, and link it to its rows; without rows it has no chains."""
        rows, width = np.arange(store.first, store.count), store.width
        require(len(self.edges) <= width, "a tree must not have more columns than the store", len(self.edges))
        chain, offsets = self._chain, self._offsets
        if not len(rows):
            self.whole[:, at.HEAD] = -1
            chain, offsets = chain[:0], offsets[:0]
        lengths = len(chain) == len(rows) and len(offsets) == (len(rows) if self.based else 0)
        sound = lengths and bool((chain < rows).all() and (chain >= -1).all())
        require(
            sound and bool((self.whole[:, at.HEAD] < store.count).all()), "chains must lead to older rows", len(chain)
        )
        self._room = 0
        self._follow(store)
        self._chain[rows % max(self._room, 1)] = chain
        if self.based:
            self._offsets[rows % max(self._room, 1)] = offsets
            self._find_residuals(store)
