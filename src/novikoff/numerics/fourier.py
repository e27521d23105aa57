"""Random Fourier features of standardised rows: phi = (sqrt 2 cos(W's + c), 1), a function of the seed and x_1 .. x_t.

s_i = (x_i - mean_i)/deviation_i, clipped to -4 .. 4, with the mean and the deviation of rows 1 .. t; 0 if the deviation
is 0. W is drawn from N(0, 2g/d), where d is the number of features with a positive deviation by row t: a constant or
empty column changes nothing, and the number of columns need not be known in advance. Multiplying a feature by a power
of two changes no bit of s. `turns` is W' / (2 pi), up to the deviation of W, so that cos is a polynomial of the
fraction of a turn, in a loop without branches; it is within 1e-8 of the cosine, and the same on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import dense
from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]

FARTHEST = 4.0
"""Limit to which standardised features are clipped."""
SQRT2 = 1.4142135623730951
# Taylor coefficients of sqrt 2 cos(2 pi t) in t^2, up to t^20
C0, C1, C2, C3, C4, C5 = (SQRT2 * c for c in (
    1.0, -19.739208802178716, 64.93939402266829, -85.45681720669373, 60.24464137187666, -26.42625678337438,
))  # fmt: skip
C6, C7, C8, C9, C10 = (SQRT2 * c for c in (
    7.903536371318467, -1.714390711088671, 0.28200596845580236, -0.03638284106719353, 0.0037798342004910645,
))  # fmt: skip


@inlined
def standardise(moments: Vector, seen: float, x: Vector, keep: bool, s: Vector) -> float:
    """Write s of a row and return d, at least 1; the moments are updated only if `keep`.

    Args:
        moments: (2, width) mean of each column, and the sum of squared deviations (Welford's method).
        seen: Number of rows, this one included.
        x: (width,) the row.
        keep: Whether to update the moments.
        s: (width,) standardised row, written.
    """
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
    """Write W's / (2 pi), up to the deviation of W, to found (features - 1,); turns: (features - 1, width)."""
    for k in range(len(turns)):
        found[k] = dense(turns[k], s)


@inlined
def wave(projected: Vector, shifts: Vector, scale: float, phi: Vector) -> None:
    """Write phi (features,) for W times `scale`; its last entry is 1. projected, shifts: (features - 1,)."""
    for k in range(len(shifts)):
        turn = projected[k] * scale + shifts[k]
        turn -= np.floor(turn + 0.5)  # to -1/2 .. 1/2, where the polynomial is accurate
        u = turn * turn
        low = C0 + u * (C1 + u * (C2 + u * (C3 + u * (C4 + u * C5))))
        high = C6 + u * (C7 + u * (C8 + u * (C9 + u * C10)))
        phi[k] = low + (u * u) * (u * u) * (u * u) * high
    phi[len(shifts)] = 1.0


@compiled
def images(
    turns: Vector, shifts: Vector, widths: Vector, moments: Vector, seen: float, keep: bool, rows: Nonzeros
) -> Vector:
    """Return phi (members, rows, features) of every row.

    Args:
        turns: (features - 1, width) frequencies, in turns.
        shifts: (features - 1,) phases, in turns.
        widths: (members,) g of each member.
        moments: (2, width) mean of each column, and the sum of squared distances from it; updated if `keep`.
        seen: Number of earlier rows, which `moments` summarises.
        keep: Whether the rows follow one another; otherwise each is standardised as the first after the earlier rows.
        rows: Rows as in Nonzeros; place 0, the constant feature, is ignored.
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
