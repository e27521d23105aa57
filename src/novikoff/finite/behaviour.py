"""Consistent and Halving, recognised by their behaviour: an attribute `hypotheses`, a finite class.

The version space of that class is kept here. Checked in each round, before the label: the prediction is that of a
hypothesis that fits all labels so far (Consistent); no label has more of them than the prediction (Halving).
"""

from __future__ import annotations

from typing import Any, Self

from novikoff.core.behaviour import Behaviour
from novikoff.core.certificate import Assumption, seen
from novikoff.core.errors import NovikoffError
from novikoff.core.hypotheses import HypothesisClass, VersionSpaceFacts
from novikoff.core.types import Theorem
from novikoff.finite.theorems.consistent_mistakes import consistent_mistakes
from novikoff.finite.theorems.halving_mistakes import halving_mistakes


class ClassBehaviour(Behaviour):
    """Whether a learner predicts as a hypothesis of its class that is consistent with all labels, or by majority."""

    name = "Consistent"

    def __init__(self, hypotheses: HypothesisClass) -> None:
        self._hypotheses, self._space = hypotheses, hypotheses.space()
        self._whole, self._lightest = self._space.weight, self._space.lightest
        self._restarts = self._emptied_at = 0
        self._consistent = self._majority = True
        self._outside = False

    @classmethod
    def of(cls, learner: Any) -> Self | None:
        found = getattr(learner, "hypotheses", None)
        try:
            return cls(found) if isinstance(found, HypothesisClass) else None
        except (NovikoffError, MemoryError):  # too large to list
            return None

    def look(self, learner: Any) -> None:
        """Do nothing: the assumptions are on predictions."""

    def see(self, learner: Any, x: Any, y: Any, prediction: Any) -> None:
        self.rounds += 1
        if self._outside:
            return
        try:
            ballot = self._space.poll(x)
        except NovikoffError:
            self._outside = True
            return
        votes = ballot.weights.get(prediction, 0)
        self._consistent &= votes > 0
        self._majority &= votes > 0 and votes == max(ballot.weights.values())
        self.name = "Halving" if self._majority else "Consistent"
        if ballot.weights.get(y, 0) > 0:
            self._space.keep(ballot, y)
            return
        self._space = self._hypotheses.space()
        self._restarts += 1
        self._emptied_at = self._emptied_at or self.rounds

    @property
    def claims(self) -> list[Assumption]:
        if self._outside or not self.rounds:
            return []
        return [
            seen("each prediction is that of a hypothesis consistent with all labels before", self._consistent),
            seen("each prediction is that of the majority of these hypotheses", self._majority),
        ]

    @property
    def promises(self) -> tuple[Theorem, ...]:
        if self._outside or not self.rounds:
            return ()
        return (*((halving_mistakes,) if self._majority else ()), *((consistent_mistakes,) if self._consistent else ()))

    @property
    def before(self) -> VersionSpaceFacts:
        whole = self._hypotheses.size
        return VersionSpaceFacts(whole, whole, self._whole, self._whole, self._lightest)

    def facts(self) -> VersionSpaceFacts:
        return VersionSpaceFacts(
            self._hypotheses.size, self._space.count, self._whole, self._space.weight, self._lightest, self._restarts,
            self._emptied_at, self.rounds,
        )  # fmt: skip
