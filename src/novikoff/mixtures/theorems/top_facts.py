"""Facts of the trackers of mixtures/top_tracker.py, and what theorems on mixtures check."""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Assumption, seen
from novikoff.core.types import CountsRounds, Run

SLACK = 1e-9
"""Largest difference, relative to the loss, between the ledger's loss and that of the forecasts recorded; and between
what was played in a round and the replay."""


@dataclass(frozen=True, slots=True)
class PathFacts:
    """The cheapest path.

    Attributes:
        value: Its loss + its price; infinite if every path has an infinite loss.
        loss: Its loss.
        changes: Number of its changes.
        last: Forecaster with which it ends.
    """

    value: float
    loss: float
    changes: int
    last: int


@dataclass(frozen=True, slots=True)
class TopFacts:
    """What a tracker recorded and computed itself from the forecasts, which it saw before the labels.

    Attributes:
        rows: Rounds seen.
        names: Names of the forecasters.
        prior: Prior of each.
        loss: Loss of what was played.
        losses: Loss of each forecaster.
        off: Largest difference between what was played and the mixture, replayed.
        off_at: First round in which this was not rounding; 0 for none.
        trivial: Loss of a forecaster that learns nothing: equal probabilities; for numbers, the first outcome.
        path: The cheapest path; None for a mixture that does not share.
        gaps: For numbers, the sum of the mixability gaps.
        last_gap: For numbers, the last of them.
        novelty: Cost of labels that were not announced, which the learner adds to the loss of every forecaster alike.
    """

    rows: int
    names: list[str]
    prior: list[float]
    loss: float
    losses: list[float]
    off: float
    off_at: int
    trivial: float
    path: PathFacts | None = None
    gaps: float = 0.0
    last_gap: float = 0.0
    novelty: float = 0.0

    @property
    def replay(self) -> str:
        """Why the replay contradicts what was played; "" if it does not."""
        return f"the forecast played in round {self.off_at:,} is not the mixture" if self.off_at else ""

    @property
    def best(self) -> int:
        """Forecaster with the least loss."""
        return min(range(len(self.losses)), key=self.losses.__getitem__)


def of_a_top(run: Run[CountsRounds], observed: float) -> list[Assumption]:
    """Return the assumptions of every theorem on a mixture whose forecasts were recorded."""
    tracked: TopFacts = run.tracked
    lost = tracked.loss + tracked.novelty
    agreed = abs(lost - observed) <= SLACK * (1.0 + abs(observed)) or lost == observed
    return [
        seen("the learner started untrained", run.before.rounds == 0),
        seen("it learned from exactly the recorded rounds", run.after.rounds == run.rounds),
        seen("the forecasts of every round were recorded", tracked.rows == run.rounds),
        seen("the loss of the recorded forecasts is the ledger's", agreed),
    ]


def infinite(loss: float) -> str:
    """Return why a bound is void: a label had probability 0; "" if the loss is finite."""
    return "" if math.isfinite(loss) else "infinite log loss: every forecaster excluded a label that came"
