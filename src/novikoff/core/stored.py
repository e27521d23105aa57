"""Checks on plain data from a model file, which may be damaged or edited: sizes, kinds and ranges.

Everything that compiled code uses as an index, an end, a shape or a count passes through here before it is used.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import ModelFileError, brief, shown
from novikoff.core.types import State

MOST_ROUNDS = 2**62
"""Largest count: kernels hold counts in 64 bits."""


def require(sound: bool, must: str, value: Any) -> None:
    """Refuse data that is not sound. `must`: what it must be."""
    if not sound:
        raise ModelFileError(f"{must}: the saved one has {shown(value)}.")


def integer(state: State, name: str, least: int = 0, most: int = MOST_ROUNDS, of: str = "a learner") -> int:
    """Return an integer of the state, in range."""
    value = state[name]
    must = f"{name} of {of} must be an integer from {brief(least)} to {brief(most)}"
    require(type(value) is int and least <= value <= most, must, value)
    return int(value)


def number(state: State, name: str, of: str = "a learner") -> float:
    """Return a finite number of the state."""
    value = state[name]
    sound = type(value) in (int, float) and abs(value) < math.inf
    require(sound, f"{name} of {of} must be a finite number", value)
    return float(value)


def pair(state: State, name: str, of: str = "a learner") -> tuple[float, float]:
    """Return two finite numbers of the state: a sum, and what rounding lost of it."""
    found = state[name]
    require(isinstance(found, (list, tuple)) and len(found) == 2, f"{name} of {of} must be two numbers", found)
    parts = {"sum": found[0], "lost": found[1]}
    return number(parts, "sum", f"{name} of {of}"), number(parts, "lost", f"{name} of {of}")


def flag(state: State, name: str, of: str = "a learner") -> bool:
    """Return a boolean of the state."""
    require(type(state[name]) is bool, f"{name} of {of} must be true or false", state[name])
    return bool(state[name])


def array(
    state: State, name: str, shape: tuple[int | None, ...], dtype: Any = np.float64, finite: bool = True,
    of: str = "a learner",
) -> NDArray[Any]:  # fmt: skip
    """Return a copy of an array of the state, of this shape (None: any size) and type."""
    value = state[name]
    sound = isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == len(shape)
    sound = sound and all(size in (None, found) for size, found in zip(shape, value.shape, strict=True))
    sizes = " x ".join("any" if size is None else f"{size:,}" for size in shape)
    must = f"{name} of {of} must be {sizes} numbers of type {np.dtype(dtype)}"
    require(sound, must, value.shape if isinstance(value, np.ndarray) else value)
    require(not finite or bool(np.isfinite(value).all()), f"{name} of {of} must be finite", value)
    return np.array(value, order="C")


def ends(state: State, name: str, rows: int | None, dtype: Any = np.int64, of: str = "rows") -> NDArray[Any]:
    """Return where each row ends, from 0 on, never falling: one more than there are rows."""
    found = array(state, name, (None if rows is None else rows + 1,), dtype, of=of)
    rising = len(found) > 0 and found[0] == 0 and bool((found[1:] >= found[:-1]).all())
    require(rising, f"{name} of {of} must begin with 0 and never fall", found[:3])
    return found


def indices(state: State, name: str, size: int | None, below: int, dtype: Any = np.uint32, of: str = "rows") -> Any:
    """Return an array of indices, each from 0 and below a limit."""
    found = array(state, name, (size,), dtype, of=of)
    sound = len(found) == 0 or (int(found.min()) >= 0 and int(found.max()) < below)
    require(sound, f"{name} of {of} must be from 0 and below {brief(below)}", found[:3])
    return found
