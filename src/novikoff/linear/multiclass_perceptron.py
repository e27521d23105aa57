"""Multiclass Perceptron: on a mistake, add x to the weights of the label and subtract it from the predicted one's.

Algorithm
    w_j = 0 for every label j. Predict the label p with the largest <w_j, x>, the smallest on ties. On a mistake,
    w_y += x and w_p -= x. `normalize` divides each x by its norm, `bias` c adds a constant feature of value c.
    A new label joins with weights of 0 in its first round: it cannot be predicted there, and is learned as if it had
    been announced just before.
Promise
    linear/theorems/multiclass_mistakes.py: for every U, M <= D + ||U|| sqrt(2 sum over mistakes of ||x||^2) + S, where
    S is at most the number of new labels.
Cost
    O(k non-zeros of x) per round, k numbers per feature.
Reference
    [crammer2003]; [fink2006].
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
from novikoff.core.attribution import (
    Attribution,
    Coefficients,
    Importances,
    linear_attribution,
    weight_importances,
)
from novikoff.core.feature_places import up_to
from novikoff.core.state import Argument, Array
from novikoff.core.types import Example, StepResult, Theorem
from novikoff.linear import _loops
from novikoff.linear._loops import multiclass_layout as at
from novikoff.linear.multiclass import MulticlassLearner
from novikoff.linear.theorems.multiclass_mistakes import multiclass_mistakes
from novikoff.numerics.records import astuple

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class MulticlassPerceptron(MulticlassLearner):
    """Linear multiclass classifier that changes its weights on mistakes only.

    Args:
        bias: Value of a constant feature; 0 for none.
        normalize: Whether to divide each x by its norm.
        labels: Number of labels; None if new labels may appear.

    Guarantee:
        For every U with total multiclass hinge loss D on the stream, at most D + ||U|| sqrt(2 Q) + S mistakes, where Q
        is the sum of ||x||^2 over the mistakes and S at most the number of new labels (`multiclass_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        >>> nk.play(nk.MulticlassPerceptron(labels=3), rows).mistakes
        1
    """

    promises: ClassVar[tuple[Theorem, ...]] = (multiclass_mistakes,)
    conservative = True
    scales = True
    wants_bias = True
    normalize: bool
    fields = (
        Argument("normalize", bool),
        *MulticlassLearner.fields,
        Array("weights", ("places", "labels"), finite=False, spare=0.0, at="_weights"),
        Array("seen", ("places", 2), nonnegative=True, spare=0.0, at="_seen"),
        Array("totals", (at.TOTALS,), at="_totals"),
    )

    def __init__(self, bias: float = 0.0, normalize: bool = False, labels: int | None = None) -> None:
        super().__init__(bias, labels)
        self.normalize = bool(normalize)
        self._weights = np.zeros((1, self.labels))  # the last row serves all features not seen
        self._seen = np.zeros((1, 2))
        self._totals = np.zeros(at.TOTALS)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights, one row per label and one column per feature, without the constant one."""
        return self._weights[1 : self.features.count + 1, : self.labels].T.copy()

    @property
    def bias_weights(self) -> NDArray[np.float64]:
        """Weight of the constant feature for each label."""
        return self._weights[0, : self.labels] if len(self._weights) > 1 else np.zeros(self.labels)

    def linear_weights(self) -> Coefficients | None:
        return None if self.normalize else self._by_place()

    def _by_place(self) -> Coefficients:
        return Coefficients(self.weights, self.bias * self.bias_weights)

    def attribution(self, x: Example) -> Attribution:
        row = self.features.row(x, learn=False)
        return linear_attribution("score", row, self._by_place(), self.scores_one(x), self.normalize)

    def importances(self) -> Importances:
        return weight_importances(self._by_place())

    @property
    def size(self) -> int:
        """Number of non-zero weights."""
        return int(np.count_nonzero(self._weights))

    @property
    def updates(self) -> int:
        return int(self._totals[at.MISTAKES])

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._make_room(width + 1)

    def _make_room(self, places: int) -> None:
        if places >= len(self._weights):
            spare = 0 if self.features.kind == "array" else min(len(self._weights), 2**20)
            more = places + 1 - len(self._weights) + spare
            self._weights = np.vstack([self._weights, np.zeros((more, self._weights.shape[1]))])
            self._seen = np.vstack([self._seen, np.zeros((more, 2))])

    def _normal(self, rows: Nonzeros) -> Any:
        if self.normalize:
            rows = rows._replace(values=rows.values.copy())
            numerics.nonzeros.normalize(astuple(rows))
        return rows

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        labels = max(self.labels, int(y.max(initial=-1)) + 1)
        if labels > self._weights.shape[1]:
            room = max(labels, 2 * self._weights.shape[1])
            self._weights = np.hstack([self._weights, np.zeros((len(self._weights), room - self._weights.shape[1]))])
        scores, predicted = np.empty((len(y), labels)), np.empty(len(y), dtype=np.int64)
        _loops.multiclass_perceptron.play(
            self._weights,
            self._seen,
            self._totals,
            self.labels,
            astuple(self._normal(rows)),
            y,
            True,
            scores,
            predicted,
        )
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, scores=scores)

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        rows, count = self._normal(rows), len(rows.ends) - 1
        scores, predicted = np.empty((count, self.labels)), np.empty(count, dtype=np.int64)
        places = up_to(rows.places, len(self._weights) - 1)
        none: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        read: Any = rows.ends, places, rows.values
        _loops.multiclass_perceptron.play(
            self._weights, self._seen, self._totals, self.labels, read, none, False, scores, predicted
        )
        return scores

    def tracker(self) -> MulticlassTracker | None:
        return MulticlassTracker("hinge", self.bias, self.announced, self.normalize) if self.rounds == 0 else None

    def goals(self) -> list[MulticlassGoal]:
        """Return the objectives that comparators minimise."""
        added, doubt = self._added()
        return [MulticlassGoal(Diagonal(np.ones(len(added))), self.facts().penalty, -added, doubt)]

    def _added(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights by place, and their rounding errors."""
        places = self.features.count + 1
        self._make_room(places)
        doubt = added_doubt(self._seen[:places, 0], self._seen[:places, 1])
        return self._weights[:places, : self.labels], np.repeat(doubt[:, None], self.labels, axis=1)

    def facts(self) -> MulticlassFacts:
        added, doubt = self._added()
        least, dual = Diagonal(np.ones(added.size)).inverse_between(added.ravel(), doubt.ravel())
        totals = self._totals
        return MulticlassFacts(self.rounds, self.labels, self.updates, self.updates, 0.0, float(totals[at.SURPRISES]),
                         self.entropy, float(totals[at.GAINED]), dual, least)  # fmt: skip
