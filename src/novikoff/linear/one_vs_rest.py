"""Matrices of learners of each label against the rest: what linear/_loops/one_vs_rest.py works on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops import second_order_layout as at

PARTS = ("held", "inverse", "sums", "totals")
"""Their names in what is saved."""


def matrices(shape: tuple[int, ...], room: int, count: int) -> tuple[NDArray[np.float64], ...]:
    """For so many learners; the first `count` features are there, of size 1."""
    held, totals = np.zeros((*shape, at.HELD, room)), np.zeros((*shape, at.TOTALS))
    inverse, sums = np.zeros((*shape, room, room)), np.zeros((*shape, room, room))
    held[..., at.LARGEST, :count] = 1.0
    inverse[..., range(count), range(count)] = 1.0
    totals[..., at.COUNT] = count
    return held, inverse, sums, totals


def grown(then: tuple[NDArray[np.float64], ...], now: tuple[NDArray[np.float64], ...]) -> tuple[Any, ...]:
    """The larger arrays, with what the smaller ones hold."""
    for large, small in zip(now, then, strict=True):
        large[tuple(slice(0, size) for size in small.shape)] = small
    return now


def cut(parts: tuple[NDArray[np.float64], ...], room: int) -> dict[str, NDArray[np.float64]]:
    """So many features of them, as plain data."""
    held, inverse, sums, totals = parts
    found = held[..., :room], np.tril(inverse[..., :room, :room]), np.tril(sums[..., :room, :room]), totals
    return {name: part.copy() for name, part in zip(PARTS, found, strict=True)}
