"""Multiclass second-order Perceptron: a Perceptron in the metric of the mistakes it has made.

Algorithm
    b_j = 0 for every label j, A = ridge * diag(M^2) with M the largest |x| of each feature so far (ridge * I if not
    `scale_free`), the same for all labels. The score of label j is x'(A + x x')^-1 b_j; predict the label p with the
    largest score, the smallest on ties. On a mistake, A += x x', b_y += x and b_p -= x. `bias` c adds a constant
    feature of value c. The first 256 features seen have weights, later ones are ignored; there is no `diagonal` here.
    A new label joins with b = 0 in its first round: it cannot be predicted there, and is learned as if it had been
    announced just before.
Promise
    linear/theorems/multiclass_mistakes.py: for every U, M <= D + sqrt(sum of u_j'A u_j * 2 sum over mistakes of
    x'A^-1 x) + S, where S is at most the number of new labels.
Cost
    O(d^2 + kd) per round, d <= 256; two triangles of d^2/2 numbers, and kd.
Reference
    [cesabianchi2005]; [crammer2003].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.multiclass_facts import MulticlassFacts, MulticlassGoal
from novikoff.comparators.multiclass_tracker import MulticlassTracker
from novikoff.core.types import StepResult, Theorem
from novikoff.linear import _loops
from novikoff.linear._loops import multiclass_layout as at
from novikoff.linear.multiclass_second_order import MulticlassSecondOrder
from novikoff.linear.theorems.multiclass_mistakes import multiclass_mistakes
from novikoff.numerics.records import astuple

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class MulticlassSecondOrderPerceptron(MulticlassSecondOrder):
    """Multiclass Perceptron in the metric of its mistakes.

    Args:
        ridge: Regularisation of the metric; larger values make smaller steps.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.
        labels: Number of labels; None if new labels may appear.

    Guarantee:
        For every U with total multiclass hinge loss D on the stream, at most D + sqrt(2 Q sum of u_j'A u_j) + S
        mistakes, where Q is the sum of x'A^-1 x over the mistakes and S at most the number of new labels
        (`multiclass_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        >>> nk.play(nk.MulticlassSecondOrderPerceptron(labels=3), rows).mistakes
        2
    """

    promises: ClassVar[tuple[Theorem, ...]] = (multiclass_mistakes,)
    conservative = True

    def __init__(
        self, ridge: float = 1.0, scale_free: bool = True, bias: float = 1.0, labels: int | None = None
    ) -> None:
        super().__init__(ridge, scale_free, bias, labels)

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        labels = max(self.labels, int(y.max(initial=-1)) + 1)
        self._make_room(0, labels)
        scores, predicted = np.empty((len(y), labels)), np.empty(len(y), dtype=np.int64)
        for here in self.matrix.stretches(len(y)):
            _loops.multiclass_second_order.play_perceptron(
                *self.matrix.records, self._moments, self._totals, self._known_before(y, here),
                astuple(rows.part(here)), y[here], scores[here], predicted[here],
            )  # fmt: skip
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, scores=scores)

    def tracker(self) -> MulticlassTracker | None:
        return MulticlassTracker("hinge", self.bias, self.announced) if self.rounds == 0 else None

    def goals(self) -> list[MulticlassGoal]:
        """Return the objectives that comparators minimise."""
        added, doubt = self._added()
        doubts = np.repeat(doubt[:, None], self.labels, axis=1)
        return [MulticlassGoal(self.matrix.full(), self.facts().penalty, -added.T, doubts)]

    def facts(self) -> MulticlassFacts:
        least, dual = self.matrix.full().inverses_between(*self._added())
        surprises, gained = float(self._totals[at.SURPRISES]), float(self._totals[at.GAINED])
        return MulticlassFacts(self.rounds, self.labels, self.updates, self.updates, 0.0, surprises, self.entropy,
                         gained, dual, least)  # fmt: skip
