"""Budget ruin: one vector more than the learner can store.

Strategy
    There are B + 1 orthogonal vectors e_1, ..., e_{B+1}, visited in a cycle. Starting after the vector shown last, show
    the first on which the learner errs; a vector not shown before gets the label that is not predicted, and keeps it.
    If the learner is right on all of them, show the next one.
Forces
    adversaries/theorems/budget_forced.py: a mistake in every round, if the learner's score is a combination of at most
    B of the vectors (the linear kernel); B + 1 mistakes on any deterministic learner, and the Perceptron makes no
    more.
Witness
    u = sum y_i e_i, the B + 1 labels; vectors not shown yet are +1. It has no hinge loss, and ||u|| = sqrt(B + 1).
Cost
    At most B + 1 predictions per round, O(B) memory. Zeros and ones, so the learner's sums are exact.
Reference
    [dekel2008].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.adversaries.opposite import opposite
from novikoff.adversaries.theorems.budget_forced import BudgetRuinFacts, budget_forced
from novikoff.core.sizes import integer
from novikoff.core.types import Distribution, Domain, Example, Label, Theorem


class BudgetRuin:
    """Adversary that shows one of B + 1 orthogonal vectors that the learner has forgotten.

    Args:
        budget: Number B of examples that the learner can store.

    Guarantee:
        A deterministic learner whose score is a combination of at most B of the vectors errs in every round; any other
        deterministic learner makes at least B + 1 mistakes (`budget_forced`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.Forgetron(budget=2, kernel="linear", radius=1.0)
        >>> nk.play(learner, nk.adversaries.BudgetRuin(2), rounds=8).mistakes
        8
    """

    promises: ClassVar[tuple[Theorem, ...]] = (budget_forced,)

    def __init__(self, budget: int) -> None:
        self.budget = integer(budget, "budget", "a budget must be a positive integer", 1)
        self.name = f"budget-ruin:budget={self.budget}"
        self.domain = Domain("vector", self.budget + 1)
        self.escapes = 0
        self._labels: list[Label] = []
        self._shown = -1  # the vector shown last

    def ask(self, probe: Callable[[Example], Distribution]) -> NDArray[np.float64]:
        vectors = self.budget + 1
        following = [(self._shown + step) % vectors for step in range(1, vectors + 1)]
        for place in following:
            if place >= len(self._labels) or opposite(probe(self._vector(place))) == self._labels[place]:
                self._shown = place
                return self._vector(place)
        self.escapes += 1
        self._shown = following[0]
        return self._vector(self._shown)

    def answer(self, prediction: Distribution) -> Label:
        if self._shown == len(self._labels):
            self._labels.append(opposite(prediction))
        return self._labels[self._shown]

    def witness(self) -> tuple[Label, ...]:
        """Return the u without hinge loss: the labels of the B + 1 vectors."""
        return (*self._labels, *(1,) * (self.budget + 1 - len(self._labels)))

    def facts(self) -> BudgetRuinFacts:
        return BudgetRuinFacts(self.budget, tuple(self._labels), self.escapes)

    def _vector(self, place: int) -> NDArray[np.float64]:
        x = np.zeros(self.budget + 1)
        x[place] = 1.0
        return x
