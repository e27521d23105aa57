"""Convex losses of a score, and their slopes.

hinge      max(0, 1 - y z), for labels -1 and +1
absolute   |z - y|: minimised by the median
pinball    tau (y - z) for z below y, (1 - tau) (z - y) above: minimised by the tau-quantile
huber      (z - y)^2/2 for |z - y| <= delta, delta |z - y| - delta^2/2 beyond
squared    (z - y)^2: minimised by the mean
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops import adagrad_layout as at

Vector = NDArray[np.float64]
CODES = {"hinge": at.HINGE, "absolute": at.ABSOLUTE, "pinball": at.PINBALL, "huber": at.HUBER, "squared": at.SQUARED}
"""Code of each loss in the compiled loops."""


class ConvexLoss(NamedTuple):
    """Convex loss of a score.

    Attributes:
        name: Name of the loss, one of `CODES`.
        parameter: tau of the pinball loss, or delta of the Huber loss.
    """

    name: str
    parameter: float = 1.0

    @property
    def steepest(self) -> float:
        """Largest slope; infinite if the slope is unbounded."""
        tau = self.parameter
        known = {"hinge": 1.0, "absolute": 1.0, "pinball": max(tau, 1.0 - tau), "huber": tau}
        return known.get(self.name, math.inf)

    def of(self, z: Vector, y: Vector) -> Vector:
        """Return the loss of each score."""
        if self.name == "squared":
            return (z - y) ** 2
        if self.name == "huber":
            gap, delta = np.abs(z - y), self.parameter
            return np.where(gap <= delta, 0.5 * gap * gap, delta * (gap - 0.5 * delta))
        r, _, above, below = self._corner(z, y)
        return above * np.maximum(r, 0.0) + below * np.maximum(-r, 0.0)

    def slopes(self, z: Vector, y: Vector) -> Vector:
        """Return the slope at each score; 0 at a corner."""
        if self.name == "squared":
            return 2.0 * (z - y)
        if self.name == "huber":
            return np.clip(z - y, -self.parameter, self.parameter)
        r, turn, above, below = self._corner(z, y)
        return turn * (above * (r > 0.0) - below * (r < 0.0))

    def smooth(self, z: Vector, y: Vector, soft: float) -> tuple[float, Vector]:
        """Return the total loss and the slopes with corners smoothed over a width of `soft`, for fitting."""
        if self.name in ("squared", "huber"):
            return float(self.of(z, y).sum()), self.slopes(z, y)
        r, turn, above, below = self._corner(z, y)
        part, side = np.clip(r / soft, -1.0, 1.0), np.where(r > 0.0, above, below)
        return float((side * part * (r - 0.5 * soft * part)).sum()), turn * side * part

    def _corner(self, z: Vector, y: Vector) -> tuple[Vector, Vector, float, float]:
        """Return, for a loss with one corner, r (0 at the corner), dr/dz, and the slopes in r above and below."""
        if self.name == "hinge":
            return 1.0 - y * z, -y, 1.0, 0.0
        above, below = (1.0 - self.parameter, self.parameter) if self.name == "pinball" else (1.0, 1.0)
        return z - y, np.ones_like(z), above, below
