"""Ridge regression in decimals of 60 digits: the inverse of its matrix, kept from row to row."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from novikoff_verify.exact import NotCoveredError, decimal, double, number, require

WIDEST = 100
"""Largest number of features: a row costs the square of it."""


class Ridge:
    """A = L + sum of x x', b = sum of y x, with L = ridge diag(M^2), M the largest |x| of a feature so far, or ridge I.

    Args:
        given: `ridge`, `scale_free` and `bias`, the value of a constant feature, from the learner of a proof.
    """

    def __init__(self, given: dict[str, Any]) -> None:
        self.ridge, self.scaled = decimal(number(given["ridge"])), bool(given["scale_free"])
        self.bias = decimal(double(given["bias"]))
        require(self.ridge > 0, "ridge must be above 0")
        self.places: dict[int, int] = {}
        self.largest: list[Decimal] = []
        self.inverse: list[list[Decimal]] = []
        self.b: list[Decimal] = []
        self.squares = self.chi = Decimal(0)

    def see(self, pairs: list[Any], y: Decimal) -> Decimal:
        """Add a row, and return the prediction x'A^-1 b of before y was added to b."""
        values = [(place, decimal(value)) for place, value in pairs] + [(-1, self.bias)] * (self.bias != 0)
        for place, value in values:
            if value:
                self._grow(place, abs(value))
        x = [Decimal(0)] * len(self.b)
        for place, value in values:
            if value:
                x[self.places[place]] = value
        turned = [dot(row, x) for row in self.inverse]
        spread = dot(turned, x)
        score = dot(turned, self.b) / (1 + spread)
        self._subtract(turned, 1 + spread)
        self.b = [one + y * value for one, value in zip(self.b, x, strict=True)]
        self.squares += y * y
        self.chi += y * y * spread / (1 + spread)
        return score

    def best(self) -> Decimal:
        """Return the least u'Lu + sum of (<u,x> - y)^2."""
        return self.squares - dot([dot(row, self.b) for row in self.inverse], self.b)

    def _grow(self, place: int, size: Decimal) -> None:
        """Add a feature to the matrix, or raise its part of L."""
        if place not in self.places:
            if len(self.b) >= WIDEST:
                raise NotCoveredError(f"more than {WIDEST} features")
            k = self.places[place] = len(self.b)
            for row in self.inverse:
                row.append(Decimal(0))
            self.inverse.append([Decimal(0)] * (k + 1))
            self.inverse[k][k] = 1 / (self.ridge * (size * size if self.scaled else 1))
            self.largest.append(size)
            self.b.append(Decimal(0))
        elif self.scaled and size > self.largest[k := self.places[place]]:
            more = self.ridge * (size * size - self.largest[k] ** 2)
            self._subtract([row[k] for row in self.inverse], 1 / more + self.inverse[k][k])
            self.largest[k] = size

    def _subtract(self, vector: list[Decimal], divisor: Decimal) -> None:
        """Subtract vector vector' / divisor from the inverse (Sherman and Morrison)."""
        for row, value in zip(self.inverse, vector, strict=True):
            if value:
                part = value / divisor
                row[:] = [one - part * other for one, other in zip(row, vector, strict=True)]


def dot(one: list[Decimal], other: list[Decimal]) -> Decimal:
    """Return the inner product."""
    return sum((a * b for a, b in zip(one, other, strict=True)), Decimal(0))
