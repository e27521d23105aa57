"""Facts for the theorems on delayed labels: served answers in relation to the game that was played.

A round is predicted, its answer is served, and its label may arrive at any later time, or never. The game is played in
the order in which labels arrive: when the label of x arrives, the learner predicts x again, and learns. That is an
ordinary game, to which all theorems of the learner apply. The served answer may differ from this prediction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from novikoff.core.certificate import Assumption, Bound, Certificate, seen
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class LateFacts:
    """Counts of served rounds.

    Attributes:
        predicted: Rounds that were served.
        labelled: Rounds whose label arrived.
        expired: Rounds whose label expired.
        mistakes: M: labelled rounds whose served answer was wrong.
        changed: F: labelled rounds whose served answer differs from the prediction when the label arrived.
        others: G: largest number of other rounds that were waiting when a label arrived.
        unexplained: Labelled rounds whose answer changed although no mistake on arrival occurred in between.
        conservative: Whether the learner changes on its mistakes only and does not transform examples.
        counts: Whether outcomes are labels, and a mistake costs 1.
    """

    predicted: int
    labelled: int
    expired: int
    mistakes: int
    changed: int
    others: int
    unexplained: int
    conservative: bool
    counts: bool = True

    @property
    def pending(self) -> int:
        """Number of rounds that wait for their label."""
        return self.predicted - self.labelled - self.expired


QUANTITY = "mistakes of the answers served"
"""Quantity that these theorems bound."""
ROUNDED = 1.0 + 1e-9
"""Factor that covers rounding errors of a quotient by ln 2."""


def facts_of(run: Run[object]) -> LateFacts:
    """Return the facts of a game with delayed labels."""
    assert run.late is not None  # these theorems are evaluated on such games only
    return run.late


def of_mistakes(run: Run[object], kind: str) -> list[Certificate]:
    """Return certificates of this kind that bound the mistakes of the game of arrivals, directly or by a loss."""
    names = ("mistakes", "log loss") if kind == "D" else ("loss",) if facts_of(run).counts else ()
    return [one for one in run.arrivals if one.kind == kind and one.side == "upper" and one.quantity in names]


def on_mistakes(run: Run[object], kind: str) -> Iterator[tuple[int, Certificate]]:
    """Yield bounds on the mistakes of the game of arrivals with their certificates, without void ones.

    A mistake costs at least ln 2 of log loss, because the observed label was at most as probable as the predicted one.
    A log loss that omits the rounds of new labels is skipped if it is too small to contain ln 2 for every mistake.
    """
    for one in of_mistakes(run, kind):
        if one.bound is None or not math.isfinite(one.bound):
            continue
        if one.quantity != "log loss":
            yield math.floor(one.bound), one
        elif one.observed * ROUNDED >= run.mistakes * math.log(2.0):
            yield math.floor(one.bound / math.log(2.0) * ROUNDED), one


def least(run: Run[object], kind: str = "D") -> tuple[int, Certificate] | None:
    """Return the least bound on the mistakes of the game of arrivals with its certificate; None if there is none."""
    return min(on_mistakes(run, kind), key=lambda found: found[0], default=None)


def counted(run: Run[object]) -> list[Assumption]:
    """Return the assumption on the counts."""
    late = facts_of(run)
    whole = late.labelled == run.rounds and late.pending >= 0
    return [seen("the labelled rounds agree with the game in order of arrival", whole)]


def passed(run: Run[object], value: int, by: Certificate, limit: int, quantities: dict[str, object]) -> Bound:
    """Return a bound on the mistakes of the served answers."""
    late = facts_of(run)
    counts = {"changed": late.changed, "arrival_mistakes": run.mistakes, "labelled": late.labelled,
              "pending": late.pending, "expired": late.expired}  # fmt: skip
    quantities = {"its_theorem": by.theorem, "its_bound": limit, **quantities, **counts}
    return Bound(value, [*counted(run), *by.assumptions], quantities, late.mistakes, late.labelled)


def nothing(run: Run[object], kind: str = "D") -> Bound | None:
    """Return a void bound if no certificate of the game of arrivals is valid; None if there is no such certificate."""
    late = facts_of(run)
    kinds = of_mistakes(run, kind)
    if not kinds:
        return None
    reason = "; ".join(f"{one.theorem}: {one.reason}" for one in kinds)
    return Bound(None, observed=late.mistakes, trivial=late.labelled,
                 void=f"there is no valid bound for the game in order of arrival: {reason}")  # fmt: skip
