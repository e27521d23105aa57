"""Counts of scores by label, in bins of constant relative width (`Ranking` of game/metrics.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled

DIGITS = 7
"""Binary digits of a score after the leading one that determine its bin, in addition to its power of 2."""


@compiled
def count(
    scores: NDArray[np.float64], bits: NDArray[np.int64], y: NDArray[np.int8], counts: NDArray[np.int64],
    only: NDArray[np.float64],
) -> None:  # fmt: skip
    """Count each score in its bin.

    Half of the bins are for each sign. They cover as many powers of 2 above 1 as below; scores beyond share the last
    bin.

    Args:
        scores: (rows,) scores.
        bits: (rows,) the same memory as integers.
        y: (rows,) labels -1 and +1.
        counts: (bins, 2) number of scores with label -1 and +1; changed.
        only: (bins,) the common value of all scores of a bin, NaN if they differ; changed.
    """
    half = len(only) // 2
    least = (1023 << DIGITS) - half // 2
    for t in range(len(scores)):
        score = scores[t]
        known, below = np.int64(score == score), np.int64(score < 0.0)
        size = min(max(((bits[t] & 0x7FFFFFFFFFFFFFFF) >> (52 - DIGITS)) - least, 0), half - 1)
        place = half + ((size * known) ^ -below)  # branch-free: half of the branches would be mispredicted
        if only[place] != score:
            only[place] = np.nan if counts[place, 0] + counts[place, 1] > 0 else score
        counts[place, (y[t] + 1) >> 1] += 1
