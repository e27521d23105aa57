"""Named records of arrays and numbers for compiled loops (docs/decisions/0048-named-records-in-loops.md).

A record is a NamedTuple. A loop that Python calls takes it as a plain tuple and names it in its first lines:

    @compiled
    def play(matrix: MatrixArrays, rows: Nonzeros, scores: Vector) -> None:
        matrix, rows = MatrixArrays(*matrix), Nonzeros(*rows)

    play(astuple(matrix), astuple(rows), scores)

numba determines the type of a plain tuple in C, as for single arguments, but that of a NamedTuple in Python, array by
array: microseconds per call, and some loops are called for every row. Inside compiled code records cost nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Record = TypeVar("Record", bound=tuple[Any, ...])


def astuple(record: Record) -> Record:
    """Return the fields of a record as a plain tuple, typed as the record that the loop makes of it."""
    return record[:]  # type: ignore[return-value]


class SparseRows(NamedTuple):
    """Rows of a sparse matrix: row t has features indices[indptr[t]:indptr[t+1]] and the values at these positions."""

    indptr: NDArray[np.uint64]  # (rows + 1,)
    indices: NDArray[np.uint32]  # (non-zeros,)
    values: NDArray[Any]  # (non-zeros,), of any kind of number
