"""How long x may be and how large y, for a learner whose theorems need that fixed before its first round.

An example beyond is refused, with nothing learned. A limit that gives way to what comes is none: who lets it grow must
not promise what needs it.
"""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, Where, shown

NUMBERS = (int, float, np.integer, np.floating)
LARGEST, LEAST = 1e40, 1e-40
"""Of what is fixed: squares of products of three of them are doubles."""
LOOSE = 1.0 + 1e-12
"""||x||^2 may exceed its limit by this factor: x may have been divided by its length."""


class Limits:
    """||x|| <= limit and low <= y <= high. The example x~ is x, divided by its length if `normalize`, and the bias.

    scaled   outcomes may be any numbers: they are scaled to low .. high when they are played
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
        self.reach = math.sqrt((1.0 if self.normalize else self.limit**2) + self.bias**2)  # of x~
        self.most = float(np.finfo(np.float64).max) if self.normalize else self.limit * self.limit * LOOSE

    def grow(self, square: float) -> None:
        """Allow an x of this ||x||^2."""
        if square > self.most:
            self.limit = math.sqrt(square)
            self._set()

    def check(self, square: float, **where: Unpack[Where]) -> None:
        """Refuse an x that is too long, by its ||x||^2."""
        if square <= self.most:
            return
        if not math.isfinite(square):
            must, do = "x must be finite, the square of its length too", "Clean, scale or drop the row."
            raise InputError(must, f"got {square}", do, **where)
        must, do = f"x must be no longer than {self.limit}", "Raise the limit, scale x, or pass normalize=True."
        raise InputError(must, f"got {math.sqrt(square):.10g}", do, **where)

    def outcome(self, y: Any) -> float:
        """y, a number in its range."""
        value: float = y
        if type(y) is not float:
            try:
                value = encode.number(y)  # first: numpy would round the range to the precision of y
            except (TypeError, ValueError, OverflowError):
                value = math.nan
        if self._least <= value <= self._most:
            return value
        raise self._beyond(y)

    def outcomes(self, y: NDArray[Any], first: int) -> NDArray[np.float64]:
        """The same for a batch."""
        try:
            numbers = encode.doubles(y)
        except (TypeError, ValueError, OverflowError):
            raise self._beyond(y) from None
        if numbers.ndim != 1:
            raise InputError(f"there must be one outcome a round: got shape {numbers.shape}.")
        within = (numbers >= self._least) & (numbers <= self._most)
        if not within.all():
            t = int(np.argmin(within))
            raise self._beyond(float(numbers[t])).at(round=first + t)
        return numbers

    def _beyond(self, y: Any) -> InputError:
        do = "Give another range as low and high, or leave both out."
        if self._most == LARGEST:
            do = "Clean or drop the row."
        return InputError(f"an outcome must be a number from {self._least} to {self._most}", f"got {shown(y)}", do)


def size(value: float, what: str) -> float:
    """A length, if it is one to compute with."""
    if not isinstance(value, NUMBERS) or not LEAST <= value <= LARGEST:
        raise InputError(f"{what} must be a number from 1e-40 to 1e40: got {shown(value)}.")
    return float(value)


def _number(value: float, what: str) -> float:
    if not isinstance(value, NUMBERS) or not -LARGEST <= value <= LARGEST:
        raise InputError(f"{what} must be a number from -1e40 to 1e40: got {shown(value)}.")
    return float(value)
