"""Compensated sum of many numbers, which does not depend on their division into batches.

Neumaier's method: the float sum is accompanied by the sum of the rounding errors. Numbers are added one at a time, in
order, in Python and in the compiled twin, so batches of any size give the same bits.
After n numbers of one sign the relative error of the value is at most 2^-52, while n < 2^50.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

FEW = 32
"""Number of values up to which Python adds them; for more, the compiled loop is faster."""


@dataclass(slots=True)
class Total:
    """A sum, read by `float(total)`.

    Attributes:
        sum: Sum in floats.
        lost: Sum of the rounding errors.
    """

    sum: float = 0.0
    lost: float = 0.0

    def __float__(self) -> float:
        return self.sum + self.lost

    def add(self, value: float) -> None:
        """Add one number."""
        new = self.sum + value
        larger, smaller = (self.sum, value) if abs(self.sum) >= abs(value) else (value, self.sum)
        self.lost += (larger - new) + smaller
        self.sum = new

    def add_all(self, values: NDArray[Any]) -> None:
        """Add many numbers, in order."""
        if len(values) <= FEW:
            for value in values.tolist():
                self.add(value)
            return
        from novikoff.numerics.totals import add_all

        self.sum, self.lost = add_all(self.sum, self.lost, values)
