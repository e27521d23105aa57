"""Functions shared by the theorems on bets: the condition of an alarm, and the bound on the wealth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from novikoff.core.certificate import Assumption, Bound, number, outward

ROUNDING = 8.0 * 2.0**-53
"""Largest relative rounding error of one bet."""
LARGEST_EXPONENT = 700.0
"""Largest logarithm of the possible wealth, so that it is a finite double."""


def alarm(largest: float, alpha: float, seen: int, stake: float) -> bool:
    """Return whether the largest wealth of `seen` bets is `stake` / alpha or more, despite any rounding."""
    return largest * alpha >= stake * (1.0 + ROUNDING * seen)


def refutable(claim: str, alarmed: bool, largest: float) -> Assumption:
    """Return the assumption that is bet against: refuted by an alarm, else trusted."""
    if alarmed:
        return Assumption(f"{claim} (bets against this grew from 1 to {number(largest)})", "refuted")
    return Assumption(claim, "trusted")


def wealth_bound(
    largest: float, alpha: float, seen: int, stake: float, gain: float, assumptions: Sequence[Assumption],
    quantities: Mapping[str, object],
) -> Bound:  # fmt: skip
    """Return the bound `stake` / alpha on the largest wealth.

    Args:
        largest: Largest wealth so far.
        alpha: Probability of a false alarm.
        seen: Number of bets.
        stake: Total capital that is ever added.
        gain: Largest factor of one bet; until stake * gain^seen reaches the bound, the bound is trivial.
        assumptions: Assumptions to report.
        quantities: Further quantities to report.
    """
    return Bound(
        outward(stake * (1.0 + ROUNDING * seen) / alpha),
        assumptions,
        {"examples": seen, **quantities, "delta": alpha, "when": "at all rounds at once"},
        observed=largest,
        trivial=stake * math.exp(min(seen * math.log(gain), LARGEST_EXPONENT)),
        why="no more can be won in this number of rounds",
    )
