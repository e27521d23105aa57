"""Parsing of `label<TAB>message` lines to rows of word counts, a chunk of whole lines at a time.

A word is a maximal run of ASCII letters, digits and non-ASCII bytes (so UTF-8 is not decoded), with ASCII letters in
lower case. Its index is the low bits of its MurmurHash3 x86_32 (Austin Appleby) with seed 0; each text column of a
table has another seed.
Equal indices in a row, from one word or from a collision, are one entry: its value is their count.

The entries of a row are looked up by open addressing in `table`, which holds positions in `indices`, plus `past`, the
number of entries of earlier chunks. A position before the first of the row is left from an earlier row and counts as
empty, so the table, initially -1, is never cleared.
The hash is computed in uint64 and masked: products of two 32-bit words fit, so the plain-Python twin is exact too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
NO_TAB, NO_LABEL = 0, 1
"""Codes of the faults of a line."""

# Lower-case form of each byte that belongs to a word; 0 for bytes outside words
LOWER = np.array([c + 32 if 65 <= c <= 90 else c for c in range(256)], dtype=np.uint8)
LOWER[[c for c in range(128) if not chr(c).isalnum()]] = 0

U = np.uint64
LOW = U(0xFFFFFFFF)


@inlined
def scramble(four: np.uint64) -> np.uint64:
    """Return four bytes as MurmurHash3 prepares them for mixing."""
    four = (four * U(0xCC9E2D51)) & LOW
    four = ((four << U(15)) | (four >> U(17))) & LOW
    return (four * U(0x1B873593)) & LOW


@inlined
def mix(h: np.uint64, four: np.uint64) -> np.uint64:
    """Return the MurmurHash3 state after four more bytes."""
    h ^= scramble(four)
    h = ((h << U(13)) | (h >> U(19))) & LOW
    return (h * U(5) + U(0xE6546B64)) & LOW


@inlined
def finish(h: np.uint64, rest: np.uint64, length: np.uint64) -> np.uint64:
    """Return the hash of a word of `length` bytes, the last 0 to 3 of which are `rest`."""
    h ^= scramble(rest) ^ length
    h = ((h ^ (h >> U(16))) * U(0x85EBCA6B)) & LOW
    h = ((h ^ (h >> U(13))) * U(0xC2B2AE35)) & LOW
    return h ^ (h >> U(16))


@inlined
def add_entry(
    index: np.uint64, slots: np.uint64, table: NDArray[np.int64], past: int,
    indices: NDArray[np.uint32], values: NDArray[np.float64], first: int, end: int,
) -> int:  # fmt: skip
    """Add 1 to the count of an index in the row with entries first .. end-1; return the new end.

    Args:
        index: Hashed word.
        slots: Number of slots in use, minus 1.
        table: (slots,) hash table, changed.
        past: Number of entries of earlier chunks.
        indices: (entries,) index of each entry, changed.
        values: (entries,) count of each entry, changed.
        first: First entry of the row.
        end: End of the row.
    """
    slot = index & slots
    at = table[slot] - past
    while at >= first and U(indices[at]) != index:
        slot = (slot + U(1)) & slots
        at = table[slot] - past
    if at >= first:
        values[at] += 1.0
        return end
    table[slot] = past + end
    indices[end] = index
    values[end] = 1.0
    return end + 1


@inlined
def count_words(
    data: NDArray[np.uint8], start: int, stop: int, mask: np.uint64, table: NDArray[np.int64], past: int,
    indices: NDArray[np.uint32], values: NDArray[np.float64], first: int, seed: np.uint64,
) -> int:  # fmt: skip
    """Write the entries of the message data[start:stop] from position `first` on; return their end.

    `table`, `indices` and `values` (room,) are those of `add_entry`; `mask` is 2^bits - 1, `seed` that of the hash.
    """
    room = U(2)
    while room < U(stop - start + 2):  # at most (length + 1) / 2 words: the table is never more than half full
        room += room
    slots = room - U(1)
    end = first
    h = seed  # hash of the word so far, without the bytes in `four`, which has shift / 8 of them
    four = U(0)
    shift = U(0)
    length = U(0)
    for i in range(U(start), U(stop)):
        c = U(LOWER[data[i]])
        if c != U(0):
            four |= c << shift
            shift += U(8)
            length += U(1)
            if shift == U(32):
                h = mix(h, four)
                four = U(0)
                shift = U(0)
        elif length != U(0):
            end = add_entry(finish(h, four, length) & mask, slots, table, past, indices, values, first, end)
            h = seed
            four = U(0)
            shift = U(0)
            length = U(0)
    if length != U(0):
        end = add_entry(finish(h, four, length) & mask, slots, table, past, indices, values, first, end)
    return end


@inlined
def same_bytes(data: NDArray[np.uint8], a: int, b: int, length: int) -> bool:
    """Return whether the `length` bytes of `data` (bytes,) at a and b are equal."""
    for j in range(length):
        if data[a + j] != data[b + j]:
            return False
    return True


@compiled
def read_lines(
    data: NDArray[np.uint8], mask: np.uint64, table: NDArray[np.int64], past: int,
    indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: NDArray[np.float64],
    codes: NDArray[np.int64], lines: NDArray[np.int64], labels: NDArray[np.int64], bad: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Read lines until `data`, `labels` or `bad` is exhausted.

    Args:
        data: (bytes,) whole lines.
        mask: 2^bits - 1.
        table: (slots,) hash table, changed; slots is a power of two above the length of the longest line.
        past: Number of entries of earlier chunks, the offset of positions in `table`.
        indptr: (rows + 1,) out: row r has entries indptr[r] .. indptr[r+1].
        indices: (entries,) out: hashed words.
        values: (entries,) out: word counts.
        codes: (rows,) out: row of `labels` for each row.
        lines: (rows,) out: line of each row, from 0.
        labels: (labels, 2) out: start and end in `data` of each distinct label.
        bad: (bad lines, 2) out: line number and fault, NO_TAB or NO_LABEL.
        counts: (5,) out: numbers of rows, labels, bad lines, lines and bytes read.
    """
    rows = 0
    known = 0
    bads = 0
    line = 0
    at = 0
    end = 0
    indptr[0] = 0
    size = len(data)
    while at < size and known < len(labels) and bads < len(bad):
        begin = at
        tab = -1
        blank = True
        while at < size and data[at] != NEWLINE:
            c = data[at]
            if c == TAB:
                if tab < 0:
                    tab = at
            elif c not in (SPACE, RETURN):
                blank = False
                if tab >= 0:
                    break
            at += 1
        while at < size and data[at] != NEWLINE:
            at += 1
        stop = at
        at += 1  # after the new line; after the end if the last line has none
        line += 1
        if blank:
            continue
        left = begin
        right = tab
        while left < right and data[left] == SPACE:
            left += 1
        while right > left and data[right - 1] == SPACE:
            right -= 1
        if tab < 0 or left == right:
            bad[bads, 0] = line - 1
            bad[bads, 1] = NO_TAB if tab < 0 else NO_LABEL
            bads += 1
            continue
        code = 0
        while code < known and not (
            labels[code, 1] - labels[code, 0] == right - left and same_bytes(data, labels[code, 0], left, right - left)
        ):
            code += 1
        if code == known:
            labels[known, 0] = left
            labels[known, 1] = right
            known += 1
        end = count_words(data, tab + 1, stop, mask, table, past, indices, values, end, U(0))
        codes[rows] = code
        lines[rows] = line - 1
        rows += 1
        indptr[rows] = end
    counts[0] = rows
    counts[1] = known
    counts[2] = bads
    counts[3] = line
    counts[4] = min(at, size)


@compiled
def count_messages(
    data: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], seed: np.uint64, mask: np.uint64,
    table: NDArray[np.int64], indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: NDArray[np.float64],
) -> None:  # fmt: skip
    """Count the words of the messages data[starts[r]:stops[r]].

    Args:
        data: (bytes,) text.
        starts: (rows,) start of each message.
        stops: (rows,) end of each message.
        seed: Seed of the hash.
        mask: 2^bits - 1.
        table: (slots,) hash table, all -1; slots is a power of two above the length of the longest message.
        indptr: (rows + 1,) out: row r has entries indptr[r] .. indptr[r+1].
        indices: (entries,) out: hashed words.
        values: (entries,) out: word counts.
    """
    end = 0
    indptr[0] = 0
    for r in range(len(starts)):
        end = count_words(data, starts[r], stops[r], mask, table, 0, indices, values, end, seed)
        indptr[r + 1] = end


@compiled
def merge_rows(
    indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: NDArray[np.float64], table: NDArray[np.int64]
) -> None:
    """Sum entries with the same index within each row, in place; later rows move left.

    Args:
        indptr: (rows + 1,) first entry of each row, changed.
        indices: (entries,) feature indices, changed.
        values: (entries,) values, changed.
        table: (slots,) all -1; slots is a power of two, at least twice the entries of the longest row.
    """
    slots = U(len(table) - 1)
    end = 0
    start = np.int64(indptr[0])
    for r in range(len(indptr) - 1):
        stop = np.int64(indptr[r + 1])
        first = end
        indptr[r] = first
        for k in range(start, stop):
            slot = U(indices[k]) & slots
            at = table[slot]
            while at >= first and indices[at] != indices[k]:
                slot = (slot + U(1)) & slots
                at = table[slot]
            if at >= first:
                values[at] += values[k]
            else:
                table[slot] = end
                indices[end] = indices[k]
                values[end] = values[k]
                end += 1
        start = stop
    indptr[len(indptr) - 1] = end
