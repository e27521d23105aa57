"""Exact numbers, and decimals of 60 digits rounded outward."""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

DIGITS = Context(prec=60, Emax=10**9, Emin=-(10**9))
"""Context of a verification; a single operation on decimals is wrong by at most 10^-59 of its result."""
OUTWARD = Fraction(1, 10**40)
"""Relative allowance for the rounding of at most 10^15 operations on decimals."""
EXACT = re.compile(r"-?[0-9]{1,4300}(/[0-9]{1,4300})?", re.ASCII)
"""Text of a whole number or a fraction: no exponent, whose value could be too long to write."""
DOUBLE = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}", re.ASCII)
"""Text of a finite double, as `float.hex` prints it."""


class RefutedError(Exception):
    """The proof, or the data, contradicts what is claimed."""


class NotCoveredError(Exception):
    """The check needs something that the proof does not contain, or that this program does not know."""


def number(value: Any) -> Fraction:
    """Return the exact value of a whole number, of a text "p/q", or of a hexadecimal float."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, str) and DOUBLE.fullmatch(value):
        return Fraction(double(value))
    if isinstance(value, str) and EXACT.fullmatch(value):
        top, _, bottom = value.partition("/")
        if not bottom or bottom.strip("0"):
            return Fraction(int(top), int(bottom or 1))
    raise RefutedError(f"a number must be a whole number, a fraction in quotes or a hexadecimal float: {value!r:.80}")


def double(value: Any) -> float:
    """Return the finite double that a text in hexadecimal form stands for."""
    try:
        if isinstance(value, str) and DOUBLE.fullmatch(value):
            return float.fromhex(value)
    except OverflowError:
        pass
    raise RefutedError(f"a double must be finite, and in hexadecimal form: {value!r:.80}")


def count(value: Any, name: str, most: int | None = None) -> int:
    """Return a whole number of at least 0, and at most `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RefutedError(f"{name} must be a whole number of at least 0: {value!r:.80}")
    require(most is None or value <= most, f"{name} must be at most {most}: {value!r:.80}")
    return value


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, whose names must differ: readers disagree on which of two equal names counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


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


def poisson_enough(events: int, limit: Fraction, odds: Fraction) -> bool:
    """Return whether s - m ln(1 + s/m) >= ln(odds) for s = limit - m, m the events; s >= ln(odds) for m = 0."""
    s = limit - events
    return s > 0 and s - (events * logarithm(1 + s / events) if events else 0) >= logarithm(odds)


def binomial_enough(errors: int, trials: int, p: Fraction, level: Fraction) -> bool:
    """Return whether at most `errors` of `trials` have probability `level` or less, if each has probability p."""
    term = decimal(1 - p) ** trials
    odds, whole = decimal(p / (1 - p)), Decimal(0)
    for k in range(errors + 1):
        whole += term
        term = term * (trials - k) / (k + 1) * odds
    return fraction(whole) * (1 + OUTWARD) <= level
