"""Neumaier's sum, compiled: the twin of `Total.add` in totals.py."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from novikoff.kernels.compiled import compiled


@compiled
def add_all(total: float, lost: float, values: NDArray[Any]) -> tuple[float, float]:
    """The sum and what it lost after all values, in order."""
    for i in range(len(values)):
        value = values[i]
        new = total + value
        if abs(total) >= abs(value):
            lost += (total - new) + value
        else:
            lost += (value - new) + total
        total = new
    return total, lost
