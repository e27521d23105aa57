"""Facts and assumptions shared by the theorems on learners with a convex loss."""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.comparators.metric_facts import SLACK, steady
from novikoff.convex.comparators.tracker import ConvexComparator, ConvexComparatorFacts
from novikoff.core.certificate import Assumption, refutations, seen, warm_start
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class ConvexFacts:
    """State of a learner with a convex loss.

    Attributes:
        rounds: Rounds since its start.
        loss: Name of its loss.
        lost: Total loss as the learner computed it.
        gained: Sum of Delta.
        dual: Upper bound on the sum of g z + G'A^-1 G/2 in exact arithmetic.
        least: Lower bound on the same.
    """

    rounds: int
    loss: str
    lost: float
    gained: float
    dual: float
    least: float

    @property
    def promised(self) -> float:
        """Term of the bound that does not depend on the comparator."""
        return max(self.gained, self.dual)


def judged(run: Run[ConvexFacts]) -> tuple[ConvexComparator | None, list[Assumption], str]:
    """Return the best comparator, the assumptions, and why the theorems are void ("" if they hold)."""
    after, tracked = run.after, run.tracked
    assert isinstance(tracked, ConvexComparatorFacts)
    slack = SLACK * (1.0 + abs(tracked.lost))
    paid = tracked.lost if after.loss == "hinge" else run.loss
    needed = [
        seen("the learner started untrained", run.before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("the comparators were evaluated on every round", tracked.rows == run.rounds),
        seen("its total agrees with the ledger's", abs(paid - after.lost) <= slack),
        seen("its total loss agrees with its scores", abs(tracked.lost - after.lost) <= slack),
        seen("its sums agree with its scores", tracked.explained),
        seen("its metric never shrank (no drift by rounding)", steady(after.gained, after.least, slack)),
    ]
    reason = warm_start(run.before.rounds) or refutations(needed)
    if not reason and not tracked.comparators:
        reason = "no comparator could be evaluated: numbers overflowed"
    best = None if reason else min(tracked.comparators, key=lambda u: u.lost + 0.5 * u.square + u.doubt)
    return best, needed, reason
