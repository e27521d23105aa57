"""Best length of a comparator of a given direction: the best s for u = s v, exactly.

Hinge     D(s) = sum of max(0, 1 - s m_t) is linear between the places 1/m_t, and the bound
              root = D + a^2/2 + a sqrt(D + a^2/4),  a = s R ||v||,
          is least at s = 0 or at one of them. Proof: where D = A - B s, the derivative of sqrt(root) vanishes only if
          R^2 ||v||^2 A = B^2, and then it is constant. []
Squared   a + sqrt(Q) is convex in s. Between two places Q = n - 2 s M1 + s^2 M2, and the zero of the derivative is
          solved for.
Lengths   the bound (sum of max(0, S - m'_t) + c)/S with m' = m - kappa ||x||^2 is monotone in S between two of the m'.
With several passes D and Q are summed over all of them; with initial weights w_1 D decreases by s <v, w_1>, and still
only the places 1/m_t are considered.
Kappa     the best bound for a kappa is convex in kappa, and decreases where ||u||/(2 sqrt N) > kappa, N being the sum
          of alpha/C ||x||^2: the root of the difference of their logarithms is found by the secant method.
Cost
    One sort.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

FURTHER = 1.25
"""Over-relaxation of steps of ln C and ln kappa: without it a fifth of the distance remains per step in practice."""
FURTHEST = math.log(16.0)
"""Largest step of ln kappa: a factor of 16."""


def hinge_scale(
    margins: Vector, radius: float, passes: int = 1, dot: float = 0.0, weight: float = 0.0
) -> tuple[float, float]:  # fmt: skip
    """Return (s, bound) for the margins m_t of v.

    Args:
        margins: m_t.
        radius: R ||v||.
        passes: Number of passes.
        dot: <v, w_1>.
        weight: ||v|| ||w_1||.
    """
    ordered = np.sort(margins)
    positive = int(np.searchsorted(ordered, 0.0, side="right"))
    places = ordered[positive:]
    below = np.concatenate([np.zeros(1), np.cumsum(ordered)])[positive:-1]  # the sum of the margins before each
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        s = 1.0 / places
        loss = passes * (np.arange(positive, len(ordered)) - below * s) - s * dot
        bounds = root(loss, s * radius, s * weight)
    bounds = np.where(np.isfinite(bounds), bounds, math.inf)
    best = int(np.argmin(bounds)) if len(bounds) else -1
    nothing = float(passes * len(margins))
    if best < 0 or not bounds[best] < nothing:
        return 0.0, nothing
    return float(s[best]), float(bounds[best])


def squared_scale(margins: Vector, radius: float, passes: int = 1) -> tuple[float, float]:
    """Return (s, bound), the bound being (s R ||v|| + sqrt Q)^2."""
    ordered = np.sort(margins)[::-1]
    count = int(np.searchsorted(-ordered, 0.0, side="left"))  # positive ones
    first, second = (np.cumsum(power[::-1])[::-1] for power in (ordered, ordered**2))
    n = np.arange(len(ordered), 0, -1, dtype=np.float64)
    # Piece j has the rows from j on: those with margins of at most ordered[j]; s from 1/ordered[j-1] to 1/ordered[j].
    with np.errstate(all="ignore"):
        ends = np.concatenate([np.zeros(1), 1.0 / ordered[:count]])
        start, stop = ends[:-1], ends[1:]
        m1, m2, rows = first[:count], second[:count], n[:count]
        rest = np.maximum(rows - m1 * m1 / m2, 0.0)
        away = radius * np.sqrt(rest / (m2 * (passes * m2 - radius**2)))
        inside = np.where(passes * m2 > radius**2, m1 / m2 - away, start)
        inside = np.minimum(np.maximum(np.where(np.isfinite(inside), inside, start), start), stop)
        s = np.concatenate([start, inside, stop])
        loss = np.concatenate([_square(x, rows, m1, m2) for x in (start, inside, stop)])
        bounds = (s * radius + np.sqrt(passes * np.maximum(loss, 0.0))) ** 2
    bounds = np.where(np.isfinite(bounds), bounds, math.inf)
    nothing = float(passes * len(margins))
    best = int(np.argmin(bounds)) if len(bounds) else -1
    if best < 0:
        return 0.0, nothing
    # Recompute from the losses: the difference of nearly equal sums above is inexact.
    loss = np.sum(np.square(np.maximum(1.0 - s[best] * margins, 0.0)))
    bound = float((s[best] * radius + np.sqrt(passes * loss)) ** 2)
    return (float(s[best]), bound) if bound < nothing else (0.0, nothing)


def lengths_scale(margins: Vector, rest: float, passes: int = 1) -> tuple[float, float]:
    """Return (s, bound) for the margins m - kappa ||x||^2 of v.

    Args:
        margins: Margins of v.
        rest: ||v||^2/(4 kappa) - <v, w_1> + kappa ||w_1||^2.
        passes: Number of passes.
    """
    ordered = np.sort(margins)
    positive = int(np.searchsorted(ordered, 0.0, side="right"))
    places = ordered[positive:]
    below = np.concatenate([np.zeros(1), np.cumsum(ordered)])[positive:-1]  # the sum of the margins before each
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        bounds = passes * np.arange(positive, len(ordered)) + (rest - passes * below) / places
    bounds = np.where(np.isfinite(bounds), bounds, math.inf)
    nothing = float(passes * len(margins))
    best = int(np.argmin(bounds)) if len(bounds) else -1
    if best < 0 or not bounds[best] < nothing:
        return 0.0, nothing
    return 1.0 / float(places[best]), float(bounds[best])


class Kappa:
    """Iteration of kappa towards the least bound; it is the same to the bit if all rows are scaled by 2."""

    def __init__(self, value: float) -> None:
        self.value = value
        self._gone = 0.0  # ln of the factor by which it has moved
        self._before: tuple[float, float] | None = None

    def move(self, wanted: float) -> float:
        """Move kappa, given ||u||/(2 sqrt N) = `wanted` at its present value; return the factor of the move."""
        here, off = self._gone, math.log(wanted / self.value)
        step = FURTHER * off
        if self._before is not None and self._before[1] != off:
            secant = -off * (here - self._before[0]) / (off - self._before[1])
            step = secant if secant * off > 0.0 else step
        self._before = here, off
        step = min(max(step, -FURTHEST), FURTHEST)
        self._gone += step
        factor = math.exp(step)
        self.value *= factor
        return factor


def root(loss: Vector, a: Vector, b: Vector) -> Vector:
    """Return the largest M with M <= loss + sqrt(b^2 + a^2 M)."""
    inside = np.maximum(a * a * loss + a**4 / 4.0 + b * b, 0.0)
    return loss + a * a / 2.0 + np.sqrt(inside)


def _square(s: Vector, rows: Vector, m1: Vector, m2: Vector) -> Vector:
    return rows - 2.0 * s * m1 + s * s * m2
