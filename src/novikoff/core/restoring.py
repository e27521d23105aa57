"""Checks on a `state` to be restored: a model file may be damaged, or a stranger's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import le
from types import NoneType
from typing import Any, TypeVar, get_args

from novikoff.core.errors import ModelFileError, shown
from novikoff.core.stored import MOST_ROUNDS, array, integer, require
from novikoff.core.types import State

__all__ = ["MOST_ROUNDS", "arguments", "array", "boolean", "corners", "counters", "integer", "read", "require"]

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
