"""Coin flips: labels that nobody can foresee.

Strategy
    Show the same x always, and answer with a fair coin, whatever was predicted.
Forces
    certificates/coin_flip_regret.py: expected regret E|S_T|/2, about sqrt(T/(2 pi)), against the better of
    "always -1" and "always +1", on every learner, random or not.
Witness
    The better constant: its label and its mistakes.
Cost
    O(1) time and memory. Coin t is a function of the seed and t.
Reference
    [cesabianchi2006], chapter 3; [steele2014] for the coins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from novikoff.certificates.coin_flip_regret import coin_flip_regret
from novikoff.certificates.contrarian_regret import AnswerCounts, better_constant
from novikoff.classes.sizes import integer
from novikoff.errors import brief
from novikoff.kernels.coins import coin
from novikoff.types import Distribution, Domain, Example, Label, Theorem

ANYTHING = Domain("any")


class CoinFlip:
    """Flips a fair coin each round. `domain`: what to show; that of the learner to be played."""

    promises: ClassVar[tuple[Theorem, ...]] = (coin_flip_regret,)

    def __init__(self, seed: int = 0, domain: Domain = ANYTHING) -> None:
        self.seed = integer(seed, "seed", "a seed must be a whole number")
        self.domain = domain
        self.name = f"coin-flip:seed={brief(self.seed)}"
        self.negatives = self.positives = 0

    def ask(self, probe: Callable[[Example], Distribution]) -> Example:
        return self.domain.origin()

    def answer(self, prediction: Distribution) -> Label:
        if coin(self.seed, "coin-flip", self.negatives + self.positives) >> 63:
            self.positives += 1
            return 1
        self.negatives += 1
        return -1

    def witness(self) -> tuple[Label, int]:
        """The better constant: its label, and its mistakes."""
        return better_constant((self.positives, self.negatives))

    def facts(self) -> AnswerCounts:
        return AnswerCounts(self.negatives, self.positives)
