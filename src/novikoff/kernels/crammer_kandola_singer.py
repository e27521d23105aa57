"""CKS's rule: the support that is best without itself makes room.

`fits` holds f(z) of every support z: an insertion adds y K(x,z) to all, a removal takes y_r K(z_r,z) off.
law is (budget, beta, distill).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernels.cache import (
    BORN,
    COEFFICIENTS,
    COUNT,
    EVICTIONS,
    FITS,
    LABELS,
    ROW,
    SELFS,
    UPDATES,
    VALUES,
    Cache,
    Places,
    Rows,
    Rule,
    Vector,
)
from novikoff.kernels.compiled import compiled, inlined, inner
from novikoff.kernels.supports import (
    compare,
    compare_slot,
    drop,
    inserts,
    put,
    room_for,
    score_of,
    self_of,
    span,
    square_of,
    whole_self,
)

Params = tuple[int, float, bool]


@compiled
def learn_many(
    cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int8], first: int, scores: Vector, params: Params
) -> int:
    """Play the rows from `first` on, until there is no room; the row to go on with."""
    _, places, numbers, width = rows
    budget, beta, distill = params
    for t in range(first, len(y)):
        start, stop = span(rows, t)
        here, x = places[start:stop], numbers[start:stop]
        score = compare(cache, rule, here, x, width, VALUES)
        scores[t] = score
        if inserts(score, y[t], beta):
            full = cache.counts[COUNT] >= budget
            if not room_for(cache, here, cache.counts[COUNT] - full, width):
                return t
            if full:
                slot = best(cache, rule)
                compare_slot(cache, rule, slot, width)
                leave(cache, slot, width)
            enter(cache, rule, here, x, width, y[t], self_of(rule, square_of(x)))
            while distill and cache.counts[COUNT] > 1:  # of one alone it is 0, whatever was rounded
                slot = best(cache, rule)
                if not margin_without(cache, rule, slot) > beta:
                    break
                compare_slot(cache, rule, slot, width)
                leave(cache, slot, width)
    return len(y)


@inlined
def margin_without(cache: Cache, rule: Rule, slot: int) -> float:
    """y (f(z) - alpha y K(z,z)): how right the others are about it."""
    own = cache.slots[COEFFICIENTS, slot] * whole_self(rule, cache.slots[SELFS, slot])
    return cache.slots[LABELS, slot] * (cache.slots[FITS, slot] - own)


@inner
def best(cache: Cache, rule: Rule) -> int:
    """The slot where that is largest; of equal ones the oldest."""
    found, most = 0, margin_without(cache, rule, 0)
    for slot in range(1, cache.counts[COUNT]):
        margin = margin_without(cache, rule, slot)
        if margin > most or (margin == most and cache.slots[BORN, slot] < cache.slots[BORN, found]):
            found, most = slot, margin
    return found


@inner
def leave(cache: Cache, slot: int, width: int) -> None:
    """Remove a support; `row` holds K(z, it)."""
    coefficient = cache.slots[COEFFICIENTS, slot]
    for j in range(cache.counts[COUNT]):
        cache.slots[FITS, j] -= coefficient * cache.slots[ROW, j]
    drop(cache, slot, width)
    cache.counts[EVICTIONS] += 1


@inlined
def enter(cache: Cache, rule: Rule, places: Places, numbers: Vector, width: int, y: int, plain: float) -> None:
    """Insert the example; `values` holds K(z,x), and there is room. plain: K(x,x), see `put`."""
    count = cache.counts[COUNT]
    score = score_of(cache)
    for j in range(count):
        cache.slots[FITS, j] += y * cache.slots[VALUES, j]
    put(cache, count, places, numbers, width, y, np.float64(y), plain)
    cache.slots[FITS, count] = score + y * whole_self(rule, plain)
    cache.counts[UPDATES] += 1
