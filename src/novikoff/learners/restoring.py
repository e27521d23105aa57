"""Checks on a `state` to be restored: a model file may be damaged, or a stranger's."""

from __future__ import annotations

from collections.abc import Callable
from operator import le
from typing import Any, TypeVar

from novikoff.errors import ModelFileError, brief, shown
from novikoff.types import State

MOST_ROUNDS = 2**62
"""Counters are 64-bit numbers in kernels."""

T = TypeVar("T")
Corner = TypeVar("Corner", bound=tuple[Any, ...])


def require(sound: bool, must: str, value: Any) -> None:
    """Refuse a state that is not sound. `must`: what must be."""
    if not sound:
        raise ModelFileError(f"{must}: the saved one has {shown(value)}.")


def whole_number(state: State, name: str, least: int = 0, most: int = MOST_ROUNDS) -> int:
    """A whole number of the state, in range."""
    value = state[name]
    must = f"{name} of a learner must be a whole number from {brief(least)} to {brief(most)}"
    require(type(value) is int and least <= value <= most, must, value)
    return int(value)


def flag(state: State, name: str) -> bool:
    """A true or false of the state."""
    value = state[name]
    require(type(value) is bool, f"{name} of a learner must be true or false", value)
    return bool(value)


def read(saved: Any, how: Callable[[Any], T], must: str) -> T:
    """What `how` makes of a part of the state."""
    try:
        return how(saved)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise ModelFileError(f"{must}: the saved one has {shown(saved)} ({error}).") from None


def corners(state: State, how: Callable[[Any], Corner]) -> tuple[Corner, Corner] | tuple[None, None]:
    """The corners `low` and `high` of a box; None for both of the empty box."""
    if state["low"] is None and state["high"] is None:
        return None, None
    low, high = (read(state[name], how, f"{name} of a box must be a corner") for name in ("low", "high"))
    require(all(map(le, low, high)), "low of a box must not be above high", state["low"])
    return low, high


def counters(state: State, times: str, first: str) -> tuple[int, int, int]:
    """Rounds, how many of them were special, and which was the first of these (0 if there was none)."""
    rounds = whole_number(state, "rounds")
    count = whole_number(state, times, 0, rounds)
    return rounds, count, whole_number(state, first, min(count, 1), rounds - count + 1 if count else 0)
