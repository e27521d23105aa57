"""Base class for learners with a full matrix (linear/_loops/second_order.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.attribution import Coefficients
from novikoff.core.state import Argument, Field, Part
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.matrix import Matrix, taken_by
from novikoff.linear.scale_free import ScaleFree, ratio

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class SecondOrder(ScaleFree):
    """Base class for learners with weights A^-1 b, where A is a matrix over the first 256 features seen.

    Args:
        ridge: Regularisation of the matrix.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.
        diagonal: Whether a diagonal is used instead of the matrix, which widens the accepted range of x.
    """

    fields: ClassVar[tuple[Field, ...]] = (
        Argument("ridge", float),
        Argument("scale_free", bool),
        *ScaleFree.fields,
        Part("matrix", places="places"),
    )

    def __init__(self, ridge: float, scale_free: bool, bias: float, diagonal: bool = False) -> None:
        super().__init__(bias)
        self.matrix = Matrix(ridge, scale_free)
        self.ridge, self.scale_free = self.matrix.ridge, self.matrix.scale_free
        self._take_only(*taken_by(self.ridge, self.scale_free, diagonal))

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each feature, without the constant one."""
        return self.matrix.of(at.WEIGHT, self.features.count + 1)[1:]

    @property
    def bias_weight(self) -> float:
        """Weight of the constant feature."""
        return float(self.matrix.of(at.WEIGHT, 1)[0]) if len(self.matrix.slots) else 0.0

    @property
    def size(self) -> int:
        """Number of features in the matrix."""
        return self.matrix.count

    @property
    def updates(self) -> int:
        return int(self.matrix.totals[at.UPDATES])

    def linear_weights(self) -> Coefficients:
        sizes = self.matrix.deviations(self.features.count + 1, self.bias, self.updates)
        intercept = np.array([self.bias * self.bias_weight])
        return Coefficients(self.weights[np.newaxis], intercept, sizes, centred=self.bias != 0.0)

    def _shrinkage(
        self, rows: Nonzeros, score: NDArray[np.float64], linear: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        return ratio(score, self._looked(rows)[0])

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._make_room(width + 1)

    def _make_room(self, places: int) -> None:
        self.matrix.make_room(places)

    def _looked(self, rows: Nonzeros) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.matrix.look(rows)

    def _added(self, more: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.matrix.added(self.features.count + 1, more)
