"""Compiled loop of AdaGrad by dual averaging, for convex losses of a score.

`held` has a row per place (numerics/nonzeros.py, convex/_loops/adagrad_layout.py). The metric of a feature is
A = R sqrt(steep^2 M^2 + H) / rate, where M and R include x_t; the score is z = -sum of G x / A.
Losses and slopes are those of convex/comparators/losses.py, to the bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops.adagrad_layout import (
    ABSOLUTE,
    CURVE,
    DELTA,
    GRADIENT,
    HINGE,
    HUBER,
    LARGEST,
    LINEAR,
    LINEAR_SIZE,
    PINBALL,
    SEEN,
    SIZE,
    SQUARES,
    STEEPEST,
)
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]


@inlined
def slope(code: int, parameter: float, z: float, y: float) -> float:
    """Return the slope of the loss at z; 0 at a corner."""
    if code == HINGE:
        return -y if 1.0 - y * z > 0.0 else 0.0
    gap = z - y
    if code == ABSOLUTE:
        return np.sign(gap)
    if code == PINBALL:
        return 1.0 - parameter if gap > 0.0 else -parameter if gap < 0.0 else 0.0
    if code == HUBER:
        return min(max(gap, -parameter), parameter)
    return 2.0 * gap


@compiled
def play(
    held: Vector, totals: Vector, code: int, parameter: float, steep: float, rate: float, rows: Nonzeros, y: Vector,
    learns: bool, scores: Vector,
) -> None:  # fmt: skip
    """Score every row; with `learns`, learn from each before the next.

    Args:
        held: (places, HELD) numbers per place.
        totals: (TOTALS,) sums over all rounds.
        code: Code of the loss.
        parameter: Parameter of the loss.
        steep: Largest slope of the loss.
        rate: Learning rate.
        rows: Nonzeros of the rows.
        y: (rows,) labels or numbers; read only if `learns`.
        learns: Whether to learn from the rows.
        scores: (rows,) output.
    """
    ends, places, values = rows
    for t in range(len(ends) - 1):
        z = v = 0.0
        for e in range(ends[t], ends[t + 1]):
            row, x = held[places[e]], values[e]
            # M, the sum of x^2, the number of rounds and R, with this row included.
            most, squares, seen = max(row[LARGEST], abs(x)), row[SQUARES] + x * x, row[SEEN] + 1.0
            size = max(row[SIZE], np.sqrt(squares / seen))
            if learns:
                row[LARGEST], row[SQUARES], row[SEEN], row[SIZE] = most, squares, seen, size
            wide = steep * most
            metric = size * np.sqrt(wide * wide + row[CURVE]) / rate
            part = x / metric if metric > 0.0 else 0.0  # squares underflowed: treat as a feature never seen
            z -= row[GRADIENT] * part
            v += x * part
        scores[t] = z
        if learns:
            g = slope(code, parameter, z, y[t])
            totals[DELTA] += 0.5 * g * g * v
            totals[LINEAR] += g * z
            totals[LINEAR_SIZE] += abs(g * z)
            totals[STEEPEST] = max(totals[STEEPEST], abs(g))
            for e in range(ends[t], ends[t + 1]):
                row, step = held[places[e]], g * values[e]
                row[GRADIENT] += step
                row[CURVE] += step * step
