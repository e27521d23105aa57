"""Halving on covers of the sphere, for linear classifiers whose margin is not known.

Algorithm
    Guess that the margin is R 2^-k, for k = 0, 1, ... (R need not be known: only the direction of x counts). Play
    Halving on a cover of the unit sphere to epsilon_k = 2^-(k+1) (finite/classes/sphere.py): a tie predicts +1, and the
    survivors are filtered in every round, or (`conservative`) on mistakes only. When none is left, switch to the next
    cover. A cover of more than `largest` points is not created: the last one is then restarted (in one dimension there
    is only one cover, -1 and +1). x = 0 is +1 for every hypothesis; if its label is -1 nothing is learned from it.
Promise
    finite/theorems/cover_restarts.py: the sum of log2|C| + 1 over at most log2(R / margin) + 1 covers C; void if the
    last cover allowed was emptied or x = 0 was labelled -1.
Cost
    O(survivors * dim) time per round, O(dim |C|) memory; |C| grows like 2^(k (dim-1)), so for few dimensions.
Reference
    [littlestone1988]; the restarts are the doubling trick of [cesabianchi2006].
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.certificate import floor_log2
from novikoff.core.errors import TooLargeError, brief
from novikoff.core.hypotheses import Ballot
from novikoff.core.learner import Learner
from novikoff.core.sizes import integer as checked
from novikoff.core.state import Schema, arguments, integer, require
from novikoff.core.types import Domain, Example, Label, Outcome, State, Theorem, check_label
from novikoff.finite.classes.sphere import LARGEST_COVER, SMALLEST_EPSILON, SphereCover, cover_size
from novikoff.finite.proofs import CoverProof
from novikoff.finite.theorems.cover_restarts import CoverFacts, cover_restarts

PARAMS: Schema = {"dim": int, "conservative": bool, "largest": int}
"""Constructor arguments in a saved state."""
COUNTERS = ("level", "rounds", "spent", "capped", "zeros")
"""Counters in a saved state, explained in CoverFacts."""

FINEST = 64
"""Upper limit of the level in a saved state: no cover is refined so often."""


class CoverHalving(Learner):
    """Halving on covers of the unit sphere, each twice as fine as the last, for an unknown margin.

    Args:
        dim: Number of features.
        conservative: Whether to filter hypotheses on mistakes only.
        largest: Largest number of points of a cover.

    Guarantee:
        If the rows are separable with a margin, at most the sum of log2|C| + 1 over at most log2(R/margin) + 1 covers C
        (`cover_restarts`).

    Example:
        >>> import novikoff as nk
        >>> rows = [((1.0, 0.1), 1), ((0.1, 1.0), -1), ((0.2, 1.0), -1), ((1.0, 0.2), 1)]
        >>> nk.play(nk.CoverHalving(2), rows).mistakes
        2
    """

    domain: Domain

    promises: ClassVar[tuple[Theorem, ...]] = (cover_restarts,)

    def __init__(self, dim: int, conservative: bool = False, largest: int = 1_000_000) -> None:
        must = f"the largest cover must have a whole number of points from 1 to {LARGEST_COVER:,}"
        self.largest = checked(largest, "largest", must, 1, LARGEST_COVER)
        self.conservative = bool(conservative)
        self._cover = SphereCover(dim, 0.5)
        self.dim, self.domain = self._cover.dim, self._cover.domain
        if not self._allowed(0.5):
            raise TooLargeError(
                f"the first cover, to epsilon 0.5, must have at most {self.largest:,} points: in {brief(self.dim)} "
                f"dimensions it has more. Use fewer dimensions, or a larger `largest` (up to {LARGEST_COVER:,})."
            )
        self._space = self._cover.space()
        self.level = 0
        self.rounds = self.spent = self.capped = self.zeros = 0

    def _allowed(self, epsilon: float) -> bool:
        if epsilon < SMALLEST_EPSILON:
            return False
        size = cover_size(self.dim, epsilon, self._cover.method, self.largest)
        return size is not None and size <= self.largest

    @property
    def size(self) -> int:
        """Surviving hypotheses."""
        return self._space.count

    @property
    def epsilon(self) -> float:
        """Largest distance of a unit vector from the current cover."""
        return self._cover.epsilon

    def votes(self, x: Example) -> int:
        """Return the number of surviving directions, of `size`, that label x +1."""
        return int(self._space.poll(x).weights[1])

    def survivors(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the directions of the current cover, one per column, and whether each survives."""
        return self._cover.points, self._space.alive()

    def predict_one(self, x: Example) -> Label:
        return self._space.poll(x).winner()

    def play_one(self, x: Example, y: Outcome) -> Label:
        """Predict, then learn, polling the survivors once."""
        y = check_label(y, self.labels)
        ballot = self._space.poll(x)
        prediction = ballot.winner()
        if prediction != y or not self.conservative:
            self._learn(x, y, ballot)
        self.rounds += 1
        return prediction

    def _learn(self, x: Example, y: Label, ballot: Ballot) -> None:
        """Keep the directions that voted for y; if there are none, switch to the next cover."""
        if ballot.weights[y] > 0:
            if ballot.weights[-y] > 0:
                self._space.keep(ballot, y)
        elif not encode.vector(x, self.dim).any():
            self.zeros += 1
        else:
            finer = self._finer()
            cover = SphereCover(self.dim, self.epsilon / 2.0) if finer else self._cover
            space = cover.space()  # before any change, because it may run out of memory
            self.spent += _most_mistakes(self._cover.size)
            self.level += finer
            self.capped += not finer
            self._cover, self._space = cover, space

    def _finer(self) -> bool:
        """Return whether there is a finer cover."""
        return self.dim > 1 and self._allowed(self.epsilon / 2.0)

    def survivor(self) -> str:
        """Return the first surviving halfspace as text."""
        return self._cover.describe(self._space.first())

    def proof(self) -> CoverProof:
        return CoverProof(self.facts())

    def facts(self) -> CoverFacts:
        counts = (self.spent, self.capped, self.zeros, self.rounds)
        return CoverFacts(self.level, self._cover.size, self._space.count, *counts)

    def state(self) -> State:
        return {**{name: getattr(self, name) for name in (*PARAMS, *COUNTERS)}, "space": self._space.state()}

    @classmethod
    def restore(cls, state: State) -> Self:
        """Return the learner with this `state`; by hand, because the cover and `spent` follow from the level."""
        learner = cls(**arguments(state, PARAMS))
        for _ in range(integer(state, "level", 0, FINEST)):
            require(learner._finer(), f"level of a learner must be at most {learner.level}", state["level"])
            learner.level += 1
            learner.spent += _most_mistakes(learner._cover.size)
            learner._cover = SphereCover(learner.dim, learner.epsilon / 2.0)
        learner._space = learner._cover.space()
        learner._space.load(state["space"])
        learner.rounds = integer(state, "rounds")
        learner.capped = integer(state, "capped", 0, 0 if learner._finer() else learner.rounds)
        learner.zeros = integer(state, "zeros", 0, learner.rounds)
        learner.spent += learner.capped * _most_mistakes(learner._cover.size)
        integer(state, "spent", learner.spent, learner.spent)
        return learner


def _most_mistakes(size: int) -> int:
    """Return the mistake bound of a cover that is emptied: Halving's, plus the mistake that leaves no survivor."""
    return floor_log2(size, 1) + 1
