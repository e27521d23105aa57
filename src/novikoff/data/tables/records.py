"""Rows as dicts: `{"age": 31, "city": "Rome"}`, one by one or from an iterable, encoded like rows of a table.

From an iterable
    `Records` is a reader of tables (table_reader.py): kinds are detected from the first thousand rows, as in a file, so
    the rows give the same features and predictions as the same rows in a frame, a CSV file or JSON lines.
One by one
    No later row is known. Kinds come from a schema, such as `{"age": "number", "city": "category"}`, or from the first
    row; a column without a value gets its kind from its first value. Numeric columns are numbered first, then the
    others in order of appearance, as in a table. So the features are those of the table, if the first row, or the
    schema, shows the kinds that the table has.
Growth
    A column that appears later is added at its first value. New categories are features from the row in which they are
    first learned. Absent keys, None and NaN are missing values.
Numbers only
    A first dict of numbers only is not a record: its keys are features, absent ones are 0, and it is not scaled. In
    later dicts of such a stream, text, dates and missing values become features `city=Rome` and `age is missing`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from numbers import Real
from typing import Any

import numpy as np

from novikoff.core.errors import InputError, SourceError, Where, named, quoted, shown
from novikoff.core.types import Position, count_at
from novikoff.data.tables import cells
from novikoff.data.tables.column import NO_FEATURE, Column, Kind, is_missing, recognise
from novikoff.data.tables.encoding import Encoding, gone
from novikoff.data.tables.table_reader import RECOGNISED_ROWS, Piece, Reader

Schema = Mapping[str, str] | Encoding
"""Kind of each column by name, or the encoding of a table."""

ROWS_PER_PIECE = 1024
"""Rows that are read from an iterable at a time."""
PLAIN = (float, int, bool)
"""Types of most numbers."""
CHOICES = ("number", "boolean", "category", "text", "time", "ignored")
"""Kinds that a schema may have."""


def is_record(x: object) -> bool:
    """Return whether x is a dict of columns with a value that is not a number: text, a date, or a missing value."""
    if not isinstance(x, Mapping) or not x:
        return False
    found = False
    for key, value in x.items():  # on the path of every dict row: loops without generators, and floats first
        if type(key) is not str and not isinstance(key, str):
            return False
        found = found or (value != value if type(value) in PLAIN else not _is_number(value))
    return found


def _is_number(value: object) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return True
    return isinstance(value, (Real, Decimal)) and value == value


def cell_value(value: object) -> object:
    """Return a value of numpy or pandas as a Python value; None if it is missing."""
    if type(value) in (str, int, float, bool):
        return None if value != value else value
    nothing = type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    return None if nothing else value.item() if isinstance(value, np.generic) else value


def checked_schema(schema: object) -> Schema:
    """Return a schema: a mapping from columns to kinds, an encoding, or anything that has one (a table, a ledger)."""
    if isinstance(schema, Encoding):
        return schema
    behind = getattr(schema, "encoding", None)
    if isinstance(behind, Encoding):
        return behind
    if not isinstance(schema, Mapping) or not schema or not all(isinstance(name, str) for name in schema):
        raise InputError(
            "a schema must be a dict of columns and their kinds",
            f"got {shown(schema) if isinstance(schema, (Mapping, str, list)) else named(schema)}",
            'Write schema={"age": "number", "city": "category"}.',
        )
    for name, kind in schema.items():
        if kind not in CHOICES:
            raise InputError(
                f"the kind of a column must be one of {', '.join(CHOICES)}", f"got {shown(kind)} for {quoted(name)}"
            )
    return dict(schema)


def first_encoding(x: Mapping[str, object], schema: Schema | None = None) -> Encoding:
    """Return the encoding with which rows that arrive one by one begin.

    Args:
        x: First row.
        schema: Kinds of columns; None to detect all from the first row.
    """
    if isinstance(schema, Encoding):
        known = Encoding.restore(schema.state())
        columns = [Column(one.name, one.kind, one.form, one.timed) for one in known.columns]
        numeric = all(one.kind in ("number", "boolean") for one in columns)
        return Encoding(columns, schema.bits, True, schema.label, known.left_out, open=not numeric)
    kinds = dict(schema or {})
    names = [*kinds, *(name for name in x if name not in kinds)]
    columns = []
    for name in names:
        value = plain_value(name, x.get(name))
        found = recognise(name, [value])
        kind = kinds.get(name, found.kind)
        columns.append(found if kind == found.kind else Column(name, kind))  # type: ignore[arg-type]
    numeric = all(column.kind in ("number", "boolean") for column in columns)
    return Encoding(columns, open=not (numeric and schema))


def plain_value(name: str, value: object) -> object:
    """Return a cell as a Python value; raise InputError for a list or a dict."""
    value = cell_value(value)
    if isinstance(value, (list, dict, set, tuple, np.ndarray)):
        raise InputError(
            "values of a row must be plain", f"{quoted(name)} is {named(value)}", "Give each of its parts a key."
        )
    return value


def values_of_row(x: Any, encoding: Encoding, learn: bool, live: bool) -> tuple[dict[str, object], list[Column]]:
    """Return the cells of a row by column, and its columns: some may have no kind yet, some may be new.

    Args:
        x: Mapping, or row of a pandas frame.
        encoding: Encoding of the game; an open one takes new columns.
        learn: Whether to store the kinds of columns and the new columns in the encoding.
        live: Whether new columns matter, because the row is learned or will be.
    """
    columns = list(encoding.columns)
    values = {column.name: plain_value(column.name, x.get(column.name)) for column in columns}
    if encoding.missing:
        tokens = frozenset(encoding.missing)
        values = {name: None if cells.is_token(value, tokens) else value for name, value in values.items()}
    if not live:
        return values, columns
    for place, column in enumerate(columns):
        if column.kind == "unknown" and not is_missing(values[column.name], NO_FEATURE):
            found = recognise(column.name, [values[column.name]])
            columns[place] = encoding.settle(column, found) if learn else encoding.usable(found)
    if encoding.open:
        for name in x if isinstance(x, Mapping) else x.index:
            if name in values or name == encoding.label or name in encoding.left_out:
                continue
            if not isinstance(name, str):
                raise InputError(f"columns must be named by text: got {shown(name)}.")
            value = plain_value(name, x[name])
            if not is_missing(value, NO_FEATURE):
                values[name] = value
                columns.append(encoding.usable(recognise(name, [value])))
                if learn:
                    encoding.admit(columns[-1])
        if learn:
            encoding.add_to_means(values)
    return values, columns


def expanded(x: Mapping[str, object], numbers: Container[str] = ()) -> dict[str, float]:
    """Return a dict of named features for a dict among dicts of numbers: texts and dates become features of value 1.

    Args:
        x: Values by name.
        numbers: Names that had numbers before, which must not become texts or dates.
    """
    found: dict[str, float] = {}
    for name, given in x.items():
        value = plain_value(name, given)
        if value is None or is_missing(value, NO_FEATURE):
            found[gone(name)] = 1.0
        elif isinstance(value, (str, date)) and name in numbers:
            raise InputError(
                f"{quoted(name)} must be a number, as in earlier rows: got {given!r}. Convert it, or pass schema."
            )
        elif isinstance(value, date):
            found[f"{name}: month={value.month}"] = found[f"{name}: weekday={value.weekday()}"] = 1.0
        elif isinstance(value, str):
            found[f"{name}={cells.spelled(value.strip())}"] = 1.0
        else:
            found[name] = value  # type: ignore[assignment]
    return found


def first_items(source: Iterable[object]) -> tuple[list[object], Iterable[object]]:
    """Return the first items of an iterable, and an iterable of all of them."""
    if iter(source) is source:
        first = list(islice(source, RECOGNISED_ROWS))
        return first, _Rest(first, source)
    return list(islice(source, RECOGNISED_ROWS)), source


class _Rest(Iterator[Any]):
    """An iterator whose first items were looked at: it yields these, then the others."""

    def __init__(self, first: list[object], rest: Iterable[object]) -> None:
        self._all = chain(first, rest)

    def __next__(self) -> object:
        return next(self._all)


class Records(Reader):
    """Reader of dicts, or of pairs of a dict and its label.

    Args:
        source: Iterable of dicts or of pairs; an iterator is read once.
        name: Name of the source in messages.
        fixed: Whether all rows existed before the game.
    """

    grows = True

    def __init__(self, source: Iterable[object], name: str = "rows", fixed: bool = False) -> None:
        super().__init__(name)
        self.rereadable = iter(source) is not source
        self.independent, self.fixed = self.rereadable, fixed
        first, self._source = first_items(source)
        if not first:
            left = "" if self.rereadable else " left. Pass a list to read it again"
            raise SourceError(f"a source must not be empty: {name} has no rows{left}.")
        self._paired = not isinstance(first[0], Mapping)
        keys = dict.fromkeys(key for number, one in enumerate(first, 1) for key in self._parts(one, number)[0])
        self.target = _free("label", keys) if self._paired else None
        self.names = [*keys, *([] if self.target is None else [self.target])]
        self._first = [self._row(one, number) for number, one in enumerate(first, 1)]
        self._taken = 0
        if isinstance(source, (list, tuple)):
            self.rows = len(source)

    def head(self) -> Mapping[str, list[Any]]:
        return {name: [row.get(name) for row in self._first] for name in self.names}

    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        row = count_at(start) if start else self.first
        skip = row if self.rereadable else row - self._taken
        if skip < 0:
            raise SourceError(f"{self.name} can be read once: row {row + 1:,} was read before. Pass a list.")
        items = islice(self._source, skip, None)
        while some := list(islice(items, ROWS_PER_PIECE if self.last is None else self.last - row)):
            rows, error = [], None
            for number, one in enumerate(some, row + 1):
                try:
                    rows.append(self._row(one, number))
                except SourceError as wrong:
                    error = wrong
                    break
            known = {*self.names, *wanted}
            new = dict.fromkeys(key for one in rows for key in one if key not in known)
            arrays = {name: cells.array([one.get(name) for one in rows], kind) for name, kind in wanted.items()}
            arrays |= {name: _later([one.get(name) for one in rows]) for name in new}
            before, row = row, row + len(rows)
            self._taken = row
            where = partial(_place, before)
            yield Piece(arrays, len(rows), 64 * len(rows), {"row": row}, where, error)
            if error is not None or row == self.last:
                return

    def _parts(self, item: Any, number: int) -> tuple[Mapping[Any, Any], Any]:
        """Return a row and its label, None for rows without a separate one."""
        x, y = item, None
        if self._paired:
            try:
                x, y = item
            except (TypeError, ValueError):
                must = "each item must be a pair of a row and its label"
                raise SourceError(must, f"is {named(item)}", row=number, source=self.name) from None
        if not isinstance(x, Mapping) or not all(isinstance(key, str) for key in x):
            must = "each row must be a dict whose keys are text, as the first is"
            raise SourceError(must, f"is {shown(x)}", row=number, source=self.name)
        return x, y

    def _row(self, item: object, number: int) -> dict[str, Any]:
        """Return a row with its label, of plain values."""
        x, y = self._parts(item, number)
        try:
            row = {name: plain_value(name, value) for name, value in x.items()}
            return row if self.target is None else {**row, self.target: plain_value("the label", y)}
        except InputError as error:
            raise SourceError(error.must, error.got, error.do, row=number, source=self.name) from None


def _place(before: int, k: int) -> Where:
    """Return the position of row k of a piece, from 0, after `before` rows."""
    return {"row": before + k + 1}


def _free(name: str, taken: Iterable[str]) -> str:
    """Return a name for the label that no column has."""
    used = {*taken}
    while name in used:
        name = f"{name} (outcome)"
    return name


def _later(values: list[object]) -> object:
    """Return the cells of a column that appears after the first rows, whose kind is not known yet."""
    found = next((value for value in values if not is_missing(value, NO_FEATURE)), None)
    return cells.array(values, recognise("", [found]).kind)
