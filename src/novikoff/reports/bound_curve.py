"""Bounds: what the tightest theorem allowed up to some rounds of a game, for a curve beside the mistakes.

At rounds 16, 23, 32, 45, ..., whenever they have grown by half a doubling, the certificates are evaluated as they
stand: comparators are asked what they know by then, and the search for others is not disturbed. So each point is a
promise about the rounds up to it, and the last is that of the whole game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from novikoff.core.observer import Observer
from novikoff.game.ledger import Ledger
from novikoff.reports import summary

FIRST = 16
GROWTH = math.sqrt(2.0)


class Bounds(Observer):
    """Watches a game, and writes the bounds in its ledger."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._promised = True

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
    """The corners of what is proved of every round, of bounds up to some rounds.

    Nothing that is paid is negative: what is paid up to a round is at most what is paid up to a later one. So a bound
    holds for all rounds up to its own, and the least of those to come is a step, not a line between two of them.
    """
    corners: list[tuple[int, float]] = []
    before = 0
    for k, (rounds, _) in enumerate(bounds):
        least = min(bound for _, bound in bounds[k:])
        corners += [(before, least), (rounds, least)]
        before = rounds
    return corners


def mark(rounds: int) -> int:
    """The next round, after so many, at which the bounds are evaluated."""
    place = FIRST
    while place <= rounds:
        place = math.ceil(place * GROWTH)
    return place


def bounds(ledger: Ledger, quantity: str) -> bool:
    """Is it what the ledger counts, or its loss but for that of a comparator?"""
    if ledger.counts:
        return quantity in ("mistakes", "expected mistakes")
    return quantity == f"{ledger.player.loss} loss" or quantity.startswith("regret against")
