"""Facts of a mixture within groups, and functions shared by its theorems."""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Assumption, seen
from novikoff.core.types import Run

ULP = 2.0**-50
"""Relative error of one round, generously: the weights are computed from sums of all earlier losses."""


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """Losses in one group.

    Attributes:
        name: Value of the column.
        rounds: Number of rows.
        loss: Loss of the mixture.
        common: Loss of the common learner.
        own: Loss of the group's own learner.
        gap: Sum of the mixability gaps, for numbers.
        labels: Whether losses are log losses, not squared ones.
    """

    name: str
    rounds: int
    loss: float
    common: float
    own: float
    gap: float
    labels: bool

    @property
    def least(self) -> float:
        """Loss of the better of the two."""
        return min(self.common, self.own)

    @property
    def price(self) -> float:
        """Largest loss of the mixture beyond the better of the two, rounding included."""
        if math.isinf(self.least):
            return 0.0
        largest = max(one for one in (self.common, self.own, self.loss) if math.isfinite(one) or one == self.least)
        return (math.log(2.0) if self.labels else 2.0 * self.gap) + self.rounds * ULP * (1.0 + largest)


@dataclass(frozen=True, slots=True)
class GroupedFacts:
    """State of the groups.

    Attributes:
        rounds: Rounds of all groups, from the first.
        groups: Losses of each group.
    """

    rounds: int
    groups: list[GroupFacts]

    def sum(self, name: str) -> float:
        """Return the sum of an attribute over the groups."""
        return math.fsum(getattr(one, name) for one in self.groups)

    @property
    def bound(self) -> float:
        """Sum over the groups of the least loss + the price."""
        return math.fsum(one.least + one.price for one in self.groups)

    @property
    def broken(self) -> str:
        """Which group is beyond its own bound; "" if none is."""
        beyond = [one for one in self.groups if one.loss > one.least + one.price and math.isfinite(one.loss)]
        return "" if not beyond else f"group {beyond[0].name} lost {beyond[0].loss:.6g}, beyond its own bound"


def assumptions(run: Run[GroupedFacts], recorded: float) -> list[Assumption]:
    """Return the assumptions of these theorems; `recorded` is the loss of the ledger."""
    after, lost = run.after, run.after.sum("loss")
    same = lost == recorded or abs(lost - recorded) <= 1e-9 * (1.0 + abs(recorded))
    return [
        seen("the learners started untrained", run.before.rounds == 0),
        seen("the groups have exactly the recorded rounds", after.rounds == run.rounds),
        seen("the losses of the groups sum to the ledger's", same),
    ]


def reason_void(run: Run[GroupedFacts], recorded: float) -> str:
    """Return why the theorem does not apply; "" if it does."""
    before = run.before.rounds
    if before:
        return f"warm start: the learners had played {before:,} rounds when the game started"
    return "" if math.isfinite(recorded) else "a label had probability 0"
