"""The losses of all experts so far, and the weights that follow from them: exponential weights at any rate.

Kept are the cumulative losses, each as two numbers (kernels/weights.py), never the weights: those are computed anew in
each round, so that none is ever lost and no error in them lasts.

What rounding may do to the regret (`rounding`)
    u = 2^-53, S the largest loss. An error of a round is either one of the losses that the weights are made of, which
    costs its size twice (the mix loss of a round changes by no more than twice the largest change of any cumulative
    loss, at every rate), or one of the weights themselves, which moves h_t by S times their mean relative error.
    (a) Losses are added to `near`, at most S (FLUSH + 1), with an error of u S (FLUSH + 1); that lasts, as if the loss
        of the round had been another one: 66 u S for h_t and L_i together. Moving near to far is exact.
    (b) A gap has an absolute error of 2 u |near_i - near_lead|, below 70 u S, and the leader is the best one up to four
        times that: 2 * 280 u S.
    (c) It has a relative error of 2 u, the product with the rate and the sum with ln(prior) one of u each, exp 4 u: on
        average 4 u (mean of rate * gap + ln(1/prior)) + 4 u. That mean is the entropy of the weights less ln(their
        sum), so at most B = ln N + the largest ln(1/prior). Counted twice, for what is of second order.
    (d) Sums: 128 additions in a lane, 3 of lanes, 3 of the sums of chunks, and the product: 140 u relative, of a
        quotient 281 u. In the mix loss twice that and 4 u of exp(-rate l) - 1, over 1 - 0.46; in the logarithm of the
        mean of exp(-rate l) 300 u / rate, rate >= 0.6/S: below 650 u S. The prediction: 281 u, times at most 2 in its
        loss; the log loss of a mixture has an error of 300 u.
    (e) Once, not in every round: a prior is divided by its sum and ln(1/prior) taken, 4 u in all; and where the rate
        does not move, the mix losses are the difference of two logarithms of sums, 300 u. Both are divided by the rate:
        512 u / rate, which matters where the rate is tiny and ln(1/prior) next to nothing.
    Together less than (2500 + 16 B) u S a round, and (e). Of a regret bound of S sqrt(T ln N / 2) this is the part
    (2500 + 16 B) u sqrt(2 T / ln N): 10^-10 for a million rounds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff import kernels
from novikoff.certificates.experts_facts import ExpertsFacts
from novikoff.learners.panel import Panel, padded
from novikoff.learners.restoring import integer, read, require
from novikoff.types import State

Vector = NDArray[np.float64]

RULES = ("fixed", "anytime", "doubling", "adaptive")
CHUNK, NUMBERS = 1024, 15
"""As in kernels/standings.py."""


class Standings:
    """Cumulative losses of a panel, and the rule that weighs them.

    unit   what the rule divides losses by: rates are per unit
    eta    the rate, if the rule is "fixed"
    """

    def __init__(self, panel: Panel, rule: str, unit: float, eta: float = 0.0, horizon: int = 0) -> None:
        self.panel, self.unit, self.horizon = panel, unit, horizon
        self.rule = rule
        self.eta = eta if panel.size > 1 else 0.0
        kind = RULES.index(rule) if panel.size > 1 else 0
        count, prior = panel.size, panel.log_prior
        self._width = width = -(-count // 8) * 8
        self._kept = width if panel.draws and width > CHUNK else CHUNK + 8
        epochs = np.zeros(2 * width if rule == "doubling" else 0)
        self._table = np.concatenate([padded(np.zeros(count), math.inf), np.zeros(width), prior, epochs])
        coins = int(panel.coins.astype(np.int64))
        self._counts = np.array(
            [0, 0, count, width, len(prior) > 0, kind, panel.code, panel.draws, coins, self._kept], dtype=np.int64
        )
        given = self.eta / unit if kind == 0 else 1.0 / unit
        self._numbers = np.array([0.0] * NUMBERS + [given, math.log(count), panel.loss.top, panel.loss.clip])
        self._room = room(count, self._kept)

    @property
    def rounds(self) -> int:
        """Played so far."""
        return int(self._counts[0])

    def play(self, rows: Vector, outcomes: Vector) -> tuple[Vector, Vector, Vector]:
        """Every row in order: what was said, what it cost, what it costs on average."""
        said, paid, mean = (np.empty(len(rows)) for _ in range(3))
        kernels.standings.sweep(self._table, self._counts, self._numbers, rows.reshape(-1), outcomes, self._room,
                       said, paid, mean)  # fmt: skip
        return said, paid, mean

    def predict(self, row: Vector) -> float:
        """What would be said now."""
        return float(kernels.standings.predict(self._table, self._counts, self._numbers, row, self._room))

    def weights(self, row: Vector | None = None) -> Vector:
        """Of the round to come, whatever the advice."""
        k, count = kernels.standings, self.panel.size
        whole = self._counts.copy()
        whole[k.KEPT] = max(self._kept, self._width)
        space = room(count, int(whole[k.KEPT]))
        k.predict(self._table, whole, self._numbers, self.panel.blank, space)
        weights = space[k.OUT : k.OUT + count]
        return np.asarray(weights / weights.sum())

    def losses(self) -> Vector:
        """What each expert has lost."""
        far, near, past, rest = self._parts()
        total = far + near
        return np.asarray(total if past is None else past + (rest + total))

    def _parts(self) -> tuple[Vector, Vector, Any, Any]:
        """far and near of the experts; and their losses in epochs before, as a number and what is left of it."""
        count, width, table = self.panel.size, self._width, self._table
        past = len(table) - 2 * width
        epochs = (table[past : past + count], table[past + width : past + width + count])
        return table[:count], table[width : width + count], *(epochs if self.rule == "doubling" else (None, None))

    def survivor(self) -> str:
        """The heaviest expert, readable; of equally heavy ones the first."""
        return self.panel.describe(int(self.weights().argmax()))

    def facts(self) -> ExpertsFacts:
        panel, unit, numbers = self.panel, self.unit, self._numbers.tolist()
        k, kind = kernels.standings, int(self._counts[kernels.standings.KIND])
        losses = self.losses()
        eta = numbers[k.RATE] * unit if numbers[k.RATE] < k.MOST else 0.0
        gaps, last = _total(numbers, k.GAPS), numbers[k.LAST_GAP]
        span = _total(numbers, k.SPAN)
        if kind in (k.FIXED, k.DOUBLING):
            opened, last = k.open_gaps(self._table, self._counts, self._numbers, panel.blank, 0, self._room)
            gaps += opened
        if kind == k.DOUBLING and self.rounds:
            span += 1.0 / numbers[k.RATE]
        span = span / unit if kind == k.DOUBLING else 0.0
        entrances = unit * (span or 1.0 / eta) if eta > 0.0 else 0.0
        best = int(losses.argmin())
        comparator = best
        if panel.size > 1 and not panel.uniform and eta > 0.0:
            comparator = int((losses + panel.prices * entrances).argmin())
        return ExpertsFacts(
            rule=self.rule,
            rounds=self.rounds,
            experts=panel.size,
            loss=panel.loss.name,
            play=panel.play,
            top=panel.loss.top,
            unit=unit,
            eta=eta,
            rates=_total(numbers, k.RATES) * unit,
            gaps=gaps,
            last_gap=last,
            mixed=_total(numbers, k.MIXED),
            best=best,
            best_loss=float(losses[best]),
            comparator=comparator,
            comparator_loss=float(losses[comparator]),
            price=float(panel.prices[comparator]) if panel.size > 1 else 0.0,
            uniform=panel.uniform,
            rounding=rounding(panel, self.rounds, 0.0 if self.rule == "adaptive" else entrances),
            horizon=self.horizon,
            epochs=self.rounds.bit_length() if self.rule == "doubling" else 0,
            span=span,
            clip=panel.loss.clip,
        )

    def state(self) -> State:
        far, near, past, rest = self._parts()
        return {
            "rounds": self.rounds,
            "lead": int(self._counts[1]),
            "far": far.copy(),
            "near": near.copy(),
            "past": None if past is None else past.copy(),
            "rest": None if rest is None else rest.copy(),
            "numbers": self._numbers[:NUMBERS].tolist(),
        }

    def load(self, state: State) -> None:
        """Become the standings whose `state` this is."""
        count = self.panel.size
        self._counts[0] = integer(state, "rounds")
        self._counts[1] = integer(state, "lead", 0, count - 1)
        for name, place in zip(("far", "near", "past", "rest"), self._parts(), strict=True):
            if place is not None:
                place[:] = vector_of(state[name], count, name)
        self._numbers[:NUMBERS] = numbers_of(state)


def rounding(panel: Panel, rounds: int, entrances: float) -> float:
    """What rounding may have done to the regret at most; see above. `entrances` is 1/rate, summed over epochs."""
    if panel.size == 1:
        return 0.0
    entropy = math.log(panel.size) + float(panel.prices.max())
    return (rounds * panel.loss.top * (2500.0 + 16.0 * entropy) + 512.0 * entrances) * 2.0**-53


def room(count: int, kept: int) -> Vector:
    """For kernels to work in (kernels/weights.py), with `kept` weights."""
    return np.zeros(72 + 2 * CHUNK + kept + -(-count // CHUNK))


def numbers_of(state: State) -> Vector:
    """The sums of a `state`, checked."""
    must = f"numbers of a learner must be {NUMBERS} finite numbers"
    return vector_of(read(state["numbers"], lambda given: np.array(given, dtype=np.float64), must), NUMBERS, "numbers")


def vector_of(values: Any, count: int, name: str) -> Vector:
    """Finite numbers of a `state`, checked."""
    found = values if isinstance(values, np.ndarray) else None
    sound = found is not None and found.dtype == np.float64 and found.shape == (count,)
    require(
        sound and bool(np.all(np.isfinite(values))), f"{name} of a learner must be {count:,} finite numbers", values
    )
    return np.asarray(values)


def _total(numbers: list[float], place: int) -> float:
    return numbers[place] + numbers[place + 1]
