"""Parsing of delimited text: numeric cells, written row by row, and codes of text values.

Algorithm
    As in entries.py: `places` lists the ends of all cells, 64 bytes at a time; then no cell depends on the one before
    it, and four are read in parallel if they are -D.FFFFFFFF (one digit, a point, one to eight) or up to eight digits.
    A row with any other cell (more digits, exponents, quotes, blanks, missing values) is read again by decimals.py,
    cell by cell. A row that still fails is left to the caller.
    `coded` numbers the values of a text column with a hash table, eight bytes at a time.
The text must end with a new line and be followed by PADDING readable bytes; arrays of numbers need WIDE more entries.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from novikoff.data._loops.entries import (
    BLOCK,
    BYTE,
    INT,
    SAFE,
    WORD,
    Four,
    _data,
    _listed,
    _newlines,
    _ones,
    _returns,
    _store,
    _unaligned,
)
from novikoff.data._loops.entries import PADDING as PADDING
from novikoff.data._loops.entries import WIDE as WIDE
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.decimals import EIGHT, MINUS, NOUGHT, ONE, REAL_POWERS, TEN, TOPS, TWO, U64, ZERO, eight, number

LAST, FIRST = U64(BLOCK), U64(SAFE)
"""Bytes per block, and the first position that the fast path may read."""
BLANK, TAB, RETURN, QUOTE, SMALL = U64(32), U64(9), U64(13), U64(34), U64(32)
"""Characters; SMALL is the bit that makes a letter lower-case."""
N, A = U64(110), U64(97)
THREE = U64(3)
EVERY = U64(15)
"""Mask of the row number: after an irregular row, only every sixteenth row is tried as a plain one."""
TILE = 8
"""Rows and columns of a tile of `transposed`: a cache line has eight doubles."""
MIXED = U64(0x9E3779B97F4A7C15)
"""Odd multiplier of the hash of a text."""
LONGEST_WHOLE = U64(15)
"""Maximum number of digits of an integer that is certainly exact as a double."""


class Parsed(NamedTuple):
    """Rows that were read."""

    x: NDArray[np.float64]  # (rows * cells + WIDE,) numeric cells, row after row
    y: NDArray[np.float64]  # (rows + WIDE,) outcomes
    row_lines: NDArray[np.uint32]  # (rows,) line of each row, from 0
    odd: NDArray[np.uint32]  # (rows,) rows left to the caller; x and y have room for them


@intrinsic
def _same(typing_context: Any, text: Any, at: Any, byte: Any) -> Any:
    """Return a mask of the 64 bytes from `at` on that equal `byte`, as the bits of a word."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = _data(context, builder, signature, arguments, 0)
        block = _unaligned(builder, data, arguments[1], ir.VectorType(BYTE, BLOCK))
        one = builder.insert_element(ir.Constant(block.type, ir.Undefined), builder.trunc(arguments[2], BYTE), INT(0))
        nowhere = ir.Constant(ir.VectorType(INT, BLOCK), [0] * BLOCK)
        all_alike = builder.shuffle_vector(one, one, nowhere)
        return builder.bitcast(builder.icmp_unsigned("==", block, all_alike), WORD)

    return types.uint64(text, types.uint64, types.uint64), build


same: Any = _same
"""same(text, at, byte): mask of the 64 bytes from `at` on that equal `byte`."""


@compiled
def places(
    text: NDArray[np.uint8], end: np.uint64, delimiter: np.uint64, ends: NDArray[np.uint32],
    line_ends: NDArray[np.uint32],
) -> np.uint64:  # fmt: skip
    """List the ends of cells and return the number of lines.

    Line k ends at ends[line_ends[k]]; a carriage return before that also ends a cell.

    Args:
        text: (end + PADDING,) bytes.
        end: Number of bytes to read.
        delimiter: Byte between cells.
        ends: (cells,) out: byte at which each cell ends; room for `end` + WIDE.
        line_ends: (lines,) out: index in `ends` of each line end; room for `end` + WIDE.
    """
    at = count = line = ZERO
    while at < end:
        inside = ~ZERO if end - at >= LAST else (ONE << (end - at)) - ONE  # one bit per byte before `end`
        newlines = _newlines(text, at) & inside
        some = (same(text, at, delimiter) & inside) | newlines | (_returns(text, at) & (newlines >> ONE))
        while newlines != ZERO:
            line_ends[line] = count + _ones(some & ((newlines & (ZERO - newlines)) - ONE))
            line = line + ONE
            newlines &= newlines - ONE
        count = _listed(some, at, ends, count)
        at = at + LAST
    for k in range(U64(WIDE + 1)):  # padding: a vector load reads beyond the last end
        ends[count + k] = SAFE
    return line


@intrinsic
def _four(
    typing_context: Any, text: Any, ends: Any, cell: Any, left: Any, powers: Any, values: Any, at: Any, wrong: Any
) -> Any:
    """Read the four cells after ends[cell] into values[at:].

    An invalid cell sets top bits of bytes in its lane of `wrong`; lanes from `left` on set none.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        four = Four(context, builder, signature, arguments)
        _, _, cell, left, _, _, at, _ = arguments
        following = builder.add(cell, WORD(1))
        length = four.listed(1, following) - four.listed(1, cell) - 1
        value, flaws, count = four.numbers(four.words(1, cell, 1), four.words(1, following, -8), length, powers=4)
        _store(builder, value.value, four.array(5), at)
        four.mark(flaws, count - 1, left, wrong=7)
        return context.get_dummy_value()

    word = types.uint64
    return types.void(text, ends, word, word, powers, values, word, wrong), build


four: Any = _four
"""four(text, ends, cell, left, powers, values, at, wrong), see `_four`."""


@inlined
def run(
    text: NDArray[np.uint8], ends: NDArray[np.uint32], cell: np.uint64, count: np.uint64,
    values: NDArray[np.float64], at: np.uint64, wrong: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Read the `count` cells after ends[cell] into values[at:], four at a time; `wrong` (4,) as in `parse`."""
    for k in range(ZERO, count, U64(WIDE)):
        four(text, ends, cell + k, count - k, REAL_POWERS, values, at + k, wrong)


@inner
def careful(text: NDArray[np.uint8], at: np.uint64, stop: np.uint64, silent: bool) -> tuple[float, bool]:
    """Return the number in a cell and whether it is valid; with `silent`, a missing value is a valid NaN."""
    for _ in range(TWO):  # strip blanks, then a pair of quotes, then the blanks inside them
        while at < stop and (U64(text[at]) == BLANK or U64(text[at]) == TAB):
            at = at + ONE
        while at < stop and (U64(text[stop - ONE]) == BLANK or U64(text[stop - ONE]) == TAB):
            stop = stop - ONE
        if stop - at < TWO or U64(text[at]) != QUOTE or U64(text[stop - ONE]) != QUOTE:
            break
        at = at + ONE
        stop = stop - ONE
    if at == stop:
        return math.nan, silent
    value, behind = number(text, at)
    if behind == stop and behind > at:
        return value, True
    named = (stop - at == TWO or (stop - at == THREE and U64(text[at + TWO]) | SMALL == N)) and (
        U64(text[at]) | SMALL == N and U64(text[at + ONE]) | SMALL == A
    )
    return math.nan, silent and named


@compiled
def parse(
    text: NDArray[np.uint8], lines: np.uint64, width: np.uint64, runs: NDArray[np.uint64], outcome: np.uint64,
    silent: bool, ends: NDArray[np.uint32], line_ends: NDArray[np.uint32], out: Parsed, wrong: NDArray[np.uint64],
) -> tuple[np.uint64, np.uint64]:  # fmt: skip
    """Read rows of `width` cells; return the number of rows and of odd rows. Empty lines are skipped.

    Args:
        text: Bytes of the table.
        lines: Number of lines.
        width: Cells per row.
        runs: (runs, 2) first cell and length of each run of cells for x.
        outcome: Cell for y; `width` if there is none.
        silent: Whether an empty cell, na and nan are valid, and NaN in x.
        ends: (cells,) ends of cells from `places`.
        line_ends: (lines,) line ends from `places`.
        out: Arrays for the rows, written.
        wrong: (4,) buffer for the error flags of four cells.
    """
    x, y, row_lines, odd = out
    rows = odds = cells = ZERO  # cells: number of cells of a row that go to x
    usual = True  # whether the last row was plain; if not, the next rarely is, and the fast path is skipped
    for k in range(len(runs)):
        cells = cells + runs[k, 1]
    for line in range(lines):
        first = U64(line_ends[line - ONE]) + ONE if line else ZERO
        last = U64(line_ends[line])
        start = U64(ends[first - ONE]) + ONE if first else ZERO
        stop = U64(ends[last])
        if stop > start and U64(text[stop - ONE]) == RETURN:  # the row ends before the carriage return
            stop = stop - ONE
            if last > first and U64(ends[last - ONE]) == stop:
                last = last - ONE
        if stop == start:
            continue
        fine = last - first + ONE == width
        if fine:
            tried = start >= FIRST and U64(ends[last]) == stop and (usual or rows & EVERY == ZERO)
            if tried:
                wrong[:] = ZERO
                at = rows * cells
                for k in range(len(runs)):
                    run(text, ends, first - ONE + runs[k, 0], runs[k, 1], x, at, wrong)
                    at = at + runs[k, 1]
                if outcome < width:
                    four(text, ends, first - ONE + outcome, ONE, REAL_POWERS, y, rows, wrong)
                usual = ((wrong[0] | wrong[1] | wrong[2] | wrong[3]) & TOPS) == ZERO
            if not (tried and usual):
                at = rows * cells
                for k in range(len(runs)):
                    for cell in range(first + runs[k, 0], first + runs[k, 0] + runs[k, 1]):
                        begin = U64(ends[cell - ONE]) + ONE if cell else ZERO
                        behind = U64(ends[cell]) if cell < last else stop
                        value, found = number(text, begin)
                        if found != behind or found == begin:
                            value, known = careful(text, begin, behind, silent)
                            fine = fine and known
                        x[at] = value
                        at = at + ONE
                if outcome < width:
                    place = first + outcome
                    begin = U64(ends[place - ONE]) + ONE if place else ZERO
                    value, known = careful(text, begin, U64(ends[place]) if place < last else stop, False)
                    fine = fine and known
                    y[rows] = value
        if not fine:
            odd[odds] = rows
            odds = odds + ONE
        row_lines[rows] = line
        rows = rows + ONE
    return rows, odds


@inlined
def _cell(
    ends: NDArray[np.uint32], line_ends: NDArray[np.uint32], line: np.uint64, column: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return the start and the end of a cell in the text: its place in `ends` follows from the `line_ends` (lines,)."""
    place = column + (U64(line_ends[line - ONE]) + ONE if line else ZERO)
    return U64(ends[place - ONE]) + ONE if place else ZERO, U64(ends[place])


@inlined
def _eight_of(text: NDArray[np.uint8], at: np.uint64, stop: np.uint64) -> np.uint64:
    """Return eight bytes as a word, zero from `stop` on."""
    word = eight(text, at)
    return word if stop - at >= EIGHT else word & ((ONE << ((stop - at) << THREE)) - ONE)


@compiled
def coded(
    text: NDArray[np.uint8], rows: np.uint64, column: np.uint64, ends: NDArray[np.uint32],
    line_ends: NDArray[np.uint32], row_lines: NDArray[np.uint32], known: NDArray[np.int32], codes: NDArray[np.int32],
    values: NDArray[np.uint32],
) -> np.uint64:  # fmt: skip
    """Assign numbers to the values of a column in order of first appearance; return how many there are.

    Args:
        text: Bytes of the table.
        rows: Number of rows.
        column: Column to encode.
        ends: (cells,) ends of cells from `places`.
        line_ends: (lines,) line ends from `places`.
        row_lines: (rows,) line of each row.
        known: (slots,) hash table, all -1; slots is a power of two above the number of rows.
        codes: (rows,) out: number of each row's value.
        values: (values, 2) out: start and end of each value in `text`.
    """
    count, mask = ZERO, U64(len(known)) - ONE
    for row in range(rows):
        begin, stop = _cell(ends, line_ends, U64(row_lines[row]), column)
        slot = stop - begin  # the hash begins with the length of the text
        for at in range(begin, stop, EIGHT):
            slot = (slot ^ _eight_of(text, U64(at), stop)) * MIXED
            slot = slot ^ (slot >> SMALL)
        slot = slot & mask
        while True:  # linear probing
            code = known[slot]
            if code < 0:
                known[slot] = code = np.int32(count)
                values[count, 0] = begin
                values[count, 1] = stop
                count = count + ONE
                break
            other = U64(values[code, 0])
            same = U64(values[code, 1]) - other == stop - begin
            for at in range(begin, stop, EIGHT):
                if not same:
                    break
                same = _eight_of(text, U64(at), stop) == _eight_of(text, other + (at - begin), U64(values[code, 1]))
            if same:
                break
            slot = (slot + ONE) & mask
        codes[row] = code
    return count


@compiled
def whole(
    text: NDArray[np.uint8], rows: np.uint64, column: np.uint64, ends: NDArray[np.uint32],
    line_ends: NDArray[np.uint32], row_lines: NDArray[np.uint32],
) -> bool:  # fmt: skip
    """Return whether all cells of a column are empty or integers short enough to be exact as float64.

    Args:
        text: Bytes of the table.
        rows: Number of rows.
        column: Column to check.
        ends: (cells,) ends of cells from `places`.
        line_ends: (lines,) line ends from `places`.
        row_lines: (rows,) line of each row.
    """
    for row in range(rows):
        at, stop = _cell(ends, line_ends, U64(row_lines[row]), column)
        if at < stop and U64(text[at]) == MINUS:
            at = at + ONE
            if at == stop:
                return False
        if stop - at > LONGEST_WHOLE:
            return False
        while at < stop:
            if U64(text[at]) ^ NOUGHT >= TEN:
                return False
            at = at + ONE
    return True


@compiled
def transposed(columns: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
    """Transpose columns (features, n) to rows (n, features) in tiles, so that each cache line is fetched once."""
    width, height = columns.shape
    for first in range(0, height, TILE):
        for left in range(0, width, TILE):
            for t in range(first, min(first + TILE, height)):
                for j in range(left, min(left + TILE, width)):
                    rows[t, j] = columns[j, t]
