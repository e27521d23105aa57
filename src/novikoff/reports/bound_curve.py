"""Bound curve: the tightest bound up to certain rounds of a game, to draw next to the mistakes.

The certificates are evaluated at rounds 16, 23, 32, 45, ..., each about sqrt(2) times the one before, with the
comparators fitted so far; this does not affect the search for better ones. Each point is a guarantee for the rounds up
to it, and the last point is the guarantee of the whole game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from novikoff.core.observer import Observer
from novikoff.game.ledger import Ledger
from novikoff.reports import summary

FIRST = 16
"""First round at which the bounds are evaluated."""
GROWTH = math.sqrt(2.0)
"""Ratio of successive rounds."""


class Bounds(Observer):
    """Observer that stores the bounds of a game in its ledger."""

    def __init__(self) -> None:
        self._next: int | None = None
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
        best = summary.bounding(ledger, certificates)
        if best is not None:
            ledger.bounds.append((ledger.rounds, float(summary.allowed(ledger, best) or 0.0)))
        self._next = mark(ledger.rounds)


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


def mark(rounds: int) -> int:
    """Return the next round after `rounds` at which the bounds are evaluated."""
    place = FIRST
    while place <= rounds:
        place = math.ceil(place * GROWTH)
    return place


def bounds(ledger: Ledger, quantity: str) -> bool:
    """Return whether a quantity bounds what the ledger counts, or its loss relative to a comparator."""
    if ledger.counts:
        return quantity in ("mistakes", "expected mistakes")
    return quantity == f"{ledger.player.loss} loss" or quantity.startswith("regret against")
