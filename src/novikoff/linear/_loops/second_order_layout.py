"""Array layout of linear/_loops/second_order.py. Imports no numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LIMIT = 256
"""Largest number of features of a matrix, which covers the first ones seen."""
REFRESH = 2**14
"""Number of updates after which the inverse is recomputed from the matrix."""

LARGEST, MOMENT, WEIGHT, SEEN, SIZE, HELD = range(6)
"""Rows of `held`: M, b, w = A^-1 b, the number of rounds with the feature, and the largest |x|, which is M if the
learner is scale-free; last, the number of rows."""

COUNT, UPDATES, SINCE, LOSS, GAINED, LINEAR, LINEAR_SIZE, FARTHEST, SHED, UNCLIPPED, TOTALS = range(11)
"""Entries of `totals`: features held, updates, updates since the last refresh; the loss; the theorem's sum over rounds;
the sum that b'A^-1 b is added to, and that of the sizes of its parts; the largest |score|; the decrease of b'A^-1 b by
growing M; the loss without clipping; last, the number of entries."""


class Metric(NamedTuple):
    """Regularisation L, and the slot of each place in the matrix."""

    slots: NDArray[np.int32]  # (places + 1,): slot of each place, -1 for none; the last entry serves all places beyond
    ridge: float  # L = ridge * diag(M^2)
    scale_free: bool  # else M = 1


class MatrixArrays(NamedTuple):
    """Matrix A = L + S over n <= LIMIT features, each with a slot from 0 on; COUNT of them are in use.

    Learners with a matrix per label or per member store them in arrays with leading axes.
    """

    held: NDArray[np.float64]  # (HELD, n): a column per slot
    inverse: NDArray[np.float64]  # (n, n): the lower triangle of P = A^-1
    sums: NDArray[np.float64]  # (n, n): the lower triangle of S, the sum of h x x'
    totals: NDArray[np.float64]  # (TOTALS,)
