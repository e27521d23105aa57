"""Compiled loops of scale-free FTRL with logistic loss, for several members at once (one SIMD lane per member).

FTRLArrays holds for each place (numerics/nonzeros.py): M the largest |x|, X the sum of x^2, N the number of rounds with
the feature, R the largest root mean square so far; then G per member, and H per member. With the metric
A = R sqrt(M^2 + H)/rate ("sqrt") or (M^2 + H)/rate ("newton"), the score of the weights is z0 = -sum of G x/A and
v = sum of x^2/A.
Scaling a feature by a power of two scales A by its square, exactly: the scores are the same to the bit.
The scores of a member do not depend on the other members.

Arguments of the loops:
    arrays: FTRLArrays
    rows: Nonzeros of the rows to predict, or to learn from in turn
    z0, v: (members,) score of the weights, and its uncertainty
    z, lost: (members,) score played, and its log loss
    step, curve: (members,) scratch: slope and curvature of the loss at z
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops.ftrl_layout import DELTA, LINEAR, LINEAR_SIZE, LOSS, SHARED, FTRLArrays
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.exp import exp
from novikoff.numerics.lanes import prefetch
from novikoff.numerics.logits import hedged, log_loss
from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]
AHEAD = 8
"""Prefetch distance in non-zeros: rows of `held` are scattered in memory."""


@inlined
def look(arrays: FTRLArrays, rows: Nonzeros, t: int, keep: bool, z0: Vector, v: Vector) -> None:
    """Write z0 and v of every member on row t, with scales that include x; store the scales only if `keep`."""
    roots, per_rate, held, _ = arrays
    ends, places, values = rows
    members, width, last = len(roots), np.uint64(held.shape[1]), len(places) - 1
    for k in range(members):
        z0[k] = 0.0
        v[k] = 0.0
    for e in range(ends[t], ends[t + 1]):
        there = np.uint64(places[min(e + AHEAD, last)]) * width
        for k in range(np.uint64(0), width, np.uint64(8)):
            prefetch(held, there + k)
        prefetch(held, there + width - np.uint64(1))
        row = held[places[e]]
        x = values[e]
        # M, X, N and R, with this row included.
        most = max(row[0], abs(x))
        squares = row[1] + x * x
        seen = row[2] + 1.0
        size = row[3]
        if squares > 0.999 * (size * size) * seen:  # else the root is below `size`, and need not be computed
            size = max(size, np.sqrt(squares / seen))
        if keep:
            row[0] = most
            row[1] = squares
            row[2] = seen
            row[3] = size
        square = most * most
        for k in range(members):
            under = square + row[SHARED + members + k]
            metric = size * np.sqrt(under) if roots[k] else under
            part = np.divide(x, metric * per_rate[k])  # not /, which checks for division by 0
            z0[k] -= row[SHARED + k] * part
            v[k] += x * part


@inlined
def learn(
    arrays: FTRLArrays, rows: Nonzeros, t: int, y: int, z0: Vector, v: Vector, z: Vector, lost: Vector, step: Vector,
    curve: Vector,
) -> None:  # fmt: skip
    """Add the gradients and curvatures of the scores z played on row t."""
    _, _, held, totals = arrays
    ends, places, values = rows
    members = len(z)
    for k in range(members):
        e = exp(y * z[k])
        q = 1.0 / (1.0 + e)  # P(-y); P(y) is e q, never 1 - q
        g = -y * q
        step[k] = g
        curve[k] = q * (e * q)
        linear = g * z[k]
        totals[LOSS, k] += lost[k]
        totals[DELTA, k] += g * (z[k] - z0[k]) + 0.5 * g * g * v[k]
        totals[LINEAR, k] += linear
        totals[LINEAR_SIZE, k] += abs(linear)
    for e in range(ends[t], ends[t + 1]):
        row = held[places[e]]
        x = values[e]
        square = x * x
        for k in range(members):
            row[SHARED + k] += step[k] * x
            row[SHARED + members + k] += curve[k] * square


@compiled
def play(arrays: FTRLArrays, rows: Nonzeros, y: NDArray[np.int8], learns: bool, scores: Vector) -> None:
    """Score every row; with `learns`, learn from each before the next.

    Args:
        arrays: Members and their sums.
        rows: Nonzeros of the rows.
        y: (rows,) labels -1 and +1; read only if `learns`.
        learns: Whether to learn from the rows.
        scores: (rows, members) output.
    """
    arrays, rows = FTRLArrays(*arrays), Nonzeros(*rows)
    members = len(arrays.roots)
    z0, v, step, curve = np.empty(members), np.empty(members), np.empty(members), np.empty(members)
    lost = np.empty(members)
    for t in range(len(rows.ends) - 1):
        z = scores[t]
        look(arrays, rows, t, learns, z0, v)
        for k in range(members):
            z[k] = hedged(z0[k], v[k])
        if learns:
            for k in range(members):
                lost[k] = log_loss(y[t] * z[k])
            learn(arrays, rows, t, y[t], z0, v, z, lost, step, curve)
