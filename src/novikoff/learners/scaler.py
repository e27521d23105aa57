"""Brings rows to one scale as they come, and remembers how: for learners whose features are of different sizes.

standard   each feature less its mean and over its deviation, of the rows up to and including this one; features of
           sparse rows over the root of their mean square, where they are present (kernels/scaling.py)
range      each feature over the largest size it has had
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff import kernels
from novikoff.errors import InputError, shown
from novikoff.learners.restoring import array, require
from novikoff.types import Batch, Sparse, State

Scale = Literal["standard", "range"]
SCALES = get_args(Scale)
KNOWN = 8
"""Numbers that kernels/scaling.py keeps of a feature."""


class Scaler:
    """What is known of each feature's size."""

    def __init__(self, scale: Scale) -> None:
        if scale not in SCALES:
            raise InputError(f'a scale must be "standard" or "range": got {shown(scale)}.')
        self.scale = scale
        self._known = np.zeros((KNOWN, 0))

    def rows(self, x: NDArray[Any] | Sparse, learn: bool) -> Any:
        """The same rows on one scale; with `learn`, the next rows are scaled by these too."""
        width = x.width if isinstance(x, Sparse) else x.shape[1]
        known = self._room(width, learn)
        by = kernels.scaling
        if isinstance(x, Sparse):
            out, sparse = np.empty(len(x.values)), by.standard_sparse if self.scale == "standard" else by.range_sparse
            sparse(known, x.indptr, x.indices, x.values.astype(np.float64, copy=False), out, learn)
            return Sparse(x.indptr, x.indices, out, x.width, checked=True)
        out, dense = np.empty(x.shape), by.standard_dense if self.scale == "standard" else by.range_dense
        dense(known, np.ascontiguousarray(x, dtype=np.float64), out, learn)
        return out

    def batch(self, batch: Batch, learn: bool) -> Batch:
        """The batch on one scale."""
        x: Any = batch.x
        if not isinstance(x, Sparse) and x.ndim == 1:
            x = x[:, None]
        return Batch(self.rows(x, learn), batch.y, batch.first, batch.end)

    def _room(self, width: int, learn: bool) -> NDArray[np.float64]:
        missing = width - self._known.shape[1]
        if missing <= 0:
            return self._known
        spare = min(self._known.shape[1], 2**20)
        known = np.concatenate([self._known, np.zeros((len(self._known), missing + (spare if learn else 0)))], axis=1)
        if learn:
            self._known = known
        return known

    def state(self) -> State:
        """As plain data."""
        return {"scale": self.scale, "known": self._known.copy()}

    @classmethod
    def restore(cls, state: State) -> Scaler:
        """The scaler whose `state` this is."""
        scaler = cls(state["scale"])
        known = state["known"]
        require(isinstance(known, np.ndarray) and known.ndim == 2, "a scale must have its numbers", type(known))
        scaler._known = array(state, "known", (len(scaler._known), known.shape[1]))
        return scaler
