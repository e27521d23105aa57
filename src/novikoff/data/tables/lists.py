"""Arrow and Parquet files whose rows are lists, as a stream. Files of `convert` are mapped, not parsed.

Layouts, by the columns present
    sparse    `indices` (lists of integers), `values` (lists of floats, of equal length) and a label
    dense     `x` (lists of numbers, all of one length) and a label
    Files of plain columns are tables (table_formats.py).
Checks
    Nothing is missing, all values are finite, and the lists of a row have equal lengths; indices are unique within a
    row. Files of `convert` are not checked for that: their metadata have the labels and the width.
Cost
    IPC files (.arrow, .feather) are mapped: uint32 indices and float values are used in place. Parquet is decoded by
    row groups. On opening, the label column is read until both labels are found, except for files of `convert`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from novikoff.core.batch import Memory
from novikoff.core.errors import SourceError
from novikoff.core.stream import Part, Stream
from novikoff.core.types import Batch, Json, Labels, Position, Sparse, count_at
from novikoff.data.convert import Converted
from novikoff.data.formats.arrow_file import open_arrow
from novikoff.data.formats.arrow_lists import DenseLists, SparseLists
from novikoff.data.formats.origin import OnDisk
from novikoff.data.formats.pandas_index import check_asked, index_notes
from novikoff.data.layout import LABEL_NAMES, named
from novikoff.data.tables.cells import distinct, plain
from novikoff.data.tables.column import is_missing
from novikoff.data.tables.label_column import WrittenLabels
from novikoff.data.tables.table_reader import RECOGNISED_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BATCH = 65_536
"""Maximum number of rows per batch."""


class Arrow(Stream):
    """Stream over an Arrow IPC or Parquet file with list columns.

    Args:
        file: File to read.
        label: Label column, by name or number; None for the default.
        positive: Label for +1; every other label is -1.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
    """

    rereadable = True
    rows: int

    def __init__(
        self, file: OnDisk, label: str | int | None = None, positive: object = None, multiclass: int | None = None
    ) -> None:  # fmt: skip
        self._source, self.name = file, file.name
        self._file = open_arrow(file)
        self.notes = [*file.notes(), *index_notes(self._file.index, self.name)]
        schema = self._file.schema
        check_asked(self._file.index, schema.names, label, LABEL_NAMES, None, self.name)
        note = self._file.last_note() if label is None else None
        self._rows: SparseLists | DenseLists | Converted
        if note is not None:
            self._rows = converted = Converted(schema, note, self.name, positive, multiclass)
            self.table, self.encoded, self.bits = converted.table, converted.encoding, converted.bits
            self.scaled_by_default, self.target_column = converted.scaled_by_default, converted.column
            self.rows = converted.rows
        else:
            self._rows = (SparseLists if _is_list(schema, "indices") else DenseLists)(schema, self.name, label)
            self.encoded, self.rows = None, self._file.count()
            self.scaled_by_default = isinstance(self._rows, DenseLists)
            self.target_column = self._rows.chosen
            self._labels = self._look(positive, multiclass)
        self.converted = note is not None
        self._memory: Memory = "mapped" if self.converted and self._file.mapped else "owned"
        self.domain, self.features = self._rows.domain, self._rows.features

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """Values for -1 and +1; None before they are known, and for multiclass."""
        return self._rows.labels if isinstance(self._rows, Converted) else self._labels.labels

    @property
    def multiclass(self) -> bool:  # type: ignore[override]
        """Whether labels are numbered in order of first appearance."""
        return (self._rows.values is not None) if isinstance(self._rows, Converted) else self._labels.multiclass

    @property
    def label_values(self) -> list[object] | None:  # type: ignore[override]
        """Values of the numbered labels; None if labels are not numbered."""
        return self._rows.values if isinstance(self._rows, Converted) else self._labels.label_values

    @property
    def several(self) -> bool:  # type: ignore[override]
        """Whether the first rows have three or more labels that are not regression outcomes."""
        return not isinstance(self._rows, Converted) and self._labels.several

    def show_many(self) -> None:
        if isinstance(self._rows, Converted):
            return
        self._labels.show_many()
        for batch in self._file.batches(columns=[self._rows.target]):
            with suppress(SourceError):  # raised when its row is read
                self._labels.look(*distinct(batch.column(0)))

    def fingerprint(self) -> dict[str, Json]:
        """Return size and modification time of the file; empty for other sources."""
        return self._source.fingerprint()

    def borders(self) -> Sequence[int]:
        """Return the first rows of record batches or row groups."""
        return self._file.borders()

    def part(self, first: int, last: int) -> Stream:
        """Return these rows as a stream with its own reader."""
        self._within(first, last)
        whole = copy.copy(self)
        whole._file = open_arrow(self._source)
        return Part(whole, first, last)

    def position_at(self, row: int) -> Position:
        return {"row": row, "width": 0}

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        row, width = count_at(start), count_at(start, "width")
        target = self._rows.target
        for table in self._file.batches(row, [target, *self._rows.used]):
            step = table.num_rows if self.converted else ROWS_PER_BATCH
            for at in range(0, table.num_rows, step):
                piece = table.slice(at, step)
                x = self._rows.x(piece, row + 1, width)
                y = self._y(piece.column(target), row + 1)
                row += len(y)
                width = x.width if isinstance(x, Sparse) else 0
                weights = self._rows.weights(piece) if isinstance(self._rows, Converted) else None
                end: Position = {"row": row, "width": width}
                yield Batch(x, y, row - len(y) + 1, end, self._memory, weights, self.encoding)
        if row != self.rows:
            raise SourceError(
                f"a source must not change while it is read: {self.name} has {row:,} rows instead of {self.rows:,}."
            )

    def _look(self, positive: object, multiclass: int | None) -> WrittenLabels:
        """Return the label encoder, after reading the column until both labels are found."""
        if self.rows == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rows.")
        target, labels = self._rows.target, None
        for part in (batch.column(target) for batch in self._file.batches(columns=[target])):
            if labels is None:
                first = [cell for cell in plain(part.slice(0, RECOGNISED_ROWS)).to_pylist() if not is_missing(cell)]
                labels = WrittenLabels(named(self._file.names, target), first, positive, multiclass)
            if labels.known.settled:
                break
            with suppress(SourceError):  # raised when its row is read
                labels.look(*distinct(part))
        assert labels is not None
        return labels

    def _y(self, column: pa.Array, first: int) -> NDArray[Any]:
        """Return the labels of rows whose first row is number `first`."""
        if isinstance(self._rows, Converted):
            return self._rows.y(column, first)
        self._labels.known.expected = self.expected
        try:
            return self._labels.encode(*distinct(column))
        except SourceError as error:
            row = error.where.pop("row")
            raise error.at(
                row=first + (len(column) - 1 if error.where.get("up_to") else row), source=self.name
            ) from None


def has_lists(schema: pa.Schema) -> bool:
    """Return whether the rows are in lists, not in plain columns."""
    import pyarrow as pa

    dense = schema.names.count("x") == 1 and bool(pa.types.is_fixed_size_list(schema.field("x").type))
    return (_is_list(schema, "indices") and _is_list(schema, "values")) or dense


def _is_list(schema: pa.Schema, column: str) -> bool:
    import pyarrow as pa

    if schema.names.count(column) != 1:
        return False
    kind = schema.field(column).type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
