"""Facts of a learner whose outcomes come late."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DelayedFacts:
    """State of a delayed learner.

    Attributes:
        rounds: Number of rounds.
        delay: Number of rounds by which outcomes come late.
    """

    rounds: int
    delay: int
