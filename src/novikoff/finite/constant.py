"""Constant: always the same label.

Algorithm
    Predict `label`, whatever x is; learn nothing.
Promise
    None: its mistakes are the rounds with the other label. It is the comparator of the regret in
    adversaries/contrarian.py and adversaries/coin_flip.py.
Cost
    O(1) time and memory.
Reference
    [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from novikoff.core.learner import Learner
from novikoff.core.state import Choice
from novikoff.core.types import Domain, Example, Label, Outcome, Theorem, check_label


@dataclass(frozen=True, slots=True)
class ConstantFacts:
    """Label that a constant learner predicts."""

    label: Label


class Constant(Learner):
    """Learner that predicts the same label in every round.

    Args:
        label: The label, -1 or +1.

    Guarantee:
        None: its mistakes are the rounds with the other label.

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Constant(-1), [(0.0, -1), (1.0, 1)]).mistakes
        1
    """

    promises: ClassVar[tuple[Theorem, ...]] = ()
    domain: Domain
    fields = (Choice("label", (-1, 1), argument=True),)

    def __init__(self, label: Label = 1) -> None:
        self.label = check_label(label, self.labels)
        self.domain = Domain("any")

    def predict_one(self, x: Example) -> Label:
        return self.label

    def play_one(self, x: Example, y: Outcome) -> Label:
        check_label(y, self.labels)
        return self.label

    def facts(self) -> ConstantFacts:
        return ConstantFacts(self.label)
