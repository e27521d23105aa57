"""Bisection on the grid 0, 1, ..., n: the most mistakes that thresholds can cost.

Strategy
    h_k(i) = +1 if i >= k, else -1, for k = 0 .. n+1. The thresholds lo .. hi fit the labels so far, at first all.
    Show i = (lo + hi - 1) // 2 and label it with the opposite of the prediction: on +1, hi = i; on -1, lo = i + 1.
    When one threshold is left (lo = hi), go on showing the point next to it, with its label.
Forces
    adversaries/theorems/grid_bisection_forced.py: floor(log2(n+2)) mistakes on any deterministic learner. So
    ThresholdHalving(n), which makes no more, is optimal.
Witness
    k = hi.
Cost
    O(1) per round for any n; integers, so exact.
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from novikoff.adversaries.opposite import opposite
from novikoff.adversaries.theorems.grid_bisection_forced import GridBisectionFacts, grid_bisection_forced
from novikoff.core.types import Distribution, Domain, Example, Label, Theorem
from novikoff.finite.classes.threshold import check_grid_end


class GridBisection:
    """Adversary that halves the interval of possible thresholds on the grid 0 .. n while two of them are left.

    Args:
        n: Last point of the grid.

    Guarantee:
        At least min(T, floor(log2(n+2))) mistakes on any deterministic learner, although some threshold fits all labels
        (`grid_bisection_forced`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.ThresholdHalving(14), nk.adversaries.GridBisection(14), rounds=20).mistakes
        4
    """

    promises: ClassVar[tuple[Theorem, ...]] = (grid_bisection_forced,)

    def __init__(self, n: int) -> None:
        self.n = check_grid_end(n)
        bits = self.n.bit_length()
        self.name = f"grid-bisection:n={self.n}" if bits <= 64 else f"grid-bisection on a grid of {bits:,} bits"
        self.domain = Domain("index", self.n + 1)
        self.lo, self.hi = 0, self.n + 1
        self.forced = 0

    def ask(self, probe: Callable[[Example], Distribution]) -> int:
        return self._middle()

    def answer(self, prediction: Distribution) -> Label:
        i = self._middle()
        if self.lo == self.hi:
            return 1 if i >= self.hi else -1
        self.forced += 1
        label = opposite(prediction)
        if label == 1:
            self.hi = i
        else:
            self.lo = i + 1
        return label

    def _middle(self) -> int:
        # With one threshold k left this is k - 1, which is on the grid unless k = 0.
        return max(0, (self.lo + self.hi - 1) // 2)

    def witness(self) -> int:
        """Return a threshold k that fits every label."""
        return self.hi

    def facts(self) -> GridBisectionFacts:
        return GridBisectionFacts(self.n, self.lo, self.hi, self.forced)
