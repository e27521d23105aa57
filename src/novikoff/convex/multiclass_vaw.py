"""Multiclass Vovk-Azoury-Warmuth: ridge regression on label indicators, whose best loss in hindsight is computed.

Algorithm
    A = ridge * diag(M^2) with M the largest |x| of each feature so far (ridge * I if not `scale_free`), the same for
    all labels; b_j = 0. In each round A += x x'; the score of label j is x'A^-1 b_j, and P the projection of the scores
    + 1/k onto the simplex. Predict the label with the largest score, the smallest on ties; then
    b_j += (1[j = y] - 1/k) x, with k the number of labels known. The loss is the Brier score, the sum over labels of
    (P_j - 1[j = y])^2; the log loss is infinite if P_y is 0. `bias` c adds a constant feature of value c. The first 256
    features seen have weights, later ones are ignored. `probabilities` must be true.
    A new label joins with b = 0 in its first round, and is learned as if it had been announced just before; unless all
    labels are announced, a probability of 1/t^2 is reserved for a new one in round t.
Promise
    convex/theorems/multiclass_vaw_regret.py: the Brier score is at most min over U of (sum of u_j'L u_j + the squared
    loss of U) + sum of (1 - 1/k) chi + the cost of new labels. The minimum is known exactly, from A and all b_j.
Cost
    O(d^2 + kd) per round, d <= 256; two triangles of d^2/2 numbers, and kd.
Reference
    [vovk2001]; [azoury2001]; [michelot1986] for the projection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.convex.theorems.multiclass_vaw_regret import MulticlassVAWFacts, multiclass_vaw_regret
from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument
from novikoff.core.types import StepResult, Theorem
from novikoff.linear import _loops as linear_loops
from novikoff.linear._loops import multiclass_layout
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.multiclass import MulticlassProbabilistic
from novikoff.linear.multiclass_second_order import MulticlassSecondOrder
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import U0

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class MulticlassVAW(MulticlassSecondOrder, MulticlassProbabilistic):
    """Ridge regression on the indicators of the labels, with probabilities judged by the Brier score.

    Args:
        ridge: Regularisation of the metric.
        probabilities: Must be true; multiclass predictions have no other form.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.
        labels: Number of labels; None if new labels may appear.

    Guarantee:
        The Brier score is at most that of the best U in hindsight, penalty included, plus the sum of (1 - 1/k) chi and
        the cost of new labels; without `scale_free`, chi sums to the order of d log T (`multiclass_vaw_regret`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        >>> nk.play(nk.MulticlassVAW(labels=3), rows).mistakes
        1
    """

    promises: ClassVar[tuple[Theorem, ...]] = (multiclass_vaw_regret,)
    fields = (Argument("probabilities", bool), *MulticlassSecondOrder.fields)

    def __init__(
        self, ridge: float = 1.0, probabilities: bool = True, scale_free: bool = True, bias: float = 1.0,
        labels: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(ridge, scale_free, bias, labels)
        if not probabilities:
            raise InputError(f"probabilities must be true for multiclass: got {shown(probabilities)}.")
        self.probabilities = True

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        labels = max(self.labels, int(y.max(initial=-1)) + 1)
        self._make_room(0, labels)
        scores, predicted, chances = np.empty((len(y), labels)), np.empty(len(y), dtype=np.int64), np.empty(len(y))
        for here in self.matrix.stretches(len(y)):
            labels_before = multiclass_layout.Labels(self._known_before(y, here), self.rounds + here.start, self.grows)
            linear_loops.multiclass_second_order.play_vaw(
                *self.matrix.records, self._moments, self._totals, astuple(labels_before), astuple(rows.part(here)),
                y[here], scores[here], predicted[here], chances[here],
            )  # fmt: skip
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, probabilities=chances, scores=scores)

    def _shares(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return numerics.simplex.nearest(scores)

    def facts(self) -> MulticlassVAWFacts:
        totals, (added, doubt) = self.matrix.totals, self._added()
        least, most = self.matrix.full().inverses_between(added, doubt)
        squares = float(totals[at.LINEAR])
        off = (self.rounds + 20) * 2.0 * U0 * squares
        chi, credit, shed, loss, unprojected = (
            float(totals[k]) for k in (at.GAINED, at.LINEAR_SIZE, at.SHED, at.LOSS, at.UNCLIPPED)
        )
        return MulticlassVAWFacts(
            self.rounds, self.labels, loss, float(self._totals[multiclass_layout.NOVELTY]), squares - off - most,
            squares + off - least, squares, chi, credit, shed, unprojected,
        )  # fmt: skip
