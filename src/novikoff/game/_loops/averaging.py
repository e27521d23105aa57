"""Adding t y_t x~_t over the mistakes of a batch: what the mean of a Perceptron's weights lacks.

Rows are added as the learner added them.

Arguments of the loops
    total   (features + 1,) a number for each feature and, last, that of the bias; changed
    x       (rows, features); indptr, indices, values: SparseRows, field by field
    y       (rows,) labels -1 and +1
    wrong   (mistakes,) which rows they were
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled
from novikoff.numerics.lanes import inverse_norm


@compiled
def add_sparse(
    total: NDArray[np.float64], indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: NDArray[Any],
    y: NDArray[np.int8], wrong: NDArray[np.int64], before: int, bias: float, normalize: bool,
) -> None:  # fmt: skip
    """The rows `wrong`, row 0 being that of round `before` + 1."""
    for row in wrong:
        start, stop = indptr[row], indptr[row + 1]
        step = np.float64(before + row + 1) * y[row]
        total[-1] += step * bias
        if normalize:
            step *= inverse_norm(values, start, stop)
        for k in range(start, stop):
            total[indices[k]] += values[k] * step


@compiled
def add_dense(
    total: NDArray[np.float64], x: NDArray[Any], y: NDArray[np.int8], wrong: NDArray[np.int64], before: int,
    bias: float, normalize: bool,
) -> None:  # fmt: skip
    """The rows `wrong`, row 0 being that of round `before` + 1."""
    for row in wrong:
        step = np.float64(before + row + 1) * y[row]
        total[-1] += step * bias
        if normalize:
            step *= inverse_norm(x[row], 0, x.shape[1])
        for i in range(x.shape[1]):
            total[i] += x[row, i] * step
