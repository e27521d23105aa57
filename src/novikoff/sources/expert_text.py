"""Tables of predictions in text: rows of cells (CSV, TSV), or JSON lines, as a stream of advice or of losses.

Order
    The text is cut behind a new line into chunks. Threads read what is plain numbers; rows with anything else are read
    by Python as their turn comes. Neither chunks nor threads change a number.
Cost
    One pass, and a few chunks of memory, whatever the size of the file.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import SourceError
from novikoff.sources.buffer_pool import BufferPool
from novikoff.sources.expert_cells import FIRST_TEXT, Chosen, Values
from novikoff.sources.expert_losses import Pair, another, not_of_the_pair, told_of
from novikoff.sources.labelled_lines import BYTE_ORDER_MARK, CHUNK_BYTES, PADDING, cores
from novikoff.sources.layout import named
from novikoff.sources.line_chunks import Little, whole_lines
from novikoff.sources.opened import Opened, Origin
from novikoff.sources.workers import workers
from novikoff.stream import Stream
from novikoff.types import Batch, Domain, Position


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


class Rows(Protocol):
    """How the text of one format is read."""

    chosen: Chosen

    def cells(self, line: bytes) -> list[str]:
        """The cells of a line. Raises `SourceError`."""
        ...

    def block(self, text: bytearray, size: int, added: int) -> Block:
        """The first `size` bytes, of which the last `added` are not in the source; called in any thread."""
        ...


class ExpertText(Stream):
    """The rounds of a table in text.

    begin    lines and bytes before the first row
    loss     the name of the loss that its values are for
    what     how errors call its values
    pair     the only two values there may be, where the loss was chosen because there were no others; else None
    """

    def __init__(
        self, origin: Origin, rows: Rows, begin: tuple[int, int], loss: str, sleeping: bool, threads: int | None,
        chunk: int = CHUNK_BYTES,
    ) -> None:  # fmt: skip
        self._origin, self._rows, self._begin, self._chunk = origin, rows, begin, chunk
        self._threads = cores() if threads is None else threads
        self._sleeping = sleeping
        self.loss = loss
        self.what = "losses" if loss == "table" else "predictions"
        self.name, self.rereadable, self.fixed = origin.name, origin.rereadable, origin.fixed
        self.experts = rows.chosen.experts
        self.features = self.experts if rows.chosen.columns else None
        self.domain = Domain("losses" if loss == "table" else "advice", len(self.experts))
        self.values = self._fresh([])
        self.pair: Pair | None = None

    def fingerprint(self) -> dict[str, Any]:
        """The experts, which have a place each in a learner; and size and time of change of a file."""
        return {**self._origin.fingerprint(), **told_of(self.experts, self.pair)}

    def count(self) -> int | None:
        """How many rounds there are; None if that can be known only by playing them."""
        if not self._origin.independent:
            return None
        with self._origin.open(self._begin[1]) as opened:
            rows, last = 0, b""
            while piece := opened.read(self._chunk):
                lines = (last + piece).split(b"\n")
                last = lines.pop()
                rows += sum(line not in (b"", b"\r") for line in lines)
            return rows + (last not in (b"", b"\r"))

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        fresh = {"row": 0, "line": self._begin[0], "byte": self._begin[1], "texts": []}
        here = dict(start or fresh)
        self.values = self._fresh(list(here["texts"]))
        with self._origin.open(here["byte"]) as opened:
            free: deque[bytearray] = deque()
            for block in self._blocks(opened, here["byte"] == 0, free):
                yield from self._batch(block, here)
                free.append(block.text)
        if here["row"] == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rows.")

    def _fresh(self, texts: list[str]) -> Values:
        return Values(self.what, self.loss == "zero-one", self._sleeping, texts)

    def _batch(self, block: Block, here: Position) -> Iterator[Batch]:
        """The rows of a chunk, up to one that is wrong; then what is wrong with it. Moves `here` on."""
        rows, error = len(block.row_lines), None
        if len(block.odd):
            rows, error = self._finish(block, here["line"])
        if self.pair is not None and (found := another(block.x[:rows], block.y[:rows], self.pair)) is not None:
            rows, error = found[0], self._another(block, here["line"], *found)
        first = here["row"] + 1
        here.update(row=here["row"] + rows, line=here["line"] + block.lines, byte=here["byte"] + block.used)
        here["texts"] = list(self.values.texts)
        if rows:
            end = None if error else dict(here)
            x, y = block.x[:rows], block.y[:rows]
            table = self.loss == "table"
            yield Batch(None if table else x, x if table else y, first, end, "owned")
        if error:
            raise error

    def _finish(self, block: Block, lines_before: int) -> tuple[int, SourceError | None]:
        """Read the odd rows; how many rows there are before one that is wrong, and what is."""
        lines = bytes(memoryview(block.text)[: block.size]).split(b"\n")
        chosen = self._rows.chosen
        for row in block.odd.tolist():
            number = int(block.row_lines[row])
            try:
                cells = self._rows.cells(lines[number].removesuffix(b"\r"))
                block.x[row], y = self.values.row(cells, chosen)
                if len(block.y):
                    block.y[row] = y
            except SourceError as error:
                return row, error.at(line=lines_before + number + 1, source=self.name)
        return len(block.row_lines), None

    def _another(self, block: Block, lines_before: int, row: int, expert: int | None) -> SourceError:
        """What is wrong with a value that is not one of the pair."""
        assert self.pair is not None
        chosen = self._rows.chosen
        column = chosen.outcome if expert is None else chosen.used[expert]
        value = block.y[row] if expert is None else block.x[row, expert]
        line = lines_before + int(block.row_lines[row]) + 1
        error = not_of_the_pair(self.values.shown(value), self.pair, expert is None)
        return error.at(line=line, column=named(chosen.columns, column or 0), source=self.name)

    def _blocks(self, opened: Opened, at_start: bool, free: deque[bytearray]) -> Iterator[Block]:
        """The chunks, parsed by threads, in order; none waits here for a pipe that is silent."""
        waiting: deque[Future[Block]] = deque()
        with workers(self._threads, type(self).__name__) as threads:
            try:
                for text, size, added in whole_lines(opened, self._chunk, PADDING, free):
                    if at_start and text.startswith(BYTE_ORDER_MARK):
                        text[:3] = b"   "
                    at_start = False
                    waiting.append(threads.submit(self._rows.block, text, size, added))
                    while len(waiting) > self._threads + 1 or (waiting and not opened.ready()):
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


class Cells:
    """Rows of cells between `delimiter`s."""

    def __init__(self, chosen: Chosen, width: int, delimiter: str, sleeping: bool, text: bool) -> None:
        self.chosen, self._width, self._delimiter = chosen, width, delimiter
        self._sleeping, self._text = sleeping, text
        self._local = threading.local()
        self._buffers, self._little = BufferPool(), Little()
        used = np.array(chosen.used, dtype=np.int64)
        breaks = np.flatnonzero(np.diff(used) != 1) + 1
        starts = np.concatenate(([0], breaks))
        counts = np.diff(np.concatenate((starts, [len(used)])))
        self._runs = np.stack((used[starts], counts), axis=1).astype(np.uint64)

    def cells(self, line: bytes) -> list[str]:
        """The cells of a line, by Python's own reader."""
        import csv

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

    def block(self, text: bytearray, size: int, added: int) -> Block:
        """The rows of a chunk; those of plain numbers are read, four cells at a time."""
        if self._little(size):
            return left_to_python(text, size, added, len(self.chosen.used))
        from novikoff.kernels import cells as kernel

        ends, line_ends, wrong = self._arrays(size)
        data = np.frombuffer(text, dtype=np.uint8)
        lines = int(kernel.places(data, np.uint64(size), np.uint64(ord(self._delimiter)), ends, line_ends))
        experts, outcome = len(self.chosen.used), self.chosen.outcome
        x, y, row_lines, odd = self._buffers.arrays(
            (lines * experts + kernel.WIDE, np.float64), (lines + kernel.WIDE, np.float64), (lines, np.uint32),
            (lines, np.uint32),
        )  # fmt: skip
        rows, odds = map(int, kernel.parse(
            data, np.uint64(lines), np.uint64(self._width), self._runs,
            np.uint64(self._width if outcome is None else outcome), self._sleeping, ends, line_ends, x, y, row_lines,
            odd, wrong,
        ))  # fmt: skip
        table, left = x[: rows * experts].reshape(rows, experts), odd[:odds]
        if self._text and any(_large(numbers) for numbers in (table, y[:rows]) if len(numbers)):
            large = (np.abs(table) >= FIRST_TEXT).any(axis=1) | (np.abs(y[:rows]) >= FIRST_TEXT)
            left = np.union1d(left, np.flatnonzero(large)).astype(np.uint32)  # Python says what is wrong with them
        return Block(table, y[:rows], row_lines[:rows], left, text, lines, size, size - added)

    def _arrays(self, size: int) -> tuple[NDArray[Any], ...]:
        """Room for what is found in `size` bytes, of this thread; memory that is not touched costs nothing."""
        if getattr(self._local, "size", -1) < size:
            self._local.size = size
            places = [np.empty(size + PADDING, dtype=np.uint32) for _ in range(2)]
            self._local.arrays = (*places, np.zeros(4, dtype=np.uint64))
        arrays: tuple[NDArray[Any], ...] = self._local.arrays
        return arrays


def left_to_python(text: bytearray, size: int, added: int, experts: int, blank: bytes = b"") -> Block:
    """The rows of a chunk, all of them still to be read; a line of nothing but `blank` characters is none."""
    lines = bytes(memoryview(text)[: size - 1]).split(b"\n")
    there = [number for number, line in enumerate(lines) if line.removesuffix(b"\r").strip(blank)]
    x, y, odd = np.empty((len(there), experts)), np.empty(len(there)), np.arange(len(there), dtype=np.uint32)
    return Block(x, y, np.array(there, dtype=np.uint32), odd, text, len(lines), size, size - added)


def _large(numbers: NDArray[np.float64]) -> bool:
    """Could one of them be taken for a text?"""
    return bool(np.fmax.reduce(numbers, axis=None) >= FIRST_TEXT or np.fmin.reduce(numbers, axis=None) <= -FIRST_TEXT)
