"""Halfspaces through the origin whose normals cover the unit sphere.

Hypotheses
    h_w(x) = +1 if <w, x> >= 0, else -1, for every w of a finite set C of unit vectors such that each point of the unit
    sphere is within `epsilon` of one of them (up to rounding, about 1e-15). If a unit vector u classifies every x with
    margin y <u, x> >= margin and ||x|| <= R, the w nearest to u is right on every x if epsilon < margin / R, for
    example epsilon = margin / (2R). Margin and R must be known before the game; otherwise use `CoverHalving`. Only
    the direction of x counts, and x = 0 is +1 for all hypotheses.
Constructions
    dim 1       the two points -1 and +1.
    circle      dim 2, the best possible: ceil(pi / (2 asin(epsilon/2))) equally spaced angles.
    cube        any dim: a grid of k^(dim-1) cells on each of the 2 dim faces of the cube [-1, 1]^dim, their centres
                scaled to length 1, with k = ceil(sqrt(dim-1) / epsilon). A point of a face is within half a diagonal,
                sqrt(dim-1)/k, of a centre, and scaling vectors of length >= 1 to length 1 increases no distance.
    latitude    any dim, 2 to 3 times smaller than cube: rings of equal latitude, each covered by the same method in one
                dimension less. For p = (cos f, sin f u) and q = (cos g, sin g v)
                    ||p - q||^2 = 4 sin^2((f-g)/2) + sin f sin g ||u - v||^2,
                so a ring at g serving all f within h of it needs a cover of the u with
                    epsilon_g^2 = (epsilon^2 - 4 sin^2(h/2)) / (sin g max sin f).
                h is chosen so that the first term is at most half of epsilon^2. In dim 2 this is the circle.
    The default is the circle for dim 2 and latitude otherwise. A random or thinned set of points is not a proven cover.
Cost
    O(survivors * dim) per round, O(dim |C|) memory. The size is computed before any point.
Reference
    [shalevshwartz2014], chapter 27, for covers; the constructions are proved above.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, TooLargeError, brief
from novikoff.core.sizes import integer, length
from novikoff.core.types import Domain, Example, State
from novikoff.finite.classes.halfspace import inequality
from novikoff.finite.classes.survivors import Survivors

LARGEST_COVER = 10_000_000
"""Largest number of stored points: in dim 3, 0.24 GB."""

SMALLEST_EPSILON = 1e-12
"""Smallest epsilon; below, a cover in dim 2 or more has over 10^12 points, and rounding errors matter."""

ROUNDED = 1 + Fraction(1, 2**51)
"""Factor by which rounding may increase epsilon."""

METHODS = ("circle", "cube", "latitude")


class SphereCover:
    """Halfspaces whose unit normals include one within epsilon of every unit vector.

    Args:
        dim: Number of features.
        epsilon: Distance within which every unit vector has a normal.
        method: "circle", "cube" or "latitude"; None for the smallest cover.

    Example:
        >>> import novikoff as nk
        >>> len(nk.classes.sphere_cover(2, 0.5))
        7
    """

    labels: int | None = None

    def __init__(self, dim: int, epsilon: float, method: str | None = None) -> None:
        self.dim = integer(dim, "dim", "a sphere needs at least one dimension, an integer", 1)
        if not SMALLEST_EPSILON <= epsilon <= 2:
            raise InputError(
                f"epsilon must be above 0 (at least {SMALLEST_EPSILON:g}) and at most 2, the diameter of the sphere: "
                f"got {epsilon}."
            )
        best = "circle" if dim == 2 else "latitude"
        if method is not None and method not in METHODS:
            raise InputError(f"a cover's method must be one of {', '.join(METHODS)}: got {method!r}.")
        if method == "circle" and dim != 2:
            raise InputError(f"the circle must have dim = 2: got dim = {brief(self.dim)}. Leave the method out.")
        self.epsilon = float(epsilon)
        self.method = method or best
        self.name = f"sphere-cover:dim={brief(self.dim)},epsilon={self.epsilon}" + f",method={method}" * (
            self.method != best
        )
        self.domain = Domain("vector", self.dim)

    @cached_property
    def size(self) -> int:
        """Exact number of points of the cover; len() stops at 2^63 - 1."""
        size = cover_size(self.dim, self.epsilon, self.method)
        if size is None:
            raise _too_large(self.name, LARGEST_COVER)
        return size

    def __len__(self) -> int:
        return length(self.size)

    def space(self, prior: object = None) -> Survivors:
        _ = self.points
        return Survivors(self, prior, "Take a larger epsilon or fewer dimensions.")

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Points of the cover, one per column; computed on first use."""
        if self.size > LARGEST_COVER:
            raise _too_large(self.name, self.size)
        if self.dim == 1:
            points = np.array([[1.0, -1.0]])
        elif self.method == "cube":
            points = _cube(self.dim, _cells(self.dim, self.epsilon))
        else:
            points = _latitude(self.dim, self.epsilon)
        points.flags.writeable = False
        return points

    def encode(self, x: Example) -> NDArray[np.float64]:
        return encode.scaled(encode.vector(x, self.dim))

    def labels_of(self, x: NDArray[np.float64], members: NDArray[np.int64] | None) -> NDArray[np.int8]:
        from novikoff.finite._loops import linear as kernel

        labels = np.empty(self.size if members is None else len(members), dtype=np.int8)
        if members is None:
            kernel.label_points(self.points, x, labels)
        else:
            kernel.label_members(self.points, x, members, labels)
        return labels

    def describe(self, index: int) -> str:
        return inequality(self.points[:, index].tolist())

    def state(self) -> State:
        return {"class": "sphere-cover", "dim": self.dim, "epsilon": self.epsilon, "method": self.method}


def _too_large(name: str, size: int) -> TooLargeError:
    known = LARGEST_COVER < size < 10**30  # counting a latitude cover stops at the limit
    return TooLargeError(
        f"a cover must have at most {LARGEST_COVER:,} points to be stored: "
        f"{name} has {f'{size:,}' if known else 'more'}. Use a larger epsilon or fewer dimensions."
    )


def cover_size(dim: int, epsilon: float, method: str, limit: int = LARGEST_COVER) -> int | None:
    """Return |C|, exactly, without computing the points; None if a latitude cover has more than `limit`."""
    if dim == 1:
        return 2
    if method == "cube":
        return int(2 * dim * _cells(dim, epsilon) ** (dim - 1))
    if method == "circle":
        return int(_circle_sizes(np.array([epsilon]))[0])
    circles = _circles(dim, epsilon, limit)
    if circles is None:
        return None
    total = _circle_sizes(circles[-1]).sum()
    return int(total) if total <= limit else None


def corollary(dim: int, margin: float, radius: float = 1.0) -> int:
    """Return the bound of the lecture notes, floor(dim log2(ceil(8 radius / margin) + 1)) mistakes, exactly.

    It holds for the best possible cover, of at most (4/epsilon + 1)^dim points with epsilon = margin / (2 radius). The
    certificate counts the points of the cover in use, and is smaller: 5 against 12 for dim 2, margin 0.1.
    """
    if not 0 < margin <= radius < math.inf:
        raise InputError(f"a margin must be above 0 and at most the radius: got {margin} and {radius}.")
    return int((math.ceil(8 * Fraction(radius) / Fraction(margin)) + 1) ** dim).bit_length() - 1


def _cells(dim: int, epsilon: float) -> int:
    """Return the smallest k with sqrt(dim-1) / k <= epsilon, in integers; 1/3 rounded to a float counts as 1/3."""
    squared = math.ceil((dim - 1) / (Fraction(epsilon) * ROUNDED) ** 2)
    return math.isqrt(squared - 1) + 1


def _cube(dim: int, k: int) -> NDArray[np.float64]:
    """Return the centres of k^(dim-1) cells on each face, scaled to length 1."""
    cells = k ** (dim - 1)
    centres = (2.0 * np.arange(k) + 1.0) / k - 1.0
    points = np.empty((dim, 2 * dim, cells))
    for face in range(dim):
        others = [i for i in range(dim) if i != face]
        for position, i in enumerate(others):
            points[i, 2 * face : 2 * face + 2] = centres[np.arange(cells) // k**position % k]
        points[face, 2 * face], points[face, 2 * face + 1] = 1.0, -1.0
    flat = points.reshape(dim, -1)
    flat /= np.sqrt((flat**2).sum(axis=0))
    return flat


def _circle_sizes(epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number of equally spaced angles that cover the circle: the least K with 2 sin(pi/(2K)) <= epsilon."""
    computed = np.ceil(math.pi / (2.0 * np.arcsin(np.minimum(epsilon, 2.0) / 2.0)))
    # If the quotient is an integer, as for epsilon = 1, rounding could give one angle too many.
    fewer = np.maximum(computed - 1.0, 1.0)
    enough = 2.0 * np.sin(math.pi / (2.0 * fewer)) <= epsilon * float(ROUNDED)
    sizes: NDArray[np.float64] = np.where(enough, fewer, computed)
    return sizes


def _circles(
    dim: int, epsilon: float, limit: int
) -> tuple[list[NDArray[np.float64]], NDArray[Any], NDArray[Any]] | None:
    """Return the circles of a latitude cover: their first dim-2 coordinates, radius, and epsilon.

    The result is None as soon as there are more than `limit` circles, as each has a point.
    """
    heights: list[NDArray[np.float64]] = []
    radius, wanted = np.ones(1), np.array([epsilon])
    for _ in range(dim - 2):
        one = wanted >= 2.0  # one point is enough: the pole, a ring of radius 0
        rings = np.where(one, 1.0, np.ceil(math.pi / (4.0 * np.arcsin(np.minimum(wanted, 2.0) / math.sqrt(8.0)))))
        if rings.sum() > limit:
            return None
        count = rings.astype(np.int64)
        of = np.repeat(np.arange(len(count)), count)
        number = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
        h = math.pi / (2.0 * rings[of])
        g = np.where(one[of], 0.0, (2.0 * number + 1.0) * h)
        widest = np.where(np.abs(g - math.pi / 2.0) <= h, 1.0, np.maximum(np.sin(g - h), np.sin(g + h)))
        left = wanted[of] ** 2 - 4.0 * np.sin(h / 2.0) ** 2
        shared = np.where(one[of], 1.0, np.sin(g) * widest)
        # Slightly smaller than computed, so that rounding makes the cover denser rather than thinner.
        wanted = np.where(one[of], 2.0, np.sqrt(left / shared) * (1.0 - 1e-14))
        heights = [height[of] for height in heights] + [radius[of] * np.cos(g)]
        radius = radius[of] * np.sin(g)
    return heights, radius, wanted


def _latitude(dim: int, epsilon: float) -> NDArray[np.float64]:
    """Return the points of the latitude cover; of the circle if dim is 2."""
    circles = _circles(dim, epsilon, LARGEST_COVER)
    assert circles is not None
    heights, radius, wanted = circles
    sizes = _circle_sizes(wanted)
    count = sizes.astype(np.int64)
    of = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    angle = 2.0 * math.pi * number / sizes[of]
    points = np.empty((dim, len(of)))
    for i, height in enumerate(heights):
        points[i] = height[of]
    points[dim - 2] = radius[of] * np.cos(angle)
    points[dim - 1] = radius[of] * np.sin(angle)
    return points
