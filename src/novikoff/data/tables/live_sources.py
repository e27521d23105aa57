"""Tables from Python objects that yield rows: Arrow streams, sequences of frames, cursors of databases.

Arrow streams
    A pyarrow RecordBatchReader, or any object with `__arrow_c_stream__`, such as results of duckdb, polars and ADBC.
Frames
    A list or an iterator of frames or record batches, as one table. The first one determines the columns; later ones
    are matched by name.
Cursors
    A cursor of a database (PEP 249) after `execute`; one with `fetch_record_batch` is read as an Arrow stream.

Lists can be read again, the others once. Memory: the first thousand rows and one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from novikoff.core.errors import InputError, SourceError, counted, quoted
from novikoff.data.arrays import is_cursor, is_part
from novikoff.data.reader import check_options
from novikoff.data.tables.column import names_apart
from novikoff.data.tables.columnar import ROWS_AT_ONCE, Columnar, _table
from novikoff.data.tables.records import ROWS_PER_PIECE, Records
from novikoff.data.tables.table import Table
from novikoff.data.tables.table_reader import RECOGNISED_ROWS, Reader

if TYPE_CHECKING:
    import pyarrow as pa


def live_table(source: Any, options: Mapping[str, Any]) -> tuple[Table | None, Any]:
    """Return an Arrow stream, frames or a cursor as a table, otherwise None; and the source, unread.

    Args:
        source: Any object. Of an iterator the first item is read; the second result still yields it.
        options: Options of `Table`.
    """
    reader, source = _reader(source)
    if reader is None:
        return None, source
    given = {option: value for option, value in options.items() if value is not None}
    check_options(Table, given, "a table in memory", reader.name)
    return Table(reader, **given), source


def _reader(source: object) -> tuple[Reader | None, Any]:
    if isinstance(source, (str, bytes, tuple, Mapping)) or hasattr(source, "__array__") or hasattr(source, "read"):
        return None, source
    if is_cursor(source):
        fetch = getattr(source, "fetch_record_batch", None)
        return (CursorRows(source) if fetch is None else Frames(_batches(fetch(), "cursor"), "cursor")), source
    if isinstance(source, list):
        return (Frames(source, "frames", fixed=True) if source and is_part(source[0]) else None), source
    if hasattr(source, "__arrow_c_stream__"):
        name = type(source).__name__
        return Frames(_batches(source, name), name), source
    if hasattr(source, "__next__") and hasattr(source, "__iter__"):
        first = list(islice(source, 1))
        source = chain(first, source)
        return (Frames(source, "frames") if first and is_part(first[0]) else None), source
    return None, source


def _batches(source: object, name: str) -> Iterator[pa.RecordBatch]:
    """Return the record batches of an Arrow stream."""
    import pyarrow as pa

    try:
        reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise SourceError(f"an Arrow stream must have columns: {name} has not ({_reason(error)}).") from None
    return _read(reader, name)


def _read(reader: pa.RecordBatchReader, name: str) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    # A stream without batches still has its columns.
    yield pa.RecordBatch.from_pylist([], reader.schema)
    rows = 0
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except (pa.ArrowException, OSError) as error:
            must = f"an Arrow stream must be readable: {name} is not, after {counted(rows, 'row')}"
            raise SourceError(f"{must} ({_reason(error)}).") from None
        rows += batch.num_rows
        yield batch


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


class Frames(Columnar):
    """Rows of several frames or record batches, one after the other.

    Args:
        frames: List or iterator of frames or record batches; an iterator is read once.
        name: Name of the source in messages.
        fixed: Whether all rows existed before the game.
    """

    def __init__(self, frames: Iterable[object], name: str = "frames", fixed: bool = False) -> None:
        self._frames, self._taken = frames, 0
        repeatable = iter(frames) is not frames
        tables = self._tables(name)
        self._first: list[pa.Table] = []
        rows = 0
        while rows < RECOGNISED_ROWS and (table := next(tables, None)) is not None:
            self._first.append(table)
            rows += table.num_rows
        if rows == 0:
            left = "" if repeatable else " left. Run the query again, or pass a list"
            raise SourceError(f"a source must not be empty: {name} has no rows{left}.")
        super().__init__(name, self._first[0].schema, self._levels)
        self.rereadable = self.independent = repeatable
        self.fixed = fixed
        if repeatable:
            self.rows = sum(table.num_rows for table in self._tables(name))
        else:
            self._rest = _parts(chain(self._first, tables))

    def _tables(self, name: str) -> Iterator[pa.Table]:
        """Yield each frame as a table with the columns of the first."""
        import pyarrow as pa

        columns = None
        for number, frame in enumerate(self._frames, 1):
            if hasattr(frame, "__arrow_c_array__") and not hasattr(frame, "columns"):
                frame = pa.record_batch(frame)
            whole = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
            if not is_part(whole):
                was = f"item {number:,} of {name} is {type(frame).__name__}"
                raise SourceError("each item must be a frame, as the first is", was)
            table, levels = _table(whole, name)
            if columns is None:
                columns, self._levels = table.column_names, levels
            elif table.column_names != columns:
                table = _matched(table, columns, number, name)
            yield table

    def first_batches(self) -> Iterator[object]:
        return iter(self._first)

    def batches(self, skip: int, columns: list[int]) -> Iterator[Any]:
        left = skip if self.rereadable else skip - self._taken
        if left < 0:
            raise SourceError(f"{self.name} can be read once: row {skip + 1:,} was read before. Pass a list.")
        for part in _parts(self._tables(self.name)) if self.rereadable else self._rest:
            self._taken += part.num_rows
            if left < part.num_rows:
                yield part.slice(left)
            left = max(left - part.num_rows, 0)


def _parts(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield tables in parts of one piece each, so that a pass that ends early leaves the rest unread."""
    return (table.slice(at, ROWS_AT_ONCE) for table in tables for at in range(0, table.num_rows, ROWS_AT_ONCE))


def _matched(table: pa.Table, columns: list[str], number: int, name: str) -> pa.Table:
    """Return the columns of a later frame in the order of the first."""
    absent = [one for one in columns if one not in table.column_names]
    new = [one for one in table.column_names if one not in columns]
    if absent or new or len({*columns}) < len(columns):
        was = f"lacks {quoted(absent[0])}" if absent else f"has {quoted((new or table.column_names)[0])}"
        raise SourceError("frames must have the columns of the first", f"frame {number:,} of {name} {was}")
    return table.select(columns)


class CursorRows(Records):
    """Rows of a cursor of a database (PEP 249), after `execute`.

    Args:
        cursor: Cursor with `description` and `fetchmany`.
    """

    grows = False

    def __init__(self, cursor: Any) -> None:
        if cursor.description is None:
            do = 'Execute a query first: cursor.execute("SELECT ...").'
            raise InputError("a cursor must have rows", "got one without a result", do)
        names = names_apart(str(column[0]) for column in cursor.description)
        super().__init__(_fetched(cursor, names), "cursor")


def _fetched(cursor: Any, names: list[str]) -> Iterator[dict[str, object]]:
    """Yield the rows of a cursor as dicts."""
    while rows := cursor.fetchmany(ROWS_PER_PIECE):
        for row in rows:
            yield dict(zip(names, row, strict=True))
