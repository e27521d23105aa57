"""The coins of numerics/coins.py, compiled; `start` is the generator's state before the first coin."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.numerics import coins
from novikoff.numerics.compiled import inlined

GOLDEN, FIRST, SECOND = np.uint64(coins.GOLDEN), np.uint64(coins.FIRST), np.uint64(coins.SECOND)


@inlined
def coin(start: int, t: int) -> Any:
    """Return coin number t: the same bits as coins.coin."""
    z = np.uint64(start) + np.uint64(t + 1) * GOLDEN
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@inlined
def uniform(start: int, t: int) -> Any:
    """Return coin number t as a number in [0, 1): the same as coins.uniform."""
    return np.float64(coin(start, t) >> np.uint64(11)) * 2.0**-53
