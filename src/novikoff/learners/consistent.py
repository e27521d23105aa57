"""Consistent: follow a hypothesis that has been right on every round so far.

Algorithm
    V_1 = H.  Predict what the first hypothesis of V_t says, or (`random`) a fresh uniform one each round.
    V_{t+1} = those of V_t that gave the true label, on every round.
    If no hypothesis is left the stream is not realizable: begin again with V = H, and say so.
Promise
    certificates/consistent_mistakes.py: at most |H| - 1 mistakes (first).
    certificates/consistent_expected.py: at most ln|H| expected mistakes (random).
Cost
    O(survivors) time per round, O(survivors) memory.
Reference
    [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from typing import ClassVar, Self

from novikoff.certificates.consistent_expected import consistent_expected
from novikoff.certificates.consistent_mistakes import consistent_mistakes
from novikoff.classes import restore_class
from novikoff.classes.sizes import whole_number
from novikoff.hypotheses import Ballot, HypothesisClass, VersionSpaceFacts
from novikoff.kernels.coins import uniform
from novikoff.learners.restoring import boolean
from novikoff.learners.version_space import VersionSpace
from novikoff.types import Distribution, Example, Label, State, Theorem, check_label


class Consistent:
    """The first surviving hypothesis decides; or a random one, drawn anew each round."""

    promises: ClassVar[tuple[Theorem, ...]] = (consistent_mistakes, consistent_expected)

    def __init__(self, hypotheses: HypothesisClass, random: bool = False, seed: int = 0) -> None:
        self.domain = hypotheses.domain
        self.labels = hypotheses.labels
        self.random = self.draws = bool(random)
        self.seed = whole_number(seed, "seed", "a seed must be a whole number")
        self._believed = VersionSpace(hypotheses)

    @property
    def size(self) -> int:
        """Surviving hypotheses."""
        return self._believed.space.count

    def chances(self, x: Example) -> Distribution:
        """The chance of each label: the share of the survivors that give it."""
        return self._distribution(self._believed.poll(x))

    def predict_one(self, x: Example) -> Label:
        return self._cut(self.chances(x))

    def learn_one(self, x: Example, y: Label) -> None:
        self.play_one(x, y)

    def play_one(self, x: Example, y: Label) -> Label:
        """Predict, then learn, polling the survivors once."""
        y = check_label(y, self.labels)
        ballot = self._believed.poll(x)
        prediction = self._cut(self._distribution(ballot))
        self._believed.learn(ballot, y)
        self._believed.rounds += 1
        return prediction

    def survivor(self) -> str:
        """The first surviving hypothesis, readable."""
        return self._believed.hypotheses.describe(self._believed.space.first())

    def _distribution(self, ballot: Ballot) -> Distribution:
        if not self.random:
            return {ballot.first or 1: 1.0} if self.labels is None else {ballot.first: 1.0}
        total = sum(ballot.weights.values())
        if total == 0:
            return {1: 1.0}
        return {label: votes / total for label, votes in ballot.weights.items() if votes}

    def _cut(self, chances: Distribution) -> Label:
        """The label at which coin t of [0, 1) falls, labels in increasing order."""
        point = uniform(self.seed, "consistent", self._believed.rounds)
        label = 0
        for label in sorted(chances):
            point -= chances[label]
            if point < 0.0:
                break
        return label

    def facts(self) -> VersionSpaceFacts:
        return self._believed.facts()

    def state(self) -> State:
        return {**self._believed.state(), "random": self.random, "seed": self.seed}

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(restore_class(state["hypotheses"]), boolean(state, "random"), state["seed"])
        learner._believed.load(state)
        return learner
