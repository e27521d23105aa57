"""A piece of a table: consecutive rows, an Arrow array for each column that was asked for; and who reads it.

Readers of tables in text share the bytes, of which the first are looked at before they are read.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from novikoff.core.errors import Option, SourceError, Where
from novikoff.core.types import Json, Position
from novikoff.data.formats.byte_reader import Opened
from novikoff.data.formats.lines import first_bytes
from novikoff.data.formats.origin import Origin
from novikoff.data.tables.column import Kind

RECOGNISED_ROWS = 1000
"""The first rows, by which columns are recognised."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows.

    arrays   of each column, by name
    size     bytes, about, for who waits
    end      where the table goes on; None if it cannot go on there
    where    in the source a row of the piece, from 0, is
    error    what is wrong with the row behind the last; None if nothing is
    """

    arrays: Mapping[str, Any]
    rows: int
    size: int
    end: Position | None
    where: Callable[[int], Where]
    error: SourceError | None = None

    def cut(self, row: int) -> tuple[Piece, Piece]:
        """The rows before `row`, and those from it on."""
        first = {name: array.slice(0, row) for name, array in self.arrays.items()}
        rest = {name: array.slice(row) for name, array in self.arrays.items()}
        size = self.size * row // self.rows
        return (
            Piece(first, row, size, None, self.where),
            Piece(rest, self.rows - row, self.size - size, self.end, lambda k: self.where(row + k), self.error),
        )


class Reader(ABC):
    """How the rows of one format are read.

    names   of the columns; x0, x1, ... if they have none, and `named` is False
    index   how many first columns are an index, as pandas and R write it
    levels  the names of an index of pandas that is not among the columns
    rows    how many there are; None if only reading tells
    skipped the bad rows of a pass that were skipped: line, message
    most_bad how many rows may be skipped
    needed  the column of labels or outcomes, where a row without one is bad; None: a table tells
    first   where the part begins that is read, in rows or bytes, and where it ends; None: at the end
    """

    names: Sequence[str]
    named = True
    index = 0
    levels: Sequence[str] = ()
    rereadable = independent = fixed = True
    rows: int | None = None
    needed: str | None = None
    most_bad = 0
    first = 0
    last: int | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.notes: list[str] = []
        self.skipped: list[tuple[int, str]] = []

    @abstractmethod
    def head(self) -> Mapping[str, list[Any]]:
        """The cells of the first rows, by column: text as it stands, or values."""

    @abstractmethod
    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        """The rows, some at a time, from `start` on; of the columns that are wanted, which are of these kinds."""

    def fingerprint(self) -> dict[str, Json]:
        """By what a file is known again; empty for other sources."""
        return {}

    def extent(self) -> int | None:
        """How far it can be cut: its rows, or the bytes of a text."""
        return self.rows

    def borders(self) -> Sequence[int]:
        """Where parts had better begin; none if anywhere will do."""
        return ()

    def part(self, first: int, last: int) -> Self:
        """Who reads the rows that begin from `first` on and before `last`."""
        part = copy.copy(self)
        part.first, part.last, part.skipped, part.notes = first, last, [], []
        return part

    def ready(self, wait: float) -> bool:
        """Will the next piece not be waited for? A pipe is asked, for so many seconds."""
        return True

    def numbered(self, error: SourceError) -> SourceError:
        """The error, with the number of a column that has no name."""
        if not self.named and error.where.get("column") in self.names:
            error.where["column"] = self.names.index(str(error.where["column"]))
        return error


LONGEST_HEAD, MOMENT = 2**24, 0.01
SKIP = ("Or pass ", Option("skip_bad", letter="N"), " to skip up to N bad rows.")


class TextReader(Reader):
    """A reader of a path, "-" or a binary file object. `cut`: of a part of it."""

    cut = False

    def __init__(self, source: object) -> None:
        origin = self._origin = Origin(source)
        super().__init__(origin.name)
        self.rereadable, self.independent, self.fixed = origin.rereadable, origin.independent, origin.fixed
        self._opened = origin.open()
        try:
            self._look(first_rows(self._opened))
        except BaseException:
            self._opened.close()
            raise
        if self.rereadable:
            self._opened.close()

    @abstractmethod
    def _look(self, text: bytes) -> None:
        """Find the columns, from the first rows."""

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

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._opened = self._origin.open()
        self._opened.close()

    def ready(self, wait: float) -> bool:
        return self._opened.closed or self._opened.ready(wait)

    def _from(self, byte: int) -> Opened:
        """The bytes from there on: of what comes once, those that were opened, if none is taken yet."""
        self.skipped.clear()
        if self.rereadable or self._opened.closed:
            self._opened = self._origin.open(byte)
        else:
            self._opened.skip(byte)
        return self._opened


def first_rows(opened: Opened) -> bytes:
    """The first rows of a text, without taking them: a thousand, or of a slow pipe those that came, two at least."""
    return first_bytes(opened, RECOGNISED_ROWS + 1, 2, MOMENT, LONGEST_HEAD)
