"""Follow the regularised leader for the log loss, in decimals of 60 digits."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from novikoff_verify.exact import NotCoveredError, decimal, double, number, require

BISECTIONS, NEWTONS = 80, 4
"""Steps of the search for a root: in doubles, then in decimals, where each doubles the digits that are right."""


class Feature:
    """Sums of one feature: number of `rounds`, sum of `squares`, M the largest |x|, R the largest root mean square."""

    def __init__(self) -> None:
        self.most = self.squares = self.size = self.gradient = self.curvature = Decimal(0)
        self.rounds = 0


class Leader:
    """A diagonal metric A = R sqrt(M^2 + H) / rate ("sqrt"), or (M^2 + H) / rate ("newton"), x_t included in M and R.

    G is the sum of the gradients g x, g = P(+1) - [y = +1], and H of P(+1) P(-1) x^2. z0 = -sum of G x / A, v = sum of
    x^2 / A, and the score z is the root of z + (v/2) tanh(z/2) = z0; P(+1) = 1 / (1 + e^-z).
    """

    def __init__(self, given: dict[str, Any]) -> None:
        self.root, self.rate = given["metric"] == "sqrt", decimal(number(given["rate"]))
        self.bias = decimal(double(given["bias"]))
        require(self.rate > 0, "rate must be above 0")
        if given["metric"] not in ("sqrt", "newton"):
            raise NotCoveredError("this metric")
        self.features: dict[int, Feature] = {}
        self.loss = self.delta = Decimal(0)

    def values(self, pairs: list[Any]) -> list[tuple[int, Decimal]]:
        """Return the places and values of a row, the constant feature last."""
        found = [(place, decimal(value)) for place, value in pairs if value]
        return [*found, (-1, self.bias)] if self.bias else found

    def metric(self, one: Feature) -> Decimal:
        """Return the entry of A."""
        under = one.most**2 + one.curvature
        return (one.size * under.sqrt() if self.root else under) / self.rate

    def see(self, pairs: list[Any], y: int) -> None:
        """Play a row."""
        values, score, spread = self.values(pairs), Decimal(0), Decimal(0)
        for place, x in values:
            one = self.features.setdefault(place, Feature())
            one.most, one.squares, one.rounds = max(one.most, abs(x)), one.squares + x * x, one.rounds + 1
            one.size = max(one.size, (one.squares / one.rounds).sqrt())
            part = x / self.metric(one)
            score -= one.gradient * part
            spread += x * part
        z = hedged(score, spread)
        wrong = 1 / (1 + (y * z).exp())
        g = -y * wrong
        self.loss += log_loss(y * z)
        self.delta += g * (z - score) + g * g * spread / 2
        for place, x in values:
            self.features[place].gradient += g * x
            self.features[place].curvature += wrong * (1 - wrong) * x * x

    def penalty(self, u: dict[int, Decimal]) -> Decimal:
        """Return u'Au/2 for the metric now."""
        for place, weight in u.items():
            require(not weight or place in self.features, "u has a weight at a feature that was never seen")
        return sum((self.metric(self.features[place]) * w * w / 2 for place, w in u.items() if w), Decimal(0))


def log_loss(margin: Decimal) -> Decimal:
    """Return ln(1 + e^-margin)."""
    return (1 + (-margin).exp()).ln() if margin > 0 else (1 + margin.exp()).ln() - margin


def hedged(score: Decimal, spread: Decimal) -> Decimal:
    """Return the root of z + (v/2) tanh(z/2) = z0."""
    low, high, v = min(float(score), 0.0), max(float(score), 0.0), float(spread)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if middle + v / 2 * math.tanh(middle / 2) > float(score) else (middle, high)
    z = decimal(high)
    for _ in range(NEWTONS):
        e = (-abs(z)).exp()
        slope = 1 + spread * e / (1 + e) ** 2
        z -= (z + spread / 2 * ((1 - e) / (1 + e)).copy_sign(z) - score) / slope
    return z
