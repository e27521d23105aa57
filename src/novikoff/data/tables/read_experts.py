"""A table of predictions as a stream: one column the outcome, every other column an expert; or a table of losses.

Format
    CSV and TSV (delimiter and header sniffed), JSON lines, Arrow, Parquet, data frames; text also packed, or from
    standard input.
Columns
    The outcome is the column asked for, else one called outcome, y, label, class or target, else the last. With the
    loss "table" there is none: every column holds an expert's losses. Columns can be left out.
Values
    Numbers, finite. With zero-one loss also text, compared as text (expert_cells.py). A missing prediction is an error,
    or NaN if experts may sleep; a missing outcome is an error. Ranges are the learner's matter.
Loss
    If none is named, one that the first 50 rows leave no doubt about (expert_cells.py); else it is asked for.
Cost
    One pass, in blocks, with one thread a core: 1.5 GB a second and core for cells such as 0.1234. No scan before it.
    Text is cut behind a new line into chunks. Threads read what is plain numbers; rows with anything else are read by
    Python as their turn comes. Neither chunks nor threads change a number. All other formats are read by `Columns`,
    over the pieces of the table reader: null and NaN say nothing, columns of text are for zero-one loss.
"""

from __future__ import annotations

import csv
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import SourceError, Where
from novikoff.core.executors import cores
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Position, count_at
from novikoff.data.arrays import is_frame
from novikoff.data.formats.buffer_pool import BufferPool, OwnArrays
from novikoff.data.formats.byte_reader import Opened
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, PADDING, in_order
from novikoff.data.formats.lines import BLANK, Little, look_at
from novikoff.data.formats.origin import Origin
from novikoff.data.formats.pandas_index import check_asked, unnamed_first, unnamed_note
from novikoff.data.layout import SNIFFED_ROWS, bytes_of, find_delimiter, is_number, rows_of, runs
from novikoff.data.reader import sniff
from novikoff.data.tables.cells import plain, written
from novikoff.data.tables.column import Kind
from novikoff.data.tables.columnar import ArrowTable, Columnar, FrameTable
from novikoff.data.tables.csv_reader import has_header
from novikoff.data.tables.expert_cells import (
    FIRST_TEXT,
    OUTCOME_NAMES,
    Chosen,
    Pair,
    Values,
    another,
    choose,
    columns_of,
    not_of_the_pair,
    suggested,
    told_of,
)
from novikoff.data.tables.json_rows import Objects
from novikoff.data.tables.table_reader import Piece, Reader
from novikoff.numerics.records import astuple

TRUTH = {"true": "1", "false": "0"}


@dataclass(frozen=True, eq=False)
class Rounds:
    """Some rows as numbers.

    y       the outcomes; None in a table of losses
    end     where the table goes on
    where   in the source a row, from 0, is
    error   what is wrong with the row behind the last; None if nothing is
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64] | None
    end: Position
    where: Callable[[int], Where]
    error: SourceError | None = None


class Rows(Protocol):
    """Who reads the rows."""

    name: str
    rereadable: bool
    fixed: bool
    rows: int | None

    def rounds(self, start: Position | None, values: Values) -> Iterator[Rounds]:
        """The rows, some at a time, from `start` on."""
        ...

    def count(self) -> int | None:
        """How many rows there are; None if that can be known only by playing them."""
        ...

    def fingerprint(self) -> dict[str, Any]:
        """By what a file is known again; empty for other sources."""
        ...


class ExpertTable(Stream):
    """The rounds of a table.

    loss     the name of the loss that its values are for
    what     how errors call its values
    pair     the only two values there may be, where the loss was chosen because there were no others; else None
    """

    def __init__(self, rows: Rows, chosen: Chosen, loss: str, sleeping: bool, pair: Pair | None = None) -> None:
        self._rows, self._chosen, self._sleeping, self.pair = rows, chosen, sleeping, pair
        self.name, self.rereadable, self.fixed, self.rows = rows.name, rows.rereadable, rows.fixed, rows.rows
        self.loss = loss
        self.what = "losses" if loss == "table" else "predictions"
        self.experts = chosen.experts
        self.features = self.experts if chosen.columns else None
        self.domain = Domain("losses" if loss == "table" else "advice", len(self.experts))
        self.values = self._fresh([])

    def fingerprint(self) -> dict[str, Any]:
        """The experts, which have a place each in a learner; and size and time of change of a file."""
        return {**self._rows.fingerprint(), **told_of(self.experts, self.pair)}

    def count(self) -> int | None:
        return self._rows.count()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        row = count_at(start)
        self.values = self._fresh(_texts(start))
        for some in self._rows.rounds(start, self.values):
            x, y, error = some.x, some.y, some.error
            if self.pair is not None and y is not None and (found := another(x, y, self.pair)) is not None:
                error = self._another(some, *found)
                x, y = x[: found[0]], y[: found[0]]
            first, row = row + 1, row + len(x)
            end: Position | None = None if error else {**some.end, "row": row, "texts": [*self.values.texts]}
            if len(x):
                yield Batch(None if y is None else x, x if y is None else y, first, end, "owned")
            if error:
                raise error
        if row == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rows.")

    def _fresh(self, texts: list[str]) -> Values:
        return Values(self.what, self.loss == "zero-one", self._sleeping, texts)

    def _another(self, some: Rounds, row: int, expert: int | None) -> SourceError:
        """What is wrong with a value that is not one of the pair."""
        assert self.pair is not None
        assert some.y is not None
        chosen = self._chosen
        column = chosen.outcome if expert is None else chosen.used[expert]
        value = self.values.shown(some.y[row] if expert is None else some.x[row, expert])
        error = not_of_the_pair(value, self.pair, expert is None)
        return error.at(**some.where(row)).at(column=chosen.named(column or 0), source=self.name)


class Columns:
    """The rows of a table that a reader has in columns."""

    def __init__(self, reader: Reader, chosen: Chosen) -> None:
        self._reader, self._chosen = reader, chosen
        self.name, self.rereadable, self.fixed, self.rows = reader.name, reader.rereadable, reader.fixed, reader.rows
        self.fingerprint = reader.fingerprint

    def count(self) -> int | None:
        if self.rows is None and self._reader.independent:
            return sum(piece.rows for piece in self._reader.pieces(None, {}))
        return self.rows

    def rounds(self, start: Position | None, values: Values) -> Iterator[Rounds]:
        wanted: dict[str, Kind] = {self._reader.names[c]: "number" for c in self._chosen.wanted}
        for piece in self._reader.pieces(start, wanted):
            x, y, error = self._numbers(piece, values)
            yield Rounds(x, y, piece.end or {}, piece.where, error)

    def _numbers(
        self, piece: Piece, values: Values
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, SourceError | None]:
        """The experts' numbers, row by row, and the outcomes, up to a row that is wrong; and what is wrong with it."""
        outcome, wanted, rows, error = self._chosen.outcome, self._chosen.wanted, piece.rows, piece.error
        table = np.zeros((len(wanted), rows))
        arrays = [plain(piece.arrays[self._reader.names[c]]) for c in wanted] if rows else []
        slow = {
            j
            for j, (c, array) in enumerate(zip(wanted, arrays, strict=False))
            if not _copied(array, table[j], values.sleeping and c != outcome)
        }
        fine = np.isfinite(table) | (np.isnan(table) if values.sleeping else False)
        if values.text:
            fine &= ~(np.abs(table) >= FIRST_TEXT)
        if outcome is not None:
            fine[-1] &= np.isfinite(table[-1])
        slow |= {int(j) for j in np.flatnonzero(~fine.all(axis=1))}
        if slow:
            try:
                self._read(sorted((wanted[j], j, arrays[j].to_pylist()) for j in slow), table, values)
            except SourceError as wrong:
                rows = wrong.where.pop("row")
                error = wrong.at(**piece.where(rows)).at(source=self.name)
        x = np.ascontiguousarray(table[: len(self._chosen.used), :rows].T)
        return x, None if outcome is None else table[-1, :rows], error

    def _read(
        self, columns: Sequence[tuple[int, int, list[Any]]], table: NDArray[np.float64], values: Values
    ) -> None:  # fmt: skip
        """Read columns value by value, row after row: texts are numbered in that order."""
        for row in range(table.shape[1]):
            for c, j, cells in columns:
                try:
                    cell, outcome = as_cell(cells[row]), c == self._chosen.outcome
                    table[j, row] = values.outcome(cell) if outcome else values.prediction(cell)
                except SourceError as error:
                    error.at(column=self._chosen.named(c), row=row)
                    raise


def _copied(array: Any, out: NDArray[np.float64], silent: bool) -> bool:
    """Copy a column of numbers, NaN where nothing is said, if that may be; False if it must be read value by value."""
    import pyarrow as pa

    kind = array.type
    numbers = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if not numbers or (array.null_count and not silent):
        return False
    out[:] = array.to_numpy(zero_copy_only=False)  # null is NaN
    return True


def as_cell(value: Any) -> str:
    """A value as it would be written in a table: true is 1 and false 0."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        return TRUTH.get(value, value)  # of JSON, where there are both texts and truth values in a column
    return "" if isinstance(value, (list, dict)) else written(value)


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
        line, byte = (count_at(start, "line"), count_at(start, "byte")) if start else self._begin
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
            np.uint64(self._width if outcome is None else outcome), self._sleeping, ends, line_ends,
            astuple(kernel.Parsed(x, y, row_lines, odd)), np.zeros(4, np.uint64),
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


LOSSES = ("zero-one", "absolute", "squared", "log", "table")
CELLS_AT_ONCE = 2**20
"""Numbers in a batch of columns, about."""


def read_experts(
    source: object,
    outcome: str | int | None = None,
    loss: str | None = None,
    sleeping: bool = False,
    without: Sequence[str | int] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    threads: int | None = None,
    chunk: int = CHUNK_BYTES,
) -> ExpertTable:
    """The table in a file, standard input ("-"), a binary file object or a data frame.

    outcome     the outcome column: its name, or its number from 0 (from the end if negative)
    loss        zero-one, absolute, squared, log, or table: the columns are losses. None: if the first rows are clear
    sleeping    may a prediction be missing?
    without     columns to leave out, by name or number
    header      does a CSV file begin with names? None: sniff
    delimiter   what stands between the cells of a CSV file. None: sniff
    threads     how many parse at a time; None: as many as there are cores
    chunk       bytes of text parsed at a time; a row may be longer
    """
    if loss is not None and loss not in LOSSES:
        raise SourceError(f"a loss must be one of {', '.join(LOSSES)}: got {loss!r}.")
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-" and not os.path.exists(source):
        raise SourceError(f"a table must be a file: there is no {os.fsdecode(source)}. Check the name.")
    without = [without] if isinstance(without, (str, int)) else list(without)
    if is_frame(source):
        return _from_columns(FrameTable(source), outcome, loss, sleeping, without)
    _, content, head, whole = look_at(source)
    found = "jsonl" if head.lstrip(BLANK).startswith(b"{") else sniff(head)  # so that a bad line is told as one
    if found in ("arrow", "parquet"):
        return _from_columns(ArrowTable(content), outcome, loss, sleeping, without)
    if found != "jsonl":
        lines = head if whole else head[: head.rfind(b"\n") + 1]
        origin = Origin(content)
        return _from_cells(origin, lines, outcome, loss, sleeping, without, header, delimiter, threads, chunk)
    objects = Objects(content, None, chunk, first_alone=True)
    if header is not None or delimiter is not None:
        raise SourceError(f"JSON lines have neither a header nor a delimiter: {objects.name} is read as such.")
    table = _from_columns(objects, outcome, loss, sleeping, without)
    table.notes.insert(0, "read as JSON lines")
    return table


def _from_cells(
    origin: Origin, lines: bytes, outcome: str | int | None, loss: str | None, sleeping: bool,
    without: Sequence[str | int], header: bool | None, delimiter: str | None, threads: int | None, chunk: int,
) -> ExpertTable:  # fmt: skip
    name = origin.name
    between = find_delimiter(lines, delimiter)
    rows = list(islice(rows_of(lines, between, name), SNIFFED_ROWS))
    if not rows:
        raise SourceError(f"a source must not be empty: {name} has no rows.")
    line, last, first = rows[0]
    if b"\0" in lines[: 2**12] or (len(first) == 1 and not is_number(first[0]) and len(rows) > 1 and loss != "table"):
        raise SourceError(
            f"a table must have cells between commas, tabs or semicolons, or JSON lines, or be Arrow or Parquet: "
            f"{name} is none."
        )
    if header is None:
        called = any(cell.strip().lower() in OUTCOME_NAMES for cell in first)
        header = called or has_header(rows, [outcome, *without], name)
    if header and len(rows) == 1:
        raise SourceError(f"a source must not be empty: {name} has a header on line {line} and no rows.")
    columns = [cell.strip() for cell in first] if header else []
    chosen = choose(columns, len(first), outcome, without, loss == "table", name)
    notes = [unnamed_note(unnamed_first(columns), name)] if unnamed_first(columns) else []
    pair = None
    if loss is None:
        below = [cells for _, _, cells in rows[1 if header else 0 :]]
        loss, pair, more = suggested(columns_of(chosen, below), chosen, name)
        notes += more
    skipped = last if header else 0
    size = bytes_of(lines, skipped)
    begin, text = (skipped, size), loss == "zero-one"
    cells = Cells(origin, chosen, begin, len(first), between, sleeping, text, threads, chunk)
    table = ExpertTable(cells, chosen, loss, sleeping, pair)
    table.notes += ["read as a table of cells", *notes]
    return table


def _from_columns(
    reader: Reader, outcome: str | int | None, loss: str | None, sleeping: bool,
    without: Sequence[str | int],
) -> ExpertTable:  # fmt: skip
    known = () if loss == "table" else OUTCOME_NAMES
    check_asked(reader.levels, reader.names, outcome, known, None, reader.name)
    without = [column for column in without if column not in reader.levels]  # it is
    chosen = choose(reader.names, len(reader.names), outcome, without, loss == "table", reader.name)
    if isinstance(reader, Columnar):
        reader.at_once = max(CELLS_AT_ONCE // len(chosen.used), 64)
    notes, pair = list(reader.notes), None
    if loss is None:
        head = list(reader.head().values())
        first = {c: [as_cell(value) for value in head[c][:SNIFFED_ROWS]] for c in chosen.wanted}
        loss, pair, more = suggested(first, chosen, reader.name)
        notes += more
    table = ExpertTable(Columns(reader, chosen), chosen, loss, sleeping, pair)
    table.notes += notes
    return table


def _texts(start: Position | None) -> list[str]:
    """The values of outcomes that were met before a position."""
    texts = start["texts"] if start else []
    return [str(text) for text in texts] if isinstance(texts, list) else []
