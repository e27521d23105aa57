"""Ridge regression, and its form for the log loss, in decimals of 60 digits: the inverse is kept from row to row."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from novikoff_verify.exact import NotCoveredError, decimal, double, number, require
from novikoff_verify.leader import hedged, log_loss

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

    def values(self, pairs: list[Any]) -> list[tuple[int, Decimal]]:
        """Return the places and values of a row, the constant feature last."""
        found = [(place, decimal(value)) for place, value in pairs if value]
        return [*found, (-1, self.bias)] if self.bias else found

    def look(self, pairs: list[Any]) -> tuple[list[Decimal], list[Decimal]]:
        """Return x by row of the matrix, and A^-1 x for the matrix without x x'."""
        values = self.values(pairs)
        for place, value in values:
            self._grow(place, abs(value))
        x = [Decimal(0)] * len(self.b)
        for place, value in values:
            x[self.places[place]] = value
        return x, [dot(row, x) for row in self.inverse]

    def see(self, pairs: list[Any], y: Decimal) -> Decimal:
        """Add a row, and return the prediction x'A^-1 b of before y was added to b."""
        x, turned = self.look(pairs)
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


class Newton(Ridge):
    """The same for the log loss: after each row A += h x x' and b -= (g - h z) x.

    z is the root of z + (v/2) tanh(z/2) = x'A^-1 b, v = x'A^-1 x; g = P(+1) - [y = +1], h = kappa P(+1) P(-1), kappa =
    tanh(C/2) / (C/2), C the `radius`. Q(s) = l(z) + g (s-z) + h (s-z)^2/2 approximates the loss l.
    """

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(given)
        half = decimal(number(given["radius"])) / 2
        require(half >= 0, "radius must be at least 0")
        e = (-2 * half).exp()
        self.kappa = (1 - e) / (1 + e) / half if half else Decimal(1)
        self.loss = self.delta = self.approximated = Decimal(0)

    def play(self, pairs: list[Any], y: int, u: dict[int, Decimal]) -> None:
        """Play a row, and add max(l, Q) of <u,x>."""
        x, turned = self.look(pairs)
        score, spread = dot(turned, self.b), dot(turned, x)
        z = hedged(score, spread)
        wrong = 1 / (1 + (y * z).exp())
        g, h, lost = -y * wrong, self.kappa * wrong * (1 - wrong), log_loss(y * z)
        off = z - score
        self.loss += lost
        self.delta += (g * off + g * g * spread / 2 - h * off * off / 2) / (1 + h * spread)
        other = sum((u.get(place, Decimal(0)) * value for place, value in self.values(pairs)), Decimal(0))
        away = other - z
        self.approximated += max(log_loss(y * other), lost + g * away + h * away * away / 2)
        if h:
            self._subtract(turned, 1 / h + spread)
        self.b = [one - (g - h * z) * value for one, value in zip(self.b, x, strict=True)]

    def penalty(self, u: dict[int, Decimal]) -> Decimal:
        """Return u'Lu/2."""
        for place, weight in u.items():
            require(not weight or place in self.places, "u has a weight at a feature that was never seen")
        sizes = {place: self.largest[k] if self.scaled else Decimal(1) for place, k in self.places.items()}
        return sum((self.ridge * (sizes[place] * w) ** 2 / 2 for place, w in u.items() if w), Decimal(0))


def dot(one: list[Decimal], other: list[Decimal]) -> Decimal:
    """Return the inner product."""
    return sum((a * b for a, b in zip(one, other, strict=True)), Decimal(0))
