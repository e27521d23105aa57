"""Rows in the form that scale-free learners use: the places and values of the non-zeros, for dense and sparse rows.

Place 0 is the constant feature, the first entry of every row if there is a `bias`; feature i has place i + 1. Numbers
below 2^-500 in size are read as 0, so that squares and their ratios scale exactly with powers of two; a row with a
number above 2^500 is rejected. A single form means one loop per learner, and the same bits for dense and sparse rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled
from novikoff.numerics.lanes import inverse_norm
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import LARGEST_SIZE, LEAST_SIZE


class Nonzeros(NamedTuple):
    """Rows of non-zeros: row t is places[ends[t]:ends[t+1]] and the values at these positions."""

    ends: NDArray[np.int64]  # (rows + 1,)
    places: NDArray[np.uint32]  # (entries,)
    values: NDArray[np.float64]  # (entries,)

    def part(self, rows: slice) -> Nonzeros:
        """Return some consecutive rows."""
        whole = rows.start == 0 and rows.stop >= len(self.ends) - 1
        return self if whole else self._replace(ends=self.ends[rows.start : rows.stop + 1])


@compiled
def _of_dense(x: NDArray[np.float64], bias: float, out: Nonzeros) -> int:
    """Write the rows of x (rows, features) to out; return the first row with too large a number.

    -1 if there is none.
    """
    ends, places, values = out
    filled = 0
    for t in range(len(x)):
        if bias != 0.0:
            places[filled] = 0
            values[filled] = bias
            filled += 1
        for i in range(x.shape[1]):
            size = abs(x[t, i])
            if size >= LEAST_SIZE:
                places[filled] = i + 1
                values[filled] = x[t, i]
                filled += 1
            if not size <= LARGEST_SIZE:  # also true of NaN
                return t
        ends[t + 1] = filled
    return -1


@compiled
def _of_sparse(
    indptr: NDArray[np.uint64], indices: NDArray[np.uint32], numbers: NDArray[Any], bias: float, out: Nonzeros
) -> int:
    """Write sparse rows to out; return the first row with a number too large, or -1.

    indptr, indices, numbers   as in SparseRows: (rows + 1,), (entries,) and (entries,)
    """
    ends, places, values = out
    filled = 0
    for t in range(len(indptr) - 1):
        if bias != 0.0:
            places[filled] = 0
            values[filled] = bias
            filled += 1
        for e in range(indptr[t], indptr[t + 1]):
            number = np.float64(numbers[e])
            size = abs(number)
            if size >= LEAST_SIZE:
                places[filled] = indices[e] + np.uint32(1)
                values[filled] = number
                filled += 1
            if not size <= LARGEST_SIZE:
                return t
        ends[t + 1] = filled
    return -1


def of_dense(x: NDArray[np.float64], bias: float) -> tuple[Nonzeros, int]:
    """Return the rows of an array (rows, width), and the first with a number too large, or -1."""
    found = _room(len(x), x.size)
    return found, _of_dense(x, bias, astuple(found))


def of_sparse(
    indptr: NDArray[np.uint64], indices: NDArray[np.uint32], numbers: NDArray[Any], bias: float
) -> tuple[Nonzeros, int]:
    """Return sparse rows as non-zeros, and the first with a number too large, or -1."""
    found = _room(len(indptr) - 1, int(indptr[-1]) - int(indptr[0]))
    return found, _of_sparse(indptr, indices, numbers, bias, astuple(found))


def of_row(indices: NDArray[np.uint32], numbers: NDArray[np.float64], bias: float) -> tuple[Nonzeros, int]:
    """Return one sparse row as non-zeros, and 0 if it has a number too large, or -1."""
    found = _room(1, len(indices))
    return found, _of_sparse(_ends_of_row(len(indices)), indices, numbers, bias, astuple(found))


@lru_cache
def _ends_of_row(length: int) -> NDArray[np.uint64]:
    """Return the `indptr` of one row; it is shared and must not be changed."""
    return np.array([0, length], dtype=np.uint64)


def _room(rows: int, most: int) -> Nonzeros:
    """Return arrays for rows with at most `most` non-zeros in total."""
    most += rows  # one constant feature per row
    # Unused entries have place 0, the constant feature, so that learners see no new place there.
    return Nonzeros(np.zeros(rows + 1, np.int64), np.zeros(most, np.uint32), np.empty(most))


@compiled
def normalize(rows: Nonzeros) -> None:
    """Divide each row, except its constant feature, by its length; a row of zeros stays."""
    ends, places, values = rows
    for t in range(len(ends) - 1):
        start = ends[t]
        start += start < ends[t + 1] and places[start] == 0  # skip the constant feature
        scale = inverse_norm(values, start, ends[t + 1])
        for e in range(start, ends[t + 1]):
            values[e] *= scale
