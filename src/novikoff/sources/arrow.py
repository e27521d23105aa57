"""Arrow and Parquet files as a stream. What `convert` wrote is mapped, not parsed.

Layouts, by the columns that are there
    sparse    `indices` (lists of whole numbers), `values` (lists of real ones, as long) and a label
    dense     `x` (lists of numbers, all of one length) and a label
    Files of plain columns are tables (tables/formats.py).
Checks
    Nothing missing, all finite, lists of one length in a row; no index twice in a row, unless the file is one of
    `convert`, which says beside its rows what the labels stand for, the width, and that the rows are clean.
Cost
    IPC files (.arrow, .feather) are mapped: uint32 indices and float values are shown where they lie in the file.
    Parquet is unpacked by row groups. One pass over the label column when opened, but for files of `convert`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from novikoff.batch import Memory
from novikoff.errors import SourceError, Where
from novikoff.sources.arrow_file import index_notes, open_arrow
from novikoff.sources.arrow_lists import DenseLists, SparseLists
from novikoff.sources.converted import Converted
from novikoff.sources.label_column import LabelValues
from novikoff.sources.layout import LABEL_NAMES, named
from novikoff.sources.on_disk import OnDisk
from novikoff.sources.pandas_index import check_asked
from novikoff.stream import Stream
from novikoff.types import Batch, Position, Sparse

ROWS_PER_BATCH = 65_536


class Arrow(Stream):
    """The rows of an Arrow IPC or a Parquet file.

    source     a path, "-" for standard input, or a binary file object
    label      the label column: its name, or its number from 0 (from the end if negative). By default a column
               named label, y, class or target, else the last
    positive   the label value that is +1, against all others
    columns    the feature columns, by name or number, in this order. By default all but the label
    many       how many labels there are, for a learner with many: whole numbers from 0 to many-1
    """

    rereadable = True
    rows: int

    def __init__(
        self,
        source: Any,
        label: str | int | None = None,
        positive: Any = None,
        columns: Sequence[str | int] | None = None,
        many: int | None = None,
    ) -> None:
        file = self._source = source if isinstance(source, OnDisk) else OnDisk(source)
        self.name = file.name
        self._file = open_arrow(file)
        self.notes = [*file.notes(), *index_notes(self._file, self.name)]
        schema = self._file.schema
        check_asked(self._file.index, schema.names, label, LABEL_NAMES, columns, self.name)
        note = self._file.last_note() if label is None and columns is None else None
        self.converted = note is not None
        self._memory: Memory = "mapped" if self.converted and self._file.mapped else "owned"
        self._rows: SparseLists | DenseLists | Converted
        self._labels: LabelValues | Converted
        if note is not None:
            self._rows = self._labels = Converted(schema, note, self.name, positive, many)
        else:
            self._rows = _layout(schema, self.name, label, columns)
            target = self._rows.target
            cells = (batch.column(target) for batch in self._file.batches(columns=[target]))
            where: Where = {"column": named(self._file.names, target), "source": self.name}
            self._labels = LabelValues(cells, where, positive, many)
        self.domain = self._rows.domain
        self.table = isinstance(self._rows, Converted) and self._rows.table
        self.encoded = self._rows.encoding if isinstance(self._rows, Converted) else None
        self.features = self._rows.features
        self.bits = self._rows.bits if isinstance(self._rows, Converted) else None
        self.labels = self._labels.labels
        self.rows = self._labels.rows

    def fingerprint(self) -> dict[str, Any]:
        """Size and time of change of the file; empty for other sources."""
        return self._source.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        row, width = (start["row"], start["width"]) if start else (0, 0)
        target = self._rows.target
        for table in self._file.batches(row, [target, *self._rows.used]):
            step = table.num_rows if self.converted else ROWS_PER_BATCH
            for at in range(0, table.num_rows, step):
                piece = table.slice(at, step)
                x = self._rows.x(piece, row + 1, width)
                y = self._labels.y(piece.column(target), row + 1)
                row += len(y)
                width = x.width if isinstance(x, Sparse) else 0
                yield Batch(x, y, row - len(y) + 1, {"row": row, "width": width}, self._memory)
        if row != self.rows:
            raise SourceError(f"a source must stay as it is: {self.name} has {row:,} rows instead of {self.rows:,}.")


def has_lists(schema: Any) -> bool:
    """Are the rows in lists, not in plain columns?"""
    return (_is_list(schema, "indices") and _is_list(schema, "values")) or _is_dense(schema)


def _is_list(schema: Any, column: str) -> bool:
    import pyarrow as pa

    if schema.names.count(column) != 1:
        return False
    kind = schema.field(column).type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_dense(schema: Any) -> bool:
    import pyarrow as pa

    return schema.names.count("x") == 1 and bool(pa.types.is_fixed_size_list(schema.field("x").type))


def _layout(
    schema: Any, name: str, label: str | int | None, columns: Sequence[str | int] | None
) -> SparseLists | DenseLists:
    if columns is not None:
        raise SourceError(f"columns must be those of a table: {name} holds lists. Leave them out.")
    if _is_list(schema, "indices") and _is_list(schema, "values"):
        return SparseLists(schema, name, label)
    if _is_dense(schema):
        return DenseLists(schema, name, label)
    raise SourceError(
        f"rows must be lists, `indices` and `values` or `x`: those of {name} are not. Read it as a table."
    )
