"""Perceptrons with a diagonal metric: A_i = a M_i^2 + X_i + x_i^2, X the sum of x^2 over the updates.

`held` has a row for each place (kernels/nonzeros.py): M, X, b, and updates with the feature. `own`: updates, mistakes,
and the sum of v + 2 max(m, 0) over the updates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernels.compiled import compiled, inlined

Vector = NDArray[np.float64]


@inlined
def look(
    held: Vector, ridge: float, scale_free: bool, places: NDArray[np.uint32], values: Vector, start: int, stop: int,
    keep: bool,
) -> tuple[float, float]:  # fmt: skip
    """x'A^-1 b and v = x'A^-1 x; keep: M with it."""
    score, v = 0.0, 0.0
    for e in range(start, stop):
        row = held[places[e]]
        x = values[e]
        most = max(row[0], abs(x) if scale_free else 1.0)
        if keep:
            row[0] = most
        part = x / (ridge * most * most + row[1] + x * x)
        score += row[2] * part
        v += x * part
    return score, v


@compiled
def play(
    held: Vector, own: Vector, ridge: float, scale_free: bool, ends: NDArray[np.int64], places: NDArray[np.uint32],
    values: Vector, y: NDArray[np.int8], margin: float, learns: bool, scores: Vector,
) -> None:  # fmt: skip
    """The scores of every row; if `learns`, from each mistake, and where y times the score is below `margin`."""
    for t in range(len(ends) - 1):
        score, v = look(held, ridge, scale_free, places, values, ends[t], ends[t + 1], learns)
        scores[t] = score
        if not learns:
            continue
        m = y[t] * score
        wrong = (-1 if score < 0.0 else 1) != y[t]
        if wrong or m < margin:
            own[0] += 1.0
            own[1] += wrong
            own[2] += v + 2.0 * max(m, 0.0)
            for e in range(ends[t], ends[t + 1]):
                row = held[places[e]]
                x = values[e]
                row[1] += x * x
                row[2] += y[t] * x
                row[3] += 1.0
