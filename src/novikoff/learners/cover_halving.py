"""Halving on covers of the sphere, for linear classifiers whose margin is not known.

Algorithm
    Guess that the margin is R 2^-k, for k = 0, 1, ... (R need not be known: only the direction of x counts). Play
    Halving on a cover of the unit sphere to epsilon_k = 2^-(k+1) (classes/sphere.py): a tie says +1, and the survivors
    are filtered on every round, or (`conservative`) on mistakes only. When none is left, go on with the whole of the
    next cover. A cover of more than `largest` points is not made: the last one is then played again from its start
    (in one dimension there is but one cover, -1 and +1).
    x = 0 is +1 for every hypothesis; if its label is -1 nothing is learned from it.
Promise
    certificates/cover_restarts.py: the sum of log2|C| + 1 over at most log2(R / margin) + 1 covers C; void if the
    last cover allowed was emptied or x = 0 was labelled -1.
Cost
    O(survivors * dim) time per round, O(dim |C|) memory; |C| grows like 2^(k (dim-1)), so for few dimensions.
Reference
    [littlestone1988]; the restarts are the doubling trick of [cesabianchi2006].
"""

from __future__ import annotations

from typing import ClassVar, Self

from novikoff import encode
from novikoff.certificate import floor_log2
from novikoff.certificates.cover_restarts import CoverFacts, cover_restarts
from novikoff.classes.sphere import LARGEST_COVER, SMALLEST_EPSILON, SphereCover, cover_size
from novikoff.errors import InputError, TooLargeError
from novikoff.types import Ballot, Example, Label, State, Theorem, check_label


class CoverHalving:
    """The majority of a cover decides; a finer cover follows when nobody is left."""

    promises: ClassVar[tuple[Theorem, ...]] = (cover_restarts,)
    labels: int | None = None

    def __init__(self, dim: int, conservative: bool = False, largest: int = 1_000_000) -> None:
        if not 1 <= largest <= LARGEST_COVER:
            raise InputError(f"the largest cover must have from 1 to {LARGEST_COVER:,} points: got {largest}.")
        self.conservative = conservative
        self.largest = int(largest)
        self._cover = SphereCover(dim, 0.5)
        self.dim, self.domain = self._cover.dim, self._cover.domain
        if not self._allowed(0.5):
            raise TooLargeError(
                f"the first cover, to epsilon 0.5, must have at most {self.largest:,} points: in {dim} dimensions it "
                f"has more. Take fewer dimensions, or a larger `largest` (up to {LARGEST_COVER:,})."
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
        """How fine the cover in play is."""
        return self._cover.epsilon

    def predict_one(self, x: Example) -> Label:
        return self._space.poll(x).winner()

    def learn_one(self, x: Example, y: Label) -> None:
        self.play_one(x, y)

    def play_one(self, x: Example, y: Label) -> Label:
        """Predict, then learn, polling the survivors once."""
        y = check_label(y, self.labels)
        ballot = self._space.poll(x)
        prediction = ballot.winner()
        self.rounds += 1
        if prediction != y or not self.conservative:
            self._learn(x, y, ballot)
        return prediction

    def _learn(self, x: Example, y: Label, ballot: Ballot) -> None:
        """Keep those that voted for y; if there are none, go on with the next cover."""
        if ballot.weights[y] > 0:
            if ballot.weights[-y] > 0:
                self._space.keep(ballot, y)
        elif not encode.vector(x, self.dim).any():
            self.zeros += 1
        else:
            self.spent += floor_log2(self._cover.size, 1) + 1
            if self.dim > 1 and self._allowed(self.epsilon / 2.0):
                self.level += 1
                self._cover = SphereCover(self.dim, self.epsilon / 2.0)
            else:
                self.capped += 1
            self._space = self._cover.space()

    def survivor(self) -> str:
        """The first surviving halfspace, readable."""
        return self._cover.describe(self._space.first())

    def facts(self) -> CoverFacts:
        return CoverFacts(self.level, self._cover.size, self._space.count, self.spent, self.capped, self.zeros)

    def state(self) -> State:
        return {
            "dim": self.dim,
            "conservative": self.conservative,
            "largest": self.largest,
            "level": self.level,
            "space": self._space.state(),
            "rounds": self.rounds,
            "spent": self.spent,
            "capped": self.capped,
            "zeros": self.zeros,
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(state["dim"], state["conservative"], state["largest"])
        learner._cover = SphereCover(learner.dim, 2.0 ** -(state["level"] + 1))
        learner._space = learner._cover.space()
        learner._space.load(state["space"])
        for name in ("level", "rounds", "spent", "capped", "zeros"):
            setattr(learner, name, state[name])
        return learner
