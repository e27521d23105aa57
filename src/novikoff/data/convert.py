"""`convert`: write any numeric stream as an Arrow file that later runs memory-map instead of parsing.

Record batches have a few megabytes, so memory stays bounded. The file is written to a temporary file next to the
target, synced and renamed: a crash leaves the old file or none. `Arrow` reads back the same rows bit for bit, the same
labels and, for a table, its encoding. A table whose rows grow wider is read to its end first, so that all rows are
written with the final width.
Data is written in aligned blocks of PIECE bytes. Linux then keeps the file in large pages, and mapping it takes almost
no time: 500 page faults per gigabyte instead of 8,000 to 16,000.

Columns
    `label`: int8 -1/+1, or int32 for multiclass labels. Sparse rows: `indices` (large_list<uint32>) and `values`
    (large_list<double or float>); dense rows: `x` (fixed_size_list); indices: `x` (int64).
Metadata, under the key "novikoff", in JSON
    of the schema: format, kind (of the domain), features (names or null), bits (if features are hashed), table
    (whether the columns are those of a table), scaled_by_default, target (the label column).
    of each record batch, as known when it was written, so that the last one holds for the whole file:
    rows, width, labels (the values for -1 and +1; null for multiclass), values (the values of numbered multiclass
    labels); in the last batch, the encoding of a table.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt_stream
from novikoff.core.errors import Advice, LabelError, Option, SourceError
from novikoff.core.overwriting import check_replaced, first_bytes
from novikoff.core.stream import Stream, Target
from novikoff.core.types import Batch, Domain, Labels, Sparse
from novikoff.data.arrays import find_value
from novikoff.data.formats.arrow_file import IPC_MAGIC
from novikoff.data.formats.arrow_lists import DenseLists, SparseLists

if TYPE_CHECKING:
    import pyarrow as pa

LARGE = 2**23
"""Minimum size of a record batch in bytes: fits the CPU cache and amortises the overhead per batch."""

PIECE = 2**21
"""Write block size in bytes: one large page on most systems."""


class InPieces(io.RawIOBase):
    """Writer that buffers data and writes full blocks to a file, and the remainder on close; the file stays open."""

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
            raise ValueError("writing needs an open file: this one is closed.")
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
    """Write a stream to an Arrow file and return the number of rows.

    Args:
        stream: Stream of numeric examples.
        path: Target path, not .parquet.
        progress: Called from time to time with the number of rows written.
        force: Replace any existing file; otherwise only a converted file is replaced.

    Returns:
        Number of rows written.

    Raises:
        SourceError: If the stream is empty or not numeric, or the file cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import novikoff as nk
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     nk.convert(nk.read("demo:iris"), Path(folder) / "iris.arrow")
        150
    """
    stream, target = adapt_stream(stream), Path(path)
    if target.suffix.lower() == ".parquet":
        raise SourceError(f"convert writes Arrow files: got {target}. Choose a name that ends in .arrow.")
    check_place(path, force)
    temporary = target.with_name(target.name + f".{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            try:
                with InPieces(file) as pieces:
                    rows = _write(stream, pieces, progress)
            except WiderError:
                rows = _write_wide(stream, file, progress)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise SourceError(f"an Arrow file must be writable: {target}: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)
    return rows


class WiderError(Exception):
    """Signal that the rows of a table grew wider."""


def _write_wide(stream: Stream, file: io.BufferedIOBase, progress: Callable[[int], None] | None) -> int:
    """Write the stream after a first pass that finds all its features."""
    if not stream.rereadable:
        was = f"{stream.name} can be read only once, and a number is missing for the first time after its first rows"
        raise SourceError("rows must have one width to be converted", was, "Save it as a file first.")
    for _ in stream.batches():
        pass
    file.seek(0)
    file.truncate()
    with InPieces(file) as pieces:
        return _write(stream, pieces, progress)


def check_place(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise SourceError if the path holds a file that `convert` did not write, unless `force`."""
    check_replaced(path, "a converted file", _is_converted, force, SourceError)


def _is_converted(path: str) -> bool:
    if first_bytes(path, len(IPC_MAGIC)) != IPC_MAGIC:
        return False
    import pyarrow as pa

    with pa.memory_map(path) as file:
        return KEY in (pa.ipc.open_file(file).schema.metadata or {})


def _write(stream: Stream, file: io.IOBase, progress: Callable[[int], None] | None) -> int:
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
        raise SourceError(f"batches must have one type: those of {stream.name} differ ({error}).") from None
    finally:
        if writer is not None:
            writer.close()
    return rows


def _with_last(items: Iterator[object]) -> Iterator[tuple[Any, bool]]:
    """Yield each item with whether it is the last."""
    held = list(islice(items, 1))
    for item in items:
        yield held.pop(), False
        held.append(item)
    for item in held:
        yield item, True


def _large(stream: Stream) -> Iterator[tuple[list[str], list[Any], NDArray[Any] | Sparse]]:
    """Yield column names, columns and the last x of record batches with at least LARGE bytes."""
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
    """Return the names and arrays of a record batch, without copies."""
    import pyarrow as pa

    label = pa.array(np.ascontiguousarray(batch.y, dtype=np.int32 if batch.y.dtype == np.int64 else None))
    if isinstance(batch.x, Sparse):
        return ["label", "indices", "values"], [label, *_lists(batch.x)]
    if not isinstance(batch.x, np.ndarray):
        raise SourceError(f"only a stream of numbers can be converted: {name} has objects. Pass arrays instead.")
    flat = pa.array(np.ascontiguousarray(batch.x).reshape(-1))
    if batch.x.ndim == 1:
        return ["label", "x"], [label, flat]
    width = batch.x.shape[1]
    return ["label", "x"], [label, pa.FixedSizeListArray.from_arrays(flat, type=pa.list_(_field(flat), width))]


def _lists(x: Sparse) -> list[Any]:
    """Return indices and values as Arrow lists, starting at the first entry of the first row."""
    import pyarrow as pa

    offsets = pa.array((x.indptr - x.indptr[0]).view(np.int64))
    parts = [pa.array(np.ascontiguousarray(part[x.entries])) for part in (x.indices, x.values)]
    return [pa.LargeListArray.from_arrays(offsets, part, type=pa.large_list(_field(part))) for part in parts]


def _field(flat: pa.Array) -> pa.Field:
    """Return the field of a list's items, not nullable."""
    import pyarrow as pa

    return pa.field("item", flat.type, False)


KEY = b"novikoff"
"""Key of the metadata."""
FORMAT = 1
"""Version of the metadata."""


class Converted:
    """Reader of the rows and labels of a file that `convert` wrote.

    Args:
        schema: Arrow schema of the file.
        note: Metadata of the last record batch: its width and labels hold for all rows.
        name: Name of the source in messages.
        positive: Label for +1; None for the stored one.
        multiclass: Number of labels; None for the stored ones.
    """

    def __init__(
        self, schema: pa.Schema, note: bytes, name: str, positive: object = None, multiclass: int | None = None
    ) -> None:
        self.name = name
        try:
            meta, last = json.loads((schema.metadata or {})[KEY]), json.loads(note)
            if meta["format"] != FORMAT:
                raise SourceError(f"a converted file must have format {FORMAT}: {name} has {meta['format']}.")
            self.rows = int(last["rows"])
            self.domain = Domain(meta["kind"], None if last["width"] is None else int(last["width"]))
            self.bits: int | None = meta["bits"]
            self.table = bool(meta.get("table", False))
            self.scaled_by_default = bool(meta.get("scaled_by_default", self.table))
            self.column = Target(*map(str, meta["target"])) if meta.get("target") else None
            self.features = None if meta["features"] is None else tuple(map(str, meta["features"]))
            self.encoding: dict[str, Any] | None = last.get("encoding")
            self.values: list[Any] | None = last.get("values")
            self._stored = None if last["labels"] is None else _labels(*last["labels"])
            self._lists = _feature_lists(schema, name, self.domain)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, SourceError):
                raise
            raise self._damaged(f"invalid metadata: {error}") from None
        self.target = schema.get_field_index("label")
        used = self._lists.used if self._lists else (schema.get_field_index("x"),)
        self._weight = schema.get_field_index("weight")
        self.used = (*used, *([self._weight] if self._weight >= 0 else ()))
        self._positive, self._many = positive, multiclass
        self.labels = self._understand()

    def x(self, batch: pa.RecordBatch, first: int, least: int) -> NDArray[Any] | Sparse:
        """Return the rows of a batch whose first row is number `first`."""
        if self._lists is not None:
            return self._lists.x(batch, first, least)
        column = batch.column(self.used[0])
        if column.null_count:
            raise self._damaged("an index is missing")
        x: NDArray[Any] = column.to_numpy()
        return x

    def weights(self, batch: pa.RecordBatch) -> NDArray[np.int64] | None:
        """Return the row weights as in `Batch`; None if every row counts once."""
        if self._weight < 0:
            return None
        column = batch.column(self._weight)
        if column.null_count or str(column.type) != "int64":
            raise self._damaged("a weight is missing")
        weights: NDArray[np.int64] = column.to_numpy()
        return weights

    def y(self, column: pa.Array, first: int) -> NDArray[np.signedinteger]:
        """Return the labels of rows from number `first` on: int8 -1/+1, or int32 for multiclass."""
        if column.null_count:
            raise self._damaged("a label is missing")
        y: NDArray[np.signedinteger] = column.to_numpy()
        if self._stored is None:
            return self._multiclass_labels(y, first)
        good = (y == 1) | (y == -1)
        if not good.all():
            row = int(np.argmin(good))
            raise self._damaged(f"the label of row {first + row:,} is {y[row]}, not -1 or +1")
        if self.labels is None:
            two = np.array([self._stored.negative, self._stored.positive], dtype=np.int32)
            found: NDArray[np.int32] = two[(y == 1).astype(np.intp)]
            return found
        if self.labels != self._stored:
            y = np.negative(y)
        return y

    def _understand(self) -> Labels | None:
        """Return the values for -1 and +1, given the options; None for multiclass."""
        if self._stored is None:
            if self._positive is None:
                return None
            try:
                asked: Any = self._positive  # errors of int are handled below
                return Labels(f"not {asked}", int(asked))
            except (TypeError, ValueError):
                raise SourceError(
                    f"the positive label must be an integer, as those of {self.name} are: got {self._positive!r}."
                ) from None
        values = [self._stored.negative, self._stored.positive]
        if self._positive is not None:
            where = find_value(values, self._positive)
            if where is None:
                raise SourceError(
                    "the positive label must occur",
                    f"{self.name} has {values[0]!r} and {values[1]!r}, not {self._positive!r}",
                    Advice("Pass ", Option("positive", letter="VALUE"), " with one of these, or convert it again."),
                )
            return self._stored if where else Labels(values[1], values[0])
        if self._many is None:
            return self._stored
        if not all(isinstance(value, int) and 0 <= value < self._many for value in values):
            raise LabelError(f"labels must be integers from 0 to {self._many - 1}: {self.name} has {values}.")
        return None

    def _multiclass_labels(self, y: NDArray[Any], first: int) -> NDArray[Any]:
        if self.labels is not None:
            return np.where(y == self.labels.positive, np.int8(1), np.int8(-1))
        bad = (y < 0) | (y >= (self._many or 2**31))
        if bad.any():
            row = int(np.argmax(bad))
            must = f"labels must be integers from 0 to {(self._many or 2**31) - 1}"
            raise LabelError(must, f"has {y[row]}", row=first + row, source=self.name)
        return y

    def _damaged(self, how: str) -> SourceError:
        return SourceError(f"a converted file must be unchanged: {self.name} is not ({how}). Convert it again.")


def _labels(negative: object, positive: object) -> Labels:
    return Labels(negative, positive)


def schema_metadata(stream: Stream) -> dict[bytes, bytes]:
    """Return the metadata known before the first row."""
    meta = {
        "format": FORMAT,
        "kind": stream.domain.kind,
        "features": None if stream.features is None else [str(name) for name in stream.features],
        "bits": stream.bits,
        "table": stream.table,
        "scaled_by_default": stream.scaled_by_default,
        "target": None if stream.target_column is None else list(stream.target_column),
    }
    return {KEY: json.dumps(meta).encode()}


def batch_metadata(stream: Stream, rows: int, x: NDArray[np.generic] | Sparse, last: bool) -> dict[bytes, bytes]:
    """Return the metadata known after `rows` rows.

    Args:
        stream: Stream being written.
        rows: Rows written so far, this batch included.
        x: Last rows of this batch.
        last: Whether this is the last batch; then the encoding of a table is included.
    """
    width = x.width if isinstance(x, Sparse) else stream.domain.width
    if isinstance(x, Sparse) and stream.domain.width is not None:
        width = stream.domain.width
    labels = None if stream.labels is None else [_plain(stream.labels.negative), _plain(stream.labels.positive)]
    values = {"values": list(map(_plain, stream.label_values))} if stream.multiclass and stream.label_values else {}
    encoding = {"encoding": stream.encoding.state()} if last and stream.encoding is not None else {}
    return {KEY: json.dumps({"rows": rows, "width": width, "labels": labels, **values, **encoding}).encode()}


def _plain(value: object) -> Any:
    """Return a label as a JSON value."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (str, int, float)) else str(value)


def _feature_lists(schema: pa.Schema, name: str, domain: Domain) -> SparseLists | DenseLists | None:
    """Return the reader of the feature columns; None for a column of indices.

    Raises TypeError unless the column types are those that `convert` writes.
    """
    import pyarrow as pa

    types = {field.name: field.type for field in schema}
    if types["label"] not in (pa.int8(), pa.int32()):
        raise TypeError(f"labels of {types['label']}")
    if "indices" in types:
        if types["indices"].value_type != pa.uint32() or domain.kind != "vector" or domain.width is None:
            raise TypeError(f"indices of {types['indices']} for {domain}")
        return SparseLists(schema, name, "label", domain.width, clean=True)
    if domain.kind != "index":
        lists = DenseLists(schema, name, "label")
        if lists.domain != domain:
            raise TypeError(f"{lists.domain} for {domain}")
        return lists
    if types["x"] != pa.int64():
        raise TypeError(f"indices of {types['x']}")
    return None
