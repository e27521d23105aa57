"""Stacks on the forecasts of members: weights learned by second-order methods, with or without forgetting.

Algorithm
    A stack receives the forecasts of J members as an array, one row per round. It forecasts each row, and learns its
    label before the next. `look` forecasts without learning. Weights start at a centre u0, a pool of the members; with
    gamma below 1 all sums are multiplied by gamma before each forecast.
        LogisticStack   second-order logistic regression on log-odds clipped to -8 .. 8, extra columns and a constant
        SoftmaxStack    the same for many labels: one weight per member, one bias per label, on ln P clipped from below
                        at -8 and centred; labels need not be announced
        NumberStack     Vovk-Azoury-Warmuth on the distances of the forecasts from the pool, scale-free; clipped to the
                        range of the earlier outcomes
    `Lags` computes columns from earlier outcomes: the previous one, and exponential means; `RecentLabels` the same for
    many labels. `StackReplay` replays a
    stack on recorded forecasts.
Promise
    mixtures/theorems/stack_regret.py for labels, mixtures/theorems/number_stack_regret.py for numbers.
Cost
    O((J + E)^2) per round for two labels with E extra columns, O((J + k)^3) for k labels, O(J^3) for numbers.
Reference
    [jezequel2020] for labels; [vovk2001], [azoury2001] for numbers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.goal import added_doubt
from novikoff.comparators.metric import Full
from novikoff.core.batch import places_of
from novikoff.core.errors import InputError, shown
from novikoff.core.state import (
    MOST_ROUNDS,
    Argument,
    Array,
    Count,
    Field,
    Number,
    Stateful,
    integer,
    number,
    pair,
    require,
)
from novikoff.core.types import State
from novikoff.mixtures import _loops
from novikoff.mixtures._loops import stack_layout as at
from novikoff.mixtures.theorems.number_stack_regret import NumberStackFacts, number_stack_regret
from novikoff.mixtures.theorems.stack_regret import StackFacts, stack_regret
from novikoff.mixtures.theorems.top_facts import SLACK
from novikoff.mixtures.tops import forecasts_of
from novikoff.numerics.sizes import CLIP, LARGEST_SIZE
from novikoff.numerics.total import Total

Vector = NDArray[np.float64]

PROMISES = (stack_regret, number_stack_regret)
"""Theorems of the stacks."""
RATES = (0.5, 0.1, 0.02)
"""Weights of the newest outcome in the exponential means of `Lags`."""
SMOOTHED = 0.1
"""Fraction of the frequencies of all labels in those of `RecentLabels`."""
PREVIOUS = 2
"""Number of columns of `RecentLabels`: the last labels."""
LEAST_RIDGE, LARGEST_RIDGE = 2.0**-20, 2.0**20
"""Smallest and largest ridge."""
MOST_FORGOTTEN = 16.0
"""Largest d (1 - gamma) of a stack whose d coordinates receive their ridge in turn: none is left with less than about
e^-16 of it."""
MOST_LABELS = 256
"""Largest number of labels of a stack."""


def centre_of(given: Sequence[float]) -> Vector:
    """Return a centre as an array, checked."""
    centre = np.array(given, dtype=np.float64)
    if centre.ndim != 1 or not len(centre) or not np.isfinite(centre).all():
        raise InputError(f"a centre must be one number per member: got {shown(given)}.")
    return centre


def forgetting(gamma: float, ridge: float, size: int = 1) -> tuple[float, float]:
    """Return gamma and a ridge, checked.

    Args:
        gamma: Factor of the past in each round.
        ridge: Regularisation.
        size: Number of coordinates whose ridge, reduced by forgetting, is restored in turn.
    """
    if not 0.0 < gamma <= 1.0 or size * (1.0 - gamma) > MOST_FORGOTTEN:
        least = max(1.0 - MOST_FORGOTTEN / size, 0.0)
        raise InputError(f"gamma must be positive and from {least:.3g} to 1: got {shown(gamma)}.")
    if not LEAST_RIDGE <= ridge <= LARGEST_RIDGE:
        raise InputError(f"a ridge must be from {LEAST_RIDGE:.1g} to {LARGEST_RIDGE:.1g}: got {shown(ridge)}.")
    return float(gamma), float(ridge)


class Lags(Stateful):
    """Columns computed from earlier outcomes: the previous one, and exponential means of rates 0.5, 0.1 and 0.02.

    Args:
        start: Value of all columns before the first outcome; None for means that start at that outcome, after zeros.

    Example:
        >>> Lags(0.5).columns(np.array([1.0, 0.0])).tolist()
        [[0.5, 0.5, 0.5, 0.5], [1.0, 0.75, 0.55, 0.51]]
    """

    described = "lag columns"
    fields = (
        Argument("start", float | None),
        Count("rounds"),
        Array("values", at="_values"),
        Number("last", optional=True, at="_last", default=lambda: None),
    )

    def __init__(self, start: float | None = None) -> None:
        self.start, self.rounds = start, 0
        self._values = np.full(1 + len(RATES), 0.0 if start is None else float(start))
        """Columns of the last row, and of its copies: `_last` is the outcome that they do not contain yet."""
        self._last: float | None = None

    def columns(self, y: Vector, copies: NDArray[np.bool_] | None = None) -> Vector:
        """Return the columns (rows, 4) of rounds with these outcomes.

        Args:
            y: Outcomes.
            copies: Whether each round is another round of the row before it, whose columns it then has; None for none.
        """
        new = y if copies is None else y[~copies]
        earlier = np.asarray(new if self._last is None else np.append(self._last, new), np.float64)
        if not len(earlier):
            return self.look(len(y))
        found = np.vstack([self._before(earlier[:-1], self._values), self._values])
        self.rounds, self._last = self.rounds + len(earlier) - 1, float(earlier[-1])
        return found[places_of(copies, len(y), len(found))]

    def look(self, rows: int = 1) -> Vector:
        """Return the columns (rows, 4) of the next row, once per row."""
        values = self._values.copy()
        if self._last is not None:
            self._before(np.array([self._last]), values)
        return np.tile(values, (rows, 1))

    def _before(self, y: Vector, values: Vector) -> Vector:
        """Return the columns (rows, 4) before each of these outcomes, and add the outcomes to `values`."""
        found = np.empty((len(y), len(values)))
        started = self.start is not None or self.rounds > 0
        _loops.stacks.lag(values, np.array(RATES), started, y, True, found)
        return found


class RecentLabels(Stateful):
    """Frequencies of labels, those of recent rounds most, and columns with the previous labels.

    For each of the rates 0.5, 0.1 and 0.02, P is the exponential mean of the labels' indicators, which starts at
    the frequencies of all labels, mixed with a tenth of these frequencies, (n_c + 1/2)/(n + k/2).

    Attributes:
        rounds: Rounds learned.
        labels: Number of labels.

    Example:
        >>> recent = RecentLabels()
        >>> recent.play(np.array([0, 0]), 2)[1].round(3).tolist()
        [[0.862, 0.138], [0.772, 0.228], [0.754, 0.246]]
        >>> recent.columns(np.array([3, 1, 2])).tolist()
        [[nan, nan], [3.0, nan], [1.0, 3.0]]
    """

    described = "frequencies of recent labels"
    fields = (
        Count("rounds"),
        Count("labels", most=MOST_ROUNDS),
        Array("counts", ("labels",), nonnegative=True, at="_counts"),
        Array("means", (None, 1 + len(RATES)), nonnegative=True, most=1.0, at="_means"),
        Count("last", -1, "labels", at="_last", default=lambda: -1),
        Array("previous", (None,), finite=False, at="_previous"),
    )

    def __init__(self) -> None:
        self.rounds = self.labels = 0
        self._counts, self._means = np.zeros(0), np.ones((1, 1 + len(RATES)))
        """Those before the last row, whose label is `_last`. Row 0 of the means is the weight of their start, row c + 1
        belongs to label c."""
        self._last = -1
        self._previous = np.full(PREVIOUS + 1, np.nan)
        """The last labels, the latest first."""

    def columns(self, y: NDArray[np.int64], copies: NDArray[np.bool_] | None = None) -> Vector:
        """Return the columns (rows, 2) of rounds with these labels, which `play` learns afterwards.

        They are the previous label and the one before it; nan if there is none.

        Args:
            y: Labels.
            copies: Whether each round is another round of the row before it, whose columns it then has; None for none.
        """
        new = y if copies is None else y[~copies]
        known = np.concatenate([self._previous[::-1], np.asarray(new, np.float64)])
        self._previous = known[: -PREVIOUS - 2 : -1].copy()
        rows = len(new) + 1  # the last row known before comes first, for its copies
        table = np.column_stack([known[PREVIOUS - 1 - lag :][:rows] for lag in range(PREVIOUS)])
        return table[places_of(copies, len(y), rows)]

    def columns_ahead(self, rows: int) -> Vector:
        """Return the columns (rows, 2) of the next row, once per row."""
        return np.tile(self._previous[:PREVIOUS], (rows, 1))

    def play(self, y: NDArray[np.int64], labels: int, copies: NDArray[np.bool_] | None = None) -> Vector:
        """Return P (rows, rates, labels) before each of these labels, and learn them.

        Args:
            y: Labels.
            labels: Number of labels known. Only a single row may have a new label.
            copies: Whether each round is another round of the row before it, whose P it then has; None for none.
        """
        self._grow(max(labels, int(y.max()) + 1))
        new = y if copies is None else y[~copies]
        earlier = np.asarray(new if self._last < 0 else np.append(self._last, new), np.int64)
        found, self._counts, self._means = self._before(earlier[:-1], labels)
        if len(earlier):
            self.rounds, self._last = self.rounds + len(earlier) - 1, int(earlier[-1])
        return found[places_of(copies, len(y), len(found))]

    def look(self, rows: int, labels: int) -> Vector:
        """Return P (rows, rates, labels) of the next row, once per row."""
        last = np.array([self._last] if self._last >= 0 else [], np.int64)
        return np.tile(self._before(last, labels)[0][-1:], (rows, 1, 1))

    def _before(self, y: NDArray[np.int64], labels: int) -> tuple[Vector, Vector, Vector]:
        """Return P (rows + 1, rates, labels) before each of these labels and after them; counts and means after."""
        more = max(labels - self.labels, 0)
        first, means = np.pad(self._counts, (0, more)), np.pad(self._means, ((0, more), (0, 0)))
        is_label = np.column_stack([np.zeros(len(y)), y[:, None] == np.arange(len(first))])
        counts = np.cumsum(np.vstack([first, is_label[:, 1:]]), axis=0)
        each, found = np.empty((len(y), 1 + len(RATES))), np.empty((len(y) + 1, len(RATES), len(means)))
        for c, values in enumerate(means):
            _loops.stacks.lag(values, np.array(RATES), True, np.ascontiguousarray(is_label[:, c]), True, each)
            found[:-1, :, c], found[-1, :, c] = each[:, 1:], values[1:]
        rounds = self.rounds + np.arange(len(y) + 1)
        return self._chances(found[:, :, : 1 + labels], counts[:, :labels], rounds), counts[-1], means

    def _grow(self, labels: int) -> None:
        """Add labels that were never seen."""
        if labels > self.labels:
            self._counts = np.pad(self._counts, (0, labels - self.labels))
            self._means = np.pad(self._means, ((0, labels - self.labels), (0, 0)))
            self.labels = labels

    def _chances(self, means: Vector, counts: Vector, rounds: NDArray[np.int64]) -> Vector:
        """Return P (rows, rates, labels).

        Args:
            means: (rows, rates, 1 + labels) Exponential means, the weight of their start first.
            counts: (rows, labels) Number of earlier rounds with each label.
            rounds: (rows,) Number of earlier rounds.
        """
        all_time = ((counts + 0.5) / (rounds + 0.5 * counts.shape[1])[:, None])[:, None]
        found: Vector = (1.0 - SMOOTHED) * (means[:, :, 1:] + means[:, :, :1] * all_time) + SMOOTHED * all_time
        return found

    def after_restoring(self, found: State) -> None:
        rows = len(self._means) == self.labels + 1
        require(rows, "frequencies of recent labels must have one row per label", len(self._means))
        require(len(self._previous) in (PREVIOUS, PREVIOUS + 1), "previous labels must be three", self._previous)
        if len(self._previous) == PREVIOUS:  # written by an earlier version
            self._previous = np.append(self._previous, np.nan)
        require(self._last < self.labels, "the last label must be known", self._last)
        known = self._previous[~np.isnan(self._previous)]
        require(bool((known >= 0.0).all() and (known < self.labels).all()), "previous labels must be known", known)


class _LabelStack(Stateful):
    """Base class of the stacks for labels."""

    rounds: int
    gamma: float

    def __init__(self, centre: Sequence[float], gamma: float) -> None:
        self._centre, self.rounds = centre_of(centre), 0
        self.gamma, _ = forgetting(gamma, 1.0)
        self._totals, self._riders = np.zeros(at.TOTALS), np.zeros((at.RIDERS, len(self._centre) + 1))

    def _begin(self, ridge: Vector) -> None:
        self._ridge, self._sums, self._moment = ridge, np.zeros((len(ridge), len(ridge))), np.zeros(len(ridge))

    @abstractmethod
    def _paid_for(self) -> Vector:
        """Return the weight (J,) of (u-c)_j^2 / 2 in the penalty."""

    @property
    def centre(self) -> list[float]:
        """Initial weights of the members."""
        return self._centre.tolist()  # type: ignore[no-any-return]

    @property
    def weights(self) -> Vector:
        """Weights (d,) after the last round, before any forgetting: members, then further coordinates."""
        sums = np.triu(self._sums) + np.triu(self._sums, 1).T
        found = np.asarray(np.linalg.solve(sums + np.diag(self._ridge), self._moment), np.float64)
        found[: len(self._centre)] += self._centre
        return found

    def facts(self, names: Sequence[str], observed: float, labels: int = 2) -> StackFacts:
        """Return the facts for its theorem.

        Args:
            names: Names of the members.
            observed: Log loss of its forecasts, recorded outside the stack.
            labels: Number of labels.
        """
        size, totals, centre, weight = len(self._ridge), self._totals, self._centre, 1.0 - self.gamma
        sums = np.triu(self._sums) + np.triu(self._sums, 1).T
        metric = Full(np.arange(size), self._ridge, sums, self.rounds)
        doubt = 2.0 * (1.0 + totals[at.FARTHEST]) * added_doubt(np.full(size, self.rounds), np.full(size, CLIP))
        low, high = metric.inverse_between(self._moment, doubt) if self.rounds else (0.0, 0.0)
        earlier = weight * float(totals[at.DUAL : at.DUAL + 2].sum() - totals[at.LAST_DUAL])
        linear = float(totals[at.LINEAR : at.LINEAR + 2].sum())
        steps = np.vstack([np.eye(len(centre)), centre]) - centre
        penalties = 0.5 * (steps**2 @ self._paid_for())
        return StackFacts(
            rounds=self.rounds, names=[*(f"{name} alone" for name in names), "the initial pool"],
            gamma=self.gamma, observed=observed,
            loss=float(totals[at.LOSS : at.LOSS + 2].sum()),
            losses=self._riders[at.RIDER_LOSS : at.RIDER_LOSS + 2].sum(axis=0).tolist(),
            over=self._riders[at.RIDER_OVER : at.RIDER_OVER + 2].sum(axis=0).tolist(),
            penalties=penalties.tolist(), delta=float(totals[at.DELTA : at.DELTA + 2].sum()),
            dual=linear + 0.5 * (float(high) + earlier), least=linear + 0.5 * (float(low) + earlier), labels=labels,
        )  # fmt: skip


class LogisticStack(_LabelStack):
    """Stack for two labels.

    Args:
        centre: Initial weight of each member, such as 1/J.
        extras: Number of extra columns, whose weights start at 0.
        gamma: Factor of the past in each round; 1 forgets nothing.
        ridge: Regularisation, around the centre.

    Example:
        >>> stack = LogisticStack([0.5, 0.5])
        >>> stack.play(np.array([[2.0, 0.0]]), np.array([1], dtype=np.int8)).round(4).tolist()
        [0.4485]
    """

    described = "a stack"
    fields: ClassVar[tuple[Field, ...]] = (
        Argument("centre", list),
        Argument("extras", int),
        Argument("gamma", float),
        Argument("ridge", float),
        Count("rounds"),
        Array("diagonal", nonnegative=True, at="_ridge"),
        Array("sums", at="_sums"),
        Array("inverse", at="_inverse"),
        Array("moment", at="_moment"),
        Array("totals", at="_totals"),
        Array("riders", at="_riders"),
    )

    def __init__(self, centre: Sequence[float], extras: int = 0, gamma: float = 1.0, ridge: float = 1.0) -> None:
        super().__init__(centre, gamma)
        self.extras = int(extras)
        if self.extras < 0:
            raise InputError(f"a number of extra columns must not be negative: got {shown(extras)}.")
        _, self.ridge = forgetting(gamma, ridge, len(self._centre) + self.extras + 1)
        self._begin(np.full(len(self._centre) + self.extras + 1, self.ridge))
        self._inverse = np.eye(len(self._ridge)) / self.ridge

    @property
    def arrays(self) -> Any:
        """Arrays for the loops."""
        return self._centre, self._ridge, self._sums, self._inverse, self._moment, self._totals, self._riders

    def _paid_for(self) -> Vector:
        # The initial ridge has weight gamma; in each of its turns a coordinate received size (1 - gamma) ridge.
        size, members = len(self._ridge), np.arange(len(self._centre))
        turns = (self.rounds - members + size - 1) // size
        return np.asarray(self.ridge * (self.gamma + size * (1.0 - self.gamma) * turns), np.float64)

    def play(self, odds: object, y: NDArray[np.int8], extras: object = None) -> Vector:
        """Return the log-odds (rows,) for those of the members (rows, J), learning from labels -1 and +1.

        Args:
            odds: Log-odds of the members.
            y: Labels.
            extras: (rows, E) extra columns.
        """
        played = self._played(*self._given(odds, extras, len(y)), y, True)
        self.rounds += len(y)
        return played

    def look(self, odds: Any, extras: Any = None) -> Vector:
        """Return the log-odds (rows,) without learning; each row is forecast as the next round."""
        return self._played(*self._given(odds, extras, None), np.zeros(0, np.int8), False)

    def _given(self, odds: object, extras: object, rows: int | None) -> tuple[Vector, Vector]:
        odds = forecasts_of(odds, (rows, len(self._centre)))
        extras = np.zeros((len(odds), 0)) if extras is None else extras
        return odds, forecasts_of(extras, (len(odds), self.extras))

    def _played(self, odds: Vector, extras: Vector, y: NDArray[np.int8], learns: bool) -> Vector:
        played = np.empty(len(odds))
        _loops.stacks.play_logistic(self.arrays, self.gamma, self.ridge, self.rounds, odds, extras, y, learns, played)
        return played


class SoftmaxStack(_LabelStack):
    """Stack for many labels.

    Args:
        centre: Initial weight of each member.
        labels: Number of labels announced; others may appear.
        gamma: Factor of the past in each round; 1 forgets nothing.
        ridge: Regularisation of the weights of members.
        bias_ridge: Regularisation of the biases of labels.
        proved: Whether to reduce curvatures until no fixed weights of the members' range have a deficit, at the price
            of learning less well.

    Attributes:
        known: Number of labels known.
    """

    described = "a stack"
    fields: ClassVar[tuple[Field, ...]] = (
        Argument("centre", list),
        Argument("labels", int),
        Argument("gamma", float),
        Argument("ridge", float),
        Argument("bias_ridge", float),
        Argument("proved", bool),
        Count("rounds"),
        Count("known", least="labels", most=MOST_LABELS),
        Array("sums", ("_size", "_size"), at="_sums"),
        Array("moment", ("_size",), at="_moment"),
        Array("totals", at="_totals"),
        Array("riders", at="_riders"),
    )

    def __init__(
        self, centre: Sequence[float], labels: int = 0, gamma: float = 1.0, ridge: float = 4.0,
        bias_ridge: float = 10.0, proved: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(centre, gamma)
        (_, self.ridge), (_, self.bias_ridge) = forgetting(gamma, ridge), forgetting(gamma, bias_ridge)
        if type(labels) is not int or not 0 <= labels <= MOST_LABELS:
            raise InputError(f"a number of labels must be from 0 to {MOST_LABELS}: got {shown(labels)}.")
        self.labels, self.known, self.proved = labels, labels, bool(proved)
        self._begin(self._ridges())

    @property
    def arrays(self) -> Any:
        """Arrays for the loops."""
        return self._centre, self._ridge, self._sums, self._moment, self._totals, self._riders

    def _paid_for(self) -> Vector:
        return self._ridge[: len(self._centre)] * (1.0 + (1.0 - self.gamma) * max(self.rounds - 1, 0))

    def _ridges(self) -> Vector:
        return np.repeat([self.ridge, self.bias_ridge], [len(self._centre), self.known])

    @property
    def _size(self) -> int:
        """Number of coordinates."""
        return len(self._centre) + self.known

    def play(self, logs: object, y: NDArray[np.int64]) -> Vector:
        """Return ln P (rows, k) for those of the members (rows, J, k), learning from labels from 0 on.

        A label is known from the round on in which it appears: ln P of the members, which covers all labels known in a
        round, is not read for others, and -inf is returned.
        """
        logs = forecasts_of(logs, (len(y), len(self._centre), None))
        most = min(logs.shape[2], MOST_LABELS) - 1
        if len(y) and not 0 <= y.min() <= y.max() <= most:
            raise InputError(f"labels must be from 0 to {most}: got {int(y.min() if y.min() < 0 else y.max())}.")
        self._grow(max(self.known, int(y.max(initial=-1)) + 1))
        before, played = self.known, np.empty((len(y), logs.shape[2]))
        self.known = _loops.stacks.play_softmax(self.arrays, self.gamma, self.proved, before, logs, y, True, played)
        self.rounds += len(y)
        return played

    def look(self, logs: Any) -> Vector:
        """Return ln P (rows, k) without learning; -inf for labels not yet known."""
        logs = forecasts_of(logs, (None, len(self._centre), None))
        played, known = np.full((len(logs), logs.shape[2]), -np.inf), min(self.known, logs.shape[2])
        if not known:
            return played
        none = np.zeros(0, np.int64)
        _loops.stacks.play_softmax(self.arrays, self.gamma, self.proved, known, logs, none, False, played)
        return played

    def _grow(self, known: int) -> None:
        """Make room for labels."""
        more = len(self._centre) + known - len(self._ridge)
        if more > 0:
            self._ridge = np.append(self._ridge, np.full(more, self.bias_ridge))
            self._sums, self._moment = np.pad(self._sums, (0, more)), np.pad(self._moment, (0, more))

    def after_restoring(self, found: State) -> None:
        self._ridge = self._ridges()


class NumberStack(Stateful):
    """Stack for numbers.

    Args:
        centre: Weights u0 of the pool, of sum 1.
        ridge: Regularisation lambda, around the pool, in units of the largest distance of each forecast from it.
        gamma: Factor of the past in each round; 1 forgets nothing.

    Example:
        >>> stack = NumberStack([0.5, 0.5])
        >>> stack.play([[1.0, 3.0], [2.0, 2.5], [0.0, 4.0]], np.array([2.0, 3.0, 1.0])).round(6).tolist()
        [0.0, 2.0, 2.053097]
    """

    described = "a stack"
    fields = (
        Argument("centre", list),
        Argument("ridge", float),
        Argument("gamma", float),
        Count("rounds"),
        Array("largest", nonnegative=True, at="_largest"),
        Array("sums", at="_sums"),
        Array("moment", at="_moment"),
        Array("totals", at="_totals"),
        Array("outcomes", at="_outcomes"),
    )

    def __init__(self, centre: Sequence[float], ridge: float = 1.0, gamma: float = 1.0) -> None:
        self._centre, (self.gamma, self.ridge) = centre_of(centre), forgetting(gamma, ridge)
        if not abs(math.fsum(self._centre) - 1.0) <= 1e-9:
            raise InputError(f"the weights of a pool must sum to 1: got {shown(centre)}.")
        count, self.rounds = len(self._centre), 0
        self._largest, self._sums, self._moment = np.zeros(count), np.zeros((count, count)), np.zeros(count)
        self._totals, self._outcomes = np.zeros(at.NUMBER_TOTALS), np.zeros(at.OUTCOMES)

    @property
    def centre(self) -> list[float]:
        """Weights of the pool."""
        return self._centre.tolist()  # type: ignore[no-any-return]

    @property
    def arrays(self) -> Any:
        """Arrays for the loops."""
        return self._centre, self._largest, self._sums, self._moment, self._totals, self._outcomes

    def play(self, forecasts: object, y: Vector) -> Vector:
        """Return the forecasts (rows,) for those of the members (rows, J), learning from each outcome."""
        played = self._played(forecasts_of(forecasts, (len(y), len(self._centre)), LARGEST_SIZE), y, True)
        self.rounds += len(y)
        return played

    def look(self, forecasts: Any) -> Vector:
        """Return the forecasts (rows,) without learning; each row is forecast as the next round."""
        return self._played(forecasts_of(forecasts, (None, len(self._centre)), LARGEST_SIZE), np.zeros(0), False)

    def _played(self, forecasts: Vector, y: Vector, learns: bool) -> Vector:
        played = np.empty(len(forecasts))
        _loops.stacks.play_numbers(self.arrays, self.ridge, self.gamma, forecasts, y, learns, played)
        return played

    def facts(self, observed: float) -> NumberStackFacts:
        """Return the facts for its theorem.

        Args:
            observed: Squared loss of its forecasts, recorded outside the stack.
        """
        here = np.flatnonzero(self._largest > 0.0)
        sums = np.triu(self._sums) + np.triu(self._sums, 1).T
        ridge = self.ridge * self._largest[here] ** 2
        metric = Full(here, ridge, sums[np.ix_(here, here)], self.rounds)
        doubt = self._outcomes[at.OFFSET] * added_doubt(np.full(len(self._centre), self.rounds), self._largest)
        low, high = metric.inverse_between(self._moment, doubt) if len(here) else (0.0, 0.0)
        totals = (self._totals[0::2] + self._totals[1::2]).tolist()
        squares, chi, credit, growth, unclipped, clipped, grown, phi = totals
        earlier = (1.0 - self.gamma) * (phi - float(self._outcomes[at.LAST_PHI]))
        return NumberStackFacts(
            rounds=self.rounds, gamma=self.gamma, observed=observed, loss=clipped, unclipped=unclipped,
            squares=squares, most=float(squares - low - earlier), least=float(squares - high - earlier), chi=chi,
            credit=credit, growth=growth, range=grown,
        )  # fmt: skip


class StackReplay:
    """Replay of a stack on recorded forecasts, for a certificate that does not rely on the sums of the stack.

    Args:
        stack: Untrained stack, with the arguments of the one that plays.

    Attributes:
        off: Largest difference between a forecast played and its replay: of log-odds or ln P, or of numbers relative
            to the largest forecast of their round.
        off_at: First round in which this difference exceeds rounding; 0 for none.
    """

    def __init__(self, stack: LogisticStack | SoftmaxStack | NumberStack) -> None:
        self.stack, self.off, self.off_at, self._loss = stack, 0.0, 0, Total()

    def see(self, forecasts: Any, y: NDArray[Any], played: Any, extras: Any = None) -> None:
        """Replay rounds: forecasts of the members, labels, forecasts that the stack played, and its extra columns."""
        first, played = self.stack.rounds + 1, np.asarray(played, np.float64)
        if isinstance(self.stack, LogisticStack):
            off = np.abs(self.stack.play(forecasts, y, extras) - played)
            lost = np.logaddexp(0.0, -y * played)
        elif isinstance(self.stack, SoftmaxStack):
            here = self.stack.play(forecasts, y)
            off = np.where(here == played, 0.0, np.abs(np.nan_to_num(here) - np.nan_to_num(played))).max(axis=1)
            lost = -played[np.arange(len(y)), y]
        else:
            largest = np.abs(np.asarray(forecasts, np.float64)).max(axis=1)
            off = np.abs(self.stack.play(forecasts, y) - played) / np.where(largest > 0.0, largest, 1.0)
            lost = (played - y) ** 2
        for one in lost.tolist():  # in order, so that the sum does not depend on the batches
            self._loss.add(one)
        wrong = np.flatnonzero(~(off <= SLACK))
        self.off = float(max(self.off, off.max(initial=0.0)))
        if len(wrong) and not self.off_at:
            self.off_at = first + int(wrong[0])

    def facts(self, names: Sequence[str]) -> StackFacts | NumberStackFacts:
        """Return the facts for the theorem of the stack.

        Args:
            names: Names of the members.
        """
        lost = float(self._loss)
        if isinstance(self.stack, NumberStack):
            return replace(self.stack.facts(lost), replayed=True, off_at=self.off_at)
        labels = self.stack.known if isinstance(self.stack, SoftmaxStack) else 2
        return replace(self.stack.facts(names, lost, labels), replayed=True, off_at=self.off_at)

    def state(self) -> State:
        """Return the state as plain data."""
        kind = type(self.stack).__name__
        return {"kind": kind, "stack": self.stack.state(), "off": self.off, "off_at": self.off_at,
                "loss": [self._loss.sum, self._loss.lost]}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> StackReplay:
        """Return the replay with this `state`."""
        kinds = {kind.__name__: kind for kind in (LogisticStack, SoftmaxStack, NumberStack)}
        require(state["kind"] in kinds, "a stack must be of a known kind", state["kind"])
        made = cls(kinds[state["kind"]].restore(state["stack"]))
        made.off, made._loss = number(state, "off", "a replay"), Total(*pair(state, "loss", "a replay"))
        made.off_at = integer(state, "off_at", most=made.stack.rounds, of="a replay")
        return made
