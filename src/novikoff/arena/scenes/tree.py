"""A decision tree that grows with the stream, as a partition of the plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from novikoff.arena.scenes.plane import Plane
from novikoff.arena.scenes.scene import Scene
from novikoff.core.certificate import Certificate
from novikoff.core.decision_tree import Node
from novikoff.core.learner import Learner
from novikoff.trees.tree import Tree

CORNER, STRIP = (0.1, -0.3), -0.6
"""Lower left end of the corner that the target labels +1, and right end of the strip."""


class TreeScene(Plane):
    """A tree cuts the plane into boxes as points come in; all its prunings vote, weighted by how well they forecast."""

    name, title, learner_name = "tree", "Tree", "tree"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"threshold": (1, 20, 2)}
    rivals: ClassVar[tuple[str, ...]] = ("me", "target", "data")

    def made(self) -> Learner:
        return Tree(threshold=float(self.chosen["threshold"]))

    def target(self, x: Any) -> int:
        """Return 1 in a corner and in a strip at the left, -1 elsewhere."""
        return 1 if (x[0] > CORNER[0] and x[1] > CORNER[1]) or x[0] < STRIP else -1

    def hidden(self) -> list[float]:
        """Return the corner, and where the strip ends."""
        return [*CORNER, STRIP]

    def fits(self, x: object, y: int) -> bool:
        return Scene.fits(self, x, y)

    def paid(self) -> float:
        return float(self.ledger.log_loss or 0.0)

    def allowed(self, certificates: Sequence[Certificate]) -> list[float]:
        return [float(one.bound) for one in certificates if one.bound is not None and one.quantity == "log loss"]

    def view(self) -> dict[str, Any]:
        leaves: list[dict[str, Any]] = []
        cuts = _boxes(self.learner.pruning(), [-1.0, 1.0, -1.0, 1.0], leaves, []) if self.ledger.rounds else []
        return {"leaves": leaves, "cuts": cuts}


def _boxes(node: Node, box: list[float], leaves: list[dict[str, Any]], cuts: list[list[float]]) -> list[list[float]]:
    """Add the leaves of a pruning as boxes [x0, x1, y0, y1] with counts, and return its cuts as segments."""
    if node.left is None or node.right is None:
        leaves.append({"box": box, "counts": list(node.counts), "p": round(node.forecast[1], 4)})
        return cuts
    low, high = 2 * node.column, 2 * node.column + 1
    cut = min(max(node.cut, box[low]), box[high])
    segment = [cut, box[2], cut, box[3]] if node.column == 0 else [box[0], cut, box[1], cut]
    cuts.append(segment)
    for child, end in ((node.left, high), (node.right, low)):
        part = list(box)
        part[end] = cut
        _boxes(child, part, leaves, cuts)
    return cuts
