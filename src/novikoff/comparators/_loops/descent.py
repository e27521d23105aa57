"""Dual coordinate descent for the support vector machine, a few rows at a time.

It looks for u with a small (1/2)||u||^2 + C * (sum of max(0, 1 + kappa ||x~||^2 - y <u, x~>)). u is the sum of alpha_t
y_t x~_t, and each step moves one alpha within 0 .. C to where the loss of its row is best. Nothing depends on how well
it does: any u will do as a comparator.
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
"""Rows whose squared length is below this are left out: dividing by it might overflow."""

SOON = 4
"""Rows ahead of which a row is asked for."""


@compiled
def lengths(
    indptr: NDArray[np.uint64], values: NDArray[Any], bias: float, normalize: bool, scale: Vector, square: Vector
) -> None:
    """What each row is multiplied by to become x~, and ||x~||^2.

    indptr, values   of SparseRows
    scale, square    (rows,) out
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
    """A random order, a function of `word` (SplitMix64)."""
    for last in range(len(order) - 1, 0, -1):
        other = np.int64(coin(word, len(order) - 1 - last) % np.uint64(last + 1))
        order[last], order[other] = order[other], order[last]


@inlined
def _ask_for(t: int, indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: Vector) -> None:
    """Have row t brought near: in a random order, processors cannot know what comes next."""
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
    """One step for every row, in an order drawn by `word`; the largest change of a margin.

    y             (rows,) labels -1 and +1
    scale         (rows,) and square: (rows,), what `lengths` found
    order         (rows,) the order of the epoch before, and changed
    alpha         (rows,) and u: (features,), changed
    bias_weight   (1,) the weight of the bias, changed
    """
    indptr, indices, values = rows
    shuffle(order, word)
    largest = 0.0
    for place, t in enumerate(order):
        _ask_for(order[min(place + SOON, len(order) - 1)], indptr, indices, values)
        if not SHORTEST < square[t] < 1.0 / SHORTEST:
            continue
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
