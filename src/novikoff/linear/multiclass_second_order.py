"""Base class for multiclass learners with a full matrix (linear/_loops/multiclass_second_order.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.attribution import Coefficients
from novikoff.core.state import Argument, Array, Field, Part
from novikoff.linear import _loops
from novikoff.linear._loops import multiclass_layout, second_order_layout
from novikoff.linear.matrix import Matrix, taken_by
from novikoff.linear.multiclass import MulticlassLearner

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class MulticlassSecondOrder(MulticlassLearner):
    """Base class for multiclass learners with one matrix over the first 256 features seen, and a sum b per label.

    Args:
        ridge: Regularisation of the matrix.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.
        labels: Number of labels; None if new labels may appear.
    """

    fields: ClassVar[tuple[Field, ...]] = (
        Argument("ridge", float),
        Argument("scale_free", bool),
        *MulticlassLearner.fields,
        Part("matrix", places="places"),
        Array("moments", ("labels", "matrix.count"), at="_moments"),
        Array("totals", (multiclass_layout.TOTALS,), at="_totals"),
    )

    def __init__(self, ridge: float, scale_free: bool, bias: float, labels: int | None) -> None:
        super().__init__(bias, labels)
        self.matrix = Matrix(ridge, scale_free)
        self.ridge, self.scale_free = self.matrix.ridge, self.matrix.scale_free
        self._take_only(*taken_by(self.ridge, self.scale_free))
        self._moments = np.zeros((self.labels, 0))
        self._totals = np.zeros(multiclass_layout.TOTALS)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights, one row per label and one column per feature, without the constant one."""
        return self._by_place(self._solved())[:, 1:]

    @property
    def bias_weights(self) -> NDArray[np.float64]:
        """Weight of the constant feature for each label."""
        return self._by_place(self._solved())[:, 0]

    def linear_weights(self) -> Coefficients:
        sizes = self.matrix.deviations(self.features.count + 1, self.bias, self.updates)
        return Coefficients(self.weights, self.bias * self.bias_weights, sizes, centred=self.bias != 0.0)

    def _shrinkage(
        self, rows: Nonzeros, score: NDArray[np.float64], linear: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        return 1.0 / (1.0 + self.matrix.look(rows)[1])

    @property
    def size(self) -> int:
        """Number of features in the matrix."""
        return self.matrix.count

    @property
    def updates(self) -> int:
        return int(self.matrix.totals[second_order_layout.UPDATES])

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._make_room(width + 1)

    def _make_room(self, places: int, labels: int = 0) -> None:
        self.matrix.make_room(places)
        had, slots = self._moments.shape
        rows = max(labels, 2 * had) if labels > had else had
        if rows > had or self.matrix.held.shape[1] > slots:
            moments = np.zeros((rows, self.matrix.held.shape[1]))
            moments[:had, :slots] = self._moments
            self._moments = moments

    def _known(self) -> NDArray[np.float64]:
        """Return b of each label by slot."""
        self._make_room(self.features.count + 1)
        return self._moments[: self.labels, : self.matrix.count]

    def _solved(self) -> NDArray[np.float64]:
        """Return the weights A^-1 b of each label by slot."""
        n = self.matrix.count
        low = np.tril(self.matrix.inverse[:n, :n])
        found: NDArray[np.float64] = self._known() @ (low + np.tril(low, -1).T)
        return found

    def _by_place(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of each label by place instead of by slot; 0 for places without a slot."""
        places = self.features.count + 1
        self._make_room(places)
        slots, found = self.matrix.slots[:places], np.zeros((self.labels, places))
        found[:, slots >= 0] = values[:, slots[slots >= 0]]
        return found

    def _added(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return b of each label by place, and its rounding error by place."""
        return self._by_place(self._known()), self.matrix.added(self.features.count + 1)[1]

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        scores = np.empty((len(rows.ends) - 1, self.labels))
        metric, matrix, read = self.matrix.to_read(rows)
        _loops.multiclass_second_order.look(metric, matrix, self._moments, self.labels, read, scores)
        return scores
