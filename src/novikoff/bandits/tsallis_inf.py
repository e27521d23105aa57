"""Tsallis-INF: a bandit that is best both for independent losses and for those that an enemy makes.

Algorithm
    E_i = 0. In round t, with eta_t = 1/sqrt t, draw arm I with chances
        p(i)  =  1 / (eta_t (E_i - x))^2,      x below every E_i such that they add up to 1,
    which make the sum of p(i) E_i - (2/eta_t) sqrt p(i) least. See its loss l in [0, 1], and add l / p(I) to E_I.
    x is found by Newton's method from x = least E_i - 1/eta_t, from where it falls to the root; that the chances add up
    to 1 is checked in every round, and told.
    The loss of the arm drawn is all it looks at, also in a simulation, which shows a row (bandits/bandit_learner.py).
Promise
    bandits/theorems/tsallis_pathwise.py: loss <= least E_i + what was spent round by round, on every stream.
    bandits/theorems/tsallis_regret.py: expected regret <= 4 sqrt(K T) - 2 sqrt T on every table, told in advance.
    bandits/theorems/observable_regret.py: a limit on the regret from what was seen, at all rounds at once. It seldom
    plays bad arms, so that little is known of them, and this limit is larger than that of exp3-ix.
Cost
    O(K) a round, for each of about six steps of Newton; 80 bytes for each arm. Ten arms: about 2.5 million rounds a
    second.
Reference
    [zimmert2021].
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

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
    """Arms drawn by chances that fall as the square of what they seem to cost more."""

    promises: ClassVar[tuple[Theorem, ...]] = (observable_regret, tsallis_pathwise, tsallis_regret)
    fields = (Argument("arms", int), Argument("seed", int), *BanditLearner.fields)

    def __init__(self, arms: int, seed: int = 0) -> None:
        super().__init__(arms, seed)

    def _chances(self, x: Example) -> Vector:
        chances = np.empty(self.arms)
        _loops.bandits.spread(self._estimates, 1.0 / math.sqrt(self.rounds + 1.0), chances)
        return chances

    def _play(self, x: Any, rows: Vector, whole: bool, results: Results) -> None:
        _loops.bandits.tsallis_inf(
            rows, whole, astuple(self._next_coins()), astuple(self._all_sums()), np.empty(self.arms), astuple(results)
        )

    def _gammas_played(self) -> tuple[float, float]:
        return 0.0, 0.0

    def facts(self) -> BanditFacts:
        return self._facts(rule="tsallis")
