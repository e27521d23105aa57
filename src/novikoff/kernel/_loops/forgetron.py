"""The Forgetron's rule: on a mistake add the example, shrink all, and forget the oldest if there are too many.

The list is a ring: removal number e frees slot e mod B, and the new example takes it.

Arguments of the loops that play
    cache    Cache, and rule: kernel/_loops/cache.py says what they are; rows: those of kernel/_loops/rows.py
    y        (rows,) labels -1 and +1
    scores   (rows,) out: f of each row before it was learned from
    params   (budget, R^2, tuned, least, U): see kernel/forgetron.py
    sums     (7,) NORM, S1, S2, P, LAM, Q in units of R^2, and LARGEST, the largest K(x,x) of a mistake; changed
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernel._loops import cache as at
from novikoff.kernel._loops.cache import Cache, Places, Rows, Rule, Vector
from novikoff.kernel._loops.supports import (
    compare,
    compare_slot,
    put,
    room_for,
    row_of,
    score_of,
    self_of,
    square_of,
    whole_self,
)
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import dense

Params = tuple[int, float, bool, float, float]

NORM, S1, S2, P, LAM, Q, LARGEST = range(7)
SHARE = 15.0 / 32.0


@compiled
def learn_many(
    cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int8], first: int, scores: Vector,
    params: Params, sums: Vector,
) -> int:  # fmt: skip
    """Play the rows from `first` on, until there is no room; the row to go on with."""
    width = rows[3]
    for t in range(first, len(y)):
        here, x = row_of(rows, t)
        score = compare(cache, rule, here, x, width, at.VALUES)
        scores[t] = score
        if (-1 if score < 0.0 else 1) != y[t]:
            slot = next_slot(cache, params[0])
            if not room_for(cache, here, slot, width):
                return t
            if slot < cache.counts[at.COUNT]:
                compare_slot(cache, rule, slot, width)
            add(cache, rule, here, x, width, y[t], self_of(rule, square_of(x)), params, sums)
    return len(y)


@inlined
def next_slot(cache: Cache, budget: int) -> int:
    """Where the next example goes: an empty slot, or that of the oldest."""
    counts = cache.counts
    return counts[at.COUNT] if counts[at.COUNT] < budget else counts[at.EVICTIONS] % budget


@inlined
def shrinkage(weight: float, square: float, reach: float, spent: float, mistakes: int) -> float:
    """The largest phi in (0,1] with A phi^2 + 2 s phi + C <= 0, by a formula in which nothing cancels."""
    a, b, c = weight * weight * square - 2.0 * weight * reach, 2.0 * weight, spent - SHARE * mistakes
    if a + b + c <= 0.0:
        return 1.0
    return min(1.0, -2.0 * c / (b + np.sqrt(max(b * b - 4.0 * a * c, 0.0))))


@inlined
def add(
    cache: Cache,
    rule: Rule,
    places: Places,
    numbers: Vector,
    width: int,
    y: int,
    plain: float,
    params: Params,
    sums: Vector,
) -> None:
    """f' = f + y K(x,.), f'' = phi f', and the oldest leaves if the list was full; there is room.

    `values` holds K(z,x); where the oldest leaves, `row` holds K(z, oldest). plain: K(x,x), see `put`.
    """
    budget, radius2, tuned, least, bound = params
    counts, coefficients = cache.counts, cache.slots[at.COEFFICIENTS]
    count = counts[at.COUNT]
    full, slot = count >= budget, next_slot(cache, budget)
    self_product = whole_self(rule, plain)
    sums[LARGEST] = max(sums[LARGEST], self_product)
    norm = max(sums[NORM] + (2.0 * y * score_of(cache) + self_product) / radius2, 0.0)
    weight = square = reach = 0.0
    if full:
        weight, square = abs(coefficients[slot]), whole_self(rule, cache.slots[at.SELFS, slot]) / radius2
        there = dense(coefficients[:count], cache.scratch[at.ROW, :count]) + y * cache.scratch[at.VALUES, slot]
        reach = cache.slots[at.LABELS, slot] * there / radius2
    if not tuned:
        phi = min(least, bound / np.sqrt(norm)) if norm > 0.0 else least
    elif full:
        phi = shrinkage(weight, square, reach, sums[Q], counts[at.UPDATES] + 1)
    else:
        phi = 1.0
    sums[S1] += (1.0 - phi) * np.sqrt(norm)
    sums[S2] += (1.0 - phi * phi) * norm
    norm *= phi * phi
    if phi != 1.0:
        for j in range(count):
            coefficients[j] *= phi
    if full:
        weight, reach = weight * phi, reach * phi
        change = weight * weight * square - 2.0 * weight * reach
        norm = max(norm + change, 0.0)
        sums[P] += change
        sums[LAM] += weight
        sums[Q] += change + 2.0 * weight
        counts[at.EVICTIONS] += 1
    sums[NORM] = norm
    put(cache, slot, places, numbers, width, y, y * phi, plain)
    counts[at.UPDATES] += 1
