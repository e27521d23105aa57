"""Supports in flat arrays (kernel/_loops/cache.py): values K(z, x) of all supports z for one x, insertion and removal.

The inner loop is over supports, in vector registers (kernel/_loops/blocks.py). If `points` would take too much memory,
a sparse x is scattered into `spread` and multiplied with every support. Either way sums run from the first feature to
the last, and absent features add zeros. So dense, sparse and wide rows agree to the bit, except for ||x-z||^2, which is
a sum of squared differences for dense rows only.

Common arguments: cache, the supports; rule, the kernel; places and numbers, the features and values of one row (places
is unused for dense rows); width, the number of features, -1 for sparse rows.
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
    """Return ||x||^2, summed in the order of <x,x>."""
    total = 0.0
    for k in range(len(numbers)):
        total += numbers[k] * numbers[k]
    return total


@inlined
def self_of(rule: Rule, square: float) -> float:
    """Return K(x,x) before normalisation and bias, from ||x||^2."""
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
    """Return K(x,x) from its value before normalisation and bias."""
    if rule[4]:
        return (1.0 if plain > 0.0 else 0.0) + rule[5]
    return plain + rule[5]


@inlined
def span(rows: Rows, t: int) -> tuple[Any, Any]:
    """Return the first and the end entry of row t."""
    indptr, _, _, width = rows
    if width >= 0:
        return t * width, (t + 1) * width
    return np.int64(indptr[t]), np.int64(indptr[t + 1])


@inlined
def row_of(rows: Rows, t: int) -> tuple[Any, Any]:
    """Return the features and values of row t."""
    start, stop = span(rows, t)
    return rows[1][start:stop], rows[2][start:stop]


@inner
def compare(cache: Cache, rule: Rule, places: Places, numbers: Vector, width: int, to: int) -> float:
    """Write scratch[to, j] = K(z_j, x) for every support, and return f(x); `to` is VALUES or ROW."""
    kind, gamma, degree, constant, normalized, bias2 = rule
    slots, points = cache.slots, cache.points
    out = cache.scratch[to]
    count = cache.counts[at.COUNT]
    if count == 0:
        return 0.0
    blocks = (count + BLOCK - 1) // BLOCK
    square = square_of(numbers) if width < 0 or normalized else 0.0
    # First <x, z> of every support z, or ||x-z||^2 for dense rows of the RBF kernel; then K from it.
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
        known = len(places)  # features beyond `points` are 0 in every support
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
                out[j] = distance if distance > 0.0 else 0.0  # cancellation may leave a small negative number
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
    """Replace out[j] by (constant + out[j])^degree for j < count; base (slots,) is scratch."""
    for j in range(count):
        base[j] = constant + out[j]
        out[j] = base[j]
    for _ in range(degree - 1):
        for j in range(count):
            out[j] *= base[j]


@inlined
def against_spread(cache: Cache, places: Places, numbers: Vector, out: Vector) -> None:
    """Write out[j] = <x, z_j> for every sparse support, with x scattered into `spread`."""
    spread, ends, all_places, all_numbers = cache.spread, cache.ends, cache.places, cache.numbers
    for k in range(len(places)):
        if places[k] < len(spread):
            spread[places[k]] = numbers[k]
    for j in range(cache.counts[at.COUNT]):
        total = 0.0
        for k in range(np.uint64(ends[j, 0]), np.uint64(ends[j, 1])):
            total += spread[all_places[k]] * all_numbers[k]
        out[j] = total
    for k in range(len(places)):  # `spread` is 0 between calls
        if places[k] < len(spread):
            spread[places[k]] = 0.0


@inner
def compare_slot(cache: Cache, rule: Rule, slot: int, width: int) -> None:
    """Write scratch[ROW, j] = K(z_j, z_slot) for every support."""
    start, stop, numbers = 0, 0, cache.example
    if width >= 0:
        points, block, lane = cache.points, slot // BLOCK, slot % BLOCK
        for i in range(width):
            numbers[i] = points[block, i, lane]
    else:
        start, stop = cache.ends[slot, 0], cache.ends[slot, 1]
        numbers = cache.numbers[start:stop]
    # One call for dense and sparse rows: a second call site would be compiled, and inlined, a second time.
    compare(cache, rule, cache.places[start:stop], numbers, width, at.ROW)


@inlined
def score_of(cache: Cache) -> float:
    """Return f(x) from scratch[VALUES], summed in the order of `compare`: eight lanes by slot (numerics/lanes.py)."""
    slots, count = cache.slots, cache.counts[at.COUNT]
    return dense(slots[at.COEFFICIENTS, :count], cache.scratch[at.VALUES, :count])


@compiled
def score_rows(cache: Cache, rule: Rule, rows: Rows, scores: Vector) -> None:
    """Write f of every row to scores (rows,)."""
    for t in range(len(scores)):
        here, x = row_of(rows, t)
        scores[t] = compare(cache, rule, here, x, rows[3], at.VALUES)


@compiled
def cross(cache: Cache, rule: Rule, rows: Rows, out: NDArray[np.float64]) -> None:
    """Write out[t, j] = K(z_j, x_t) for every row t; out is (rows, supports)."""
    values, count = cache.scratch[at.VALUES], cache.counts[at.COUNT]
    for t in range(len(out)):
        here, x = row_of(rows, t)
        compare(cache, rule, here, x, rows[3], at.VALUES)
        for j in range(count):  # an assignment of slices takes two seconds to compile
            out[t, j] = values[j]


@compiled
def fill(cache: Cache, rule: Rule, rows: Rows, count: int) -> None:
    """Insert the first `count` rows as supports with coefficient 1, in empty arrays with room for them."""
    for t in range(count):
        here, x = row_of(rows, t)
        put(cache, t, here, x, rows[3], 1, 1.0, self_of(rule, square_of(x)))


@compiled
def selfs_of(rule: Rule, rows: Rows, out: Vector) -> None:
    """Write K(x,x) of every row to out (rows,)."""
    for t in range(len(out)):
        _, x = row_of(rows, t)
        out[t] = whole_self(rule, self_of(rule, square_of(x)))


@inlined
def inserts(score: float, y: int, beta: float) -> bool:
    """Return whether the example is inserted: on mistakes if beta is 0, else if y f(x) <= beta."""
    if beta == 0.0:
        return (score < 0.0) == (y > 0)
    return y * score <= beta


@inlined
def room_for(cache: Cache, places: Places, slot: int, width: int) -> bool:
    """Return whether the arrays have room for the row at this slot."""
    if slot >= cache.slots.shape[1]:
        return False
    if width >= 0:
        return True
    reach = places[len(places) - 1] + 1 if len(places) > 0 else 0
    known = len(cache.spread) if len(cache.spread) > 0 else cache.points.shape[1]
    return reach <= known and cache.counts[at.FILLED] + len(places) <= len(cache.numbers)


@inlined
def put(
    cache: Cache, slot: int, places: Places, numbers: Vector, width: int, y: int, coefficient: float, plain: float
) -> None:
    """Store a row, for which there is room, as the support of a slot: the next free one or one to overwrite.

    Args:
        cache: Supports, changed.
        slot: Slot to write.
        places: Features of the row, if sparse.
        numbers: Values of the row.
        width: Number of features; -1 for sparse rows.
        y: Label.
        coefficient: Coefficient of the support.
        plain: K(x,x) before normalisation and bias.
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
    slots[at.SELFS, slot] = plain
    slots[at.COEFFICIENTS, slot] = coefficient
    slots[at.LABELS, slot] = y
    slots[at.BORN, slot] = counts[at.UPDATES]
    if not taken:
        counts[at.COUNT] += 1


@inlined
def wipe(cache: Cache, slot: int) -> None:
    """Set the features of a sparse support to 0 in `points`."""
    if len(cache.spread) == 0:
        for k in range(cache.ends[slot, 0], cache.ends[slot, 1]):
            cache.points[slot // BLOCK, cache.places[k], slot % BLOCK] = 0.0


@inlined
def drop(cache: Cache, slot: int, width: int) -> None:
    """Remove a support, and move the last one into its slot."""
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
    """Copy the sparse rows of all supports into larger arrays, consecutively in slot order."""
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
