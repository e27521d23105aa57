"""Compiled loops of Perceptrons with a diagonal metric: A_i = a M_i^2 + X_i + x_i^2, X the sum of x^2 over the updates.

`held` has a row per place (numerics/nonzeros.py); its columns and the entries of `totals` are in
linear/_loops/metric_layout.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops.metric_layout import GAINED, LARGEST, MISTAKES, MOMENT, SEEN, SQUARES, UPDATES
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]


@inlined
def look(held: Vector, ridge: float, scale_free: bool, rows: Nonzeros, t: int, keep: bool) -> tuple[float, float]:
    """Return x'A^-1 b and v = x'A^-1 x of row t; with `keep`, store the new M."""
    ends, places, values = rows
    score, v = 0.0, 0.0
    for e in range(ends[t], ends[t + 1]):
        row = held[places[e]]
        x = values[e]
        most = max(row[LARGEST], abs(x) if scale_free else 1.0)
        if keep:
            row[LARGEST] = most
        part = x / (ridge * most * most + row[SQUARES] + x * x)
        score += row[MOMENT] * part
        v += x * part
    return score, v


@compiled
def play(
    held: Vector, totals: Vector, ridge: float, scale_free: bool, rows: Nonzeros, y: NDArray[np.int8], margin: float,
    learns: bool, scores: Vector,
) -> None:  # fmt: skip
    """Score every row; with `learns`, update on each mistake and if y times the score is below `margin`.

    Args:
        held: (places, HELD) numbers per place.
        totals: (TOTALS,) sums over all rounds.
        ridge: Regularisation a.
        scale_free: Whether M is the largest |x|; else M = 1.
        rows: Nonzeros of the rows.
        y: (rows,) labels -1 and +1; read only if `learns`.
        margin: Margin below which a row is an update.
        learns: Whether to learn from the rows.
        scores: (rows,) output.
    """
    ends, places, values = rows
    for t in range(len(ends) - 1):
        score, v = look(held, ridge, scale_free, rows, t, learns)
        scores[t] = score
        if not learns:
            continue
        m = y[t] * score
        wrong = (-1 if score < 0.0 else 1) != y[t]
        if wrong or m < margin:
            totals[UPDATES] += 1.0
            totals[MISTAKES] += wrong
            totals[GAINED] += v + 2.0 * max(m, 0.0)
            for e in range(ends[t], ends[t + 1]):
                row = held[places[e]]
                x = values[e]
                row[SQUARES] += x * x
                row[MOMENT] += y[t] * x
                row[SEEN] += 1.0
