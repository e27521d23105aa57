"""Online gradient descent for linear regression, projected onto a ball.

Algorithm
    w_1 = 0.  Predict <w_t, x_t>; the loss is the squared or absolute difference to the outcome y_t.
    w_{t+1} is the point of the ball ||w|| <= W nearest to w_t - r_t g_t, with g_t = 2 (<w_t, x_t> - y_t) x_t (squared)
    or sign(<w_t, x_t> - y_t) x_t (absolute; no step at equality). The rate r_t, with D = 2W and G the largest possible
    norm of a gradient, is
        fixed      W / (G sqrt T) for a `horizon` of T rounds (more rounds are allowed)
        anytime    D / (G sqrt t)
        adaptive   D / sqrt(2 (||g_1||^2 + .. + ||g_t||^2)): needs neither T nor G
    `bias` c adds a constant feature of value c; `normalize` divides each x by its norm first (a zero x stays).
    Features that were never seen have weight 0, so the width grows with the stream.
    W (`radius`), the largest ||x|| (`limit`) and the range of y (`low`, `high`), if given, are fixed before the first
    round: the rates and the bound on the risk depend on them. An example beyond these limits is refused, and nothing is
    learned from it. Without `low` and `high` the range is -1 .. 1 until an outcome is outside; from then on outcomes
    are scaled to -1 .. 1 by the range so far, and predictions are clipped to it (convex/outcome_range.py). The default
    of `limit` is 1, which grows with the largest ||x|| if the rate is adaptive.
    `averaged` is the mean of w_1 .. w_t, the weights before each round: a better predictor than the last weights.
Promise
    convex/theorems/online_gradient_regret.py: for every u in the ball, on every stream, regret at most W G sqrt T
    (fixed), 3 W G sqrt T (anytime), 2 sqrt 2 W sqrt(sum of ||g||^2) (adaptive). convex/theorems/average_risk.py: on
    independent examples the expected loss of the average weights is little more than the mean loss of the run;
    average_risk_always.py: the same at all times at once. If the range was learned, the regret is that of the scaled
    outcomes, and there is no bound on the risk, which needs a range fixed in advance.
Cost
    O(non-zeros of x) per round, and O(width) every max(4096, width) rounds or when projections have shrunk the weights
    by a factor of 2^8; three numbers per feature. Squared loss with at most `hindsight` features: O(non-zeros^2) per
    round and hindsight^2 numbers, to compute the best weights in hindsight.
Reference
    [zinkevich2003]; [streeter2010].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.convex import _loops
from novikoff.convex._loops import gradient_layout as at
from novikoff.convex.comparators.ball import best_in_ball, squared_loss
from novikoff.convex.limits import LARGEST, Limits, size
from novikoff.convex.outcome_range import OutcomeRange
from novikoff.convex.theorems.average_risk import average_risk
from novikoff.convex.theorems.average_risk_always import average_risk_always
from novikoff.convex.theorems.online_gradient_facts import OnlineGradientFacts, longest_gradient
from novikoff.convex.theorems.online_gradient_regret import online_gradient_regret
from novikoff.core import encode
from novikoff.core.attribution import (
    Attribution,
    Coefficients,
    Importances,
    linear_attribution,
    weight_importances,
)
from novikoff.core.errors import InputError, Where, shown
from novikoff.core.feature_places import Features, Row, never_seen, rows_never_seen
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Array, Number, Part, require
from novikoff.core.types import Batch, CheckedRow, Domain, Example, Outcome, Sparse, State, StepResult, Task, Theorem

DOUBLE = np.dtype(np.float64)
SLACK = 1e-6
"""Largest rounding error of the running sum of ||w||^2, as a fraction of the squared radius; far above what occurs."""
LOSSES = {"absolute": at.ABSOLUTE, "squared": at.SQUARED}
"""Code of each loss in the compiled loops."""
RULES = {"fixed": at.FIXED, "anytime": at.ANYTIME, "adaptive": at.ADAPTIVE}
"""Code of each rate in the compiled loops."""


class OnlineGradient(Learner):
    """Linear regression by online gradient descent in a ball.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or integers to numbers
    (core/feature_places.py).

    Args:
        radius: Radius W of the ball of weights.
        limit: Largest norm of x; None for 1, growing with the data if the rate is adaptive.
        low: Smallest outcome; None, with `high`, to learn the range of outcomes.
        high: Largest outcome; None, with `low`, to learn the range of outcomes.
        loss: "squared" or "absolute".
        bias: Value of a constant feature; 0 for none.
        normalize: Whether to divide each x by its norm.
        horizon: Number of rounds for the fixed rate; None for any other rate.
        rate: "fixed", "anytime" or "adaptive"; None for "fixed" with a horizon, else "adaptive".
        hindsight: Largest number of features for which the best weights in hindsight are computed.

    Guarantee:
        For every u in the ball, regret at most W G sqrt T (fixed), 3 W G sqrt T (anytime) or
        2 sqrt 2 W sqrt(sum of ||g||^2) (adaptive), where G bounds the norm of the gradients
        (`online_gradient_regret`). On independent examples the average weights have a bounded risk (`average_risk`).

    Example:
        >>> import novikoff as nk
        >>> round(nk.play(nk.OnlineGradient(), [([1.0], 2.0), ([2.0], 4.0), ([3.0], 6.0)]).loss, 2)
        12.0
    """

    domain: Domain
    features: Features

    promises: ClassVar[tuple[Theorem, ...]] = (online_gradient_regret, average_risk, average_risk_always)
    task: Task = "regression"
    wants_bias = True
    fields = (
        Argument("radius", float),
        Argument("limit", float | None),
        Argument("low", float | None),
        Argument("high", float | None),
        Argument("loss", str),
        Argument("bias", float),
        Argument("normalize", bool),
        Argument("horizon", int | None),
        Argument("rate", str),
        Argument("hindsight", int),
        Array("range", (2,), finite=False, at="_range_seen", assigned=False),
        Number("longest", at="_limits.limit", assigned=False),
        Part("features"),
        Array("held", (3, "features.count"), at="_held", assigned=False),
        Array("own", (at.OWN,), at="_totals"),
        Array("gram", (None, None), at="_sums.0", assigned=False),
        Array("moments", (None,), at="_sums.1", assigned=False),
    )

    def __init__(
        self, radius: float = 1.0, limit: float | None = None, low: float | None = None, high: float | None = None,
        loss: str = "squared", bias: float = 0.0, normalize: bool = False, horizon: int | None = None,
        rate: str | None = None, hindsight: int = 64,
    ) -> None:  # fmt: skip
        if loss not in LOSSES:
            raise InputError(f'loss must be "squared" or "absolute": got {shown(loss)}.')
        rate = rate if rate is not None else "adaptive" if horizon is None else "fixed"
        if rate not in RULES:
            raise InputError(f'rate must be "fixed", "anytime" or "adaptive": got {shown(rate)}.')
        if (rate == "fixed") != (horizon is not None):
            raise InputError(f'rate="fixed" needs a horizon, other rates take none: got {rate} and {shown(horizon)}.')
        if horizon is not None and (type(horizon) is not int or not 1 <= horizon < 2**53):
            raise InputError(f"a horizon must be a positive whole number of rounds: got {shown(horizon)}.")
        if type(hindsight) is not int or not 0 <= hindsight <= 1000:
            raise InputError(f"hindsight must be a number of features from 0 to 1,000: got {shown(hindsight)}.")
        self.domain = Domain("vector")
        self.radius = size(radius, "a radius")
        ends = (-1.0 if low is None else low, 1.0 if high is None else high)
        learns = low is None and high is None
        self._limits = limits = Limits(1.0 if limit is None else limit, *ends, bias, normalize, learns)
        self.limit, self.low, self.high, self.bias = limit, low, high, limits.bias
        self._range = OutcomeRange() if learns else None
        self._grows = limit is None and rate == "adaptive" and not normalize
        self.loss, self.rate, self.horizon, self.normalize, self.hindsight = loss, rate, horizon, normalize, hindsight
        self.features = Features()
        steepest = longest_gradient(loss, self.radius, limits.reach, limits.low, limits.high)
        if horizon is not None:
            pace = self.radius / (steepest * math.sqrt(horizon))
        else:
            pace = 2.0 * self.radius / (steepest if rate == "anytime" else math.sqrt(2.0))
        self._params = np.array(
            [self.radius, self.bias, LOSSES[loss], RULES[rate], pace, limits.most, float(normalize)]
        )
        self._predicting = self._params.copy()  # to predict, any length of x is allowed if `limit` grows
        self._predicting[at.MOST] = np.finfo(np.float64).max if self._grows else limits.most
        self._totals = np.zeros(at.OWN)
        self._totals[at.SCALE] = 1.0
        self._totals[at.KNOWN] = known = float(loss == "squared" and hindsight > 0)
        self._gram = np.zeros((hindsight + 2, hindsight + 1) if known else (2, 1))
        # Buffers for a single row: outcome, prediction, loss, and row ends; names and places of the last dict.
        self._single = self._y, self._predicted, self._lost = np.zeros(1), np.zeros(1), np.zeros(1)
        self._ends = np.zeros(2, dtype=np.uint64)
        self._seen: tuple[tuple[Any, ...], NDArray[np.uint32]] = ((), np.zeros(0, dtype=np.uint32))
        self._hold(np.zeros((3, 0)))

    def _hold(self, held: NDArray[np.float64]) -> None:
        self._held = held  # longer than the features met, except for arrays, to grow rarely; the last place is 0
        self._shape = (self.features.count,) if self.features.kind == "array" else None
        self._arrays = (held[0], held[1], held[2], self._totals, self._gram, self._params)

    @property
    def rounds(self) -> int:
        """Number of rounds played."""
        return int(self._totals[at.ROUNDS])

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each feature, without the constant one."""
        return self._weights(self._totals[at.SCALE], 0.0)

    @property
    def constant_weight(self) -> float:
        """Weight of the constant feature."""
        return float(self._totals[at.WEIGHT] * self._totals[at.SCALE])

    @property
    def averaged(self) -> NDArray[np.float64]:
        """Mean of the weights before each round."""
        return self._weights(self._totals[at.MASS], 1.0) / max(self.rounds, 1)

    @property
    def averaged_constant(self) -> float:
        """Mean weight of the constant feature before each round."""
        totals = self._totals
        return float(totals[at.WEIGHT] * totals[at.MASS] + totals[at.SHORT]) / max(self.rounds, 1)

    def _weights(self, scale: float, short: float) -> NDArray[np.float64]:
        held = self._held[:, : self.features.count]
        weights: NDArray[np.float64] = held[at.WEIGHT] * scale + held[at.SHORT] * short
        return weights

    @property
    def size(self) -> int:
        """Number of non-zero weights."""
        return int(np.count_nonzero(self._held[at.WEIGHT])) + int(self._totals[at.WEIGHT] != 0.0)

    def predict_one(self, x: Example) -> float:
        """Return <w, x>, scaled back if the range of outcomes is learned."""
        score = self._score(x)
        return score if self._range is None else self._back_now(np.array([score])).item()

    def linear_weights(self) -> Coefficients | None:
        return None if self.normalize else self._coefficients()

    def _coefficients(self) -> Coefficients:
        middle, half = self._spread()
        intercept = middle + half * self.bias * self.constant_weight
        return Coefficients(half * self.weights[np.newaxis], np.array([intercept]))

    def _spread(self) -> tuple[float, float]:
        """Return the prediction of score 0, and the rise of predictions per unit of the score."""
        if self._range is None or not self._range.scales:
            return 0.0, 1.0
        low, middle, _ = self._back_now(np.array([-1.0, 0.0, 1.0])).tolist()
        return middle, middle - low

    def attribution(self, x: Example) -> Attribution:
        """Return the prediction as the sum of weight times value; where it is clipped, the rest is the difference."""
        row = self._row(x, learn=False)
        return linear_attribution("number", row, self._coefficients(), self.predict_one(x), self.normalize)

    def importances(self) -> Importances:
        return weight_importances(self._coefficients())

    def _back_now(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the predictions for these scores, scaled back if the range of outcomes is learned."""
        return scores if self._range is None or not self._range.scales else self._range.scaled_back_now(scores)

    def mean(self) -> Self:
        """Return a copy that predicts with the average weights."""
        return self.having(self.averaged, self.averaged_constant)

    def having(self, weights: NDArray[np.float64], constant: float) -> Self:
        """Return a copy with these weights and this weight of the constant feature."""
        state = self.state()
        state["held"][at.WEIGHT], totals = weights, state["own"]
        totals[at.WEIGHT], totals[at.SCALE], totals[at.LENGTH2] = constant, 1.0, _length2(weights, constant)
        return type(self).restore(state)

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._grow()

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        self._y[0] = outcome = self._limits.outcome(y)
        seen = self._range
        if seen is not None and (seen.scales or not -1.0 <= outcome <= 1.0):
            given = np.array([outcome])
            self._y[:] = seen.scaled(given)
            result = self._back(np.array([self._play_row(x)]), given)
            return StepResult(*(float(part[0]) for part in result[:3]))
        prediction, lost = self._play_row(x), self._lost.item()
        if seen is not None and not seen.least <= outcome <= seen.most:
            seen.see(self._y)
        return StepResult(prediction, lost, lost)

    def _back(self, predictions: NDArray[np.float64], y: NDArray[np.float64]) -> StepResult:
        """Return the predictions of scaled outcomes and their losses, in the scale of the original outcomes."""
        assert self._range is not None
        predictions = self._range.scaled_back(predictions, y)
        self._range.see(y)
        errors = predictions - y
        losses = errors * errors if self.loss == "squared" else np.abs(errors)
        return StepResult(predictions, losses, losses)

    def _play_row(self, x: Example) -> float:
        """Play a round with the outcome in `_y`; return the prediction."""
        row = self.features.seen = self._quick(x)
        prediction = math.nan if row is None else self._play(row)
        if prediction != prediction:  # new features or an invalid x: check everything before adding features
            checked = encode.mapping(x, {}) if isinstance(x, Mapping) else self._row(x, learn=False)
            self._check(_square(checked))
            row = self._row(x, learn=True)
            self._grow()
            prediction = self._play(row)
        return prediction

    def _play(self, row: Row) -> float:
        """Play a batch of one row; return the prediction."""
        if isinstance(row, tuple):
            self._ends[1] = len(row[1])
            _loops.online_gradient.play_sparse(*self._arrays, self._ends, *row, *self._single)
        else:
            _loops.online_gradient.play_dense(*self._arrays, row[np.newaxis], *self._single)
        return self._predicted.item()

    def learn_many(self, batch: Batch) -> StepResult:
        """Predict and learn every row in order; the whole batch is checked before its first round."""
        given = y = self._limits.outcomes(batch.y, batch.first)
        if self._range is not None:
            y = self._range.scaled(given)
        predictions, losses = np.empty(len(y)), np.empty(len(y))
        if isinstance(batch.x, Sparse):
            rows = (batch.x.indptr, batch.x.indices, batch.x.values)
            bad = _loops.online_gradient.too_long_sparse(batch.x.indptr, batch.x.values, self._params)
            if bad >= 0:
                self._check_all(_squares(batch.x), batch.first)
            self.features.meet("numbers", batch.x.width)
            self._grow()
            _loops.online_gradient.play_sparse(*self._arrays, *rows, y, predictions, losses)
        else:
            x = batch.table().astype(np.float64, copy=False)
            bad = _loops.online_gradient.too_long_dense(x, self._params)
            if bad >= 0:
                self._check_all([*map(_loops.online_gradient.square_dense, x)], batch.first)
            self.features.meet("array", x.shape[1])
            self._grow()
            _loops.online_gradient.play_dense(*self._arrays, x, y, predictions, losses)
        if self._range is not None:
            scaled = self._range.scales or not bool((y == given).all())
            if scaled:
                return self._back(predictions, given)
            self._range.see(given)
        return StepResult(predictions, losses, losses)

    def _check(self, square: float, **where: Unpack[Where]) -> None:
        """Raise an error if ||x||^2 exceeds the limit, or raise the limit if it may grow."""
        if self._grows and square <= LARGEST * LARGEST:
            self._limits.grow(square)
            self._params[at.MOST] = self._limits.most
        self._limits.check(square, **where)

    def _check_all(self, squares: list[float], first: int) -> None:
        """Check rows from round `first` on; the limit grows only if no row is refused."""
        for t, square in enumerate(squares):
            if not (self._grows and square <= LARGEST * LARGEST):
                self._limits.check(square, round=first + t)
        if self._grows:
            self._check(max(squares))

    def _quick(self, x: Example) -> Row | None:
        """Return the row of an x whose features all have places, without checking that its numbers are finite."""
        if type(x) is np.ndarray:
            known = x.shape == self._shape and x.dtype is DOUBLE and x.flags.c_contiguous
            return x if known else None
        if type(x) is dict and x and self.features.kind == "names":
            values, names = np.array([*x.values()]), tuple(x)
            if values.dtype is not DOUBLE and values.dtype.kind in "iufb":
                values = values.astype(np.float64)
            if values.dtype is DOUBLE and values.ndim == 1:
                seen = self._seen  # read once: other threads may predict
                if names != seen[0]:  # rows often have the same names in the same order
                    places = [self.features.names.get(name, -1) for name in names]
                    if min(places) < 0:
                        return None
                    seen = self._seen = names, np.array(places, dtype=np.uint32)
                return CheckedRow((seen[1], values))
        return None

    def _row(self, x: Example, learn: bool) -> Row:
        """Return x as a checked row; an array is contiguous, as the dot product needs it."""
        row = self.features.row(x, learn)
        return row if isinstance(row, tuple) else np.ascontiguousarray(row)

    def _score(self, x: Example) -> float:
        weights, totals, row = self._held[at.WEIGHT], self._totals, self._quick(x)
        row = self._row(x, learn=False) if row is None else row
        if isinstance(row, tuple):
            weights, indices = never_seen(weights, row[0])
            score: float = _loops.online_gradient.score_sparse(weights, totals, self._predicting, indices, row[1])
        else:
            weights = weights if len(weights) else np.zeros(len(row))
            score = _loops.online_gradient.score_dense(weights, totals, self._predicting, row)
        if score != score:
            self._limits.check(_square(row))
        return score

    def predict_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return <w, x> of every row, scaled back if the range of outcomes is learned, without learning."""
        scores, x = np.empty(len(batch)), self.features.rows(batch, learn=False)
        if isinstance(x, Sparse):
            weights, x = rows_never_seen(self._held[at.WEIGHT], x)
            _loops.online_gradient.scores_sparse(weights, self._totals, self._predicting, *x.arrays, scores)
        else:
            x = x.astype(np.float64, copy=False)
            weights = self._held[at.WEIGHT] if self._held.shape[1] else np.zeros(x.shape[1])
            _loops.online_gradient.scores_dense(weights, self._totals, self._predicting, x, scores)
        for t in np.flatnonzero(np.isnan(scores)).tolist()[:1]:
            self._limits.check(_square(self._row(batch.example(t), learn=False)), round=batch.first + t)
        return self._back_now(scores)

    def _grow(self) -> None:
        """Make room for the features met."""
        room, need = self._held.shape[1], self.features.count + (self.features.kind in ("numbers", "names"))
        if need > room or (self._shape is None and self.features.kind == "array"):
            spare = 0 if self.features.kind == "array" else min(room, 2**20)
            self._hold(np.hstack([self._held, np.zeros((3, need - room + spare))]))

    @property
    def largest_loss(self) -> float:
        facts = self.facts()
        return math.inf if facts.scaled else facts.top

    def facts(self) -> OnlineGradientFacts:
        totals, limits = self._totals, self._limits
        seen = self._held[at.PULL, : self.features.count]  # without spare room: rounding depends on the length
        pull = math.sqrt(float(np.sum(seen**2)) + totals[at.PULL] ** 2)
        name, lost, doubt = "zero weights", float(totals[at.ZERO] + totals[at.ZERO_LOST]), 0.0
        if totals[at.KNOWN] and self.rounds:
            gram, moments = self._sums
            best = squared_loss(gram, moments, lost, best_in_ball(gram, moments, self.radius), self.rounds)
            name, (lost, doubt) = "best in the ball", best
        return OnlineGradientFacts(
            self.rounds, self.loss, self.rate, self.horizon or 0, self.radius, limits.reach, limits.low, limits.high,
            float(totals[at.FIRST_RATE]), float(totals[at.RATE]), float(totals[at.SQUARES]), float(totals[at.STEPS]),
            float(totals[at.LINEAR] + totals[at.LINEAR_LOST]), pull, name, lost, doubt,
            int(totals[at.PLACES]), int(totals[at.LONGEST]), self._range is not None and self._range.scales,
            self._grows and limits.limit > 1.0,
        )  # fmt: skip

    @property
    def _range_seen(self) -> NDArray[np.float64]:
        """Smallest and largest outcome if their range is learned; zeros if it is given."""
        return np.array([0.0, 0.0] if self._range is None else [self._range.least, self._range.most])

    @property
    def _sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of x~ x~' and of y x~; empty if they are not kept."""
        used = int(self._totals[at.PLACES]) + 1 if self._totals[at.KNOWN] else 0
        return self._gram[:used, :used], self._gram[-1, :used]

    def after_restoring(self, found: State) -> None:
        if self._range is not None:
            least, most = found["range"].tolist()
            sound = least <= most or (least, most) == (math.inf, -math.inf)
            require(sound, "the smallest outcome must not be above the largest", [least, most])
            self._range = OutcomeRange(least, most)
        if self._grows:
            longest = found["longest"]
            require(1.0 <= longest <= LARGEST, "the largest length must be at least 1", longest)
            self._check(longest * longest)
        totals, held, count = self._totals, found["held"], self.features.count
        whole = [float(totals[place]) for place in (at.ROUNDS, at.SINCE, at.PLACES, at.LONGEST)]
        sound = all(value >= 0.0 and value.is_integer() for value in whole) and whole[2] <= count
        require(sound, "counts of a learner must be integers", whole)
        require(
            totals[at.KNOWN] in (0.0, float(len(self._gram) > 2)),
            "the flag of kept sums must be 0 or 1",
            totals[at.KNOWN],
        )
        require(
            0.0 < totals[at.SCALE] <= 1.0, "the scale of the weights must be above 0 and at most 1", totals[at.SCALE]
        )
        squares = totals[[at.FIRST_RATE, at.RATE, at.SQUARES, at.STEPS]]
        require(bool((squares >= 0.0).all()), "squares and rates must not be negative", squares.tolist())
        # ||w||^2 is a running sum, which rounding errors may make slightly wrong, even negative
        length2, slack = _length2(held[at.WEIGHT], totals[at.WEIGHT]) * totals[at.SCALE] ** 2, SLACK * self.radius**2
        sound = abs(float(totals[at.LENGTH2]) - length2) <= slack >= length2 - self.radius**2
        require(sound, "weights must be in their ball, with the saved norm", float(totals[at.LENGTH2]))
        used = int(totals[at.PLACES]) + 1 if totals[at.KNOWN] else 0
        require(used < len(self._gram), f"features must be at most {len(self._gram) - 2:,} for kept sums", used)
        fit = found["gram"].shape == (used, used) and found["moments"].shape == (used,)
        require(fit, f"sums must be of {used:,} features", found["gram"].shape)
        self._gram[:used, :used] = found["gram"]
        self._gram[-1, :used] = found["moments"]
        self._hold(held)
        self._grow()


def _length2(weights: NDArray[np.float64], constant: float) -> float:
    return float(np.sum(weights * weights)) + float(constant) ** 2


def _squares(x: Sparse) -> list[float]:
    """Return ||x||^2 of every row, computed as in a round."""
    ends = x.indptr.tolist()
    square = numerics.lanes.square_sparse
    return [square(x.values, start, stop) for start, stop in itertools.pairwise(ends)]


def _square(row: Row) -> float:
    """Return ||x||^2, computed as in a round."""
    if isinstance(row, tuple):
        return numerics.lanes.square_sparse(row[1], 0, len(row[1]))
    return _loops.online_gradient.square_dense(row)
