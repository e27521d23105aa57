"""Rule of the tighter Perceptron: remove the support whose removal causes the fewest mistakes on the supports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernel._loops import cache as at
from novikoff.kernel._loops.cache import Cache, Places, Rows, Rule, Vector
from novikoff.kernel._loops.supports import compare, inserts, put, room_for, row_of, self_of, square_of, whole_self
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import dense


@compiled
def learn_many(
    cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int8], first: int, scores: Vector, budget: int,
    beta: float, gram: NDArray[np.float64],
) -> int:  # fmt: skip
    """Play the rows from `first` on until the arrays are full; return the row to resume from.

    Args:
        cache: Supports, changed.
        rule: Kernel.
        rows: Rows of kernel/_loops/rows.py.
        y: (rows,) labels -1 and +1.
        first: First row to play.
        scores: (rows,) output: f of each row before learning from it.
        budget: Largest number of supports.
        beta: Margin at or below which an example is inserted.
        gram: (slots, slots) K(z_i, z_j) by slots, changed.
    """
    width = rows[3]
    for t in range(first, len(y)):
        here, x = row_of(rows, t)
        score = compare(cache, rule, here, x, width, at.VALUES)
        scores[t] = score
        if inserts(score, y[t], beta):
            plain = self_of(rule, square_of(x))
            if not add(cache, rule, here, x, width, y[t], plain, budget, gram):
                return t
    return len(y)


@inlined
def add(
    cache: Cache, rule: Rule, places: Places, numbers: Vector, width: int, y: int, plain: float, budget: int,
    gram: NDArray[np.float64],
) -> bool:  # fmt: skip
    """Insert an example in the next slot or the least useful one; return False and do nothing if there is no room.

    Args:
        cache: Supports, changed; scratch[VALUES] must hold K(z,x).
        rule: Kernel.
        places: Features of the example, if sparse.
        numbers: Values of the example.
        width: Number of features; -1 for sparse rows.
        y: Label.
        plain: K(x,x) before normalisation and bias.
        budget: Largest number of supports.
        gram: (slots, slots) K(z_i, z_j) by slots, changed.
    """
    counts = cache.counts
    full = counts[at.COUNT] >= budget
    slot = counts[at.COUNT] - full  # if full, any occupied slot serves to check the room
    if slot >= len(gram) or not room_for(cache, places, slot, width):
        return False
    if full:
        slot = least_useful(cache, gram)
        counts[at.EVICTIONS] += 1
    for j in range(counts[at.COUNT]):
        gram[slot, j] = cache.scratch[at.VALUES, j]
        gram[j, slot] = cache.scratch[at.VALUES, j]
    gram[slot, slot] = whole_self(rule, plain)
    put(cache, slot, places, numbers, width, y, np.float64(y), plain)
    counts[at.UPDATES] += 1
    return True


@inlined
def least_useful(cache: Cache, gram: NDArray[np.float64]) -> int:
    """Return the slot without which f makes the fewest mistakes on all supports; on a tie the oldest.

    gram (slots, slots) has K of each pair of supports, and is read up to their number.
    """
    count = cache.counts[at.COUNT]
    coefficients, labels = cache.slots[at.COEFFICIENTS, :count], cache.slots[at.LABELS, :count]
    fits = cache.scratch[at.BASE, :count]  # f of every support
    for k in range(count):
        fits[k] = dense(coefficients, gram[k, :count])
    found, fewest = 0, count + 1
    for slot in range(count):
        row, coefficient = gram[slot, :count], coefficients[slot]
        wrong = 0
        for k in range(count):
            wrong += (fits[k] - coefficient * row[k] < 0.0) != (labels[k] < 0.0)
        if wrong < fewest or (wrong == fewest and cache.slots[at.BORN, slot] < cache.slots[at.BORN, found]):
            found, fewest = slot, wrong
    return found
