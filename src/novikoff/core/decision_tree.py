"""A decision tree as data, for reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a decision tree.

    Attributes:
        column: Column of the cut; -1 for a leaf.
        cut: Largest number that goes left, infinite if all do; NaN for categories and leaves.
        categories: Categories that go left, by number.
        missing_left: Whether missing values go left.
        counts: Rounds with each label that have reached the node since its birth; for numbers, all rounds.
        forecast: Current forecast of the node itself: a probability per label, or a number.
        left: Left child; None for a leaf.
        right: Right child; None for a leaf.
        name: Name of the column; "" if it is not known, or for a leaf.
        values: Categories that go left, by name.
    """

    column: int
    cut: float
    categories: tuple[int, ...]
    missing_left: bool
    counts: tuple[int, ...]
    forecast: tuple[float, ...]
    left: Node | None = None
    right: Node | None = None
    name: str = ""
    values: tuple[str, ...] = ()

    @property
    def leaves(self) -> int:
        """Number of leaves from this node down."""
        return 1 if self.left is None or self.right is None else self.left.leaves + self.right.leaves


class DrawnTree(NamedTuple):
    """A tree that reports draw.

    Attributes:
        title: What it is: "best pruning of the tree".
        counted: What its nodes count: "the rows since it exists".
        root: The tree.
    """

    title: str
    counted: str
    root: Node
