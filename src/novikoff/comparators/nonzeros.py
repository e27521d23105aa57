"""Rows that comparators in a metric are shown, as learners read them: the places and numbers of what is not zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novikoff import kernels
from novikoff.types import Sparse


def nonzeros_of(x: Any, bias: float) -> Any:
    """Rows of a batch, as kernels/nonzeros.py has them; `bias` is the value of the constant feature, 0 for none."""
    if isinstance(x, Sparse):
        rows, _ = kernels.nonzeros.of_sparse(x.indptr, x.indices, x.values, bias)
    else:
        array = np.ascontiguousarray(x, dtype=np.float64)
        rows, _ = kernels.nonzeros.of_dense(array if array.ndim == 2 else array[:, None], bias)
    return rows


def joined(parts: Sequence[Any]) -> Any:
    """Rows of several pieces, one after the other."""
    ends = [part.ends[1:] for part in parts]
    shifts = np.cumsum([0, *(int(end[-1]) if len(end) else 0 for end in ends)])
    return kernels.nonzeros.Nonzeros(
        np.concatenate([np.zeros(1, np.int64), *(end + shift for end, shift in zip(ends, shifts, strict=False))]),
        np.concatenate([np.zeros(0, np.uint32), *(part.places for part in parts)]),
        np.concatenate([np.zeros(0), *(part.values for part in parts)]),
    )
