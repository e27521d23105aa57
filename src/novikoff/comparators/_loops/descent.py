"""Dual coordinate descent for the support vector machine, on a few rows.

It minimises (1/2)||u||^2 + C * (sum of max(0, 1 + kappa ||x~||^2 - y <u, x~>)). u is the sum of alpha_t y_t x~_t, and
each step moves one alpha within 0 .. C to the optimum of its row. No guarantee depends on the quality of the solution:
any u is a valid comparator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import inverse_norm, prefetch
from novikoff.numerics.records import SparseRows
from novikoff.numerics.splitmix import coin

Vector = NDArray[np.float64]

SHORTEST = 2.0**-900
"""Smallest squared length of a row that is used: a quotient by a smaller one might overflow."""

SOON = 4
"""Number of rows between a row and the row that is prefetched."""


@compiled
def lengths(
    indptr: NDArray[np.uint64], values: NDArray[Any], bias: float, normalize: bool, scale: Vector, square: Vector
) -> None:
    """Compute the factor that turns each row into x~, and ||x~||^2.

    Args:
        indptr: (rows + 1,) as in SparseRows.
        values: (non-zeros,) as in SparseRows.
        bias: Value of the constant feature.
        normalize: Whether each row is divided by its norm.
        scale: (rows,) factor of each row, written.
        square: (rows,) ||x~||^2 of each row, written.
    """
    for t in range(len(scale)):
        scale[t] = inverse_norm(values, indptr[t], indptr[t + 1]) if normalize else 1.0
        total = bias * bias
        for k in range(indptr[t], indptr[t + 1]):
            value = values[k] * scale[t]
            total += value * value
        square[t] = total


@inlined
def shuffle(order: NDArray[np.int64], word: int) -> None:
    """Shuffle `order` in place, as a function of `word` (SplitMix64)."""
    for last in range(len(order) - 1, 0, -1):
        other = np.int64(coin(word, len(order) - 1 - last) % np.uint64(last + 1))
        order[last], order[other] = order[other], order[last]


@inlined
def _prefetch_row(t: int, indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: Vector) -> None:
    """Prefetch row t of `indptr`, `indices`, `values` (SparseRows): the processor cannot predict a random order."""
    start, stop = indptr[t], indptr[t + 1]
    for k in range(start, stop, np.uint64(8)):
        prefetch(values, k)
    for k in range(start, stop, np.uint64(16)):
        prefetch(indices, k)


@compiled
def epoch(
    rows: SparseRows, y: NDArray[np.int8], bias: float, scale: Vector, square: Vector, order: NDArray[np.int64],
    alpha: Vector, cost: float, kappa: float, u: Vector, bias_weight: Vector, word: int,
) -> float:  # fmt: skip
    """Make one step for every row, in an order drawn by `word`; return the largest change of a margin.

    Args:
        rows: Rows x.
        y: (rows,) labels -1 and +1.
        bias: Value of the constant feature.
        scale: (rows,) factor of each row, from `lengths`.
        square: (rows,) ||x~||^2, from `lengths`.
        order: (rows,) order of the previous epoch, changed.
        alpha: (rows,) dual variables, changed.
        cost: Upper limit C of alpha.
        kappa: Growth of the targets with ||x~||^2.
        u: (features,) weights, changed.
        bias_weight: (1,) bias weight, changed.
        word: Seed of the order.
    """
    indptr, indices, values = rows
    shuffle(order, word)
    largest = 0.0
    for place, t in enumerate(order):
        _prefetch_row(order[min(place + SOON, len(order) - 1)], indptr, indices, values)
        if not SHORTEST < square[t] < 1.0 / SHORTEST:
            continue
        # <u, x> in two accumulators, so that consecutive additions need not wait for each other.
        even = 0.0
        odd = 0.0
        k = indptr[t]
        end = indptr[t + 1]
        while k + np.uint64(1) < end:
            even += u[indices[k]] * values[k]
            odd += u[indices[k + np.uint64(1)]] * values[k + np.uint64(1)]
            k += np.uint64(2)
        if k < end:
            even += u[indices[k]] * values[k]
        margin = y[t] * ((even + odd) * scale[t] + bias_weight[0] * bias)
        # Optimum of the dual in alpha_t: its gradient 1 + kappa ||x~||^2 - margin over its curvature ||x~||^2.
        wanted = min(max(alpha[t] + (1.0 - margin) / square[t] + kappa, 0.0), cost)
        step = wanted - alpha[t]
        if step != 0.0:
            alpha[t] = wanted
            largest = max(largest, abs(step) * square[t])
            step *= y[t]
            bias_weight[0] += step * bias
            step *= scale[t]
            for k in range(indptr[t], end):
                u[indices[k]] += step * values[k]
    return largest
