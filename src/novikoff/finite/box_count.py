"""Exact number of boxes of a grid that contain a given box and avoid given points, without listing them.

Algorithm
    Let the given box be [low, high] on the grid {0 .. m-1}^d. A box around it extends it on each side by 0 or more.
    d = 1   The nearest point on each side decides: (low - left)(right - high), with walls at -1 and m.
    d = 2   Walk outward along axis 0. Going left, the free space on axis 1 (below, above) shrinks in steps; likewise
            going right. A box that reaches left step i and right step j has min(below_i, below_j) times
            min(above_i, above_j) choices on axis 1. Both staircases are decreasing, so prefix sums and two pointers
            sum all pairs in linear time.
    d = 3   Walk outward along axis 0, left and right, counting in the plane of the other axes. A point that is reached
            excludes the boxes that contain it and none of the earlier points: the count around the smallest box that
            contains both [low, high] and it.
    A point is relevant to boxes around [low, high] if no other point lies in the smallest box around [low, high] and
    it. The others may be dropped one at a time, nearest first; not all at once, because two points may each make the
    other irrelevant.
Cost
    k points: O(log k) for d = 1, O(k) for d = 2, O(k^3) at worst for d = 3, far less on random points, few of which
    are relevant. Python integers, so exact for any m.
Reference
    [while2012] for d = 3, as the volume of a union of orthants; the sweep for d = 2 is ours.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import accumulate
from operator import mul

Point = tuple[int, ...]

DIMENSIONS = 3
"""Largest number of dimensions; the count is exponential in it."""


def count_boxes(low: Point, high: Point, points: list[Point], m: int) -> int:
    """Return the number of boxes of {0 .. m-1}^d, d <= 3, that contain [low, high] and none of the sorted `points`."""
    if len(low) == 1:
        return _line(low[0], high[0], points, m)
    return _plane(low, high, points, m) if len(low) == 2 else _solid(low, high, points, m)


def around(low: Point, high: Point, x: Point) -> tuple[Point, Point]:
    """Return the smallest box that contains [low, high] and x."""
    return tuple(map(min, low, x)), tuple(map(max, high, x))


def any_inside(low: Point, high: Point, points: list[Point]) -> bool:
    """Return whether a point lies in [low, high]."""
    if len(low) == 2:
        (a, c), (b, d) = low, high
        return any(a <= x <= b and c <= y <= d for x, y in points)
    return any(all(a <= v <= b for a, v, b in zip(low, z, high, strict=True)) for z in points)


def relevant(low: Point, high: Point, points: list[Point]) -> list[Point]:
    """Return the points that are relevant to boxes around [low, high], sorted."""

    def distance(z: Point) -> int:
        return sum(max(a - v, v - b, 0) for a, v, b in zip(low, z, high, strict=True))

    kept: list[Point] = []
    for z in sorted(points, key=distance):
        if not any_inside(*around(low, high, z), kept):
            kept.append(z)
    return sorted(kept)


def with_point(low: Point, high: Point, points: list[Point], z: Point) -> list[Point]:
    """Return `points` and z without those that z makes irrelevant; none of `points` is in the smallest box around z."""
    sides = tuple(-1 if v < a else 1 if v > b else 0 for a, v, b in zip(low, z, high, strict=True))
    # If a point is at least as far out as z on every axis where z is outside, the smallest box around it contains z.
    kept = [p for p in points if any(s * u < s * v for s, u, v in zip(sides, p, z, strict=True))]
    insort(kept, z)
    return kept


def _line(low: int, high: int, points: list[Point], m: int) -> int:
    right = bisect_left(points, (low,))
    if right < len(points) and points[right][0] <= high:
        return 0
    nearest_left = points[right - 1][0] if right > 0 else -1
    nearest_right = points[right][0] if right < len(points) else m
    return (low - nearest_left) * (nearest_right - high)


def _plane(low: Point, high: Point, points: list[Point], m: int) -> int:
    (a0, a1), (b0, b1) = low, high
    first, last = bisect_left(points, (a0,)), bisect_left(points, (b0 + 1,))
    below, above = a1 + 1, m - b1
    for k in range(first, last):
        v = points[k][1]
        if a1 <= v <= b1:
            return 0
        if v < a1:
            below = min(below, a1 - v)
        else:
            above = min(above, v - b1)

    def staircase(walk: range, side: int, wall: int) -> list[tuple[int, int, int]]:
        """Return steps (width, below, above) outward from side to wall, until a point blocks the way."""
        steps = []
        reached, lower, upper = side, below, above
        for u, v in map(points.__getitem__, walk):
            if a1 - lower < v < b1 + upper:
                if u != reached:
                    steps.append((abs(u - reached), lower, upper))
                    reached = u
                if v < a1:
                    lower = a1 - v
                elif v > b1:
                    upper = v - b1
                else:
                    return steps
        steps.append((abs(wall - reached), lower, upper))
        return steps

    left = staircase(range(first - 1, -1, -1), a0, -1)
    right = staircase(range(last, len(points)), b0, m)
    return _pairs(left, right)


def _pairs(left: list[tuple[int, int, int]], right: list[tuple[int, int, int]]) -> int:
    """Return the sum over steps i, j of width_i width_j min(below_i, below_j) min(above_i, above_j)."""
    if len(left) == 1:
        left, right = right, left
    if len(right) == 1:  # a single step is as high as any step of the other side
        return right[0][0] * sum(width * below * above for width, below, above in left)
    widths, belows, aboves = zip(*left, strict=True)
    area = list(accumulate(widths, initial=0))
    area_below = list(accumulate(map(mul, widths, belows), initial=0))
    area_above = list(accumulate(map(mul, widths, aboves), initial=0))
    area_both = list(accumulate((w * b * a for w, b, a in left), initial=0))
    n = len(left)
    total = i = j = 0
    for width, below, above in right:
        while i < n and belows[i] >= below:
            i += 1
        while j < n and aboves[j] >= above:
            j += 1
        if i <= j:
            middle = above * (area_below[j] - area_below[i])
        else:
            middle = below * (area_above[i] - area_above[j])
        total += width * (below * above * area[min(i, j)] + middle + area_both[n] - area_both[max(i, j)])
    return total


def _solid(low: Point, high: Point, points: list[Point], m: int) -> int:
    a0, b0 = low[0], high[0]
    low, high = low[1:], high[1:]
    first, last = bisect_left(points, (a0,)), bisect_left(points, (b0 + 1,))
    slab = relevant(low, high, [z[1:] for z in points[first:last]])
    right = _relevant_beyond(low, high, slab, [(z[0] - b0, z[1:]) for z in points[last:]])
    total = reached = 0
    count = _rightward(low, high, slab, right, m, m - b0)
    for k in range(first - 1, -1, -1):
        z = points[k][1:]
        box = around(low, high, z)
        if not any_inside(*box, slab):
            far = a0 - points[k][0]
            total += (far - reached) * count
            reached = far
            count -= _rightward(*box, slab, right, m, m - b0)
            if not count:
                break
            slab = with_point(low, high, slab, z)
    return total + (a0 + 1 - reached) * count


def _relevant_beyond(
    low: Point, high: Point, slab: list[Point], outward: list[tuple[int, Point]]
) -> list[tuple[int, Point]]:
    """Return the points, nearest first, that are relevant given the slab and the nearer ones."""
    kept = []
    for far, z in outward:
        if not any_inside(*around(low, high, z), slab):
            slab = with_point(low, high, slab, z)
            kept.append((far, z))
    return kept


def _rightward(low: Point, high: Point, slab: list[Point], right: list[tuple[int, Point]], m: int, wall: int) -> int:
    """Return the sum over b = 0 .. wall-1 of the boxes in the plane that avoid the slab and `right` up to b."""
    slab = slab.copy()
    total = reached = 0
    count = _plane(low, high, slab, m)
    for far, z in right:
        lost = _plane(*around(low, high, z), slab, m)  # boxes that only z excludes
        if lost:
            total += (far - reached) * count
            reached = far
            count -= lost
            if not count:
                break
            insort(slab, z)
    return total + (wall - reached) * count
