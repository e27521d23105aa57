"""The contrarian: whatever you say is wrong.

Strategy
    Show the same x always, and answer with the opposite of the prediction: y_t = -p_t. Of a learner that draws it
    hears the chances only, and says the opposite of the likelier label (a tie counts as +1).
Forces
    adversaries/theorems/contrarian_regret.py: a mistake in every round, so regret ceil(T/2) against the better of
    "always -1" and "always +1", on any learner that draws nothing.
Witness
    The better constant: its label and its mistakes.
Cost
    O(1) time and memory.
Reference
    [shalevshwartz2014], chapter 21; [cesabianchi2006], chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from novikoff.adversaries.opposite import opposite
from novikoff.adversaries.theorems.contrarian_regret import AnswerCounts, better_constant, contrarian_regret
from novikoff.core.types import Distribution, Domain, Example, Label, Theorem

ANYTHING = Domain("any")


class Contrarian:
    """Says the opposite. `domain`: what to show; that of the learner to be played."""

    promises: ClassVar[tuple[Theorem, ...]] = (contrarian_regret,)
    name = "contrarian"

    def __init__(self, domain: Domain = ANYTHING) -> None:
        self.domain = domain
        self.negatives = self.positives = 0

    def ask(self, probe: Callable[[Example], Distribution]) -> Example:
        return self.domain.origin()

    def answer(self, prediction: Distribution) -> Label:
        label = self._label(prediction)
        if label == 1:
            self.positives += 1
        else:
            self.negatives += 1
        return label

    def _label(self, prediction: Distribution) -> Label:
        return opposite(prediction)

    def witness(self) -> tuple[Label, int]:
        """The better constant: its label, and its mistakes."""
        return better_constant((self.positives, self.negatives))

    def facts(self) -> AnswerCounts:
        return AnswerCounts(self.negatives, self.positives)
