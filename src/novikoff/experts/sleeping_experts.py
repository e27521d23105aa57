"""Sleeping experts (specialists): experts may abstain, and are compared on the rounds in which they are awake.

Algorithm
    R_i = 0.  In round t the experts A_t are awake (NaN: asleep); p_t(i) is proportional to
    prior_i exp(eta_t R_i / unit) among them.  h_t = <p_t, l_t>, and m_t = -(unit/eta_t) ln of the mean of
    exp(-eta_t l_t / unit) under p_t; then R_i += m_t - l_{t,i} for those awake.
    Predict the weighted mean of the awake experts, or follow one that is drawn. In a game of losses the awake experts
    are not known before the round: a prediction then assumes that all are awake.
    If all are asleep the round is skipped: the prediction is 0.5 (-1 in a game of losses), it costs nothing, and
    nothing is learned. eta is as given; or 2 sqrt(ln N / t), t the rounds that were not skipped. A prior may sum to
    less than 1, as 1/(i(i+1)) does, so that experts may join at any time: one that has not joined is asleep.
Promise
    experts/theorems/sleeping_regret.py: for every expert, over the rounds it was awake, regret at most
    unit ln(1/prior_i) / eta_T + the sum of h_t - m_t; so at most S sqrt(T ln N) for all, without a prior.
    experts/theorems/drawn_loss.py: for the expert drawn.
Cost
    O(N) per round, about 100 bytes per expert.
Rounding
    As in experts/standings.py, with R for the losses so far: the error of m_t, added to all awake experts,
    costs its size. The gaps of an expert are summed without compensation: 2 u T times their sum.
Reference
    [freund1997b].
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from novikoff.core.losses import CLIP
from novikoff.core.state import Argument, Array, Count
from novikoff.core.types import Theorem
from novikoff.experts import _loops
from novikoff.experts._loops import standings_layout as at
from novikoff.experts.expert_learner import PANEL, ExpertLearner
from novikoff.experts.expert_weights import ExpertWeights, Vector
from novikoff.experts.panel import Panel, positive
from novikoff.experts.theorems.drawn_loss import drawn_loss
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.sleeping_regret import sleeping_regret
from novikoff.numerics.records import astuple

ARRAYS = ("far", "near", "lost", "gaps", "rates")
"""Arrays of experts/_loops/sleeping.py, in order: the gain as two numbers, and sums over the awake rounds."""


class SleepingExperts(ExpertLearner):
    """Exponential weights over experts that may abstain in any round (NaN in the advice).

    Args:
        experts: Number of experts.
        eta: Learning rate; None for one that decreases with the rounds.
        loss: "zero-one", "absolute", "squared", "log", or "table" for rows of losses.
        play: "mean" to predict the weighted mean, "draw" to follow one expert; None for the default of the loss.
        prior: Prior weights, which may sum to less than 1; None for equal ones.
        clip: Distance from 0 and 1 that predictions keep under log loss.
        seed: Seed of the draws.

    Guarantee:
        Regret against every expert, over the rounds in which it was awake, at most S sqrt(T ln N) for losses in [0, S]
        (`sleeping_regret`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.SleepingExperts(2, loss="squared")
        >>> nan = float("nan")
        >>> for advice, outcome in [([0.0, nan], 1), ([0.2, 0.9], 1)]:
        ...     step = learner.play_one(advice, outcome)
        >>> learner.weights.round(2).tolist()
        [0.35, 0.65]
    """

    promises: ClassVar[tuple[Theorem, ...]] = (sleeping_regret, drawn_loss)
    fields = (*PANEL, Argument("eta", float | None, at="_given.eta"), *ExpertLearner.fields)

    def __init__(
        self, experts: int, eta: float | None = None, loss: str = "zero-one", play: str | None = None,
        prior: object = None, clip: float = CLIP, seed: int = 0,
    ) -> None:  # fmt: skip
        panel = Panel(experts, loss, play, prior, clip, seed, sleep=True)
        eta = None if eta is None else positive(eta, "eta", " Leave it out for a rate that decreases.")
        super().__init__(panel, Sleeping(panel, panel.loss.top, eta), eta=eta)


class Sleeping(ExpertWeights):
    """Rule that keeps the gain of each expert over the mix loss while it was awake."""

    fields = (
        *ExpertWeights.fields,
        *(Array(name, inplace=True, at=f"_arrays.{name}") for name in ARRAYS),
        Count("played", most="rounds", at=f"_counts.{at.PLAYED}"),
        Array("awake", None, np.int64, nonnegative=True, most=f"_counts.{at.PLAYED}", inplace=True, at="_awake"),
    )

    def __init__(self, panel: Panel, unit: float, eta: float | None) -> None:
        super().__init__(panel, unit, [0, 0])
        count = panel.size
        rate = 0.0 if count == 1 else 1.0 / unit if eta is None else eta / unit
        self._params = astuple(at.SleepingRule(
            eta is None and count > 1, rate, math.log(count), panel.loss.top, panel.code, panel.loss.clip, panel.draws,
            panel.coins,
        ))  # fmt: skip
        self._table = np.zeros(len(ARRAYS) * count)
        self._awake = np.zeros(count, dtype=np.int64)
        self._prior = panel.log_prior[:count]
        self._scratch = scratch(count)

    @property
    def _arrays(self) -> dict[str, Vector]:
        """Arrays over the experts, by name."""
        return dict(zip(ARRAYS, self._table.reshape(len(ARRAYS), -1), strict=True))

    def _play(self, rows: Vector, outcomes: Vector, results: at.Results) -> None:
        _loops.sleeping.learn_many(
            self._table, self._awake, self._prior, self._counts, self._numbers, self._params, rows, outcomes,
            self._scratch, astuple(results),
        )  # fmt: skip

    def predict(self, row: Vector) -> float:
        return self._predict(row, scratch(self.panel.size))

    def _predict(self, row: Vector, space: Vector) -> float:
        """Return the prediction; leave the weights in `space`."""
        return _loops.sleeping.predict(self._table, self._prior, self._counts, self._params, row, space)

    def weights(self, row: Vector | None = None) -> Vector:
        """Return the weights of the next round, 0 for sleeping experts; without advice all are awake."""
        row = self.panel.blank if row is None else row
        count = self.panel.size
        space = scratch(count)
        self._predict(row, space)
        found = np.where(np.isnan(row), 0.0, space[4 * count : 5 * count])
        total = float(found.sum())
        return np.asarray(found / total if total > 0.0 else found)

    def facts(self) -> ExpertsFacts:
        panel, unit, arrays, woke = self.panel, self.unit, self._arrays, self._awake > 0
        eta = float(self._numbers[at.RATE]) * unit
        entrances = unit / eta if eta > 0.0 else 0.0
        gained = arrays["far"] + arrays["near"]
        promised = panel.prices * entrances
        sleeper = int(np.where(woke, gained - promised, -math.inf).argmax()) if woke.any() else -1
        one = max(sleeper, 0)
        return self._facts(
            np.where(woke, arrays["lost"], math.inf) if woke.any() else arrays["lost"],
            rule="sleeping",
            eta=eta,
            rounding=self._rounding(entrances) + self._plain_sums(),
            sleeper=sleeper,
            sleeper_regret=float(gained[one] + arrays["gaps"][one]),
            sleeper_gaps=float(arrays["gaps"][one]),
            sleeper_rates=float(arrays["rates"][one]) * unit,
            sleeper_price=float(panel.prices[one]) if panel.size > 1 else 0.0,
            sleeper_rounds=int(self._awake[one]),
            sleeper_loss=float(arrays["lost"][one]),
        )

    def _plain_sums(self) -> float:
        """Bound the error of uncompensated sums: the gaps, and N terms at high rates."""
        terms = self.panel.size * self.panel.loss.top / 300.0
        return 0.0 if self.panel.size == 1 else 2.0 * self.rounds * (self._total(at.GAPS) + terms) * 2.0**-53


def scratch(count: int) -> Vector:
    """Return working memory of experts/_loops/sleeping.py for `count` experts."""
    return np.concatenate([np.zeros(3 * count), np.ones(count), np.zeros(count + -(-count // at.CHUNK))])
