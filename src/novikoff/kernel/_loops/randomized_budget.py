"""Rule of the Randomized Budget Perceptron: on a mistake with a full list, the new example takes a random slot.

The slot of mistake number t is floor(u B), where u in [0, 1) is a multiple of 2^-53: coin number t of
numerics/coins.py, whose state before the first coin is `start`.
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
    """Return the slot drawn by coin number t."""
    return np.int64(uniform(start, t) * budget)


@compiled
def learn_many(
    cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int8], first: int, scores: Vector, budget: int,
    start_coin: int,
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
        start_coin: State of the coins before the first one.
    """
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
    """Insert an example in the next slot or that of a random support; return False and do nothing if there is no room.

    Args:
        cache: Supports, changed.
        places: Features of the example, if sparse.
        numbers: Values of the example.
        width: Number of features; -1 for sparse rows.
        y: Label.
        self_product: K(x,x) before normalisation and bias.
        budget: Largest number of supports.
        start_coin: State of the coins before the first one.
    """
    counts = cache.counts
    full = counts[at.COUNT] >= budget
    slot = victim(start_coin, counts[at.UPDATES] + 1, budget) if full else counts[at.COUNT]
    # Dense rows are checked here, because calling `room_for` would take as long as everything else.
    if slot >= cache.slots.shape[1] or (width < 0 and not room_for(cache, places, slot, width)):
        return False
    put(cache, slot, places, numbers, width, y, np.float64(y), self_product)
    counts[at.UPDATES] += 1
    if full:
        counts[at.EVICTIONS] += 1
    return True
