"""Columns of Arrow and Parquet files, and of data frames in memory, read in pieces of some rows.

Frames are those that narwhals supports (pandas, polars, pyarrow tables, ...); a lazy one is collected. The index of a
pandas frame is not a column. Cost: a copy of the rows of a piece; Parquet decodes only the wanted columns, by row
group.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from novikoff.core.errors import SourceError
from novikoff.core.types import Json, Position, count_at
from novikoff.data.arrays import check_names
from novikoff.data.formats.arrow_file import ParquetFile, open_arrow
from novikoff.data.formats.origin import OnDisk
from novikoff.data.formats.pandas_index import index_columns, index_notes
from novikoff.data.tables.column import Kind, names_apart
from novikoff.data.tables.table_reader import RECOGNISED_ROWS, Piece, Reader

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 65_536
"""Default maximum number of rows per piece."""


class Columnar(Reader):
    """Base class for readers of record batches: files and frames.

    Args:
        name: Name of the source in messages.
        schema: Arrow schema without the pandas index.
        levels: Names of the pandas index.
    """

    at_once = ROWS_AT_ONCE
    """Maximum number of rows per piece."""

    def __init__(self, name: str, schema: pa.Schema, levels: Sequence[str]) -> None:
        super().__init__(name)
        self.names, self.levels = names_apart(map(str, schema.names)), levels
        self.notes += index_notes(levels, name)

    @abstractmethod
    def batches(self, skip: int, columns: list[int]) -> Iterator[Any]:
        """Yield record batches or tables after the first `skip` rows."""

    def first_batches(self) -> Iterator[Any]:
        """Yield the batches with the first rows, without consuming them."""
        return self.batches(0, list(range(len(self.names))))

    def head(self) -> Mapping[str, list[Any]]:
        from novikoff.data.tables.cells import plain

        found: dict[str, list[Any]] = {name: [] for name in self.names}
        rows = 0
        for batch in self.first_batches():
            first = batch.slice(0, RECOGNISED_ROWS - rows)
            rows += first.num_rows
            for c, name in enumerate(self.names):
                found[name] += plain(first.column(c)).to_pylist()
            if rows == RECOGNISED_ROWS:
                break
        if rows == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rows.")
        return found

    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        row = count_at(start) if start else self.first
        used = [c for c, name in enumerate(self.names) if name in wanted]
        for batch in self.batches(row, used):
            if self.last is not None:
                batch = batch.slice(0, self.last - row)
            for at in range(0, batch.num_rows, self.at_once):
                part = batch.slice(at, self.at_once)
                arrays = {self.names[c]: part.column(c) for c in used}
                row += part.num_rows
                yield Piece(arrays, part.num_rows, part.nbytes, {"row": row}, _where(row - part.num_rows))
            if row == self.last:
                return


def _where(before: int) -> Any:
    return lambda row: {"row": before + row + 1}


class ArrowTable(Columnar):
    """Rows of an Arrow IPC or Parquet file.

    Args:
        source: Path, URL, "-" or binary file object.
    """

    def __init__(self, source: object) -> None:
        self._source = source if isinstance(source, OnDisk) else OnDisk(source)
        self._file = open_arrow(self._source)
        super().__init__(self._source.name, self._file.schema, self._file.index)
        self.notes[:0] = self._source.notes()
        self.rows = self._file.count()

    def fingerprint(self) -> dict[str, Json]:
        return self._source.fingerprint()

    def borders(self) -> Sequence[int]:
        return self._file.borders()

    def part(self, first: int, last: int) -> Self:
        part = super().part(first, last)
        part._file = open_arrow(self._source)
        return part

    def batches(self, skip: int, columns: list[int]) -> Iterator[Any]:
        if isinstance(self._file, ParquetFile):
            return self._file.batches(skip, columns, self.at_once)
        return self._file.batches(skip, columns)


class FrameTable(Columnar):
    """Rows of a data frame.

    Args:
        frame: Data frame that narwhals supports.
        name: Name of the source in messages.
    """

    def __init__(self, frame: object, name: str = "frame") -> None:
        self._table, levels = _table(frame, name)
        super().__init__(name, self._table.schema, levels)
        self.rows = self._table.num_rows

    def batches(self, skip: int, columns: list[int]) -> Iterator[Any]:
        if self._table.num_rows > skip:
            yield self._table.slice(skip)


def _table(frame: Any, name: str) -> tuple[pa.Table, Sequence[str]]:
    """Return the frame as an Arrow table without the pandas index, and the names of that index."""
    import narwhals as nw
    import pyarrow as pa

    check_names(frame)
    try:
        known = nw.from_native(frame)
        table = (known.collect() if isinstance(known, nw.LazyFrame) else known).to_arrow()
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SourceError(
            f"a frame must be a data frame with one type per column: got {type(frame).__name__} ({reason})."
        ) from None
    index = index_columns(table.schema)
    levels = [table.column_names[c] for c in index]
    return table.select([c for c in range(table.num_columns) if c not in index]), levels
