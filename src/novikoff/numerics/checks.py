"""Finiteness tests on the bit pattern, in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled

EXPONENT = np.int64(0x7FF0000000000000)
"""Exponent bits of a double; all ones in infinities and NaN."""
SHORT_EXPONENT = np.int32(0x7F800000)
"""Exponent bits of a single-precision float."""


@compiled
def all_finite(bits: NDArray[np.int64]) -> bool:
    """Return whether all doubles are finite; bits: (numbers,) their bit patterns."""
    bad = np.int64(0)  # no early exit, so that the loop is vectorised
    for k in range(len(bits)):
        bad |= np.int64((bits[k] & EXPONENT) == EXPONENT)
    return bad == 0


@compiled
def all_finite_short(bits: NDArray[np.int32]) -> bool:
    """Return whether all single-precision floats are finite; bits: (numbers,) their bit patterns."""
    bad = np.int32(0)
    for k in range(len(bits)):
        bad |= np.int32((bits[k] & SHORT_EXPONENT) == SHORT_EXPONENT)
    return bad == 0
