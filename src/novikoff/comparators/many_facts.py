"""What theorems on learners of many labels share: what they are told of the learner, and what is checked.

A label that comes for the first time was foreseen by nobody. From that round on the learner does what it would do had
the label been announced just before, so each theorem is on the game with labels announced, and what rounds with new
labels cost beside that (`novelty`) is known exactly: it is added.
Beside what the theorem adds up round by round (`gained`) stands what is left of it at the end, from the learner's sums
(`dual`), which bounds the regret on EVERY sequence of scores, however they were computed. Promised is the larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from novikoff.comparators.many_comparator import ManyComparatorFacts
from novikoff.comparators.metric_facts import SLACK, steady
from novikoff.core.certificate import Assumption, refutations, seen
from novikoff.core.errors import counted
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class ManyFacts:
    """One learner of many labels, now.

    rounds, labels   its rounds from its first, and the labels it knows
    updates          rounds that changed it
    mistakes         those it would have made had labels been announced, where that is what is counted; else 0
    loss             the sum of its log losses, likewise; else 0
    novelty          what rounds with labels never seen, and what was kept for such, cost besides
    entropy          the least log loss of probabilities that never change
    gained           what its theorem adds up
    dual, least      what that leaves in its sums: at least that, and at most, for all that rounding may have done
    """

    rounds: int
    labels: int
    updates: int
    mistakes: int
    loss: float
    novelty: float
    entropy: float
    gained: float
    dual: float
    least: float

    @property
    def penalty(self) -> float:
        """What is promised beside the comparator's own."""
        return max(self.gained, self.dual)


def assumptions(run: Run[Any], paid: float, own: float) -> list[Assumption]:
    """What these theorems need; `paid` is what the ledger says of the learner's loss, `own` that of its scores."""
    after, tracked = run.after, run.tracked
    assert isinstance(tracked, ManyComparatorFacts)
    agreed = abs(after.loss + after.mistakes + after.novelty - paid) <= SLACK * (1.0 + paid)
    return [
        seen("the learner began with nothing learned", run.before.rounds == 0),
        seen("it learned from the rounds of the ledger, and no others", after.rounds == run.rounds),
        seen("the comparators saw every round", tracked.rows == run.rounds),
        seen("what it counted is what the ledger counted", agreed),
        seen("what it counted is what its scores cost", abs(tracked.lost - own) <= SLACK * (1.0 + own)),
        seen("its sums are those of the scores it played", tracked.explained),
        seen("its metric never shrank: no float drift", steady(after.gained, after.least)),
    ]


def reason_void(run: Run[Any], needed: list[Assumption]) -> str:
    """Why nothing can be said of this run; "" if something can."""
    if run.before.rounds:
        return f"warm start: the learner had played {counted(run.before.rounds, 'round')} when the ledger was opened"
    return refutations(needed) or ("" if run.tracked.comparators else "no comparator can be checked: numbers overflow")
