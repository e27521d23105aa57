"""The hypotheses that predicted longest, found from the mistakes: one pass over the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

Counts = NDArray[np.int64]

BLOCK = 1024
MISTAKES, SINCE, FOUND = range(3)
"""Places in counts: mistakes so far; the first index of the present hypothesis; how many survivors there are."""


@inlined
def shortest(lengths: Counts, firsts: Counts) -> int:
    """The place of the shortest; of equally short ones, of that which came last."""
    least = 0
    for k in range(1, len(lengths)):
        if lengths[k] < lengths[least] or (lengths[k] == lengths[least] and firsts[k] > firsts[least]):
            least = k
    return least


@compiled
def see(
    predictions: NDArray[Any], y: NDArray[Any], before: int, lengths: Counts, firsts: Counts, counts: Counts
) -> None:
    """Rounds in order, after `before` others: a mistake ends the hypothesis that made it.

    A survivor stays while there is room, then in place of the shortest, if it is longer.
    Where mistakes are is written down without a branch, which could not be foretold; then these are looked at.

    predictions   (rounds,) and y: (rounds,)
    lengths       (survivors,) and firsts: (survivors,), rounds that each predicted and the first of them, changed
    counts        (3,) MISTAKES, SINCE and FOUND, changed
    """
    ends = np.empty(BLOCK, np.int64)
    since, place = counts[SINCE], counts[FOUND]
    if place == len(lengths):
        place = shortest(lengths, firsts)
    least = lengths[place]  # 0 where there is room
    for start in range(0, len(y), BLOCK):
        said, right = predictions[start : start + BLOCK], y[start : start + BLOCK]
        found = np.uint64(0)  # not below 0: numba need not ask
        for t in range(len(said)):
            ends[found] = before + start + t + 1  # the hypothesis predicted all up to its mistake
            found += np.uint64(said[t] != right[t])
        for k in range(found):
            length = ends[k] - since
            if length > least:
                lengths[place], firsts[place] = length, since
                if counts[FOUND] < len(lengths):
                    counts[FOUND] += 1
                place = counts[FOUND]
                if place == len(lengths):
                    place = shortest(lengths, firsts)
                least = lengths[place]
            since = ends[k]
        counts[MISTAKES] += np.int64(found)
    counts[SINCE] = since
