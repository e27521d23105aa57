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

    Each sign has half of the bins. They cover as many powers of 2 above 1 as below; larger scores share the last bin of
    their sign, smaller ones the first.

    Args:
        scores: (rows,) scores.
        bits: (rows,) the same memory as integers.
        y: (rows,) labels -1 and +1.
        counts: (bins, 2) number of scores with label -1 and +1; changed.
        only: (bins,) the common value of all scores of a bin, NaN if they differ; changed.
    """
    # The exponent and the first DIGITS binary digits of |score|, read as one integer, number the bins in order of size.
    # `least` is that of the first bin: 1.0, whose exponent bits are 1023, is in the middle of the bins of its sign.
    half = len(only) // 2
    least = (1023 << DIGITS) - half // 2
    for t in range(len(scores)):
        score = scores[t]
        known, below = np.int64(score == score), np.int64(score < 0.0)
        size = min(max(((bits[t] & 0x7FFFFFFFFFFFFFFF) >> (52 - DIGITS)) - least, 0), half - 1)
        # half + size for a positive score, half - 1 - size for a negative one (x ^ -1 is -1 - x), half for NaN; without
        # branches, half of which would be mispredicted.
        place = half + ((size * known) ^ -below)
        if only[place] != score:
            only[place] = np.nan if counts[place, 0] + counts[place, 1] > 0 else score
        counts[place, (y[t] + 1) >> 1] += 1
