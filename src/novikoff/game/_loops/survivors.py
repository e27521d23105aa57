"""Search for the hypotheses that predicted longest, from the mistakes, in one pass over the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

Counts = NDArray[np.int64]

BLOCK = 1024
"""Number of rounds whose mistakes are collected before they are processed."""
MISTAKES, SINCE, FOUND = range(3)
"""Positions in `counts`: number of mistakes; first index of the present hypothesis; number of survivors."""


@inlined
def shortest(lengths: Counts, firsts: Counts) -> int:
    """Return the position of the shortest survivor; among equally short ones, of the latest.

    lengths, firsts   (survivors,) rounds that each predicted, and its first round
    """
    least = 0
    for k in range(1, len(lengths)):
        if lengths[k] < lengths[least] or (lengths[k] == lengths[least] and firsts[k] > firsts[least]):
            least = k
    return least


@compiled
def see(
    predictions: NDArray[Any], y: NDArray[Any], before: int, lengths: Counts, firsts: Counts, counts: Counts
) -> None:
    """Process rounds in order: a mistake ends the hypothesis that made it.

    A survivor is stored while there is room, then replaces the shortest if it is longer. The positions of mistakes are
    first collected without branches, which could not be predicted, and then processed.

    Args:
        predictions: (rounds,) predicted labels.
        y: (rounds,) observed labels.
        before: Number of earlier rounds.
        lengths: (survivors,) rounds that each survivor predicted; changed.
        firsts: (survivors,) first index of each survivor; changed.
        counts: (3,) MISTAKES, SINCE and FOUND; changed.
    """
    ends = np.empty(BLOCK, np.int64)
    since, place = counts[SINCE], counts[FOUND]
    if place == len(lengths):
        place = shortest(lengths, firsts)
    least = lengths[place]  # 0 while there is room
    for start in range(0, len(y), BLOCK):
        predicted, right = predictions[start : start + BLOCK], y[start : start + BLOCK]
        found = np.uint64(0)  # unsigned, so that numba omits the check for negative indices
        for t in range(len(predicted)):
            ends[found] = before + start + t + 1  # the hypothesis predicted everything up to its mistake
            found += np.uint64(predicted[t] != right[t])
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
