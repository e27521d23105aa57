"""AdaGrad: follow the regularised leader with any convex loss, for labels or numbers, without feature scaling.

Algorithm
    The loss of a score z = <w, x> is `loss`: hinge, for labels; absolute, pinball (`tau`), huber (`delta`) or squared,
    for numbers (convex/comparators/losses.py). g is its slope. For each feature, M is the largest |x| so far, R the
    largest root mean square over the rounds that had it, both including x_t; G the sum of g x, H that of (g x)^2. The
    metric is A = R sqrt(s^2 M^2 + H) / c and the weight -G/A, with s the largest possible slope (for the squared loss,
    2 times the first outcome), and c = `rate` times the size of the first non-zero outcome: predictions scale with the
    outcomes and do not depend on the units of the features. For labels c is `rate`; predict +1 if z >= 0.
    `bias` c adds a constant feature of value c.
Promise
    convex/theorems/convex_regret.py: for every u, the loss is at most that of u + u'Au/2 + sum of g^2 v/2, of the order
    of sqrt T. convex/theorems/convex_mistakes.py: mistakes are at most the hinge loss.
Cost
    O(non-zeros of x) per round, six numbers per feature.
Reference
    [duchi2011]; [mcmahan2017]; [orabona2018] for scale-free metrics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.goal import added_doubt
from novikoff.comparators.metric import Diagonal
from novikoff.convex import _loops
from novikoff.convex._loops import adagrad_layout as at
from novikoff.convex.comparators.losses import CODES, ConvexLoss
from novikoff.convex.comparators.tracker import ConvexGoal, ConvexTracker
from novikoff.convex.theorems.convex_facts import ConvexFacts
from novikoff.convex.theorems.convex_mistakes import convex_mistakes
from novikoff.convex.theorems.convex_regret import convex_regret
from novikoff.core.attribution import Coefficients
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import up_to
from novikoff.core.state import Argument, Array, Number, Sum
from novikoff.core.types import StepResult, Task, Theorem
from novikoff.linear.scale_free import ScaleFree, over
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import U0
from novikoff.numerics.total import Total

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

LARGEST = 2.0**200
"""Largest |y|, so that sums of squared slopes do not overflow."""
SQUARES = (at.LARGEST, at.SQUARES, at.SEEN, at.SIZE, at.CURVE)
"""Columns of `held` that are never negative."""


class AdaGrad(ScaleFree):
    """Linear learner for any convex loss, with one sum of gradients and one of their squares per feature.

    Args:
        loss: "hinge" for labels; "absolute", "pinball", "huber" or "squared" for numbers.
        rate: Learning rate.
        tau: Quantile of the pinball loss.
        delta: Width of the quadratic part of the Huber loss.
        bias: Value of a constant feature; 0 for none.

    Guarantee:
        For every u, the loss is at most that of u + u'Au/2 + half the sum of g^2 x'A^-1 x, of the order of sqrt T
        (`convex_regret`); with the hinge loss this also bounds the mistakes (`convex_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.AdaGrad(), [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], -1)]).mistakes
        2
    """

    promises: ClassVar[tuple[Theorem, ...]] = (convex_regret, convex_mistakes)
    task: Task = "regression"  # for all losses but the hinge loss
    fields = (
        Argument("loss", str, at="kind.name"),
        Argument("rate", float),
        Argument("tau", float),
        Argument("delta", float),
        *ScaleFree.fields,
        Array("held", ("places", at.HELD), spare=0.0, nonnegative=SQUARES, at="_held"),
        Array("totals", (at.TOTALS,), at="_totals"),
        Sum("lost", at="_lost"),
        Number("unit", at="_unit"),
    )

    def __init__(
        self, loss: str = "hinge", rate: float = 1.0, tau: float = 0.5, delta: float = 1.0, bias: float = 1.0
    ) -> None:
        super().__init__(bias)
        if loss not in CODES:
            raise InputError(f"a loss must be one of {', '.join(CODES)}: got {shown(loss)}.")
        if not (math.isfinite(rate) and 2.0**-20 <= rate <= 2.0**20):
            raise InputError(f"a rate must be from 2^-20 to 2^20: got {shown(rate)}.")
        if not 0.001 <= tau <= 0.999:
            raise InputError(f"tau must be from 0.001 to 0.999: got {shown(tau)}. 0.5 is the median.")
        if not 2.0**-100 <= delta <= 2.0**100:
            raise InputError(f"delta must be from 2^-100 to 2^100: got {shown(delta)}.")
        self.kind = ConvexLoss(loss, float(delta if loss == "huber" else tau))
        self.rate, self.tau, self.delta = float(rate), float(tau), float(delta)
        self.task = "binary" if loss == "hinge" else "regression"
        self.loss = "zero-one" if loss == "hinge" else loss
        self._unit = 1.0 if loss == "hinge" else 0.0  # size of the first non-zero outcome
        self._held, self._totals, self._lost = np.zeros((1, at.HELD)), np.zeros(at.TOTALS), Total()

    @classmethod
    def task_of(cls, given: Mapping[str, object]) -> Task:
        return "binary" if given["loss"] == "hinge" else "regression"

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each feature, without the constant one."""
        return self._by_place()[1 : self.features.count + 1]

    @property
    def bias_weight(self) -> float:
        """Weight of the constant feature."""
        return float(self._by_place()[0])

    @property
    def size(self) -> int:
        """Number of non-zero weights."""
        return int(np.count_nonzero(self._held[:, at.GRADIENT]))

    def _by_place(self) -> NDArray[np.float64]:
        metric, sums = self._diagonal(), self._held[: self.features.count + 1, at.GRADIENT]
        return -np.divide(sums, metric, out=np.zeros_like(metric), where=metric > 0.0)

    def _pace(self) -> tuple[float, float]:
        """Return the largest slope (for the squared loss a substitute), and the rate in units of the outcomes."""
        unit = self._unit or 1.0
        return min(self.kind.steepest, 2.0 * unit), self.rate * unit

    @np.errstate(over="ignore")  # an infinite metric leaves the feature's weight 0
    def _diagonal(self) -> NDArray[np.float64]:
        """Return the diagonal of A by place, the constant feature first; 0 for features never seen."""
        held, (steep, rate) = self._held[: self.features.count + 1], self._pace()
        wide = steep * held[:, at.LARGEST]
        metric: NDArray[np.float64] = held[:, at.SIZE] * np.sqrt(wide * wide + held[:, at.CURVE]) / rate
        return metric

    def linear_weights(self) -> Coefficients:
        by_place, squares = self._by_place(), self._held[1 : self.features.count + 1, at.SQUARES]
        sizes = np.sqrt(squares / max(self.rounds, 1))
        return Coefficients(by_place[np.newaxis, 1:], self.bias * by_place[:1], sizes)

    def _terms(self, places: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        held, (steep, rate) = self._held[np.minimum(places, len(self._held) - 1)], self._pace()
        wide = steep * np.maximum(held[:, at.LARGEST], np.abs(values))  # the metric includes the row itself
        squares = held[:, at.SQUARES] + values * values
        size = np.maximum(held[:, at.SIZE], np.sqrt(squares / (held[:, at.SEEN] + 1.0)))
        metric = size * np.sqrt(wide * wide + held[:, at.CURVE]) / rate
        return -held[:, [at.GRADIENT]] * over(values, metric)[:, np.newaxis]

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._make_room(width + 1)

    def _make_room(self, places: int) -> None:
        room = len(self._held) - 1  # the last row serves all features not seen
        if places > room:
            spare = 0 if self.features.kind == "array" else min(room, 2**20)
            self._held = np.vstack([self._held, np.zeros((places - room + spare, at.HELD))])

    def costs(self, predicted: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of each prediction."""
        return self.kind.of(predicted, np.asarray(y, dtype=np.float64))

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        scores, outcomes = np.empty(len(y)), y.astype(np.float64)
        if not self._unit and outcomes.any():  # before that, all slopes and scores are 0
            self._unit = float(abs(outcomes[np.flatnonzero(outcomes)[0]]))
        self._play(rows, outcomes, True, scores)
        losses = self.kind.of(scores, outcomes)
        self._lost.add_all(losses)
        if self.task == "regression":
            return StepResult(scores, losses, losses, scores=scores)
        self.scored, predicted = scores, self._predictions(scores)
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, scores=scores)

    def _play(self, rows: Nonzeros, y: NDArray[np.float64], learns: bool, scores: NDArray[np.float64]) -> None:
        kind, (steep, rate) = self.kind, self._pace()
        _loops.adagrad.play(
            self._held, self._totals, CODES[kind.name], kind.parameter, steep, rate, astuple(rows), y, learns, scores
        )

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        scores = np.empty(len(rows.ends) - 1)
        places = up_to(rows.places, len(self._held) - 1)
        self._play(rows._replace(places=places), np.zeros(0), False, scores)
        return scores

    def _bounded(self, y: NDArray[np.float64], got: str) -> NDArray[np.float64]:
        if y.ndim != 1 or not bool((np.abs(y) <= LARGEST).all()):
            raise InputError(f"y must be a number, at most 2^200 in size: {got}.")
        return y

    def tracker(self) -> ConvexTracker | None:
        """Return comparators for a game that starts now."""
        return None if self.rounds else ConvexTracker(self.kind, self.bias)

    def goal(self) -> ConvexGoal:
        """Return the objective that comparators minimise."""
        held = self._held[: self.features.count + 1]
        doubt = float(self._totals[at.STEEPEST]) * added_doubt(held[:, at.SEEN], held[:, at.LARGEST])
        return ConvexGoal(Diagonal(self._diagonal()), held[:, at.GRADIENT], doubt, float(self._totals[at.LINEAR]))

    def facts(self) -> ConvexFacts:
        gained, linear, size = (float(self._totals[k]) for k in (at.DELTA, at.LINEAR, at.LINEAR_SIZE))
        sums = self._held[: self.features.count + 1, at.GRADIENT]
        low, high = Diagonal(self._diagonal()).inverse_between(sums, np.zeros(len(sums)))
        off = (self.rounds + 20) * 2.0 * U0 * size
        dual, least = linear + off + 0.5 * high, linear - off + 0.5 * low
        return ConvexFacts(self.rounds, self.kind.name, float(self._lost), gained, dual, least)
