"""Supports in flat arrays (kernel/_loops/cache.py): K(z, x) for all supports z and one x; a support put in, or dropped.

The loop over supports is the inner one, on vectors (kernel/_loops/blocks.py). Where `points` would take too much
memory, a sparse x is spread out in `spread` and every row is multiplied with it. Sums go from the first feature to the
last, either way: the other features add zeros. So arrays, sparse rows and wide ones agree to the bit, ||x-z||^2 apart,
which is a sum of squared differences for arrays alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.kernel._loops import cache as at
from novikoff.kernel._loops.blocks import BLOCK, distances, distances_of_two, exponentials, products, sparse_products
from novikoff.kernel._loops.cache import Cache, Places, Rows, Rule, Vector
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.lanes import dense


@inlined
def square_of(numbers: Vector) -> float:
    """||x||^2, summed as <x,x> is."""
    total = 0.0
    for k in range(len(numbers)):
        total += numbers[k] * numbers[k]
    return total


@inlined
def self_of(rule: Rule, square: float) -> float:
    """K(x,x) before it is normalised and biased; of ||x||^2."""
    kind, _, degree, constant, _, _ = rule
    if kind == at.RBF:
        return 1.0
    base = constant + square
    value = base
    for _ in range(degree - 1):
        value *= base
    return value


@inlined
def whole_self(rule: Rule, plain: float) -> float:
    """K(x,x), of the value that is neither normalised nor biased."""
    if rule[4]:
        return (1.0 if plain > 0.0 else 0.0) + rule[5]
    return plain + rule[5]


@inlined
def span(rows: Rows, t: int) -> tuple[Any, Any]:
    """Where row t is."""
    indptr, _, _, width = rows
    if width >= 0:
        return t * width, (t + 1) * width
    return np.int64(indptr[t]), np.int64(indptr[t + 1])


@inlined
def row_of(rows: Rows, t: int) -> tuple[Any, Any]:
    """The places and numbers of row t."""
    start, stop = span(rows, t)
    return rows[1][start:stop], rows[2][start:stop]


@inner
def compare(cache: Cache, rule: Rule, places: Places, numbers: Vector, width: int, to: int) -> float:
    """scratch[to, j] = K(z_j, x) for every support; `to` is VALUES or ROW. And f(x)."""
    kind, gamma, degree, constant, normalized, bias2 = rule
    slots, points = cache.slots, cache.points
    out = cache.scratch[to]
    count = cache.counts[at.COUNT]
    if count == 0:
        return 0.0
    blocks = (count + BLOCK - 1) // BLOCK
    square = square_of(numbers) if width < 0 or normalized else 0.0
    if width >= 0:
        if kind == at.RBF:
            for b in range(0, blocks - 1, 2):
                distances_of_two(points, np.uint64(b), numbers, out)
            if blocks % 2 == 1:
                distances(points, np.uint64(blocks - 1), numbers, out)
        else:
            for b in range(blocks):
                products(points, np.uint64(b), numbers, out)
    elif len(cache.spread) > 0:
        against_spread(cache, places, numbers, out)
    else:
        known = len(places)
        while known > 0 and places[known - 1] >= points.shape[1]:
            known -= 1
        near, inside = numbers[:known], places[:known]
        for b in range(blocks):
            sparse_products(points, np.uint64(b), near, out, inside)
    if kind == at.RBF:
        if width < 0:
            squares = slots[at.SQUARES]
            for j in range(count):
                distance = (square + squares[j]) - 2.0 * out[j]
                out[j] = distance if distance > 0.0 else 0.0
        for b in range(blocks):
            exponentials(out, np.uint64(b), gamma)
    elif kind == at.POLYNOMIAL:
        powers(out, cache.scratch[at.BASE], count, degree, constant)
    if normalized:
        root = np.sqrt(self_of(rule, square))
        selfs = slots[at.SELFS]
        for j in range(count):
            length = root * np.sqrt(selfs[j])
            out[j] = out[j] / length if length > 0.0 else 0.0
    if bias2 != 0.0:
        for j in range(count):
            out[j] += bias2
    return dense(slots[at.COEFFICIENTS, :count], out[:count])


@inlined
def powers(out: Vector, base: Vector, count: int, degree: int, constant: float) -> None:
    """out[j] = (constant + out[j])^degree."""
    for j in range(count):
        base[j] = constant + out[j]
        out[j] = base[j]
    for _ in range(degree - 1):
        for j in range(count):
            out[j] *= base[j]


@inlined
def against_spread(cache: Cache, places: Places, numbers: Vector, out: Vector) -> None:
    """out[j] = <x, z_j>, x spread out."""
    spread, ends, all_places, all_numbers = cache.spread, cache.ends, cache.places, cache.numbers
    for k in range(len(places)):
        if places[k] < len(spread):
            spread[places[k]] = numbers[k]
    for j in range(cache.counts[at.COUNT]):
        total = 0.0
        for k in range(np.uint64(ends[j, 0]), np.uint64(ends[j, 1])):
            total += spread[all_places[k]] * all_numbers[k]
        out[j] = total
    for k in range(len(places)):
        if places[k] < len(spread):
            spread[places[k]] = 0.0


@inner
def compare_slot(cache: Cache, rule: Rule, slot: int, width: int) -> None:
    """row[j] = K(z_j, z_slot) for every support."""
    start, stop, numbers = 0, 0, cache.example
    if width >= 0:
        points, block, lane = cache.points, slot // BLOCK, slot % BLOCK
        for i in range(width):
            numbers[i] = points[block, i, lane]
    else:
        start, stop = cache.ends[slot, 0], cache.ends[slot, 1]
        numbers = cache.numbers[start:stop]
    compare(cache, rule, cache.places[start:stop], numbers, width, at.ROW)  # one call: a second must be compiled too


@inlined
def score_of(cache: Cache) -> float:
    """f(x), of the values: eight lanes by slot (numerics/lanes.py), as `compare` sums it."""
    slots, count = cache.slots, cache.counts[at.COUNT]
    return dense(slots[at.COEFFICIENTS, :count], cache.scratch[at.VALUES, :count])


@compiled
def score_rows(cache: Cache, rule: Rule, rows: Rows, scores: Vector) -> None:
    """f of every row, in scores (rows,)."""
    for t in range(len(scores)):
        here, x = row_of(rows, t)
        scores[t] = compare(cache, rule, here, x, rows[3], at.VALUES)


@compiled
def cross(cache: Cache, rule: Rule, rows: Rows, out: NDArray[np.float64]) -> None:
    """out[t, j] = K(z_j, x_t) for every row t; out: (rows, supports)."""
    values, count = cache.scratch[at.VALUES], cache.counts[at.COUNT]
    for t in range(len(out)):
        here, x = row_of(rows, t)
        compare(cache, rule, here, x, rows[3], at.VALUES)
        for j in range(count):  # an assignment of slices takes two seconds to compile
            out[t, j] = values[j]


@compiled
def fill(cache: Cache, rule: Rule, rows: Rows, count: int) -> None:
    """The first rows become supports, in empty slots for which there is room; coefficients are 1."""
    for t in range(count):
        here, x = row_of(rows, t)
        put(cache, t, here, x, rows[3], 1, 1.0, self_of(rule, square_of(x)))


@compiled
def selfs_of(rule: Rule, rows: Rows, out: Vector) -> None:
    """K(x,x) of every row, in out (rows,)."""
    for t in range(len(out)):
        _, x = row_of(rows, t)
        out[t] = whole_self(rule, self_of(rule, square_of(x)))


@inlined
def inserts(score: float, y: int, beta: float) -> bool:
    """Is the example to be inserted? With beta = 0, on mistakes."""
    if beta == 0.0:
        return (score < 0.0) == (y > 0)
    return y * score <= beta


@inlined
def room_for(cache: Cache, places: Places, slot: int, width: int) -> bool:
    """Is there room for the row at this slot?"""
    if slot >= cache.slots.shape[1]:
        return False
    if width >= 0:
        return True
    reach = places[len(places) - 1] + 1 if len(places) > 0 else 0
    known = len(cache.spread) if len(cache.spread) > 0 else cache.points.shape[1]
    return reach <= known and cache.counts[at.FILLED] + len(places) <= len(cache.numbers)


@inlined
def put(
    cache: Cache, slot: int, places: Places, numbers: Vector, width: int, y: int, coefficient: float, own: float
) -> None:
    """The row becomes the support of this slot, the next one or one that is taken; there is room for it.

    own   its K(x,x), before it is normalised and biased
    """
    block, lane, counts = slot // BLOCK, slot % BLOCK, cache.counts
    taken = slot < counts[at.COUNT]
    points, slots = cache.points, cache.slots
    if width >= 0:
        for i in range(width):
            points[block, i, lane] = numbers[i]
    else:
        if taken:
            wipe(cache, slot)
        start, all_places, all_numbers = counts[at.FILLED], cache.places, cache.numbers
        for k in range(len(places)):
            all_places[start + k] = places[k]
            all_numbers[start + k] = numbers[k]
            if len(cache.spread) == 0:
                points[block, places[k], lane] = numbers[k]
        counts[at.FILLED] = start + len(places)
        cache.ends[slot, 0] = start
        cache.ends[slot, 1] = start + len(places)
    slots[at.SQUARES, slot] = square_of(numbers)
    slots[at.SELFS, slot] = own
    slots[at.COEFFICIENTS, slot] = coefficient
    slots[at.LABELS, slot] = y
    slots[at.BORN, slot] = counts[at.UPDATES]
    if not taken:
        counts[at.COUNT] += 1


@inlined
def wipe(cache: Cache, slot: int) -> None:
    """Zeros for the features of a sparse row in `points`."""
    if len(cache.spread) == 0:
        for k in range(cache.ends[slot, 0], cache.ends[slot, 1]):
            cache.points[slot // BLOCK, cache.places[k], slot % BLOCK] = 0.0


@inlined
def drop(cache: Cache, slot: int, width: int) -> None:
    """Remove a support; the last one takes its slot."""
    last = cache.counts[at.COUNT] - 1
    block, lane, from_block, from_lane = slot // BLOCK, slot % BLOCK, last // BLOCK, last % BLOCK
    if width >= 0:
        for i in range(width):
            cache.points[block, i, lane] = cache.points[from_block, i, from_lane]
    else:
        wipe(cache, slot)
        wipe(cache, last)
        start, stop = cache.ends[last, 0], cache.ends[last, 1]
        if last != slot and len(cache.spread) == 0:
            for k in range(start, stop):
                cache.points[block, cache.places[k], lane] = cache.numbers[k]
        cache.ends[slot, 0], cache.ends[slot, 1] = start, stop
        cache.ends[last, 0], cache.ends[last, 1] = 0, 0
    for fact in range(len(cache.slots)):
        cache.slots[fact, slot] = cache.slots[fact, last]
    for row in range(len(cache.scratch)):
        cache.scratch[row, slot] = cache.scratch[row, last]
    cache.slots[at.COEFFICIENTS, last] = 0.0
    cache.counts[at.COUNT] = last


@compiled
def move_rows(old: Cache, new: Cache) -> None:
    """The sparse rows of all supports, into larger arrays, one after the other in slot order."""
    filled = 0
    for slot in range(old.counts[at.COUNT]):
        start, stop = old.ends[slot, 0], old.ends[slot, 1]
        new.ends[slot, 0] = filled
        for k in range(start, stop):
            new.places[filled] = old.places[k]
            new.numbers[filled] = old.numbers[k]
            if len(new.spread) == 0:
                new.points[slot // BLOCK, old.places[k], slot % BLOCK] = old.numbers[k]
            filled += 1
        new.ends[slot, 1] = filled
    new.counts[at.FILLED] = filled
