"""The first rows of a stream, as they came: what comparators are fitted on."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.riders import Rows
from novikoff.types import Sparse, State

BYTES_A_NONZERO, BYTES_A_ROW = 12, 16


class FirstRows:
    """The first rows, as they came, in pieces; dense ones without their zeros."""

    def __init__(self) -> None:
        self.rows = self.size = 0
        self._lengths: list[NDArray[np.uint64]] = []
        self._indices: list[NDArray[np.uint32]] = []
        self._values: list[NDArray[np.float64]] = []
        self._labels: list[NDArray[np.int8]] = []
        self._own = 0  # pieces of which all is our own

    def take(self, x: Rows, y: NDArray[np.int8], keep: int, mapped: bool = False) -> int:
        """Take rows until `keep` bytes are reached; how many were taken.

        mapped   they lie in a mapped file, and need not be copied before `own`
        """
        if isinstance(x, Sparse):
            first = int(x.indptr[0])
            lengths = np.diff(x.indptr)
        else:
            where, features = np.nonzero(x)
            lengths = np.bincount(where, minlength=len(y)).astype(np.uint64)
        sizes = self.size + np.cumsum(lengths * np.uint64(BYTES_A_NONZERO) + np.uint64(BYTES_A_ROW)).astype(np.int64)
        taken = min(int(np.searchsorted(sizes, keep)) + 1, len(y))
        count = int(lengths[:taken].sum())
        if isinstance(x, Sparse):
            indices, values = x.indices[first : first + count], x.values[first : first + count]
        else:
            indices, values = features[:count].astype(np.uint32), x[where[:count], features[:count]]
        self._lengths.append(lengths[:taken])
        self._indices.append(indices.astype(np.uint32, copy=not mapped))
        self._values.append(values.astype(np.float64, copy=not mapped))
        self._labels.append(y[:taken].copy())
        self.rows += taken
        self.size = int(sizes[taken - 1])
        return taken

    def own(self) -> None:
        """Copy what lies in a mapped file: when the game is over, the file may be written anew."""
        for k in range(self._own, len(self._values)):
            if not self._indices[k].flags.owndata:
                self._indices[k] = self._indices[k].copy()
            if not self._values[k].flags.owndata:
                self._values[k] = self._values[k].copy()
        self._own = len(self._values)

    def together(self) -> tuple[Sparse, NDArray[np.int8]]:
        """The rows, and their labels."""
        lengths = np.concatenate([np.zeros(1, np.uint64), *self._lengths])
        indices = np.concatenate([np.zeros(0, np.uint32), *self._indices])
        values, labels = (
            np.concatenate([np.zeros(0), *self._values]),
            np.concatenate([np.zeros(0, np.int8), *self._labels]),
        )
        return Sparse(np.cumsum(lengths, dtype=np.uint64), indices, values, int(indices.max(initial=0)) + 1), labels

    def state(self) -> State:
        x, y = self.together()
        return {"indptr": x.indptr, "indices": x.indices, "values": x.values, "y": y}

    @classmethod
    def restore(cls, state: State) -> Self:
        indptr, indices, values, y = (
            np.ascontiguousarray(state[name]) for name in ("indptr", "indices", "values", "y")
        )
        ends = indptr.astype(np.int64).tolist()
        together = [ends[0], ends[-1], len(indices), len(ends) - 1] == [0, len(values), len(values), len(y)]
        if not together or ends != sorted(ends):
            raise ValueError("kept rows must fit together: they do not.")
        kept = cls()
        if len(y):
            kept.take(Sparse(indptr.astype(np.uint64), indices, values, 0), y.astype(np.int8), 2**62)
        return kept
