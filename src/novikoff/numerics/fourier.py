"""Random Fourier features of standardised rows: phi = (sqrt 2 cos(W's + c), 1), of the seed and of x_1 .. x_t alone.

s_i = (x_i - mean_i)/deviation_i, clipped to -4 .. 4, by the mean and the deviation of rows 1 .. t; 0 where there is no
deviation. W is drawn from N(0, 2g/d), d the number of features that have a deviation by row t: a constant or empty
column changes nothing, and a sparse row need not say how many columns are to come. A feature multiplied by a power of
two changes no bit of s. `turns` is W' / (2 pi), but for the deviation of W, so that cos is a polynomial of the fraction
of a turn, in a loop without branches; it is within 1e-8 of the cosine, and the same for everybody.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import dense
from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]

FARTHEST = 4.0
SQRT2 = 1.4142135623730951
# Taylor's, of sqrt 2 cos(2 pi t) in t^2, up to t^20
C0, C1, C2, C3, C4, C5 = (SQRT2 * c for c in (
    1.0, -19.739208802178716, 64.93939402266829, -85.45681720669373, 60.24464137187666, -26.42625678337438,
))  # fmt: skip
C6, C7, C8, C9, C10 = (SQRT2 * c for c in (
    7.903536371318467, -1.714390711088671, 0.28200596845580236, -0.03638284106719353, 0.0037798342004910645,
))  # fmt: skip


@inlined
def standardise(moments: Vector, seen: float, x: Vector, keep: bool, s: Vector) -> float:
    """S of a row, `seen` rows with it, and d, at least 1; mean and squares are kept only if `keep`."""
    vary = 0.0
    for i in range(len(x)):
        off = x[i] - moments[0, i]
        mean = moments[0, i] + off / seen
        squares = moments[1, i] + off * (x[i] - mean)
        if keep:
            moments[0, i] = mean
            moments[1, i] = squares
        deviation = np.sqrt(squares / seen)
        s[i] = min(max((x[i] - mean) / deviation, -FARTHEST), FARTHEST) if deviation > 0.0 else 0.0
        vary += 1.0 if deviation > 0.0 else 0.0
    return max(vary, 1.0)


@inlined
def project(turns: Vector, s: Vector, found: Vector) -> None:
    """W's / (2 pi)."""
    for k in range(len(turns)):
        found[k] = dense(turns[k], s)


@inlined
def wave(projected: Vector, shifts: Vector, scale: float, phi: Vector) -> None:
    """Phi, of W times the scale; the last is 1."""
    for k in range(len(shifts)):
        turn = projected[k] * scale + shifts[k]
        turn -= np.floor(turn + 0.5)
        u = turn * turn
        low = C0 + u * (C1 + u * (C2 + u * (C3 + u * (C4 + u * C5))))
        high = C6 + u * (C7 + u * (C8 + u * (C9 + u * C10)))
        phi[k] = low + (u * u) * (u * u) * (u * u) * high
    phi[len(shifts)] = 1.0


@compiled
def images(
    turns: Vector, shifts: Vector, widths: Vector, moments: Vector, seen: float, keep: bool, rows: Nonzeros
) -> Vector:
    """Phi (widths, rows, features) of every row; `seen` rows came before, whose moments these are.

    turns     (features - 1, width); shifts: (features - 1,), in turns
    widths    (members,) g of each
    moments   (2, width): mean of each column, and the sum of squared distances from it
    keep      each row comes after the one before it; else each is the row after those seen
    """
    ends, places, values = rows
    width = turns.shape[1]
    row, s, projected = np.zeros(width), np.zeros(width), np.zeros(len(shifts))
    found = np.empty((len(widths), len(ends) - 1, len(shifts) + 1))
    for t in range(len(ends) - 1):
        row[:] = 0.0
        for e in range(ends[t], ends[t + 1]):
            if 1 <= places[e] <= width:
                row[places[e] - np.uint32(1)] = values[e]
        vary = standardise(moments, seen + (t if keep else 0) + 1.0, row, keep, s)
        project(turns, s, projected)
        for m in range(len(widths)):
            wave(projected, shifts, np.sqrt(2.0 * widths[m] / vary), found[m, t])
    return found
