"""Bound curve: the tightest bound up to certain rounds of a game, to draw next to the mistakes.

The certificates are evaluated at rounds 16, 23, 32, 45, ..., each about sqrt(2) times the one before, with the
comparators fitted so far; this does not affect the search for better ones. Each point is a guarantee for the rounds up
to it, and the last point is the guarantee of the whole game.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from novikoff.core.observer import Observer
from novikoff.game.ledger import Ledger
from novikoff.reports import summary

FIRST = 16
"""First round at which the bounds are evaluated."""
GROWTH, FINE = math.sqrt(2.0), 1.08
"""Ratio of successive rounds, and for the theorems of CHEAP."""
CHEAP = frozenset({"mixture_regret", "switching_regret", "tree_gaps", "tree_pruning", "forest_gaps", "forest_mean"})
"""Theorems on the log loss that need only sums that are kept anyway. Others fit comparators, which costs more than the
rows since the last evaluation: their bounds are evaluated at the end."""


class Bounds(Observer):
    """Observer that stores the bounds of a game in its ledger."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._cheap = False
        self._promised = True  # False once no theorem bounds the loss: the game is then not interrupted again

    def due(self, ledger: Ledger, rounds: int) -> int:
        if not self._promised:
            return rounds
        if self._next is None:
            self._next = mark(ledger.rounds)
        return min(self._next - ledger.rounds, rounds)

    def look(self, ledger: Ledger) -> None:
        certificates = ledger.certify()
        self._promised = any(bounds(ledger, one.quantity) for one in certificates if one.side == "upper")
        self._cheap = ledger.course is not None and any(one.theorem in CHEAP for one in certificates)
        self._promised |= self._cheap
        best = summary.bounding(ledger, certificates)
        if best is not None:
            ledger.bounds.append((ledger.rounds, float(summary.allowed(ledger, best) or 0.0)))
        on_log_loss = None if best is not None else summary.bounding_log_loss(certificates)
        if on_log_loss is not None and ledger.course is not None:
            ledger.course.log_bounds.append((ledger.rounds, float(on_log_loss.bound or 0.0)))
        self._next = mark(ledger.rounds, FINE if self._cheap else GROWTH)


def proved(bounds: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the corners of the staircase that is proved for every round, from bounds up to certain rounds.

    Losses are not negative, so the loss up to a round is at most the loss up to a later one. A bound thus holds for all
    rounds up to its own: the minimum of all later bounds is a staircase, not a line between two of them.
    """
    corners: list[tuple[int, float]] = []
    before = 0
    for k, (rounds, _) in enumerate(bounds):
        least = min(bound for _, bound in bounds[k:])
        corners += [(before, least), (rounds, least)]
        before = rounds
    return corners


def at(grid: Sequence[float], corners: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the staircase at the rounds of a grid, and on both sides of each corner in between."""
    ends = [rounds for rounds, _ in corners[1::2]]
    values = [bound for _, bound in corners[1::2]]
    at = [(t, values[bisect_left(ends, t)]) for t in grid]
    return sorted([*at, *((t, bound) for t, bound in corners if grid[0] <= t <= grid[-1])], key=lambda one: one[0])


def mark(rounds: int, growth: float = GROWTH) -> int:
    """Return the next round after `rounds` at which the bounds are evaluated."""
    place = FIRST
    while place <= rounds:
        place = math.ceil(place * growth)
    return place


def bounds(ledger: Ledger, quantity: str) -> bool:
    """Return whether a quantity bounds what the ledger counts, or its loss relative to a comparator."""
    if ledger.counts:
        return quantity in ("mistakes", "expected mistakes")
    return quantity == f"{ledger.player.loss} loss" or quantity.startswith("regret against")
