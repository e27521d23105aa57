"""Finite classes of hypotheses, and those that are left."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

from novikoff_verify.exact import NotCoveredError, RefutedError, count, require

MOST = 2_000_000
"""Most hypotheses that are listed one by one."""
DIMENSIONS = 20
"""Largest dimension of rectangles."""


class Survivors:
    """The hypotheses of a class that agree with every label so far.

    Args:
        given: The class: thresholds (n), rectangles (m, dim) or table (matrix); thresholds are h_k(x) = +1 for x >= k.
        prior: Whole weight of each hypothesis; None for 1 each.
    """

    def __init__(self, given: dict[str, Any], prior: list[int] | None) -> None:
        self.given, self.name = given, given.get("class")
        self.prior = None if prior is None else [count(weight, "a weight") for weight in prior]
        self.left: range | list[Any]
        if self.name == "thresholds":
            self.left = range(count(given["n"], "n") + 2)
        elif self.name == "rectangles":
            m, dim = count(given["m"], "m", MOST), count(given["dim"], "dim")
            if dim > DIMENSIONS or (m * (m + 1) // 2) ** dim >= MOST:
                raise NotCoveredError("a class of more than two million rectangles")
            self.left = [None, *product([(a, b) for a in range(m) for b in range(a, m)], repeat=dim)]
        elif self.name == "table":
            self.left = list(range(len(given["matrix"])))
            self.points = len(given["matrix"][0])
            whole = all(type(label) is int for row in given["matrix"] for label in row)
            require(whole and all(len(row) == self.points for row in given["matrix"]), "a table must be of labels")
        else:
            raise NotCoveredError(f"the class {self.name}")
        self.all, self.restarts = self.left, 0
        if self.prior is not None:
            require(self.name == "table" and len(self.prior) == len(self.left), "a prior must have one weight each")

    def says(self, hypothesis: Any, x: list[int]) -> int:
        """Return the label that a hypothesis gives to x."""
        if self.name == "table":
            require(len(x) == 1 and 0 <= x[0] < self.points, "a point must be a column of the table")
            return int(self.given["matrix"][hypothesis][x[0]])
        if self.name == "thresholds":
            return 1 if x[0] >= hypothesis else -1
        inside = hypothesis is not None and all(a <= v <= b for (a, b), v in zip(hypothesis, x, strict=True))
        return 1 if inside else -1

    def votes(self, x: list[int]) -> dict[int, int]:
        """Return the weight of the hypotheses left that give each label."""
        if isinstance(self.left, range):
            require(len(x) == 1, "a point of a grid must be one number")
            below = min(max(x[0] + 1 - self.left.start, 0), self.count())
            return {1: below, -1: self.count() - below}
        found: Counter[int] = Counter()
        for one in self.left:
            found[self.says(one, x)] += self.prior_of(one)
        return dict(found)

    def keep(self, x: list[int], y: int, restart: bool = False) -> None:
        """Remove the hypotheses that do not give the label y to x; if none is left, restart with all, or refute."""
        if isinstance(self.left, range):
            require(len(x) == 1 and y in (-1, 1), "a point of a grid must be one number, its label -1 or +1")
            low, high = self.left.start, self.left.stop
            self.left = range(low, min(high, x[0] + 1)) if y == 1 else range(max(low, x[0] + 1), high)
        else:
            self.left = [one for one in self.left if self.says(one, x) == y]
        if self.count() <= 0 and restart:
            self.left, self.restarts = self.all, self.restarts + 1
        elif self.count() <= 0:
            raise RefutedError("no hypothesis agrees with every label")

    def count(self) -> int:
        """Return the number of hypotheses left."""
        left = self.left
        return left.stop - left.start if isinstance(left, range) else len(left)  # a length stops at 2^63

    def weight(self) -> int:
        """Return their prior weight."""
        return self.count() if self.prior is None else sum(map(self.prior_of, self.left))

    def prior_of(self, hypothesis: Any) -> int:
        """Return the prior weight of a hypothesis."""
        return 1 if self.prior is None else self.prior[hypothesis]

    def least(self) -> int:
        """Return the least prior weight of a hypothesis."""
        return 1 if self.prior is None else min(self.prior)
