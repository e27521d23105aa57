"""Array layout of mixtures/_loops/stacks.py. Imports no numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

REFRESH = 1024
"""Number of rounds after which the inverse of a `LogisticStack` is recomputed."""

LOSS, DELTA, LINEAR, DUAL, LAST_DUAL, FARTHEST, TOTALS = 0, 2, 4, 6, 8, 9, 10
"""Places in `totals` of stacks for labels, each sum followed by its compensation for rounding: the log loss; the sum of
Delta; the sum of g(z-o) - h(z-o)^2/2, to which b'A^-1 b / 2 is added; the sum of b'A^-1 b after each round; the last of
these; the largest |z-o|; then the number of places."""

RIDER_LOSS, RIDER_OVER, RIDERS = 0, 2, 4
"""Rows of `riders`, each followed by its compensation: the log loss l of fixed weights u; the sum of max(l, Q); then
the number of rows. Columns: each member alone (u = e_j) and, last, the centre."""

SQUARES, CHI, CREDIT, GROWTH, UNCLIPPED, CLIPPED, RANGE, PHI, NUMBER_TOTALS = 0, 2, 4, 6, 8, 10, 12, 14, 16
"""Places in `totals` of stacks for numbers, each sum followed by its compensation: of r^2, of r^2 chi, the credit, the
growth term, the loss without and with clipping, the squared growth of the range, and of b'A^-1 b after each round; then
the number of places."""

LOW, HIGH, LAST_PHI, SEEN, OFFSET, OUTCOMES = range(6)
"""Entries of `outcomes` of stacks for numbers: smallest and largest outcome so far, b'A^-1 b after the last round,
whether there was an outcome, the largest |r|; then the number of entries."""


class LogisticArrays(NamedTuple):
    """A stack for two labels over d coordinates: minimises (u-c)'(L + S)(u-c)/2 - b'(u-c)."""

    centre: NDArray[np.float64]  # (J,): c of the members; that of all other coordinates is 0
    ridge: NDArray[np.float64]  # (d,): diagonal of L, discounted
    sums: NDArray[np.float64]  # (d, d): S, discounted; symmetric to the bit
    inverse: NDArray[np.float64]  # (d, d): (L + S)^-1, symmetric to the bit
    moment: NDArray[np.float64]  # (d,): b, discounted
    totals: NDArray[np.float64]  # (TOTALS,)
    riders: NDArray[np.float64]  # (RIDERS, J + 1)


class SoftmaxArrays(NamedTuple):
    """A stack for many labels, which minimises the same function; L is not discounted."""

    centre: NDArray[np.float64]  # (J,): c of the members; that of the biases is 0
    ridge: NDArray[np.float64]  # (d,): diagonal of L
    sums: NDArray[np.float64]  # (d, d): upper triangle of S, discounted
    moment: NDArray[np.float64]  # (d,): b, discounted
    totals: NDArray[np.float64]  # (TOTALS,)
    riders: NDArray[np.float64]  # (RIDERS, J + 1)


class NumberStackArrays(NamedTuple):
    """A stack for numbers over J members."""

    centre: NDArray[np.float64]  # (J,): u0, of sum 1
    largest: NDArray[np.float64]  # (J,): M, the largest |p_j - m| so far
    sums: NDArray[np.float64]  # (J, J): upper triangle of S, discounted
    moment: NDArray[np.float64]  # (J,): b, discounted
    totals: NDArray[np.float64]  # (NUMBER_TOTALS,)
    outcomes: NDArray[np.float64]  # (OUTCOMES,)
