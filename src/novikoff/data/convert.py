"""`convert`: any stream of numbers as an Arrow file that later runs map instead of parsing.

Record batches of a few megabytes, so memory does not grow; the layout is that of data/converted.py. The file is
written beside its place, flushed to the disk and moved there: a crash leaves the old file or none. Reading it with
`Arrow` gives the same rows, bit for bit, and the same labels; of a table it gives the encoding too. A table whose rows
grow wider is read to its end first, so that all are written as wide.
It is written in whole pieces, each at a multiple of its size. Linux then keeps it in large pages, and to map it takes
almost no time: a gigabyte written as it comes has 8,000 to 16,000 page faults, written so 500.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import SourceError
from novikoff.core.overwriting import check_replaced, first_bytes
from novikoff.core.stream import Stream, adapted
from novikoff.core.types import Batch, Sparse
from novikoff.data.converted import KEY, batch_metadata, schema_metadata
from novikoff.data.formats.arrow_file import IPC_MAGIC

LARGE = 2**23
"""Bytes of a record batch: small enough for the cache, large enough to be worth it."""

PIECE = 2**21
"""Bytes that are written at once: a large page, where there are any."""


class InPieces(io.RawIOBase):
    """Bytes for a file, written to it in whole pieces; the rest when it is closed. The file stays open."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file
        self._piece = memoryview(bytearray(PIECE))
        self._filled = self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written + self._filled

    def write(self, data: Any) -> int:
        if self.closed:
            raise ValueError("a file must be open to be written: this one is closed.")
        rest = whole = memoryview(data).cast("B")
        while len(rest):
            some = rest[: PIECE - self._filled]
            self._piece[self._filled : self._filled + len(some)] = some
            self._filled += len(some)
            rest = rest[len(some) :]
            if self._filled == PIECE:
                self._put()
        return len(whole)

    def close(self) -> None:
        try:
            if not self.closed:
                self._put()
        finally:
            super().close()

    def _put(self) -> None:
        self._file.write(self._piece[: self._filled])
        self._written += self._filled
        self._filled = 0


def convert(
    stream: Stream, path: str | os.PathLike[str], progress: Callable[[int], None] | None = None, force: bool = False
) -> int:  # fmt: skip
    """Write the stream to an Arrow file at `path`; returns the number of rows.

    progress   is told the number of rows now and then
    force      replace whatever file is there; else only one that was converted
    """
    stream, target = adapted(stream), Path(path)
    if target.suffix.lower() == ".parquet":
        raise SourceError(f"convert must write Arrow: got {target}. Name it .arrow.")
    check_place(path, force)
    beside = target.with_name(target.name + f".{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            try:
                with InPieces(file) as pieces:
                    rows = _write(stream, pieces, progress)
            except WiderError:
                rows = _write_wide(stream, file, progress)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except OSError as error:
        raise SourceError(f"an Arrow file must be writable: {target}: {error.strerror or error}.") from None
    finally:
        beside.unlink(missing_ok=True)
    return rows


class WiderError(Exception):
    """Rows of a table grew wider."""


def _write_wide(stream: Stream, file: Any, progress: Callable[[int], None] | None) -> int:
    """Write the stream after a pass that tells all of its features."""
    if not stream.rereadable:
        was = f"{stream.name} has a number that is missing for the first time after its first rows, and comes only once"
        raise SourceError("the rows of a table must be of one width to be converted", was, "Save it as a file first.")
    for _ in stream.batches():
        pass
    file.seek(0)
    file.truncate()
    with InPieces(file) as pieces:
        return _write(stream, pieces, progress)


def check_place(path: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse to put a converted file where a file of another kind is, unless forced."""
    check_replaced(path, "a converted file", _is_converted, force, SourceError)


def _is_converted(path: str) -> bool:
    if first_bytes(path, len(IPC_MAGIC)) != IPC_MAGIC:
        return False
    import pyarrow as pa

    with pa.memory_map(path) as file:
        return KEY in (pa.ipc.open_file(file).schema.metadata or {})


def _write(stream: Stream, file: Any, progress: Callable[[int], None] | None) -> int:
    import pyarrow as pa

    rows, writer = 0, None
    try:
        for (names, arrays, x), last in _with_last(_large(stream)):
            if writer is None:
                fields = [pa.field(name, array.type, False) for name, array in zip(names, arrays, strict=True)]
                schema = pa.schema(fields, metadata=schema_metadata(stream))
                writer = pa.ipc.new_file(file, schema)
            rows += len(arrays[0])
            record = pa.record_batch(arrays, schema=schema)
            writer.write_batch(record, custom_metadata=batch_metadata(stream, rows, x, last))
            if progress:
                progress(rows)
        if writer is None:
            raise SourceError(f"a source must not be empty: {stream.name} has no rows.")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SourceError(f"batches must be of one type: those of {stream.name} are not ({error}).") from None
    finally:
        if writer is not None:
            writer.close()
    return rows


def _with_last(items: Iterator[Any]) -> Iterator[tuple[Any, bool]]:
    """Each, and whether it is the last."""
    held = list(islice(items, 1))
    for item in items:
        yield held.pop(), False
        held.append(item)
    for item in held:
        yield item, True


def _large(stream: Stream) -> Iterator[tuple[list[str], list[Any], NDArray[Any] | Sparse]]:
    """Names and columns of record batches that are worth their overhead, and the last x of each."""
    import pyarrow as pa

    held: list[list[Any]] = []
    size, width = 0, None
    for batch in stream.batches():
        if stream.table and isinstance(batch.x, np.ndarray):
            if width not in (None, batch.x.shape[1:]):
                raise WiderError
            width = batch.x.shape[1:]
        names, arrays = _columns(batch, stream.name)
        if batch.weights is not None:
            names, arrays = [*names, "weight"], [*arrays, pa.array(np.ascontiguousarray(batch.weights))]
        x: Any = batch.x
        held.append(arrays)
        size += sum(array.nbytes for array in arrays)
        if size >= LARGE:
            yield names, [pa.concat_arrays(columns) for columns in zip(*held, strict=True)], x
            held, size = [], 0
    if held:
        yield names, [pa.concat_arrays(columns) for columns in zip(*held, strict=True)], x


def _columns(batch: Batch, name: str) -> tuple[list[str], list[Any]]:
    """The names and arrays of a record batch, without a copy."""
    import pyarrow as pa

    label = pa.array(np.ascontiguousarray(batch.y, dtype=np.int32 if batch.y.dtype == np.int64 else None))
    if isinstance(batch.x, Sparse):
        return ["label", "indices", "values"], [label, *_lists(batch.x)]
    if not isinstance(batch.x, np.ndarray):
        raise SourceError(f"a stream must show numbers to be converted: {name} shows objects. Pass arrays instead.")
    flat = pa.array(np.ascontiguousarray(batch.x).reshape(-1))
    if batch.x.ndim == 1:
        return ["label", "x"], [label, flat]
    width = batch.x.shape[1]
    return ["label", "x"], [label, pa.FixedSizeListArray.from_arrays(flat, type=pa.list_(_field(flat), width))]


def _lists(x: Sparse) -> list[Any]:
    """Indices and values as lists, from the first entry of the first row."""
    import pyarrow as pa

    offsets = pa.array((x.indptr - x.indptr[0]).view(np.int64))
    parts = [pa.array(np.ascontiguousarray(part[x.entries])) for part in (x.indices, x.values)]
    return [pa.LargeListArray.from_arrays(offsets, part, type=pa.large_list(_field(part))) for part in parts]


def _field(flat: Any) -> Any:
    """What is in a list: none missing."""
    import pyarrow as pa

    return pa.field("item", flat.type, False)
