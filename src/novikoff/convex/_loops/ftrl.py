"""Scale-free FTRL with logistic loss: members side by side, each a lane of the loops over the members of a feature.

What is kept of each place (numerics/nonzeros.py) is in FtrlArrays: M the largest |x|, X the sum of x^2, N the rounds it
was there, R the largest root mean square so far; then G for each member, and H for each. With the metric
A = R sqrt(M^2 + H)/rate ("sqrt") or (M^2 + H)/rate ("newton"), the score of the weights is z0 = -sum of G x/A and
v = sum of x^2/A.
Multiplied by a power of two a feature multiplies A by its square, exactly: the scores are the same to the bit.
The scores of a member do not depend on who is beside it.

Arguments of the loops
    arrays       FtrlArrays
    rows         Nonzeros: the rows to predict, or to learn from in turn
    z0, v        (members,) the score of the weights, and how far it is from sure
    z, lost      (members,) the score played, and its log loss
    step, curve  (members,) scratch: slope and curvature of the loss at z
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
"""Non-zeros ahead of which what is held of a feature is asked for: it lies anywhere in memory."""


@inlined
def look(arrays: FTRLArrays, rows: Nonzeros, t: int, keep: bool, z0: Vector, v: Vector) -> None:
    """z0 and v of every member on row t, with what x itself says of the scales; kept there only if `keep`."""
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
        most = max(row[0], abs(x))
        squares = row[1] + x * x
        seen = row[2] + 1.0
        size = row[3]
        if squares > 0.999 * (size * size) * seen:  # else the root is below: the maximum is found without it
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
            part = np.divide(x, metric * per_rate[k])  # not /, which looks for 0 first
            z0[k] -= row[SHARED + k] * part
            v[k] += x * part


@inlined
def learn(
    arrays: FTRLArrays, rows: Nonzeros, t: int, y: int, z0: Vector, v: Vector, z: Vector, lost: Vector, step: Vector,
    curve: Vector,
) -> None:  # fmt: skip
    """Add the gradients, and the curvatures, of the scores z that were played on row t."""
    _, _, held, totals = arrays
    ends, places, values = rows
    members = len(z)
    for k in range(members):
        e = exp(y * z[k])
        q = 1.0 / (1.0 + e)
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
    """The scores of every row, learning from each before the next if `learns`.

    y        (rows,) labels -1 and +1; not read unless `learns`
    scores   (rows, members) out
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
