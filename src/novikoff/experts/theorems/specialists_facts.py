"""What theorems on specialists are told."""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Assumption, seen
from novikoff.core.types import Run

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
    steady = [float(one.observed) for one in run.members[0] if one.quantity == "log loss"] if run.members else []
    return [
        seen("the copies started untrained", run.before.rounds == 0),
        seen("they learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("the loss of the mixture agrees with the ledger's", _same(after.loss, run.log_loss)),
        *(seen("the loss of the first copy agrees with its own ledger", _same(after.steady_loss, lost))
          for lost in steady[:1]),
    ]  # fmt: skip


def _same(told: float, counted: float) -> bool:
    return told == counted or abs(told - counted) <= 1e-9 * (1.0 + counted)


def reason_void(run: Run[SpecialistsFacts]) -> str:
    """Why nothing can be said; "" if something can."""
    before = run.before.rounds
    return f"warm start: the copies had played {before:,} rounds when the game started" if before else ""
