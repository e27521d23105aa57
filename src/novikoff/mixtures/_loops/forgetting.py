"""Second-order logistic regression that forgets, on standardised rows or on random features of them.

After each round A = gamma (A + h x x') + d (1 - gamma) lambda e_i e_i', with the coordinates i in turn, and
b = gamma (b + (h z - g) x). P = A^-1 is stored, A is not. Terms q_i q_j are subtracted from the whole of P, so that its
two triangles are equal to the bit: a difference between them would grow as gamma^-t, until it dominates P.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.exp import exp
from novikoff.numerics.fourier import FARTHEST, project, wave
from novikoff.numerics.logits import hedged

Vector = NDArray[np.float64]


class ForgettingArrays(NamedTuple):
    """A learner over d coordinates, the last of them constant, on rows of some width."""

    moments: Vector  # (3, width): number of values of each column, their mean, sum of squared distances from it
    inverse: Vector  # (d, d): P
    moment: Vector  # (d,): b
    turns: Vector  # (d - 1, width): frequencies of the random features, in turns; no rows for the row itself
    shifts: Vector  # (d - 1,): their phases, in turns; empty for the row itself


@inlined
def standardise(moments: Vector, row: Vector, keep: bool, s: Vector) -> float:
    """Write the row, standardised by the rows so far and itself; return the number of columns that vary, at least 1.

    moments   (3, width) as in `ForgettingArrays`; the row is added if `keep`
    row       (width,) NaN where a value is missing
    s         (width,) out: standardised and clipped; 0 for missing values and columns that do not vary
    """
    vary = 0.0
    for i in range(len(row)):
        count, mean, squares = moments[0, i], moments[1, i], moments[2, i]
        here = row[i] == row[i]
        if here:
            count += 1.0
            off = row[i] - mean
            mean += off / count
            squares += off * (row[i] - mean)
            if keep:
                moments[0, i] = count
                moments[1, i] = mean
                moments[2, i] = squares
        deviation = np.sqrt(squares / count) if count > 0.0 else 0.0
        s[i] = min(max((row[i] - mean) / deviation, -FARTHEST), FARTHEST) if here and deviation > 0.0 else 0.0
        vary += 1.0 if deviation > 0.0 else 0.0
    return max(vary, 1.0)


@compiled
def play(
    arrays: ForgettingArrays, gamma: float, ridge: float, kappa: float, width: float, rounds: int, rows: Vector,
    y: NDArray[np.int8], learns: bool, played: Vector,
) -> None:  # fmt: skip
    """Play every row.

    arrays   changed if it learns
    gamma    factor of the past after each round
    ridge    lambda
    kappa    factor of the curvature h of the log loss
    width    g of the random features, whose frequencies have the variance 2g / columns that vary
    rounds   rounds before these
    rows     (rows, width), NaN where a value is missing
    y        (rows,) labels -1 and +1; not read unless `learns`
    played   (rows,) out: log-odds
    """
    moments, inverse, moment, turns, shifts = arrays
    size, per = len(moment), 1.0 / gamma
    s, projected = np.empty(rows.shape[1]), np.empty(len(shifts))
    x, k, q, row = np.ones(size), np.empty(size), np.empty(size), np.empty(size)
    more = size * (1.0 - gamma) * ridge
    for t in range(len(rows)):
        vary = standardise(moments, rows[t], learns, s)
        if len(shifts) > 0:
            project(turns, s, projected)
            wave(projected, shifts, np.sqrt(2.0 * width / vary), x)
        else:
            for i in range(size - 1):
                x[i] = s[i]
        k[:] = 0.0  # P x
        for i in range(size):
            here = x[i]
            if here != 0.0:
                for j in range(size):
                    k[j] += here * inverse[i, j]
        v, z0 = 0.0, 0.0  # x'P x and x'P b
        for j in range(size):
            v += k[j] * x[j]
            z0 += k[j] * moment[j]
        v = max(v, 0.0)  # rounding may leave it below 0, and 1 + h v is a divisor
        z = hedged(z0, v)
        played[t] = z
        if not learns:
            continue
        e = exp(y[t] * z)
        p = 1.0 / (1.0 + e)
        g, h = -y[t] * p, kappa * (p * (e * p))
        # Sherman-Morrison twice: first for h x x', then, after division by gamma, for the ridge of coordinate i.
        beta, root, i = h * z - g, np.sqrt(h / (1.0 + h * v)), (rounds + t) % size
        for j in range(size):
            moment[j] = gamma * (moment[j] + beta * x[j])
            k[j] *= root
        for j in range(size):
            row[j] = (inverse[i, j] - k[i] * k[j]) * per
        root = np.sqrt(more / (1.0 + more * max(row[i], 0.0)))
        for j in range(size):
            q[j] = root * row[j]
        for a in range(size):
            for b in range(size):
                inverse[a, b] = (inverse[a, b] - k[a] * k[b]) * per - q[a] * q[b]
