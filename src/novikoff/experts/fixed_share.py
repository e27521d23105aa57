"""Fixed Share: exponential weights that track the best expert as it changes.

Algorithm
    w_1 = prior.  After each round v_i is proportional to w_i exp(-eta l_i / unit), and
    w_{t+1} = (1 - alpha) v + alpha * prior.  Predict the weighted mean, or follow an expert drawn by the weights.
    For at most `switches` = m changes of the best expert in `horizon` = T rounds alpha is m/(T-1), and eta is
    sqrt(8 C / T), C = (m+1) ln N + (T-1) H(m/(T-1)), H in nats; 1 or 1/2 on the loss itself where the mean is played
    under log or squared loss, as in experts/exponential_weights.py. With alpha = 0 it is exponential weights, whose
    cumulative losses are kept; otherwise weights are, each at least alpha * prior (experts/_loops/sharing.py).
    The loss of the best path of experts with at most 0, 1, ..., m switches is tracked.
Promise
    experts/theorems/fixed_share_regret.py: regret against the best path with at most m switches at most S sqrt(T C /
    2). experts/theorems/drawn_loss.py: for the expert drawn.
Cost
    O(N) per round for the weights, O(N m) for the paths, and 16 bytes per expert and number of switches (twice that
    with a prior).
Rounding
    As in experts/standings.py, (d), for h_t, m_t and the prediction. Each weight has a relative error of 8 u per round,
    which is equivalent to a change of its loss by 8 u / rate; 10 u / rate is allowed. The error of the normalising sum
    is the same for all: it changes alpha by the fraction 300 u, so the price of a path by less than
    600 u (m + alpha T) / rate. Losses of paths are summed like the losses of experts there, and the path found is the
    best one up to 280 u S.
Reference
    [herbster1998].
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from novikoff.core.errors import InputError, shown
from novikoff.core.losses import CLIP
from novikoff.core.sizes import integer
from novikoff.core.state import Argument, Array, Part, require
from novikoff.core.types import State, Theorem
from novikoff.experts import _loops
from novikoff.experts._loops import standings_layout as at
from novikoff.experts.expert_learner import PANEL, ExpertLearner
from novikoff.experts.expert_weights import ExpertWeights, Vector
from novikoff.experts.panel import Panel, is_number, positive
from novikoff.experts.standings import Standings
from novikoff.experts.theorems.drawn_loss import drawn_loss
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.fixed_share_regret import fixed_share_regret
from novikoff.numerics.records import astuple

LEAST_SHARE = 1e-100
"""Smallest positive share: its product with the smallest prior does not underflow."""


class FixedShare(ExpertLearner):
    """Exponential weights that redistribute a small share in each round, so that the best expert may change.

    Args:
        experts: Number of experts, or a hypothesis class whose hypotheses are the experts.
        switches: Expected number of changes of the best expert.
        horizon: Number of rounds.
        eta: Learning rate; None to tune it.
        alpha: Share redistributed per round; None for switches / (horizon - 1).
        loss: "zero-one", "absolute", "squared", "log", or "table" for rows of losses.
        play: "mean" to predict the weighted mean, "draw" to follow one expert; None for the default of the loss.
        prior: Prior weights of the experts; None for equal ones.
        clip: Distance from 0 and 1 that predictions keep under log loss.
        seed: Seed of the draws.

    Guarantee:
        Regret against the best sequence of experts with at most m switches at most S sqrt(T c / 2), where
        c = (m + 1) ln N + (T - 1) H(m / (T - 1)) (`fixed_share_regret`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.FixedShare(2, switches=1, horizon=10, loss="squared")
        >>> for advice, outcome in [([0.0, 1.0], 1), ([0.2, 0.9], 1)]:
        ...     step = learner.play_one(advice, outcome)
        >>> learner.weights.round(2).tolist()
        [0.34, 0.66]
    """

    promises: ClassVar[tuple[Theorem, ...]] = (fixed_share_regret, drawn_loss)
    fields = (
        *PANEL,
        Argument("switches", int, at="_given.switches"),
        Argument("horizon", int, at="_given.horizon"),
        Argument("eta", float | None, at="_given.eta"),
        Argument("alpha", float | None, at="_given.alpha"),
        *ExpertLearner.fields,
    )

    def __init__(
        self, experts: object, switches: int, horizon: int, eta: float | None = None, alpha: float | None = None,
        loss: str = "zero-one", play: str | None = None, prior: object = None, clip: float = CLIP, seed: int = 0,
    ) -> None:  # fmt: skip
        panel = Panel(experts, loss, play, prior, clip, seed)
        rounds = integer(horizon, "horizon", "a horizon must be a positive whole number of rounds", 1)
        must = f"switches must be an integer from 0 to {rounds - 1:,}, one less than the horizon"
        count = integer(switches, "switches", must, 0, rounds - 1)
        share = count / (rounds - 1) if count else 0.0
        cost = (count + 1) * math.log(panel.size) + (rounds - 1) * _entropy(share)
        if alpha is not None:
            sound = is_number(alpha) and (alpha == 0 or LEAST_SHARE <= alpha < 1)
            if not sound:
                raise InputError(f"alpha must be 0, or from {LEAST_SHARE:g} to below 1: got {shown(alpha)}.")
            alpha = share = float(alpha)
        concave = None if panel.draws else panel.loss.concave_rate
        unit = panel.loss.top if concave is None else 1.0
        rate = math.sqrt(8.0 * cost / rounds) if concave is None else concave
        if eta is not None:
            eta = rate = positive(eta, "eta", " Leave it out to have it tuned.")
        self.alpha = share if panel.size > 1 else 0.0
        rule = Sharing(panel, unit, rate if panel.size > 1 else 0.0, self.alpha, count, rounds)
        super().__init__(panel, rule, switches=count, horizon=rounds, eta=eta, alpha=alpha)

    survivor = ExpertLearner.heaviest


class Sharing(ExpertWeights):
    """Weights of Fixed Share, and the best paths of experts."""

    fields = (
        *ExpertWeights.fields,
        Array("weights", ("panel.size",), optional=True, inplace=True, at="_shared"),
        Part("still", optional=True, at="_still"),
        Array("paths", inplace=True, at="_paths"),
        Array("costs", inplace=True, at="_costs"),
    )

    def __init__(self, panel: Panel, unit: float, eta: float, alpha: float, switches: int, horizon: int) -> None:
        super().__init__(panel, unit, [0])
        self.eta, self.alpha, self.switches, self.horizon = eta, alpha, switches, horizon
        count, cells = panel.size, (switches + 1) * panel.size
        loss = panel.loss
        rule = at.SharingRule(eta / unit, alpha, loss.top, panel.code, loss.clip, panel.draws, panel.coins)
        self._params = astuple(rule)
        self._prior = np.exp(-panel.prices) if not panel.uniform else np.full(count, 1.0 / count)
        self._weights = np.concatenate([self._prior, np.zeros(-(-count // at.CHUNK))])
        # With alpha = 0 this is exponential weights; a weight could then underflow, so cumulative losses are kept.
        self._still = Standings(panel, "fixed", unit, eta, horizon) if alpha == 0.0 else None
        self._entry = np.zeros(0) if panel.uniform or eta == 0.0 else panel.prices * unit / eta
        self._paths = np.zeros(2 * cells)
        self._costs = np.zeros(2 * cells if len(self._entry) else 0)
        if len(self._entry):
            self._costs[:cells] = np.tile(self._entry, switches + 1)
        self._scratch = scratch(count)

    def _play(self, rows: Vector, outcomes: Vector, results: at.Results) -> None:
        paths = at.Paths(self._paths, self._costs, self._entry, self.switches + 1)
        _loops.sharing.learn_many(
            self._weights, self._prior, astuple(paths), self._counts, self._numbers, self._params, rows, outcomes,
            self._scratch, astuple(results),
        )  # fmt: skip
        if self._still is not None:
            self._still._play(rows, outcomes, results)

    def predict(self, row: Vector) -> float:
        if self._still is not None:
            return self._still.predict(row)
        # A draw writes sums behind the weights: use a copy, since several threads may predict at once.
        return _loops.sharing.predict(self._weights.copy(), self._counts, self._params, row, scratch(self.panel.size))

    def weights(self, row: Vector | None = None) -> Vector:
        """Return the weights of the next round, whatever the advice."""
        if self._still is not None:
            return self._still.weights()
        weights = self._weights[: self.panel.size]
        return np.asarray(weights / weights.sum())

    def facts(self) -> ExpertsFacts:
        panel, eta = self.panel, self.eta
        losses, alone = self._least(self._paths)
        entry = self.unit * math.log(panel.size) / eta if eta else 0.0
        costs = [loss + (k + 1) * entry for k, loss in enumerate(losses)]
        if len(self._costs):
            costs, _ = self._least(self._costs)
        cheapest = tuple(np.minimum.accumulate(costs).tolist())
        share: dict[str, Any] = {"rule": "share", "switches": self.switches, "alpha": self.alpha,
                                 "path_losses": tuple(losses), "path_costs": cheapest}  # fmt: skip
        extra = self._paths_rounding()
        if self._still is not None:
            facts = self._still.facts()
            return dataclasses.replace(facts, **share, rounding=facts.rounding + extra)
        comparator = int((alone + self._entry).argmin()) if len(self._entry) else None
        rounding = self._rounding(self.unit / eta if eta else 0.0) + extra
        eta = eta if self.rounds else 0.0
        return self._facts(alone, comparator, **share, eta=eta, rounding=rounding, horizon=self.horizon)

    def _paths_rounding(self) -> float:
        """Bound the effect of rounding on weights and paths; see the module."""
        top, rounds = self.panel.loss.top, self.rounds
        if self.panel.size == 1:
            return 0.0
        prices = float(self.panel.prices.max()) * (self.switches + 1)
        weights = 0.0
        if self.alpha > 0.0:
            weights = (10.0 * rounds + 600.0 * (self.switches + self.alpha * rounds) + prices) * self.unit / self.eta
        return (weights + 640.0 * rounds * top) * 2.0**-53

    def _least(self, paths: Vector) -> tuple[list[float], Vector]:
        """Return the least loss of a path for each number of switches, and the loss of each expert without a switch."""
        found = (paths[: len(paths) // 2] + paths[len(paths) // 2 :]).reshape(self.switches + 1, -1)
        return found.min(axis=1).tolist(), found[0]

    @property
    def _shared(self) -> Vector | None:
        """Weights of the experts; None with alpha = 0, where cumulative losses are kept instead."""
        return None if self._still is not None else self._weights[: self.panel.size]

    def after_restoring(self, found: State) -> None:
        if self._still is not None:
            must = f"losses and paths of a learner must be of the same {self.rounds:,} rounds"
            require(self._still.rounds == self.rounds, must, self._still.rounds)
        else:
            weights = found["weights"]
            require(bool(np.all(weights > 0.0)), "weights of a learner must be positive", weights)


def scratch(count: int) -> Vector:
    """Return working memory of experts/_loops/sharing.py for `count` experts."""
    return np.concatenate([np.zeros(3 * count), np.ones(count)])


def _entropy(share: float) -> float:
    """Return the entropy of a coin, in nats."""
    if share in (0.0, 1.0):
        return 0.0
    return -share * math.log(share) - (1.0 - share) * math.log1p(-share)
