"""Mistakes of the memorizer.

Theorem (upper; tight on different x that are all labelled -1)
    If every x always has the same label, the number of mistakes is at most the number of x that appear for the first
    time, so at most |X| on a finite domain X. No learner without prior knowledge does better: labels that contradict
    the prediction for each new x are a function of x too.
Assumptions
    each x always has the same label (checked: the learner stores the label of every x).
Proof
    An x that was seen before is predicted with its stored label, which is its label. So only an x that appears for the
    first time can be a mistake.
Reference
    [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, seen, theorem
from novikoff.core.errors import counted
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class MemorizerFacts:
    """State of the learner that the theorem needs.

    Attributes:
        rounds: Rounds so far.
        known: Number of different x.
        changes: Rounds in which an x had another label than before.
        changed_at: First such round; 0 if there was none.
    """

    rounds: int
    known: int
    changes: int = 0
    changed_at: int = 0


@theorem(
    "D",
    "shalevshwartz2014",
    words=Words(
        covers="labels that are a function of x", why="only an x that is new can be a mistake; {different} were new"
    ),
)
def memorized_mistakes(run: Run[MemorizerFacts]) -> Bound:
    """Return the number of x that appeared for the first time in this run."""
    before, after = run.before, run.after
    changes, reason = after.changes - before.changes, ""
    if changes:
        first = "" if before.changes else f", first round {after.changed_at - before.rounds:,}"
        reason = (
            f"not a function of x: {counted(changes, 'round')} with another label than before for the same x{first}"
        )
    return Bound(
        after.known - before.known,
        [seen("each x always has the same label", not changes)],
        {"different": after.known - before.known},
        void=reason,
    )
