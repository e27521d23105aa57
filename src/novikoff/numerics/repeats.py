"""Sums of repeated indices in a row, by a hash table that is never cleared between rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.coins import GOLDEN
from novikoff.numerics.compiled import inlined
from novikoff.numerics.decimals import ONE, U64, ZERO, leading_zeros

SLOTS = 2**14
"""Number of slots of the table; rows with more than half as many entries are left to the caller."""
PROBES = 256
"""Maximum number of slots tried for one entry, so that chosen indices cannot make a row slow."""


@inlined
def merge(
    indices: NDArray[np.uint32], values: NDArray[np.float64], first: np.uint64, last: np.uint64,
    table: NDArray[np.uint32],
) -> np.uint64:  # fmt: skip
    """Sum the values of equal indices, in their order, at the position of the first; return the new end of the row.

    The result is 0 if the caller must do it: for a row that is too long or has too many collisions, or an infinite sum.
    A slot of the table holds one more than a position of this row; a number not above `first` is left from an earlier
    row, and the slot is free.

    Args:
        indices: (entries,) index of each entry, changed.
        values: (entries,) value of each entry, changed.
        first: Position of the first entry of the row.
        last: Position after its last entry.
        table: (SLOTS,) hash table, changed.
    """
    count = last - first
    if count > U64(SLOTS // 2):
        return ZERO
    bits = U64(65) - leading_zeros(count - ONE)  # at most half of 2^bits slots are taken
    mask = (ONE << bits) - ONE
    end = first
    for k in range(first, last):
        index = indices[k]
        slot = (U64(index) * U64(GOLDEN)) >> (U64(64) - bits)
        probes = 0
        while True:
            place = U64(table[slot])
            if place <= first:
                table[slot] = end + ONE
                indices[end] = index
                values[end] = values[k]
                end = end + ONE
                break
            if indices[place - ONE] == index:
                values[place - ONE] += values[k]
                if not math.isfinite(values[place - ONE]):
                    return ZERO
                break
            slot = (slot + ONE) & mask
            probes += 1
            if probes > PROBES:
                return ZERO
    return end
