"""Rule of Crammer, Kandola and Singer: remove the support that the others classify with the largest margin.

The row FITS of the supports holds f(z) of every support z: an insertion adds y K(x,z) to all, a removal subtracts
y_r K(z_r,z).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernel._loops import cache as at
from novikoff.kernel._loops.cache import Cache, Places, Rows, Rule, Vector
from novikoff.kernel._loops.supports import (
    compare,
    compare_slot,
    drop,
    inserts,
    put,
    room_for,
    row_of,
    score_of,
    self_of,
    square_of,
    whole_self,
)
from novikoff.numerics.compiled import compiled, inlined, inner

Params = tuple[int, float, bool]


@compiled
def learn_many(
    cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int8], first: int, scores: Vector, params: Params
) -> int:
    """Play the rows from `first` on until the arrays are full; return the row to resume from.

    Args:
        cache: Supports, changed.
        rule: Kernel.
        rows: Rows of kernel/_loops/rows.py.
        y: (rows,) labels -1 and +1.
        first: First row to play.
        scores: (rows,) output: f of each row before learning from it.
        params: Budget, beta, distill.
    """
    width = rows[3]
    budget, beta, distill = params
    for t in range(first, len(y)):
        here, x = row_of(rows, t)
        score = compare(cache, rule, here, x, width, at.VALUES)
        scores[t] = score
        if inserts(score, y[t], beta):
            full = cache.counts[at.COUNT] >= budget
            if not room_for(cache, here, cache.counts[at.COUNT] - full, width):
                return t
            if full:
                slot = best(cache, rule)
                compare_slot(cache, rule, slot, width)
                leave(cache, slot, width)
            enter(cache, rule, here, x, width, y[t], self_of(rule, square_of(x)))
            while distill and cache.counts[at.COUNT] > 1:  # the margin of a single support is 0 up to rounding
                slot = best(cache, rule)
                if not margin_without(cache, rule, slot) > beta:
                    break
                compare_slot(cache, rule, slot, width)
                leave(cache, slot, width)
    return len(y)


@inlined
def margin_without(cache: Cache, rule: Rule, slot: int) -> float:
    """Return y (f(z) - alpha y K(z,z)), the margin of a support under the others."""
    part = cache.slots[at.COEFFICIENTS, slot] * whole_self(rule, cache.slots[at.SELFS, slot])
    return cache.slots[at.LABELS, slot] * (cache.slots[at.FITS, slot] - part)


@inner
def best(cache: Cache, rule: Rule) -> int:
    """Return the slot with the largest `margin_without`; on a tie the oldest."""
    found, most = 0, margin_without(cache, rule, 0)
    for slot in range(1, cache.counts[at.COUNT]):
        margin = margin_without(cache, rule, slot)
        if margin > most or (margin == most and cache.slots[at.BORN, slot] < cache.slots[at.BORN, found]):
            found, most = slot, margin
    return found


@inner
def leave(cache: Cache, slot: int, width: int) -> None:
    """Remove a support; scratch[ROW] must hold its K with every support (`compare_slot`)."""
    coefficient = cache.slots[at.COEFFICIENTS, slot]
    for j in range(cache.counts[at.COUNT]):
        cache.slots[at.FITS, j] -= coefficient * cache.scratch[at.ROW, j]
    drop(cache, slot, width)
    cache.counts[at.EVICTIONS] += 1


@inlined
def enter(cache: Cache, rule: Rule, places: Places, numbers: Vector, width: int, y: int, plain: float) -> None:
    """Insert an example for which there is room; scratch[VALUES] must hold K(z,x) (`compare`).

    Args:
        cache: Supports, changed.
        rule: Kernel.
        places: Features of the example, if sparse.
        numbers: Values of the example.
        width: Number of features; -1 for sparse rows.
        y: Label.
        plain: K(x,x) before normalisation and bias.
    """
    count = cache.counts[at.COUNT]
    score = score_of(cache)
    for j in range(count):
        cache.slots[at.FITS, j] += y * cache.scratch[at.VALUES, j]
    put(cache, count, places, numbers, width, y, np.float64(y), plain)
    cache.slots[at.FITS, count] = score + y * whole_self(rule, plain)
    cache.counts[at.UPDATES] += 1
