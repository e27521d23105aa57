"""Random forest that follows the stream: regrown trees, each the exact mixture over its prunings.

Algorithm
    10 trees (trees/regrown.py). New trees begin to grow at round 16, then whenever the number of rounds has grown by
    half, from the stored rows. A row is in the bag of a tree with probability 0.7. A node is split at the best cut of
    max(3, d/3) random columns if it gains a nat. The rows out of the bag are then played through the tree in their
    order, which sets the prior of its prunings. The work is spread over rounds: the new trees take over at a round that
    is fixed when they begin to grow, and rows that arrive meanwhile are not used. From the takeover on, each tree
    forecasts and counts new rows. P(+1) follows from the mean of the trees' log-odds; predict +1 if it is 1/2 or more.
    Columns as in trees/tree.py. Multiclass: 20 trees, max(3, sqrt d) columns, the normalised geometric mean.
Promise
    trees/theorems/forest_mean.py: the log loss is the mean loss of the trees less their disagreement, which is known
    without the labels, so at most the mean of the bounds of their best prunings less that disagreement.
Cost
    O(depth) per row and tree, growing included: about 20 microseconds per row for 10 trees on 20 columns. At most 256
    columns; the last `rows` rows are stored, 64 MB at most.
Reference
    [breiman2001] for forests, [willems1995] for the mixture.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.decision_tree import DrawnTree, Node
from novikoff.core.errors import InputError, counted, shown
from novikoff.core.state import Argument, keeps_rows, require
from novikoff.core.types import State, Theorem
from novikoff.trees.columns import Columns
from novikoff.trees.growing import named
from novikoff.trees.learner import BinaryTableLearner
from novikoff.trees.paths import Steps
from novikoff.trees.regrown import PARTS, RegrownForest
from novikoff.trees.store import MOST_ROWS, RowStore
from novikoff.trees.theorems.forest_mean import ForestFacts, forest_mean

TREES = 10
"""Number of trees unless one is given."""
MOST_TREES = 1000
"""Largest number of trees."""


class ForestPart:
    """A regrown forest behind the interface `Forecaster` of learners on table columns.

    Args:
        labels: Number of labels known at first.
        trees: Number of trees.
        seed: Seed of bags and columns.
        tried: Columns tried at each node, as for `RegrownForest`.
    """

    def __init__(self, labels: int, trees: int, seed: int, tried: str = "third") -> None:
        self.known = labels
        self.engine = RegrownForest(max(labels, 1), trees, seed, tried=tried)

    @property
    def count(self) -> int:
        """Number of nodes of all trees."""
        return int(self.engine.forest.nodes.sum())

    def play(self, store: RowStore, kinds: NDArray[np.int8], first: int, stop: int) -> NDArray[np.float64]:
        """Return the probabilities (rows, labels) of stored rows before each is learned."""
        return np.exp(self.engine.play(store, stop - first, kinds))

    def look(self, x: NDArray[np.float64], kinds: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return the probabilities (rows, labels) of rows without learning."""
        return np.exp(self.engine.look(x))

    def steps(self, x: NDArray[np.float64], kinds: NDArray[np.int8]) -> list[Steps]:
        """Return the path of a row (columns,) through each tree."""
        return self.engine.steps(x)

    def mixed(self) -> list[Node]:
        """Return the trees, whose leaves have the forecast of the mixture."""
        return self.engine.mixed()

    def gains(self, columns: int) -> NDArray[np.float64]:
        """Return the mean over the trees of the gain of the cuts on each column (columns,)."""
        return self.engine.gains(columns)

    def add_label(self, store: RowStore, kinds: NDArray[np.int8], row: int) -> float:
        """Play a row whose label is new as if the label had been known; return the loss of the round."""
        if self.known:
            self.engine.add_label()
        self.known += 1
        return -float(self.engine.play(store, 1, kinds)[0, -1])

    def attach(self, store: RowStore) -> None:
        """Link the restored forest to the restored rows."""
        require(self.engine.rounds == store.count, "a forest must have seen all rows", self.engine.rounds)
        self.engine.resume(store)

    def state(self) -> State:
        state = self.engine.state()
        if not keeps_rows():  # trees in progress need the rows of their start
            state = {name: value for name, value in state.items() if not name.startswith("build_")} | {"began": -1}
        return {"known": self.known, "seen": state.pop("rounds"), **state}

    def load(self, state: State) -> None:
        known = state.get("known")
        require(type(known) is int and known >= 0, "labels of a forest must be a non-negative integer", known)
        self.known = int(known)  # type: ignore[arg-type] # checked
        require("seen" in state, "rows seen by a forest must be saved", sorted(state))
        self.engine.load({**state, "rounds": state["seen"]})
        require(self.engine.labels == max(self.known, 1), "a forest must have all its labels", self.engine.labels)


class Forest(BinaryTableLearner):
    """Random forest for two labels whose trees are regrown as the stream goes on.

    Args:
        trees: Number of trees.
        seed: Seed of bags and columns.
        rows: Number of last rows from which trees grow, at most 131,072.

    Guarantee:
        Log loss at most the mean over the trees of the bounds of their best prunings, in each epoch, less their
        disagreement, which is known without the labels (`forest_mean`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([float(t % 7)], 1 if t % 7 > 3 else -1) for t in range(200)]
        >>> nk.play(nk.Forest(), rows).mistakes
        7
    """

    seed: int
    promises: ClassVar[tuple[Theorem, ...]] = (forest_mean,)
    fields = (Argument("trees", int), Argument("seed", int), *BinaryTableLearner.fields)
    part: ForestPart

    def __init__(self, trees: int = TREES, seed: int = 0, rows: int = MOST_ROWS) -> None:
        super().__init__(rows)
        self.trees, self.seed = checked_trees(trees), checked_seed(seed)
        self.part = ForestPart(2, self.trees, self.seed)

    def drawn_tree(self) -> DrawnTree:
        return drawn_forest(self.part.engine.pruning(), self.trees, self.columns, self.feature_names)

    def facts(self) -> ForestFacts:
        return forest_facts(self.part, self.rounds, 2, 0.0, self.entropy)


def checked_trees(trees: int) -> int:
    """Return the number of trees; raise `InputError` if it is invalid."""
    if type(trees) is not int or not 1 <= trees <= MOST_TREES:
        raise InputError(f"trees must be an integer from 1 to {MOST_TREES:,}: got {shown(trees)}.")
    return trees


def checked_seed(seed: int) -> int:
    """Return the seed; raise `InputError` if it is invalid."""
    if type(seed) is not int or not 0 <= seed < 2**63:
        raise InputError(f"a seed must be an integer from 0 to 2^63 - 1: got {shown(seed)}.")
    return seed


def drawn_forest(first: Node, trees: int, columns: Columns, features: list[str] | None) -> DrawnTree:
    """Return the best pruning of the first tree, for reports."""
    title = f"first of {counted(trees, 'tree')}, its best pruning since it was regrown"
    return DrawnTree(title, "the rows since then", named(first, columns, features))


def forest_facts(part: ForestPart, rounds: int, labels: int, novelty: float, entropy: float) -> ForestFacts:
    """Return the facts of a forest for its theorem."""
    engine = part.engine
    parts: dict[str, Any] = dict(zip(PARTS, engine.parts.T, strict=True))
    played, mixture = parts["played"], parts["mixture"]
    bounds = np.maximum(parts["bound"], mixture) + np.maximum(0.0, played - mixture)
    off = float((parts["off"] / (1.0 + played)).max())
    apart = float(engine.disagreement[0] + engine.disagreement[1])
    return ForestFacts(
        rounds, labels, novelty, engine.epochs + 1, played.tolist(), bounds.tolist(),
        float(parts["constants"].mean()), float(parts["regret"].mean()), float(parts["price"].mean()), off, apart,
        entropy,
    )  # fmt: skip
