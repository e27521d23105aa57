"""Finiteness tests on the bit pattern, in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled

EXPONENT = np.int64(0x7FF0000000000000)
SHORT_EXPONENT = np.int32(0x7F800000)


@compiled
def all_finite(bits: NDArray[np.int64]) -> bool:
    """Return whether all doubles are finite, from their bits: an exponent of all ones is infinity or NaN."""
    bad = np.int64(0)
    for k in range(len(bits)):
        bad |= np.int64((bits[k] & EXPONENT) == EXPONENT)
    return bad == 0


@compiled
def all_finite_short(bits: NDArray[np.int32]) -> bool:
    """Return whether all floats are finite, from their bits."""
    bad = np.int32(0)
    for k in range(len(bits)):
        bad |= np.int32((bits[k] & SHORT_EXPONENT) == SHORT_EXPONENT)
    return bad == 0
