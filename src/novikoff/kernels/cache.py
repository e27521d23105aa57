"""The arrays that hold supports, and rows in the form that the kernels take.

A support has a slot, 0, 1, 2, ... without gaps. Its features are kept
    points    in blocks of 16 slots, feature by feature: points[slot // 16, feature, slot % 16]. Of sparse rows too,
              while that takes little memory.
    numbers   sparse rows besides one after the other, their features in `places`, sorted and without zeros; slot j has
              those from ends[j,0] to ends[j,1].
rows is (indptr, places, numbers, width): row t of an array has the numbers from t * width on; width is -1 for sparse
rows. rule is (kind, gamma, degree, constant, normalized, bias^2), see similarity.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.kernels.aligned import aligned
from novikoff.kernels.blocks import BLOCK
from novikoff.kernels.compiled import compiled
from novikoff.types import Sparse

Vector = NDArray[np.float64]
Places = NDArray[np.uint32]
Rule = tuple[int, float, int, float, bool, float]
Rows = tuple[NDArray[np.uint64], Places, Vector, int]

LINEAR, POLYNOMIAL, RBF, OWN = range(4)
COUNT, UPDATES, EVICTIONS, FILLED = range(4)
NO_ENDS, NO_PLACES = np.zeros(0, np.uint64), np.zeros(0, np.uint32)

LARGEST_POINTS = 2**25
"""Bytes: sparse rows have `points` up to there, and beyond are multiplied one by one."""


SQUARES, SELFS, COEFFICIENTS, LABELS, BORN, FITS, VALUES, ROW, BASE = range(9)
"""What is known of a support: ||z||^2, K(z,z) before it is normalised and biased, its coefficient and label, the number
of the update that put it in, f(z) for rules that keep it; K(z,x) of the last x, K(z,z_j) of the last slot j that was
asked for; and room."""


class Cache(NamedTuple):
    """The arrays; few, because compiled functions hand them to each other one by one."""

    points: NDArray[np.float64]
    ends: NDArray[np.int64]
    places: Places
    numbers: Vector
    spread: Vector  # room for a sparse x, all zeros; empty where `points` is used
    slots: NDArray[np.float64]  # [fact, slot]; coefficients are 0 beyond the supports
    example: Vector  # room for an array
    counts: NDArray[np.int64]  # COUNT, UPDATES, EVICTIONS, FILLED: supports, updates, evictions, numbers in use


@compiled
def tidy(indptr: NDArray[np.uint64], places: Places, numbers: Vector) -> None:
    """Sort each sparse row by feature and drop its zeros, in place; rows move to the front."""
    filled = np.uint64(0)
    start = indptr[0]
    for t in range(len(indptr) - 1):
        stop = indptr[t + 1]
        first = filled
        for k in range(start, stop):
            place, number = places[k], numbers[k]
            if number == 0.0:
                continue
            to = filled
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


def rows_of(x: NDArray[Any] | Sparse) -> Rows:
    """Rows as the kernels take them: doubles, our own copy; sparse ones tidied."""
    if not isinstance(x, Sparse):
        array = np.asarray(x)
        array = array if array.ndim == 2 else array.reshape(len(array), -1)
        return NO_ENDS, NO_PLACES, np.array(array, dtype=np.float64).reshape(-1), int(array.shape[1])
    start, stop = int(x.indptr[0]), int(x.indptr[-1])
    indptr = np.array(x.indptr, dtype=np.uint64) - np.uint64(start)
    places = np.array(x.indices[start:stop], dtype=np.uint32)
    numbers = np.array(x.values[start:stop], dtype=np.float64)
    tidy(indptr, places, numbers)
    return indptr, places, numbers, -1


def rows_of_one(row: NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]) -> Rows:
    """One row, an array or (indices, values)."""
    if not isinstance(row, tuple):
        return NO_ENDS, NO_PLACES, np.array(row, dtype=np.float64), len(row)
    indptr = np.array([0, len(row[0])], dtype=np.uint64)
    places, numbers = np.array(row[0], dtype=np.uint32), np.array(row[1], dtype=np.float64)
    tidy(indptr, places, numbers)
    end = int(indptr[-1])  # zeros are left out
    return indptr, places[:end], numbers[:end], -1


def empty(capacity: int, width: int, sparse: bool, numbers: int = 0) -> Cache:
    """Room for so many supports of so many features, and for so many numbers of sparse ones."""
    slots = -(-max(capacity, 1) // BLOCK) * BLOCK
    wide = sparse and slots * width * 8 > LARGEST_POINTS
    return Cache(
        points=aligned((slots // BLOCK, 0 if wide else width, BLOCK)),
        ends=np.zeros((slots if sparse else 0, 2), dtype=np.int64),
        places=np.zeros(numbers, dtype=np.uint32),
        numbers=np.zeros(numbers),
        spread=np.zeros(width if wide else 0),
        slots=aligned((9, slots)),
        example=np.zeros(0 if sparse else width),
        counts=np.zeros(4, dtype=np.int64),
    )
