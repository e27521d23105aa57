"""Halving on thresholds of a grid, row by row, over int64 indices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled


@compiled
def first_outside(x: NDArray[np.int64], n: int) -> int:
    """Return the position of the first index of x (rows,) outside 0 .. n; -1 if there is none."""
    outside = 0  # a first pass without branches, which vectorises
    for i in x:
        outside |= (i < 0) | (i > n)
    if outside:
        for t in range(len(x)):
            if x[t] < 0 or x[t] > n:
                return t
    return -1


@compiled
def learn_many(
    x: NDArray[np.int64], y: NDArray[np.int8], n: int, state: NDArray[np.int64], conservative: bool,
    predictions: NDArray[np.int8],
) -> None:  # fmt: skip
    """Predict and learn every row in order.

    Args:
        x: (rows,) indices from 0 to n.
        y: (rows,) labels -1 and +1.
        n: Last point of the grid.
        state: (5,) lo, hi, restarts, round of the first restart, rounds; changed.
        conservative: Whether to learn on mistakes only.
        predictions: (rows,) output.
    """
    lo = state[0]
    hi = state[1]
    for t in range(len(x)):
        i = x[t]
        label = y[t]
        prediction = 1 if 2 * i + 1 >= lo + hi else -1
        predictions[t] = prediction
        if conservative and prediction == label:
            continue
        if label == 1:
            hi = min(hi, i)
        else:
            lo = max(lo, i + 1)
        if lo > hi:
            state[2] += 1
            if state[3] == 0:
                state[3] = state[4] + t + 1
            lo = 0
            hi = n + 1
    state[0] = lo
    state[1] = hi
    state[4] += len(x)
