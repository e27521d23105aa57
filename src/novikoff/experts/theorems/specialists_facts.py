"""Facts of a mixture of specialists, and functions shared by its theorems."""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Assumption, seen, warm_start
from novikoff.core.types import Run

EPS = 2.0**-50
"""Relative error of differences of long sums."""


@dataclass(frozen=True, slots=True)
class SpecialistsFacts:
    """State of a mixture of copies.

    Attributes:
        rounds: Rounds of the mixture, from its first.
        loss: Its log loss.
        steady_loss: Log loss of the copy that never rests.
        stretches: Number of completed stretches.
        worst: Largest excess loss of the mixture over a copy on its stretch, less the price of that copy.
    """

    rounds: int
    loss: float
    steady_loss: float
    stretches: int
    worst: float


def assumptions(run: Run[SpecialistsFacts]) -> list[Assumption]:
    """Return the assumptions of these theorems."""
    assert run.log_loss is not None
    after = run.after
    steady = [float(one.observed) for one in run.members[0] if one.quantity == "log loss"] if run.members else []
    return [
        seen("the copies started untrained", run.before.rounds == 0),
        seen("they learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("the loss of the mixture agrees with the ledger's", _same(after.loss, run.log_loss)),
        *(seen("the loss of the first copy agrees with its ledger", _same(after.steady_loss, lost))
          for lost in steady[:1]),
    ]  # fmt: skip


def _same(loss: float, recorded: float) -> bool:
    return loss == recorded or abs(loss - recorded) <= 1e-9 * (1.0 + recorded)  # equal if both are infinite


def why_void(run: Run[SpecialistsFacts]) -> str:
    """Return why the theorem does not apply to this run; "" if it does."""
    return warm_start(run.before.rounds, "the copies")
