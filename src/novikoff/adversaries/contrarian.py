"""The contrarian: every prediction is wrong.

Strategy
    Always show the same x, and label it with the opposite of the prediction: y_t = -p_t. If the learner is randomised,
    the adversary sees only its probabilities, and answers with the opposite of the likelier label (+1 on a tie).
Forces
    adversaries/theorems/contrarian_regret.py: a mistake in every round, so regret ceil(T/2) against the better of
    "always -1" and "always +1", on any deterministic learner.
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
"""Default domain."""


class Contrarian:
    """Adversary that answers every prediction with the opposite label.

    Args:
        domain: Domain of the example to show; that of the learner to be played.

    Guarantee:
        A deterministic learner errs in every round, so its regret against the better constant is at least ceil(T/2)
        (`contrarian_regret`).

    Example:
        >>> import novikoff as nk
        >>> adversary = nk.adversaries.Contrarian()
        >>> nk.play(nk.Constant(1), adversary, rounds=4).mistakes
        4
        >>> adversary.witness()
        (-1, 0)
    """

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
        """Return the better constant: its label and its mistakes."""
        return better_constant((self.positives, self.negatives))

    def facts(self) -> AnswerCounts:
        return AnswerCounts(self.negatives, self.positives)
