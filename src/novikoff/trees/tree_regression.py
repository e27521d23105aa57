"""A regression tree that grows with the stream: at every node a choice between stopping there and going on.

Algorithm
    Columns as in trees/tree.py. The root predicts (sum of y + middle)/(n + 1), a node below it (sum + 2 r)/(n + 2) with
    r the prediction of its parent. On the path of x predictions are mixed from the leaf up: q = s p + (1-s) q of the
    child, where s is AdaHedge's weight of stopping, from the squared losses of p and of the child's q since the node
    was split. A leaf is examined and cut as in trees/tree.py; the gain is (n/2) ln(SSE/SSE after the cut).
Promise
    trees/theorems/tree_gaps.py: the squared loss is at most that of the best pruning of the tree as it grew, plus twice
    the measured mixability gaps of its nodes that were split. No range of y is needed.
Cost
    That of trees/tree.py.
Reference
    [derooij2014] for the choice at a node.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.decision_tree import DrawnTree, Node
from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument, Sum
from novikoff.core.types import StepResult, Theorem
from novikoff.numerics.sizes import LARGEST_SIZE
from novikoff.numerics.total import Total
from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree, named
from novikoff.trees.learner import NumberTableLearner
from novikoff.trees.store import MOST_ROWS
from novikoff.trees.theorems.tree_gaps import NumberTreeFacts, tree_gaps
from novikoff.trees.tree import THRESHOLD, checked_threshold


class TreeRegression(NumberTableLearner):
    """Regression tree that grows with the stream.

    Args:
        threshold: Least gain of a cut, in nats.
        rows: Number of last rows from which it grows, at most 131,072.
        middle: Prediction before the first outcome.

    Guarantee:
        Squared loss at most that of the best pruning of the tree as it grew plus twice the mixability gaps of its nodes
        that were split (`tree_gaps`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.TreeRegression()
        >>> ledger = nk.play(learner, [([float(t % 10)], 5.0 if t % 10 > 4 else 1.0) for t in range(200)])
        >>> print(round(learner.predict_one([9.0]), 2))
        4.96
    """

    promises: ClassVar[tuple[Theorem, ...]] = (tree_gaps,)
    fields = (
        Argument("threshold", float), Argument("middle", float), *NumberTableLearner.fields, Sum("squares"),
    )  # fmt: skip
    part: GrowingTree

    def __init__(self, threshold: float = THRESHOLD, rows: int = MOST_ROWS, middle: float = 0.0) -> None:
        super().__init__(rows)
        self.threshold, self.squares = checked_threshold(threshold), Total()
        if not abs(middle) <= LARGEST_SIZE:
            raise InputError(f"middle must be a number from -2^500 to 2^500: got {shown(middle)}.")
        self.middle = float(middle)
        self.part = GrowingTree(at.NUMBERS, 2, self.threshold, middle=self.middle)

    def _play(self, first: int, y: NDArray[Any]) -> StepResult:
        self.squares.add_all((y - self.middle) ** 2)
        return super()._play(first, y)

    def pruning(self) -> Node:
        """Return the best pruning: its cuts, and the counts and predictions of its nodes."""
        return named(self.part.pruning(), self.columns, self.feature_names)

    def drawn_tree(self) -> DrawnTree:
        return DrawnTree("best pruning of the tree", "the rows since it exists", self.pruning())

    def facts(self) -> NumberTreeFacts:
        settled = self.part.settle()
        whole = math.isfinite(settled.bound) and np.isfinite(self.part.sums[: self.part.count]).all()
        return NumberTreeFacts(
            self.rounds, settled.bound, settled.mixed, settled.regret, settled.price, settled.leaves, self.part.count,
            settled.drift, settled.sound and bool(whole), float(self.squares),
        )  # fmt: skip
