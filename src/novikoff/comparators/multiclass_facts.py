"""Facts shared by the theorems on multiclass learners: about the learner, about U, and the checks.

A new label cannot be foreseen. From its first round on the learner behaves as if the label had been announced just
before, so each theorem is about the game with labels announced, and the additional cost of rounds with new labels
(`novelty`) is known exactly and added.
The sum that the theorem accumulates round by round is `gained`. `dual` is computed at the end from the learner's sums,
and bounds the regret on EVERY sequence of scores, no matter how they were computed. The larger of the two is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.against_tracker import AgainstFacts
from novikoff.comparators.metric import Metric
from novikoff.comparators.metric_facts import SLACK, steady
from novikoff.core.certificate import Assumption, seen
from novikoff.core.types import Run

Vector = NDArray[np.float64]


class MulticlassGoal(NamedTuple):
    """Bound of a learner's theorem for weights U with one column per label: the loss of U plus a penalty.

    Attributes:
        penalty: Metric, the same for every label, in which the squares of the columns are added.
        promised: Remaining part of the bound: added to half of these squares, or multiplied by them under the root.
        added: (places, labels) the learner's sum of g x, or of its updates with the sign reversed.
        doubt: (places, labels) its possible error.
        linear: The learner's sum of <g, z>; None if it has none.
    """

    penalty: Metric
    promised: float
    added: Vector
    doubt: Vector
    linear: float | None = None


@dataclass(frozen=True, slots=True)
class MulticlassComparator:
    """One comparator U; the loss is a sum over all rounds, rounded up.

    Attributes:
        loss: Log loss of U, or hinge loss.
        square: Sum of u_j'A u_j.
        doubt: Sum of |U| times the possible error of the learner's sum.
        unexplained: Distance of the learner's sum, along U, from that of its scores, in units of rounding error.
    """

    loss: float
    square: float
    doubt: float
    unexplained: float


@dataclass(frozen=True, slots=True)
class MulticlassComparatorFacts:
    """Facts about every comparator; the first is U = 0.

    Attributes:
        rows: Rounds seen.
        fitted: Number of rows that comparators were fitted on.
        comparators: The comparators.
        lost: Sum of the log losses, or the mistakes, of the scores that the learner played.
        unexplained: As in a comparator, for all other comparisons.
        against: Comparators of one-versus-rest members, if the learner has some.
        dual: Upper bound on the theorem's sum, evaluated on the scores that were played.
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
        """Whether the learner's sums agree with the scores it played."""
        return self.unexplained <= 1.0 and all(u.unexplained <= 1.0 for u in self.comparators)


@dataclass(frozen=True, slots=True)
class MulticlassFacts:
    """Present facts about one multiclass learner.

    Attributes:
        rounds: Number of rounds since the learner was made.
        labels: Number of labels that it knows.
        updates: Number of rounds that changed it.
        mistakes: Mistakes that it would have made with labels announced, if its theorem counts mistakes; else 0.
        loss: Log loss with labels announced; 0 for learners without log loss.
        novelty: Additional cost of rounds with new labels, and of the probability reserved for them.
        entropy: Least log loss of constant probabilities.
        gained: Sum of the theorem.
        dual: Upper bound on `gained`, computed from the learner's sums, rounding included.
        least: Lower bound on it.
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
        """Part of the bound that does not depend on the comparator."""
        return max(self.gained, self.dual)


def assumptions(run: Run[MulticlassFacts], paid: float, own: float) -> list[Assumption]:
    """Return the assumptions of the theorems.

    Args:
        run: Run of the learner.
        paid: Loss of the learner in the ledger.
        own: Loss that the learner itself has summed.
    """
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
