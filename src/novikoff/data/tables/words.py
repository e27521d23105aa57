"""Rows of counted words, and rows put side by side: for tables whose features are hashed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.core.types import Sparse


def counted(
    data: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], seed: int, bits: int
) -> Sparse:  # fmt: skip
    """The words of each message data[start:stop], hashed with that seed, and how often each occurs."""
    from novikoff.data._loops.words import count_messages

    lengths = stops - starts
    room = int(lengths.sum()) // 2 + len(starts) + 1
    longest = int(lengths.max(initial=0))
    table = np.full(1 << (longest + 1).bit_length(), -1, dtype=np.int64)
    ends, indices, values = np.empty(len(starts) + 1, np.uint64), np.empty(room, np.uint32), np.empty(room)
    count_messages(data, starts, stops, np.uint64(seed), np.uint64(2**bits - 1), table, ends, indices, values)
    entries = int(ends[-1])
    return Sparse(ends, indices[:entries], values[:entries], 2**bits, checked=True)


def beside(left: Sparse, right: Sparse) -> Sparse:
    """Rows with the entries of both."""
    ends = left.indptr + right.indptr
    indices, values = np.empty(int(ends[-1]), np.uint32), np.empty(int(ends[-1]))
    for part, shift in ((left, right.indptr[:-1]), (right, left.indptr[1:])):
        entries = int(part.indptr[-1])
        at = np.arange(entries) + np.repeat(shift.astype(np.int64), np.diff(part.indptr).astype(np.int64))
        indices[at], values[at] = part.indices[:entries], part.values[:entries]
    return Sparse(ends, indices, values, left.width, checked=True)


def merged(rows: Sparse) -> Sparse:
    """The same rows with entries of one index added up."""
    from novikoff.data._loops.words import merge_rows

    longest = int(np.diff(rows.indptr).max(initial=0))
    table = np.full(1 << (2 * longest + 1).bit_length(), -1, dtype=np.int64)
    ends, indices, values = rows.indptr.copy(), rows.indices.copy(), rows.values.copy()
    merge_rows(ends, indices, values, table)
    entries = int(ends[-1])
    return Sparse(ends, indices[:entries], values[:entries], rows.width, checked=True)
