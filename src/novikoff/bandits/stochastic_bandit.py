"""Base class of bandits for independent losses: arms with fixed means, which are estimated by the observed mean loss.

As in bandit_learner.py the outcome is the loss of the arm played or, in a simulation, the losses of all arms. There are
no weighted estimates: the state is the number of plays and the sum of losses of each arm.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from novikoff.bandits._loops import bandit_layout as at
from novikoff.bandits.bandit_learner import BanditLearner, Vector
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.core.state import Array, Count, Field, require
from novikoff.core.types import Example, State


class StochasticBandit(BanditLearner):
    """Base class of bandits for independent losses; subclasses define `_arm`, `_play` and `facts`.

    Args:
        arms: Number of arms.
        seed: Seed of the draws, if there are any.
    """

    draws = False
    fields: ClassVar[tuple[Field, ...]] = (
        Count("rounds"),
        Count("whole", most="rounds"),
        Array("numbers", (at.NUMBERS,), nonnegative=True, at="_numbers"),
        Array("plays", ("arms",), nonnegative=True, at="_plays"),
        Array("paid", ("arms",), nonnegative=True, at="_paid"),
        Array("totals", ("arms",), nonnegative=True, at="_totals"),
    )

    def __init__(self, arms: int, seed: int = 0) -> None:
        super().__init__(arms, seed)
        self._plays, self._paid = np.zeros(self.arms), np.zeros(self.arms)

    @abstractmethod
    def _arm(self) -> int:
        """Return the arm of the next round."""

    def _drawn(self, x: object) -> int:
        return self._arm()

    def _chances(self, x: Example) -> Vector:
        chances = np.zeros(self.arms)
        chances[self._arm()] = 1.0
        return chances

    def _counts(self) -> at.Counts:
        return at.Counts(self._numbers, self._plays, self._paid, self._totals)

    @property
    def plays(self) -> list[int]:
        """Number of rounds in which each arm was played."""
        return [int(n) for n in self._plays]

    @property
    def means(self) -> list[float]:
        """Mean of the observed losses of each arm; NaN for one that was never played."""
        played = self._plays > 0
        return list(np.where(played, self._paid / np.where(played, self._plays, 1.0), math.nan).tolist())

    def _facts(self, **more: object) -> BanditFacts:
        table = self.whole == self.rounds > 0
        means = (self._totals / self.rounds).tolist() if table else self.means
        return super()._facts(plays=tuple(self.plays), means=tuple(means), **more)

    def after_restoring(self, found: State) -> None:
        rounds = float(self._plays.sum())
        require(rounds == self.rounds, f"the plays of all arms must sum to {self.rounds:,}", rounds)
        require(bool((self._plays == np.floor(self._plays)).all()), "plays must be whole numbers", self._plays)
        slack = 1.0 + 1e-9
        require(bool((self._paid <= self._plays * slack).all()), "the loss of an arm must be at most its plays", found)
        most = float(self._totals.max(initial=0.0))
        require(most <= self.whole * slack, f"the total loss of an arm must be at most {self.whole:,}", most)
        lost = float(self._numbers[at.LOST])
        agrees = math.isclose(lost, float(self._paid.sum()), rel_tol=1e-6, abs_tol=1e-9)
        require(agrees, "the losses of the arms must sum to the total loss", lost)
