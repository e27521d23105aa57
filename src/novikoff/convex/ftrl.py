"""Scale-free follow the regularised leader: logistic regression without feature scaling.

Algorithm
    For each feature, M is the largest |x| so far, R the largest root mean square over the rounds that had it, both
    including x_t; G the sum of the gradients (P(+1) - [y = +1]) x, H the sum of P(+1) P(-1) x^2. The metric is
        A = R sqrt(M^2 + H) / rate   ("sqrt")   or   (M^2 + H) / rate   ("newton").
    z0 = -sum of G x / A and v = sum of x^2 / A; the score z is the root of z + (v/2) tanh(z/2) = z0: half a step for
    each of the two possible labels. P(+1) = 1/(1 + e^-z); predict +1 if that is 1/2 or more. `bias` c adds a constant
    feature of value c; all c other than 0 are equivalent. Predictions do not depend on the units of the features: a
    factor that is a power of two leaves them equal to the bit.
Promise
    convex/theorems/ftrl_regret.py: for every u, L <= L_u + u'Au/2 + sum of Delta, L the sum of the log losses.
    convex/theorems/ftrl_suffix.py: the same from any round on, against the weights of that round.
Cost
    O(non-zeros of x) per round, six numbers per feature.
Reference
    [mcmahan2017]; [orabona2018] for scale-free metrics; [ross2013].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.frozen import FrozenWeights
from novikoff.comparators.goal import Goal, Own, added_doubt
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.metric_facts import MetricFacts
from novikoff.comparators.metric_tracker import MetricTracker
from novikoff.convex import _loops
from novikoff.convex._loops import ftrl_layout as at
from novikoff.convex.theorems.ftrl_regret import ftrl_regret
from novikoff.convex.theorems.ftrl_suffix import ftrl_suffix
from novikoff.core.attribution import Coefficients
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import up_to
from novikoff.core.state import Argument, Array
from novikoff.core.types import Theorem
from novikoff.linear.scale_free import Probabilistic, over, ratio
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import U0

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

METRICS = ("sqrt", "newton")
"""Metrics: A grows with the square root of the sum of curvatures, or with the sum itself."""


def check_metric(metric: str, rate: float) -> None:
    """Raise an error if the metric is unknown or the rate is out of range."""
    if metric not in METRICS:
        raise InputError(f'a metric must be "sqrt" or "newton": got {shown(metric)}.')
    if not (math.isfinite(rate) and 2.0**-20 <= rate <= 2.0**20):
        raise InputError(f"a rate must be from 2^-20 to 2^20: got {shown(rate)}.")


class FTRL(Probabilistic):
    """Logistic regression by follow the regularised leader, with a scale-free diagonal metric.

    Args:
        metric: "sqrt" for a metric that grows as sqrt T, "newton" for one that grows as T.
        rate: Learning rate.
        bias: Value of a constant feature; 0 for none.

    Guarantee:
        For every u, the log loss is at most that of u + u'Au/2 + sum of Delta, where Delta is at most x'A^-1 x/8 per
        round (`ftrl_regret`; from any round on, `ftrl_suffix`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.FTRL(), [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], -1)]).mistakes
        2
    """

    promises: ClassVar[tuple[Theorem, ...]] = (ftrl_regret, ftrl_suffix)
    fields = (
        Argument("metric", str),
        Argument("rate", float),
        *Probabilistic.fields,
        Array("held", ("places", at.SHARED + 2), spare=0.0, nonnegative=(0, 1, 2, 3, at.SHARED + 1), at="_held"),
        Array("totals", (at.TOTALS, 1), at="_totals"),
    )

    def __init__(self, metric: str = "sqrt", rate: float = 1.0, bias: float = 1.0) -> None:
        super().__init__(bias)
        check_metric(metric, rate)
        self.metric, self.rate = metric, float(rate)
        self._roots, self._per_rate = np.array([metric == "sqrt"]), np.array([1.0 / self.rate])
        self._totals = np.zeros((at.TOTALS, 1))
        self._held = np.zeros((1, at.SHARED + 2))  # the last row serves all features not seen

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each feature, without the constant one."""
        return self.weights_by_place()[1 : self.features.count + 1]

    @property
    def bias_weight(self) -> float:
        """Weight of the constant feature."""
        return float(self.weights_by_place()[0])

    @property
    def size(self) -> int:
        """Number of non-zero weights."""
        return int(np.count_nonzero(self._held[:, at.SHARED]))

    @property
    def sums(self) -> NDArray[np.float64]:
        """Sums over all rounds of the log loss, the theorem's Delta, g z and |g z|."""
        return self._totals[:, 0]

    def diagonal(self) -> NDArray[np.float64]:
        """Return the diagonal of A by place, the constant feature first; 0 for features never seen."""
        held = self._held[: self.features.count + 1]
        under = held[:, 0] ** 2 + held[:, at.SHARED + 1]
        metric: NDArray[np.float64] = (
            held[:, 3] * np.sqrt(under) if self.metric == "sqrt" else under
        ) * self._per_rate[0]
        return metric

    def gradients(self) -> NDArray[np.float64]:
        """Return G by place."""
        return self._held[: self.features.count + 1, at.SHARED]

    def counts(self) -> NDArray[np.float64]:
        """Return the number of rounds with the feature and its largest |x|, by place."""
        return self._held[: self.features.count + 1, [2, 0]].T

    def weights_by_place(self) -> NDArray[np.float64]:
        """Return the weights by place, the constant feature first."""
        metric = self.diagonal()
        return -np.divide(self.gradients(), metric, out=np.zeros_like(metric), where=metric > 0.0)

    def linear_weights(self) -> Coefficients:
        by_place, squares = self.weights_by_place(), self._held[1 : self.features.count + 1, 1]
        sizes = np.sqrt(squares / max(self.rounds, 1))
        return Coefficients(by_place[np.newaxis, 1:], self.bias * by_place[:1], sizes)

    def _terms(self, places: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        held = self._held[np.minimum(places, len(self._held) - 1)]  # the metric includes the row itself
        under = np.maximum(held[:, 0], np.abs(values)) ** 2 + held[:, at.SHARED + 1]
        if self.metric == "sqrt":
            squares = held[:, 1] + values * values
            under = np.maximum(held[:, 3], np.sqrt(squares / (held[:, 2] + 1.0))) * np.sqrt(under)
        return -held[:, [at.SHARED]] * over(values, under * self._per_rate[0])[:, np.newaxis]

    def _shrinkage(
        self, rows: Nonzeros, score: NDArray[np.float64], linear: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        return ratio(score, linear)

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._make_room(width + 1)

    def _make_room(self, places: int) -> None:
        room = len(self._held) - 1
        if places > room:
            spare = 0 if self.features.kind == "array" else min(room, 2**20)
            self._held = np.vstack([self._held, np.zeros((places - room + spare, self._held.shape[1]))])

    def _score(self, rows: Nonzeros, y: NDArray[np.int8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        scores = np.empty((len(y), 1))
        _loops.ftrl.play(self._arrays(), astuple(rows), y, True, scores)
        return (column := scores[:, 0]), column

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        scores, none = np.empty((len(rows.ends) - 1, 1)), np.zeros(0, dtype=np.int8)
        places = up_to(rows.places, len(self._held) - 1)
        read: Any = rows.ends, places, rows.values
        _loops.ftrl.play(self._arrays(), read, none, False, scores)
        return scores[:, 0]

    def _arrays(self) -> at.FTRLArrays:
        # A plain tuple, made for every row: a named tuple takes longer to construct.
        return (self._roots, self._per_rate, self._held, self._totals)  # type: ignore[return-value]

    def tracker(self) -> MetricTracker | None:
        if self.rounds:
            return MetricTracker(self.bias, keep=0, frozen=FrozenWeights(first=0))
        return MetricTracker(self.bias, frozen=FrozenWeights())

    def goals(self) -> list[Goal]:
        """Return the objectives that comparators minimise."""
        return [self._goal(self.facts().penalty)]

    def own_weights(self) -> list[Own]:
        """Return the current weights as comparators for the rounds to come."""
        return [Own(self._goal(float(self.sums[at.DELTA])), self.weights_by_place())]

    def _goal(self, promised: float) -> Goal:
        added = self.gradients(), added_doubt(*self.counts())
        return Goal("log", Diagonal(self.diagonal()), promised, added, linear=float(self.sums[at.LINEAR]))

    def textbook(self) -> dict[str, object]:
        return {"rule": "ftrl", "metric": self.metric, "rate": self.rate.hex(), "bias": float(self.bias).hex()}

    def facts(self) -> MetricFacts:
        loss, delta, linear, size = (float(value) for value in self.sums)
        gradients = self.gradients()
        low, high = Diagonal(self.diagonal()).inverse_between(gradients, np.zeros(len(gradients)))
        off = (self.rounds + 20) * 2.0 * U0 * size
        dual, least = linear + off + 0.5 * high, linear - off + 0.5 * low
        # The constant feature's gradient is c times the excess of P(+1) over the labels, summed over all rounds.
        excess = float(gradients[0]) / self.bias if self.bias else 0.0
        return MetricFacts(self.rounds, self.rounds, 0, loss, delta, dual, least, excess, self.bias != 0.0)
