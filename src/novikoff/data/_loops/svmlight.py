"""Parsing of svmlight text: `label [qid:N] index:value index:value ... [# comment]`, line by line.

Lines that have only plain numbers are read by entries.py, four entries at a time, the others here, byte by byte.
`parse` reads plain lines only: most files have no others, and it compiles in a quarter of the time.
Both loops stop at the first line that they cannot read: for `parse_all`, an invalid line, or one with a number that
only Python reads exactly (more than 19 digits). The caller handles that line and calls again after it.

The text must end with a new line and be followed by PADDING readable bytes. There is at most one entry per colon and
one row per line; the arrays of entries need room for entries.WIDE more.
Every word is uint64: numba turns an int64 combined with a uint64 into a float.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data._loops.entries import PADDING as PADDING
from novikoff.data._loops.entries import SAFE as FIRST_PLACES
from novikoff.data._loops.entries import WIDE as WIDE
from novikoff.data._loops.entries import places as places
from novikoff.data._loops.entries import regular, rising
from novikoff.data.layout import LARGEST_FILE_INDEX
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.decimals import (
    EIGHT,
    MINUS,
    NOUGHTS,
    ONE,
    PLUS,
    POINT,
    POWERS,
    REAL_POWERS,
    TWO,
    U64,
    WORD32,
    ZERO,
    digits,
    eight,
    joined,
    number,
)
from novikoff.numerics.repeats import SLOTS as SLOTS
from novikoff.numerics.repeats import merge

AT, ROWS, ENTRIES, LINES, WIDTH = range(5)
"""Indices in `state`: next byte; rows, entries and lines so far; largest feature index + 1."""


class Separators(NamedTuple):
    """Separators that entries.places found: line k ends at line_colons[k] and line_blanks[k]."""

    colons: NDArray[np.uint32]  # (colons,) position of each colon
    blanks: NDArray[np.uint32]  # (blanks and new lines,) position of each blank
    line_colons: NDArray[np.uint32]  # (lines,) number of colons up to the end of each line
    line_blanks: NDArray[np.uint32]  # (lines,) index in `blanks` of each line end


class Parsed(NamedTuple):
    """Rows that were read, in arrays sized by the text (see above)."""

    labels: NDArray[np.float64]  # (rows,)
    row_lines: NDArray[np.uint32]  # (rows,) line of each row, from 0
    indptr: NDArray[np.uint64]  # (rows + 1,)
    indices: NDArray[np.uint32]  # (entries,)
    values: NDArray[np.float64]  # (entries,)


NEWLINE, RETURN, BLANK, TAB, HASH, COLON = U64(10), U64(13), U64(32), U64(9), U64(35), U64(58)
QID = U64(0x3A646971)
"""The characters "qid:" as a little-endian word."""
LARGEST = U64(LARGEST_FILE_INDEX)
SAFE = U64(FIRST_PLACES)

value_at = inlined(getattr(number, "py_func", number))  # inlined, because a call would count references to the text


@inlined
def fields(
    text: NDArray[np.uint8], at: np.uint64, entries: np.uint64, indices: NDArray[np.uint32],
    values: NDArray[np.float64],
) -> tuple[np.uint64, np.uint64, np.uint64, bool]:  # fmt: skip
    """Read the entries of a line after its label.

    Args:
        text: (bytes,) text.
        at: Position after the label.
        entries: Number of entries so far.
        indices: (entries,) out: feature indices.
        values: (entries,) out: values.

    Returns:
        Start of the next line (0 if the line is left to the caller), number of entries, largest index + 1, and whether
        the indices are strictly increasing.
    """
    width = ZERO
    least = ZERO  # one more than the last index
    rising: Any = True
    fresh = True  # whether there was no field yet: only the first one may be qid
    while True:
        c = U64(text[at])
        if c not in (BLANK, TAB):
            break
        at = at + ONE
        word = eight(text, at)
        n = digits(word ^ NOUGHTS)
        if n == ZERO:
            if fresh and word & WORD32 == QID:
                at = at + U64(4)
                n = digits(eight(text, at) ^ NOUGHTS)
                if n in (ZERO, EIGHT):
                    return ZERO, entries, width, rising
                at = at + n
                fresh = False
            continue
        index = joined(word ^ NOUGHTS, n)
        at = at + n
        if n == EIGHT:  # an index has up to ten digits
            word = eight(text, at) ^ NOUGHTS
            n = digits(word)
            if n > TWO:
                return ZERO, entries, width, rising
            if n > ZERO:
                index = index * POWERS[n] + joined(word, n)
                at = at + n
            if index > LARGEST:
                return ZERO, entries, width, rising
        if U64(text[at]) != COLON:
            return ZERO, entries, width, rising
        at = at + ONE
        values[entries], stop = value_at(text, at)
        if stop == at:
            return ZERO, entries, width, rising
        at = stop
        indices[entries] = index
        entries = entries + ONE
        rising = rising and index >= least
        least = index + ONE
        width = max(width, least)
        fresh = False
    return line_end(text, at), entries, width, rising


@inlined
def line_end(text: NDArray[np.uint8], at: np.uint64) -> np.uint64:
    """Return the start of the next line if only a comment is left of this one; otherwise 0."""
    c = U64(text[at])
    if c == HASH:
        while U64(text[at]) != NEWLINE:
            at = at + ONE
        return at + ONE
    if c == RETURN:
        at = at + ONE
        c = U64(text[at])
    return at + ONE if c == NEWLINE else ZERO


@inlined
def plain_number(text: NDArray[np.uint8], at: np.uint64) -> tuple[float, np.uint64]:
    """Return a number of up to eight digits, or up to seven, a point and up to eight, and its end; else end = `at`."""
    start = at
    c = U64(text[at])
    if c in (MINUS, PLUS):
        at = at + ONE
    word = eight(text, at) ^ NOUGHTS
    n = digits(word)
    if n == ZERO:
        return 0.0, start
    m = joined(word, n)
    at = at + n
    tenths = ZERO
    if n < EIGHT and U64(text[at]) == POINT:
        word = eight(text, at + ONE) ^ NOUGHTS
        tenths = digits(word)
        if tenths == ZERO:
            return 0.0, start
        m = m * POWERS[tenths] + joined(word, tenths)
        at = at + ONE + tenths
    value = np.float64(np.int64(m)) / REAL_POWERS[tenths]
    return (-value if c == MINUS else value), at


@compiled
def parse(
    text: NDArray[np.uint8], end: np.uint64, state: NDArray[np.uint64], found: Separators, out: Parsed,
    wrong: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Read plain lines from state[AT] to `end` or to the first line that is not plain.

    Indices of a plain line are strictly increasing.

    Args:
        text: (end + PADDING,) bytes.
        end: Number of bytes to read.
        state: (5,) progress, changed.
        found: Separators of the text.
        out: Arrays for the rows, written.
        wrong: (WIDE,) buffer for the error flags of four entries.
    """
    colons, blanks, line_colons, line_blanks = found
    labels, row_lines, indptr, indices, values = out
    at = state[AT]
    rows = state[ROWS]
    entries = state[ENTRIES]
    lines = state[LINES]
    width = state[WIDTH]
    # The first lines are read entry by entry, because `regular` loads bytes before a separator.
    while at < SAFE and at < end:
        label, stop = plain_number(text, at)
        last = entries
        reach = ZERO
        plain = stop != at
        while plain and U64(text[stop]) == BLANK:
            word = eight(text, stop + ONE) ^ NOUGHTS
            n = digits(word)
            at_value = stop + n + TWO
            index = joined(word, n) if n > ZERO else ZERO
            value, stop = plain_number(text, at_value)
            plain = ZERO < n < EIGHT and U64(text[at_value - ONE]) == COLON and stop != at_value and index >= reach
            indices[last] = index
            values[last] = value
            last = last + ONE
            reach = index + ONE
        if not plain or last == entries or U64(text[stop]) != NEWLINE:
            break
        width = reach if reach > width else width
        labels[rows] = label
        row_lines[rows] = lines
        rows = rows + ONE
        indptr[rows] = last
        entries = last
        lines = lines + ONE
        at = stop + ONE
    if at >= SAFE:
        colon = U64(line_colons[lines - ONE])
        blank = U64(line_blanks[lines - ONE]) + ONE
        while at < end:
            last_colon = U64(line_colons[lines])
            last_blank = U64(line_blanks[lines])
            last = entries + (last_colon - colon)
            label, stop = plain_number(text, at)
            if stop == at or stop != U64(blanks[blank]):
                break
            if not regular(text, colons, blanks, colon, last_colon, blank, last_blank, indices, values, entries, wrong):
                break
            if not rising(indices, entries, last):
                break
            reach = U64(indices[last - ONE]) + ONE
            width = reach if reach > width else width
            labels[rows] = label
            row_lines[rows] = lines
            rows = rows + ONE
            indptr[rows] = last
            entries = last
            lines = lines + ONE
            at = U64(blanks[last_blank]) + ONE
            colon = last_colon
            blank = last_blank + ONE
    state[AT] = at
    state[ROWS] = rows
    state[ENTRIES] = entries
    state[LINES] = lines
    state[WIDTH] = width


@compiled
def parse_all(
    text: NDArray[np.uint8], end: np.uint64, state: NDArray[np.uint64], found: Separators, out: Parsed,
    wrong: NDArray[np.uint64], table: NDArray[np.uint32],
) -> None:  # fmt: skip
    """Read lines of all kinds from state[AT] to `end` or to the first line left to the caller.

    Args:
        text: (end + PADDING,) bytes.
        end: Number of bytes to read.
        state: (5,) progress, changed.
        found: Separators of the text.
        out: Arrays for the rows, written.
        wrong: (WIDE,) buffer for the error flags of four entries.
        table: (SLOTS,) hash table for repeated indices (numerics/repeats.py), initially all 0.
    """
    colons, blanks, line_colons, line_blanks = found
    labels, row_lines, indptr, indices, values = out
    at = state[AT]
    rows = state[ROWS]
    entries = state[ENTRIES]
    lines = state[LINES]
    width = state[WIDTH]
    while at < end:
        start = at
        colon = U64(line_colons[lines - ONE]) if lines else ZERO
        blank = U64(line_blanks[lines - ONE]) + ONE if lines else ZERO
        last_colon = U64(line_colons[lines])
        last_blank = U64(line_blanks[lines])
        next_line = U64(blanks[last_blank]) + ONE
        label, stop = number(text, at)
        if (
            stop == U64(blanks[blank]) and stop > at and at >= SAFE
            and regular(text, colons, blanks, colon, last_colon, blank, last_blank, indices, values, entries, wrong)
        ):  # fmt: skip
            last = entries + (last_colon - colon)
            in_order = rising(indices, entries, last)
            least_width = U64(indices[last - ONE]) + ONE
            if not in_order:
                for k in range(entries, last):
                    least_width = max(least_width, U64(indices[k]) + ONE)
        else:
            c = U64(text[at])
            while c in (BLANK, TAB):
                at = at + ONE
                c = U64(text[at])
            if line_end(text, at) != ZERO:
                lines = lines + ONE
                at = next_line
                continue
            label, stop = number(text, at)
            if stop == at:
                at = start
                break
            next_line, last, least_width, in_order = fields(text, stop, entries, indices, values)
            if next_line == ZERO:
                at = start
                break
        if not in_order:
            last = merge(indices, values, entries, last, table)
            if last == ZERO:
                at = start
                break
        labels[rows] = label
        row_lines[rows] = lines
        rows = rows + ONE
        indptr[rows] = last
        entries = last
        width = max(width, least_width)
        lines = lines + ONE
        at = next_line
    state[AT] = at
    state[ROWS] = rows
    state[ENTRIES] = entries
    state[LINES] = lines
    state[WIDTH] = width
