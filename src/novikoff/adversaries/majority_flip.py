"""Majority flip: k points, each labelled with the opposite of the prediction.

Strategy
    Show the points 0, 1, ..., k-1 in turn and label each with the opposite of the prediction; then repeat them in turn
    with the same labels. Against Halving these are the opposite of the majority.
Forces
    adversaries/theorems/majority_flip_forced.py: k mistakes on any deterministic learner. Halving on all 2^k
    functions (classes.matrix.cube) makes at most log2(2^k) = k: its bound is met with equality.
Witness
    The k labels, a row of the cube; points not shown yet are +1.
Cost
    O(1) time per round, O(k) memory.
Reference
    [littlestone1988].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from novikoff.adversaries.opposite import opposite
from novikoff.adversaries.theorems.majority_flip_forced import MajorityFlipFacts, majority_flip_forced
from novikoff.core.errors import brief
from novikoff.core.sizes import integer
from novikoff.core.types import Distribution, Domain, Example, Label, Theorem


class MajorityFlip:
    """Adversary that labels each of k points against the prediction, then repeats them with the same labels.

    Args:
        k: Number of points.

    Guarantee:
        At least min(T, k) mistakes on any deterministic learner (`majority_flip_forced`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Halving(nk.classes.cube(3)), nk.adversaries.MajorityFlip(3), rounds=6).mistakes
        3
    """

    promises: ClassVar[tuple[Theorem, ...]] = (majority_flip_forced,)

    def __init__(self, k: int) -> None:
        self.k = integer(k, "k", "the number of points must be a positive integer", 1)
        self.name = f"majority-flip:k={brief(self.k)}"
        self.domain = Domain("index", self.k)
        self.rounds = 0
        self._labels: list[Label] = []

    def ask(self, probe: Callable[[Example], Distribution]) -> Any:
        return self.rounds % self.k

    def answer(self, prediction: Distribution) -> Label:
        if self.rounds < self.k:
            self._labels.append(opposite(prediction))
        label = self._labels[self.rounds % self.k]
        self.rounds += 1
        return label

    def witness(self) -> tuple[Label, ...]:
        """Return the labels of the k points: the separating u, if the points are vectors."""
        return (*self._labels, *(1,) * (self.k - len(self._labels)))

    def facts(self) -> MajorityFlipFacts:
        return MajorityFlipFacts(self.k, tuple(self._labels))
