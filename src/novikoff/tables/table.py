"""A table as a stream: any format, columns of every kind, read in one pass.

Columns
    What each is, is recognised from the first rows (tables/column.py) and told by `describe`; `number`, `category`,
    `text` and `time` overrule that, `columns` chooses, `drop` leaves out. How they become features is told by
    tables/encoding.py. A learner that has learned from a table keeps its encoding, and later tables are read by that:
    matched by name, in any order.
Labels
    The column `label`, by its name or number; else one called label, y, class or target; else the last. Two values, the
    larger +1; `positive` overrules; `many` for 0 .. many-1. With `outcomes="numbers"` they are numbers to be predicted.
    Rows wait until both labels have come, for 16 MB or a second at most; then a file is looked through for the other,
    and a pipe goes by streaming_labels.py. With `labelled=False` there is none, and y is -1.
"""

from __future__ import annotations

import time as clock
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import Advice, MismatchError, Option, SourceError, quoted
from novikoff.sources.layout import LABEL_NAMES, WHOLE, is_number
from novikoff.sources.pandas_index import check_asked
from novikoff.sources.streaming_labels import StreamingLabels
from novikoff.stream import Stream
from novikoff.tables import cells
from novikoff.tables.column import Column, Kind, is_missing, looks_like_id, recognise
from novikoff.tables.encoding import Encoding
from novikoff.tables.piece import Piece, Reader
from novikoff.types import Batch, Domain, Labels, Position

LOOK_AHEAD_BYTES = 2**24
LABEL_SECONDS = 1.0
MOST_NAMED = 5


class Table(Stream):
    """The rows of a table.

    reader      the format (tables/delimited.py, objects.py, columnar.py)
    label       the label column, by name or by number from 0 (from the end if negative)
    positive    the label that is +1, against all others
    many        how many labels there are: whole numbers from 0 to many-1
    columns     the columns to learn from, by name or number; all but the label by default
    drop        columns to leave out
    number, category, text, time   columns that are such, whatever they look like
    bits        hash features into 2^bits places
    outcomes    "labels" or "numbers"
    labelled    False: rows to be predicted
    """

    def __init__(
        self,
        reader: Reader,
        label: str | int | None = None,
        positive: Any = None,
        many: int | None = None,
        columns: Sequence[str | int] | None = None,
        drop: Sequence[str | int] = (),
        number: Sequence[str | int] = (),
        category: Sequence[str | int] = (),
        text: Sequence[str | int] = (),
        time: Sequence[str | int] = (),
        bits: int | None = None,
        outcomes: str = "labels",
        labelled: bool = True,
    ) -> None:
        if bits is not None and not 1 <= bits <= 32:
            raise SourceError(f"bits must be from 1 to 32: got {bits}.")
        self._reader, self.outcomes, self.unlabelled = reader, outcomes, not labelled
        self.name, self.rereadable, self.fixed = reader.name, reader.rereadable, reader.fixed
        self.notes += reader.notes
        self._positive, self._many = positive, many
        check_asked(reader.levels, reader.names, label, LABEL_NAMES, columns, self.name)
        chosen = {kind: [self._find(c, f"a {kind} column") for c in asked] for kind, asked in
                  (("number", number), ("category", category), ("text", text), ("time", time))}  # fmt: skip
        left_out = {self._find(c, "a column to leave out") for c in drop}
        used = None if columns is None else [self._find(c, "a column") for c in columns]
        self.label = self._label(label, used or [], left_out) if labelled else None
        others = [name for name in reader.names[reader.index :] if name != self.label and name not in left_out]
        names = used if used is not None else others
        if not names or self.label in names:
            raise SourceError(f"a table must have a label and a feature: {self.name} has {self.label} only.")
        head = reader.head()
        self.columns = [self._column(name, head[name], chosen) for name in names]
        self._first = dict(head)
        self.encoding = Encoding(self.columns, bits)
        self._labels = self._fresh()
        self._texts: bool | None = None  # are the labels text?
        self._point = self.encoding.dense and all(
            column.kind == "boolean" or all(is_missing(c) or WHOLE.fullmatch(str(c).strip()) for c in head[column.name])
            for column in self.columns
        )
        for column in self.columns:
            if looks_like_id(column, head[column.name]):
                told = f"{column.name} of {self.name} is different in every row: it says nothing of new rows. Pass "
                self.notes.append(Advice(told, Option("drop", column.name), " to leave it out."))

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """Vectors; points if all columns are whole numbers."""
        if self.encoding.dense:
            return Domain("point" if self._point else "vector", len(self.encoding.columns))
        return Domain("vector", None if self.encoding.bits is None else 2**self.encoding.bits)

    @property
    def features(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """The names of the columns; None if they have none."""
        return tuple(column.name for column in self.encoding.columns) if self._reader.named else None

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """What stands for -1 and +1; None before it is known, and with `many`."""
        return None if self.unlabelled or self.outcomes == "numbers" else self._labels.labels

    def describe(self) -> list[str]:
        """A line for each column: what it is, and its first value."""
        lines = []
        for name in self._reader.names:
            column = next((c for c in self.encoding.columns if c.name == name), None)
            what = "label" if name == self.label else str(column).split(": ", 1)[1] if column else "left out"
            said = next((str(cell) for cell in self._first.get(name, ()) if not is_missing(cell)), "nothing yet")
            lines.append(f"{name}: {what} ({quoted(said)[1:-1]}, ...)")
        return lines

    def fingerprint(self) -> dict[str, Any]:
        """By what a file is known again."""
        return self._reader.fingerprint()

    def adopt(self, encoding: Encoding) -> None:
        """Read by the encoding of a learner; its columns must be those of this table, in any order."""
        known, shown = [c.name for c in encoding.columns], [c.name for c in self.columns]
        missing, new = [n for n in known if n not in self._reader.names], [n for n in shown if n not in known]
        if missing or new:
            raise MismatchError(_mismatch(self.name, missing, new))
        self.encoding = encoding

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        self._labels = self._fresh()
        if start and "labels" in start:
            self._labels.load(start["labels"])
            self._texts = start["texts"]
        row = start["row"] if start else 0
        wanted: dict[str, Kind] = {column.name: column.kind for column in self.encoding.columns}
        if self.label is not None:
            wanted[self.label] = "number" if self.outcomes == "numbers" else "category"
        for whole in self._settled(self._reader.pieces(start, wanted)):
            for piece in self._known(whole):
                x, y, error = self._rows(piece)
                if len(y):
                    end = None if error or piece.end is None else self._position(piece.end)
                    yield Batch(x, y, row + 1, end, "owned")
                row += len(y)
                if error:
                    raise error
        if row == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rows.")

    def _known(self, piece: Piece) -> Iterator[Piece]:
        """The piece, cut where a column of which nothing was known says something for the first time."""
        while True:
            cut = piece.rows
            for column in [column for column in self.encoding.columns if column.kind == "unknown"]:
                if piece.rows == 0:
                    continue
                array = cells.plain(piece.arrays[column.name])
                _, codes = cells.distinct(array)
                first = int(np.argmax(codes >= 0)) if (codes >= 0).any() else piece.rows
                if first == 0:
                    self.encoding.settle(column, recognise(column.name, array.slice(0, 1).to_pylist()))
                else:
                    cut = min(cut, first)
            if cut == piece.rows:
                yield piece
                return
            first_part, piece = piece.cut(cut)
            yield first_part

    def _rows(self, piece: Piece) -> tuple[Any, NDArray[Any], SourceError | None]:
        """x and y of the rows, up to one that is wrong; and what is wrong with it."""
        rows, error = piece.rows, piece.error
        while True:
            try:
                y = self._outcomes(piece, rows)
                x = self._x(piece, rows)
                return x, y, error
            except SourceError as wrong:
                rows = wrong.where.pop("row")
                error = wrong.at(**piece.where(rows)).at(source=self.name)

    def _x(self, piece: Piece, rows: int) -> Any:
        arrays = {c.name: piece.arrays[c.name].slice(0, rows) for c in self.encoding.columns} if rows else {}
        if not rows:
            return np.empty((0, self.encoding.width))
        return self.encoding.rows(arrays, rows)

    def _outcomes(self, piece: Piece, rows: int) -> NDArray[Any]:
        if self.label is None:
            return np.full(rows, -1, dtype=np.int8)
        array = piece.arrays[self.label].slice(0, rows) if rows else None
        if array is None:
            return np.empty(0, dtype=np.float64 if self.outcomes == "numbers" else np.int8)
        if self.outcomes == "numbers":
            values = cells.numbers(array, Column(self.label, "number")).astype(np.float64, copy=False)
            if np.isnan(values).any():
                row = int(np.argmax(np.isnan(values)))
                raise cells.missing(row, self.label, "outcomes")
            return values
        return self._labels.encode(self._values(array))

    def _values(self, array: Any) -> NDArray[Any]:
        """The labels of rows as numbers or as text, all of one kind."""
        texts, codes = cells.distinct(array)
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise cells.missing(row, str(self.label), "labels")
        if self._texts is None and texts:
            self._texts = not is_number(texts[int(codes[0])])
        if not self._texts:
            for code, text in enumerate(texts):
                if not is_number(text):
                    row = int(np.argmax(codes == code))
                    do = Advice("Correct the cell, or pass ", Option("positive", letter="VALUE"), ".")
                    must = "labels must be numbers, as the first is"
                    raise cells.bad_cell(row, str(self.label), must, f"has {quoted(text)}", do)
            return np.array([float(text) for text in texts])[codes]
        column = np.empty(len(texts), dtype=object)
        column[:] = texts
        return np.asarray(column[codes])

    def _settled(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """The pieces, held back at first until both labels have come, or for as long as may be."""
        if self.label is None or self.outcomes == "numbers":
            yield from pieces
            return
        held: deque[Piece] = deque()
        deadline = 0.0
        for piece in pieces:
            held.append(piece)
            if self._labels.labels is None and not self._labels.settled and piece.rows:
                deadline = deadline or clock.monotonic() + LABEL_SECONDS
                self._look(piece)
                if not self._labels.settled and piece.error is None:
                    size = sum(one.size for one in held)
                    if size < LOOK_AHEAD_BYTES and self._reader.ready(max(0.0, deadline - clock.monotonic())):
                        continue
                    self._look_further(piece.end)
            while held:
                yield held.popleft()
        yield from held

    def _look(self, piece: Piece) -> None:
        with suppress(SourceError):  # told when its row comes
            self._labels.look(self._values(piece.arrays[str(self.label)]))

    def _look_further(self, start: Position | None) -> None:
        """Look for the second label in what is left of a file."""
        if not self._reader.independent:
            return
        for piece in self._reader.pieces(start, {str(self.label): "category"}):
            if piece.rows:
                self._look(piece)
            if self._labels.settled or piece.error is not None:
                return

    def _fresh(self) -> StreamingLabels:
        return StreamingLabels(self._positive, self._many)

    def _position(self, end: Position) -> Position:
        return {**end, "labels": self._labels.state(), "texts": self._texts}

    def _label(self, asked: str | int | None, used: Sequence[str], left_out: set[str]) -> str:
        """The label column: asked for, or called like one, or the last."""
        if asked is not None:
            return self._find(asked, "the label column")
        there = [
            n for n in self._reader.names[getattr(self._reader, "index", 0) :] if n not in left_out and n not in used
        ]
        if not there:
            raise SourceError(
                f"a table must have a label and a feature: {self.name} has no column left. Name the label."
            )
        lower = {name.lower(): name for name in reversed(there)}
        return next((lower[name] for name in LABEL_NAMES if name in lower), there[-1])

    def _find(self, column: str | int, what: str) -> str:
        """A column asked for by its name, or else by its number."""
        names = self._reader.names
        if column in names:
            return str(column)
        number = int(column) if isinstance(column, int) or WHOLE.fullmatch(column) else None
        if number is not None and -len(names) <= number < len(names):
            return names[number]
        there = ", ".join(names[:50]) if self._reader.named else f"0 to {len(names) - 1}"
        raise SourceError(f"{what} must be one of {there}: {column!r} is not there, in {self.name}. Choose another.")

    def _column(self, name: str, head: Sequence[Any], chosen: dict[str, list[str]]) -> Column:
        """What a column is: as it was asked for, or as it looks."""
        kinds = [kind for kind, names in chosen.items() if name in names]
        if len(kinds) > 1:
            raise SourceError(f"a column must be of one kind: {name} is asked for as {' and '.join(kinds)}.")
        found = recognise(name, head)
        if not kinds or kinds[0] == found.kind:
            return found
        if kinds[0] == "time":
            raise SourceError(
                f"dates must be of one form: {name} of {self.name} is not ({found.kind}). Write it as 2024-12-31."
            )
        return Column(name, kinds[0])  # type: ignore[arg-type]


def _mismatch(name: str, missing: Sequence[str], new: Sequence[str]) -> str:
    told = []
    if missing:
        told.append(f"lacks {', '.join(missing[:MOST_NAMED])}")
    if new:
        told.append(f"has {', '.join(new[:MOST_NAMED])} besides")
    return f"a table must have the columns that were learned from: {name} {' and '.join(told)}. Add or drop them."
