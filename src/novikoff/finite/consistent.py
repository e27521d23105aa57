"""Consistent: follow a hypothesis that has been right in every round so far.

Algorithm
    V_1 = H.  Predict with the first hypothesis of V_t, or (`random`) with a fresh uniform one each round.
    V_{t+1} = the hypotheses of V_t that predicted the true label.
    If no hypothesis is left the stream is not realizable: restart with V = H, and report it.
Promise
    finite/theorems/consistent_mistakes.py: at most |H| - 1 mistakes (first).
    finite/theorems/consistent_expected.py: at most ln|H| expected mistakes (random).
Cost
    O(survivors) time per round, O(survivors) memory.
Reference
    [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.core.hypotheses import Ballot, HypothesisClass
from novikoff.core.sizes import integer
from novikoff.core.state import Argument
from novikoff.core.types import Distribution, Example, Label, Theorem
from novikoff.finite.proofs import ConsistentExpectedProof, ConsistentProof
from novikoff.finite.theorems.consistent_expected import consistent_expected
from novikoff.finite.theorems.consistent_mistakes import consistent_mistakes
from novikoff.finite.version_space import VersionSpaceLearner
from novikoff.numerics.coins import uniform


class Consistent(VersionSpaceLearner):
    """Learner that follows the first hypothesis consistent with all labels so far, or a random one.

    Args:
        hypotheses: A finite class, such as `nk.classes.thresholds(100)`.
        random: Whether to follow a fresh uniform survivor each round.
        seed: Seed of the draws.

    Guarantee:
        If some hypothesis fits every label, at most |H| - 1 mistakes (`consistent_mistakes`); with `random`, at most
        ln|H| in expectation (`consistent_expected`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Consistent(nk.classes.thresholds(6)), [(0, -1), (1, -1), (2, 1), (1, -1)]).mistakes
        2
    """

    seed: int

    promises: ClassVar[tuple[Theorem, ...]] = (consistent_mistakes, consistent_expected)
    fields = (Argument("random", bool), Argument("seed", int), *VersionSpaceLearner.fields)

    def __init__(self, hypotheses: HypothesisClass, random: bool = False, seed: int = 0) -> None:
        super().__init__(hypotheses)
        self.random = self.draws = bool(random)
        self.seed = integer(seed, "seed", "a seed must be an integer")

    def textbook(self) -> dict[str, object] | None:
        found = super().textbook()
        return None if found is None or self.draws else {"rule": "consistent", **found}

    def proof(self) -> ConsistentProof | ConsistentExpectedProof:
        return ConsistentExpectedProof(self.facts()) if self.random else ConsistentProof(self.facts())

    def chances(self, x: Example) -> Distribution:
        """Return the probability of each label: the share of the survivors that predict it."""
        return self._distribution(self.space.poll(x))

    def _distribution(self, ballot: Ballot) -> Distribution:
        if not self.random:
            return {ballot.first or 1: 1.0} if self.task == "binary" else {ballot.first: 1.0}
        total = sum(ballot.weights.values())
        if total == 0:
            return {1: 1.0}
        return {label: votes / total for label, votes in ballot.weights.items() if votes}

    def _decide(self, ballot: Ballot) -> Label:
        """Return the label drawn by the uniform number of round t, labels in increasing order."""
        chances = self._distribution(ballot)
        point = uniform(self.seed, "consistent", self.rounds)
        label = 0
        for label in sorted(chances):
            point -= chances[label]
            if point < 0.0:
                break
        return label
