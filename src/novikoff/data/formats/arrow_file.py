"""Record batches of Arrow IPC and Parquet files. IPC files are memory-mapped; Parquet is decoded by row groups.

The index of a pandas frame stored among the columns is hidden; `index` has its names.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from novikoff.core.errors import SourceError
from novikoff.data.formats.origin import OnDisk
from novikoff.data.formats.pandas_index import index_columns

if TYPE_CHECKING:
    import pyarrow as pa

IPC_MAGIC = b"ARROW1"
"""First bytes of an Arrow IPC file."""
PARQUET_MAGIC = b"PAR1"
"""First bytes of a Parquet file."""
ROWS_AT_ONCE = 65_536
"""Maximum number of rows per batch of a Parquet file."""


class IpcFile:
    """Arrow IPC file (.arrow, .feather), memory-mapped if local.

    Attributes:
        mapped: Whether batches point into the mapped file, without decompression.
        schema: Schema without the pandas index.
        index: Names of the pandas index columns.
        names: Column names.
    """

    def __init__(self, file: OnDisk) -> None:
        import pyarrow as pa

        self._file = file
        with reading(file):
            whole = None if file.remote else _mapped(file.path)
            self._reader = pa.ipc.open_file(file.open() if whole is None else whole)
            self._columns, self.schema, self.index = _without_index(self._reader.schema)
            self.names = tuple(self.schema.names)
            there = whole is not None and self._reader.num_record_batches > 0
            self.mapped = there and _within(whole, self._reader.get_batch(0))

    def __reduce__(self) -> tuple[object, ...]:
        return open_arrow, (self._file,)

    def borders(self) -> list[int]:
        """Return the first row of each record batch, and the number of rows."""
        with reading(self._file):
            batches = (self._reader.get_batch(number) for number in range(self._reader.num_record_batches))
            return list(accumulate((batch.num_rows for batch in batches), initial=0))

    def count(self) -> int:
        """Return the number of rows."""
        with reading(self._file):
            return sum(self._reader.get_batch(number).num_rows for number in range(self._reader.num_record_batches))

    def batches(self, skip: int = 0, columns: list[int] | None = None) -> Iterator[Any]:
        """Yield the record batches after the first `skip` rows; validate `columns`, or all if None."""
        with reading(self._file):
            for number in range(self._reader.num_record_batches):
                batch = self._reader.get_batch(number)
                batch = batch.select(self._columns) if self.index else batch
                if batch.num_rows > skip:
                    yield checked(batch.slice(skip) if skip else batch, columns)
                skip = max(0, skip - batch.num_rows)

    def last_note(self) -> bytes | None:
        """Return the metadata that `convert` attached to the last record batch."""
        with reading(self._file):
            count = self._reader.num_record_batches
            metadata = self._reader.get_batch_with_custom_metadata(count - 1)[1] if count else None
        return metadata.get(b"novikoff") if metadata else None


class ParquetFile:
    """Parquet file, with the interface of `IpcFile`."""

    mapped = False

    def __init__(self, file: OnDisk) -> None:
        import pyarrow.parquet as pq

        self._file = file
        with reading(file):
            self._reader = pq.ParquetFile(file.open() if file.remote else file.path, memory_map=not file.remote)
            self._columns, self.schema, self.index = _without_index(self._reader.schema_arrow)
            self.names = tuple(self.schema.names)

    def __reduce__(self) -> tuple[object, ...]:
        return open_arrow, (self._file,)

    def borders(self) -> list[int]:
        """Return the first row of each row group, and the number of rows."""
        metadata = self._reader.metadata
        groups = (metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
        return list(accumulate(groups, initial=0))

    def count(self) -> int:
        """Return the number of rows."""
        rows: int = self._reader.metadata.num_rows
        return rows

    def batches(
        self, skip: int = 0, columns: list[int] | None = None, at_once: int = ROWS_AT_ONCE
    ) -> Iterator[Any]:  # fmt: skip
        """Yield the rows after the first `skip`, at most `at_once` per batch.

        Only `columns` are decoded, the others are null.
        """
        import pyarrow as pa

        names = list(self.names)
        some = columns is not None and len({*names, *self.index}) == len(names) + len(self.index)
        wanted = [names[c] for c in columns] if columns is not None and some else None
        with reading(self._file):
            for group in range(self._reader.metadata.num_row_groups):
                rows = self._reader.metadata.row_group(group).num_rows
                if rows <= skip:
                    skip -= rows
                    continue
                for batch in self._reader.iter_batches(at_once, row_groups=[group], columns=wanted):
                    if batch.num_rows > skip:
                        rest = batch.slice(skip)
                        if wanted is None and self.index:
                            rest = rest.select(self._columns)
                        if wanted is not None:
                            there = {name: rest.column(name) for name in wanted}
                            empty = pa.nulls(rest.num_rows)
                            rest = pa.record_batch([there.get(name, empty) for name in names], names=names)
                        yield checked(rest, columns)
                    skip = max(0, skip - batch.num_rows)

    def last_note(self) -> bytes | None:
        """Return None: Parquet has no metadata per batch."""
        return None


ArrowFile = IpcFile | ParquetFile


def _without_index(schema: pa.Schema) -> tuple[list[int], pa.Schema, tuple[str, ...]]:
    """Return the columns outside the pandas index, their schema, and the names of the index."""
    import pyarrow as pa

    index = index_columns(schema)
    if not index:
        return list(range(len(schema))), schema, ()
    left = [c for c in range(len(schema)) if c not in index]
    return left, pa.schema([schema.field(c) for c in left]), tuple(schema.names[c] for c in index)


def _mapped(path: str) -> pa.Buffer:
    """Return the file memory-mapped by Python: pyarrow would map each batch separately, slower than reading it.

    Large pages are requested where the system has them: it then reads and maps two megabytes at a time. (A hint for
    sequential access makes Linux read ahead too, but also drop the file from its cache sooner.)
    """
    import pyarrow as pa

    with open(path, "rb") as raw:
        mapped = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):
            mapped.madvise(mmap.MADV_HUGEPAGE)
    return pa.py_buffer(mapped)


def _within(whole: pa.Buffer, batch: pa.RecordBatch) -> bool:
    """Return whether all buffers of the record batch lie inside this one."""
    first, last = whole.address, whole.address + whole.size
    buffers = [buffer for column in batch.columns for buffer in column.buffers() if buffer is not None and buffer.size]
    return all(first <= buffer.address and buffer.address + buffer.size <= last for buffer in buffers)


def open_arrow(file: OnDisk) -> ArrowFile:
    """Open a file as Arrow IPC or Parquet, by its first bytes."""
    if file.packing():
        raise SourceError(
            f"an Arrow or Parquet file must not be compressed as a whole: {file} is. Decompress it first."
        )
    with file.open() as raw:
        head = raw.read(len(IPC_MAGIC))
    if head.startswith(PARQUET_MAGIC):
        return ParquetFile(file)
    if head == IPC_MAGIC:
        return IpcFile(file)
    raise SourceError(
        f"an Arrow file must begin with ARROW1, a Parquet file with PAR1: {file} begins with {head!r}. "
        "Check the format."
    )


def checked(batch: pa.RecordBatch, columns: list[int] | None) -> pa.RecordBatch:
    """Return the record batch after validating its buffers: a damaged one could crash the process."""
    if columns is None:
        batch.validate(full=True)
    else:
        for c in columns:
            batch.column(c).validate(full=True)
    return batch


@contextmanager
def reading(file: OnDisk) -> Iterator[None]:
    """Convert errors of pyarrow to SourceError."""
    import pyarrow as pa

    try:
        yield
    except SourceError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, ArithmeticError, MemoryError) as error:
        reason = " ".join(str(error).split())
        raise SourceError(f"{file} is truncated or damaged ({reason}). Write it again.") from None
