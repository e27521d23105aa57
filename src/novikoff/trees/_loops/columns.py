"""From rows of features to rows of table columns.

indptr      (rows + 1,) position of the first entry of each sparse row, and the end of the last
indices     (entries,) features; `values` (entries,) are their values
column_of   (places,) column of each feature; -1 for a feature that was never learned from
code_of     (places,) NUMBER if the feature is the number in the column; MISSING if it marks missing values by not being
            0; otherwise the category that it marks by not being 0
absent      (columns,) value of each column in rows without a feature of it
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

NUMBER, MISSING = -1, -2
"""Entries of `code_of` that are not categories, as in trees/columns.py."""


@inlined
def _enter(row: NDArray[np.float64], column: int, code: int, value: float) -> None:
    """Enter one feature of a row into its column."""
    if code == NUMBER:
        row[column] = value
    elif value != 0.0:
        row[column] = np.nan if code == MISSING else float(code)


@compiled
def fill_dense(
    x: NDArray[Any], column_of: NDArray[np.int32], code_of: NDArray[np.int32], absent: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write the columns of the rows x (rows, places) to out (rows, columns)."""
    places = min(x.shape[1], len(column_of))
    for t in range(len(x)):
        for column in range(len(absent)):  # numba takes a second to compile out[t] = absent
            out[t, column] = absent[column]
        for place in range(places):
            if column_of[place] >= 0:
                _enter(out[t], column_of[place], code_of[place], float(x[t, place]))


@compiled
def fill_sparse(
    indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: NDArray[Any], column_of: NDArray[np.int32],
    code_of: NDArray[np.int32], absent: NDArray[np.float64], out: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write the columns of sparse rows to out (rows, columns)."""
    for t in range(len(indptr) - 1):
        for column in range(len(absent)):  # numba takes a second to compile out[t] = absent
            out[t, column] = absent[column]
        for e in range(indptr[t], indptr[t + 1]):
            place = np.int64(indices[e])
            if place < len(column_of) and column_of[place] >= 0:
                _enter(out[t], column_of[place], code_of[place], float(values[e]))


@compiled
def first_new(indptr: NDArray[np.uint64], indices: NDArray[np.uint32], column_of: NDArray[np.int32], start: int) -> int:
    """Return the first row from `start` on that has a feature without a column; -1 if there is none."""
    for t in range(start, len(indptr) - 1):
        for e in range(indptr[t], indptr[t + 1]):
            if indices[e] >= len(column_of) or column_of[indices[e]] < 0:
                return t
    return -1
