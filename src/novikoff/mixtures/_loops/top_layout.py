"""Array layout of mixtures/_loops/tops.py. Imports no numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VALUE, VALUE_LOST, PATH_LOSS, PATH_LOSS_LOST, CHANGES, PATHS = range(6)
"""Rows of `paths`, one column per forecaster: loss + price of the cheapest path that ends with it, and the compensation
of this sum for rounding; the loss alone, with its compensation; the number of changes. Last, the number of rows."""

LOSS, LOSS_LOST, LOSSES = range(3)
"""Rows of `losses`, one column per forecaster and, last, one for the mixture: the loss, and its compensation."""

GAPS, LAST_GAP, RATE, BEGUN, NUMBERS = range(5)
"""Entries of `numbers`: sum of the mixability gaps, the last of them, 1/eta of the last round, whether 1/eta was ever
above 0; last, the number of entries."""


class HedgeArrays(NamedTuple):
    """AdaHedge over N forecasters of a number."""

    prior: NDArray[np.float64]  # (N,): pi, of sum 1; read only if the weights are shared
    table: NDArray[np.float64]  # (N,): loss of each forecaster so far; if shared, ln v of the last round
    numbers: NDArray[np.float64]  # (NUMBERS,)
