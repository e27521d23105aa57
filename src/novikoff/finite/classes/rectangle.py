"""Axis-aligned boxes on the grid {0, 1, ..., m-1}^dim.

Hypotheses
    h(x) = +1 if a_i <= x_i <= b_i on every axis i, else -1, for 0 <= a_i <= b_i < m; and one empty box, "always -1":
    (m(m+1)/2)^dim + 1 in all. Number 0 is the empty box. On each axis the intervals are ordered from short to long, and
    from left to right if equally long, so the tightest box consistent with a stream has the lowest number of all.
Cost
    O(survivors) per round. `RectangleHalving(m, dim)` makes the same predictions without storing the boxes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, brief
from novikoff.core.sizes import integer, length
from novikoff.core.types import Domain, Example, State
from novikoff.finite.classes.survivors import Survivors

LARGEST_GRID = 2**53
"""Largest number of values per axis; integers up to here are exact as floats too, so no two x are confused."""

LARGEST_DIM = 64
"""Largest number of axes of a class; its size can still be printed."""


def check_grid(m: object, dim: object) -> tuple[int, int]:
    """Return both as integers, or raise InputError."""
    must = "a grid must have a whole number of values per axis, from 1 to 2^53"
    values = integer(m, "m", must, 1, LARGEST_GRID)
    return values, integer(dim, "dim", "a grid must have a whole number of axes, at least 1", 1)


def how_many_boxes(m: int, dim: int) -> int:
    """Return the number of boxes of the grid, including the empty one."""
    return int((m * (m + 1) // 2) ** dim + 1)


def describe_box(low: Sequence[Any] | None, high: Sequence[Any] | None) -> str:
    """Return a box as text; None is the empty box."""
    if low is None or high is None:
        return "always -1"
    sides = enumerate(zip(low, high, strict=True))
    return " and ".join(f"{brief(a)} <= x[{i}] <= {brief(b)}" for i, (a, b) in sides)


class Rectangles:
    """All boxes on the grid {0 .. m-1}^dim, and the empty one.

    Args:
        m: Values per axis.
        dim: Number of axes.

    Example:
        >>> import novikoff as nk
        >>> len(nk.classes.rectangles(3, 2))
        37
    """

    labels: int | None = None

    def __init__(self, m: int, dim: int) -> None:
        self.m, self.dim = check_grid(m, dim)
        if self.dim > LARGEST_DIM:
            raise InputError(
                f"a class of rectangles must have at most {LARGEST_DIM} axes: got dim = {brief(self.dim)}. "
                "Use TightestBox(dim, m), which takes any number of axes."
            )
        self.name = f"rectangles:m={m},dim={dim}"
        self.domain = Domain("point", self.dim)
        self._intervals = self.m * (self.m + 1) // 2
        self._starts: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """Exact number of hypotheses; len() stops at 2^63 - 1."""
        return how_many_boxes(self.m, self.dim)

    def __len__(self) -> int:
        return length(self.size)

    def space(self, prior: object = None) -> Survivors:
        return Survivors(self, prior, "Use RectangleHalving(m, dim), which counts votes without enumeration.")

    def encode(self, x: Example) -> NDArray[np.int64]:
        return encode.point(x, self.dim, 0, self.m - 1)

    def labels_of(self, x: NDArray[np.int64], members: NDArray[np.int64] | None) -> NDArray[np.int8]:
        if members is None:
            inside = np.ones(1, dtype=bool)
            for value in x.tolist():
                inside = np.logical_and.outer(inside, self._intervals_around(value)).reshape(-1)
        else:
            inside = members > 0
            boxes = members - 1
            for value in reversed(x.tolist()):
                boxes, interval = np.divmod(boxes, self._intervals)
                inside &= self._hold(interval, value)
        labels = np.zeros(self.size if members is None else len(members), dtype=np.int8)
        labels[len(labels) - len(inside) :] = inside
        labels *= 2
        labels -= 1
        return labels

    def _intervals_around(self, value: int) -> NDArray[np.bool_]:
        """Return, for every interval of one axis in order, whether it contains `value`."""
        table = np.zeros(self._intervals, dtype=bool)
        for longer in range(self.m):  # the intervals a .. a+longer
            start = self._first(longer)
            table[start + max(0, value - longer) : start + min(value, self.m - 1 - longer) + 1] = True
        return table

    def _hold(self, intervals: NDArray[np.int64], value: int) -> NDArray[np.bool_]:
        """Return which of these intervals of one axis contain `value`: by table if they are many, else decoded."""
        if len(intervals) >= self._intervals:
            return self._intervals_around(value)[intervals]
        if self._starts is None:
            self._starts = np.array([self._first(longer) for longer in range(self.m)], dtype=np.int64)
        longer = np.searchsorted(self._starts, intervals, side="right") - 1
        low = intervals - self._starts[longer]
        return (low <= value) & (value <= low + longer)

    def _first(self, longer: int) -> int:
        """Return the number of the interval 0 .. longer, the first of its length."""
        return longer * self.m - longer * (longer - 1) // 2

    def describe(self, index: int) -> str:
        if index == 0:
            return describe_box(None, None)
        box, low, high = index - 1, [], []
        for _ in range(self.dim):
            box, interval = divmod(box, self._intervals)
            longer = bisect_right(range(self.m), interval, key=self._first) - 1
            low.append(interval - self._first(longer))
            high.append(low[-1] + longer)
        return describe_box(low[::-1], high[::-1])

    def state(self) -> State:
        return {"class": "rectangles", "m": self.m, "dim": self.dim}
