"""Tsallis-INF: a bandit that is optimal for both independent and adversarial losses.

Algorithm
    E_i = 0. In round t, with eta_t = 1/sqrt t, draw arm I with probabilities
        p(i)  =  1 / (eta_t (E_i - x))^2,      x below every E_i such that they sum to 1,
    which minimise the sum of p(i) E_i - (2/eta_t) sqrt p(i). Observe its loss l in [0, 1], and add l / p(I) to E_I.
    x is found by Newton's method, which decreases from x = least E_i - 1/eta_t to the root; the sum of the
    probabilities is checked in every round and reported.
    Only the loss of the arm drawn is used, also in a simulation, which provides a whole row
    (bandits/bandit_learner.py).
Promise
    bandits/theorems/tsallis_pathwise.py: loss <= least E_i + a sum over the rounds, on every stream.
    bandits/theorems/tsallis_regret.py: expected regret <= 4 sqrt(K T) - 2 sqrt T on every table, known in advance.
    bandits/theorems/observable_regret.py: a limit on the regret from observed losses, at all rounds at once. Bad arms
    are rarely played, so little is known about them, and this limit is larger than that of exp3-ix.
Cost
    O(K) per round, for each of about six steps of Newton; 80 bytes per arm. Ten arms: about 2.5 million rounds per
    second.
Reference
    [zimmert2021].
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from novikoff.bandits import _loops
from novikoff.bandits._loops.bandit_layout import Results
from novikoff.bandits.bandit_learner import BanditLearner, Vector
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.bandits.theorems.observable_regret import observable_regret
from novikoff.bandits.theorems.tsallis_pathwise import tsallis_pathwise
from novikoff.bandits.theorems.tsallis_regret import tsallis_regret
from novikoff.core.state import Argument
from novikoff.core.types import Example, Theorem
from novikoff.numerics.records import astuple


class TsallisINF(BanditLearner):
    """Bandit that draws arms with probabilities inverse to the square of their estimated excess loss.

    Args:
        arms: Number of arms K.
        seed: Seed of the draws.

    Guarantee:
        Expected regret at most 4 sqrt(K T) - 2 sqrt(T) on every table of losses (`tsallis_regret`).

    Example:
        >>> import novikoff as nk
        >>> bandit = nk.TsallisINF(arms=2)
        >>> for _ in range(20):
        ...     step = bandit.play_one(None, [0.2, 0.8])
        >>> round(bandit.chances()[0], 2)
        0.79
    """

    promises: ClassVar[tuple[Theorem, ...]] = (observable_regret, tsallis_pathwise, tsallis_regret)
    fields = (Argument("arms", int), Argument("seed", int), *BanditLearner.fields)

    def __init__(self, arms: int, seed: int = 0) -> None:
        super().__init__(arms, seed)

    def _chances(self, x: Example) -> Vector:
        chances = np.empty(self.arms)
        _loops.bandits.spread(self._estimates, 1.0 / math.sqrt(self.rounds + 1.0), chances)
        return chances

    def _play(self, x: object, rows: Vector, whole: bool, results: Results) -> None:
        _loops.bandits.tsallis_inf(
            rows, whole, astuple(self._next_coins()), astuple(self._all_sums()), np.empty(self.arms), astuple(results)
        )

    def _gammas_played(self) -> tuple[float, float]:
        return 0.0, 0.0

    def facts(self) -> BanditFacts:
        return self._facts(rule="tsallis")
