"""Bins of stored rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import borrowing
from novikoff.trees._loops.cuts import bin_of


@borrowing
def code(
    stored: NDArray[np.float64], skipped: int, kinds: NDArray[np.int8], edges: NDArray[np.float64], first: int,
    begin: int, stop: int, codes: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Write the bins of the rows begin .. stop - 1, counted from the stored row `first`.

    Args:
        stored: (capacity, skipped + d) ring of stored rows; row number i is at i % capacity.
        skipped: Leading columns that are not used.
        kinds: (d,) 0 for numbers, 1 for categories.
        edges: (d, ROOM) edges of the bins.
        first: Number of the first row.
        begin: First row to write.
        stop: Row to stop before.
        codes: (d, rows) Out.
    """
    for i in range(begin, stop):
        row = stored[(first + i) % len(stored)]
        for j in range(len(kinds)):
            codes[j, i] = bin_of(row[skipped + j], kinds[j] == 1, edges[j])
