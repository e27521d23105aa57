"""The arrays that hold supports: what is where, by name. Needs no numba, so learners read them by the same names.

A support has a slot, 0, 1, 2, ... without gaps. Its features are kept
    points    in blocks of 16 slots, feature by feature: points[slot // 16, feature, slot % 16]. Of sparse rows too,
              while that takes little memory.
    numbers   sparse rows besides one after the other, their features in `places`, sorted and without zeros; slot j has
              those from ends[j,0] to ends[j,1].
rule is (kind, gamma, degree, constant, normalized, bias^2), see similarity.py; rows are those of kernel/_loops/rows.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.aligned import aligned

Vector = NDArray[np.float64]
Places = NDArray[np.uint32]
Rule = tuple[int, float, int, float, bool, float]
Rows = tuple[NDArray[np.uint64], Places, Vector, int]

LINEAR, POLYNOMIAL, RBF, OWN = range(4)
"""Kinds of kernels; the values of a user's OWN function come ready."""

COUNT, UPDATES, EVICTIONS, FILLED = range(4)
"""Places in `counts`: supports, updates, evictions, numbers in use."""

SQUARES, SELFS, COEFFICIENTS, LABELS, BORN, FITS, FACTS = range(7)
"""Rows of `slots`: ||z||^2, K(z,z) before it is normalised and biased, the coefficient and the label of a support, the
number of the update that put it in, f(z) for rules that keep it; last, the number of rows."""

VALUES, ROW, BASE, SCRATCH = range(4)
"""Rows of `scratch`: K(z,x) of the last x, K(z,z_j) of the last slot j that was compared, working memory; last, the
number of rows."""

BLOCK = 16
LARGEST_POINTS = 2**25
"""Bytes: sparse rows have `points` up to there, and beyond are multiplied one by one."""


class Cache(NamedTuple):
    """The arrays; few, because compiled functions hand them to each other one by one."""

    points: NDArray[np.float64]
    ends: NDArray[np.int64]
    places: Places
    numbers: Vector
    spread: Vector  # scratch for a sparse x, zeros between calls; empty where `points` is used
    slots: NDArray[np.float64]  # [fact, slot]; coefficients are 0 beyond the supports
    scratch: NDArray[np.float64]  # [row, slot]
    example: Vector  # scratch for a dense support
    counts: NDArray[np.int64]


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
        slots=aligned((FACTS, slots)),
        scratch=aligned((SCRATCH, slots)),
        example=np.zeros(0 if sparse else width),
        counts=np.zeros(4, dtype=np.int64),
    )
