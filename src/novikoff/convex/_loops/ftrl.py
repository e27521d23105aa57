"""Scale-free FTRL with logistic loss: members side by side, each a lane of the loops over the members of a feature.

`held` has a row for each place (numerics/nonzeros.py): M the largest |x|, X the sum of x^2, N the rounds it was there,
R the largest root mean square so far; then G for each member, and H for each. With the metric A = R sqrt(M^2 + H)/rate
("sqrt") or (M^2 + H)/rate ("newton"), the score of the weights is z0 = -sum of G x/A and v = sum of x^2/A.
Multiplied by a power of two a feature multiplies A by its square, exactly: the scores are the same to the bit.
The scores of a member do not depend on who is beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops.ftrl_layout import DELTA, LINEAR, LINEAR_SIZE, LOSS, SHARED
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.exp import exp
from novikoff.numerics.lanes import prefetch
from novikoff.numerics.logits import hedged, log_loss

Vector = NDArray[np.float64]
AHEAD = 8
"""Non-zeros ahead of which what is held of a feature is asked for: it lies anywhere in memory."""


@inlined
def look(
    held: Vector, roots: NDArray[np.bool_], per_rate: Vector, places: NDArray[np.uint32], values: Vector, start: int,
    stop: int, keep: bool, z0: Vector, v: Vector,
) -> None:  # fmt: skip
    """The scores z0 and the v of every member, with what x itself says of the scales; kept there only if `keep`."""
    members, width, last = len(roots), np.uint64(held.shape[1]), len(places) - 1
    for k in range(members):
        z0[k] = 0.0
        v[k] = 0.0
    for e in range(start, stop):
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
    held: Vector, totals: Vector, places: NDArray[np.uint32], values: Vector, start: int, stop: int, y: int,
    z0: Vector, v: Vector, z: Vector, lost: Vector, step: Vector, curve: Vector,
) -> None:  # fmt: skip
    """Add the gradients, and the curvatures, of the scores z that were played; lost: the log loss of each."""
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
    for e in range(start, stop):
        row = held[places[e]]
        x = values[e]
        square = x * x
        for k in range(members):
            row[SHARED + k] += step[k] * x
            row[SHARED + members + k] += curve[k] * square


@compiled
def play(
    held: Vector, totals: Vector, roots: NDArray[np.bool_], per_rate: Vector, ends: NDArray[np.int64],
    places: NDArray[np.uint32], values: Vector, y: NDArray[np.int8], learns: bool, scores: Vector,
) -> None:  # fmt: skip
    """The scores of every row, learning from each before the next if `learns`."""
    members = len(roots)
    z0, v, step, curve = np.empty(members), np.empty(members), np.empty(members), np.empty(members)
    lost = np.empty(members)
    for t in range(len(ends) - 1):
        z = scores[t]
        look(held, roots, per_rate, places, values, ends[t], ends[t + 1], learns, z0, v)
        for k in range(members):
            z[k] = hedged(z0[k], v[k])
        if learns:
            for k in range(members):
                lost[k] = log_loss(y[t] * z[k])
            learn(held, totals, places, values, ends[t], ends[t + 1], y[t], z0, v, z, lost, step, curve)
