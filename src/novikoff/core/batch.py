"""Batches of consecutive rounds, and sparse rows.

Both are views: parts share the arrays of the whole. `Batch.memory` states whether these may be overwritten.
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
"""An example x: an int, a Fraction, a sequence or array of numbers, or any Python object (see `Domain`)."""

Outcome: TypeAlias = object
"""Outcome of a round, validated on arrival: a label, a number, or the losses of all experts."""

Scalar = TypeVar("Scalar", bound=np.generic)

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A JSON value."""

Position = dict[str, Json]
"""Position from which a stream can resume after a batch: JSON values that only the stream interprets."""


def count_at(position: Position | None, name: str = "row") -> int:
    """Return a count stored in a position; 0 at the beginning."""
    value = position[name] if position else 0
    if not isinstance(value, int):
        raise InputError(f"{name} of a position must be an integer: got {shown(value)}.")
    return value


def counts_at(position: Position) -> dict[str, int]:
    """Return all counts stored in a position."""
    return {name: value for name, value in position.items() if type(value) is int}


Memory = Literal["borrowed", "owned", "mapped"]
"""Ownership of arrays: borrowed (may be overwritten when the next batch is read), owned, or mapped from a file."""

COMPUTED = frozenset((np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64)))
"""Array types that compiled loops read; sums are always accumulated in float64."""


class CheckedRow(tuple[NDArray[np.uint32], NDArray[np.float64]]):
    """A sparse row (indices, values) that encode.py has validated, so that it is not checked again."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """Sparse rows: row t has the entries indptr[t] to indptr[t+1] - 1 of `indices` and `values`.

    Rows made by hand are validated and converted here. Arrays may be read-only, as mapped files are.

    Args:
        indptr: (rows + 1,) position of the first entry of each row, and the end of the last row.
        indices: Feature of each entry; no index is repeated within a row, the order is as read.
        values: Value of each entry.
        width: Number of columns, one more than the largest allowed index.
        checked: Whether the arrays were validated before, by our readers or as parts of validated rows.
    """

    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    values: NDArray[np.float64]  # or float32, which compiled loops read without conversion
    width: int
    checked: bool = False

    def __post_init__(self) -> None:
        if not self.checked:
            for name, array in zip(("indptr", "indices", "values"), _checked(self), strict=True):
                object.__setattr__(self, name, array)
            object.__setattr__(self, "checked", True)

    @property
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
        """Arrays in the order that compiled loops take them."""
        return self.indptr, self.indices, self.values

    @classmethod
    def of_rows(cls, rows: Sequence[tuple[NDArray[np.uint32], NDArray[np.float64]]], width: int = 0) -> Sparse:
        """Return validated rows (indices, values) as float64 in new arrays, with at least `width` columns."""
        ends = _ends(np.array([len(indices) for indices, _ in rows], dtype=np.uint64))
        indices = np.concatenate([np.zeros(0, np.uint32), *(row[0] for row in rows)]).astype(np.uint32, copy=False)
        values = np.concatenate([np.zeros(0), *(row[1] for row in rows)])
        return cls(ends, indices, values, max(int(indices.max(initial=0)) + 1, width), checked=True)

    @classmethod
    def of_dense(cls, x: NDArray[np.number]) -> Sparse:
        """Return the nonzero entries of a dense array as float64."""
        where, features = np.nonzero(x)
        ends = _ends(np.bincount(where, minlength=len(x)))
        return cls(ends, features.astype(np.uint32), x[where, features].astype(np.float64), x.shape[1], checked=True)

    @classmethod
    def concatenated(cls, parts: Sequence[Sparse]) -> Sparse:
        """Return the rows of all parts, in order, in new arrays."""
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
        """Slice of `indices` and `values` that belongs to these rows; the arrays may hold more."""
        return slice(int(self.indptr[0]), int(self.indptr[-1]))

    @property
    def nbytes(self) -> int:
        """Size of these rows in bytes."""
        return self.indptr.nbytes + self.indices[self.entries].nbytes + self.values[self.entries].nbytes

    def alone(self) -> Sparse:
        """Return these rows in views that hold no other rows."""
        here = self.entries
        if here == slice(0, len(self.indices)):
            return self
        return Sparse(self.indptr - self.indptr[0], self.indices[here], self.values[here], self.width, checked=True)

    def copy(self, dtype: DTypeLike | None = None) -> Sparse:
        """Return a copy of these rows only, with values of type `dtype`; None keeps the type."""
        values = self.values[self.entries]
        return Sparse(
            self.indptr - self.indptr[0], self.indices[self.entries].copy(), values.astype(dtype or values.dtype),
            self.width, checked=True,
        )  # fmt: skip

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Sparse:
        """Return the selected rows, by number or by mask, in new arrays."""
        starts, lengths = self.indptr[:-1].astype(np.int64)[rows], np.diff(self.indptr).astype(np.int64)[rows]
        ends = _ends(lengths)
        # Entry j of a selected row: its old start + (j - its new start), computed for all entries at once.
        places = np.repeat(starts - ends[:-1].astype(np.int64), lengths) + np.arange(lengths.sum())
        return Sparse(ends, self.indices[places], self.values[places], self.width, checked=True)

    def dense(self, width: int = 0) -> NDArray[np.float64]:
        """Return the rows as a dense array of at least `width` columns."""
        x = np.zeros((len(self), max(self.width, width)))
        for row, (indices, values) in zip(x, self.rows(), strict=True):
            row[indices] = values
        return x

    def row(self, t: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Return row t, counted from 0, as (indices, values)."""
        start, stop = int(self.indptr[t]), int(self.indptr[t + 1])
        return self.indices[start:stop], self.values[start:stop]

    def rows(self) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.float64]]]:
        """Yield each row as (indices, values)."""
        ends = self.indptr.tolist()
        for start, stop in pairwise(ends):
            yield self.indices[start:stop], self.values[start:stop]


def _ends(lengths: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return the start of each row of these lengths, and the end of the last row."""
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])


def _checked(x: Sparse) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
    """Return the arrays of sparse rows in the types of compiled loops; raise `InputError` if they are invalid."""
    ends, places, values = np.asarray(x.indptr), np.asarray(x.indices), np.asarray(x.values)
    if ends.ndim != 1 or len(ends) == 0 or ends.dtype.kind not in "iu" or np.any(ends[1:] < ends[:-1]) or ends[0] < 0:
        raise InputError(f"indptr must be non-decreasing integers from 0: got {shown(x.indptr)}.")
    if places.ndim != 1 or places.shape != values.shape or int(ends[-1]) > len(places):
        shapes = f"{places.shape} and {values.shape}"
        raise InputError(f"indices and values must have one length, at least {int(ends[-1])}: got {shapes}.")
    start, stop = int(ends[0]), int(ends[-1])
    used = places[start:stop]
    if len(used) and (places.dtype.kind not in "iu" or used.min() < 0 or used.max() >= x.width):
        raise InputError(f"indices must be integers below the width, {x.width}: got {shown(used)}.")
    if len(used) and values.dtype.kind not in "iufb":
        raise InputError(f"values must be numbers: got {values.dtype}.")
    whole, numbers = ends.astype(np.uint64), values if values.dtype in (np.float64, np.float32) else None
    features = places.astype(np.uint32)
    row = first_repeat(whole - whole[0], features[start:stop])
    if row is not None:
        given = shown(features[int(ends[row]) : int(ends[row + 1])].tolist())
        raise InputError(f"no index may be repeated in a row: row {row + 1:,} has {given}. Sum their values first.")
    with np.errstate(over="ignore"):  # a long double beyond the doubles becomes infinite
        return whole, features, values.astype(np.float64) if numbers is None else numbers


def first_repeat(ends: NDArray[np.uint64], indices: NDArray[np.uint32]) -> int | None:
    """Return the first row, counted from 0, in which an index is repeated; None if there is none."""
    if len(indices) < 2:
        return None
    rising = indices[1:] > indices[:-1]
    starts = ends[(ends > 0) & (ends < len(indices))]
    rising[starts - np.uint64(1)] = True  # do not compare the last index of a row with the first of the next
    if rising.all():  # indices increase within every row, as most readers write them: no sort is needed
        return None
    rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends).astype(np.int64))
    order = np.lexsort((indices, rows))
    same = (indices[order][1:] == indices[order][:-1]) & (rows[order][1:] == rows[order][:-1])
    return int(rows[order][int(np.argmax(same))]) if same.any() else None


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Consecutive rounds of a game.

    Args:
        x: (rows,) indices; (rows, width) points, vectors, or advice (float64, NaN where an expert abstains); `Sparse`;
            a list of objects; None if rounds have no x. Numeric arrays are converted to float64, float32 or int64,
            other arrays to a list of their rows.
        y: int8 labels -1 and +1, int32 multiclass labels, float64 outcomes, or (rows, experts) losses.
        first: Number of the first round, counted from 1.
        end: Position from which the stream resumes after this batch; None if it cannot resume here.
        memory: "borrowed" if x and y may be overwritten when the next batch is read, so that later use needs `kept`;
            "owned" if they stay unchanged; "mapped" if they also lie in a file and take no memory.
        weights: Integer weights: a row of weight k is k consecutive rounds, learned one by one and scored once. The
            entry is k at the first of these rounds and 0 at the others. None if every row counts once.
        encoding: How columns of a table became these features (data/tables/encoding.py); None if x is not from a table.

    Example:
        >>> import numpy as np
        >>> import novikoff as nk
        >>> batch = nk.Batch(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([-1, 1], dtype=np.int8), 1)
        >>> len(batch), nk.Perceptron().predict_many(batch).tolist()
        (2, [1, 1])
    """

    x: NDArray[np.number] | Sparse | list[Example] | None
    y: NDArray[np.number]
    first: int
    end: Position | None = None
    memory: Memory = "borrowed"
    weights: NDArray[np.int64] | None = None
    encoding: Encoding | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", np.asarray(self.y))  # lists are accepted
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
        """Size of the rows in bytes; for objects, as they report it."""
        if isinstance(self.x, list):
            return sum(getattr(row, "nbytes", 0) or getsizeof(row) for row in self.x) + self.y.nbytes
        return (0 if self.x is None else self.x.nbytes) + self.y.nbytes

    def part(self, start: int, stop: int) -> Batch:
        """Return the rounds from position `start` to before `stop`."""
        end = self.end if stop >= len(self) else None
        x = None if self.x is None else self.x[start:stop]
        weights = None if self.weights is None else self.weights[start:stop]
        return Batch(x, self.y[start:stop], self.first + start, end, self.memory, weights, self.encoding)

    @property
    def copies(self) -> NDArray[np.bool_] | None:
        """Whether each round is another round of the row before it (rows,); None if every row counts once."""
        return None if self.weights is None else self.weights == 0

    def row_end(self, stop: int) -> int:
        """Return `stop`, or the end of the weighted row that it would split."""
        if self.weights is None or not 0 < stop < len(self):
            return stop
        firsts = np.flatnonzero(self.weights[stop:])
        return stop + int(firsts[0]) if len(firsts) else len(self)

    def copy(self) -> Batch:
        """Return the same rounds in new arrays."""
        x, weights = None if self.x is None else self.x.copy(), None if self.weights is None else self.weights.copy()
        return replace(self, x=x, y=self.y.copy(), memory="owned", weights=weights)

    def to_read(self) -> Batch:
        """Return a copy for third-party code, which then cannot modify the caller's arrays.

        Weights are omitted: third-party code gets every copy of a row anyway.
        """
        x = self.x
        if isinstance(x, Sparse):
            x = Sparse(apart(x.indptr), apart(x.indices), apart(x.values), x.width, checked=True)
        return replace(self, x=apart(x) if isinstance(x, np.ndarray) else x, y=self.y.copy(), weights=None)

    def kept(self) -> Batch:
        """Return the same rounds for later use: a copy if their memory is borrowed."""
        return self.copy() if self.memory == "borrowed" else self

    def table(self) -> NDArray[np.number]:
        """Return x as a contiguous two-dimensional array; one-dimensional x becomes a column."""
        x = np.ascontiguousarray(self.x)
        return x[:, None] if x.ndim == 1 else x.reshape(len(x), -1) if x.ndim > 2 else x

    def example(self, row: int) -> Example:
        """Return x of one row, counted from 0, in the form that learners get."""
        if isinstance(self.x, Sparse):
            return self.x.row(row)
        if isinstance(self.x, np.ndarray) and self.x.ndim == 1:
            return self.x[row].item()
        return None if self.x is None else self.x[row]

    def rows(self) -> Iterator[tuple[Example, Outcome]]:
        """Yield (x, y) of each round."""
        if self.x is None:
            return zip(repeat(None), self.y, strict=False)
        if isinstance(self.x, Sparse):
            return zip(self.x.rows(), self.y.tolist(), strict=True)
        examples = self.x.tolist() if isinstance(self.x, np.ndarray) and self.x.ndim == 1 else self.x
        return zip(examples, self.y.tolist(), strict=True)


def _weights(given: object, rows: int) -> NDArray[np.int64]:
    """Return row weights as int64; raise `InputError` if they are invalid."""
    weights = np.asarray(given)
    if weights.shape != (rows,) or weights.dtype.kind not in "iu" or (rows and weights.min() < 0):
        raise InputError(f"weights of a batch must be {rows} whole numbers from 0: got {shown(given)}.")
    return weights.astype(np.int64, copy=False)


def weights_of_copies(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `weights` of a batch that repeats row i counts[i] times: the count, then counts[i] - 1 zeros."""
    counts = counts[counts > 0]
    weights = np.zeros(int(counts.sum()), dtype=np.int64)
    weights[np.cumsum(counts) - counts] = counts
    return weights


def places_of(copies: NDArray[np.bool_] | None, rows: int, known: int) -> NDArray[np.intp]:
    """Return for each round the index of its row among `known` rows, of which the last are new.

    Args:
        copies: (rows,) Whether each round is another round of the row before it; None for none.
        rows: Number of rounds.
        known: Number of rows.
    """
    new = np.ones(rows, np.intp) if copies is None else (~copies).astype(np.intp)
    found: NDArray[np.intp] = known - 1 - int(new.sum()) + np.cumsum(new)
    return np.maximum(found, 0)


def _computed(x: NDArray[np.generic]) -> NDArray[np.number] | list[Example]:
    """Return numbers in a type that compiled loops read; an array of objects as a list."""
    if x.dtype.kind == "f" or (x.dtype.kind == "u" and x.size and x.max() > np.iinfo(np.int64).max):
        with np.errstate(over="ignore"):  # a long double beyond the doubles becomes infinite
            return x.astype(np.float64)
    return x.astype(np.int64) if x.dtype.kind in "iub" else list(x)


def apart(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only copy; making it writable again affects the copy only."""
    return still(values.copy())


def still(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only view: mapped files are read-only, and compiled loops are compiled for one kind of array."""
    view = values.view()
    view.flags.writeable = False
    return view
