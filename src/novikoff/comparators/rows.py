"""Rows that comparators are shown, dense ones or sparse ones, and a buffer of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import InputError
from novikoff.types import Sparse, State

Row = NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]
Rows = NDArray[Any] | Sparse
Labels = NDArray[np.int8]

BYTES_A_NUMBER, BYTES_A_NONZERO, BYTES_A_ROW = 8, 12, 16


class RowBuffer:
    """Rows of one form with their labels and whether each was a mistake; what is added is copied."""

    def __init__(self) -> None:
        self.rows = self.size = 0  # size: bytes, about
        self._x: list[Rows] = []
        self._y: list[Labels] = []
        self._wrong: list[NDArray[np.bool_]] = []

    def add(self, x: Rows, y: Labels, wrong: NDArray[np.bool_]) -> None:
        """More rows, after those there are."""
        if len(y) == 0:
            return
        if self._x and (isinstance(x, Sparse) != isinstance(self._x[0], Sparse) or _width(x) != _width(self._x[0])):
            raise InputError(f"rows must stay of one form: {_form(x)} came after {_form(self._x[0])}.")
        self._x.append(_copied(x))
        self._y.append(y.copy())
        self._wrong.append(wrong.copy())
        self.rows += len(y)
        self.size += int(sizes(x).sum())

    def together(self) -> tuple[Rows, Labels, NDArray[np.bool_]]:
        """All rows, their labels, and which were mistakes."""
        if not self._x:
            return np.zeros((0, 0)), np.zeros(0, np.int8), np.zeros(0, np.bool_)
        if len(self._x) > 1:
            self._x, self._y = [_joined(self._x)], [np.concatenate(self._y)]
            self._wrong = [np.concatenate(self._wrong)]
        return self._x[0], self._y[0], self._wrong[0]

    def state(self) -> State:
        """As plain data."""
        x, y, wrong = self.together()
        return {"x": rows_state(x), "y": y.copy(), "wrong": wrong.copy()}

    @classmethod
    def restore(cls, state: State) -> Self:
        """The buffer whose `state` this is."""
        buffer, x = cls(), restored_rows(state["x"])
        y, wrong = np.asarray(state["y"], np.int8), np.asarray(state["wrong"], np.bool_)
        if not len(x) == len(y) == len(wrong):
            raise ValueError("kept rows must have a label and a mark each: they do not.")
        buffer.add(x, y, wrong)
        return buffer


def as_rows(x: Any, count: int) -> Rows:
    """The x of a batch of `count` rows, as the kernels take it; sparse rows as they are."""
    if isinstance(x, Sparse):
        return x
    rows = np.asarray(x)
    rows = rows if rows.ndim == 2 else rows.reshape(count, -1)
    kind = rows.dtype if rows.dtype in (np.float64, np.float32, np.int64) else np.float64
    return np.ascontiguousarray(rows, dtype=kind)


def stacked(rows: list[Row]) -> Rows:
    """Single rows, all (indices, values) or all arrays of one width."""
    if not isinstance(rows[0], tuple):
        return np.stack(rows).astype(np.float64)
    lengths = np.array([0] + [len(indices) for indices, _ in rows], dtype=np.uint64)
    indices = np.concatenate([row[0] for row in rows]).astype(np.uint32)
    values = np.concatenate([row[1] for row in rows]).astype(np.float64)
    return Sparse(np.cumsum(lengths, dtype=np.uint64), indices, values, int(indices.max(initial=0)) + 1, checked=True)


def chosen(x: Rows, places: NDArray[np.int64]) -> Rows:
    """Some of the rows, in their order."""
    if not isinstance(x, Sparse):
        return np.ascontiguousarray(x[places])
    return _joined([x[place : place + 1] for place in places.tolist()]) if len(places) else x[:0]


def without_zeros(x: Rows) -> Sparse:
    """Rows as sparse ones; dense ones lose their zeros."""
    if isinstance(x, Sparse):
        return x
    where, features = np.nonzero(x)
    lengths = np.bincount(where, minlength=len(x)).astype(np.uint64)
    indptr = np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])
    return Sparse(indptr, features.astype(np.uint32), x[where, features].astype(np.float64), x.shape[1], checked=True)


def form_of(x: Row) -> int:
    """-1 for a sparse row, the width of a dense one."""
    return -1 if isinstance(x, tuple) else len(x)


def sizes(x: Rows) -> NDArray[np.int64]:
    """Bytes of each row, about."""
    if not isinstance(x, Sparse):
        return np.full(len(x), x.shape[1] * BYTES_A_NUMBER + BYTES_A_ROW, dtype=np.int64)
    return np.diff(x.indptr).astype(np.int64) * BYTES_A_NONZERO + BYTES_A_ROW


def numbers(x: Rows) -> NDArray[Any]:
    """Every value of the rows."""
    if not isinstance(x, Sparse):
        return x.reshape(-1)
    return x.values[int(x.indptr[0]) : int(x.indptr[-1])] if len(x.indptr) else x.values[:0]


def most_numbers(x: Rows) -> int:
    """The most numbers that a row has."""
    if not isinstance(x, Sparse):
        return int(x.shape[1])
    return int(np.diff(x.indptr).max(initial=np.uint64(0)))


def rows_state(x: Rows) -> State:
    """Rows as plain data."""
    if not isinstance(x, Sparse):
        return {"dense": x.copy()}
    own = _copied_sparse(x)
    return {"indptr": own.indptr, "indices": own.indices, "values": own.values, "width": own.width}


def restored_rows(state: State) -> Rows:
    """The rows whose state this is."""
    if "dense" in state:
        dense = np.ascontiguousarray(state["dense"], dtype=np.float64)
        if dense.ndim != 2:
            raise ValueError(f"kept rows must be a table: got {dense.ndim} dimensions.")
        return dense
    indptr, indices = np.asarray(state["indptr"], np.uint64), np.asarray(state["indices"], np.uint32)
    values, width = np.asarray(state["values"], np.float64), int(state["width"])
    ends = indptr.tolist()
    together = bool(ends) and [ends[0], ends[-1], len(indices)] == [0, len(values), len(values)]
    if not together or ends != sorted(ends) or int(indices.max(initial=0)) >= max(width, 1):
        raise ValueError("kept rows must fit together: they do not.")
    return Sparse(indptr, indices, values, width, checked=True)


def _copied(x: Rows) -> Rows:
    return _copied_sparse(x) if isinstance(x, Sparse) else np.array(x, dtype=np.float64, order="C")


def _copied_sparse(x: Sparse) -> Sparse:
    """A copy with nothing else in its arrays."""
    start, stop = int(x.indptr[0]), int(x.indptr[-1])
    indptr = np.asarray(x.indptr - x.indptr[0], dtype=np.uint64)
    return Sparse(indptr, x.indices[start:stop].copy(), x.values[start:stop].astype(np.float64), x.width, checked=True)


def _joined(pieces: list[Rows]) -> Rows:
    """One after the other."""
    parts = [_copied_sparse(piece) for piece in pieces if isinstance(piece, Sparse)]
    if not parts:
        return np.concatenate([piece for piece in pieces if not isinstance(piece, Sparse)])
    lengths = np.concatenate([np.zeros(1, np.uint64), *(np.diff(part.indptr) for part in parts)])
    indices = np.concatenate([part.indices for part in parts])
    values = np.concatenate([part.values for part in parts])
    return Sparse(np.cumsum(lengths, dtype=np.uint64), indices, values, max(part.width for part in parts), checked=True)


def _width(x: Rows) -> int:
    return -1 if isinstance(x, Sparse) else x.shape[1]


def _form(x: Rows) -> str:
    return "sparse rows" if isinstance(x, Sparse) else f"rows of {x.shape[1]} numbers"
