"""Assertions of the contract tests."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from novikoff.core.errors import shown


def require_plain(value: object, what: str, arrays: bool = True) -> None:
    """Raise an AssertionError unless `value` is plain data: JSON values and arrays of numbers."""
    if isinstance(value, dict):
        for key, item in value.items():
            require(isinstance(key, str), f"{what} must be plain data: the key {key!r} is not text")
            require_plain(item, what, arrays)
    elif isinstance(value, (list, tuple)):
        for item in value:
            require_plain(item, what, arrays)
    elif isinstance(value, np.ndarray):
        require(arrays and value.dtype.kind in "biuf", f"{what} must be plain data: it has an array of {value.dtype}")
    else:
        plain = value is None or isinstance(value, (str, int, float, bool, np.generic))
        require(plain, f"{what} must be plain data, JSON values and arrays: it has {shown(value)}")


def require_same(one: object, other: object, must: str) -> None:
    """Raise an AssertionError unless two states are equal to the last bit."""
    if (where := _difference(one, other)) is not None:
        fail(f"{must}: {where or 'the state'} differs")


def _difference(one: object, other: object) -> str | None:
    """Return where two states differ; None if they are equal to the last bit."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        return None if same else ""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        parts = ((key, one[key], other[key]) for key in one)
    elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        parts = ((str(k), *pair) for k, pair in enumerate(zip(one, other, strict=True)))
    else:
        return None if type(one) is type(other) and (one == other or (one != one and other != other)) else ""
    for key, left, right in parts:
        if (inner := _difference(left, right)) is not None:
            return f"{key}.{inner}".rstrip(".")
    return None


def require(sound: bool, sentence: str) -> None:
    """Raise an AssertionError with this sentence unless `sound`."""
    if not sound:
        fail(sentence)


def fail(sentence: str) -> NoReturn:
    """Raise an AssertionError with this sentence."""
    raise AssertionError(f"{sentence}.")
