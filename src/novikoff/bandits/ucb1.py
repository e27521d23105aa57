"""UCB1: optimism for arms with independent losses.

Algorithm
    Play each arm once. Then play the arm with the least lower confidence limit on its mean loss,
        (mean of its observed losses)  -  sqrt(2 ln t / N_i),      t rounds played so far, N_i of them of arm i,
    the first of equals. With rewards in place of losses these are upper limits, hence the name (upper confidence
    bounds). It draws nothing: an adversary that knows the past can make it lose everything; use tsallis-inf where
    losses may not be independent.
Promise
    bandits/theorems/ucb1_regret.py: for independent losses, expected pseudo-regret at most the sum of 8 ln T / gap +
    (1 + pi^2/3) gap over the worse arms, and at most sqrt(32 (K - 1) T ln T) + (1 + pi^2/3)(K - 1) for all gaps.
Cost
    O(K) per round; 24 bytes per arm. Ten arms: about 10 million rounds per second.
Reference
    [auer2002b].
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.bandits import _loops
from novikoff.bandits._loops.bandit_layout import Results
from novikoff.bandits.bandit_learner import Vector
from novikoff.bandits.stochastic_bandit import StochasticBandit
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.bandits.theorems.ucb1_regret import ucb1_regret
from novikoff.core.state import Argument
from novikoff.core.types import Theorem
from novikoff.numerics.records import astuple


class UCB1(StochasticBandit):
    """Bandit that plays the arm with the least lower confidence limit on its mean loss.

    Args:
        arms: Number of arms K.

    Guarantee:
        For independent losses, expected pseudo-regret at most the sum of 8 ln T / gap + (1 + pi^2/3) gap over the worse
        arms (`ucb1_regret`).

    Example:
        >>> import novikoff as nk
        >>> bandit = nk.UCB1(arms=2)
        >>> for _ in range(100):
        ...     step = bandit.play_one(None, [0.2, 0.8])
        >>> bandit.plays
        [89, 11]
    """

    promises: ClassVar[tuple[Theorem, ...]] = (ucb1_regret,)
    fields = (Argument("arms", int), *StochasticBandit.fields)

    def __init__(self, arms: int) -> None:
        super().__init__(arms)

    def _arm(self) -> int:
        return int(_loops.stochastic.ucb1_arm(self._plays, self._paid, self.rounds))

    def _play(self, x: object, rows: Vector, whole: bool, results: Results) -> None:
        _loops.stochastic.ucb1(rows, whole, self.rounds, astuple(self._counts()), astuple(results))

    def facts(self) -> BanditFacts:
        return self._facts(rule="ucb1")
