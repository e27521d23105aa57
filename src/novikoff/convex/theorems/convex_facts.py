"""What theorems on learners with a convex loss are told, and what they need."""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.comparators.metric_facts import SLACK, steady
from novikoff.convex.comparators.tracker import ConvexComparator, ConvexComparatorFacts
from novikoff.core.certificate import Assumption, refutations, seen
from novikoff.core.errors import counted
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class ConvexFacts:
    """One such learner, now.

    rounds, loss   its rounds from its first, and the name of its loss
    lost           the sum of its losses, as it saw them
    gained         the sum of Delta
    dual           at least what that leaves in its sums: the sum of g z + G'A^-1 G/2
    least          at most that: what rounding may have done in all rounds is between the two
    """

    rounds: int
    loss: str
    lost: float
    gained: float
    dual: float
    least: float

    @property
    def promised(self) -> float:
        """What is promised beside the comparator's own."""
        return max(self.gained, self.dual)


def judged(run: Run[ConvexFacts]) -> tuple[ConvexComparator | None, list[Assumption], str]:
    """The best comparator, what was checked, and why the theorems are void; "" if they are not."""
    after, tracked = run.after, run.tracked
    assert isinstance(tracked, ConvexComparatorFacts)
    slack = SLACK * (1.0 + abs(tracked.lost))
    paid = tracked.lost if after.loss == "hinge" else run.loss
    needed = [
        seen("the learner began with nothing learned", run.before.rounds == 0),
        seen("it learned from the rounds of the ledger, and no others", after.rounds == run.rounds),
        seen("the comparators saw every round", tracked.rows == run.rounds),
        seen("what it counted is what the ledger counted", abs(paid - after.lost) <= slack),
        seen("what it counted is what its scores cost", abs(tracked.lost - after.lost) <= slack),
        seen("its sums are those of the scores it played", tracked.explained),
        seen("its metric never shrank: no float drift", steady(after.gained, after.least, slack)),
    ]
    reason = refutations(needed)
    if run.before.rounds:
        reason = f"warm start: the learner had played {counted(run.before.rounds, 'round')} when the ledger was opened"
    if not reason and not tracked.comparators:
        reason = "no comparator can be checked: numbers overflow"
    best = None if reason else min(tracked.comparators, key=lambda u: u.lost + 0.5 * u.square + u.doubt)
    return best, needed, reason
