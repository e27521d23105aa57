"""Arrays of supports, and names for their rows. Learners use the same names; this module does not import numba.

A support has a slot, 0, 1, 2, ... without gaps. Its features are stored
    points    in blocks of 16 slots, feature by feature: points[slot // 16, feature, slot % 16]; for sparse rows as
              well, while that takes little memory;
    numbers   for sparse rows also consecutively, with their features in `places`, sorted and without zeros; slot j has
              the entries ends[j,0] .. ends[j,1]-1.
A `Rule` is (kind, gamma, degree, constant, normalized, bias^2), see kernel/kernels.py; `Rows` are described in
kernel/_loops/rows.py.
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
"""Kinds of kernels; the values of a user-defined kernel, OWN, are computed in Python."""

COUNT, UPDATES, EVICTIONS, FILLED = range(4)
"""Indices into `counts`: supports, insertions, removals, entries of `numbers` in use."""

SQUARES, SELFS, COEFFICIENTS, LABELS, BORN, FITS, FACTS = range(7)
"""Rows of `slots`: ||z||^2; K(z,z) before normalisation and bias; coefficient; label; number of the update that
inserted the support; f(z), for rules that maintain it. The last name is the number of rows."""

VALUES, ROW, BASE, SCRATCH = range(4)
"""Rows of `scratch`: K(z,x) of the last x; K(z,z_j) of the last slot j that was compared; working memory. The last
name is the number of rows."""

BLOCK = 16
"""Number of slots per block: two AVX-512 or four AVX2 registers of doubles."""
LARGEST_POINTS = 2**25
"""Largest size of `points` for sparse rows, in bytes; beyond it sparse rows are multiplied one by one."""


class Cache(NamedTuple):
    """Arrays of the supports; few, because compiled functions pass each other every array separately."""

    points: NDArray[np.float64]  # (blocks, features, BLOCK): supports, interleaved; 0 beyond the supports
    ends: NDArray[np.int64]  # (slots, 2): first and end entry of each sparse support in `numbers`
    places: Places  # (entries,): features of sparse supports
    numbers: Vector  # (entries,): values of sparse supports
    spread: Vector  # (features,): scratch for a sparse x, all 0 between calls; empty while `points` is used
    slots: NDArray[np.float64]  # (FACTS, slots): facts of each support; coefficients are 0 beyond the supports
    scratch: NDArray[np.float64]  # (SCRATCH, slots)
    example: Vector  # (features,): scratch for a dense support
    counts: NDArray[np.int64]  # (4,): see COUNT


def empty(capacity: int, width: int, sparse: bool, numbers: int = 0) -> Cache:
    """Return empty arrays.

    Args:
        capacity: Number of supports to make room for; rounded up to whole blocks.
        width: Number of features.
        sparse: Whether supports are sparse rows.
        numbers: Number of non-zeros of sparse supports to make room for.
    """
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
