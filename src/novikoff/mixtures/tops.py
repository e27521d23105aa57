"""Mixtures of given forecasts: fixed share for labels, AdaHedge for numbers.

Algorithm
    A top receives the forecasts of N forecasters as an array, one row per round. It forecasts each row, and learns its
    label before the next. `look` forecasts without learning.
        FixedShareTop  P = sum of w_i P_i; after round t, w = (1 - 1/(t+1)) posterior + 1/(t+1) prior; forecasters may
                       join after given rounds, with their part of the prior
        BayesTop       P = sum of w_i P_i, w the posterior: fixed share without sharing
        AdaHedgeTop    mean of the forecasts by AdaHedge's weights on their squared losses; with `shared`, after each
                       round the weights are mixed with the prior in the same way
Promise
    mixtures/theorems/switching_regret.py and mixture_regret.py for labels; mixtures/theorems/numbers_regret.py and
    numbers_switching_regret.py for numbers. mixtures/top_tracker.py records what is needed for them.
Cost
    O(N) per round, and per label.
Reference
    [herbster1998] for fixed share; [derooij2014] for AdaHedge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument, Array, Count, Stateful, require
from novikoff.core.types import State
from novikoff.mixtures import _loops
from novikoff.mixtures._loops import top_layout as at
from novikoff.mixtures.theorems.mixture_regret import mixture_regret
from novikoff.mixtures.theorems.numbers_regret import numbers_regret
from novikoff.mixtures.theorems.numbers_switching_regret import numbers_switching_regret
from novikoff.mixtures.theorems.switching_regret import switching_regret
from novikoff.numerics.sizes import LARGEST_SIZE

Vector = NDArray[np.float64]

PROMISES = (switching_regret, mixture_regret, numbers_regret, numbers_switching_regret)
"""Theorems of the mixtures."""
WHOLE = 1e-9
"""Largest distance of the sum of a prior from 1."""


def prior_of(given: Sequence[float]) -> Vector:
    """Return a prior as an array that sums to 1."""
    prior = np.array(given, dtype=np.float64)
    sound = prior.ndim == 1 and len(prior) > 0 and bool((prior > 0.0).all())
    if not sound or not abs(math.fsum(prior) - 1.0) <= WHOLE:
        raise InputError(f"a prior must be positive numbers that sum to 1: got {shown(given)}.")
    return prior / math.fsum(prior)


def joins_of(given: Sequence[int] | None, count: int) -> NDArray[np.int64]:
    """Return the numbers of rounds after which `count` forecasters join; zeros for None."""
    joins = np.zeros(count, np.int64) if given is None else np.array(given)
    sound = joins.shape == (count,) and joins.dtype.kind == "i" and bool((joins >= 0).all() and (joins == 0).any())
    if not sound:
        raise InputError(f"joins must be {count} numbers of rounds, one of them 0: got {shown(given)}.")
    return joins.astype(np.int64)


def forecasts_of(given: object, shape: tuple[int | None, ...], most: float = math.inf) -> Vector:
    """Return forecasts as a contiguous array of this shape, in which None allows any size.

    Args:
        given: Forecasts.
        shape: Shape.
        most: Largest size of a forecast.
    """
    found = np.ascontiguousarray(given, dtype=np.float64)
    fits = found.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
    if not fits or not bool((np.abs(found) <= most).all()):
        sizes = " x ".join("any" if n is None else str(n) for n in shape)
        limit = "" if most == math.inf else f", at most {most:.3g} in size"
        got = f"shape {found.shape}" if not fits else f"{found[~(np.abs(found) <= most)][0]:.3g}"
        raise InputError(f"forecasts must be {sizes} numbers{limit}: got {got}.")
    return found


class FixedShareTop(Stateful):
    """Fixed share of rate 1/(t+1) over forecasters of two or many labels.

    Args:
        prior: Weight of each forecaster before the first round, and its share of the weight redistributed after each.
        joins: Number of rounds after which each forecaster joins; None if all play from the start.

    Attributes:
        weights: (N,) weights of the next round; 0 for forecasters that have not joined.
        shares: (N,) sums of the weights over all rounds.
        rounds: Rounds learned.

    Example:
        >>> import numpy as np
        >>> top = FixedShareTop([0.5, 0.5])
        >>> odds = np.log([[0.8 / 0.2, 0.3 / 0.7]] * 2)
        >>> played = top.play(odds, np.array([1, 1], dtype=np.int8))
        >>> (1.0 / (1.0 + np.exp(-played))).round(4).tolist()
        [0.55, 0.6068]
    """

    described = "a mixture by fixed share"
    fields = (
        Argument("prior", list),
        Argument("joins", list | None, default=lambda: None),
        Count("rounds"),
        Array("weights", nonnegative=True, most=1.0 + WHOLE),
        Array("shares", nonnegative=True),
    )

    def __init__(self, prior: Sequence[float], joins: Sequence[int] | None = None) -> None:
        self._prior = prior_of(prior)
        self._joins = joins_of(joins, len(self._prior))
        first = self._joins == 0
        self.weights, self.shares, self.rounds = self._prior.copy(), np.zeros(len(self._prior)), 0
        if not first.all():
            self.weights = np.where(first, self._prior / math.fsum(self._prior[first]), 0.0)

    @property
    def joins(self) -> list[int]:
        """Number of rounds after which each forecaster joins."""
        return self._joins.tolist()  # type: ignore[no-any-return]

    @property
    def prior(self) -> list[float]:
        """Prior of the forecasters."""
        return self._prior.tolist()  # type: ignore[no-any-return]

    def play(self, odds: object, y: NDArray[np.int8]) -> Vector:
        """Return the log-odds (rows,) of the mixture for log-odds (rows, N), learning from labels -1 and +1."""
        odds, played = forecasts_of(odds, (len(y), len(self.weights))), np.empty(len(y))
        _loops.tops.play_odds(self.weights, self.shares, self._prior, self._joins, self.rounds, odds, y, True, played)
        self.rounds += len(y)
        return played

    def look(self, odds: Any) -> Vector:
        """Return the log-odds (rows,) of the mixture without learning; each row is forecast as the next round."""
        odds = forecasts_of(odds, (None, len(self.weights)))
        played = np.empty(len(odds))
        _loops.tops.play_odds(
            self.weights, self.shares, self._prior, self._joins, self.rounds, odds, np.zeros(0, np.int8), False, played
        )
        return played

    def play_labels(self, logs: object, y: NDArray[np.int64]) -> Vector:
        """Return ln P (rows, labels) of the mixture for ln P_i (rows, N, labels), learning from labels from 0 on."""
        logs = forecasts_of(logs, (len(y), len(self.weights), None))
        played = np.empty((len(y), logs.shape[2]))
        _loops.tops.play_labels(self.weights, self.shares, self._prior, self._joins, self.rounds, logs, y, True, played)
        self.rounds += len(y)
        return played

    def look_labels(self, logs: object) -> Vector:
        """Return ln P (rows, labels) of the mixture without learning."""
        logs = forecasts_of(logs, (None, len(self.weights), None))
        played = np.empty((len(logs), logs.shape[2]))
        _loops.tops.play_labels(
            self.weights, self.shares, self._prior, self._joins, self.rounds, logs, np.zeros(0, np.int64), False, played
        )
        return played


class BayesTop(Stateful):
    """Bayes mixture over forecasters of two or many labels: no weight is ever shared out again.

    Args:
        prior: Weight of each forecaster before the first round.

    Attributes:
        shares: (N,) sums of the weights over all rounds.
        rounds: Rounds learned.

    Example:
        >>> import numpy as np
        >>> top = BayesTop([0.5, 0.5])
        >>> odds = np.log([[0.8 / 0.2, 0.3 / 0.7]] * 2)
        >>> played = top.play(odds, np.array([1, 1], dtype=np.int8))
        >>> (1.0 / (1.0 + np.exp(-played))).round(4).tolist()
        [0.55, 0.6636]
    """

    described = "a Bayes mixture"
    fields = (
        Argument("prior", list),
        Count("rounds"),
        Array("sums", finite=False, at="_sums"),
        Array("shares", nonnegative=True),
    )

    def __init__(self, prior: Sequence[float]) -> None:
        self._prior = prior_of(prior)
        self._sums, self.shares, self.rounds = np.zeros((at.LOSSES, len(self._prior))), np.zeros(len(self._prior)), 0

    @property
    def prior(self) -> list[float]:
        """Prior of the forecasters."""
        return self._prior.tolist()  # type: ignore[no-any-return]

    @property
    def weights(self) -> Vector:
        """Weights (N,) of the next round."""
        logs = np.log(self._prior) + self._sums.sum(axis=0)
        weights = np.exp(logs - logs.max())
        found: Vector = weights / weights.sum()
        return found

    def play(self, odds: object, y: NDArray[np.int8]) -> Vector:
        """Return the log-odds (rows,) of the mixture for log-odds (rows, N), learning from labels -1 and +1."""
        odds, played = forecasts_of(odds, (len(y), len(self._prior))), np.empty(len(y))
        _loops.tops.bayes_odds(self._sums, self.shares, self._prior, odds, y, True, played)
        self.rounds += len(y)
        return played

    def look(self, odds: Any) -> Vector:
        """Return the log-odds (rows,) of the mixture without learning; each row is forecast as the next round."""
        odds = forecasts_of(odds, (None, len(self._prior)))
        played = np.empty(len(odds))
        _loops.tops.bayes_odds(self._sums, self.shares, self._prior, odds, np.zeros(0, np.int8), False, played)
        return played

    def play_labels(self, logs: object, y: NDArray[np.int64]) -> Vector:
        """Return ln P (rows, labels) of the mixture for ln P_i (rows, N, labels), learning from labels from 0 on."""
        logs = forecasts_of(logs, (len(y), len(self._prior), None))
        played = np.empty((len(y), logs.shape[2]))
        _loops.tops.bayes_labels(self._sums, self.shares, self._prior, logs, y, True, played)
        self.rounds += len(y)
        return played

    def look_labels(self, logs: object) -> Vector:
        """Return ln P (rows, labels) of the mixture without learning."""
        logs = forecasts_of(logs, (None, len(self._prior), None))
        played = np.empty((len(logs), logs.shape[2]))
        _loops.tops.bayes_labels(self._sums, self.shares, self._prior, logs, np.zeros(0, np.int64), False, played)
        return played

    def after_restoring(self, found: State) -> None:
        sound = not np.isnan(self._sums).any() and bool((self._sums < np.inf).all())
        require(sound, "sums of a Bayes mixture must be numbers", self._sums)


class AdaHedgeTop(Stateful):
    """AdaHedge on squared losses over forecasters of a number: the mean by its weights is played.

    Args:
        prior: Prior of each forecaster. Without sharing only its length matters: AdaHedge starts with equal weights.
        shared: Whether the weights are mixed with the prior after each round, so that a change of the best forecaster
            is followed.

    Attributes:
        rounds: Rounds learned.
        shares: (N,) sums of the weights over all rounds; empty for a mixture of an earlier version, which kept none.
        gaps: Sum of the mixability gaps.
        last_gap: Gap of the last round.

    Example:
        >>> import numpy as np
        >>> top = AdaHedgeTop([0.5, 0.5])
        >>> top.play([[1.0, 3.0], [1.0, 3.0]], np.array([1.0, 1.0])).round(3).tolist()
        [2.0, 1.4]
    """

    described = "a mixture by AdaHedge"
    fields = (
        Argument("prior", list),
        Argument("shared", bool),
        Count("rounds"),
        Array("table", finite=False, at="_table"),
        Array("numbers", nonnegative=True, at="_numbers"),
        Array("shares", (None,), nonnegative=True, default=lambda: np.zeros(0)),
    )

    def __init__(self, prior: Sequence[float], shared: bool = False) -> None:
        self._prior, self.shared = prior_of(prior), bool(shared)
        self._table, self._numbers, self.rounds = np.zeros(len(self._prior)), np.zeros(at.NUMBERS), 0
        self.shares = np.zeros(len(self._prior))

    @property
    def prior(self) -> list[float]:
        """Prior of the forecasters."""
        return self._prior.tolist()  # type: ignore[no-any-return]

    @property
    def gaps(self) -> float:
        """Sum of the mixability gaps."""
        return float(self._numbers[at.GAPS])

    @property
    def last_gap(self) -> float:
        """Mixability gap of the last round."""
        return float(self._numbers[at.LAST_GAP])

    @property
    def weights(self) -> Vector:
        """Weights (N,) of the next round."""
        return self.look(np.eye(len(self._prior)))

    @property
    def temper(self) -> float:
        """Product of the learning rate and the gaps so far: ln N, at least ln 2."""
        return math.log(max(len(self._prior), 2))

    @property
    def arrays(self) -> Any:
        """Arrays for the loops."""
        return self._prior, self._table, self._numbers

    def play(self, forecasts: object, y: Vector) -> Vector:
        """Return the mean (rows,) of forecasts (rows, N), learning from each outcome."""
        played = self._played(forecasts_of(forecasts, (len(y), len(self._prior)), LARGEST_SIZE), y, True)
        self.rounds += len(y)
        return played

    def look(self, forecasts: Any) -> Vector:
        """Return the mean (rows,) of forecasts without learning; each row is forecast as the next round."""
        return self._played(forecasts_of(forecasts, (None, len(self._prior)), LARGEST_SIZE), np.zeros(0), False)

    def _played(self, forecasts: Vector, y: Vector, learns: bool) -> Vector:
        played = np.empty(len(forecasts))
        if self.shared:
            _loops.tops.play_shared(self.arrays, self.shares, self.temper, self.rounds, forecasts, y, learns, played)
        else:
            _loops.tops.play_hedge(self.arrays, self.shares, forecasts, y, learns, played)
        return played

    def after_restoring(self, found: State) -> None:
        sound = not np.isnan(self._table).any() and bool((self._table < np.inf).all())
        require(sound, "losses of a mixture by AdaHedge must be numbers", self._table)
        kept = len(self.shares) in (0, len(self._prior))
        require(kept, "a mixture by AdaHedge must have one sum of weights per forecaster", self.shares)
