"""Halving for axis-aligned boxes on a grid of any size, by counting votes without listing the boxes.

Algorithm
    Grid {0 .. m-1}^dim, its boxes and the empty box (see finite/classes/rectangle.py). The learner stores the bounding
    box P of the positives, the negatives, and V, the number of surviving boxes, at first all of them.
    On x: votes = the number of boxes that contain P and x and avoid the negatives (box_count.py); V - votes vote -1.
    Predict +1 if 2 votes >= V: a tie predicts +1.
    On +1: V = votes, P grows to x.  On -1: V = V - votes, x joins the negatives.
    Every round, or (`conservative`) on mistakes only. If V = 0 the stream is not realizable: restart, and report it.
    Once there is a positive, irrelevant negatives are dropped: every box around P that contains such a point contains
    another negative.
Promise
    finite/theorems/halving_mistakes.py: at most floor(log2((m(m+1)/2)^dim + 1)) mistakes.
    finite/theorems/halving_restarts.py: when no box is perfect.
Cost
    dim 1, 2 or 3, for any m; integers, so exact. With k relevant negatives a round takes O(k) for dim 1 and 2, O(k^3)
    at worst for dim 3, and O(1) when x is in P; a positive outside P takes O(k^2) more. Memory O(k).
    On random streams k is small once there is a positive; until then every distinct negative is relevant.
Reference
    [littlestone1988]; [maass1994] for boxes on a grid.
"""

from __future__ import annotations

from bisect import insort
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import TooLargeError, brief
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.learner import Learner
from novikoff.core.state import (
    Argument,
    Count,
    First,
    Value,
    corners,
    read,
    require,
)
from novikoff.core.types import Domain, Example, Label, Outcome, State, Theorem, check_label
from novikoff.finite.box_count import DIMENSIONS, Point, around, count_boxes, relevant, with_point
from novikoff.finite.classes.rectangle import check_grid, describe_box, how_many_boxes
from novikoff.finite.proofs import HalvingProof
from novikoff.finite.theorems.halving_mistakes import halving_mistakes
from novikoff.finite.theorems.halving_restarts import halving_restarts


class RectangleHalving(Learner):
    """Majority vote of the boxes on a grid that are consistent with all labels so far.

    Args:
        m: Values per axis.
        dim: Number of axes: 1, 2 or 3.
        conservative: Whether to filter boxes on mistakes only.

    Guarantee:
        If some box fits every label, at most floor(log2((m(m+1)/2)^dim + 1)) mistakes (`halving_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.RectangleHalving(8, 2)
        >>> nk.play(learner, [((1, 1), 1), ((3, 2), 1), ((2, 2), 1), ((5, 5), -1)]).mistakes
        1
        >>> learner.survivor()
        '1 <= x[0] <= 3 and 1 <= x[1] <= 2'
    """

    domain: Domain
    size: int

    promises: ClassVar[tuple[Theorem, ...]] = (halving_mistakes, halving_restarts)
    fields = (
        Argument("m", int),
        Argument("dim", int),
        Argument("conservative", bool),
        Value("size", int, assigned=False),
        Count("rounds"),
        Count("restarts", most="rounds"),
        First("emptied_at", "restarts"),
        Value("low", assigned=False),
        Value("high", assigned=False),
        Value("negatives", at="_outside", assigned=False),
    )

    def __init__(self, m: int, dim: int, conservative: bool = False) -> None:
        self.m, self.dim = check_grid(m, dim)
        if self.dim > DIMENSIONS:
            raise TooLargeError(
                f"RectangleHalving needs at most {DIMENSIONS} dimensions: got dim = {brief(self.dim)}. "
                "Use TightestBox(dim, m) for more; it makes up to 1 + dim(m-1) mistakes."
            )
        self.conservative = bool(conservative)
        self.domain = Domain("point", self.dim)
        self.rounds = self.restarts = self.emptied_at = 0
        self._begin()

    def _begin(self) -> None:
        """Start with all boxes, at first and after a restart."""
        self.low: Point | None = None  # the bounding box of the positives
        self.high: Point | None = None
        self.negatives: list[Point] = []  # sorted
        self.size = how_many_boxes(self.m, self.dim)  # surviving boxes

    def votes(self, x: Example) -> int:
        """Return the number of surviving boxes, of `size`, that contain x."""
        return self._votes(self._point(x))

    def predict_one(self, x: Example) -> Label:
        return 1 if 2 * self.votes(x) >= self.size else -1

    def _point(self, x: Example) -> Point:
        return tuple(encode.point(x, self.dim, 0, self.m - 1).tolist())

    def _votes(self, x: Point) -> int:
        low, high = self._box_with(x)
        if low == self.low and high == self.high:
            return self.size
        return count_boxes(low, high, self.negatives, self.m)

    def _box_with(self, x: Point) -> tuple[Point, Point]:
        return (x, x) if self.low is None or self.high is None else around(self.low, self.high, x)

    def play_one(self, x: Example, y: Outcome) -> Label:
        """Predict, then learn, counting the votes once."""
        point = self._point(x)
        y = check_label(y, self.labels)
        votes = self._votes(point)
        prediction = 1 if 2 * votes >= self.size else -1
        self.rounds += 1
        if prediction != y or not self.conservative:
            self._keep(point, y, votes if y == 1 else self.size - votes)
        return prediction

    def _keep(self, x: Point, y: Label, agreeing: int) -> None:
        """Keep only the boxes that give x the label y, `agreeing` of them."""
        if agreeing == self.size:  # nothing to filter: for instance x is in P, or an irrelevant negative
            return
        if agreeing == 0:
            self.restarts += 1
            self.emptied_at = self.emptied_at or self.rounds
            self._begin()
            return
        self.size = agreeing
        if y == 1:
            self.low, self.high = self._box_with(x)
            self.negatives = relevant(self.low, self.high, self.negatives)
        elif self.low is None or self.high is None:
            insort(self.negatives, x)
        else:
            self.negatives = with_point(self.low, self.high, self.negatives, x)

    @property
    def rows_held(self) -> int:
        """Number of training rows in the hypothesis: the relevant negatives, and the box if it is one point."""
        return len(self.negatives) + (self.low is not None and self.low == self.high)

    def survivor(self) -> str:
        """Return the tightest surviving box as text."""
        return describe_box(self.low, self.high)

    def textbook(self) -> dict[str, object]:
        boxes = {"class": "rectangles", "m": self.m, "dim": self.dim}
        return {"rule": "halving", "conservative": self.conservative, "class": boxes}

    def proof(self) -> HalvingProof:
        return HalvingProof(self.facts())

    def facts(self) -> VersionSpaceFacts:
        whole = how_many_boxes(self.m, self.dim)
        return VersionSpaceFacts(whole, self.size, whole, self.size, 1, self.restarts, self.emptied_at, self.rounds)

    @property
    def _outside(self) -> NDArray[np.int64]:
        """The negatives, one per row."""
        return np.array(self.negatives, dtype=np.int64).reshape(-1, self.dim)

    def after_restoring(self, found: State) -> None:
        self.low, self.high = corners(found, self._point)
        must = "negatives of a learner must be points of the grid, in order"
        negatives = read(found["negatives"], lambda saved: [self._point(z) for z in saved], must)
        require(negatives == sorted(set(negatives)), must, found["negatives"])
        self.negatives = negatives
        self.size = self._count()
        sound = found["size"] == self.size > 0
        require(sound, f"size of a learner must be the {brief(self.size)} boxes left", found["size"])

    def _count(self) -> int:
        """Return the number of surviving boxes, counted from the stored points."""
        if self.low is not None and self.high is not None:
            return count_boxes(self.low, self.high, self.negatives, self.m)
        boxes = how_many_boxes(self.m, self.dim)
        for k, z in enumerate(self.negatives):
            boxes -= count_boxes(z, z, self.negatives[:k], self.m)  # boxes that z excludes and no earlier negative
        return boxes
