"""What theorems on specialists are told."""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.certificate import Assumption, seen
from novikoff.types import Run

EPS = 2.0**-50
"""What differences of long sums may be off by, relatively."""


@dataclass(frozen=True, slots=True)
class SpecialistsFacts:
    """A mixture of copies, now.

    rounds, loss   of the mixture, from its first round
    steady_loss    the log loss of the copy that never rests
    stretches      how many are over
    worst          the largest of what the mixture lost more than a copy on its stretch, less what that copy costs
    """

    rounds: int
    loss: float
    steady_loss: float
    stretches: int
    worst: float


def assumptions(run: Run[SpecialistsFacts]) -> list[Assumption]:
    """What these theorems need."""
    assert run.log_loss is not None
    after = run.after
    same = after.loss == run.log_loss or abs(after.loss - run.log_loss) <= 1e-9 * (1.0 + run.log_loss)
    return [
        seen("the copies began with nothing learned", run.before.rounds == 0),
        seen("they learned from the rounds of the ledger, and no others", after.rounds == run.rounds),
        seen("what the mixture lost is what the ledger counted", same),
    ]


def reason_void(run: Run[SpecialistsFacts]) -> str:
    """Why nothing can be said; "" if something can."""
    before = run.before.rounds
    return f"warm start: the copies had played {before:,} rounds when the ledger was opened" if before else ""
