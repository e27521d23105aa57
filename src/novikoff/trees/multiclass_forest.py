"""Multiclass random forest that follows the stream: regrown trees, each the exact mixture over its prunings.

Algorithm
    As trees/forest.py, with a probability for each label; 20 trees and max(3, sqrt d) random columns per node. P is the
    normalised geometric mean of the trees' forecasts. Predict the label with the largest probability, the smallest on
    ties. If labels are not announced, a probability of 1/t^2 is reserved in round t for a new one. At most 1,024
    labels.
Promise
    trees/theorems/forest_mean.py: the log loss is the mean loss of the trees less their disagreement, plus the cost of
    new labels.
Cost
    That of trees/forest.py, and O(labels) for each node of a path.
Reference
    [breiman2001] for forests, [willems1995] for the mixture.
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.core.decision_tree import DrawnTree
from novikoff.core.state import Argument
from novikoff.core.types import Theorem
from novikoff.trees.forest import ForestPart, checked_seed, checked_trees, drawn_forest, forest_facts
from novikoff.trees.learner import MulticlassTableLearner
from novikoff.trees.store import MOST_ROWS
from novikoff.trees.theorems.forest_mean import ForestFacts, forest_mean

TREES = 20
"""Number of trees unless one is given."""


class MulticlassForest(MulticlassTableLearner):
    """Random forest for many labels whose trees are regrown as the stream goes on.

    Args:
        trees: Number of trees.
        seed: Seed of bags and columns.
        rows: Number of last rows from which trees grow, at most 131,072.
        labels: Number of labels, at most 1,024; None if new labels may appear.

    Guarantee:
        Log loss at most the mean over the trees of the bounds of their best prunings, in each epoch, plus the cost of
        new labels (`forest_mean`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([float(t % 6)], t % 6 // 2) for t in range(200)]
        >>> nk.play(nk.MulticlassForest(labels=3), rows).mistakes
        11
    """

    seed: int
    promises: ClassVar[tuple[Theorem, ...]] = (forest_mean,)
    fields = (Argument("trees", int), Argument("seed", int), *MulticlassTableLearner.fields)
    part: ForestPart

    def __init__(
        self, trees: int = TREES, seed: int = 0, rows: int = MOST_ROWS, labels: int | None = None
    ) -> None:  # fmt: skip
        super().__init__(rows, labels)
        self.trees, self.seed = checked_trees(trees), checked_seed(seed)
        self.part = ForestPart(labels or 0, self.trees, self.seed, "root")

    def drawn_tree(self) -> DrawnTree:
        return drawn_forest(self.part.engine.pruning(), self.trees, self.columns, self.feature_names)

    def facts(self) -> ForestFacts:
        return forest_facts(self.part, self.rounds, self.labels, float(self.novelty), self.entropy)
