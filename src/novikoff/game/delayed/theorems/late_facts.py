"""What theorems on late labels need to know of a run: what was served, beside what the game says that was played.

A round is predicted, its answer is served, and its label may come at any later time, or never. The game is played in
the order in which labels arrive: when the label of x comes, the learner says what it thinks of x now, and learns. That
is an ordinary game, and all theorems of the learner are about it. What was served may be another answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from novikoff.core.certificate import Assumption, Bound, Certificate, seen
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class LateFacts:
    """Of the rounds that were served.

    predicted      rounds that were served
    labelled       those whose label came
    expired        those that are no longer waited for
    mistakes       M: labelled rounds whose served answer was wrong
    changed        F: labelled rounds whose served answer is not what the learner said when the label came
    others         G: the most other rounds that were waiting when a label came
    unexplained    labelled rounds whose answer changed although no mistake of that game had come in between
    conservative   the learner changes on its mistakes only, and does not change examples first
    counts         outcomes are labels, and a mistake costs 1
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
        """Rounds whose label is still waited for."""
        return self.predicted - self.labelled - self.expired


QUANTITY = "mistakes of the answers served"
ROUNDED = 1.0 + 1e-9


def facts_of(run: Run[Any]) -> LateFacts:
    """The facts of a game whose labels came late."""
    assert run.late is not None  # these theorems are asked of such games alone
    return run.late


def of_mistakes(run: Run[Any], kind: str) -> list[Certificate]:
    """Certificates of the game of arrivals, of this kind, that limit its mistakes: as such, or by a loss."""
    names = ("mistakes", "log loss") if kind == "D" else ("loss",) if facts_of(run).counts else ()
    return [one for one in run.arrivals if one.kind == kind and one.side == "upper" and one.quantity in names]


def on_mistakes(run: Run[Any], kind: str) -> Iterator[tuple[int, Certificate]]:
    """What certificates of the game of arrivals allow of its mistakes; void ones left out.

    A mistake costs ln 2 of log loss at least: the label that came was at most as probable as the one that was said. A
    log loss that counts fewer rounds, those whose labels were not new, is left out where it is too small for that.
    """
    for one in of_mistakes(run, kind):
        if one.bound is None or not math.isfinite(one.bound):
            continue
        if one.quantity != "log loss":
            yield math.floor(one.bound), one
        elif one.observed * ROUNDED >= run.mistakes * math.log(2.0):
            yield math.floor(one.bound / math.log(2.0) * ROUNDED), one


def least(run: Run[Any], kind: str = "D") -> tuple[int, Certificate] | None:
    """The least that is allowed of the game of arrivals, and by whom; None if nothing is."""
    return min(on_mistakes(run, kind), key=lambda found: found[0], default=None)


def counted(run: Run[Any]) -> list[Assumption]:
    """What must hold of the counts."""
    late = facts_of(run)
    whole = late.labelled == run.rounds and late.pending >= 0
    return [seen("the labelled rounds agree with the game in order of arrival", whole)]


def passed(run: Run[Any], value: int, by: Certificate, limit: int, told: dict[str, Any]) -> Bound:
    """A bound on the mistakes of what was served."""
    late = facts_of(run)
    counts = {"changed": late.changed, "arrival_mistakes": run.mistakes, "labelled": late.labelled,
              "pending": late.pending, "expired": late.expired}  # fmt: skip
    told = {"its_theorem": by.theorem, "its_bound": limit, **told, **counts}
    return Bound(value, [*counted(run), *by.assumptions], told, late.mistakes, late.labelled)


def nothing(run: Run[Any], kind: str = "D") -> Bound | None:
    """Of a game of arrivals without a bound: void if one could not be had, None if there never is one."""
    late = facts_of(run)
    kinds = of_mistakes(run, kind)
    if not kinds:
        return None
    reason = "; ".join(f"{one.theorem}: {one.reason}" for one in kinds)
    return Bound(None, observed=late.mistakes, trivial=late.labelled,
                 void=f"there is no valid bound for the game in order of arrival: {reason}")  # fmt: skip
