"""A decision tree that grows with the stream: the exact mixture over all its prunings.

Algorithm
    Columns are numbers or categories, with missing values, and are only compared: no scaling, no one-hot features.
    The root forecasts (n_c + 1/2)/(n + 1) for each label c, a node below it (n_c + 2 r_c)/(n + 2) with r the forecast
    of its parent. On the path of x the forecasts are mixed from the leaf up: q = s p + (1-s) q of the child, with
    s = 1/(1 + e^-beta), the weight of stopping at the node. P(+1) is q at the root; predict +1 if it is 1/2 or more.
    Then beta += ln p(y) - ln q_child(y) on the path: Bayes' rule over all prunings. Each node counts y.
    A leaf is examined whenever its rows have grown by 30 %. Its possible cuts lie between the bins of a column (at most
    126 quantiles of the last rows, renewed when the rows double; categories ordered by their share of a label) with at
    least 8 rows and possibly the missing values on either side. The cut that gains most nats on the last rows of the
    leaf, at most 20,000, is made if it gains `threshold`. Children start with the counts of their rows. A category that
    was absent at the cut goes right. Multiclass: a probability for each label, the same rule.
Promise
    trees/theorems/tree_pruning.py: the log loss is at most that of the best pruning of the tree as it grew, plus ln 2
    for each of its nodes that was split: constants + regret of the nodes + price.
Cost
    O(depth) per row and O(columns) to sort it into bins, growing included: about 3 microseconds for 20 columns. At most
    256 columns and 16,384 nodes; the last `rows` rows are stored, 64 MB at most.
Reference
    [willems1995] for the mixture.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from novikoff.core.decision_tree import DrawnTree, Node
from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument
from novikoff.core.types import State, Theorem
from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree, named
from novikoff.trees.learner import BinaryTableLearner
from novikoff.trees.store import MOST_ROWS
from novikoff.trees.theorems.tree_pruning import TreeFacts, tree_pruning

THRESHOLD = 10.0
"""Least gain of a cut in nats, unless one is given."""


class Tree(BinaryTableLearner):
    """Binary classifier: the mixture over all prunings of a tree that grows with the stream.

    Args:
        threshold: Least gain of a cut, in nats.
        rows: Number of last rows from which it grows, at most 131,072.

    Guarantee:
        Log loss at most that of the best pruning of the tree as it grew plus ln 2 per node of it that was split
        (`tree_pruning`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([float(t % 7)], 1 if t % 7 > 3 else -1) for t in range(200)]
        >>> nk.play(nk.Tree(), rows).mistakes
        18
    """

    promises: ClassVar[tuple[Theorem, ...]] = (tree_pruning,)
    fields = (Argument("threshold", float), *BinaryTableLearner.fields)
    part: GrowingTree

    def __init__(self, threshold: float = THRESHOLD, rows: int = MOST_ROWS) -> None:
        super().__init__(rows)
        self.threshold = checked_threshold(threshold)
        self.part = GrowingTree(at.LABELS, 2, self.threshold)

    def pruning(self) -> Node:
        """Return the best pruning: its cuts, and the counts and forecasts of its nodes."""
        return named(self.part.pruning(), self.columns, self.feature_names)

    def drawn_tree(self) -> DrawnTree:
        return DrawnTree("best pruning of the tree", "the rows since it exists", self.pruning())

    def facts(self) -> TreeFacts:
        counts, facts = self.part.c[0].tolist(), tree_facts(self.part, True)
        return TreeFacts(self.rounds, 2, counts, 0, 0.0, **facts, entropy=self.entropy)

    def after_restoring(self, found: State) -> None:
        self.part.check_labels(2)
        super().after_restoring(found)


def checked_threshold(threshold: float) -> float:
    """Return the threshold of cuts; raise `InputError` if it is invalid."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0.0 < threshold < math.inf:
        raise InputError(f"a threshold must be a positive number: got {shown(threshold)}.")
    return float(threshold)


def tree_facts(tree: GrowingTree, closed: bool) -> dict[str, Any]:
    """Return the facts that follow from the arrays of a tree; `closed` if all labels were known in advance."""
    settled, error = tree.settle(), 0.0
    if closed:
        counts, sums = tree.c[0].astype(np.float64), tree.sums[0]
        loss = float(sums[at.BEFORE] + sums[at.BEFORE + 1] + (sums[at.AFTER] + sums[at.AFTER + 1]))
        k, n = len(counts), float(counts.sum())
        form = math.lgamma(0.5 * k + n) - math.lgamma(0.5 * k)
        form -= math.fsum(math.lgamma(0.5 + count) - math.lgamma(0.5) for count in counts.tolist())
        rounding = 1e-15 * math.lgamma(0.5 * k + n + 1.0)  # the values of lgamma nearly cancel
        error = max(0.0, abs(loss - form) - 4.0 * rounding) / (1.0 + abs(loss))
    return {
        "bound": settled.bound,
        "mixed": settled.mixed,
        "constants": settled.constants,
        "regret": settled.regret,
        "price": settled.price,
        "leaves": settled.leaves,
        "nodes": tree.count,
        "drift": settled.drift,
        "sound": settled.sound,
        "closed": closed,
        "root_error": error,
        "width": settled.width,
    }
