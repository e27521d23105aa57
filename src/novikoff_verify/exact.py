"""Exact numbers, and decimals of 60 digits rounded outward."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

DIGITS = Context(prec=60, Emax=10**9, Emin=-(10**9))
"""Context of a verification; a single operation on decimals is wrong by at most 10^-59 of its result."""
OUTWARD = Fraction(1, 10**40)
"""Relative allowance for the rounding of at most 10^15 operations on decimals."""


class RefutedError(Exception):
    """The proof, or the data, contradicts what is claimed."""


class NotCoveredError(Exception):
    """The check needs something that the proof does not contain, or that this program does not know."""


def number(value: Any) -> Fraction:
    """Return the exact value of a whole number, of a text "p/q", or of a hexadecimal float."""
    try:
        if isinstance(value, str):
            return Fraction(float.fromhex(value)) if "0x" in value else Fraction(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise RefutedError(f"a number must be a whole number, a fraction in quotes or a hexadecimal float: {value!r}")


def count(value: Any, name: str) -> int:
    """Return a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RefutedError(f"{name} must be a whole number of at least 0: {value!r}")
    return value


def require(holds: bool, otherwise: str) -> None:
    """Raise `RefutedError` unless a condition holds."""
    if not holds:
        raise RefutedError(otherwise)


def units(value: float, bits: int) -> int:
    """Return a float as a whole number of units 2^-bits, exactly."""
    try:
        top, bottom = value.as_integer_ratio()
    except (OverflowError, ValueError):
        raise RefutedError(f"a value must be a finite number: {value}") from None
    shift = bits - (bottom.bit_length() - 1)
    require(shift >= 0, f"a value is no multiple of 2^-{bits}: {value!r}")
    return top << shift


def decimal(value: Fraction | float) -> Decimal:
    """Return the nearest decimal of 60 digits."""
    if isinstance(value, float):
        value = Fraction(value)
    return Decimal(value.numerator) / Decimal(value.denominator)


def fraction(value: Decimal) -> Fraction:
    """Return the exact value of a decimal."""
    return Fraction(value)


def logarithm(value: Fraction) -> Fraction:
    """Return ln(value), at most `OUTWARD` (1 + its size) too large and never too small."""
    found = fraction(decimal(value).ln())
    return found + OUTWARD * (1 + abs(found))


def root(value: Fraction) -> Fraction:
    """Return an upper bound on the square root."""
    unit = 10**40
    return Fraction(math.isqrt(value.numerator * unit * unit // value.denominator + 1) + 1, unit)
