"""Batch: consecutive rounds; and Sparse, rows with few non-zeros.

Both are views: parts of them share their arrays. Whether these stay as they are is known by `Batch.memory`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from sys import getsizeof
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from novikoff.core.errors import InputError, shown

if TYPE_CHECKING:
    from novikoff.data.tables.encoding import Encoding

Example: TypeAlias = object
"""x: an int, a Fraction, a sequence or array of numbers, or any Python object (see `Domain`)."""

Outcome: TypeAlias = object
"""What comes after a prediction, checked when it comes: a label, a number, or the losses of all experts."""

Scalar = TypeVar("Scalar", bound=np.generic)

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A plain value, as JSON has it."""

Position = dict[str, Json]
"""Where a stream can go on after a batch: plain JSON values that only the stream understands."""


def count_at(position: Position | None, name: str = "row") -> int:
    """Return a count that a position has; 0 at the beginning."""
    value = position[name] if position else 0
    if not isinstance(value, int):
        raise InputError(f"{name} of a position must be a whole number: got {shown(value)}.")
    return value


def counts_at(position: Position) -> dict[str, int]:
    """Return all counts that a position has."""
    return {name: value for name, value in position.items() if type(value) is int}


Memory = Literal["borrowed", "owned", "mapped"]
"""Of arrays: borrowed, and perhaps written over when the next batch is read; nobody else's; or in a mapped file."""

COMPUTED = frozenset((np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64)))
"""The arrays that kernels read; sums of their numbers are doubles."""


class CheckedRow(tuple[NDArray[np.uint32], NDArray[np.float64]]):
    """A sparse row (indices, values) that was checked (encode.py): whoever is given it looks no further."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """Rows with few non-zeros: row t is indices[indptr[t]:indptr[t+1]] and the values beside them.

    No index is repeated within a row, the order is as read. `width` is one more than the largest index there may be.
    Arrays may be read-only (mapped files are).
    This is a border: rows that are built by hand are checked here, and made arrays of the right kind. `checked` is for
    those who have seen to that: our readers, which merge repeats as they parse, and parts of what was checked.
    """

    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    values: NDArray[np.float64]  # or float32, which kernels read as they are
    width: int
    checked: bool = False

    def __post_init__(self) -> None:
        if not self.checked:
            for name, array in zip(("indptr", "indices", "values"), _checked(self), strict=True):
                object.__setattr__(self, name, array)
            object.__setattr__(self, "checked", True)

    @property
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
        """As kernels take them."""
        return self.indptr, self.indices, self.values

    @classmethod
    def of_rows(cls, rows: Sequence[tuple[NDArray[np.uint32], NDArray[np.float64]]], width: int = 0) -> Sparse:
        """Rows (indices, values) that were checked, in arrays of their own, of doubles; at least so wide."""
        ends = _ends(np.array([len(indices) for indices, _ in rows], dtype=np.uint64))
        indices = np.concatenate([np.zeros(0, np.uint32), *(row[0] for row in rows)]).astype(np.uint32, copy=False)
        values = np.concatenate([np.zeros(0), *(row[1] for row in rows)])
        return cls(ends, indices, values, max(int(indices.max(initial=0)) + 1, width), checked=True)

    @classmethod
    def of_dense(cls, x: NDArray[np.number]) -> Sparse:
        """The rows of an array without their zeros, in doubles."""
        where, features = np.nonzero(x)
        ends = _ends(np.bincount(where, minlength=len(x)))
        return cls(ends, features.astype(np.uint32), x[where, features].astype(np.float64), x.shape[1], checked=True)

    @classmethod
    def concatenated(cls, parts: Sequence[Sparse]) -> Sparse:
        """The rows of one after those of the other, in arrays of their own."""
        ends = _ends(np.concatenate([np.diff(part.indptr) for part in parts]))
        indices = np.concatenate([part.indices[part.entries] for part in parts])
        values = np.concatenate([part.values[part.entries] for part in parts])
        return cls(ends, indices, values, max(part.width for part in parts), checked=True)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: slice) -> Sparse:
        start, stop, _ = rows.indices(len(self))
        return Sparse(self.indptr[start : stop + 1], self.indices, self.values, self.width, checked=True)

    @property
    def entries(self) -> slice:
        """Where the indices and values of these rows are: the arrays may hold more."""
        return slice(int(self.indptr[0]), int(self.indptr[-1]))

    @property
    def nbytes(self) -> int:
        """Bytes of these rows."""
        return self.indptr.nbytes + self.indices[self.entries].nbytes + self.values[self.entries].nbytes

    def alone(self) -> Sparse:
        """These rows, in parts of the arrays that hold no others."""
        here = self.entries
        if here == slice(0, len(self.indices)):
            return self
        return Sparse(self.indptr - self.indptr[0], self.indices[here], self.values[here], self.width, checked=True)

    def copy(self, dtype: DTypeLike | None = None) -> Sparse:
        """These rows, and nothing else, in arrays of their own; `dtype` of the values, if others are wanted."""
        values = self.values[self.entries]
        return Sparse(
            self.indptr - self.indptr[0], self.indices[self.entries].copy(), values.astype(dtype or values.dtype),
            self.width, checked=True,
        )  # fmt: skip

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Sparse:
        """Some of the rows, by their numbers or where it is true, in arrays of their own."""
        starts, lengths = self.indptr[:-1].astype(np.int64)[rows], np.diff(self.indptr).astype(np.int64)[rows]
        ends = _ends(lengths)
        places = np.repeat(starts - ends[:-1].astype(np.int64), lengths) + np.arange(lengths.sum())
        return Sparse(ends, self.indices[places], self.values[places], self.width, checked=True)

    def dense(self, width: int = 0) -> NDArray[np.float64]:
        """The rows as an array, at least so wide."""
        x = np.zeros((len(self), max(self.width, width)))
        for row, (indices, values) in zip(x, self.rows(), strict=True):
            row[indices] = values
        return x

    def row(self, t: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Row t, from 0, as (indices, values)."""
        start, stop = int(self.indptr[t]), int(self.indptr[t + 1])
        return self.indices[start:stop], self.values[start:stop]

    def rows(self) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.float64]]]:
        """Each row as (indices, values)."""
        ends = self.indptr.tolist()
        for start, stop in pairwise(ends):
            yield self.indices[start:stop], self.values[start:stop]


def _ends(lengths: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Where rows of these lengths begin, and the last one ends."""
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])


def _checked(x: Sparse) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
    """The arrays of sparse rows as kernels take them, which look no further: or an error that says what is wrong."""
    ends, places, values = np.asarray(x.indptr), np.asarray(x.indices), np.asarray(x.values)
    if ends.ndim != 1 or len(ends) == 0 or ends.dtype.kind not in "iu" or np.any(ends[1:] < ends[:-1]) or ends[0] < 0:
        raise InputError(f"indptr must be whole numbers from 0 that do not fall: got {shown(x.indptr)}.")
    if places.ndim != 1 or places.shape != values.shape or int(ends[-1]) > len(places):
        shapes = f"{places.shape} and {values.shape}"
        raise InputError(f"indices and values must be of one length, to {int(ends[-1])} at least: got {shapes}.")
    start, stop = int(ends[0]), int(ends[-1])
    used = places[start:stop]
    if len(used) and (places.dtype.kind not in "iu" or used.min() < 0 or used.max() >= x.width):
        raise InputError(f"indices must be whole numbers below the width, {x.width}: got {shown(used)}.")
    if len(used) and values.dtype.kind not in "iufb":
        raise InputError(f"values must be numbers: got {values.dtype}.")
    whole, numbers = ends.astype(np.uint64), values if values.dtype in (np.float64, np.float32) else None
    features = places.astype(np.uint32)
    row = first_repeat(whole - whole[0], features[start:stop])
    if row is not None:
        given = shown(features[int(ends[row]) : int(ends[row + 1])].tolist())
        raise InputError(f"no index may be repeated in a row: row {row + 1:,} has {given}. Add their values up.")
    with np.errstate(over="ignore"):  # a long double beyond the doubles becomes infinite
        return whole, features, values.astype(np.float64) if numbers is None else numbers


def first_repeat(ends: NDArray[np.uint64], indices: NDArray[np.uint32]) -> int | None:
    """The first row, from 0, in which an index is repeated."""
    if len(indices) < 2:
        return None
    rising = indices[1:] > indices[:-1]
    starts = ends[(ends > 0) & (ends < len(indices))]
    rising[starts - np.uint64(1)] = True  # the last of a row and the first of the next are not compared
    if rising.all():
        return None
    rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends).astype(np.int64))
    order = np.lexsort((indices, rows))
    same = (indices[order][1:] == indices[order][:-1]) & (rows[order][1:] == rows[order][:-1])
    return int(rows[order][int(np.argmax(same))]) if same.any() else None


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Consecutive rounds.

    x        (rows,) for indices, (rows, width) for points, vectors and advice (float64, NaN where an expert is silent),
             `Sparse`, a list of any objects, or None where y says all. Arrays of numbers are made float64, float32 or
             int64, which is what is computed with; any other is taken for a list of its rows
    y        int8 (-1/+1), int32 (many labels), float64 outcomes, or (rows, experts) losses
    first    the number of the first round, from 1
    end      where the stream goes on after this batch; None if it cannot say
    encoding how the columns of a table became these features (data/tables/encoding.py); None if x comes from no table
    memory   borrowed: x and y may be written over when the next batch is read, so who wants to look at them later has
             `kept` them; owned: they stay as they are; mapped: the same, and they lie in a file and take no memory
    weights  of weighted rows, whole numbers: a row of weight k is k consecutive rounds, learned one by one, and scored
             once: k stands at its first round, 0 at the others. None: every row counts once
    """

    x: NDArray[np.number] | Sparse | list[Example] | None
    y: NDArray[np.number]
    first: int
    end: Position | None = None
    memory: Memory = "borrowed"
    weights: NDArray[np.int64] | None = None
    encoding: Encoding | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", np.asarray(self.y))  # a list will do
        if self.weights is not None:
            object.__setattr__(self, "weights", _weights(self.weights, len(self.y)))
        if isinstance(self.x, np.ndarray) and self.x.dtype not in COMPUTED:
            object.__setattr__(self, "x", _computed(self.x))
        if self.x is not None and len(self.x) != len(self.y):
            raise InputError(f"a batch must have a label for each example: got {len(self.x)} and {len(self.y)} labels.")

    def __len__(self) -> int:
        return len(self.y)

    @property
    def nbytes(self) -> int:
        """Bytes of its rows; of objects, as far as they tell."""
        if isinstance(self.x, list):
            return sum(getattr(row, "nbytes", 0) or getsizeof(row) for row in self.x) + self.y.nbytes
        return (0 if self.x is None else self.x.nbytes) + self.y.nbytes

    def part(self, start: int, stop: int) -> Batch:
        """The rounds from position `start` to before `stop`."""
        end = self.end if stop >= len(self) else None
        x = None if self.x is None else self.x[start:stop]
        weights = None if self.weights is None else self.weights[start:stop]
        return Batch(x, self.y[start:stop], self.first + start, end, self.memory, weights, self.encoding)

    def row_end(self, stop: int) -> int:
        """The position `stop`, or the end of the weighted row whose rounds it would part."""
        if self.weights is None or not 0 < stop < len(self):
            return stop
        firsts = np.flatnonzero(self.weights[stop:])
        return stop + int(firsts[0]) if len(firsts) else len(self)

    def copy(self) -> Batch:
        """The same rounds in arrays of their own."""
        x, weights = None if self.x is None else self.x.copy(), None if self.weights is None else self.weights.copy()
        return replace(self, x=x, y=self.y.copy(), memory="owned", weights=weights)

    def to_read(self) -> Batch:
        """The same rounds for code from outside, in arrays of their own: it cannot reach the caller's by any flag.

        Weights are left out: they tell the ledger how to score, and learners meet every copy of a row anyway.
        """
        x = self.x
        if isinstance(x, Sparse):
            x = Sparse(apart(x.indptr), apart(x.indices), apart(x.values), x.width, checked=True)
        return replace(self, x=apart(x) if isinstance(x, np.ndarray) else x, y=self.y.copy(), weights=None)

    def kept(self) -> Batch:
        """The same rounds, to be looked at whenever one likes: a copy if their memory is borrowed."""
        return self.copy() if self.memory == "borrowed" else self

    def table(self) -> NDArray[np.number]:
        """The rows of an array as kernels take them: without gaps, numbers in one dimension as a column."""
        x = np.ascontiguousarray(self.x)
        return x[:, None] if x.ndim == 1 else x.reshape(len(x), -1) if x.ndim > 2 else x

    def example(self, row: int) -> Example:
        """x of one row, from 0, as a learner is shown it."""
        if isinstance(self.x, Sparse):
            return self.x.row(row)
        if isinstance(self.x, np.ndarray) and self.x.ndim == 1:
            return self.x[row].item()
        return None if self.x is None else self.x[row]

    def rows(self) -> Iterator[tuple[Example, Outcome]]:
        """The same rounds one by one."""
        if self.x is None:
            return zip(repeat(None), self.y, strict=False)
        if isinstance(self.x, Sparse):
            return zip(self.x.rows(), self.y.tolist(), strict=True)
        examples = self.x.tolist() if isinstance(self.x, np.ndarray) and self.x.ndim == 1 else self.x
        return zip(examples, self.y.tolist(), strict=True)


def _weights(given: object, rows: int) -> NDArray[np.int64]:
    """Weights of rows, checked."""
    weights = np.asarray(given)
    if weights.shape != (rows,) or weights.dtype.kind not in "iu" or (rows and weights.min() < 0):
        raise InputError(f"weights of a batch must be {rows} whole numbers from 0: got {shown(given)}.")
    return weights.astype(np.int64, copy=False)


def weights_of_copies(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The `weights` of a batch in which row i stands counts[i] times in a row: its count, then zeros."""
    counts = counts[counts > 0]
    weights = np.zeros(int(counts.sum()), dtype=np.int64)
    weights[np.cumsum(counts) - counts] = counts
    return weights


def _computed(x: NDArray[np.generic]) -> NDArray[np.number] | list[Example]:
    """Numbers of another size or order of bytes as kernels take them; objects one by one, checked as they come."""
    if x.dtype.kind == "f" or (x.dtype.kind == "u" and x.size and x.max() > np.iinfo(np.int64).max):
        with np.errstate(over="ignore"):  # a long double beyond the doubles becomes infinite
            return x.astype(np.float64)
    return x.astype(np.int64) if x.dtype.kind in "iub" else list(x)


def apart(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """A copy, to be read only: who makes it writable again writes into the copy."""
    return still(values.copy())


def still(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, to be read only: mapped files are, and kernels are compiled for one kind."""
    view = values.view()
    view.flags.writeable = False
    return view
