"""What theorems on learners of many labels share: what they are told of the learner and of U, and what is checked.

A label that comes for the first time was foreseen by nobody. From that round on the learner does what it would do had
the label been announced just before, so each theorem is on the game with labels announced, and what rounds with new
labels cost beside that (`novelty`) is known exactly: it is added.
Beside what the theorem adds up round by round (`gained`) stands what is left of it at the end, from the learner's sums
(`dual`), which bounds the regret on EVERY sequence of scores, however they were computed. Promised is the larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.against_tracker import AgainstFacts
from novikoff.comparators.metric import Metric
from novikoff.comparators.metric_facts import SLACK, steady
from novikoff.core.certificate import Assumption, refutations, seen
from novikoff.core.errors import counted
from novikoff.core.types import Run

Vector = NDArray[np.float64]


class MulticlassGoal(NamedTuple):
    """What a learner's theorem says of U, whose columns are labels: its loss + a penalty.

    penalty    the metric, the same for every label, in which the squares of the columns are added up
    promised   what is promised beside: it is added to half of these, or multiplied by them under the root
    added      the learner's own sum of g x, or of its updates with the sign turned, (places, labels)
    doubt      what it may be off by
    linear     its own sum of <g, z>; None if it has none
    """

    penalty: Metric
    promised: float
    added: Vector
    doubt: Vector
    linear: float | None = None


@dataclass(frozen=True, slots=True)
class MulticlassComparator:
    """One U; the loss is a sum over all rounds, rounded up.

    loss          its log losses, or hinge losses
    square        the sum of u_j'A u_j
    doubt         the sum of |U| times what the learner's sum may be off by
    unexplained   how far the learner's sum, along U, is from that of what it played, in units of what rounding explains
    """

    loss: float
    square: float
    doubt: float
    unexplained: float


@dataclass(frozen=True, slots=True)
class MulticlassComparatorFacts:
    """Of every comparator; the first is U = 0.

    rows          rounds seen
    fitted        on how many of them
    lost          the sum of the log losses, or the mistakes, of the scores that the learner played
    unexplained   as of a comparator, of all that was compared besides
    against       comparators of members against the rest, of a learner that has some
    dual          at least what the learner's sums leave of its theorem, evaluated on the scores that were played
    """

    rows: int
    fitted: int
    comparators: tuple[MulticlassComparator, ...]
    lost: float
    unexplained: float = 0.0
    against: AgainstFacts | None = None
    dual: float = -math.inf

    @property
    def explained(self) -> bool:
        """Are the learner's sums those of the scores it played?"""
        return self.unexplained <= 1.0 and all(u.unexplained <= 1.0 for u in self.comparators)


@dataclass(frozen=True, slots=True)
class MulticlassFacts:
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
    assert isinstance(tracked, MulticlassComparatorFacts)
    agreed = abs(after.loss + after.mistakes + after.novelty - paid) <= SLACK * (1.0 + paid)
    return [
        seen("the learner started untrained", run.before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("the comparators were evaluated on every round", tracked.rows == run.rounds),
        seen("its total agrees with the ledger's", agreed),
        seen("its total loss agrees with its scores", abs(tracked.lost - own) <= SLACK * (1.0 + own)),
        seen("its sums agree with its scores", tracked.explained),
        seen("its metric never shrank (no drift by rounding)", steady(after.gained, after.least)),
    ]


def reason_void(run: Run[Any], needed: list[Assumption]) -> str:
    """Why nothing can be said of this run; "" if something can."""
    if run.before.rounds:
        return f"warm start: the learner had played {counted(run.before.rounds, 'round')} when the game started"
    return refutations(needed) or (
        "" if run.tracked.comparators else "no comparator could be evaluated: numbers overflowed"
    )
