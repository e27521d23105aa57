"""Rule of the Forgetron: on a mistake insert the example, shrink all coefficients, and remove the oldest if full.

The slots are a ring buffer: removal number e frees slot e mod B, which the new example takes.
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
"""Indices into `sums`: ||f||^2 and the sums of the theorems, in units of R^2; the largest K(x,x) of a mistake."""
SHARE = 15.0 / 32.0
"""Largest cost of the removals per mistake: the constant of the theorem (kernel/theorems/forgetron_theorem.py)."""


@compiled
def learn_many(
    cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int8], first: int, scores: Vector,
    params: Params, sums: Vector,
) -> int:  # fmt: skip
    """Play the rows from `first` on until the arrays are full; return the row to resume from.

    Args:
        cache: Supports, changed.
        rule: Kernel.
        rows: Rows of kernel/_loops/rows.py.
        y: (rows,) labels -1 and +1.
        first: First row to play.
        scores: (rows,) output: f of each row before learning from it.
        params: Budget, R^2, whether self-tuned, and the basic learner's smallest phi and U (kernel/forgetron.py).
        sums: (7,) see NORM; changed.
    """
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
    """Return the slot of the next example: an empty one, or that of the oldest support."""
    counts = cache.counts
    return counts[at.COUNT] if counts[at.COUNT] < budget else counts[at.EVICTIONS] % budget


@inlined
def shrinkage(weight: float, square: float, reach: float, spent: float, mistakes: int) -> float:
    """Return the largest phi in (0,1] with a phi^2 + b phi + c <= 0: the cost Q stays at most (15/32) M.

    Args:
        weight: |coefficient| of the support to remove, before shrinking.
        square: Its K(r,r), in units of R^2.
        reach: y_r f'(x_r), in units of R^2.
        spent: Q, the cost of the removals so far.
        mistakes: M, this mistake included.
    """
    a, b, c = weight * weight * square - 2.0 * weight * reach, 2.0 * weight, spent - SHARE * mistakes
    if a + b + c <= 0.0:
        return 1.0
    # The root as -2c / (b + sqrt(...)): b is positive and c at most 0, so nothing cancels.
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
    """Insert an example for which there is room, shrink by phi, and remove the oldest support if the list was full.

    scratch[VALUES] must hold K(z,x) and, if a support is removed, scratch[ROW] its K with every support.

    Args:
        cache: Supports, changed.
        rule: Kernel.
        places: Features of the example, if sparse.
        numbers: Values of the example.
        width: Number of features; -1 for sparse rows.
        y: Label.
        plain: K(x,x) before normalisation and bias.
        params: As in `learn_many`.
        sums: (7,) see NORM; changed.
    """
    budget, radius2, tuned, least, bound = params
    counts, coefficients = cache.counts, cache.slots[at.COEFFICIENTS]
    count = counts[at.COUNT]
    full, slot = count >= budget, next_slot(cache, budget)
    self_product = whole_self(rule, plain)
    sums[LARGEST] = max(sums[LARGEST], self_product)
    # f' = f + y K(x, .): its squared norm and, if the list is full, its margin on the oldest support r.
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
        # Removing r changes ||f||^2 by weight^2 K(r,r) - 2 weight y_r f(x_r).
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
