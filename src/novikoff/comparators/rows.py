"""Rows for comparators, dense or sparse, and buffers of rows.

Comparators in a metric get rows as learners do: the places and values of the non-zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.core.encode import mappings
from novikoff.core.errors import InputError
from novikoff.core.state import Field, array, ends, indices, integer, require
from novikoff.core.types import Batch, Sparse, State

Row = NDArray[Any] | tuple[NDArray[Any], NDArray[Any]] | dict[str, float]
Rows = NDArray[Any] | Sparse
Labels = NDArray[np.int8]

MOST_ROWS, MOST_BYTES = 256, 2**20
"""Maximum number of single rows, and of their bytes, that are gathered before they are processed."""
MOST_PIECES = 4096
"""Number of pieces in a buffer above which it concatenates them."""
KEPT = "kept rows"
"""Name of the state in error messages."""
BYTES_PER_NUMBER, BYTES_PER_NONZERO, BYTES_PER_ROW = 8, 12, 16
"""Bytes per number of a dense row, per non-zero of a sparse row, and the fixed overhead per row."""


class Gathered:
    """Buffer of single rows that are processed together, each with its data, in order of arrival."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._size = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, x: Row, *others: Any) -> bool:
        """Add one row, copied unless it is a mapping; return whether there are enough to be processed."""
        copied: Row = x
        if isinstance(x, tuple):
            copied = x[0].copy(), x[1].copy()
        elif not isinstance(x, dict):
            copied = np.array(x, dtype=np.float64)
        self._rows.append((copied, *others))
        self._size += 8 * len(x[1] if isinstance(x, tuple) else x)
        return len(self._rows) >= MOST_ROWS or self._size >= MOST_BYTES

    def taken(self, width: int = 0, names: Mapping[str, int] | None = None) -> Iterator[tuple[Any, ...]]:
        """Remove all rows; yield runs of rows of one form, stacked, with the data of each."""
        rows, self._rows, self._size = self._rows, [], 0
        for _, some in groupby(rows, _likeness):
            x, *others = zip(*some, strict=True)
            yield stacked(list(x), width, names), *others


def _likeness(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a key that is equal for rows which can be stacked together with their data."""
    last = row[-1]  # the scores of several members are an array
    return form_of(row[0]), last.shape if isinstance(last, np.ndarray) else ()


class RowBuffer:
    """Rows of one form with their outcomes and their mistakes or scores (`played`); everything added is copied.

    Dense rows may become wider: earlier rows are 0 in new columns. Scores may gain columns for new labels: earlier
    scores are -inf there.
    """

    def __init__(self) -> None:
        self.rows = self.size = 0  # size: bytes, about
        self._x: list[Rows] = []
        self._y: list[NDArray[Any]] = []
        self._played: list[NDArray[Any]] = []

    def add(self, x: Rows, y: NDArray[Any], played: NDArray[Any], size: int | None = None) -> None:
        """Append rows, of `size` bytes if that is known."""
        if len(y) == 0:
            return
        if self._x and not isinstance(x, Sparse):
            self._x = [wider(one, x.shape[1]) for one in self._x]
        if self._x and (isinstance(x, Sparse) != isinstance(self._x[0], Sparse) or _width(x) != _width(self._x[0])):
            raise InputError(f"all rows must have one form: got {_form(x)} after {_form(self._x[0])}.")
        self._x.append(x.copy(np.float64) if isinstance(x, Sparse) else np.array(x, dtype=np.float64, order="C"))
        self._y.append(y.copy())
        self._played.append(played.copy())
        self.rows += len(y)
        self.size += int(sizes(x).sum()) if size is None else size
        if len(self._x) > MOST_PIECES:
            self.together()

    def together(self) -> tuple[Rows, NDArray[Any], NDArray[Any]]:
        """Return all rows, their outcomes, and their mistakes or scores."""
        if not self._x:
            return np.zeros((0, 0)), np.zeros(0, np.int8), np.zeros(0, np.bool_)
        if len(self._x) > 1:
            self._x, self._y = [_joined(self._x)], [np.concatenate(self._y)]
            if self._played[0].ndim == 2:
                most = max(part.shape[1] for part in self._played)
                self._played = [with_labels(part, most) for part in self._played]
            self._played = [np.concatenate(self._played)]
        return self._x[0], self._y[0], self._played[0]

    def state(self) -> State:
        x, y, wrong = self.together()
        return {"x": rows_state(x), "y": y.copy(), "wrong": wrong.copy()}

    @classmethod
    def restore(cls, state: State) -> Self:
        """Return the buffer with this saved state; written by hand, because rows are added, not assigned."""
        buffer, x = cls(), restored_rows(state["x"])
        y, wrong = array(state, "y", (len(x),), np.int8, of=KEPT), array(state, "wrong", (len(x),), np.bool_, of=KEPT)
        require(bool((np.abs(y) == 1).all()), "labels of kept rows must be -1 and +1", y)
        buffer.add(x, y, wrong)
        return buffer


@dataclass(frozen=True)
class SavedRows(Field):
    """State field of rows, dense or sparse."""

    def pack(self, value: Any, owner: object) -> object:
        return rows_state(value)

    def unpack(self, state: State, owner: object, of: str) -> object:
        return restored_rows(state[self.name])


def as_rows(batch: Batch) -> Rows:
    """Return the x of a batch of numbers, as the compiled loops take it."""
    return batch.x if isinstance(batch.x, Sparse) else batch.table()


def stacked(rows: list[Row], width: int = 0, names: Mapping[str, int] | None = None) -> Rows:
    """Stack single rows as doubles: all (indices, values), all arrays, or all mappings.

    Args:
        rows: Rows to stack.
        width: Minimum width of sparse rows.
        names: Positions of the keys of mappings; empty if the keys are positions.
    """
    named = [row for row in rows if isinstance(row, dict)]
    if named and names is not None:
        return mappings(named, names, width)
    sparse = [row for row in rows if isinstance(row, tuple)]
    if len(sparse) not in (0, len(rows)):
        raise InputError("rows must have one form to be stacked: got dense and sparse rows.")
    return Sparse.of_rows(sparse, width) if sparse else np.stack([np.asarray(row) for row in rows]).astype(np.float64)


def wider(x: Rows, width: int) -> Rows:
    """Return dense rows widened by zero columns; sparse rows unchanged."""
    if isinstance(x, Sparse) or x.shape[1] >= width:
        return x
    return np.pad(x, ((0, 0), (0, width - x.shape[1])))


def chosen(x: Rows, rows: NDArray[Any]) -> Rows:
    """Return some of the rows, by number or by a mask."""
    return x.take(rows) if isinstance(x, Sparse) else np.ascontiguousarray(x[rows])


def without_zeros(x: Rows) -> Sparse:
    """Return rows in sparse form; zeros of dense rows are dropped."""
    return x if isinstance(x, Sparse) else Sparse.of_dense(x)


def form_of(x: Row) -> int:
    """Return -1 for a sparse row, -2 for a mapping, and the width of a dense row."""
    return -1 if isinstance(x, tuple) else -2 if isinstance(x, dict) else len(x)


def numbers_sizes(x: Rows) -> NDArray[np.int64]:
    """Return the bytes of the numbers of each row."""
    if not isinstance(x, Sparse):
        return np.full(len(x), x.shape[1] * BYTES_PER_NUMBER, dtype=np.int64)
    return np.diff(x.indptr).astype(np.int64) * BYTES_PER_NONZERO


def numbers_size(x: Rows) -> int:
    """Return the sum of `numbers_sizes`."""
    if not isinstance(x, Sparse):
        return x.size * BYTES_PER_NUMBER
    return int(x.indptr[-1] - x.indptr[0]) * BYTES_PER_NONZERO


def sizes(x: Rows) -> NDArray[np.int64]:
    """Return the approximate bytes of each row."""
    return numbers_sizes(x) + BYTES_PER_ROW


def numbers(x: Rows) -> NDArray[Any]:
    """Return every value of the rows."""
    return x.values[x.entries] if isinstance(x, Sparse) else x.reshape(-1)


def most_numbers(x: Rows) -> int:
    """Return the largest number of stored values of a row."""
    if not isinstance(x, Sparse):
        return int(x.shape[1])
    return int(np.diff(x.indptr).max(initial=np.uint64(0)))


def rows_state(x: Rows) -> State:
    """Return rows as plain data."""
    if not isinstance(x, Sparse):
        return {"dense": x.copy()}
    rows = x.copy(np.float64)
    return {"indptr": rows.indptr, "indices": rows.indices, "values": rows.values, "width": rows.width}


def restored_rows(state: State) -> Rows:
    """Return rows restored from their state."""
    require(isinstance(state, dict), "kept rows must be dense or sparse", state)
    if "dense" in state:
        return array(state, "dense", (None, None), finite=False, of=KEPT)
    indptr, width = ends(state, "indptr", None, np.uint64, of=KEPT), integer(state, "width", 0, 2**32, of=KEPT)
    size = int(indptr[-1])
    places = indices(state, "indices", size, max(width, 1), of=KEPT)
    return Sparse(indptr, places, array(state, "values", (size,), finite=False, of=KEPT), width, checked=True)


def _joined(parts: list[Rows]) -> Rows:
    """Return the parts concatenated."""
    sparse = [part for part in parts if isinstance(part, Sparse)]
    return Sparse.concatenated(sparse) if sparse else np.concatenate([np.asarray(part) for part in parts])


def _width(x: Rows) -> int:
    return -1 if isinstance(x, Sparse) else x.shape[1]


def _form(x: Rows) -> str:
    return "sparse rows" if isinstance(x, Sparse) else f"rows of {x.shape[1]} numbers"


def nonzeros_of(x: object, bias: float) -> Any:
    """Return the rows of a batch as in numerics/nonzeros.py; `bias` is the constant feature's value, 0 for none."""
    if isinstance(x, Sparse):
        rows, _ = numerics.nonzeros.of_sparse(x.indptr, x.indices, x.values, bias)
    else:
        array = np.ascontiguousarray(x, dtype=np.float64)
        rows, _ = numerics.nonzeros.of_dense(array if array.ndim == 2 else array[:, None], bias)
    return rows


def as_sparse(rows: numerics.nonzeros.Nonzeros) -> Sparse:
    """Return non-zeros as sparse rows that share the arrays."""
    return Sparse(rows.ends.view(np.uint64), rows.places, rows.values, 2**32, checked=True)


def as_nonzeros(x: Rows) -> numerics.nonzeros.Nonzeros:
    """Return sparse rows as non-zeros, the reverse of `as_sparse`."""
    assert isinstance(x, Sparse)
    return numerics.nonzeros.Nonzeros(x.indptr.view(np.int64), x.indices, x.values)


def with_labels(scores: NDArray[np.generic], labels: int) -> NDArray[Any]:
    """Return scores with a column for each label: -inf for labels that had not been seen."""
    missing = labels - scores.shape[1]
    return np.pad(scores, ((0, 0), (0, missing)), constant_values=-np.inf) if missing > 0 else scores
