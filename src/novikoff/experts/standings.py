"""Cumulative losses of all experts, and their exponential weights at any rate.

The state is the cumulative losses, each as two numbers (experts/_loops/weights.py), never the weights: those are
recomputed in each round, so that none is ever lost by underflow and no rounding error in them persists.

Effect of rounding on the regret (`rounding`)
    u = 2^-53, S the largest loss. An error in a round is either an error of the losses from which the weights are
    computed, which costs twice its size (the mix loss of a round changes by at most twice the largest change of any
    cumulative loss, at every rate), or an error of the weights themselves, which moves h_t by S times their mean
    relative error.
    (a) Losses are added to `near`, at most S (FLUSH + 1), with an error of u S (FLUSH + 1), which is permanent, as if
        the loss of the round had been different: 66 u S for h_t and L_i together. Moving near to far is exact.
    (b) A gap has an absolute error of 2 u |near_i - near_lead|, below 70 u S, and the leader is the best expert up to
        four times that: 2 * 280 u S.
    (c) A gap has a relative error of 2 u, the product with the rate and the sum with ln(prior) add u each, and exp 4 u:
        on average 4 u (mean of rate * gap + ln(1/prior)) + 4 u. That mean is the entropy of the weights less ln(their
        sum), so at most B = ln N + the largest ln(1/prior). It is doubled, to cover second-order terms.
    (d) Sums: 128 additions in a lane, 3 of lanes, 3 of the sums of chunks, and the product: 140 u relative, of a
        quotient 281 u. In the mix loss twice that and 4 u of exp(-rate l) - 1, over 1 - 0.46; in the logarithm of the
        mean of exp(-rate l) 300 u / rate, rate >= 0.6/S: below 650 u S. The prediction: 281 u, times at most 2 in its
        loss; the log loss of a mixture has an error of 300 u.
    (e) Once, not per round: the prior is divided by its sum and ln(1/prior) taken, 4 u in all; and if the rate is
        constant, the mix losses are the difference of two logarithms of sums, 300 u. Both are divided by the rate:
        512 u / rate, which matters if the rate is tiny and ln(1/prior) almost 0.
    Together less than (2500 + 16 B) u S per round, and (e). Relative to a regret bound of S sqrt(T ln N / 2) this is
    (2500 + 16 B) u sqrt(2 T / ln N): 10^-10 for a million rounds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.core.state import Array, Count
from novikoff.experts import _loops
from novikoff.experts._loops import standings_layout as at
from novikoff.experts.expert_weights import ExpertWeights, Vector
from novikoff.experts.panel import Panel, padded
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.numerics.records import astuple

RULES = {"fixed": at.FIXED, "anytime": at.ANYTIME, "doubling": at.DOUBLING, "adaptive": at.ADAPTIVE}
"""Code of each kind of rate in the compiled loops."""
PARTS = ("far", "near", "past", "rest")
"""Names of the `_parts` in a saved state."""


class Standings(ExpertWeights):
    """Cumulative losses of a panel, and the rate of their exponential weights.

    Args:
        panel: The experts.
        rule: "fixed", "anytime", "doubling" or "adaptive": how the rate is set.
        unit: Divisor of the losses; rates are per unit.
        eta: The rate, if the rule is "fixed".
        horizon: Number of rounds expected; 0 if unknown.
    """

    fields = (
        *ExpertWeights.fields,
        Count("lead", most="_last", at=f"_counts.{at.LEAD}"),
        *(Array(name, ("panel.size",), optional=True, inplace=True, at=f"_parts.{k}") for k, name in enumerate(PARTS)),
    )

    def __init__(self, panel: Panel, rule: str, unit: float, eta: float = 0.0, horizon: int = 0) -> None:
        self.rule, self.horizon = rule, horizon
        kind = RULES[rule] if panel.size > 1 else at.FIXED
        rate = (eta if panel.size > 1 else 0.0) if kind == at.FIXED else 1.0
        count, prior, coins = panel.size, panel.log_prior, int(panel.coins.astype(np.int64))
        self._width = width = -(-count // 8) * 8
        self._kept = width if panel.draws and width > at.CHUNK else at.CHUNK + 8
        counts = [0, 0, count, width, len(prior) > 0, kind, panel.code, panel.draws, coins, self._kept]
        super().__init__(panel, unit, counts, (rate / unit, math.log(count), panel.loss.top, panel.loss.clip))
        epochs = np.zeros(2 * width if rule == "doubling" else 0)
        self._table = np.concatenate([padded(np.zeros(count), math.inf), np.zeros(width), prior, epochs])
        self._scratch = scratch(count, self._kept)

    def _play(self, rows: Vector, outcomes: Vector, results: at.Results) -> None:
        _loops.standings.learn_many(
            self._table, self._counts, self._numbers, rows, outcomes, self._scratch, astuple(results)
        )

    def predict(self, row: Vector) -> float:
        return _loops.standings.ask(self._table, self._counts, self._numbers, row, self._space(), False)[0]

    def _space(self) -> Vector:
        """Return scratch for a call that does not learn; `_scratch` is for learning, one thread at a time."""
        return scratch(self.panel.size, self._kept)

    def weights(self, row: Vector | None = None) -> Vector:
        """Return the weights of the next round, which do not depend on its advice: a copy plays it into scratch."""
        counts, count, blank = self._counts.copy(), self.panel.size, self.panel.blank
        counts[at.DRAWS], counts[at.KEPT] = 1, max(self._kept, self._width)  # a draw keeps all weights
        space, result = scratch(count, counts[at.KEPT]), np.empty(1)
        results = at.Results(result, result, result)
        _loops.standings.learn_many(
            self._table.copy(), counts, self._numbers.copy(), blank, blank[:1], space, astuple(results)
        )
        weights = space[at.OUT : at.OUT + count]
        return np.asarray(weights / weights.sum())

    def losses(self) -> Vector:
        """Return the total loss of each expert."""
        far, near, past, rest = self._parts
        total = far + near
        return np.asarray(total if past is None else past + (rest + total))

    @property
    def _last(self) -> int:
        """Index of the last expert."""
        return self.panel.size - 1

    @property
    def _parts(self) -> tuple[Vector, Vector, Any, Any]:
        """`far` and `near` of the experts, and their losses in earlier epochs as sum and compensation."""
        count, width, table = self.panel.size, self._width, self._table
        past = len(table) - 2 * width
        epochs = (table[past : past + count], table[past + width : past + width + count])
        return table[:count], table[width : width + count], *(epochs if self.rule == "doubling" else (None, None))

    def facts(self) -> ExpertsFacts:
        panel, unit, losses = self.panel, self.unit, self.losses()
        kind, rate = int(self._counts[at.KIND]), float(self._numbers[at.RATE])
        eta = rate * unit if rate < at.MOST else 0.0
        more: dict[str, Any] = {}
        if kind in (at.FIXED, at.DOUBLING):
            opened, last = _loops.standings.ask(
                self._table, self._counts, self._numbers, panel.blank, self._space(), True
            )
            more = {"gaps": self._total(at.GAPS) + opened, "last_gap": last}
        span = 0.0
        if kind == at.DOUBLING:
            span = (self._total(at.SPAN) + (1.0 / rate if self.rounds else 0.0)) / unit
        entrances = unit * (span or 1.0 / eta) if eta > 0.0 else 0.0
        comparator = None
        if panel.size > 1 and not panel.uniform and eta > 0.0:
            comparator = int((losses + panel.prices * entrances).argmin())
        return self._facts(
            losses,
            comparator,
            rule=self.rule,
            eta=eta,
            rounding=self._rounding(0.0 if self.rule == "adaptive" else entrances),
            horizon=self.horizon,
            epochs=self.rounds.bit_length() if self.rule == "doubling" else 0,
            span=span,
            **more,
        )


def scratch(count: int, kept: int) -> Vector:
    """Return working memory of the loops (experts/_loops/standings_layout.py), with room for `kept` weights."""
    return np.zeros(at.OUT + kept + -(-count // at.CHUNK))
