"""Neumaier's sum, compiled: the twin of `Total.add` in total.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import borrowing_inner, compiled


@compiled
def add_all(total: float, lost: float, values: NDArray[Any]) -> tuple[float, float]:
    """Return the sum and its compensation after adding values (numbers,) in order."""
    for i in range(len(values)):
        value = values[i]
        new = total + value
        if abs(total) >= abs(value):
            lost += (total - new) + value
        else:
            lost += (value - new) + total
        total = new
    return total, lost


@borrowing_inner
def put(totals: NDArray[np.float64], k: int, value: float) -> None:
    """Add a value to the total at position k of totals, whose compensation is at position k + 1 (Neumaier)."""
    old = totals[k]
    new = old + value
    if abs(old) >= abs(value):
        totals[k + 1] += (old - new) + value
    else:
        totals[k + 1] += (value - new) + old
    totals[k] = new
