"""Convex sets for online convex optimisation: ball, box, simplex, and any set with a projection.

A set knows its dimension, its Euclidean diameter, a point to start from, and the nearest point of the set to any
vector. The first three also minimise linear functions, from which the distance of a comparator from the optimum is
bounded (convex/minimise_online.py).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.sizes import integer

Vector = NDArray[np.float64]
MOST = 10_000_000
"""Largest dimension."""


class ConvexSet(ABC):
    """Base class of bounded closed convex sets.

    Attributes:
        dim: Number of coordinates.
        diameter: Largest Euclidean distance between two of its points, or an upper bound on it.
        start: Point to start from.
        known: Whether projection and diameter are this library's, and so need not be trusted.
    """

    dim: int
    diameter: float
    start: Vector
    known: bool = True

    @abstractmethod
    def project(self, v: Vector) -> Vector:
        """Return the point of the set that is nearest to v."""

    def least(self, gradient: Vector) -> Vector | None:
        """Return a point with the least inner product with `gradient`; None if there is no way to find it."""
        return None


class Ball(ConvexSet):
    """Euclidean ball.

    Args:
        radius: Radius.
        dim: Number of coordinates.
        center: Center; None for the origin.

    Example:
        >>> import novikoff as nk
        >>> nk.Ball(2.5, dim=2).project([3.0, 4.0]).tolist()
        [1.5, 2.0]
    """

    def __init__(self, radius: float, dim: int, center: ArrayLike | None = None) -> None:
        self.radius = _positive(radius, "radius")
        self.dim = integer(dim, "dim", f"the dimension must be a whole number from 1 to {MOST:,}", 1, MOST)
        self.start = _vector(np.zeros(self.dim) if center is None else center, self.dim, "center")
        self.diameter = 2.0 * self.radius

    def project(self, v: Vector) -> Vector:
        step: Vector = np.asarray(v, np.float64) - self.start
        length = float(np.linalg.norm(step))
        return self.start + step if length <= self.radius else self.start + step * (self.radius / length)

    def least(self, gradient: Vector) -> Vector:
        length = float(np.linalg.norm(gradient))
        return self.start if length == 0.0 else self.start - gradient * (self.radius / length)

    def __repr__(self) -> str:
        return f"Ball({self.radius:g}, dim={self.dim})"


class Box(ConvexSet):
    """Box: each coordinate between two limits.

    Args:
        low: Lower limit of each coordinate, or of all.
        high: Upper limit of each coordinate, or of all.
        dim: Number of coordinates; None for that of the limits.

    Example:
        >>> import novikoff as nk
        >>> nk.Box(0.0, 1.0, dim=3).project([-1.0, 0.5, 2.0]).tolist()
        [0.0, 0.5, 1.0]
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, dim: int | None = None) -> None:
        width = max(np.size(low), np.size(high)) if dim is None else dim
        self.dim = integer(width, "dim", f"the dimension must be a whole number from 1 to {MOST:,}", 1, MOST)
        try:
            self.low = _vector(np.broadcast_to(np.asarray(low, np.float64), self.dim), self.dim, "low")
            self.high = _vector(np.broadcast_to(np.asarray(high, np.float64), self.dim), self.dim, "high")
        except (TypeError, ValueError):
            raise InputError(
                f"limits must be numbers, one or {self.dim:,}: got {shown(low)} and {shown(high)}."
            ) from None
        if not (self.low <= self.high).all():
            raise InputError(f"low must not be above high: got {shown(low)} and {shown(high)}.")
        self.start = 0.5 * (self.low + self.high)
        self.diameter = float(np.linalg.norm(self.high - self.low)) * (1.0 + 1e-12)

    def project(self, v: Vector) -> Vector:
        nearest: Vector = np.clip(np.asarray(v, np.float64), self.low, self.high)
        return nearest

    def least(self, gradient: Vector) -> Vector:
        corner: Vector = np.where(gradient > 0.0, self.low, self.high)
        return corner

    def __repr__(self) -> str:
        return f"Box(dim={self.dim})"


class Simplex(ConvexSet):
    """Simplex: nonnegative coordinates with a given sum, such as probabilities.

    Args:
        dim: Number of coordinates.
        total: Their sum.

    Example:
        >>> import novikoff as nk
        >>> nk.Simplex(3).project([0.0, 2.0, 1.5]).tolist()
        [0.0, 0.75, 0.25]
    """

    def __init__(self, dim: int, total: float = 1.0) -> None:
        self.dim = integer(dim, "dim", f"the dimension must be a whole number from 1 to {MOST:,}", 1, MOST)
        self.total = _positive(total, "total")
        self.start = np.full(self.dim, self.total / self.dim)
        self.diameter = self.total * math.sqrt(2.0) * (1.0 + 1e-12) if self.dim > 1 else 0.0

    def project(self, v: Vector) -> Vector:
        vector = np.asarray(v, np.float64)
        ordered = np.sort(vector)[::-1]
        excess = np.cumsum(ordered) - self.total
        kept = int(np.flatnonzero(ordered * np.arange(1, self.dim + 1) > excess)[-1])
        nearest: Vector = np.maximum(vector - excess[kept] / (kept + 1), 0.0)
        nearest *= self.total / nearest.sum()  # the sum is exact up to rounding only
        return nearest

    def least(self, gradient: Vector) -> Vector:
        corner = np.zeros(self.dim)
        corner[int(np.argmin(gradient))] = self.total
        return corner

    def __repr__(self) -> str:
        return f"Simplex({self.dim}{'' if self.total == 1.0 else f', total={self.total:g}'})"


class Projected(ConvexSet):
    """A convex set given by its projection.

    Args:
        project: Function from a vector to the nearest point of the set.
        diameter: Largest Euclidean distance between two points of the set, or an upper bound on it.
        start: Point of the set to start from.

    Example:
        >>> import novikoff as nk
        >>> import numpy as np
        >>> half = nk.Projected(lambda v: np.clip(v, 0.0, 1.0), diameter=1.0, start=[0.5])
        >>> half.project(np.array([2.0])).tolist()
        [1.0]
    """

    known = False

    def __init__(
        self, project: Callable[[Vector], ArrayLike], diameter: float, start: ArrayLike | Sequence[float]
    ) -> None:
        if not callable(project):
            raise InputError(f"project must be a function of a vector: got {shown(project)}.")
        self._project = project
        self.start = _vector(start, None, "start")
        self.dim = len(self.start)
        self.diameter = _positive(diameter, "diameter")

    def project(self, v: Vector) -> Vector:
        return _vector(self._project(np.array(v, np.float64)), self.dim, "the projection")

    def __repr__(self) -> str:
        return f"Projected(dim={self.dim}, diameter={self.diameter:g})"


def _positive(value: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0.0 < float(value) < math.inf:
        raise InputError(f"{name} must be a positive number: got {shown(value)}.")
    return float(value)


def _vector(values: ArrayLike, dim: int | None, name: str) -> Vector:
    """Return a copy as a vector of finite numbers; raise `InputError` if it is not one of this dimension."""
    try:
        found = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a vector of numbers: got {shown(values)}.") from None
    if found.ndim != 1 or not len(found) or (dim is not None and len(found) != dim):
        wanted = "a vector" if dim is None else f"a vector of {dim:,} numbers"
        raise InputError(f"{name} must be {wanted}: got shape {found.shape}.")
    if not np.isfinite(found).all():
        raise InputError(f"{name} must be finite: got {shown(values)}.")
    return found
