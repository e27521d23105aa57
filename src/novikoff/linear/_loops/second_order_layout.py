"""The arrays of linear/_loops/second_order.py, and names for the places in them. No numba here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LIMIT = 256
"""Features that a matrix is kept for: the first that are seen."""
REFRESH = 2**14
"""Updates after which the inverse is found again from the matrix."""

LARGEST, MOMENT, WEIGHT, SEEN, SIZE, HELD = range(6)
"""Rows of `held`: M, b, w = A^-1 b, rounds with the feature, and the largest |x|, which is M where the learner is
scale-free; last, how many rows."""

COUNT, UPDATES, SINCE, LOSS, GAINED, LINEAR, LINEAR_SIZE, FARTHEST, SHED, UNCLIPPED, TOTALS = range(11)
"""In `totals`: features held, updates, those since the last refresh; the loss; what the theorem adds up round by round;
the sum that b'A^-1 b is added to, and of the sizes of its parts; the largest |score|; by how much growing M lowered
b'A^-1 b; the loss with nothing clipped; last, how many there are."""


class Metric(NamedTuple):
    """What L is, and which place has which slot of the matrix."""

    slots: NDArray[np.int32]  # (places + 1,): -1 where there is none; the last is that of every place beyond
    ridge: float  # L = ridge * diag(M^2)
    scale_free: bool  # else M = 1


class MatrixArrays(NamedTuple):
    """One matrix A = L + S over n <= LIMIT features, each of which has a slot from 0 on; COUNT of them are in use.

    Learners with a matrix per label or per member keep them in arrays with as many axes in front.
    """

    held: NDArray[np.float64]  # (HELD, n): a column per slot
    inverse: NDArray[np.float64]  # (n, n): the lower triangle of P = A^-1
    sums: NDArray[np.float64]  # (n, n): the lower triangle of S, the sum of h x x'
    totals: NDArray[np.float64]  # (TOTALS,)
