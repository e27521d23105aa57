"""Rows brought to one scale as they come: each feature less its mean and over its deviation, or over its largest size.

What is known of a feature is a column of `known`: how many rows had it, the first value K, the sums of x - K and of
(x - K)^2, and, since the last look at these, the centre and the factor by which x is moved: (x - K - centre) * factor.
The sums take in every row; centre and factor are found anew when a sixteenth more rows have come, and at once when a
value lies more than LIMIT deviations off. So a row costs three multiplications a feature, and what is done to x_t
depends on x_1 .. x_t alone. `store` False: what would be done to the row if it came next; nothing is remembered.
Features of sparse rows are not centred: K = 0 and centre 0, over the rows that have them.

Arguments of the loops
    known   (8, features) changed if `store`
    x       (rows, features); indptr, indices, values: SparseRows, field by field
    out     (rows, features), or (non-zeros,) for sparse rows
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

ROWS, FIRST, SUM, SQUARES, CENTRE, FACTOR, NEXT, LARGEST = range(8)
"""Rows of `known`, as above; NEXT: rows at which centre and factor are found again; LARGEST: the largest size."""
LIMIT = 8.0
"""Deviations beyond which a value makes them be found again at once."""
RATE = 16.0
"""Centre and factor are found again when a RATE-th more rows have come."""

Numbers = NDArray[np.float64]


@inlined
def deviation(rows: float, total: float, squares: float) -> float:
    """One over the deviation; 0 where there is none."""
    mean = total / rows
    variance = squares / rows - mean * mean
    return 1.0 / math.sqrt(variance) if variance > 0.0 else 0.0


@compiled
def standard_dense(known: Numbers, x: NDArray[np.float64], out: Numbers, store: bool) -> None:
    """Scale every row; the rows that all features have in common are counted in column 0."""
    width = x.shape[1]
    first, total, squares = known[FIRST], known[SUM], known[SQUARES]
    centre, factor = known[CENTRE], known[FACTOR]
    for t in range(len(x)):
        rows = known[ROWS, 0] + 1.0
        if rows == 1.0 and store:
            for j in range(width):
                first[j] = x[t, j]
        off = 0
        if store:
            for j in range(width):
                e = x[t, j] - first[j]
                moved = (e - centre[j]) * factor[j]
                out[t, j] = moved
                off += not abs(moved) <= LIMIT  # also what is not a number
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
                out[t, j] = (e - c) * f if f > 0.0 else 0.0  # of sums beyond the doubles there is no deviation
                if store:
                    centre[j] = c
                    factor[j] = f
            if store:
                known[NEXT, 0] = rows + max(1.0, math.floor(rows / RATE))


@compiled
def standard_sparse(
    known: Numbers, indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: Numbers, out: Numbers, store: bool
) -> None:
    """Scale every entry by what its feature was before, and is now."""
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
    """Divide by the largest size so far."""
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
    """Divide by the largest size so far."""
    for k in range(indptr[0], indptr[len(indptr) - 1]):
        j, v = indices[k], values[k]
        size = max(known[LARGEST, j], abs(v))
        out[k] = v / size if size > 0.0 else 0.0
        if store:
            known[LARGEST, j] = size
