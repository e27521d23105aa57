"""The tighter Perceptron's rule: the support whose loss leaves the fewest mistakes on the others makes room.

gram[i,j] = K(z_i,z_j), by slots.

Arguments of the loops that play
    cache    Cache, and rule: kernel/_loops/cache.py says what they are; rows: those of kernel/_loops/rows.py
    y        (rows,) labels -1 and +1
    scores   (rows,) out: f of each row before it was learned from
    gram     (slots, slots) changed
"""

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
    """Play the rows from `first` on, until there is no room; the row to go on with."""
    width = rows[3]
    for t in range(first, len(y)):
        here, x = row_of(rows, t)
        score = compare(cache, rule, here, x, width, at.VALUES)
        scores[t] = score
        if inserts(score, y[t], beta):
            own = self_of(rule, square_of(x))
            if not add(cache, rule, here, x, width, y[t], own, budget, gram):
                return t
    return len(y)


@inlined
def add(
    cache: Cache, rule: Rule, places: Places, numbers: Vector, width: int, y: int, plain: float, budget: int,
    gram: NDArray[np.float64],
) -> bool:  # fmt: skip
    """The example takes the next slot, or that of the least useful; False, and nothing done, if there is no room."""
    counts = cache.counts
    full = counts[at.COUNT] >= budget
    slot = counts[at.COUNT] - full  # any taken one, for the moment
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
    """The slot without which f makes the fewest mistakes on the supports, all of them; of equal ones the oldest."""
    count = cache.counts[at.COUNT]
    coefficients, labels = cache.slots[at.COEFFICIENTS, :count], cache.slots[at.LABELS, :count]
    fits = cache.scratch[at.BASE, :count]
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
