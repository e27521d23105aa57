"""Brings rows to one scale as they come, and remembers how: for learners whose features are of different sizes.

standard   each feature less its mean and over its deviation, of the rows up to and including this one; features of
           sparse rows over the root of their mean square, where they are present (data/_loops/scaling.py)
range      each feature over the largest size it has had
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.restoring import array, require
from novikoff.core.types import Batch, Sparse, State
from novikoff.data import _loops
from novikoff.data.formats.buffer_pool import BufferPool

Scale = Literal["standard", "range"]
SCALES = get_args(Scale)
LARGE = 4096
"""Numbers from which on fresh memory costs more than to look for some that was used before."""
KNOWN = 8
"""Numbers that data/_loops/scaling.py keeps of a feature."""

Kept = tuple[int, Any, NDArray[np.float64]]
"""The width of the rows that came, the places of features, and what is known of these."""


class Scaler:
    """What is known of each feature's size."""

    def __init__(self, scale: Scale) -> None:
        if scale not in SCALES:
            raise InputError(f'a scale must be "standard" or "range": got {shown(scale)}.')
        self.scale = scale
        self._known = np.zeros((KNOWN, 0))  # may be wider than the rows that came, so that it grows seldom
        self._width = 0
        self._pool = BufferPool()

    def rows(self, x: NDArray[Any] | Sparse, learn: bool) -> Any:
        """The same rows on one scale; with `learn`, the next rows are scaled by these too."""
        by, standard = _loops.scaling, self.scale == "standard"
        if isinstance(x, Sparse):
            x = x.alone()
            known, indices = self._of(x, learn)
            out, sparse = np.empty(len(x.values)), by.standard_sparse if standard else by.range_sparse
            sparse(known, x.indptr, indices, x.values.astype(np.float64, copy=False), out, learn)
            return Sparse(x.indptr, x.indices, out, x.width, checked=True)
        known = self._room(x.shape[1], learn)
        out, dense = self._output(x.shape), by.standard_dense if standard else by.range_dense
        dense(known, np.ascontiguousarray(x, dtype=np.float64), out, learn)
        return out

    def batch(self, batch: Batch, learn: bool) -> Batch:
        """The batch on one scale."""
        x: Any = batch.x
        if not isinstance(x, Sparse) and x.ndim == 1:
            x = x[:, None]
        if isinstance(x, Sparse):
            return Batch(self.rows(x, learn), batch.y, batch.first, batch.end)
        y = batch.y.copy() if batch.memory == "borrowed" else batch.y
        return Batch(self.rows(x, learn), y, batch.first, batch.end, "owned")

    def _output(self, shape: tuple[int, int]) -> NDArray[np.float64]:
        """An array to write in; large ones in memory that was used before, if nobody looks at it any more."""
        if shape[0] * shape[1] < LARGE:
            return np.empty(shape)
        return self._pool.arrays((shape[0] * shape[1], np.float64))[0].reshape(shape)

    def _of(self, x: Sparse, learn: bool) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """What is known of the features of x, and which is where: features that are only asked of need no room."""
        if learn or x.width <= self._known.shape[1]:
            return self._room(x.width, learn), x.indices
        features, places = np.unique(x.indices, return_inverse=True)
        there = features < self._known.shape[1]
        known = np.zeros((KNOWN, len(features)))
        known[:, there] = self._known[:, features[there]]
        return known, places.astype(np.uint32)

    def _room(self, width: int, learn: bool) -> NDArray[np.float64]:
        missing = width - self._known.shape[1]
        spare = min(self._known.shape[1], 2**20) if learn else 0
        known = self._known if missing <= 0 else np.append(self._known, np.zeros((KNOWN, missing + spare)), axis=1)
        if learn:
            self._known, self._width = known, max(self._width, width)
        return known

    def kept(self, places: Any = None) -> Kept:
        """What is known of the features at these places, of all if None: to `forget` what comes now."""
        places = slice(None) if places is None else places[places < self._known.shape[1]]
        return self._width, places, self._known[:, places].copy()

    def forget(self, kept: Kept) -> None:
        """Know again what was `kept`: rows that came since were refused."""
        width, places, known = kept
        if isinstance(places, slice):
            self._known = known
        else:
            self._known[:, places] = known
        self._width = width
        self._known[:, width:] = 0.0

    @property
    def begins_with_a_row(self) -> bool:
        """Does it hold the first number of each feature, from which deviations are measured?"""
        return self.scale == "standard" and bool(self._known.any())

    def state(self) -> State:
        return {"scale": self.scale, "known": self._known[:, : self._width].copy()}

    @classmethod
    def restore(cls, state: State) -> Scaler:
        scaler = cls(state["scale"])
        known = state["known"]
        require(isinstance(known, np.ndarray) and known.ndim == 2, "a scale must have its numbers", type(known))
        scaler._known = array(state, "known", (KNOWN, known.shape[1]))
        rows = scaler._known[_loops.scaling.ROWS]
        require(bool((rows >= 0.0).all() and (rows % 1.0 == 0.0).all()), "rows of a scale must be counted", rows[:3])
        scaler._width = known.shape[1]
        return scaler
