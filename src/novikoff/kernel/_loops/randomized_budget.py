"""The Randomized Budget Perceptron's rule: on a mistake with a full list, the new example takes a random slot.

The slot is floor(u B), u the coin of the mistake's number as a multiple of 2^-53 in [0, 1): that of numerics/coins.py,
whose state before the first coin is `start`.

Arguments of the loops that play
    cache    Cache, and rule: kernel/_loops/cache.py says what they are; rows: those of kernel/_loops/rows.py
    y        (rows,) labels -1 and +1
    scores   (rows,) out: f of each row before it was learned from
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.kernel._loops import cache as at
from novikoff.kernel._loops.cache import Cache, Places, Rows, Rule, Vector
from novikoff.kernel._loops.supports import compare, put, room_for, row_of, self_of, square_of
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.splitmix import uniform


@inlined
def victim(start: int, t: int, budget: int) -> Any:
    """The slot that coin number t names."""
    return np.int64(uniform(start, t) * budget)


@compiled
def learn_many(
    cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int8], first: int, scores: Vector, budget: int,
    start_coin: int,
) -> int:  # fmt: skip
    """Play the rows from `first` on, until there is no room; the row to go on with."""
    width = rows[3]
    for t in range(first, len(y)):
        here, x = row_of(rows, t)
        score = compare(cache, rule, here, x, width, at.VALUES)
        scores[t] = score
        if (-1 if score < 0.0 else 1) != y[t]:
            self_product = self_of(rule, square_of(x))
            if not add(cache, here, x, width, y[t], self_product, budget, start_coin):
                return t
    return len(y)


@inlined
def add(
    cache: Cache, places: Places, numbers: Vector, width: int, y: int, self_product: float, budget: int, start_coin: int
) -> bool:
    """The example takes the next slot, or that of a random support; False, and nothing done, if there is no room."""
    counts = cache.counts
    full = counts[at.COUNT] >= budget
    slot = victim(start_coin, counts[at.UPDATES] + 1, budget) if full else counts[at.COUNT]
    # What arrays need is asked here: the call would take as long as all the rest.
    if slot >= cache.slots.shape[1] or (width < 0 and not room_for(cache, places, slot, width)):
        return False
    put(cache, slot, places, numbers, width, y, np.float64(y), self_product)
    counts[at.UPDATES] += 1
    if full:
        counts[at.EVICTIONS] += 1
    return True
