"""Facts of the trackers of mixtures/top_tracker.py, and the assumptions of the theorems on mixtures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from novikoff.core.certificate import Assumption, seen
from novikoff.core.types import CountsRounds, Run

SLACK = 1e-9
"""Largest difference between the ledger's loss and that of the recorded forecasts, relative to the loss; and between
the forecast played in a round and its replay."""


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
    """Losses and weights that a tracker computed from the recorded forecasts, each made before its label.

    Attributes:
        rows: Rounds seen.
        names: Names of the forecasters.
        prior: Prior of each.
        loss: Loss of the forecasts played.
        losses: Loss of each forecaster; before one joins, the loss of the forecasts played counts for it.
        off: Largest difference between a forecast played and the replayed mixture.
        off_at: First round in which this difference exceeds rounding; 0 for none.
        trivial: Loss of a non-learning baseline: equal probabilities; for numbers, the first outcome.
        path: The cheapest path; None for a mixture that does not share.
        gaps: For numbers, the sum of the mixability gaps.
        last_gap: For numbers, the last of them.
        novelty: Cost of labels that were not announced, the same for every forecaster.
        joins: Number of rounds after which each forecaster joined; empty if all played from the start.
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
    joins: list[int] = field(default_factory=list)

    @property
    def replay(self) -> str:
        """Why the mixture was not played, by the replay; "" if it was."""
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
    return "" if math.isfinite(loss) else "infinite log loss: every forecaster gave probability 0 to an observed label"


def witness_of(tracked: TopFacts, loss: float, value: float) -> dict[str, object] | None:
    """Return the loss and the price of a path for a proof file; None if they are infinite.

    Args:
        tracked: Facts of the mixture.
        loss: Loss of the path.
        value: Its loss + its price.
    """
    if not (math.isfinite(loss) and math.isfinite(value)):
        return None
    exact = {"loss": Fraction(loss), "price": Fraction(value) - Fraction(loss), "novelty": Fraction(tracked.novelty)}
    return {name: str(number) for name, number in exact.items()}
