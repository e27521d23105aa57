"""Matrices of one-versus-rest learners, in the layout of linear/_loops/one_vs_rest.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.state import Field, Size, array, lookup, require, size_of
from novikoff.core.types import State
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.matrix import check_counts, check_shared

PARTS = ("held", "inverse", "sums", "totals")
"""Names of the arrays in a saved state."""


def shapes(shape: tuple[int, ...], room: int) -> tuple[tuple[int, ...], ...]:
    """Return the shape of each of the `PARTS`, for `room` features."""
    return (*shape, at.HELD, room), (*shape, room, room), (*shape, room, room), (*shape, at.TOTALS)


def matrices(shape: tuple[int, ...], room: int, count: int) -> tuple[NDArray[np.float64], ...]:
    """Return matrices for `shape` learners; the first `count` features are present with size 1."""
    held, inverse, sums, totals = map(np.zeros, shapes(shape, room))
    held[..., at.LARGEST, :count] = 1.0
    inverse[..., range(count), range(count)] = 1.0
    totals[..., at.COUNT] = count
    return held, inverse, sums, totals


def grown(then: tuple[NDArray[np.float64], ...], now: tuple[NDArray[np.float64], ...]) -> tuple[Any, ...]:
    """Copy the arrays `then` into the larger arrays `now`; return these."""
    for large, small in zip(now, then, strict=True):
        large[tuple(slice(0, size) for size in small.shape)] = small
    return now


@dataclass(frozen=True)
class Matrices(Field):
    """State field of matrices stored as arrays (held, inverse, sums, totals).

    Attributes:
        shape: Number of matrices along each leading axis.
        room: Number of features saved per matrix.
        slots: Path of the slots that the matrices share; "" if each has all its features from the start.
        lower: Whether inverse and sums are saved as lower triangles.
    """

    shape: tuple[Size, ...]
    room: Size
    slots: str = ""
    lower: bool = True

    def pack(self, value: Any, owner: object) -> object:
        held, inverse, sums, totals = (part[tuple(slice(size_of(owner, n)) for n in self.shape)] for part in value)
        room = size_of(owner, self.room)
        squares = [part[..., :room, :room] for part in (inverse, sums)]
        found = held[..., :room], *(map(np.tril, squares) if self.lower else squares), totals
        return {name: part.copy() for name, part in zip(PARTS, found, strict=True)}

    def unpack(self, state: State, owner: object, of: str) -> object:
        saved, shape = state[self.name], tuple(size_of(owner, n) or 0 for n in self.shape)
        sound = isinstance(saved, dict) and isinstance(saved.get("held"), np.ndarray) and saved["held"].ndim > 0
        require(sound, f"{self.name} of {of} must be arrays", saved)
        room = min(saved["held"].shape[-1], at.LIMIT) if self.slots else size_of(owner, self.room) or 0
        wanted = zip(PARTS, shapes(shape, room), strict=True)
        found = tuple(array(saved, name, sizes, of=f"{self.name} of {of}") for name, sizes in wanted)
        if self.slots:
            check_shared(lookup(owner, self.slots), found[3], room)
        else:
            check_counts(found[3], room, room)
        return found
