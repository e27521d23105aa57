"""Columns of an Arrow table as rows: one label column, the others numbers. Arrow files and data frames share it.

Features
    int64 if every feature column is of whole numbers or truth values, else float64; none missing, all finite.
Labels
    As in a CSV file: two values, the larger +1; `positive` overrides; `many` for 0 .. many-1. Booleans stay booleans.
Cost
    One pass over the label column when opened; a batch is a copy of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import LabelError, SourceError, Where, place
from novikoff.sources.csv import LabelColumn, UnknownLabelError
from novikoff.sources.layout import choose_columns, named
from novikoff.types import Domain, Labels

ROWS_PER_BATCH = 65_536


class Columns:
    """Where the label and the features are in tables of one schema, and how they become arrays."""

    def __init__(
        self, schema: Any, name: str, label: str | int | None, columns: Sequence[str | int] | None
    ) -> None:  # fmt: skip
        self.name = name
        self.names = tuple(schema.names)
        self.target, self.used = choose_columns(self.names, len(self.names), label, columns, name)
        types = [_number_type(schema.field(c).type) for c in self.used]
        for c, kind in zip(self.used, types, strict=True):
            if kind is None:
                was, do = f"is {schema.field(c).type}", "Encode text first, or choose other columns."
                raise SourceError("features must be numbers", was, do, column=named(self.names, c), source=name)
        self.dtype = np.float64 if "real" in types else np.int64
        self.domain = Domain("vector" if "real" in types else "point", len(self.used))
        self.features = tuple(self.names[c] or f"x{j}" for j, c in enumerate(self.used))

    def x(self, table: Any, first: int, least: int = 0) -> NDArray[Any]:
        """The features of a table or record batch whose first row is number `first`, from 1."""
        x = np.empty((table.num_rows, len(self.used)), dtype=self.dtype)
        for j, c in enumerate(self.used):
            where: Where = {"column": named(self.names, c), "source": self.name}
            x[:, j] = numbers(table.column(c), self.dtype, where, first)
        return x


class LabelValues:
    """What the values of a label column stand for; all of them are looked at when it is made."""

    def __init__(
        self, parts: Iterable[Any], where: Where, positive: Any = None, many: int | None = None
    ) -> None:  # fmt: skip
        self._where = where
        parts = iter(parts)
        first = next(parts, None)
        parts = () if first is None else chain((first,), parts)
        self._labels = LabelColumn(positive, many, first is not None and _is_boolean(first.type))
        self._dtype = np.int8 if many is None or positive is not None else np.int32
        self.rows = 0
        for part in parts:
            values, codes = _distinct(part)
            for code, value in enumerate(values):
                fault = self._labels.learn(_text(value))
                if fault:
                    raise fault.at(row=self.rows + int(np.argmax(codes == code)) + 1).at(**where)
            self.rows += len(codes)
        if self.rows == 0:
            raise SourceError("a source must not be empty", "has no rows", **where)
        self.labels: Labels | None = self._labels.settle(place(where))

    def y(self, part: Any, first: int = 1) -> NDArray[Any]:
        """The labels of a part of the column: int8 -1/+1, or int32 with `many`."""
        values, codes = _distinct(part)
        try:
            coded = np.array([self._labels.code(_text(value)) for value in values], dtype=self._dtype)
        except UnknownLabelError as error:
            must, was = "a source must stay as it is", f"has changed ({error})"
            raise SourceError(must, was, "Open it again.", **self._where) from None
        return np.take(coded, codes)


def numbers(column: Any, dtype: Any, where: Where, first: int) -> NDArray[Any]:
    """A column as numbers: none missing, all finite, whole ones below 2^63."""
    import pyarrow as pa

    if column.null_count:
        row = first + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise SourceError("features must not be missing", "has none", "Fill or drop the row.", row=row).at(**where)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values)))
        was, do = f"has {values[at]}", "Clean or drop the row."
        raise SourceError("features must be finite", was, do, row=first + at).at(**where)
    if values.dtype.kind == "u" and dtype == np.int64 and len(values) and int(values.max()) > np.iinfo(np.int64).max:
        at = int(np.argmax(values))
        was, do = f"has {values[at]}", "Scale the column."
        raise SourceError("whole numbers must be below 2^63", was, do, row=first + at).at(**where)
    return values.astype(dtype, copy=False)


def _number_type(kind: Any) -> str | None:
    """Whole, real, or None if a column of that type is not of numbers."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _number_type(kind.value_type)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return "whole"
    return "real" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else None


def _distinct(part: Any) -> tuple[list[Any], NDArray[Any]]:
    """The distinct values of a label column in the order they come, and which of them each row has."""
    import pyarrow as pa

    try:
        if pa.types.is_dictionary(part.type):
            part = part.cast(part.type.value_type)
        if isinstance(part, pa.ChunkedArray):
            part = part.combine_chunks()
        encoded = part.dictionary_encode(null_encoding="encode")
    except pa.ArrowException as error:
        raise LabelError(f"labels must be numbers or text: they are {part.type} ({error}).") from None
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()


def _is_boolean(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_boolean(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _text(value: Any) -> str | bool:
    """A label as it would be written in a CSV file; a boolean as it is."""
    if isinstance(value, bool):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return "" if value is None else str(value)
