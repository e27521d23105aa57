"""Consistent and Halving, recognised by their behaviour: an attribute `hypotheses`, a finite class.

The version space of that class is kept here. Checked in each round, before the label: the prediction is that of a
hypothesis that fits all labels so far (Consistent); no label has more of them than the prediction (Halving).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from novikoff.core.behaviour import Behaviour
from novikoff.core.certificate import Assumption, seen
from novikoff.core.errors import NovikoffError
from novikoff.core.hypotheses import HypothesisClass, VersionSpaceFacts
from novikoff.core.proof import MOST_POINTS, Played, Proof, Value
from novikoff.core.types import Theorem
from novikoff.finite.proofs import ConsistentProof, HalvingProof
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
    def of(cls, learner: object) -> Self | None:
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
    def by_majority(self) -> bool:
        """Whether every prediction was that of the majority."""
        return self._majority

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

    def proof(self) -> FoundClassProof:
        return FoundClassProof(self)

    def facts(self) -> VersionSpaceFacts:
        return VersionSpaceFacts(
            self._hypotheses.size, self._space.count, self._whole, self._space.weight, self._lightest, self._restarts,
            self._emptied_at, self.rounds,
        )  # fmt: skip


class FoundClassProof(Proof):
    """Proof of a learner from outside: that of Halving if it predicts by majority, otherwise that of Consistent.

    Which of the two is known at the end; the rounds with a mistake are kept until then.
    """

    potentials = ("|V|",)

    def __init__(self, behaviour: ClassBehaviour) -> None:
        super().__init__()
        self._behaviour, self._start = behaviour, behaviour.facts()
        self._before = self._start
        self._kept: list[tuple[Played, VersionSpaceFacts]] = []

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        before, self._before = self._before, self._behaviour.facts()
        self.mistakes += played.mistake
        emptied = self._before.restarts > before.restarts
        if (played.mistake or emptied) and len(self._kept) < MOST_POINTS:
            self._kept += [(replace(played, mistake=False), before), (played, self._before)]
        return (self._before.survivors,)

    def end(self, tracked: object, tracker: object) -> None:
        kind = HalvingProof if self._behaviour.by_majority else ConsistentProof
        proof = kind(self._start)
        for played, facts in self._kept:
            proof.see(_Known(facts), played)
        self.theorem, self.chain, self.scale = proof.theorem, proof.chain, proof.scale
        self.points, self.ended, self.ended_at = proof.points, proof.ended, proof.ended_at
        self._steps, self._order = proof._steps, proof._order


@dataclass(frozen=True, slots=True)
class _Known:
    """A learner of which only the facts are known."""

    known: VersionSpaceFacts

    def facts(self) -> VersionSpaceFacts:
        return self.known
