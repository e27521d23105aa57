"""Sum of t y_t x~_t over the mistakes of a batch, from which the mean of a Perceptron's weights follows.

Rows are added exactly as the learner added them.

Arguments of the loops
    total      (features + 1,) sum for each feature and, last, for the bias; changed
    x          (rows, features) dense rows
    indptr     (rows + 1,) start of each sparse row and the end of the last
    indices    (entries,) feature of each entry
    values     (entries,) value of each entry
    y          (rows,) labels -1 and +1
    wrong      (mistakes,) rows with a mistake
    before     number of earlier rounds: row 0 is round `before` + 1
    bias       value of the constant feature
    normalize  whether rows are divided by their norm
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
    """Add the sparse rows `wrong`."""
    for row in wrong:
        start, stop = indptr[row], indptr[row + 1]
        step = np.float64(before + row + 1) * y[row]  # t y_t, with t counted from 1 over all batches
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
    """Add the dense rows `wrong`."""
    for row in wrong:
        step = np.float64(before + row + 1) * y[row]
        total[-1] += step * bias
        if normalize:
            step *= inverse_norm(x[row], 0, x.shape[1])
        for i in range(x.shape[1]):
            total[i] += x[row, i] * step
