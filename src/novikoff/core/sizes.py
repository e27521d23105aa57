"""Checks of integer arguments, and the size limit of `len`."""

from __future__ import annotations

import math
import sys
from numbers import Integral

from novikoff.core.errors import InputError, TooLargeError, shown, whole


def integer(value: object, name: str, must: str, least: float = -math.inf, most: float = math.inf) -> int:
    """Return the argument `name` if it is an integer from `least` to `most`; raise `InputError` otherwise.

    Args:
        value: Value of the argument.
        name: Name of the argument.
        must: Requirement, for the message.
        least: Smallest allowed value.
        most: Largest allowed value.
    """
    if not isinstance(value, bool) and isinstance(value, Integral) and least <= int(value) <= most:
        return int(value)
    raise InputError(f"{must}: got {name} = {shown(value)}.")


def length(size: int) -> int:
    """Return `size` for `len`, which Python limits to 2^63 - 1."""
    if size > sys.maxsize:
        raise TooLargeError(f"len() is limited to 2^63 - 1: the class has {whole(size)} hypotheses. Use its `size`.")
    return size
