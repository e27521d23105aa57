"""Arrow list columns as rows, without a copy if the types allow it.

Sparse rows are two list columns, `indices` and `values`, of equal lengths in each row; dense rows are one column `x` of
fixed-size lists. uint32 indices, float32 and float64 values, and int64 in dense rows are used in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import first_repeat
from novikoff.core.errors import SourceError
from novikoff.core.stream import Target
from novikoff.core.types import Domain, Sparse
from novikoff.data.layout import LARGEST_FILE_INDEX, column_name, find_column, named, target_column

if TYPE_CHECKING:
    import pyarrow as pa

MANY = 2**16
"""Number of values from which a compiled loop checks them."""


class SparseLists:
    """Sparse rows from the columns `indices` and `values`.

    Args:
        schema: Arrow schema of the file.
        name: Name of the source in messages.
        label: Label column; None for the default.
        width: Declared width; None if unknown.
        clean: Whether indices are known to be unique within a row.
    """

    features: tuple[str, ...] | None = None

    def __init__(
        self, schema: pa.Schema, name: str, label: str | int | None, width: int | None = None, clean: bool = False
    ) -> None:  # fmt: skip
        import pyarrow as pa

        self.name = name
        self.target, self.chosen, self.used = _columns(schema.names, label, name, "indices", "values")
        kinds = [schema.field(c).type for c in self.used]
        if not pa.types.is_integer(kinds[0].value_type) or not pa.types.is_floating(kinds[1].value_type):
            raise SourceError(
                f"indices must be lists of integers and values lists of floats: those of {name} are {kinds[0]} and "
                f"{kinds[1]}. Convert them."
            )
        self.domain = Domain("vector", width)
        self._width = width
        self._clean = clean

    def x(self, batch: pa.RecordBatch, first: int, least: int) -> Sparse:
        """Return the rows of a batch whose first row is number `first`, with a width of at least `least`."""
        ends, raw = _lists(batch.column(self.used[0]), "indices", self.name, first)
        others, values = _lists(batch.column(self.used[1]), "values", self.name, first)
        if not np.array_equal(ends, others):
            row = first + int(np.argmax(np.diff(ends) != np.diff(others)))
            raise SourceError(f"a row must have as many indices as values: row {row:,} of {self.name} does not.")
        indices = self._indices(raw, ends, first)
        if not _all_finite(values):
            at = int(np.argmin(np.isfinite(values)))
            raise SourceError(
                f"values must be finite: row {_row(ends, at, first):,} of {self.name} has {values[at]}. "
                "Clean or drop the row."
            )
        width = max(int(indices.max()) + 1 if len(indices) else 0, least)
        promised = self._width
        if promised is not None:
            if width > promised:
                at = int(np.argmax(indices))
                raise SourceError(
                    f"an index must be below the width, {promised:,}: row {_row(ends, at, first):,} of "
                    f"{self.name} has {indices[at]:,}. The file is damaged: convert it again."
                )
            width = promised
        if not self._clean:
            repeat = first_repeat(ends, indices)
            if repeat is not None:
                raise SourceError(
                    f"an index must occur once in a row: row {first + repeat:,} of {self.name} has one twice. Sum its "
                    "values first."
                )
        return Sparse(
            ends, indices, values if values.dtype != np.float16 else values.astype(np.float64), width, checked=True
        )

    def _indices(self, raw: NDArray[Any], ends: NDArray[np.uint64], first: int) -> NDArray[np.uint32]:
        if raw.dtype != np.uint32 and len(raw):
            bad = (raw < 0) | (raw > LARGEST_FILE_INDEX)
            if bad.any():
                at = int(np.argmax(bad))
                raise SourceError(
                    f"an index must be from 0 to {LARGEST_FILE_INDEX}: row {_row(ends, at, first):,} of {self.name} "
                    f"has {raw[at]}. Renumber the features."
                )
        return raw.astype(np.uint32, copy=False)


class DenseLists:
    """Dense rows from the column `x` of fixed-size lists.

    Args:
        schema: Arrow schema of the file.
        name: Name of the source in messages.
        label: Label column; None for the default.
    """

    features: tuple[str, ...] | None = None

    def __init__(self, schema: pa.Schema, name: str, label: str | int | None) -> None:
        import pyarrow as pa

        self.name = name
        self.target, self.chosen, self.used = _columns(schema.names, label, name, "x")
        kind = schema.field(self.used[0]).type
        self._whole = pa.types.is_integer(kind.value_type)
        if not self._whole and not pa.types.is_floating(kind.value_type):
            raise SourceError(f"x must be lists of numbers: those of {name} are {kind}. Encode text first.")
        self._width = kind.list_size
        if self._width < 1:
            raise SourceError(f"x must be lists of at least one number: those of {name} are {kind}.")
        self.domain = Domain("point" if self._whole else "vector", self._width)

    def x(self, batch: pa.RecordBatch, first: int, least: int) -> NDArray[Any]:
        """Return the rows of a batch whose first row is number `first`."""
        column = batch.column(self.used[0])
        _none_missing(column, "x", self.name, first)
        flat = column.flatten()
        if flat.null_count:
            at = int(np.argmax(flat.is_null().to_numpy(zero_copy_only=False)))
            raise SourceError(
                f"x must not have a missing number: row {first + at // self._width:,} of {self.name} has one. Fill it."
            )
        x: NDArray[Any] = flat.to_numpy().reshape(-1, self._width)
        if self._whole:
            if x.dtype == np.uint64 and x.size and int(x.max()) > np.iinfo(np.int64).max:
                row = first + int(np.argmax(x)) // self._width
                raise SourceError(f"whole numbers must be below 2^63: row {row:,} of {self.name} has {x.max()}.")
            return x.astype(np.int64, copy=False)
        if not _all_finite(x.reshape(-1)):
            at = int(np.argmin(np.isfinite(x)))
            raise SourceError(
                f"x must be finite: row {first + at // self._width:,}, feature {at % self._width} of {self.name} is "
                f"{x.flat[at]}. Clean or drop the row."
            )
        return x.astype(np.float64) if x.dtype == np.float16 else x


def _columns(
    names: Sequence[str], label: str | int | None, file: str, *lists: str
) -> tuple[int, Target, tuple[int, ...]]:
    """Return the label column, the reason for its choice (layout.target_column), and the feature columns."""
    used = tuple(map(names.index, lists))
    if label is not None:
        target, chosen = find_column(label, names, len(names), "the label column", file), "as asked"
    else:
        others = [c for c in range(len(names)) if c not in used] or [used[0]]
        place, chosen = target_column([names[c] for c in others])
        target = others[place]
    if target in used:
        raise SourceError(f"a column must be used once: {column_name(names, target)} of {file} is used twice.")
    return target, Target(str(named(names, target)), chosen), used


def _all_finite(values: NDArray[np.generic]) -> bool:
    """Return whether all values are finite; large arrays are checked without the GIL, for other threads."""
    if len(values) < MANY or values.dtype not in (np.float64, np.float32):
        return bool(np.isfinite(values).all())
    from novikoff.numerics import checks

    if values.dtype == np.float32:
        return bool(checks.all_finite_short(values.view(np.int32)))
    return bool(checks.all_finite(values.view(np.int64)))


def _lists(column: pa.Array, what: str, name: str, first: int) -> tuple[NDArray[np.uint64], NDArray[Any]]:
    """Return the list offsets, starting at 0, and the items."""
    _none_missing(column, what, name, first)
    ends = column.offsets.to_numpy()
    begin, end = int(ends[0]), int(ends[-1])
    inside = column.values[begin:end]
    ends = (ends - begin if begin else ends).astype(np.int64, copy=False).view(np.uint64)
    if inside.null_count:
        at = int(np.argmax(inside.is_null().to_numpy(zero_copy_only=False)))
        raise SourceError(
            f"{what} must not have a missing number: row {_row(ends, at, first):,} of {name} has one. Drop or fill it."
        )
    return ends, inside.to_numpy()


def _none_missing(column: pa.Array, what: str, name: str, first: int) -> None:
    if column.null_count:
        row = first + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise SourceError(f"{what} must not be missing: row {row:,} of {name} has none. Fill or drop the row.")


def _row(ends: NDArray[np.uint64], at: int, first: int) -> int:
    """Return the number of the row that contains entry `at`."""
    return first + int(np.searchsorted(ends, np.uint64(at), side="right")) - 1
