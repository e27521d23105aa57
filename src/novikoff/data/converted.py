"""What `convert` writes into an Arrow file, and how it is read again.

Columns
    `label`, int8 -1/+1, or int32 for many labels; and for sparse rows `indices` (large_list<uint32>) and `values`
    (large_list<double or float>), for dense rows `x` (fixed_size_list), for indices `x` (int64).
Metadata, under the key "novikoff", in JSON
    of the schema: format, kind (of the domain), features (their names, if they have any), bits (if they are hashed),
    table (is it the columns of one?), scaled_by_default, target (the column that is predicted).
    of each record batch, as known when it was written, so that the last one holds for the whole file:
    rows, width, labels (what -1 and +1 stand for; null for many), values (what many labels stand for, if they are
    numbered); in the last, the encoding of a table.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, LabelError, Option, SourceError
from novikoff.core.stream import Stream, Target
from novikoff.core.types import Domain, Labels, Sparse
from novikoff.data.arrays import find_value
from novikoff.data.formats.arrow_lists import DenseLists, SparseLists

KEY = b"novikoff"
FORMAT = 1


class Converted:
    """The rows and labels of a file of `convert`, whose last note is `note`. The last width and labels hold for all."""

    def __init__(self, schema: Any, note: bytes, name: str, positive: Any = None, many: int | None = None) -> None:
        self.name = name
        try:
            meta, last = json.loads((schema.metadata or {})[KEY]), json.loads(note)
            if meta["format"] != FORMAT:
                raise SourceError(f"a converted file must be of format {FORMAT}: {name} is of {meta['format']}.")
            self.rows = int(last["rows"])
            self.domain = Domain(meta["kind"], None if last["width"] is None else int(last["width"]))
            self.bits: int | None = meta["bits"]
            self.table = bool(meta.get("table", False))
            self.scaled_by_default = bool(meta.get("scaled_by_default", self.table))
            self.column = Target(*map(str, meta["target"])) if meta.get("target") else None
            self.features = None if meta["features"] is None else tuple(map(str, meta["features"]))
            self.encoding: dict[str, Any] | None = last.get("encoding")
            self.values: list[Any] | None = last.get("values")
            self._told = None if last["labels"] is None else _labels(*last["labels"])
            self._lists = _lists(schema, name, self.domain)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, SourceError):
                raise
            raise self._damaged(f"its metadata say {error}") from None
        self.target = schema.get_field_index("label")
        used = self._lists.used if self._lists else (schema.get_field_index("x"),)
        self._weight = schema.get_field_index("weight")
        self.used = (*used, *([self._weight] if self._weight >= 0 else ()))
        self._positive, self._many = positive, many
        self.labels = self._understand()

    def x(self, batch: Any, first: int, least: int) -> NDArray[Any] | Sparse:
        """The rows, of which the first is number `first`."""
        if self._lists is not None:
            return self._lists.x(batch, first, least)
        column = batch.column(self.used[0])
        if column.null_count:
            raise self._damaged("an index is missing")
        x: NDArray[Any] = column.to_numpy()
        return x

    def weights(self, batch: Any) -> NDArray[np.int64] | None:
        """Of weighted rows, as those of a `Batch`; None if every row counts once."""
        if self._weight < 0:
            return None
        column = batch.column(self._weight)
        if column.null_count or str(column.type) != "int64":
            raise self._damaged("a weight is missing")
        weights: NDArray[np.int64] = column.to_numpy()
        return weights

    def y(self, column: Any, first: int) -> NDArray[Any]:
        """The labels of the rows, of which the first is number `first`: int8 -1/+1, or int32 with many."""
        if column.null_count:
            raise self._damaged("a label is missing")
        y: NDArray[Any] = column.to_numpy()
        if self._told is None:
            return self._many_labels(y, first)
        good = (y == 1) | (y == -1)
        if not good.all():
            row = int(np.argmin(good))
            raise self._damaged(f"the label of row {first + row:,} is {y[row]}, not -1 or +1")
        if self.labels is None:
            return np.where(y == 1, np.int32(self._told.positive), np.int32(self._told.negative))
        if self.labels != self._told:
            y = np.negative(y)
        return y

    def _understand(self) -> Labels | None:
        """What -1 and +1 stand for with what was asked for; None for many."""
        if self._told is None:
            if self._positive is None:
                return None
            try:
                return Labels(f"not {self._positive}", int(self._positive))
            except (TypeError, ValueError):
                raise SourceError(
                    f"the positive label must be a whole number, as those of {self.name} are: got {self._positive!r}."
                ) from None
        values = [self._told.negative, self._told.positive]
        if self._positive is not None:
            where = find_value(values, self._positive)
            if where is None:
                raise SourceError(
                    "the positive label must occur",
                    f"{self.name} has no {self._positive!r}, but {values[0]!r} and {values[1]!r}",
                    Advice("Pass ", Option("positive", letter="VALUE"), " with one that does, or convert it anew."),
                )
            return self._told if where else Labels(values[1], values[0])
        if self._many is None:
            return self._told
        if not all(isinstance(value, int) and 0 <= value < self._many for value in values):
            raise LabelError(f"labels must be whole numbers from 0 to {self._many - 1}: {self.name} has {values}.")
        return None

    def _many_labels(self, y: NDArray[Any], first: int) -> NDArray[Any]:
        if self.labels is not None:
            return np.where(y == self.labels.positive, np.int8(1), np.int8(-1))
        bad = (y < 0) | (y >= (self._many or 2**31))
        if bad.any():
            row = int(np.argmax(bad))
            must = f"labels must be whole numbers from 0 to {(self._many or 2**31) - 1}"
            raise LabelError(must, f"has {y[row]}", row=first + row, source=self.name)
        return y

    def _damaged(self, how: str) -> SourceError:
        return SourceError(f"a converted file must be as it was written: {self.name} is not ({how}). Convert it anew.")


def _labels(negative: Any, positive: Any) -> Labels:
    return Labels(negative, positive)


def schema_metadata(stream: Stream) -> dict[bytes, bytes]:
    """What is known of the stream from the start."""
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


def batch_metadata(stream: Stream, rows: int, x: NDArray[Any] | Sparse, last: bool) -> dict[bytes, bytes]:
    """What is known of the stream after `rows` rows, of which x are the last; the last of all, if `last`."""
    width = x.width if isinstance(x, Sparse) else stream.domain.width
    if isinstance(x, Sparse) and stream.domain.width is not None:
        width = stream.domain.width
    labels = None if stream.labels is None else [_plain(stream.labels.negative), _plain(stream.labels.positive)]
    values = {"values": list(map(_plain, stream.label_values))} if stream.many and stream.label_values else {}
    encoding = {"encoding": stream.encoding.state()} if last and stream.encoding is not None else {}
    return {KEY: json.dumps({"rows": rows, "width": width, "labels": labels, **values, **encoding}).encode()}


def _plain(value: Any) -> Any:
    """A label as JSON knows it."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (str, int, float)) else str(value)


def _lists(schema: Any, name: str, domain: Domain) -> SparseLists | DenseLists | None:
    """The columns of the features; None for a column of indices. Raises unless the types are those of `convert`."""
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
