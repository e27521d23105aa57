"""What Consistent and Halving have in common: a version space that begins again with all of H when nothing is left.

A learner of this family brings `_decide`, what the votes of the survivors make it say.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from novikoff.core.hypotheses import Ballot, HypothesisClass, VersionSpaceFacts
from novikoff.core.learner import Learner
from novikoff.core.state import Count, Field, First, Part
from novikoff.core.types import Domain, Example, Label, Outcome, State, Theorem, check_label
from novikoff.finite.classes import Hypotheses
from novikoff.finite.classes.survivors import whole_weights


class VersionSpaceLearner(Learner):
    """The hypotheses still believed, and how often belief had to begin again."""

    domain: Domain
    labels: int | None

    promises: ClassVar[tuple[Theorem, ...]]
    fields: ClassVar[tuple[Field, ...]] = (
        Hypotheses("hypotheses", argument=True),
        Part("space"),
        Count("rounds"),
        Count("restarts", most="rounds"),
        First("emptied_at", "restarts"),
    )
    conservative = False

    def __init__(self, hypotheses: HypothesisClass, prior: Any = None) -> None:
        self.domain, self.labels, self.hypotheses = hypotheses.domain, hypotheses.labels, hypotheses
        named = prior is None or isinstance(prior, str)
        self.prior = prior if named else whole_weights(prior, hypotheses.size).tolist()
        self.space = hypotheses.space(self.prior)
        self._whole = self._weight = self.space.weight
        self.rounds = self.restarts = self.emptied_at = 0

    @property
    def size(self) -> int:
        """Surviving hypotheses."""
        return self.space.count

    @abstractmethod
    def _decide(self, ballot: Ballot) -> Label:
        """What is said when the survivors vote so."""

    def predict_one(self, x: Example) -> Label:
        return self._decide(self.space.poll(x))

    def play_one(self, x: Example, y: Outcome) -> Label:
        """Predict, then learn, polling the survivors once."""
        y = check_label(y, self.labels)
        ballot = self.space.poll(x)
        prediction = self._decide(ballot)
        if prediction != y or not self.conservative:
            self._keep(ballot, y)
        self.rounds += 1
        return prediction

    def _keep(self, ballot: Ballot, y: Label) -> None:
        """Keep those that voted for y; if there are none, begin again with all of H."""
        if ballot.weights[y] > 0:
            if ballot.weights[y] < self._weight:
                self.space.keep(ballot, y)
                self._weight = ballot.weights[y]
            return
        self.space = self.hypotheses.space(self.prior)
        self._weight = self._whole
        self.restarts += 1
        self.emptied_at = self.emptied_at or self.rounds + 1

    def survivor(self) -> str:
        """The first surviving hypothesis, readable; for programs the shortest, as Python source."""
        return self.hypotheses.describe(self.space.first())

    def facts(self) -> VersionSpaceFacts:
        return VersionSpaceFacts(
            hypotheses=self.hypotheses.size,
            survivors=self.space.count,
            whole=self._whole,
            weight=self._weight,
            lightest=self.space.lightest,
            restarts=self.restarts,
            emptied_at=self.emptied_at,
            rounds=self.rounds,
        )

    def after_restoring(self, found: State) -> None:
        self._weight = self.space.weight
