"""Explore-then-commit: play every arm m times, then the best of them for ever.

Algorithm
    In rounds 1 .. mK play the arms in turn. Then play the arm with the least sum of losses in these rounds, the first
    of equals, whatever follows. m is given (`each`), or tuned to a `horizon` of T rounds: the whole number from 1 to
    T/K at which the bound for unknown gaps is least, about (T/(2(K-1)))^(2/3) (ln K / 2)^(1/3).
Promise
    bandits/theorems/explore_then_commit_regret.py: for independent losses, expected pseudo-regret at most the sum of
    m gap + (T - mK) gap exp(-m gap^2) over the worse arms, and at most m (K - 1) + (T - mK) sqrt(ln K / (2m)) for all
    gaps. The latter grows as T^(2/3): exploration does not adapt to the gaps, as that of ucb1 does.
Cost
    O(K) per round; 32 bytes per arm. Ten arms: about 20 million rounds per second.
Reference
    [lattimore2020], chapter 6; [robbins1952].
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from novikoff.bandits import _loops
from novikoff.bandits._loops.bandit_layout import Results
from novikoff.bandits.bandit_learner import Vector
from novikoff.bandits.stochastic_bandit import StochasticBandit
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.bandits.theorems.explore_then_commit_regret import explore_then_commit_regret, tuned
from novikoff.core.errors import InputError
from novikoff.core.sizes import integer
from novikoff.core.state import Argument, Array, require
from novikoff.core.types import State, Theorem
from novikoff.numerics.records import astuple

EACH = 100
"""Plays of each arm in the exploration, if neither `each` nor `horizon` is given."""


class ExploreThenCommit(StochasticBandit):
    """Bandit that plays every arm equally often, then only the best of them.

    Args:
        arms: Number of arms K.
        each: Plays m of each arm in the exploration; None for 100, or for the best m of a `horizon`.
        horizon: Number of rounds for which to tune m; not together with `each`.

    Guarantee:
        For independent losses, expected pseudo-regret at most the sum of m gap + (T - mK) gap exp(-m gap^2) over the
        worse arms (`explore_then_commit_regret`).

    Example:
        >>> import novikoff as nk
        >>> bandit = nk.ExploreThenCommit(arms=2, each=10)
        >>> for _ in range(100):
        ...     step = bandit.play_one(None, [0.2, 0.8])
        >>> bandit.plays
        [90, 10]
    """

    promises: ClassVar[tuple[Theorem, ...]] = (explore_then_commit_regret,)
    fields = (
        Argument("arms", int),
        Argument("each", int | None),
        Argument("horizon", int | None),
        *StochasticBandit.fields,
        Array("explored", ("arms",), nonnegative=True, at="_explored"),
    )

    def __init__(self, arms: int, each: int | None = None, horizon: int | None = None) -> None:
        super().__init__(arms)
        if each is not None and horizon is not None:
            raise InputError("each and horizon must not both be given: got both. Leave one of them out.")
        self.each, self.horizon = each, horizon
        if horizon is not None:
            rounds = integer(horizon, "horizon", "a horizon must be a positive whole number of rounds", 1, 2**53)
            self._each = tuned(self.arms, rounds)
        else:
            wanted = EACH if each is None else each
            self._each = integer(wanted, "each", "the plays of each arm must be a positive whole number", 1, 2**32)
        self._explored = np.zeros(self.arms)

    def _arm(self) -> int:
        return int(_loops.stochastic.committed_arm(self._explored, self._each, self.rounds))

    def _play(self, x: object, rows: Vector, whole: bool, results: Results) -> None:
        _loops.stochastic.explore_then_commit(
            rows, whole, self.rounds, self._each, self._explored, astuple(self._counts()), astuple(results)
        )

    def facts(self) -> BanditFacts:
        return self._facts(rule="explore-then-commit", each=self._each)

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        slack = 1.0 + 1e-9
        sound = bool((self._explored <= np.minimum(self._paid * slack + 1e-9, self._each * slack)).all())
        require(sound, "the explored loss of an arm must be at most its loss", self._explored)
