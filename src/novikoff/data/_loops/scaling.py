"""Online scaling of rows: subtract the mean and divide by the deviation, or divide by the largest absolute value.

The statistics of a feature are a column of `known`: number of rows, first value K, sums of x - K and of (x - K)^2, and
the current centre and factor, with which x becomes (x - K - centre) * factor. The sums include every row; centre and
factor are recomputed after a sixteenth more rows, and at once if a value is more than LIMIT deviations away. So a row
costs three multiplications per feature, and the scaling of x_t depends on x_1 .. x_t alone. With `store` False, each
row is scaled as if it were the next one, and nothing is stored.
Features of sparse rows are not centred: K = 0 and centre 0, over the rows in which they are present.

Arguments of the loops
    known   (8, features) statistics, changed if `store`
    x       (rows, features) dense rows
    indptr, indices, values    sparse rows, as in SparseRows
    out     (rows, features) scaled rows, or (non-zeros,) scaled values of sparse rows; written
    store   whether to update the statistics
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

ROWS, FIRST, SUM, SQUARES, CENTRE, FACTOR, NEXT, LARGEST = range(8)
"""Rows of `known`, as above; NEXT: row count of the next recomputation; LARGEST: largest absolute value."""
LIMIT = 8.0
"""Number of deviations from which a value triggers a recomputation."""
RATE = 16.0
"""Number of rows over the number of further rows until the next recomputation."""

Numbers = NDArray[np.float64]


@inlined
def deviation(rows: float, total: float, squares: float) -> float:
    """Return 1 over the standard deviation; 0 if the variance is not positive."""
    mean = total / rows
    variance = squares / rows - mean * mean
    return 1.0 / math.sqrt(variance) if variance > 0.0 else 0.0


@compiled
def standard_dense(known: Numbers, x: NDArray[np.float64], out: Numbers, store: bool) -> None:
    """Scale every row by mean and deviation; column 0 of `known` has the row count of all features."""
    width = x.shape[1]
    first, total, squares = known[FIRST], known[SUM], known[SQUARES]
    centre, factor = known[CENTRE], known[FACTOR]
    for t in range(len(x)):
        rows = known[ROWS, 0] + 1.0
        if rows == 1.0 and store:
            for j in range(width):
                first[j] = x[t, j]
        off = 0  # number of values more than LIMIT deviations away
        if store:
            for j in range(width):
                e = x[t, j] - first[j]
                moved = (e - centre[j]) * factor[j]
                out[t, j] = moved
                off += not abs(moved) <= LIMIT  # also counts NaN
                total[j] += e
                squares[j] += e * e
            known[ROWS, 0] = rows
        else:
            for j in range(width):
                moved = (x[t, j] - first[j] - centre[j]) * factor[j]
                out[t, j] = moved
                off += not abs(moved) <= LIMIT
        if off > 0 or rows >= known[NEXT, 0]:
            for j in range(width):
                e = x[t, j] - first[j] if rows > 1.0 else 0.0
                s, q = total[j], squares[j]
                if not store:
                    s, q = s + e, q + e * e
                c, f = s / rows, deviation(rows, s, q)
                out[t, j] = (e - c) * f if f > 0.0 else 0.0  # sums that overflowed have no deviation
                if store:
                    centre[j] = c
                    factor[j] = f
            if store:
                known[NEXT, 0] = rows + max(1.0, math.floor(rows / RATE))


@compiled
def standard_sparse(
    known: Numbers, indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: Numbers, out: Numbers, store: bool
) -> None:
    """Scale every entry by the root mean square of its feature, this entry included."""
    for k in range(indptr[0], indptr[len(indptr) - 1]):
        j, v = indices[k], values[k]
        rows, squares = known[ROWS, j] + 1.0, known[SQUARES, j] + v * v
        factor = known[FACTOR, j]
        if rows >= known[NEXT, j] or abs(v * factor) > LIMIT:
            factor = deviation(rows, 0.0, squares)
            if store:
                known[FACTOR, j] = factor
                known[NEXT, j] = rows + max(1.0, math.floor(rows / RATE))
        if store:
            known[ROWS, j] = rows
            known[SQUARES, j] = squares
        out[k] = v * factor


@compiled
def range_dense(known: Numbers, x: NDArray[np.float64], out: Numbers, store: bool) -> None:
    """Divide every value by the largest absolute value of its feature so far."""
    largest = known[LARGEST]
    for t in range(len(x)):
        for j in range(x.shape[1]):
            size = max(largest[j], abs(x[t, j]))
            out[t, j] = x[t, j] / size if size > 0.0 else 0.0
            if store:
                largest[j] = size


@compiled
def range_sparse(
    known: Numbers, indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: Numbers, out: Numbers, store: bool
) -> None:
    """Divide every entry by the largest absolute value of its feature so far."""
    for k in range(indptr[0], indptr[len(indptr) - 1]):
        j, v = indices[k], values[k]
        size = max(known[LARGEST, j], abs(v))
        out[k] = v / size if size > 0.0 else 0.0
        if store:
            known[LARGEST, j] = size
