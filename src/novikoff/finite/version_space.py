"""Base class of Consistent and Halving: a version space that restarts with all of H when no hypothesis is left.

A subclass defines `_decide`, the prediction from the votes of the survivors.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from novikoff.core.hypotheses import Ballot, HypothesisClass, VersionSpaceFacts, task_for
from novikoff.core.learner import Learner
from novikoff.core.state import Count, Field, First, Part
from novikoff.core.types import Domain, Example, Label, Outcome, State, Theorem, check_label
from novikoff.finite.classes import Hypotheses
from novikoff.finite.classes.survivors import whole_weights


class VersionSpaceLearner(Learner):
    """Learner that predicts from the votes of the hypotheses consistent with the labels so far."""

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
    fixed_labels = True

    def __init__(self, hypotheses: HypothesisClass, prior: Any = None) -> None:
        self.domain, self.labels, self.hypotheses = hypotheses.domain, hypotheses.labels, hypotheses
        self.task = task_for(hypotheses.labels)
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
        """Return the prediction for these votes of the survivors."""

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
        """Keep the hypotheses that voted for y; if there are none, restart with all of H."""
        if ballot.weights[y] > 0:
            if ballot.weights[y] < self._weight:
                self.space.keep(ballot, y)
                self._weight = ballot.weights[y]
            return
        self.space = self.hypotheses.space(self.prior)
        self._weight = self._whole
        self.restarts += 1
        self.emptied_at = self.emptied_at or self.rounds + 1

    def textbook(self) -> dict[str, object] | None:
        named = isinstance(self.prior, str)
        return None if named else {"class": self.hypotheses.state(), "prior": self.prior}

    def survivor(self) -> str:
        """Return the first surviving hypothesis as text; for programs the shortest, as Python source."""
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
