"""Total: a sum of many numbers that loses nothing worth mentioning, the same however they came in batches.

Method
    Neumaier's: beside the float sum stands what each addition rounded off. One number at a time, in order, in Python
    and compiled alike, so batches of any size leave the same bits.
Error
    After n numbers of one sign the value is within 2^-52 of the exact sum, relatively, while n < 2^50.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

FEW = 32
"""Numbers that are added in Python, before the compiled loop is worth calling."""


@dataclass(slots=True)
class Total:
    """The sum so far: `float(total)`."""

    sum: float = 0.0
    lost: float = 0.0

    def __float__(self) -> float:
        return self.sum + self.lost

    def add(self, value: float) -> None:
        """One more number."""
        new = self.sum + value
        larger, smaller = (self.sum, value) if abs(self.sum) >= abs(value) else (value, self.sum)
        self.lost += (larger - new) + smaller
        self.sum = new

    def add_all(self, values: NDArray[Any]) -> None:
        """Many more numbers, in order."""
        if len(values) <= FEW:
            for value in values.tolist():
                self.add(value)
            return
        from novikoff.numerics.totals import add_all

        self.sum, self.lost = add_all(self.sum, self.lost, values)
