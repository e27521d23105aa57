"""Parsing of Vowpal Wabbit text: `label [importance [base]] ['tag]|namespace[:weight] name[:value] ...`.

The loop stops at the first line that it cannot read: an invalid line, or one with a number that only Python reads
exactly (more than 19 digits). The caller handles that line and calls again after it.

The end of a name (a colon, a bar, or any byte up to a blank) is searched for in eight bytes at a time: in each of three
words of flags the lowest flag is exact, because a borrow only goes up. Only the low 32 bits of the hash are kept.

The text must end with a new line and be followed by decimals.PADDING readable bytes. Room for end/2 entries and end/4
rows is enough: the shortest entry is " a", the shortest row "1 |" and a new line.
Every word is uint64: numba turns an int64 combined with a uint64 into a float.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data._loops.words import finish, mix
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.decimals import (
    EIGHT,
    NOUGHTS,
    ONE,
    POWERS,
    TOPS,
    U64,
    WORD32,
    ZERO,
    digits,
    eight,
    joined,
    number,
    trailing_zeros,
)
from novikoff.numerics.repeats import SLOTS as SLOTS
from novikoff.numerics.repeats import merge

AT, ROWS, ENTRIES, LINES, IGNORED = range(5)
"""Indices in `state`: next byte; rows, entries and lines so far; rows with an ignored importance or base."""

NEWLINE, RETURN, BLANK, TAB, QUOTE, COLON, BAR = U64(10), U64(13), U64(32), U64(9), U64(39), U64(58), U64(124)
FOUR = U64(4)
EACH = U64(0x0101010101010101)
"""The number 1 in each byte."""
ABOVE_BLANK, COLONS, BARS = EACH * U64(0x21), EACH * COLON, EACH * BAR

value_at = inlined(getattr(number, "py_func", number))  # inlined, because a call would count references to the text


@inlined
def name_bytes(word: np.uint64) -> np.uint64:
    """Return the number of leading bytes that belong to a name, 0 to 8."""
    colon = word ^ COLONS
    bar = word ^ BARS
    flags = ((word - ABOVE_BLANK) & ~word) | ((colon - EACH) & ~colon) | ((bar - EACH) & ~bar)
    return trailing_zeros(flags & TOPS) >> U64(3)


@inlined
def named(text: NDArray[np.uint8], at: np.uint64, base: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the hash of the name at `at` in a namespace with hash `base`, and the end of the name.

    The hash of an integer n is base + n, that of any other name its MurmurHash3 with seed `base`.
    """
    start = at
    h = base
    whole = ZERO
    plain: Any = True  # whether all characters so far are digits
    while True:
        word = eight(text, at)
        n = name_bytes(word)
        plain = plain and digits(word ^ NOUGHTS) >= n
        if n < EIGHT:
            break
        if plain:
            whole = whole * POWERS[8] + joined(word ^ NOUGHTS, EIGHT)
        h = mix(mix(h, word & WORD32), word >> U64(32))
        at = at + EIGHT
    at = at + n
    if plain:
        if n > ZERO:
            whole = whole * POWERS[n] + joined(word ^ NOUGHTS, n)
        return (base + whole) & WORD32, at
    word = word & ((ONE << (n << U64(3))) - ONE)
    if n >= FOUR:
        h = mix(h, word & WORD32)
        word = word >> U64(32)
    return finish(h, word, at - start), at


@inlined
def line_end(text: NDArray[np.uint8], at: np.uint64) -> np.uint64:
    """Return the start of the next line if nothing is left of this one; otherwise 0."""
    if U64(text[at]) == RETURN:
        at = at + ONE
    return at + ONE if U64(text[at]) == NEWLINE else ZERO


@inlined
def head(text: NDArray[np.uint8], at: np.uint64, ignore: bool) -> tuple[float, np.uint64, bool]:
    """Return the label, the position of the first bar, and whether an importance or base was ignored.

    The position is 0 if the line is left to the caller.
    """
    label, stop = number(text, at)
    ignored: Any = False
    if stop == at:
        return 0.0, ZERO, ignored
    numbers = 0
    while True:
        if U64(text[stop]) != BLANK:
            return 0.0, ZERO, ignored
        at = stop
        while U64(text[at]) == BLANK:
            at = at + ONE
        c = U64(text[at])
        if c == BAR:
            return label, at, ignored
        stop = at
        while U64(text[stop]) > BLANK and U64(text[stop]) != BAR:
            stop = stop + ONE
        if U64(text[stop]) == BAR:  # a token that touches the bar is a tag
            return label, stop, ignored
        if c == QUOTE:
            while U64(text[stop]) == BLANK:
                stop = stop + ONE
            return label, stop if U64(text[stop]) == BAR else ZERO, ignored
        x, end = number(text, at)
        if end != stop or numbers == 2:
            return 0.0, ZERO, ignored
        if x != (1.0 if numbers == 0 else 0.0):
            if not ignore:
                return 0.0, ZERO, ignored
            ignored = True
        numbers += 1


@inlined
def features(
    text: NDArray[np.uint8], at: np.uint64, mask: np.uint64, entries: np.uint64, indices: NDArray[np.uint32],
    values: NDArray[np.float64],
) -> tuple[np.uint64, np.uint64, bool]:  # fmt: skip
    """Read the features of a line after its first bar.

    Args:
        text: (bytes,) text.
        at: Position after the bar.
        mask: 2^bits - 1.
        entries: Number of entries so far.
        indices: (entries,) out: hashed feature indices.
        values: (entries,) out: values.

    Returns:
        Start of the next line (0 if the line is left to the caller), number of entries, and whether the indices are
        strictly increasing.
    """
    least = ZERO  # one more than the last index
    rising: Any = True
    while True:  # namespace by namespace
        base = ZERO
        weight = 1.0
        nameless = ZERO  # number of features without a name in this namespace
        c = U64(text[at])
        if c > BLANK and c != BAR:
            if c == COLON:
                return ZERO, entries, rising
            base, at = named(text, at, ZERO)
            if U64(text[at]) == COLON:
                weight, stop = number(text, at + ONE)
                if stop == at + ONE:
                    return ZERO, entries, rising
                at = stop
        while True:  # feature by feature
            c = U64(text[at])
            if c not in (BLANK, TAB):
                break
            at = at + ONE
            c = U64(text[at])
            if c <= BLANK or c == BAR:
                continue
            if c == COLON:
                index = base + nameless
                nameless = nameless + ONE
            else:
                index, at = named(text, at, base)
            index = index & mask
            value = weight
            if U64(text[at]) == COLON:
                value, stop = value_at(text, at + ONE)
                if stop == at + ONE:
                    return ZERO, entries, rising
                at = stop
                value = value * weight
                if not math.isfinite(value):
                    return ZERO, entries, rising
            indices[entries] = index
            values[entries] = value
            entries = entries + ONE
            rising = rising and index >= least
            least = index + ONE
        if c != BAR:
            return line_end(text, at), entries, rising
        at = at + ONE


@compiled
def parse(
    text: NDArray[np.uint8], end: np.uint64, mask: np.uint64, ignore: bool, state: NDArray[np.uint64],
    labels: NDArray[np.float64], row_lines: NDArray[np.uint32], indptr: NDArray[np.uint64],
    indices: NDArray[np.uint32], values: NDArray[np.float64], table: NDArray[np.uint32],
) -> None:  # fmt: skip
    """Read lines from state[AT] to `end` or to the first line left to the caller.

    Args:
        text: (end + PADDING,) bytes.
        end: Number of bytes to read.
        mask: 2^bits - 1.
        ignore: Whether to ignore an importance other than 1 and a base other than 0.
        state: (5,) progress, changed.
        labels: (rows,) out: labels.
        row_lines: (rows,) out: line of each row, from 0.
        indptr: (rows + 1,) out: first entry of each row.
        indices: (entries,) out: hashed feature indices.
        values: (entries,) out: values.
        table: (SLOTS,) hash table for repeats; all 0 at the start and after a line left to the caller.
    """
    at = state[AT]
    rows = state[ROWS]
    entries = state[ENTRIES]
    lines = state[LINES]
    odd = state[IGNORED]
    while at < end:
        start = at
        while U64(text[at]) == BLANK:
            at = at + ONE
        next_line = line_end(text, at)
        if next_line == ZERO:
            label, bar, ignored = head(text, at, ignore)
            last = entries
            if bar != ZERO:
                next_line, last, rising = features(text, bar + ONE, mask, entries, indices, values)
                if next_line != ZERO and not rising:
                    last = merge(indices, values, entries, last, table)
                    if last == ZERO:
                        next_line = ZERO
            if next_line == ZERO:
                at = start
                break
            labels[rows] = label
            row_lines[rows] = lines
            rows = rows + ONE
            indptr[rows] = last
            entries = last
            odd = odd + U64(ignored)
        lines = lines + ONE
        at = next_line
    state[AT] = at
    state[ROWS] = rows
    state[ENTRIES] = entries
    state[LINES] = lines
    state[IGNORED] = odd
