"""Readers of tables, and their pieces: consecutive rows with an Arrow array per wanted column.

Readers of text share the handling of bytes, the first of which are inspected before reading.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, Option, SourceError, Where
from novikoff.core.types import Json, Position
from novikoff.data.formats.byte_reader import TABLE, Opened
from novikoff.data.formats.lines import first_bytes
from novikoff.data.formats.origin import Origin
from novikoff.data.tables.cells import is_token, without
from novikoff.data.tables.column import Kind

RECOGNISED_ROWS = 1000
"""Number of first rows used to detect the kinds of columns."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive rows of a table.

    Attributes:
        arrays: Array of each column, by name.
        rows: Number of rows.
        size: Approximate size in bytes.
        end: Position after these rows; None if reading cannot resume there.
        where: Returns the position of a row, from 0, in the source.
        error: Error of the row after the last; None if there is none.
        numbers: Number of each row in this pass, of a table with lags (data/tables/lags.py); otherwise None.
    """

    arrays: Mapping[str, Any]
    rows: int
    size: int
    end: Position | None
    where: Callable[[int], Where]
    error: SourceError | None = None
    numbers: NDArray[np.int64] | None = None

    def cut(self, row: int) -> tuple[Piece, Piece]:
        """Return the rows before `row`, and those from it on."""
        first = {name: array.slice(0, row) for name, array in self.arrays.items()}
        rest = {name: array.slice(row) for name, array in self.arrays.items()}
        size = self.size * row // self.rows
        here, later = (None, None) if self.numbers is None else (self.numbers[:row], self.numbers[row:])
        return (
            Piece(first, row, size, None, self.where, numbers=here),
            Piece(rest, self.rows - row, self.size - size, self.end, lambda k: self.where(row + k), self.error, later),
        )

    def without(self, gone: NDArray[np.bool_]) -> Piece:
        """Return the piece without the rows that are marked."""
        kept = np.flatnonzero(~gone)
        arrays = {name: array.take(kept) for name, array in self.arrays.items()}
        size = self.size * len(kept) // max(self.rows, 1)
        numbers = None if self.numbers is None else self.numbers[kept]
        return Piece(arrays, len(kept), size, self.end, lambda k: self.where(int(kept[k])), self.error, numbers)


class Reader(ABC):
    """Base class of the readers of one format.

    Attributes:
        names: Column names; x0, x1, ... if there are none, and then `named` is False.
        index: Number of leading columns that are an index of pandas or R.
        levels: Names of a pandas index that is not among the columns.
        rows: Number of rows; None if unknown before reading.
        skipped: Skipped bad rows of a pass as (line, message).
        most_bad: Number of bad rows that may be skipped.
        label: Column of labels or outcomes; None if there is none.
        weight: Column of row weights; None if there is none.
        tokens: Further texts that mean a missing value, in lower case.
        first: Start of the part to read, in rows or bytes.
        last: End of that part; None for the end of the source.
        grows: Whether pieces may have columns that are not among `names`, from the row of their first value on.
        declared: Kinds that the format declares, by column; the others are detected.
        label_last: Whether the last column is the label by default, whatever the names.
        spare: Columns without a name, which are left out if their first cells are empty: rows end with a delimiter.
    """

    names: Sequence[str]
    named = True
    index = 0
    levels: Sequence[str] = ()
    spare: Sequence[str] = ()
    rereadable = independent = fixed = True
    grows = label_last = False
    declared: Mapping[str, Kind] = {}
    rows: int | None = None
    label: str | None = None
    weight: str | None = None
    tokens: frozenset[str] = frozenset()
    most_bad = 0
    first = 0
    last: int | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.notes: list[str] = []
        self.skipped: list[tuple[int, str]] = []

    @abstractmethod
    def head(self) -> Mapping[str, list[Any]]:
        """Return the cells of the first rows by column: text as written, or values."""

    @abstractmethod
    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        """Yield the rows from `start` on, some at a time, with the wanted columns read as these kinds."""

    def first_cells(self) -> dict[str, list[object]]:
        """Return the result of `head`, None for the cells that are one of `tokens`."""
        if not self.tokens:
            return dict(self.head())
        return {
            name: [None if is_token(cell, self.tokens) else cell for cell in some] for name, some in self.head().items()
        }

    def read(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        """Yield the result of `pieces`, null for the cells that are one of `tokens`."""
        if not self.tokens:
            return self.pieces(start, wanted)
        # A token among numbers would be an error of the reader: numbers are read as text.
        as_text: dict[str, Kind] = {name: "category" if kind == "number" else kind for name, kind in wanted.items()}
        return (
            replace(piece, arrays={name: without(one, self.tokens) for name, one in piece.arrays.items()})
            for piece in self.pieces(start, as_text)
        )

    def fingerprint(self) -> dict[str, Json]:
        """Return the fingerprint of a file; empty for other sources."""
        return {}

    def extent(self) -> int | None:
        """Return the extent for splitting: number of rows, or bytes of a text."""
        return self.rows

    def borders(self) -> Sequence[int]:
        """Return good split points; empty if all are equally good."""
        return ()

    def part(self, first: int, last: int) -> Self:
        """Return a reader of the rows that start from `first` on and before `last`."""
        part = copy.copy(self)
        part.first, part.last, part.skipped, part.notes = first, last, [], []
        return part

    def ready(self, wait: float) -> bool:
        """Return whether the next piece is available without waiting; a pipe is polled for `wait` seconds."""
        return True

    def numbered(self, error: SourceError) -> SourceError:
        """Replace the generated name of an unnamed column in the error by its number."""
        if not self.named and error.where.get("column") in self.names:
            error.where["column"] = self.names.index(str(error.where["column"]))
        return error


LONGEST_HEAD, MOMENT = 2**24, 0.01
"""Maximum number of first bytes to look at, and seconds to wait for each further piece of a pipe."""
SKIP = ("Or pass ", Option("skip_bad", letter="N"), " to skip up to N bad rows.")


class TextReader(Reader):
    """Base class of readers of text, from a path, "-" or a binary file object.

    Args:
        source: Path, URL, "-" or binary file object.
        encoding: Encoding of the text; None detects it.

    Attributes:
        cut: Whether this reads only a part of the source.
        contents: Contents, by which an encoding is detected.
    """

    cut = False
    contents = TABLE

    def __init__(self, source: object, encoding: str | None = None) -> None:
        origin = self._origin = Origin(source, self.contents if encoding is None else encoding)
        super().__init__(origin.name)
        self.rereadable, self.independent, self.fixed = origin.rereadable, origin.independent, origin.fixed
        self._opened = origin.open()
        try:
            self._look(first_rows(self._opened))
        except BaseException:
            self._opened.close()
            raise
        if encoding is None and (found := self._opened.encoding) is not None:
            name = {"cp1252": "Windows-1252 (Latin-1)", "latin-1": "Latin-1"}.get(found, "UTF-16")
            self.notes.append(Advice(f"{self.name} is read as {name}. If it is not, pass ", Option("encoding"), "."))
        if self.rereadable:
            self._opened.close()

    @abstractmethod
    def _look(self, text: bytes) -> None:
        """Find the columns from the first rows."""

    def fingerprint(self) -> dict[str, Json]:
        return self._origin.fingerprint()

    def extent(self) -> int:
        return self._origin.size()

    def part(self, first: int, last: int) -> Self:
        begin, end = map(self._origin.line_from, (first, last))
        part = super().part(begin, end)
        part.cut = begin > 0 or end < self.extent()
        part._origin = self._origin.until(end)
        part.name = f"{self.name}, from byte {begin:,}"
        return part

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_opened": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._opened = self._origin.open()
        self._opened.close()

    def ready(self, wait: float) -> bool:
        return self._opened.closed or self._opened.ready(wait)

    def _from(self, byte: int) -> Opened:
        """Return the bytes from `byte` on; a source that can be read only once continues from where it is open."""
        self.skipped.clear()
        if self.rereadable or self._opened.closed:
            self._opened = self._origin.open(byte)
        else:
            self._opened.skip(byte)
        return self._opened


def first_rows(opened: Opened) -> bytes:
    """Return the first rows of a text without consuming them: a thousand, or those that a pipe has, at least two."""
    return first_bytes(opened, RECOGNISED_ROWS + 1, 2, MOMENT, LONGEST_HEAD)
