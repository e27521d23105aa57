"""Rows in the form of the loops over supports: (indptr, places, numbers, width).

Row t of a dense array has the `numbers` from t * width on, and indptr and places are empty. Sparse rows have width -1:
row t has the entries indptr[t] .. indptr[t+1]-1 of `places` (features, sorted) and `numbers` (values, none 0).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.types import Sparse
from novikoff.kernel._loops.cache import Places, Rows, Vector
from novikoff.numerics.compiled import compiled

NO_ENDS, NO_PLACES = np.zeros(0, np.uint64), np.zeros(0, np.uint32)


@compiled
def tidy(indptr: NDArray[np.uint64], places: Places, numbers: Vector) -> None:
    """Sort each sparse row by feature and drop its zeros, in place.

    Args:
        indptr: (rows + 1,) first entry of each row, changed.
        places: (entries,) features, changed; entries move to the front where zeros were dropped.
        numbers: (entries,) values, changed likewise.
    """
    filled = np.uint64(0)
    start = indptr[0]
    for t in range(len(indptr) - 1):
        stop = indptr[t + 1]
        first = filled
        for k in range(start, stop):
            place, number = places[k], numbers[k]
            if number == 0.0:
                continue
            to = filled  # insertion sort: rows are short or nearly sorted
            while to > first and places[to - np.uint64(1)] > place:
                places[to] = places[to - np.uint64(1)]
                numbers[to] = numbers[to - np.uint64(1)]
                to -= np.uint64(1)
            places[to] = place
            numbers[to] = number
            filled += np.uint64(1)
        start = stop
        indptr[t] = first
    indptr[len(indptr) - 1] = filled


def rows_of(x: NDArray[Any] | Sparse | list[Any] | None) -> Rows:
    """Return an owned copy of the rows as doubles; sparse rows are sorted and without zeros."""
    if not isinstance(x, Sparse):
        array = np.asarray(x)
        array = array if array.ndim == 2 else array.reshape(len(array), -1)
        return NO_ENDS, NO_PLACES, np.array(array, dtype=np.float64).reshape(-1), int(array.shape[1])
    rows = x.copy(np.float64)
    tidy(rows.indptr, rows.indices, rows.values)
    return rows.indptr, rows.indices, rows.values, -1


def rows_of_one(row: NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]) -> Rows:
    """Return one row, given as an array or (indices, values), in the form of `rows_of`."""
    if not isinstance(row, tuple):
        return NO_ENDS, NO_PLACES, np.array(row, dtype=np.float64), len(row)
    indptr = np.array([0, len(row[0])], dtype=np.uint64)
    places, numbers = np.array(row[0], dtype=np.uint32), np.array(row[1], dtype=np.float64)
    tidy(indptr, places, numbers)
    end = int(indptr[-1])  # entries left after zeros were dropped
    return indptr, places[:end], numbers[:end], -1
