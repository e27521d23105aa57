"""Multiclass scale-free follow the regularised leader: softmax regression without feature scaling.

Algorithm
    For each feature, M is the largest |x| so far, R the largest root mean square over the rounds that had it, both
    including x_t; G_j the sum of the gradients (P_j - [y = j]) x of label j, H the sum of (1 - |P|^2) x^2. The metric
    is the same for all labels:
        A = R sqrt(M^2 + H) / rate   ("sqrt")   or   (M^2 + H) / rate   ("newton").
    z0_j = -sum of G_j x / A and v = sum of x^2 / A; the scores z are the root of z_j + v (P_j - 1/k) = z0_j, with
    P_j = e^z_j / sum of e^z: 1/k of a step for each possible label. Predict the label with the largest score, the
    smallest on ties. `bias` c adds a constant feature of value c.
    If labels are not announced, a probability of 1/t^2 is reserved for a new label in round t, and the known labels
    share the rest. A new label joins with G = 0 in its first round, and is learned as if it had been announced.
Promise
    convex/theorems/multiclass_regret.py: for every U, L <= L_U + sum of u_j'A u_j/2 + sum of Delta + the cost of new
    labels.
Cost
    O(k non-zeros of x) per round, k + 5 numbers per feature.
Reference
    [mcmahan2017]; [orabona2018] for scale-free metrics; [ross2013].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.goal import added_doubt
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.multiclass_facts import MulticlassFacts, MulticlassGoal
from novikoff.comparators.multiclass_tracker import MulticlassTracker
from novikoff.convex import _loops
from novikoff.convex._loops.ftrl_layout import MulticlassFTRLArrays
from novikoff.convex.ftrl import check_metric
from novikoff.convex.theorems.multiclass_regret import multiclass_regret
from novikoff.core.attribution import Coefficients
from novikoff.core.feature_places import up_to
from novikoff.core.state import Argument, Array
from novikoff.core.types import StepResult, Theorem
from novikoff.linear._loops import multiclass_layout as at
from novikoff.linear.multiclass import MulticlassProbabilistic
from novikoff.linear.scale_free import over
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import U0

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]


class MulticlassFTRL(MulticlassProbabilistic):
    """Softmax regression by follow the regularised leader, with a scale-free diagonal metric.

    Args:
        metric: "sqrt" for a metric that grows as sqrt T, "newton" for one that grows as T.
        rate: Learning rate.
        bias: Value of a constant feature; 0 for none.
        labels: Number of labels; None if new labels may appear.

    Guarantee:
        For every U, the log loss is at most that of U + half the sum of u_j'A u_j + sum of Delta + the cost of new
        labels, where Delta is at most half of x'A^-1 x per round (`multiclass_regret`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        >>> nk.play(nk.MulticlassFTRL(labels=3), rows).mistakes
        1
    """

    promises: ClassVar[tuple[Theorem, ...]] = (multiclass_regret,)
    fields = (
        Argument("metric", str),
        Argument("rate", float),
        *MulticlassProbabilistic.fields,
        Array("scales", ("places", 4), nonnegative=True, spare=0.0, at="_scales"),
        Array("curves", ("places", 1), nonnegative=True, spare=0.0, at="_curves"),
        Array("sums", ("places", 1, "labels"), spare=0.0, at="_sums"),
        Array("totals", (at.TOTALS, 1), at="_totals"),
    )

    def __init__(self, metric: str = "sqrt", rate: float = 1.0, bias: float = 1.0, labels: int | None = None) -> None:
        super().__init__(bias, labels)
        check_metric(metric, rate)
        self.metric, self.rate = metric, float(rate)
        self._roots, self._per_rate = np.array([metric == "sqrt"]), np.array([1.0 / self.rate])
        self._scales, self._curves = np.zeros((1, 4)), np.zeros((1, 1))  # the last row serves all features not seen
        self._sums = np.zeros((1, 1, self.labels))
        self._totals = np.zeros((at.TOTALS, 1))

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights, one row per label and one column per feature, without the constant one."""
        return self._weights()[1:].T.copy()

    @property
    def bias_weights(self) -> NDArray[np.float64]:
        """Weight of the constant feature for each label."""
        found: NDArray[np.float64] = self._weights()[0]
        return found

    @property
    def size(self) -> int:
        """Number of non-zero weights."""
        return int(np.count_nonzero(self._sums))

    def _weights(self) -> NDArray[np.float64]:
        gradients, metric = self._gradients(), self.diagonal()[:, None]
        return -np.divide(gradients, metric, out=np.zeros_like(gradients), where=metric > 0.0)

    def linear_weights(self) -> Coefficients:
        sizes = np.sqrt(self._scales[1 : self._places(), 1] / max(self.rounds, 1))
        return Coefficients(self.weights, self.bias * self.bias_weights, sizes)

    def _terms(self, places: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        here = np.minimum(places, len(self._scales) - 1)
        scales = self._scales[here]  # the metric includes the row itself
        root = np.sqrt(np.maximum(scales[:, 0], np.abs(values)) ** 2 + self._curves[here, 0])
        size = np.maximum(scales[:, 3], np.sqrt((scales[:, 1] + values * values) / (scales[:, 2] + 1.0)))
        metric = (size if self.metric == "sqrt" else root) * root * self._per_rate[0]
        return -self._sums[here, 0, : self.labels] * over(values, metric)[:, np.newaxis]

    def diagonal(self) -> NDArray[np.float64]:
        """Return the diagonal of A by place, the constant feature first; 0 for features never seen."""
        places = self._places()
        root = np.sqrt(self._scales[:places, 0] ** 2 + self._curves[:places, 0])
        size = self._scales[:places, 3] if self.metric == "sqrt" else root
        metric: NDArray[np.float64] = size * root * self._per_rate[0]
        return metric

    def _gradients(self) -> NDArray[np.float64]:
        return self._sums[: self._places(), 0, : self.labels]

    def _places(self) -> int:
        self._make_room(self.features.count + 1)
        return self.features.count + 1

    def _doubt(self) -> NDArray[np.float64]:
        """Return the rounding error of the gradient sums by place."""
        scales = self._scales[: self._places()]
        return added_doubt(scales[:, 2], scales[:, 0])

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._make_room(width + 1)

    def _make_room(self, places: int, labels: int = 0) -> None:
        parts = self._scales, self._curves, self._sums
        self._scales, self._curves, self._sums = with_room(*parts, places, labels, self.features.kind == "array")

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        labels = max(self.labels, int(y.max(initial=-1)) + 1)
        self._make_room(0, labels)
        scores, predicted = np.empty((len(y), 1, labels)), np.empty(len(y), dtype=np.int64)
        chances = np.empty(len(y))
        before = astuple(at.Labels(self.labels, self.rounds, self.grows))
        _loops.multiclass_ftrl.play(self._arrays(), before, astuple(rows), y, True, scores, predicted, chances)
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, probabilities=chances, scores=scores[:, 0])

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        count = len(rows.ends) - 1
        scores, none = np.empty((count, 1, self.labels)), np.zeros(0, dtype=np.int64)
        places = up_to(rows.places, len(self._scales) - 1)
        if self.labels:
            before = astuple(at.Labels(self.labels, self.rounds, self.grows))
            read: Any = rows.ends, places, rows.values
            _loops.multiclass_ftrl.play(self._arrays(), before, read, none, False, scores, none, np.zeros(0))
        return scores[:, 0]

    def _arrays(self) -> MulticlassFTRLArrays:
        # A plain tuple, made for every row: a named tuple takes longer to construct.
        return (self._roots, self._per_rate, self._scales, self._curves, self._sums, self._totals)  # type: ignore[return-value]

    def _shares(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return numerics.softmax.shares(scores)

    def tracker(self) -> MulticlassTracker | None:
        """Return comparators for a game that starts now."""
        return MulticlassTracker("log", self.bias, self.announced) if self.rounds == 0 else None

    def goals(self) -> list[MulticlassGoal]:
        """Return the objectives that comparators minimise."""
        doubt = np.repeat(self._doubt()[:, None], self.labels, axis=1)
        linear = float(self._totals[at.LINEAR, 0])
        return [MulticlassGoal(Diagonal(self.diagonal()), self.facts().penalty, self._gradients(), doubt, linear)]

    def facts(self) -> MulticlassFacts:
        loss, gained, linear, size, novelty = (
            float(self._totals[k, 0]) for k in (at.LOSS, at.GAINED, at.LINEAR, at.LINEAR_SIZE, at.NOVELTY)
        )
        metric = Diagonal(np.repeat(self.diagonal(), self.labels))
        low, high = metric.inverse_between(self._gradients().ravel(), np.repeat(self._doubt(), self.labels))
        off = (self.rounds * max(self.labels, 1) + 20) * 2.0 * U0 * size
        dual, least = linear + off + 0.5 * high, linear - off + 0.5 * low
        return MulticlassFacts(
            self.rounds, self.labels, self.rounds, 0, loss, novelty, self.entropy, gained, dual, least
        )


def with_room(
    scales: Vector, curves: Vector, sums: Vector, places: int, labels: int, exact: bool
) -> tuple[Vector, Vector, Vector]:
    """Return the arrays with room for `places` places, one more for all features not seen, and `labels` labels.

    With `exact` no spare places are added.
    """
    room, most = len(scales), sums.shape[2]
    if places >= room:
        more = places + 1 - room + (0 if exact else min(room, 2**20))
        scales, curves, sums = (
            np.concatenate([part, np.zeros((more, *part.shape[1:]))]) for part in (scales, curves, sums)
        )
    if labels > most:
        more = max(labels - most, most)
        sums = np.concatenate([sums, np.zeros((*sums.shape[:2], more))], axis=2)
    return scales, curves, sums
