"""Multiclass decision tree that grows with the stream: the exact mixture over all its prunings.

Algorithm
    As trees/tree.py, with a probability for each label: the root forecasts (n_c + 1/2)/(n + k/2). Predict the label
    with the largest probability, the smallest on ties. If labels are not announced, a probability of 1/t^2 is reserved
    in round t for a new one; the first row of a label is counted by the nodes, but its round is not played by the
    mixture. At most 1,024 labels.
Promise
    trees/theorems/tree_pruning.py: the log loss is at most that of the best pruning of the tree as it grew, plus ln 2
    for each of its nodes that was split, plus the cost of new labels.
Cost
    That of trees/tree.py, and O(labels) for each node of a path.
Reference
    [willems1995] for the mixture.
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.core.decision_tree import DrawnTree, Node
from novikoff.core.state import Argument
from novikoff.core.types import State, Theorem
from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree, named
from novikoff.trees.learner import MulticlassTableLearner
from novikoff.trees.store import MOST_ROWS
from novikoff.trees.theorems.tree_pruning import TreeFacts, tree_pruning
from novikoff.trees.tree import THRESHOLD, checked_threshold, tree_facts


class MulticlassTree(MulticlassTableLearner):
    """Multiclass mixture over all prunings of a tree that grows with the stream.

    Args:
        threshold: Least gain of a cut, in nats.
        rows: Number of last rows from which it grows, at most 131,072.
        labels: Number of labels, at most 1,024; None if new labels may appear.

    Guarantee:
        Log loss at most that of the best pruning of the tree as it grew plus ln 2 per node of it that was split, plus
        the cost of new labels (`tree_pruning`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([float(t % 6)], t % 6 // 2) for t in range(200)]
        >>> nk.play(nk.MulticlassTree(labels=3), rows).mistakes
        27
    """

    promises: ClassVar[tuple[Theorem, ...]] = (tree_pruning,)
    fields = (Argument("threshold", float), *MulticlassTableLearner.fields)
    part: GrowingTree

    def __init__(self, threshold: float = THRESHOLD, rows: int = MOST_ROWS, labels: int | None = None) -> None:
        super().__init__(rows, labels)
        self.threshold = checked_threshold(threshold)
        self.part = GrowingTree(at.LABELS, labels or 0, self.threshold)

    def pruning(self) -> Node:
        """Return the best pruning: its cuts, and the counts and forecasts of its nodes."""
        return named(self.part.pruning(), self.columns, self.feature_names)

    def drawn_tree(self) -> DrawnTree:
        return DrawnTree("best pruning of the tree", "the rows since it exists", self.pruning())

    def facts(self) -> TreeFacts:
        counts, novelty = self.part.c[0].tolist(), float(self.novelty)
        facts = tree_facts(self.part, not self.grows)
        return TreeFacts(self.rounds, self.labels, counts, self.first_rounds, novelty, **facts, entropy=self.entropy)

    def after_restoring(self, found: State) -> None:
        self.part.check_labels(self.labels)
        super().after_restoring(found)
