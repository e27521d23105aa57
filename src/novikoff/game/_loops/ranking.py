"""Scores counted by label, in bins that lie closer the closer they are to 0 (`Area` of game/metrics.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled

DIGITS = 7
"""Binary digits of a score that its bin tells, beside its power of 2."""


@compiled
def count(
    scores: NDArray[np.float64], bits: NDArray[np.int64], y: NDArray[np.int8], counts: NDArray[np.int64],
    only: NDArray[np.float64],
) -> None:  # fmt: skip
    """Count each score in its bin. Half of the bins are those of a sign; the powers of 2 that they tell are as many
    above 1 as below, and what is beyond shares the last.

    scores   (rows,) and bits: (rows,), the same memory; y: (rows,) labels -1 and +1
    counts   (bins, 2) of -1 and of +1, changed
    only     (bins,) the score of all that are in it, not a number if they differ; changed
    """
    half = len(only) // 2
    least = (1023 << DIGITS) - half // 2
    for t in range(len(scores)):
        score = scores[t]
        known, below = np.int64(score == score), np.int64(score < 0.0)
        size = min(max(((bits[t] & 0x7FFFFFFFFFFFFFFF) >> (52 - DIGITS)) - least, 0), half - 1)
        place = half + ((size * known) ^ -below)  # no branches: half of them would be foreseen wrongly
        if only[place] != score:
            only[place] = np.nan if counts[place, 0] + counts[place, 1] > 0 else score
        counts[place, (y[t] + 1) >> 1] += 1
