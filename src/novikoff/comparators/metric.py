"""Quadratic forms in a learner's metric, rounded so that a bound computed from them is never too small.

Notation
    u0 = 2^-53. A metric is a diagonal, defined by its floats, or L + S with L a diagonal of that kind
    and S a sum of N terms h x x', of which floats know each entry within (N+20) u0 sqrt(A_ii A_jj).
The form of the inverse
    For ANY w, with r = b - Aw:  b'A^-1 b = 2b'w - w'Aw + r'A^-1 r  <=  2b'w - w'Aw + sum of r_i^2 / L_ii, as A >= L. So
    a solution w with rounding errors makes the bound larger, never wrong, and no condition number is needed. With
    sigma = sum of |w_j| sqrt A_jj and c = (N+2d+40) u0, the computed r_i is within beta_i + c sqrt(A_ii) sigma + 4 u0
    |b_i| of the true one, and 2b'w - w'Aw within 2 sum of beta_i |w_i| + 2 c sigma^2 + (d+8) 4 u0 sum of |b_i w_i|,
    where beta_i is the possible error of b_i itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.sizes import U0

Vector = NDArray[np.float64]


class Metric(Protocol):
    """A metric A; vectors have one entry per place. A u with a weight at a place that A lacks is infinitely long."""

    def square(self, u: Vector) -> float:
        """Return an upper bound on u'Au."""
        ...

    def inverse_between(self, b: Vector, doubt: Vector, near: Vector | None = None) -> tuple[float, float]:
        """Return lower and upper bounds on b'A^-1 b for every b within `doubt`; `near` approximates A^-1 b."""
        ...

    def root(self) -> tuple[NDArray[np.int64], Vector]:
        """Return the places of the metric, and a vector or matrix B such that t't is about u'Au for u = B t there."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Diagonal:
    """A diagonal metric: one number per place, 0 at places that were never seen."""

    values: Vector

    @np.errstate(all="ignore")
    def square(self, u: Vector) -> float:
        values = np.zeros(len(u))
        values[: len(self.values)] = self.values[: len(u)]
        if np.any(u[values == 0.0]):
            return math.inf
        here = u != 0.0  # unused places then change nothing, not even the rounding
        u, values = u[here], values[here]
        return float(np.sum(values * u * u)) * (1.0 + (len(u) + 10) * 2.0 * U0)

    def inverse_square(self, b: Vector, doubt: Vector) -> float:
        """Return an upper bound on b'A^-1 b for every b within `doubt`."""
        return self.inverse_between(b, doubt)[1]

    @np.errstate(all="ignore")
    def inverse_between(self, b: Vector, doubt: Vector, near: Vector | None = None) -> tuple[float, float]:
        seen = self.values[: len(b)] > 0.0
        values = self.values[: len(b)][seen]
        slack = (len(values) + 10) * 2.0 * U0
        small, large = np.maximum(np.abs(b[seen]) - doubt[seen], 0.0), np.abs(b[seen]) + doubt[seen]
        return (float(np.sum(small * (small / values))) * (1.0 - slack),
                float(np.sum(large * (large / values))) * (1.0 + slack))  # fmt: skip

    def root(self) -> tuple[NDArray[np.int64], Vector]:
        places = np.flatnonzero(self.values > 0.0)
        return places, 1.0 / np.sqrt(self.values[places])


@dataclass(frozen=True, slots=True, eq=False)
class Full:
    """A metric A = L + S on some places.

    Attributes:
        places: (d,) places of the rows and columns of A.
        ridge: (d,) diagonal of L.
        sums: (d, d) matrix S.
        updates: Number N of terms in S.
    """

    places: NDArray[np.int64]
    ridge: Vector
    sums: Vector
    updates: int

    @property
    def matrix(self) -> Vector:
        """The matrix A."""
        return self.sums + np.diag(self.ridge)

    @property
    def _slack(self) -> float:
        return (self.updates + 2 * len(self.ridge) + 40) * U0

    @np.errstate(all="ignore")
    def square(self, u: Vector) -> float:
        if np.count_nonzero(u) > np.count_nonzero(self.of(u)):
            return math.inf
        inside, sizes = self.of(u), np.sqrt(self.ridge + np.diag(self.sums))
        length = float(np.abs(inside) @ sizes)
        return float(inside @ (self.matrix @ inside)) + self._slack * length * length

    @np.errstate(all="ignore")
    def bent(self, u: Vector) -> tuple[float, float]:
        """Return u'Su, and its possible rounding error."""
        inside, sizes = self.of(u), np.sqrt(self.ridge + np.diag(self.sums))
        length = float(np.abs(inside) @ sizes)
        return float(inside @ (self.sums @ inside)), self._slack * length * length

    def of(self, u: Vector) -> Vector:
        """Return the entries of u at the places of the metric."""
        found = np.zeros(len(self.places))
        known = self.places < len(u)
        found[known] = u[self.places[known]]
        return found

    def inverse_square(self, b: Vector, doubt: Vector) -> float:
        """Return an upper bound on b'A^-1 b for every b within `doubt`."""
        return self.inverse_between(b, doubt)[1]

    @np.errstate(all="ignore")
    def inverse_between(self, b: Vector, doubt: Vector, near: Vector | None = None) -> tuple[float, float]:
        # Names as in the module's docstring: `middle` is 2b'w - w'Aw, `rest` bounds |r_i|.
        b, doubt, matrix = self.of(b), self.of(doubt), self.matrix
        if not len(b):
            return 0.0, 0.0
        sizes = np.sqrt(np.diag(matrix))
        w = _solved(matrix, b, sizes) if near is None else self.of(near)
        sigma, c = float(np.abs(w) @ sizes), self._slack
        rest = np.abs(b - matrix @ w) + doubt + c * sizes * sigma + 4.0 * U0 * np.abs(b)
        middle = 2.0 * float(b @ w) - float(w @ (matrix @ w))
        doubts = 2.0 * float(doubt @ np.abs(w)) + 2.0 * c * sigma * sigma
        doubts += (len(b) + 8) * 4.0 * U0 * float(np.abs(b) @ np.abs(w))
        low, high = middle - doubts, middle + doubts + float(np.sum(rest * (rest / self.ridge))) * (1.0 + 1e-9)
        return (low, high) if math.isfinite(low + high) else (-math.inf, math.inf)

    def inverses_between(self, bs: Vector, doubt: Vector) -> tuple[float, float]:
        """Return lower and upper bounds on the sum of b'A^-1 b over the rows of bs, each within `doubt`."""
        near, inside = np.zeros(bs.shape), self.places
        near[:, inside] = _solved(self.matrix, bs[:, inside].T, np.sqrt(np.diag(self.matrix))).T
        ends = [self.inverse_between(b, doubt, w) for b, w in zip(bs, near, strict=True)]
        return math.fsum(low for low, _ in ends), math.fsum(high for _, high in ends)

    def root(self) -> tuple[NDArray[np.int64], Vector]:
        sizes = np.sqrt(self.ridge + np.diag(self.sums))
        try:
            low = np.linalg.cholesky(self.matrix / np.outer(sizes, sizes))
            return self.places, np.linalg.inv(low).T / sizes[:, None]
        except np.linalg.LinAlgError:  # not positive definite in floats: any B is valid
            return self.places, 1.0 / sizes


def _solved(matrix: Vector, b: Vector, sizes: Vector) -> Vector:
    """Return an approximation of A^-1 b, or of each column, after one refinement; 0 if A is singular in floats.

    Args:
        matrix: A.
        b: Vector, or matrix of columns.
        sizes: Square roots of the diagonal of A.
    """
    scaled = matrix / np.outer(sizes, sizes)
    sizes = sizes if b.ndim == 1 else sizes[:, None]
    try:
        w = np.linalg.solve(scaled, b / sizes)
        found: Vector = (w + np.linalg.solve(scaled, b / sizes - scaled @ w)) / sizes
    except np.linalg.LinAlgError:
        return np.zeros(b.shape)
    return found
