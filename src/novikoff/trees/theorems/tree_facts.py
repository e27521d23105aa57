"""What the theorems on trees and forests have in common: they start untrained, and are void where a check fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from novikoff.core.certificate import Assumption, Bound, refutations, seen, warm_start
from novikoff.core.types import Run

SLACK = 1e-9
"""Largest relative difference of sums that should agree."""


class Facts(Protocol):
    """State of a tree or forest."""

    @property
    def rounds(self) -> int: ...


def untrained(run: Run[Any]) -> list[Assumption]:
    """Return the assumptions that the learner started untrained and learned from the recorded rounds."""
    before: Facts = run.before
    after: Facts = run.after
    return [
        seen("the learner started untrained", before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
    ]


def checked(
    run: Run[Any],
    value: float,
    needed: Sequence[Assumption],
    quantities: Mapping[str, object],
    lost: float,
    trivial: float,
) -> Bound:
    """Return the bound, void if a check failed.

    Args:
        run: The run.
        value: Guaranteed value.
        needed: Assumptions, with the results of their checks.
        quantities: Quantities from which the value was computed.
        lost: Loss in the run.
        trivial: Loss that is guaranteed without learning.
    """
    before: Facts = run.before
    reason = warm_start(before.rounds) or refutations(needed)
    return Bound(None if reason else value, needed, quantities, lost, trivial, void=reason)
