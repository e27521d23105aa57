"""Base class of bandits: arms, coins, the loss of the arm drawn, and the sums that their theorems need.

The outcome y of a round is the loss of the arm that the learner drew (`predict_one` returns it), a number from 0 to 1;
or, in a simulation, the losses of all arms. A bandit learns only from the loss of the arm drawn, so it plays the same
way in both cases. The other losses only enter `totals`, the sums from which the true regret is computed.
The arm of round t is selected by coin t of the seed (numerics/coins.py, purpose "arm") and the cumulative
probabilities, so repeated predictions agree.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.bandits import _loops
from novikoff.bandits._loops import bandit_layout as at
from novikoff.bandits.theorems.bandit_facts import GAMMAS, BanditFacts
from novikoff.core import encode
from novikoff.core.batch import still
from novikoff.core.errors import InputError, shown
from novikoff.core.learner import Learner
from novikoff.core.sizes import integer
from novikoff.core.state import Array, Count, Field, require
from novikoff.core.types import Batch, Distribution, Domain, Example, Outcome, State, StepResult, Task, Theorem
from novikoff.experts import _loops as experts_loops
from novikoff.numerics.coins import start

Vector = NDArray[np.float64]
MOST_ARMS = 100_000
"""Largest number of arms."""


class BanditLearner(Learner):
    """Base class of bandits; subclasses define `_play`, `_chances` and `facts`.

    Args:
        arms: Number of arms.
        seed: Seed of the draws.
        policies: Number of policies to compare with; None for the arms themselves.
    """

    domain: Domain
    seed: int

    promises: ClassVar[tuple[Theorem, ...]]
    task: Task = "losses"
    loss = "table"
    draws = True
    fields: ClassVar[tuple[Field, ...]] = (
        Count("rounds"),
        Count("whole", most="rounds"),
        Array("numbers", (at.NUMBERS,), nonnegative=True, at="_numbers"),
        Array("estimates", ("_policies",), nonnegative=True, at="_estimates"),
        Array("sums", ("_policies", len(GAMMAS)), nonnegative=True, at="_sums"),
        Array("totals", ("_policies",), nonnegative=True, at="_totals"),
    )

    def __init__(self, arms: int, seed: int, policies: int | None = None) -> None:
        self.arms = integer(arms, "arms", f"the number of arms must be from 1 to {MOST_ARMS:,}", 1, MOST_ARMS)
        self.seed = integer(seed, "seed", "a seed must be an integer", -(2**63))
        self.domain = Domain("losses", self.arms)
        self.rounds, self.whole = 0, 0
        self._policies = self.arms if policies is None else policies
        self._coins: Any = np.uint64(start(self.seed, "arm"))
        self._gammas = np.array(GAMMAS)
        self._numbers = np.zeros(at.NUMBERS)
        self._estimates, self._totals = np.zeros(self._policies), np.zeros(self._policies)
        self._sums = np.zeros((self._policies, len(GAMMAS)))

    @property
    def size(self) -> int:
        """Number of arms."""
        return self.arms

    @property
    def totals(self) -> list[float]:
        """Total loss of each arm or expert; 0 where the losses of all arms were not observed."""
        return list(self._totals.tolist())

    @abstractmethod
    def _chances(self, x: Example) -> Vector:
        """Return the probability of each arm in the next round."""

    def _gammas_played(self) -> tuple[float, float]:
        """Return the least and the largest gamma so far; 0 and infinity if unknown."""
        return 0.0, math.inf

    @abstractmethod
    def _play(self, x: object, rows: Vector, whole: bool, results: at.Results) -> None:
        """Play every row, compiled."""

    def _checked(self, x: object, rows: int) -> Any:
        """Return x, validated: None in a game of losses."""
        if x is not None:
            raise InputError(f"x must be None in a game of losses: got {shown(x)}. Pass the losses as y.")
        return x

    def chances(self, x: Example = None) -> Distribution:
        """Return the probability of each arm in the next round."""
        return {i: p for i, p in enumerate(self._chances(self._checked(x, 1)).tolist()) if p > 0.0}

    def predict_one(self, x: Example = None) -> int:
        """Return the arm of the next round."""
        return self._drawn(self._checked(x, 1))

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        """Draw an arm, then learn its loss; y is that loss, or the losses of all arms."""
        x = self._checked(x, 1)
        row = self._doubles(y)
        whole = row.ndim == 1
        if not whole:
            if row.ndim:
                raise InputError(f"{self._must()}: got shape {row.shape}.")
            loss, row = row, np.full(self.arms, math.nan)
            row[self._drawn(x)] = loss
        self._check(row[np.newaxis], whole, None)
        results = at.Results(np.empty(1), np.empty(1), np.empty(1))
        self._go(x, row[np.newaxis], whole, results)
        return StepResult(int(results.arms[0]), float(results.losses[0]), float(results.means[0]))

    def learn_many(self, batch: Batch) -> StepResult:
        """Play every row of losses in order, compiled."""
        x = self._checked(batch.x, len(batch))
        rows = self._doubles(batch.y)
        if rows.ndim != 2:
            raise InputError(f"{self._must()}: got shape {rows.shape[1:]}.")
        self._check(rows, True, batch.first)
        results = at.Results(np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows)))
        self._go(x, rows, True, results)
        return StepResult(results.arms.astype(np.int64), results.losses, results.means)

    def _drawn(self, x: object) -> int:
        return int(_loops.bandits.draw(self._chances(x), self._coins, self.rounds))

    def _next_coins(self) -> at.Coins:
        return at.Coins(self._coins, self.rounds)

    def _all_sums(self) -> at.Sums:
        return at.Sums(self._numbers, self._estimates, self._gammas, self._sums, self._totals)

    def _go(self, x: object, rows: Vector, whole: bool, results: at.Results) -> None:
        self._play(x, still(rows), whole, results)
        self.rounds += len(rows)
        self.whole += len(rows) if whole else 0

    def _must(self) -> str:
        return f"y must be the loss of the arm that was drawn, or the losses of all {self.arms:,}"

    def _doubles(self, values: object) -> Vector:
        try:
            return encode.doubles(values)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{self._must()}: got {shown(values)}.") from None

    def _check(self, rows: Vector, whole: bool, first: int | None) -> None:
        if rows.shape[1] != self.arms:
            raise InputError(f"{self._must()}: got {rows.shape[1]:,} numbers.")
        t, i = experts_loops.advice.flaw(rows, 0.0, 1.0, not whole)
        if not whole and t < 0 and np.isnan(rows).all():
            t, i = 0, 0
        if t >= 0:
            do = "Scale them: (loss - least) / (most - least)."
            error = InputError("losses must be from 0 to 1", f"arm {i} has {rows[t, i]}", do)
            raise error if first is None else error.at(round=first + int(t))

    def _facts(self, **more: object) -> BanditFacts:
        """Return the facts of every bandit, plus `more`."""
        table = self.whole == self.rounds > 0
        best = int(self._totals.argmin()) if table else -1
        facts: dict[str, Any] = {
            "rounds": self.rounds,
            "arms": self.arms,
            "policies": self._policies,
            "lost": float(self._numbers[at.LOST]),
            "gammas": GAMMAS,
            "sums": tuple(map(tuple, self._sums.tolist())),
            "table": table,
            "best": best,
            "best_loss": float(self._totals[best]) if table else 0.0,
            "eta": float(self._numbers[at.RATE]),
            "rates": float(self._numbers[at.RATES]),
            "worst": max(float(self._numbers[at.WORST]), 1.0),
            "least": float(self._estimates.min()),
            "most": float(self._estimates.max()),
            "spent": float(self._numbers[at.SPENT] + self._numbers[at.STABLE]),
            "off": float(self._numbers[at.OFF]),
        }
        return BanditFacts(**facts | more)

    @abstractmethod
    def facts(self) -> BanditFacts:
        """Return the facts that its theorems need."""

    @property
    def largest_loss(self) -> float:
        return self.facts().top

    def after_restoring(self, found: State) -> None:
        falling = np.diff(self._sums, axis=1) * -np.sign(np.diff(self._gammas))
        sound = bool((falling >= -1e-9 * self._sums[:, 1:]).all())
        require(sound, "estimates must decrease in gamma", self._sums[:1])
        most = float(self._totals.max(initial=0.0))
        require(most <= self.whole * (1.0 + 1e-9), f"the total loss of an arm must be at most {self.whole:,}", most)
        least, largest = self._gammas_played()
        for gamma, sums in zip(GAMMAS, self._sums.T, strict=True):
            # loss/(p + g) falls with g, and for g > gamma it is at least gamma/g times loss/(p + gamma)
            low = sums * min(gamma / largest, 1.0) if largest else sums
            high = sums if gamma <= least else np.full_like(sums, math.inf)
            slack = 1e-9 * (1.0 + self._estimates)
            sound = bool(((self._estimates >= low - slack) & (self._estimates <= high + slack)).all())
            require(sound, f"estimates must agree with those of gamma {gamma:g}", self._estimates)
        lost = float(self._numbers[at.LOST])
        require(lost <= self.rounds * (1.0 + 1e-9), "a bandit must have lost at most its rounds", lost)
