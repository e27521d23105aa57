"""Lags: cells of earlier rows as further columns of a table, by group.

Columns
    `sales lag 3` of a row is the cell of `sales` in the third row before it; with a column `by`, in the third row
    before it of its group. `sales` is the label, or one of `columns`. With a horizon h, lags begin at h: `sales lag h`
    to `sales lag h+count-1`, which are known h rows before. A lag is missing where there is no such row, or where that
    row has no value; so is the lag of a label that is not known yet. The column has the kind of the column it is from.
Rows
    Every row of the table counts, also one without a label, which is not learned. The copies of a weighted row are one
    row. A label is never a lag of its own row: row t only has cells of rows before t.
Saved state
    The last rows of each group, as many as lags need: those played; a model without rows leaves them out.
    A resumed game and predictions continue there.
    At prediction the rows of the new table are rows too, but their labels are unknown: the lags of a row that reach
    them are missing. Play with a horizon of h to predict h rows ahead.
Cost
    count + horizon - 1 rows of `columns` and the label are stored per group.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from novikoff.core.errors import Advice, InputError, Option, SourceError, close, quoted, shown
from novikoff.core.state import Argument, Coded, Count, Stateful, Values, keeps_rows
from novikoff.core.types import Json, Position
from novikoff.data.tables import cells
from novikoff.data.tables.column import Kind
from novikoff.data.tables.table_reader import Piece, Reader

MOST = 1000
"""Largest number of lags, and largest horizon."""
LAGGED = ("number", "boolean", "category", "unknown")
"""Kinds of columns that may have lags."""

Cell = str | float | int | bool | None
Past = dict[str, list[list[Cell]]]
"""The last rows of each group, oldest first."""


class Row(NamedTuple):
    """Cells of a row that later rows have as lags: its group, its label and its columns."""

    group: str
    cells: list[Cell]


class Lags(Stateful):
    """Lags of a table and the last rows that were played.

    Args:
        count: Number of lags of each column; 0 for the past of `columns` and labels not at all.
        horizon: Number of rows between a row and its first lag.
        by: Column of the groups; None for one group.
        columns: Columns that have lags besides the label.
        label: Column of the label.

    Attributes:
        past: The last rows of each group, oldest first: the label and the columns.
        begun: Those before the first row of the present source.
    """

    fields = (
        Count("count", 1, MOST, argument=True),
        Count("horizon", 1, MOST, argument=True),
        Argument("by", str | None),
        Values("columns", str, argument=True),
        Argument("label", str | None),
        Coded("past", lambda past: _stored(past), lambda saved: _past(saved), "rows of cells by group"),
        Coded("begun", lambda past: _stored(past), lambda saved: _past(saved), "rows of cells by group"),
    )  # fmt: skip
    described = "lags"

    def __init__(
        self, count: int, horizon: int = 1, by: str | None = None, columns: Sequence[str] = (),
        label: str | None = None,
    ) -> None:  # fmt: skip
        for name, value in (("lags", count), ("horizon", horizon)):
            if type(value) is not int or not 1 <= value <= MOST:
                raise InputError(f"{name} must be an integer from 1 to {MOST:,}", f"got {shown(value)}")
        self.count, self.horizon, self.by, self.columns, self.label = count, horizon, by, list(columns), label
        self.past: Past = {}
        self.begun: Past = {}

    @property
    def sources(self) -> list[str]:
        """Columns that have lags, the label first."""
        return [*([] if self.label is None else [self.label]), *self.columns]

    @property
    def names(self) -> dict[str, tuple[str, int]]:
        """Source and distance of each further column, by name."""
        reach = range(self.horizon, self.horizon + self.count)
        return {f"{source} lag {lag}": (source, lag) for source in self.sources for lag in reach}

    @property
    def longest(self) -> int:
        """Number of rows that are stored per group."""
        return self.horizon + self.count - 1

    def same(self, other: Lags) -> bool:
        """Return whether both have the same further columns."""
        return (self.names, self.by) == (other.names, other.by)

    def push(self, row: Row) -> None:
        """Store a row that was played."""
        rows = self.past.setdefault(row.group, [])
        rows.append(row.cells)
        del rows[: -self.longest]

    def row(self, x: Mapping[str, Any], label: Any = None) -> Row:
        """Return the cells of one row, a mapping, and its label."""
        found = [_plain(x.get(name)) for name in self.columns]
        return Row(_group(None if self.by is None else x.get(self.by)), [_plain(label), *found][-len(self.sources) :])

    def extended(self, x: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row with its lags; those that it already has are kept."""
        rows = self.past.get(_group(None if self.by is None else x.get(self.by)), [])
        places = {source: place for place, source in enumerate(self.sources)}
        lags = {name: rows[-lag][places[source]] if lag <= len(rows) else None
                for name, (source, lag) in self.names.items()}  # fmt: skip
        return {**lags, **x}


def _stored(past: Past) -> Past:
    return past if keeps_rows() else {}


def _past(saved: object) -> Past:
    if not isinstance(saved, dict) or not all(isinstance(group, str) and isinstance(rows, list)
                                              for group, rows in saved.items()):  # fmt: skip
        raise TypeError("not rows by group")
    found = {group: [list(row) for row in rows] for group, rows in saved.items()}
    widths = {len(row) for rows in found.values() for row in rows}
    if len(widths) > 1 or not all(isinstance(cell, Cell) for rows in found.values() for row in rows for cell in row):
        raise ValueError("not rows of plain cells")
    return found


def _group(value: object) -> str:
    """Return the group of a cell; missing ones are a group."""
    return "" if value is None or value != value else cells.spelled(cells.written(value).strip())


def _plain(value: object) -> Cell:
    """Return a cell as plain data; None if it is missing."""
    item = value.item() if isinstance(value, np.generic) else value
    if item is None or item != item:
        return None
    return item if isinstance(item, (str, float, int, bool)) else str(item)


class Lagged(Reader):
    """Reader of a table with further columns, the lags of others.

    Args:
        reader: Reader of the table.
        lags: The lags, and the rows before the first.
        label: Column of the label in this table; None if labels are unknown.

    Attributes:
        unknown: Rows of the last pass with lags of labels that are unknown, because their rows are in this table.
    """

    def __init__(self, reader: Reader, lags: Lags, label: str | None) -> None:
        self._reader, self.lags, self._label = reader, lags, label
        self._begin = _copy(lags.past)
        taken = [name for name in lags.names if name in reader.names]
        if taken:
            do = Advice("Rename it, or pass ", Option("drop", taken[0]), " and leave the lags out.")
            raise SourceError("a lag must have a name of its own", f"{reader.name} has {quoted(taken[0])}", do)
        self.name, self.named, self.index, self.levels = reader.name, reader.named, reader.index, reader.levels
        self.rereadable, self.independent, self.fixed = reader.rereadable, reader.independent, reader.fixed
        self.grows, self.label_last, self.rows = reader.grows, reader.label_last, reader.rows
        self.spare = reader.spare
        self.declared, self.most_bad, self.notes = reader.declared, reader.most_bad, reader.notes
        self.names = [*reader.names, *lags.names]
        self._read: deque[tuple[int, Row]] = deque()
        self.unknown = 0
        self._now: Past = {}  # the last rows of this pass that were played
        self._before: Past | None = None  # those before its first row

    @property
    def inner(self) -> Reader:
        """Reader of the table without lags."""
        return self._reader

    @property
    def skipped(self) -> list[tuple[int, str]]:  # type: ignore[override]
        """Skipped bad rows of the table."""
        return self._reader.skipped

    @property
    def label(self) -> str | None:
        """Column of labels."""
        return self._reader.label

    @label.setter
    def label(self, name: str | None) -> None:
        self._reader.label = name

    @property
    def tokens(self) -> frozenset[str]:
        """Further texts that mean a missing value."""
        return self._reader.tokens

    @tokens.setter
    def tokens(self, tokens: frozenset[str]) -> None:
        self._reader.tokens = tokens

    def head(self) -> Mapping[str, list[Any]]:
        return self.first_cells()

    def first_cells(self) -> dict[str, list[Any]]:
        found = self._reader.first_cells()
        rows = len(next(iter(found.values())))
        groups = self._groups(found, rows)
        sources = [self._cells(found, name, rows) for name in self.lags.sources]
        lags, _ = self._lags(groups, sources, _copy(self._begin))
        return {**found, **lags}

    def _cells(self, found: Mapping[str, list[Any]], source: str, rows: int) -> list[Any]:
        """Return the cells of a source of lags; None for labels that are unknown."""
        name = self._label if source == self.lags.label else source
        return [None] * rows if name is None else found.get(name, [None] * rows)

    def _groups(self, found: Mapping[str, list[Any]], rows: int) -> list[str]:
        if self.lags.by is None:
            return [""] * rows
        return [_group(value) for value in found.get(self.lags.by, [None] * rows)]

    def _lags(
        self, groups: list[str], sources: list[list[Any]], past: dict[str, list[list[Any]]]
    ) -> tuple[dict[str, list[Any]], list[Row]]:
        """Return the lags of consecutive rows by column, and the rows; `past` is moved to their end."""
        names = self.lags.names
        places = [(source_place(self.lags, source), lag) for source, lag in names.values()]
        found: list[list[Any]] = [[] for _ in names]
        rows, longest = [], self.lags.longest
        for t, group in enumerate(groups):
            before = past.setdefault(group, [])
            for column, (place, lag) in zip(found, places, strict=True):
                column.append(before[-lag][place] if lag <= len(before) else None)
            row = [one[t] for one in sources]
            before.append(row)
            if len(before) > longest:
                del before[0]
            rows.append(Row(group, row))
        return dict(zip(names, found, strict=True)), rows

    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        return self.read(start, wanted)

    def read(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        names, label = self.lags.names, self._label
        of = {source: label if source == self.lags.label else source for source in self.lags.sources}
        kinds: dict[str, Kind] = {name: kind for name, kind in wanted.items() if name not in names}
        for name, (source, _) in names.items():
            if (column := of[source]) is not None and column in self._reader.names:
                kinds.setdefault(column, wanted.get(name, "category"))
        if self.lags.by is not None and self.lags.by in self._reader.names:
            kinds.setdefault(self.lags.by, "category")
        saved: Any = (start or {}).get("lags")
        past = _copy(self._begin if saved is None else saved)
        self._now, self._before = _copy(past), _copy(past) if saved is None else None
        self._read.clear()
        number, self.unknown, counts = 0, 0, Counter[str]()
        for piece in self._reader.read(start, kinds):
            as_lists = {name: cells.plain(array).to_pylist() for name, array in piece.arrays.items()
                        if name in of.values() or name == self.lags.by}  # fmt: skip
            groups = self._groups(as_lists, piece.rows)
            for group in groups if self._label is None and self.lags.label is not None else ():
                self.unknown += counts[group] >= self.lags.horizon
                counts[group] += 1
            sources = [[_plain(cell) for cell in self._cells(as_lists, name, piece.rows)] for name in self.lags.sources]
            lags, rows = self._lags(groups, sources, past)
            arrays = {name: _array(lags[name], wanted[name], piece.arrays.get(of[source] or ""))
                      for name, (source, _) in names.items() if name in wanted}  # fmt: skip
            numbers = np.arange(number, number + piece.rows)
            self._read.extend(zip(numbers.tolist(), rows, strict=True))
            number += piece.rows
            end: Position | None = None if piece.end is None else {**piece.end, "lags": _copy(past)}
            yield replace(piece, arrays={**piece.arrays, **arrays}, end=end, numbers=numbers)

    def played(self, number: int | None) -> None:
        """Move the stored rows to after row `number` of this pass; None for all rows that were read."""
        self.lags.past = self._now
        if self._before is not None:
            self.lags.begun = self._before
        while self._read and (number is None or self._read[0][0] <= number):
            self.lags.push(self._read.popleft()[1])

    def begin_again(self) -> None:
        """Begin the next pass with the rows before the present source."""
        self._begin = _copy(self.lags.begun)

    def fingerprint(self) -> dict[str, Json]:
        return self._reader.fingerprint()

    def extent(self) -> int | None:
        return self._reader.extent()

    def part(self, first: int, last: int) -> Self:
        raise SourceError(f"a table with lags must be read whole: {self.name} cannot be read in parts. Use one worker.")

    def ready(self, wait: float) -> bool:
        return self._reader.ready(wait)

    def numbered(self, error: SourceError) -> SourceError:
        return self._reader.numbered(error)


def source_place(lags: Lags, source: str) -> int:
    """Return the place of a source among the cells of a row."""
    return lags.sources.index(source)


def _copy(past: Mapping[str, list[list[Any]]]) -> Any:
    return {group: [list(row) for row in rows] for group, rows in past.items()}


def _array(values: list[Any], kind: Kind, like: Any) -> Any:
    """Return a lag as an array of the type of its source, if that is read as the same kind."""
    import pyarrow as pa

    if like is not None:
        try:
            return pa.array(values, cells.plain(like).type)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            pass
    return cells.array(values, kind)


def check_sources(lags: Lags, reader: Reader) -> None:
    """Raise an error if a column of the lags is not in the table."""
    for what, name in (("the column of the groups", lags.by), *(("a column with lags", one) for one in lags.columns)):
        if name is not None and name not in reader.names:
            must = f"{what} must be in the table"
            raise SourceError(must, f"{reader.name} has no {quoted(name)}", close(name, reader.names))
