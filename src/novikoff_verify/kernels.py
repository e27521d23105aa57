"""Kernels K(x, z) on exact rows: values as decimals of 60 digits, and the error that doubles make."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from novikoff_verify.exact import NotCoveredError, count, decimal, double, require, units

ULP = Fraction(1, 2**53)
"""Largest relative error of one operation on doubles."""
SMALLEST, LARGEST = Fraction(1, 2**900), Fraction(2**900)
"""Range of ||x||^2, other than 0, in which products of doubles neither underflow nor overflow."""
STEEPEST = 64
"""Largest degree of a polynomial."""
Vector = dict[int, int]


class Kernel:
    """linear <x,z>, polynomial (constant + <x,z>)^degree, or rbf exp(-gamma ||x-z||^2).

    If normalised, it is divided by sqrt(K(x,x) K(z,z)), and is 0 if one of them is 0. Then bias^2 is added.

    Args:
        given: The constants, from the learner of a proof.
        bits: Values are whole multiples of 2^-bits.
    """

    def __init__(self, given: dict[str, Any], bits: int) -> None:
        self.bits, self.name = bits, given["kernel"]
        self.gamma, self.constant = Fraction(double(given["gamma"])), Fraction(double(given["constant"]))
        self.degree = count(given["degree"], "degree", STEEPEST) if self.name == "polynomial" else 1
        self.constant = self.constant if self.name == "polynomial" else Fraction(0)
        self.bias2 = Fraction(double(given["bias"])) ** 2
        self.normalized = bool(given["normalize"]) and self.name != "rbf"
        self.differences = bool(given["differences"])
        if self.name not in ("linear", "polynomial", "rbf"):
            raise NotCoveredError(f"the kernel {self.name!r:.40}")
        sound = self.gamma > 0 if self.name == "rbf" else self.constant >= 0 and self.degree >= 1
        require(sound, "no kernel has these constants")

    def vector(self, pairs: list[Any]) -> Vector:
        """Return a row as whole multiples of 2^-bits."""
        found = {place: units(value, self.bits) for place, value in pairs if value}
        square = self.dot(found, found)
        require(not found or SMALLEST <= square <= LARGEST, "a row is so long or short that doubles are not accurate")
        return found

    def dot(self, x: Vector, z: Vector) -> Fraction:
        """Return <x,z>."""
        short, other = (x, z) if len(x) < len(z) else (z, x)
        return Fraction(sum(value * other.get(place, 0) for place, value in short.items()), 4**self.bits)

    def plain(self, x: Vector) -> Fraction:
        """Return K(x,x) before it is normalised."""
        return Fraction(1) if self.name == "rbf" else (self.constant + self.dot(x, x)) ** self.degree

    def own(self, x: Vector) -> Fraction:
        """Return K(x,x)."""
        value = self.plain(x)
        return (Fraction(value > 0) if self.normalized else value) + self.bias2

    def value(self, x: Vector, z: Vector) -> Decimal:
        """Return K(x,z), within 10^-50 of its size."""
        if self.name == "rbf":
            distance = self.dot(x, x) + self.dot(z, z) - 2 * self.dot(x, z)
            return decimal(-self.gamma * distance).exp() + decimal(self.bias2)
        value = decimal(self.constant + self.dot(x, z)) ** self.degree
        if self.normalized:
            product = self.plain(x) * self.plain(z)
            value = value / decimal(product).sqrt() if product else Decimal(0)
        return value + decimal(self.bias2)

    def error(self, values: int, square: Fraction) -> Fraction:
        """Return the largest error of K(x,z) in doubles, in units of sqrt(K(x,x) K(z,z)).

        Args:
            values: Most values that are not 0 in a row.
            square: At least ||x||^2; needed for an rbf that is not computed from differences of the values.
        """
        if self.name == "rbf":
            found = (values + 10) * ULP * (1 + (0 if self.differences else 4 * self.gamma * square))
        else:
            found = self.degree * (values + 6) * ULP * (2 if self.normalized else 1) + 6 * ULP
        found += 2 * ULP if self.bias2 else 0
        require(found < Fraction(1, 2), "doubles cannot compute this kernel with any accuracy")
        return found / (1 - found)

    def of_scores(self, terms: int, values: int, square: Fraction) -> Fraction:
        """Return the error of a sum of `terms` values of K, in units of R^2 times the sum of absolute coefficients."""
        one, g = self.error(values, square), (terms + 4) * ULP / (1 - (terms + 4) * ULP)
        return one + g * (1 + one)
