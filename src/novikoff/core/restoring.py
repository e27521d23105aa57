"""Checks on a `state` to be restored: a model file may be damaged, edited, or a stranger's.

Everything that compiled code uses as an index, an end, a shape or a count passes through here before it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from operator import le
from types import NoneType
from typing import Any, TypeVar, get_args

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


T = TypeVar("T")
Corner = TypeVar("Corner", bound=tuple[Any, ...])

Schema = Mapping[str, Any]
"""The arguments of a constructor that are saved: the type of each (or a union); object if the constructor checks it."""

WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "a text", NoneType: "none"}


def arguments(state: State, schema: Schema) -> dict[str, Any]:
    """What the constructor of a learner is given, each of its type."""
    for name, kind in schema.items():
        kinds = get_args(kind) or (kind,)
        if float in kinds:
            kinds = (int, *kinds)
        sound = isinstance(state[name], kinds) and (type(state[name]) is not bool or bool in kinds or object in kinds)
        require(sound, f"{name} of a learner must be {' or '.join(WORDS.get(k, '') for k in kinds)}", state[name])
    return {name: state[name] for name in schema}


def boolean(state: State, name: str) -> bool:
    """A boolean of the state."""
    return bool(arguments(state, {name: bool})[name])


def read(saved: Any, parse: Callable[[Any], T], must: str) -> T:
    """What `parse` makes of a part of the state."""
    try:
        return parse(saved)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise ModelFileError(f"{must}: the saved one has {shown(saved)} ({error}).") from None


def corners(state: State, parse: Callable[[Any], Corner]) -> tuple[Corner, Corner] | tuple[None, None]:
    """The corners `low` and `high` of a box; None for both of the empty box."""
    if state["low"] is None and state["high"] is None:
        return None, None
    low, high = (read(state[name], parse, f"{name} of a box must be a corner") for name in ("low", "high"))
    require(all(map(le, low, high)), "low of a box must not be above high", state["low"])
    return low, high


def counters(state: State, times: str, first: str) -> tuple[int, int, int]:
    """Rounds, how many of them were special, and which was the first of these (0 if there was none)."""
    rounds = integer(state, "rounds")
    count = integer(state, times, 0, rounds)
    return rounds, count, integer(state, first, min(count, 1), rounds - count + 1 if count else 0)
