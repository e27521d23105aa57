"""Comparators for the multiclass linear mixture: for its softmax member sqrt 1 and its one-versus-rest members.

Algorithm
    comparators/multiclass_tracker.py and comparators/against_tracker.py, side by side. The second searches for weights
    while all rows fit in its memory, and only for the members that the learner requests.
Promise
    That of both.
Cost
    That of both.
Reference
    that of both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.against_tracker import AgainstTracker
from novikoff.comparators.multiclass_facts import MulticlassComparatorFacts
from novikoff.comparators.multiclass_tracker import MulticlassTracker
from novikoff.comparators.tracker import Tracker
from novikoff.core.state import Part, require
from novikoff.core.types import Batch, State
from novikoff.linear._loops.multiclass_layout import MOST_AGAINST

if TYPE_CHECKING:
    from novikoff.core.learner import Learner


class MulticlassLinearMixtureTracker(Tracker):
    """Comparators of a learner that starts now; kappa is that of its one-versus-rest members."""

    kind = "many-linear-mixture"
    fields = (
        Part("softmax", MulticlassTracker),
        Part("rest", AgainstTracker, optional=True),
    )

    def __init__(self, bias: float, kappa: float, announced: int | None = None) -> None:
        self.softmax = MulticlassTracker("log", bias, announced)
        self.rest: AgainstTracker | None = AgainstTracker(bias, kappa, announced, fits=False)

    @property
    def rows(self) -> int:
        """Rounds seen."""
        return self.softmax.rows

    @property
    def rows_held(self) -> int:
        """Number of training rows in its state."""
        return max(self.softmax.rows_held, 0 if self.rest is None else self.rest.rows_held)

    def see(self, batch: Batch, scores: NDArray[np.generic]) -> None:
        """Observe the rounds of a batch; scores are (rows, members, labels + 1), the softmax member first."""
        self.softmax.see(batch, np.ascontiguousarray(scores[:, 0, :-1]))
        if (rest := self._rest(*scores.shape[1:])) is not None:
            rest.see(batch, scores[:, 1:])

    def see_row(self, x: Any, y: int, scores: Any) -> None:
        """Observe one round; x is (indices, values) or an array of numbers."""
        self.softmax.see_row(x, y, np.ascontiguousarray(scores[0, :-1]))
        if (rest := self._rest(*scores.shape)) is not None:
            rest.see_row(x, y, scores[1:])

    def _rest(self, members: int, columns: int) -> AgainstTracker | None:
        """Return the tracker of one-versus-rest members while they play; None with too many labels."""
        self.rest = self.rest if members > 1 and columns - 1 <= MOST_AGAINST else None
        return self.rest

    def facts(self, learner: Any) -> MulticlassComparatorFacts:
        """Return the observations so far, with the current metrics of the learner."""
        goals = learner.goals_against() if self.rest is not None else []
        found = self.rest.facts_for(goals) if self.rest is not None and goals else None
        return replace(self.softmax.facts(learner), against=found)

    def check(self, learner: Learner) -> None:
        for part in (self.softmax, self.rest):
            if part is not None:
                part.check(learner)

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        return {"bias": 0.0, "kappa": 0.0}  # only its parts, which are restored, have them

    def after_restoring(self, found: State) -> None:
        if self.rest is not None:
            must = f"comparators of labels must have seen {self.rows:,} rounds"
            require(self.rest.rows == self.rows, must, self.rest.rows)
