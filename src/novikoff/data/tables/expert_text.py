"""Tables of predictions in text: rows of cells (CSV, TSV), read as numbers.

Order
    The text is cut behind a new line into chunks. Threads read what is plain numbers; rows with anything else are read
    by Python as their turn comes. Neither chunks nor threads change a number.
Cost
    One pass, and a few chunks of memory, whatever the size of the file.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import SourceError, Where
from novikoff.core.executors import cores
from novikoff.core.types import Position
from novikoff.data.formats.buffer_pool import BufferPool, OwnArrays
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, PADDING, in_order
from novikoff.data.formats.line_chunks import Little
from novikoff.data.formats.opened import Opened
from novikoff.data.formats.origin import Origin
from novikoff.data.layout import runs
from novikoff.data.tables.expert_cells import FIRST_TEXT, Chosen, Values
from novikoff.data.tables.expert_stream import Rounds


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A chunk as arrays: `odd` rows are still to be read, from `text`. `row_lines` are lines of the chunk, from 0."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    row_lines: NDArray[np.uint32]
    odd: NDArray[np.uint32]
    text: bytearray
    lines: int
    size: int
    used: int


class Cells:
    """Rows of cells between `delimiter`s.

    begin    lines and bytes before the first row
    width    cells in a row
    text     may cells be other than numbers?
    chunk    bytes parsed at a time; a row may be longer
    """

    rows: int | None = None

    def __init__(
        self, origin: Origin, chosen: Chosen, begin: tuple[int, int], width: int, delimiter: str, sleeping: bool,
        text: bool, threads: int | None = None, chunk: int = CHUNK_BYTES,
    ) -> None:  # fmt: skip
        self._origin, self._chosen, self._begin = origin, chosen, begin
        self._width, self._delimiter, self._sleeping, self._text = width, delimiter, sleeping, text
        self._threads, self._chunk = cores() if threads is None else threads, chunk
        self.name, self.rereadable, self.fixed = origin.name, origin.rereadable, origin.fixed
        self.fingerprint = origin.fingerprint
        self._places = OwnArrays(lambda size: [np.empty(size + PADDING, np.uint32) for _ in range(2)])
        self._buffers, self._little = BufferPool(), Little()
        self._runs = runs(chosen.used)

    def count(self) -> int | None:
        """How many rows there are; None if that can be known only by playing them."""
        if not self._origin.independent:
            return None
        with self._origin.open(self._begin[1]) as opened:
            rows, last = 0, b""
            while piece := opened.read(self._chunk):
                lines = (last + piece).split(b"\n")
                last = lines.pop()
                rows += sum(line not in (b"", b"\r") for line in lines)
            return rows + (last not in (b"", b"\r"))

    def rounds(self, start: Position | None, values: Values) -> Iterator[Rounds]:
        line, byte = (start["line"], start["byte"]) if start else self._begin
        with self._origin.open(byte) as opened:
            free: deque[bytearray] = deque()
            for block in self._blocks(opened, byte == 0, free):
                rows, error = self._finish(block, line, values)
                where = _where(block.row_lines, line)
                line, byte = line + block.lines, byte + block.used
                y = None if self._chosen.outcome is None else block.y[:rows]
                yield Rounds(block.x[:rows], y, {"line": line, "byte": byte}, where, error)
                free.append(block.text)

    def _finish(self, block: Block, before: int, values: Values) -> tuple[int, SourceError | None]:
        """Read the odd rows; how many rows there are before one that is wrong, and what is."""
        if not len(block.odd):
            return len(block.row_lines), None
        lines = bytes(memoryview(block.text)[: block.size]).split(b"\n")
        for row in block.odd.tolist():
            number = int(block.row_lines[row])
            try:
                block.x[row], y = values.row(self._cells(lines[number].removesuffix(b"\r")), self._chosen)
                if len(block.y):
                    block.y[row] = y
            except SourceError as error:
                return row, error.at(line=before + number + 1, source=self.name)
        return len(block.row_lines), None

    def _blocks(self, opened: Opened, at_start: bool, free: deque[bytearray]) -> Iterator[Block]:
        """The chunks, parsed by threads, in order; none waits here for a pipe that is silent."""
        return in_order(opened, self._chunk, at_start, free, self._block, self._threads, "experts")

    def _cells(self, line: bytes) -> list[str]:
        """The cells of a line, by Python's own reader."""
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise SourceError("text must be UTF-8", "is not", "Convert the file first.") from None
        if "\0" in text:
            raise SourceError("text must be without zero bytes", "has one", "Convert the file, or clean the row.")
        try:
            found = next(csv.reader([text], delimiter=self._delimiter, strict=True), [])
        except csv.Error as error:
            raise SourceError("a row must be readable", f"is not ({error})", "Is a quote left open?") from None
        if len(found) != self._width:
            must = f"every row must have {self._width:,} cells, as the first has"
            raise SourceError(must, f"has {len(found):,}", "Complete or drop the row.")
        return found

    def _block(self, text: bytearray, size: int, added: int) -> Block:
        """The rows of a chunk; those of plain numbers are read, four cells at a time."""
        if self._little(size):
            return _left_to_python(text, size, added, len(self._chosen.used))
        from novikoff.data._loops import cells as kernel

        ends, line_ends = self._places(size)
        data = np.frombuffer(text, dtype=np.uint8)
        lines = int(kernel.places(data, np.uint64(size), np.uint64(ord(self._delimiter)), ends, line_ends))
        experts, outcome = len(self._chosen.used), self._chosen.outcome
        x, y, row_lines, odd = self._buffers.arrays(
            (lines * experts + kernel.WIDE, np.float64), (lines + kernel.WIDE, np.float64), (lines, np.uint32),
            (lines, np.uint32),
        )  # fmt: skip
        rows, odds = map(int, kernel.parse(
            data, np.uint64(lines), np.uint64(self._width), self._runs,
            np.uint64(self._width if outcome is None else outcome), self._sleeping, ends, line_ends, x, y, row_lines,
            odd, np.zeros(4, np.uint64),
        ))  # fmt: skip
        table, left = x[: rows * experts].reshape(rows, experts), odd[:odds]
        if self._text and any(_large(numbers) for numbers in (table, y[:rows]) if len(numbers)):
            large = (np.abs(table) >= FIRST_TEXT).any(axis=1) | (np.abs(y[:rows]) >= FIRST_TEXT)
            left = np.union1d(left, np.flatnonzero(large)).astype(np.uint32)  # Python says what is wrong with them
        return Block(table, y[:rows], row_lines[:rows], left, text, lines, size, size - added)


def _where(row_lines: NDArray[np.uint32], before: int) -> Any:
    """On which line a row is."""

    def where(row: int) -> Where:
        return {"line": before + int(row_lines[row]) + 1}

    return where


def _left_to_python(text: bytearray, size: int, added: int, experts: int) -> Block:
    """The rows of a chunk, all of them still to be read."""
    lines = bytes(memoryview(text)[: size - 1]).split(b"\n")
    there = [number for number, line in enumerate(lines) if line.removesuffix(b"\r")]
    x, y, odd = np.empty((len(there), experts)), np.empty(len(there)), np.arange(len(there), dtype=np.uint32)
    return Block(x, y, np.array(there, dtype=np.uint32), odd, text, len(lines), size, size - added)


def _large(numbers: NDArray[np.float64]) -> bool:
    """Could one of them be taken for a text?"""
    return bool(np.fmax.reduce(numbers, axis=None) >= FIRST_TEXT or np.fmin.reduce(numbers, axis=None) <= -FIRST_TEXT)
