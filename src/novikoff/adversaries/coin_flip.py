"""Coin flips: labels that no learner can predict.

Strategy
    Always show the same x, and label it with a fair coin, whatever was predicted.
Forces
    adversaries/theorems/coin_flip_regret.py: expected regret E|S_T|/2, about sqrt(T/(2 pi)), against the better of
    "always -1" and "always +1", on every learner, randomised or not.
Witness
    The better constant: its label and its mistakes.
Cost
    O(1) time and memory. Coin t is a function of the seed and t.
Reference
    [cesabianchi2006], chapter 3; [steele2014] for the coins.
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.adversaries.contrarian import ANYTHING, Contrarian
from novikoff.adversaries.theorems.coin_flip_regret import coin_flip_regret
from novikoff.core.errors import brief
from novikoff.core.sizes import integer
from novikoff.core.types import Distribution, Domain, Label, Theorem
from novikoff.numerics.coins import coin


class CoinFlip(Contrarian):
    """Adversary whose labels are fair coin flips.

    Args:
        seed: Seed of the coins.
        domain: Domain of the example to show; that of the learner to be played.

    Guarantee:
        On every learner, expected regret E|S_T|/2, about sqrt(T/(2 pi)), against the better constant, S_T being the sum
        of T fair signs (`coin_flip_regret`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Constant(1), nk.adversaries.CoinFlip(seed=0), rounds=100).mistakes
        51
    """

    promises: ClassVar[tuple[Theorem, ...]] = (coin_flip_regret,)

    def __init__(self, seed: int = 0, domain: Domain = ANYTHING) -> None:
        super().__init__(domain)
        self.seed = integer(seed, "seed", "a seed must be an integer")
        self.name = f"coin-flip:seed={brief(self.seed)}"

    def _label(self, prediction: Distribution) -> Label:
        return 1 if coin(self.seed, "coin-flip", self.negatives + self.positives) >> 63 else -1
