"""Bins of columns, and the best cut of a column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import inner
from novikoff.trees._loops.layout import BINS, EDGES, LABELS, NUMBERS

Vector = NDArray[np.float64]
SAMPLE = 4096
SAMPLED = 2**17
"""Largest number of cells of all columns from which edges are found at once."""


@inner
def bin_of(value: float, category: bool, edges: Vector) -> int:
    """Return the bin of a value: value <= edges[b - 1] if and only if it is in a bin from 1 to b."""
    if value != value:
        return 0
    if category:
        return BINS - 1 if value < 0.0 else min(int(value) + 1, BINS - 1)
    below, step = 0, 64
    while step > 0:  # always seven steps, without a branch to guess: edges beyond the last are infinite
        below += step if value > edges[below + step - 1] else 0
        step >>= 1
    return below + 1


@inner
def between(low: float, high: float) -> float:
    """Return a number from low to below high."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@inner
def edges_of(values: Vector, edges: Vector) -> int:
    """Write the edges of sorted values without NaN; return their number, 0 if all values are equal.

    Up to EDGES + 1 different values have an edge between any two; more have EDGES - 1 quantiles.
    """
    count, different = 0, 0
    edges[:] = np.inf
    for i in range(len(values)):
        different += i == 0 or values[i] != values[i - 1]
    if different <= EDGES + 1:
        for i in range(1, len(values)):
            if values[i] != values[i - 1]:
                edges[count] = between(values[i - 1], values[i])
                count += 1
        return count
    for k in range(1, EDGES):
        i = (k * len(values)) // EDGES
        if values[i] == values[i - 1]:
            continue
        edge = between(values[i - 1], values[i])
        if count == 0 or edge > edges[count - 1]:
            edges[count] = edge
            count += 1
    return count


@inner
def column_edges(
    x: NDArray[np.float64], column: int, first: int, stop: int, step: int, spare: Vector, edges: Vector
) -> int:
    """Write the edges of a column from every step-th stored row first .. stop - 1; return their number."""
    room, found = len(x), 0
    for i in range(first, stop, step):
        value = x[i % room, column]
        if value == value:
            spare[found] = value
            found += 1
    return edges_of(np.sort(spare[:found]), edges)


@inner
def sample_step(rows: int, columns: int) -> int:
    """Return the distance of the rows from which edges are found."""
    return max(1, rows // max(min(SAMPLE, SAMPLED // max(columns, 1)), EDGES))


@inner
def xlogx(a: float, table: Vector) -> float:
    """Return a ln a of a whole number."""
    if a < len(table):
        return table[int(a)]
    return a * np.log(a)


@inner
def score(kind: int, sums: Vector, width: int, n: float, ridge: float, table: Vector) -> float:
    """Return the part of the gain that one side of a cut has, with these sums over its rows."""
    if kind == LABELS:
        total = -xlogx(n, table)
        for c in range(width):
            total += xlogx(sums[c], table)
        return total
    if kind == NUMBERS:
        return sums[0] * sums[0] / n
    return 0.5 * sums[0] * sums[0] / (sums[1] + ridge)


@inner
def best_cut(
    kind: int, sums: NDArray[np.float64], counts: NDArray[np.int64], category: bool, totals: Vector, width: int, n: int,
    least: int, ridge: float, fine: float, table: Vector, order: NDArray[np.int64], spare: NDArray[np.float64],
) -> tuple[float, int, int]:  # fmt: skip
    """Return the gain in nats of the best cut of a column, the number of bins left of it, and whether missing go left.

    Args:
        kind: Kind of the tree.
        sums: (BINS, width) sums over the rows of each bin: labels, numbers less their mean, gradients and curvatures.
        counts: (BINS,) number of rows of each bin; written for labels.
        category: Whether bins are categories, which are ordered by their mean.
        totals: (width,) sums over all bins.
        width: Number of sums.
        n: Number of rows.
        least: Least number of rows on each side.
        ridge: Ridge of the residuals.
        fine: Nats taken off for each category beyond the second.
        table: x ln x of whole numbers.
        order: (BINS,) bins in order, written; those left of the cut are the first.
        spare: (3, at least width and BINS) room to work in.
    """
    occupied, most, main = 0, 0.0, 0
    if kind == LABELS:
        for b in range(BINS):
            total = 0.0
            for c in range(width):
                total += sums[b, c]
            counts[b] = int(total)
    for b in range(1, BINS):
        if counts[b] > 0:
            order[occupied] = b
            occupied += 1
    missing = counts[0]
    if occupied + (missing > 0) < 2:
        return 0.0, 0, 0
    penalty = 0.0
    if category:
        penalty = fine * max(occupied - 2, 0)
        for c in range(1, width if kind == LABELS else 1):
            main = c if totals[c] > totals[main] else main
        ratios = spare[2]
        for i in range(occupied):
            b = order[i]
            if kind in (LABELS, NUMBERS):
                ratios[b] = (sums[b, main] + 2.0 * totals[main] / n) / (counts[b] + 2.0)
            else:
                ratios[b] = sums[b, 0] / (sums[b, 1] + ridge)
        for i in range(1, occupied):
            b, k = order[i], i - 1
            while k >= 0 and ratios[order[k]] > ratios[b]:
                order[k + 1] = order[k]
                k -= 1
            order[k + 1] = b
    base = score(kind, totals, width, float(n), ridge, table)
    left, right, best, where, side = spare[0], spare[1], 0.0, 0, 0
    for go in range(2 if missing > 0 else 1):
        there = missing if go == 1 else 0
        for c in range(width):
            left[c] = sums[0, c] if go == 1 else 0.0
        for i in range(occupied if missing > 0 else occupied - 1):
            b = order[i]
            there += counts[b]
            for c in range(width):
                left[c] += sums[b, c]
                right[c] = totals[c] - left[c]
            if there < least or n - there < least:
                continue
            gain = score(kind, left, width, float(there), ridge, table)
            gain += score(kind, right, width, float(n - there), ridge, table) - base
            if gain > best:
                best, where, side = gain, i + 1, go
    if kind == NUMBERS and where > 0:
        most = totals[width]  # the sum of squares
        best = 0.5 * n * np.log(most / max(most - best, 1e-9 * most)) if most > 0.0 else 0.0
    return best - penalty, where, side


@inner
def set_of(order: NDArray[np.int64], where: int, sets: NDArray[np.uint64]) -> None:
    """Write the first `where` bins of `order` as bits to sets (2,)."""
    sets[0] = np.uint64(0)
    sets[1] = np.uint64(0)
    for i in range(where):
        b = order[i]
        sets[b >> 6] |= np.uint64(1) << np.uint64(b & 63)


@inner
def goes_left(value: float, category: bool, cut: float, sets: NDArray[np.uint64], missing_left: int) -> bool:
    """Return whether a value goes to the left child; a category that was never seen goes right."""
    if value != value:
        return missing_left == 1
    if not category:
        return value <= cut
    if value < 0.0:
        return False
    b = min(int(value) + 1, BINS - 1)
    return (sets[b >> 6] >> np.uint64(b & 63)) & np.uint64(1) == np.uint64(1)
