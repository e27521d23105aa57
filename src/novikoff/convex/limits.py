"""Limits on the norm of x and the range of y, for learners whose theorems need them fixed in advance.

An example beyond the limits is refused and nothing is learned from it. A limit that grows with the data is not fixed in
advance: theorems that need it are then void.
"""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, Where, shown

NUMBERS = (int, float, np.integer, np.floating)
"""Types accepted as numbers."""
LARGEST, LEAST = 1e40, 1e-40
"""Range of radius, limit and outcomes: the square of a product of three of them is still a double."""
LOOSE = 1.0 + 1e-12
"""Tolerance for ||x||^2 above its limit: x may have been divided by its norm and rounded."""


class Limits:
    """Limits ||x|| <= limit and low <= y <= high.

    Args:
        limit: Largest norm of x.
        low: Smallest outcome.
        high: Largest outcome.
        bias: Value of the constant feature, the last entry of the example x~.
        normalize: Whether x is divided by its norm in x~.
        scaled: Whether outcomes may be any numbers, because they are scaled to low .. high before they are played.

    Attributes:
        reach: Largest norm of x~.
        most: Largest ||x||^2 accepted.
    """

    def __init__(
        self, limit: float, low: float, high: float, bias: float, normalize: bool, scaled: bool = False
    ) -> None:
        self.limit = size(limit, "a limit")
        self.low, self.high, self.bias = _number(low, "low"), _number(high, "high"), _number(bias, "a bias")
        if low > high:
            raise InputError(f"low must not be above high: got {low} and {high}.")
        self._least, self._most = (-LARGEST, LARGEST) if scaled else (self.low, self.high)
        self.normalize = normalize
        self._set()

    def _set(self) -> None:
        self.reach = math.sqrt((1.0 if self.normalize else self.limit**2) + self.bias**2)
        self.most = float(np.finfo(np.float64).max) if self.normalize else self.limit * self.limit * LOOSE

    def grow(self, square: float) -> None:
        """Raise the limit to allow an x with this ||x||^2."""
        if square > self.most:
            self.limit = math.sqrt(square)
            self._set()

    def check(self, square: float, **where: Unpack[Where]) -> None:
        """Raise an error if ||x||^2 exceeds the limit or is not finite."""
        if square <= self.most:
            return
        if not math.isfinite(square):
            must, do = "x and the square of its length must be finite", "Clean, scale or drop the row."
            raise InputError(must, f"got {square}", do, **where)
        must, do = f"x must be no longer than {self.limit}", "Raise the limit, scale x, or pass normalize=True."
        raise InputError(must, f"got {math.sqrt(square):.10g}", do, **where)

    def outcome(self, y: Any) -> float:
        """Return y as a number, or raise an error if it is out of range."""
        value: float = y
        if type(y) is not float:
            try:
                value = encode.number(y)  # before comparing: numpy would round the range to the precision of y
            except (TypeError, ValueError, OverflowError):
                value = math.nan
        if self._least <= value <= self._most:
            return value
        raise self._beyond(y)

    def outcomes(self, y: NDArray[np.generic], first: int) -> NDArray[np.float64]:
        """Return the outcomes of a batch as numbers, or raise an error if one is out of range."""
        try:
            numbers = encode.doubles(y)
        except (TypeError, ValueError, OverflowError):
            raise self._beyond(y) from None
        if numbers.ndim != 1:
            raise InputError(f"expected one outcome per round: got shape {numbers.shape}.")
        within = (numbers >= self._least) & (numbers <= self._most)
        if not within.all():
            t = int(np.argmin(within))
            raise self._beyond(float(numbers[t])).at(round=first + t)
        return numbers

    def _beyond(self, y: object) -> InputError:
        do = "Pass a wider range as low and high, or leave both out."
        if self._most == LARGEST:
            do = "Clean or drop the row."
        return InputError(f"an outcome must be a number from {self._least} to {self._most}", f"got {shown(y)}", do)


def size(value: float, what: str) -> float:
    """Return a length as a float, or raise an error if it is out of range."""
    if not isinstance(value, NUMBERS) or not LEAST <= value <= LARGEST:
        raise InputError(f"{what} must be a number from 1e-40 to 1e40: got {shown(value)}.")
    return float(value)


def _number(value: float, what: str) -> float:
    if not isinstance(value, NUMBERS) or not -LARGEST <= value <= LARGEST:
        raise InputError(f"{what} must be a number from -1e40 to 1e40: got {shown(value)}.")
    return float(value)
