"""Labelled arrays in memory as a stream: X of shape (rows,) or (rows, width), and labels y.

X may also be a scipy.sparse matrix. Data frames are recognised here and read by data/tables/table_formats.py.
scipy.sparse and narwhals are imported only when needed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.core.batch import Memory
from novikoff.core.errors import POSITIVE, SourceError
from novikoff.core.labels import Numbering
from novikoff.core.labels import alike as alike
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Labels, Position, Sparse, are_signs, count_at
from novikoff.data.column_names import names_of

ROWS_PER_BATCH = 65_536
"""Maximum number of rows per batch."""
LARGEST_LABEL = 2**31 - 1
"""Largest integer that is accepted as a multiclass label."""


class LabelledArray(Stream):
    """Base class for streams with all labels in one array."""

    rereadable = True
    rows: int
    _x: Any
    _raw: NDArray[np.generic]
    _positive: Any

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        return in_batches(self._x, self._y, start)

    def _set_labels(self, multiclass: int | None) -> None:
        self.multiclass = multiclass is True and self._positive is None
        if self.multiclass:
            _check_labels(self._raw, self.name)
            self.labels, numbering = None, Numbering()
            self._y: NDArray[Any] = numbering.encode_all(self._raw)
            self.label_values = numbering.values
        else:
            self.labels, self._y = encode_labels(self._raw, self._positive, multiclass, self.name)
            self.several = self.labels is None and multiclass is None

    def _without_spaces(self, raw: NDArray[np.generic]) -> NDArray[np.generic]:
        """Strip spaces around labels, as tables do, and add a note if there were any."""
        if raw.dtype.kind not in "UO":
            return raw
        given = raw.tolist()
        bare = [value.strip() if isinstance(value, str) else value for value in given]
        spaced = next((old for old, new in zip(given, bare, strict=True) if old is not new and old != new), None)
        if spaced is None:
            return raw
        self.notes.append(f"spaces around labels of {self.name}, as in {spaced!r}, are removed")
        return np.array(bare, dtype=object if raw.dtype.kind == "O" else None)

    def show_many(self) -> None:
        self._set_labels(True)

    def part(self, first: int, last: int) -> Stream:
        """Return a copy of these rows as a stream."""
        from novikoff.data.cached import rows_of

        return rows_of(self, *self._within(first, last))

    def position_at(self, row: int) -> Position:
        return {"row": row}


class Arrays(LabelledArray):
    """Stream over the rows of X with labels y.

    Two distinct values of y become -1 and +1; the larger value is +1. If there are more, they must be integers from 0,
    for multiclass learners.

    Args:
        X: Numbers of shape (rows,) or (rows, width).
        y: Labels of shape (rows,).
        positive: Label for +1; every other label is -1. None for the larger of two.
        multiclass: Number of labels 0 .. k-1, or True for labels of any type, numbered in order of first appearance;
            None for two labels.
        name: Name of the source in messages.
        features: Column names; by default those of a data frame, if X is one.

    Example:
        >>> import novikoff as nk
        >>> stream = nk.Arrays([[1.0, 0.0], [0.0, 1.0]], ["ham", "spam"])
        >>> stream.labels
        Labels(negative='ham', positive='spam')
        >>> next(stream.batches()).y
        array([-1,  1], dtype=int8)
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        positive: object = None,
        multiclass: int | None = None,
        name: str = "arrays",
        features: Sequence[str] | None = None,
    ) -> None:
        examples, raw = _array(X, "X"), _array(y, "y")
        if examples.dtype.kind not in "iufb":
            raise SourceError(f"X must be numbers: got {examples.dtype}. Encode text and categories first.")
        if examples.ndim not in (1, 2) or raw.ndim != 1:
            raise SourceError(f"X must have one or two dimensions and y one: got {examples.shape} and {raw.shape}.")
        if len(examples) != len(raw):
            raise SourceError(f"X and y must have one length: got {len(examples):,} and {len(raw):,} rows.")
        if len(raw) == 0:
            raise SourceError(f"a source must not be empty: {name} has no rows.")
        if examples.size == 0:
            raise SourceError(f"X must have at least one column: got shape {examples.shape}.")
        self.name = name
        self._x = _numbers(examples, name)
        self._raw, self._positive = self._without_spaces(raw), positive
        self._set_labels(multiclass)
        self.domain = _domain(self._x)
        self.scaled_by_default = self._x.ndim == 2
        self.rows = len(self._y)
        width = 1 if self._x.ndim == 1 else self._x.shape[1]
        self.features = tuple(features) if features is not None else names_of(X)
        if self.features is not None and len(self.features) != width:
            raise SourceError(f"features must name every column of X: got {len(self.features)} names for {width}.")


def in_batches(
    x: NDArray[np.number] | Sparse | None,
    y: NDArray[np.number],
    start: Position | None,
    at_once: int = ROWS_PER_BATCH,
    memory: Memory = "borrowed",
) -> Iterator[Batch]:
    """Yield batches of at most `at_once` rows of the arrays; x may be None."""
    for first in range(count_at(start), len(y), at_once):
        stop = min(first + at_once, len(y))
        yield Batch(None if x is None else x[first:stop], y[first:stop], first + 1, {"row": stop}, memory)


def _array(values: ArrayLike, what: str) -> NDArray[np.generic]:
    try:
        return np.asarray(values)
    except ValueError:
        raise SourceError(f"{what} must be an array: got rows of different lengths. Make them equally long.") from None


def _numbers(examples: NDArray[np.generic], name: str) -> NDArray[Any]:
    """Return X as int64 or float64: (rows,) for integers in one dimension, otherwise (rows, width)."""
    if examples.dtype.kind == "f":
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, rejected below
            reals = np.ascontiguousarray(examples, dtype=np.float64).reshape(len(examples), -1)
        if not np.all(np.isfinite(reals)):
            row, column = np.argwhere(~np.isfinite(reals))[0].tolist()
            raise SourceError(
                f"X must be finite: row {row + 1}, feature {column} of {name} is {reals[row, column]}. "
                "Clean or drop the row."
            )
        return reals
    if examples.dtype.kind == "u" and int(examples.max()) > np.iinfo(np.int64).max:
        raise SourceError(f"whole numbers must be below 2^63: {name} has {examples.max()}. Pass them as pairs (x, y).")
    return np.ascontiguousarray(examples, dtype=np.int64)


def _domain(x: NDArray[np.generic]) -> Domain:
    if x.ndim == 1:
        return Domain("index")
    return Domain("point" if x.dtype.kind == "i" else "vector", x.shape[1])


def encode_labels(
    y: NDArray[Any], positive: object = None, multiclass: int | None = None, name: str = "y"
) -> tuple[Labels | None, NDArray[np.generic]]:
    """Return the two labels and y as -1/+1; for multiclass labels, None and y as int32."""
    _check_labels(y, name)
    if positive is None and multiclass is not None:
        return None, _many(y, multiclass, name)
    if positive is None and y.dtype.kind == "i" and are_signs(y):
        return Labels(), y.astype(np.int8, copy=False)  # already -1/+1: no sort needed
    try:
        unique, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError):
        raise SourceError(
            f"labels must have one type: {name} has several. Convert them to text, for example."
        ) from None
    values = (
        list(unique) if y.dtype.kind in "mM" else unique.tolist()
    )  # tolist would turn dates with nanoseconds into integers
    if positive is not None:
        where = find_value(values, positive)
        if where is None:
            shown = ", ".join(repr(value) for value in values[:5])
            raise SourceError(f"the positive label must occur: {name} has {shown}, not {positive!r}.")
        return against_others(values, where), _signs(codes == where)
    labels = two_labels(values)
    if labels is not None:
        return labels, _signs(codes == (1 if len(values) == 2 or values[0] == labels.negative else 0))
    if len(values) == 1:
        raise SourceError("labels must take two values", f"{name} has only {values[0]!r}", POSITIVE)
    if y.dtype.kind in "iu" and values[0] >= 0 and values[-1] <= LARGEST_LABEL:
        return None, y.astype(np.int32)
    third = int(np.flatnonzero((codes != codes[0]) & (codes != codes[_second(codes)]))[0])
    was = f"row {third + 1} of {name} has a third value, {values[codes[third]]!r}"
    raise SourceError("labels must take two values", was, POSITIVE)


def more_than_two(y: object) -> bool:
    """Return whether y has three or more distinct labels."""
    values = np.asarray(y)
    if values.ndim != 1:
        return False
    seen: set[object] = set()
    for part in range(0, len(values), ROWS_PER_BATCH):
        some = values[part : part + ROWS_PER_BATCH]
        different = some if some.dtype.kind == "O" else np.unique(some)
        seen.update(str(value).strip() for value in different.tolist())
        if len(seen) > 2:
            return True
    return False


def two_labels(values: list[object]) -> Labels | None:
    """Return the labels for two sorted values, or for a single value that is a bool, -1, 0 or 1; otherwise None."""
    if all(isinstance(value, bool) for value in values):
        return Labels(False, True)
    for known in ((-1, 1), (0, 1)):
        if all(value in known for value in values):
            return Labels(*known)
    return Labels(*values) if len(values) == 2 else None


def find_value(values: list[object], wanted: object) -> int | None:
    """Return the index of `wanted` among the values; the text "1" also matches 1 and 1.0."""
    for same in (_equal, alike):
        for position, value in enumerate(values):
            if same(value, wanted):
                return position
    return None


def against_others(values: list[object], where: int) -> Labels:
    """Return labels with values[where] as +1 and every other value as -1."""
    others = [value for position, value in enumerate(values) if position != where]
    return Labels(others[0] if len(others) == 1 else f"not {values[where]}", values[where])


def _equal(value: object, wanted: object) -> bool:
    return type(value) is type(wanted) and bool(value == wanted)


def _check_labels(y: NDArray[np.generic], name: str) -> None:
    """Raise SourceError if a label is missing."""
    if y.dtype.kind in "fcmM":
        bad = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        bad = np.array([_missing(value) for value in y], dtype=bool)
    else:
        return
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        raise SourceError(f"labels must be finite: row {where + 1} of {name} has {y[where]}. Clean or drop the row.")


def _missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA and arrays have no truth value
        return True


def _many(y: NDArray[Any], multiclass: int, name: str) -> NDArray[np.int32]:
    """Return labels as int32 from 0 to multiclass-1; raise SourceError for others."""
    if y.dtype.kind not in "iubf":
        raise SourceError(f"labels must be integers from 0 to {multiclass - 1}: {name} has {y.dtype}. Number them.")
    bad = (y < 0) | (y >= multiclass) | (y != np.floor(y)) if y.dtype.kind == "f" else (y < 0) | (y >= multiclass)
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        raise SourceError(
            f"labels must be integers from 0 to {multiclass - 1}: row {where + 1} of {name} has {y[where].item()!r}."
        )
    return y.astype(np.int32)


def _signs(positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(positive, np.int8(1), np.int8(-1))


def _second(codes: NDArray[np.generic]) -> int:
    """Return the index of the first row whose label differs from that of row 0."""
    return int(np.flatnonzero(codes != codes[0])[0])


WIDEST = 2**32
"""Maximum number of columns of a sparse matrix: indices are uint32."""
LARGEST_EXACT = 2**53
"""Largest n such that all integers up to n are exact as float64."""


class SparseMatrix(LabelledArray):
    """Stream over the rows of a scipy.sparse matrix or array with labels y.

    Repeated entries are summed; explicit zeros are kept; float32 stays float32, other types become float64.

    Args:
        X: Sparse matrix of shape (rows, width).
        y: Labels of shape (rows,).
        positive: Label for +1, as in `Arrays`.
        multiclass: Number of labels or True, as in `Arrays`.
        name: Name of the source in messages.
    """

    def __init__(
        self, X: Any, y: ArrayLike, positive: object = None, multiclass: int | None = None, name: str = "sparse matrix"
    ) -> None:  # fmt: skip
        if not is_sparse(X):
            raise SourceError(f"X must be a scipy.sparse matrix: got {type(X).__name__}. Pass arrays as (X, y).")
        raw = np.asarray(y)
        if len(X.shape) != 2 or raw.ndim != 1:
            raise SourceError(f"X must have two dimensions and y one: got {X.shape} and {raw.shape}.")
        if X.shape[0] != len(raw):
            raise SourceError(f"X and y must have one length: got {X.shape[0]:,} and {len(raw):,} rows.")
        if len(raw) == 0:
            raise SourceError(f"a source must not be empty: {name} has no rows.")
        if X.shape[1] > WIDEST:
            raise SourceError(f"X must have at most 2^32 columns: got {X.shape[1]:,}. Hash the features.")
        self.name = name
        self._x = matrix_rows(X, name)
        self._raw, self._positive = self._without_spaces(raw), positive
        self._set_labels(multiclass)
        self.domain = Domain("vector", X.shape[1])
        self.rows = len(raw)


def matrix_rows(X: Any, name: str) -> Sparse:
    """Return the matrix as checked CSR rows with repeats summed; copy only if it is not canonical."""
    if X.dtype.kind not in "iufb":
        raise SourceError(f"X must be real numbers: got {X.dtype}. Encode text and categories first.")
    matrix = X.tocsr()
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise SourceError(f"X must be a valid matrix: {name} is not ({error}). Build it again.") from None
    if (
        matrix.dtype.kind in "iu"
        and matrix.nnz
        and max(-int(matrix.data.min()), int(matrix.data.max())) > LARGEST_EXACT
    ):
        raise SourceError(f"whole numbers must be at most 2^53: {name} has larger ones. Scale them.")
    if matrix.dtype != np.float32:
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, rejected below
            matrix = matrix.astype(np.float64, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            matrix.sum_duplicates()
    count = int(matrix.indptr[-1])
    indices, values = matrix.indices[:count], matrix.data[:count]
    finite = np.isfinite(values)
    if not finite.all():
        at = int(np.argmin(finite))
        row = int(np.searchsorted(matrix.indptr, at, side="right"))
        raise SourceError(
            f"X must be finite: row {row:,}, feature {indices[at]} of {name} is {values[at]}. Clean or drop the row."
        )
    return Sparse(matrix.indptr.astype(np.uint64), indices.astype(np.uint32), values, X.shape[1], checked=True)


def is_sparse(X: object) -> bool:
    """Return whether X is a scipy.sparse matrix or array."""
    module = sys.modules.get("scipy.sparse")  # imported already if X is one of its matrices
    return module is not None and bool(module.issparse(X))


def is_frame(value: object) -> bool:
    """Return whether the value is a data frame that narwhals supports."""
    if not hasattr(value, "collect_schema") and not hasattr(value, "columns"):  # lazy frames warn on .columns
        return False
    import narwhals as nw

    check_names(value)
    return isinstance(nw.from_native(value, pass_through=True), (nw.DataFrame, nw.LazyFrame))


def is_live(source: object) -> bool:
    """Return whether rows are read from the object: an Arrow stream, a cursor, or a list of frames."""
    if isinstance(source, list):
        return bool(source) and is_part(source[0])
    if isinstance(source, (tuple, Mapping)) or hasattr(source, "__array__"):
        return False
    return hasattr(source, "__arrow_c_stream__") or is_cursor(source)


def is_cursor(source: object) -> bool:
    """Return whether the object is a cursor of a database (PEP 249)."""
    return hasattr(source, "description") and hasattr(source, "fetchmany") and hasattr(source, "execute")


def is_part(item: object) -> bool:
    """Return whether an item of a list or iterator is a frame or a record batch."""
    if isinstance(item, (Mapping, str, bytes, list, tuple, np.ndarray)):
        return False
    return hasattr(item, "__arrow_c_array__") or hasattr(item, "__arrow_c_stream__") or is_frame(item)


def check_names(frame: Any) -> None:
    """Raise SourceError if two columns of a pandas frame have the same name."""
    if hasattr(frame, "collect_schema"):  # lazy frames warn on .columns
        return
    twice = getattr(getattr(frame, "columns", None), "duplicated", None)
    if twice is not None and twice().any():
        name = frame.columns[twice()][0]
        do = "Rename or drop one: frame.loc[:, ~frame.columns.duplicated()]."
        raise SourceError("columns must have different names", f"two columns of the frame are called {name!r}", do)
