"""Halving: say what most of the surviving hypotheses say.

Algorithm
    V_1 = H.  Predict the label with the most weight in V_t; a tie says +1 (with many labels, the smallest).
    V_{t+1} = those of V_t that gave the true label: on every round, or (`conservative`) on mistakes only.
    If no hypothesis is left the stream is not realizable: begin again with V = H, and say so.
    A prior gives each hypothesis a weight; "length" weighs a program of L bits 2^-L.
Promise
    certificates/halving_mistakes.py: at most log2|H| mistakes when some hypothesis is perfect.
    certificates/halving_restarts.py: at most (m+1)(log2|H|+1) when the best one errs m times.
Cost
    O(survivors) time per round, O(survivors) memory; programs take 1/64 of that.
Reference
    [littlestone1988]; [barzdin1972].
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from novikoff.certificates.halving_mistakes import halving_mistakes
from novikoff.certificates.halving_restarts import halving_restarts
from novikoff.classes import restore_class
from novikoff.hypotheses import HypothesisClass, VersionSpaceFacts
from novikoff.learners.restoring import boolean
from novikoff.learners.version_space import VersionSpace
from novikoff.types import Example, Label, State, Theorem, check_label


class Halving:
    """The majority of the survivors decides."""

    promises: ClassVar[tuple[Theorem, ...]] = (halving_mistakes, halving_restarts)

    def __init__(self, hypotheses: HypothesisClass, prior: Any = None, conservative: bool = False) -> None:
        self.domain = hypotheses.domain
        self.labels = hypotheses.labels
        self.conservative = bool(conservative)
        self._believed = VersionSpace(hypotheses, prior)

    @property
    def size(self) -> int:
        """Surviving hypotheses."""
        return self._believed.space.count

    def predict_one(self, x: Example) -> Label:
        return self._believed.poll(x).winner()

    def learn_one(self, x: Example, y: Label) -> None:
        self.play_one(x, y)

    def play_one(self, x: Example, y: Label) -> Label:
        """Predict, then learn, polling the survivors once."""
        y = check_label(y, self.labels)
        ballot = self._believed.poll(x)
        prediction = ballot.winner()
        if prediction != y or not self.conservative:
            self._believed.learn(ballot, y)
        self._believed.rounds += 1
        return prediction

    def survivor(self) -> str:
        """The first surviving hypothesis, readable; for programs the shortest, as Python source."""
        return self._believed.hypotheses.describe(self._believed.space.first())

    def facts(self) -> VersionSpaceFacts:
        return self._believed.facts()

    def state(self) -> State:
        return {**self._believed.state(), "conservative": self.conservative}

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(restore_class(state["hypotheses"]), state["prior"], boolean(state, "conservative"))
        learner._believed.load(state)
        return learner
