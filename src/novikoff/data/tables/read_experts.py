"""Tables of predictions as a stream: one column of outcomes and one column per expert; or a table of losses.

Format
    CSV and TSV (delimiter and header detected), JSON lines, Arrow, Parquet, data frames; text also compressed, or from
    standard input.
Columns
    The outcome is the requested column, otherwise one named outcome, y, label, class or target, otherwise the last.
    With the loss "table" there is none: every column has the losses of an expert. Columns can be left out.
Values
    Finite numbers. With zero-one loss also text, compared as text (expert_cells.py). A missing prediction is an error,
    or NaN if experts may abstain; a missing outcome is an error. The learner checks ranges.
Loss
    By default inferred if the first 50 rows leave no doubt (expert_cells.py); otherwise it must be given.
Cost
    One pass, in blocks, with one thread per core: 1.5 GB per second and core for cells such as 0.1234. Text is split at
    new lines into chunks. Threads read plain numbers; Python reads the other rows in order. Neither chunks nor threads
    change a number. All other formats are read by `Columns`, from the pieces of the table reader: null and NaN are
    missing, text columns are for zero-one loss.
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

from novikoff.core.errors import SourceError, Where, absent
from novikoff.core.executors import cores
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Position, count_at
from novikoff.data.arrays import is_frame
from novikoff.data.formats.buffer_pool import BufferPool, ThreadArrays
from novikoff.data.formats.byte_reader import Opened
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, PADDING, in_order
from novikoff.data.formats.lines import BLANK, Little, look_at
from novikoff.data.formats.origin import Origin
from novikoff.data.formats.pandas_index import check_asked, unnamed_first, unnamed_note
from novikoff.data.layout import MUST_BE_UTF8, SNIFFED_ROWS, bytes_of, find_delimiter, is_number, rows_of, runs
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
    identity_of,
    not_of_the_pair,
    suggested,
)
from novikoff.data.tables.json_rows import Objects
from novikoff.data.tables.table_reader import Piece, Reader
from novikoff.numerics.records import astuple

TRUTH = {"true": "1", "false": "0"}
"""Numbers of booleans in a column of texts."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """Some rows as numbers.

    Attributes:
        x: (rows, experts) predictions or losses.
        y: (rows,) outcomes; None in a table of losses.
        end: Position after these rows.
        where: Returns the position of a row, from 0, in the source.
        error: Error of the row after the last; None if there is none.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64] | None
    end: Position
    where: Callable[[int], Where]
    error: SourceError | None = None


class Rows(Protocol):
    """Interface of row readers."""

    name: str
    rereadable: bool
    fixed: bool
    rows: int | None

    def rounds(self, start: Position | None, values: Values) -> Iterator[Rounds]:
        """Yield the rows from `start` on, some at a time."""
        ...

    def count(self) -> int | None:
        """Return the number of rows; None if that is unknown before they are read."""
        ...

    def fingerprint(self) -> dict[str, Any]:
        """Return the fingerprint of a file; empty for other sources."""
        ...


class ExpertTable(Stream):
    """Stream of the rounds of a table.

    Args:
        rows: Reader of the rows.
        chosen: Columns in use.
        loss: Name of the loss.
        sleeping: Whether experts may abstain.
        pair: The only two values allowed, if the loss was inferred from them; otherwise None.

    Attributes:
        what: Name of the values in errors, "predictions" or "losses".
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
        """Return the experts, whose order matters to a learner, and the fingerprint of the file."""
        return {**self._rows.fingerprint(), **identity_of(self.experts, self.pair)}

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
        """Return the error for a value outside the pair."""
        assert self.pair is not None
        assert some.y is not None
        chosen = self._chosen
        column = chosen.outcome if expert is None else chosen.used[expert]
        value = self.values.shown(some.y[row] if expert is None else some.x[row, expert])
        error = not_of_the_pair(value, self.pair, expert is None)
        return error.at(**some.where(row)).at(column=chosen.named(column or 0), source=self.name)


class Columns:
    """Rows of a table from a columnar reader.

    Args:
        reader: Reader of the table.
        chosen: Columns in use.
    """

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
        """Return the experts' numbers (rows, experts) and the outcomes up to a bad row, and its error."""
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
        """Read columns value by value, row by row: texts are numbered in that order."""
        for row in range(table.shape[1]):
            for c, j, cells in columns:
                try:
                    cell, outcome = as_cell(cells[row]), c == self._chosen.outcome
                    table[j, row] = values.outcome(cell) if outcome else values.prediction(cell)
                except SourceError as error:
                    error.at(column=self._chosen.named(c), row=row)
                    raise


def _copied(array: Any, out: NDArray[np.float64], silent: bool) -> bool:
    """Copy a numeric column, NaN where missing if `silent`; return False if it must be read value by value."""
    import pyarrow as pa

    kind = array.type
    numbers = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if not numbers or (array.null_count and not silent):
        return False
    out[:] = array.to_numpy(zero_copy_only=False)  # nulls become NaN
    return True


def as_cell(value: object) -> str:
    """Return a value as a table writes it: true is 1 and false 0."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        return TRUTH.get(value, value)  # from JSON columns with both texts and booleans
    return "" if isinstance(value, (list, dict)) else written(value)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Parsed chunk as arrays.

    Attributes:
        x: (rows, experts) predictions or losses.
        y: (rows,) outcomes.
        row_lines: (rows,) line of each row in the chunk, from 0.
        odd: Rows that are still to be read from `text`.
        text: Bytes of the chunk.
        lines: Number of lines.
        size: Number of bytes.
        used: Number of bytes in the source.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    row_lines: NDArray[np.uint32]
    odd: NDArray[np.uint32]
    text: bytearray
    lines: int
    size: int
    used: int


class Cells:
    """Rows of delimited text.

    Args:
        origin: Origin of the bytes.
        chosen: Columns in use.
        begin: Lines and bytes before the first row.
        width: Cells per row.
        delimiter: Cell separator.
        sleeping: Whether experts may abstain.
        text: Whether cells may be other than numbers.
        threads: Number of parsing threads; None for one per core.
        chunk: Bytes parsed at a time; a row may be longer.
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
        self._places = ThreadArrays(lambda size: [np.empty(size + PADDING, np.uint32) for _ in range(2)])
        self._buffers, self._little = BufferPool(), Little()
        self._runs = runs(chosen.used)

    def count(self) -> int | None:
        """Return the number of rows; None if that is unknown before they are read."""
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
        """Read the odd rows; return the number of rows before a bad one, and its error."""
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
        """Yield the chunks, parsed by threads, in order, without waiting for an idle pipe."""
        return in_order(opened, self._chunk, at_start, free, self._block, self._threads, "experts")

    def _cells(self, line: bytes) -> list[str]:
        """Return the cells of a line, read by Python's csv module."""
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise SourceError(*MUST_BE_UTF8) from None
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
        """Parse a chunk; rows of plain numbers are read, four cells at a time."""
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
            left = np.union1d(left, np.flatnonzero(large)).astype(np.uint32)  # Python reports the error
        return Block(table, y[:rows], row_lines[:rows], left, text, lines, size, size - added)


def _where(row_lines: NDArray[np.uint32], before: int) -> Any:
    """Return a function for the line of a row."""

    def where(row: int) -> Where:
        return {"line": before + int(row_lines[row]) + 1}

    return where


def _left_to_python(text: bytearray, size: int, added: int, experts: int) -> Block:
    """Return a block whose rows are all still to be read."""
    lines = bytes(memoryview(text)[: size - 1]).split(b"\n")
    there = [number for number, line in enumerate(lines) if line.removesuffix(b"\r")]
    x, y, odd = np.empty((len(there), experts)), np.empty(len(there)), np.arange(len(there), dtype=np.uint32)
    return Block(x, y, np.array(there, dtype=np.uint32), odd, text, len(lines), size, size - added)


def _large(numbers: NDArray[np.float64]) -> bool:
    """Return whether a number is so large that it could be confused with the number of a text."""
    return bool(np.fmax.reduce(numbers, axis=None) >= FIRST_TEXT or np.fmin.reduce(numbers, axis=None) <= -FIRST_TEXT)


LOSSES = ("zero-one", "absolute", "squared", "log", "table")
CELLS_AT_ONCE = 2**20
"""Approximate number of cells per batch of columns."""


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
    r"""Open a table of expert predictions or losses as a stream.

    Args:
        source: Path, "-" for standard input, binary file object, or data frame.
        outcome: Outcome column, by name or by number from 0 (negative: from the end).
        loss: zero-one, absolute, squared, log, or table (the columns are losses); None infers it if the first rows
            leave no doubt.
        sleeping: Whether predictions may be missing.
        without: Columns to leave out, by name or number.
        header: Whether a CSV file starts with a header; None detects it.
        delimiter: Cell separator of a CSV file; None detects it.
        threads: Number of parsing threads; None for one per core.
        chunk: Bytes of text parsed at a time; a row may be longer.

    Example:
        >>> import io
        >>> import novikoff as nk
        >>> stream = nk.read_experts(io.BytesIO(b"alice,bob,outcome\n0.9,0.2,1\n0.4,0.1,0\n"))
        >>> stream.experts, stream.loss
        (('alice', 'bob'), 'squared')
    """
    if loss is not None and loss not in LOSSES:
        raise SourceError(f"a loss must be one of {', '.join(LOSSES)}: got {loss!r}.")
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-" and not os.path.exists(source):
        raise SourceError(absent(os.fsdecode(source)))
    without = [without] if isinstance(without, (str, int)) else list(without)
    if is_frame(source):
        return _from_columns(FrameTable(source), outcome, loss, sleeping, without)
    _, content, head, whole = look_at(source)
    found = "jsonl" if head.lstrip(BLANK).startswith(b"{") else sniff(head)  # so that a bad line is reported as such
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
    table.notes.insert(0, "format: JSON lines")
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
            f"a table must be delimited by commas, tabs or semicolons, or be JSON lines, Arrow or Parquet: {name} is "
            "not one."
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
    table.notes += ["format: table", *notes]
    return table


def _from_columns(
    reader: Reader, outcome: str | int | None, loss: str | None, sleeping: bool,
    without: Sequence[str | int],
) -> ExpertTable:  # fmt: skip
    known = () if loss == "table" else OUTCOME_NAMES
    check_asked(reader.levels, reader.names, outcome, known, None, reader.name)
    without = [column for column in without if column not in reader.levels]  # an index is left out anyway
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
    """Return the texts seen before a position."""
    texts = start["texts"] if start else []
    return [str(text) for text in texts] if isinstance(texts, list) else []
