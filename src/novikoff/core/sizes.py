"""Whole numbers that describe a class or a game, checked; and how large a class may be for len()."""

from __future__ import annotations

import math
import sys
from numbers import Integral
from typing import Any

from novikoff.core.errors import InputError, TooLargeError, shown, whole


def integer(value: Any, name: str, must: str, least: float = -math.inf, most: float = math.inf) -> int:
    """The argument called `name`, if it is a whole number in range. `must`: what must be, for the message."""
    if not isinstance(value, bool) and isinstance(value, Integral) and least <= int(value) <= most:
        return int(value)
    raise InputError(f"{must}: got {name} = {shown(value)}.")


def length(size: int) -> int:
    """What len() answers for a class of that size: Python allows no more than 2^63 - 1."""
    if size > sys.maxsize:
        raise TooLargeError(f"len() must be below 2^63: the class has {whole(size)} hypotheses. Use its `size`.")
    return size
