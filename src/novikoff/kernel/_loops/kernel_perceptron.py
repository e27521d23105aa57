"""Rule of the kernel Perceptron: a mistake becomes a support, or adds to the coefficient of an equal support.

Arguments of the loops
    places    (entries,) features of a sparse row
    numbers   (entries,) its values, or (width,) those of a dense row
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernel._loops import cache as at
from novikoff.kernel._loops.blocks import BLOCK
from novikoff.kernel._loops.cache import Cache, Places, Rows, Rule, Vector
from novikoff.kernel._loops.supports import compare, put, room_for, row_of, self_of, square_of
from novikoff.numerics.compiled import compiled, inlined


@compiled
def learn_many(cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int8], first: int, scores: Vector) -> int:
    """Play the rows from `first` on until the arrays are full; return the row to resume from.

    Args:
        cache: Supports, changed.
        rule: Kernel.
        rows: Rows of kernel/_loops/rows.py.
        y: (rows,) labels -1 and +1.
        first: First row to play.
        scores: (rows,) output: f of each row before learning from it.
    """
    width = rows[3]
    for t in range(first, len(y)):
        here, x = row_of(rows, t)
        score = compare(cache, rule, here, x, width, at.VALUES)
        scores[t] = score
        if (-1 if score < 0.0 else 1) != y[t] and not add(cache, here, x, width, y[t], self_of(rule, square_of(x))):
            return t
    return len(y)


@inlined
def add(cache: Cache, places: Places, numbers: Vector, width: int, y: int, own: float) -> bool:
    """Add y K(x,.) to f; return False and do nothing if the arrays are full.

    Args:
        cache: Supports, changed.
        places: Features of the example, if sparse.
        numbers: Values of the example.
        width: Number of features; -1 for sparse rows.
        y: Label.
        own: K(x,x) before normalisation and bias.
    """
    slot = find(cache, places, numbers, width, y)
    if slot < 0:
        slot = cache.counts[at.COUNT]
        if not room_for(cache, places, slot, width):
            return False
        put(cache, slot, places, numbers, width, y, np.float64(y), own)
    else:
        cache.slots[at.COEFFICIENTS, slot] += y
    cache.counts[at.UPDATES] += 1
    return True


@inlined
def find(cache: Cache, places: Places, numbers: Vector, width: int, y: int) -> int:
    """Return the slot of the same example with the same label; -1 if there is none."""
    square = square_of(numbers)  # equal examples have equal norms: rows are compared only if these agree
    for slot in range(cache.counts[at.COUNT]):
        if (
            cache.slots[at.SQUARES, slot] == square
            and cache.slots[at.LABELS, slot] == y
            and same(cache, slot, places, numbers, width)
        ):
            return slot
    return -1


@inlined
def same(cache: Cache, slot: int, places: Places, numbers: Vector, width: int) -> bool:
    """Return whether this row is the example of the slot."""
    if width >= 0:
        for i in range(width):
            if cache.points[slot // BLOCK, i, slot % BLOCK] != numbers[i]:
                return False
        return True
    start, stop = cache.ends[slot, 0], cache.ends[slot, 1]
    if stop - start != len(places):
        return False
    for k in range(len(places)):
        if cache.places[start + k] != places[k] or cache.numbers[start + k] != numbers[k]:
            return False
    return True
