"""Numbers rounded to the safe side, and vectors scaled to a given length by a power of two."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def length_of(weights: NDArray[np.float64]) -> Fraction:
    """Return an upper bound on ||w||^2, slightly rounded up; 0 only if all weights are 0."""
    total = math.fsum(np.square(weights).tolist())
    return Fraction(total) * (1 + Fraction(1, 2**50)) + Fraction(int(np.count_nonzero(weights)), 2**1074)


def root(square: Fraction) -> Fraction:
    """Return an upper bound on the square root; 0 for 0."""
    return Fraction(math.isqrt(math.ceil(square * 2**1200)) + 1, 2**600) if square else Fraction(0)


def of_length(vector: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    """Return the vector times a power of two, with a length from 2^(power-1) to 2^power; a zero vector unchanged."""
    largest = float(np.max(np.abs(vector)))
    if largest == 0.0:
        return vector
    near_one = np.ldexp(vector, -math.frexp(largest)[1])
    length = math.sqrt(float(np.sum(np.square(near_one))))  # np.dot may start threads, which then spin for a while
    return np.ldexp(near_one, power - math.frexp(length)[1])


def in_units(number: float, fine: int) -> int:
    """Return a double in units of 2^-fine; it must be an integer multiple of that."""
    above, below = number.as_integer_ratio()
    return above << (fine - below.bit_length() + 1)
