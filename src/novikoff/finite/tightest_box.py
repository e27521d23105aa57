"""Tightest box: predict +1 exactly inside the bounding box of the positives.

Algorithm
    No box at first.  Predict +1 if x is in the box, else -1.
    On +1 the box grows just enough to contain x. On -1 it stays; a -1 inside it is a contradiction, which is counted.
    If some box labels the stream perfectly, it contains the tightest box, so every mistake is on a positive.
    With `m` the coordinates are integers 0 .. m-1; without, any finite real numbers, compared exactly: integers and
    Fractions of any size, and floats.
Promise
    finite/theorems/tightest_box_mistakes.py: at most 1 + dim(m-1) mistakes on a grid; none over the reals.
Cost
    O(dim) time per round, 2 dim numbers of memory.
Reference
    [blumer1989].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Rational
from typing import ClassVar

import numpy as np

from novikoff.core import encode
from novikoff.core.errors import InputError, brief, shown
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Coded, Count, First, corners
from novikoff.core.types import Domain, Example, Label, Outcome, State, Theorem, check_label
from novikoff.finite.classes.rectangle import check_grid, describe_box
from novikoff.finite.proofs import BoxProof
from novikoff.finite.theorems.tightest_box_mistakes import TightestBoxFacts, tightest_box_mistakes

Number = int | float | Fraction


def _plain(value: Number) -> str | float:
    """Return a float unchanged, and an integer or Fraction as hexadecimal text: Python limits decimal digits."""
    if isinstance(value, float):
        return value
    return f"{value:x}" if isinstance(value, int) else f"{value.numerator:x}/{value.denominator:x}"


def _plain_corner(corner: tuple[Number, ...]) -> list[str | float]:
    return [_plain(value) for value in corner]


class TightestBox(Learner):
    """Box classifier that predicts +1 exactly inside the bounding box of the positives so far.

    Args:
        dim: Number of axes.
        m: Values per axis of the grid 0 .. m-1; None for real numbers.

    Guarantee:
        On a grid, if some box fits every label, at most 1 + dim(m-1) mistakes (`tightest_box_mistakes`); over the reals
        there is no bound.

    Example:
        >>> import novikoff as nk
        >>> learner = nk.TightestBox(2, m=8)
        >>> nk.play(learner, [((1, 1), 1), ((3, 2), 1), ((2, 2), 1), ((5, 5), -1)]).mistakes
        2
        >>> learner.survivor()
        '1 <= x[0] <= 3 and 1 <= x[1] <= 2'
    """

    domain: Domain

    promises: ClassVar[tuple[Theorem, ...]] = (tightest_box_mistakes,)
    fields = (
        Argument("dim", int),
        Argument("m", int | None),
        Count("rounds"),
        Count("contradictions", most="rounds"),
        First("contradicted_at", "contradictions"),
        Coded("low", _plain_corner, list, "a corner", optional=True, assigned=False),
        Coded("high", _plain_corner, list, "a corner", optional=True, assigned=False),
    )

    def __init__(self, dim: int, m: int | None = None) -> None:
        values, self.dim = check_grid(1 if m is None else m, dim)
        self.m = None if m is None else values
        self.domain = Domain("any" if m is None else "point", self.dim)
        self.low: tuple[Number, ...] | None = None
        self.high: tuple[Number, ...] | None = None
        self.rounds = self.contradictions = self.contradicted_at = 0

    @property
    def size(self) -> int:
        """Numbers stored."""
        return 0 if self.low is None else 2 * self.dim

    def predict_one(self, x: Example) -> Label:
        return self._predict(self._encode(x))

    def _predict(self, x: tuple[Number, ...]) -> Label:
        if self.low is None or self.high is None:
            return -1
        return 1 if all(a <= v <= b for a, v, b in zip(self.low, x, self.high, strict=True)) else -1

    def _encode(self, x: Example) -> tuple[Number, ...]:
        if self.m is not None:
            return tuple(encode.point(x, self.dim, 0, self.m - 1).tolist())
        values = x.tolist() if isinstance(x, np.ndarray) else x
        if not isinstance(values, Sequence):
            raise InputError(f"x must be a sequence of {brief(self.dim)} numbers: got {shown(x)}.")
        if len(values) != self.dim:
            raise InputError(f"x must have {brief(self.dim)} numbers: got {len(values)}.")
        return tuple(_number(value, i) for i, value in enumerate(values))

    def play_one(self, x: Example, y: Outcome) -> Label:
        point = self._encode(x)
        y = check_label(y, self.labels)
        prediction = self._predict(point)
        self.rounds += 1
        if prediction == y:
            return prediction
        if y == -1:
            self.contradictions += 1
            self.contradicted_at = self.contradicted_at or self.rounds
        elif self.low is None or self.high is None:
            self.low = self.high = point
        else:
            self.low = tuple(map(min, self.low, point))
            self.high = tuple(map(max, self.high, point))
        return prediction

    @property
    def rows_held(self) -> int:
        """Number of training rows in the hypothesis: one, as long as the box is one point."""
        return int(self.low is not None and self.low == self.high)

    def survivor(self) -> str:
        """Return the box as text."""
        return describe_box(self.low, self.high)

    def textbook(self) -> dict[str, object] | None:
        return None if self.m is None else {"rule": "tightest-box", "m": self.m, "dim": self.dim}

    def proof(self) -> BoxProof:
        return BoxProof(self.facts())

    def facts(self) -> TightestBoxFacts:
        sides = 0
        if self.m is not None and self.low is not None and self.high is not None:
            sides = sum(int(b) - int(a) for a, b in zip(self.low, self.high, strict=True))
        boxes = 0 if self.low is None else 1
        return TightestBoxFacts(self.m, self.dim, boxes, sides, self.contradictions, self.contradicted_at, self.rounds)

    def after_restoring(self, found: State) -> None:
        self.low, self.high = corners(found, lambda saved: self._encode([_from_plain(v) for v in saved]))


def _number(value: object, where: int) -> Number:
    """Return a finite real number as int, float or Fraction, which Python compares exactly with each other."""
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Rational):
        return Fraction(value)
    if not isinstance(value, (float, np.floating)):
        raise InputError(f"x must be integers, floats or Fractions: x[{where}] is {shown(value)}.")
    if not math.isfinite(value):
        raise InputError(f"x must be finite: x[{where}] is {value}. Clean or drop the row.")
    return float(value)


def _from_plain(value: str | float) -> Number:
    """Return the number that `_plain` wrote."""
    if not isinstance(value, str):
        return float(value)
    numbers = [int(part, 16) for part in value.split("/")]
    return numbers[0] if len(numbers) == 1 else Fraction(*numbers)
