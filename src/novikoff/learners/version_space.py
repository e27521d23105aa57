"""What Consistent and Halving share: a version space that begins again with all of H when nothing is left."""

from __future__ import annotations

from typing import Any

from novikoff.classes.survivors import whole_weights
from novikoff.hypotheses import Ballot, HypothesisClass, VersionSpaceFacts
from novikoff.learners.restoring import counters
from novikoff.types import Example, Label, State


class VersionSpace:
    """The hypotheses still believed, and how often belief had to begin again."""

    def __init__(self, hypotheses: HypothesisClass, prior: Any = None) -> None:
        self.hypotheses = hypotheses
        self.prior = (
            prior if prior is None or isinstance(prior, str) else whole_weights(prior, hypotheses.size).tolist()
        )
        self.space = hypotheses.space(self.prior)
        self._whole = self._weight = self.space.weight
        self.rounds = 0
        self.restarts = 0
        self.emptied_at = 0

    def poll(self, x: Example) -> Ballot:
        """The votes on x."""
        return self.space.poll(x)

    def learn(self, ballot: Ballot, y: Label) -> None:
        """Keep those that voted for y; if there are none, begin again with all of H. The caller counts the round."""
        if ballot.weights[y] > 0:
            if ballot.weights[y] < self._weight:
                self.space.keep(ballot, y)
                self._weight = ballot.weights[y]
            return
        self.space = self.hypotheses.space(self.prior)
        self._weight = self._whole
        self.restarts += 1
        self.emptied_at = self.emptied_at or self.rounds + 1

    def facts(self) -> VersionSpaceFacts:
        """For the certificates."""
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

    def state(self) -> State:
        """As plain data."""
        return {
            "hypotheses": self.hypotheses.state(),
            "prior": self.prior,
            "space": self.space.state(),
            "rounds": self.rounds,
            "restarts": self.restarts,
            "emptied_at": self.emptied_at,
        }

    def load(self, state: State) -> None:
        """Take over the survivors and counters of `state`."""
        self.space.load(state["space"])
        self._weight = self.space.weight
        self.rounds, self.restarts, self.emptied_at = counters(state, "restarts", "emptied_at")
