"""Array layout of scale-free FTRL. Imports no numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARED = 4
"""Number of columns of a feature that all members share: M, X, N and R."""

LOSS, DELTA, LINEAR, LINEAR_SIZE, TOTALS = range(5)
"""Rows of `totals`: log loss, the theorem's Delta, g z and |g z|; last, the number of rows."""


class FTRLArrays(NamedTuple):
    """Arrays of the members of convex/_loops/ftrl.py."""

    roots: NDArray[np.bool_]  # (members,): whether the metric is "sqrt", otherwise "newton"
    per_rate: NDArray[np.float64]  # (members,): 1 / rate
    held: NDArray[np.float64]  # (places, SHARED + 2 members): M, X, N, R; then G of each member, and H of each
    totals: NDArray[np.float64]  # (TOTALS, members)


class MulticlassFTRLArrays(NamedTuple):
    """Arrays of the members of convex/_loops/multiclass_ftrl.py."""

    roots: NDArray[np.bool_]  # (members,): whether the metric is "sqrt", otherwise "newton"
    per_rate: NDArray[np.float64]  # (members,): 1 / rate
    scales: NDArray[np.float64]  # (places, SHARED): M, X, N, R
    curves: NDArray[np.float64]  # (places, members): H, the sum of (1 - |P|^2) x^2
    sums: NDArray[np.float64]  # (places, members, labels): G, the sum of (P_j - 1[j = y]) x
    totals: NDArray[np.float64]  # (multiclass_layout.TOTALS, members)
