"""Thresholds on the grid 0, 1, ..., n (x = i stands for i/n).

Hypotheses
    h_k(i) = +1 if i >= k, else -1, for k = 0, 1, ..., n+1 (k = n+1 is "always -1"): n + 2 in all.
Cost
    O(survivors) per round. `ThresholdHalving(n)` makes the same predictions in O(1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import brief
from novikoff.core.sizes import integer, length
from novikoff.core.types import Domain, Example, State
from novikoff.finite.classes.survivors import Survivors


def check_grid_end(n: object) -> int:
    """Return the n of the grid 0 .. n, or raise InputError."""
    return integer(n, "n", "thresholds need a grid 0 .. n with n an integer, at least 0", 0)


class Thresholds:
    """All n + 2 thresholds on the grid 0 .. n.

    Args:
        n: Last point of the grid.

    Example:
        >>> import novikoff as nk
        >>> len(nk.classes.thresholds(6))
        8
    """

    labels: int | None = None

    def __init__(self, n: int) -> None:
        self.n = check_grid_end(n)
        self.name = f"thresholds:n={brief(self.n)}"
        self.domain = Domain("index", self.n + 1)

    @property
    def size(self) -> int:
        """Exact number of hypotheses; len() stops at 2^63 - 1."""
        return self.n + 2

    def __len__(self) -> int:
        return length(self.size)

    def space(self, prior: object = None) -> Survivors:
        return Survivors(self, prior, "Use ThresholdHalving(n), which needs constant memory for any n.")

    def encode(self, x: Example) -> int:
        return encode.index(x, self.n + 1)

    def labels_of(self, x: int, members: NDArray[np.int64] | None) -> NDArray[np.int8]:
        thresholds = np.arange(self.size) if members is None else members
        return np.where(thresholds <= x, np.int8(1), np.int8(-1))

    def describe(self, index: int) -> str:
        return f"x >= {index}" if index <= self.n else "always -1"

    def state(self) -> State:
        return {"class": "thresholds", "n": self.n}
