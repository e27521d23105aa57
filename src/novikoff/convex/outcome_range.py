"""Range of outcomes learned online, for a learner that plays outcomes from -1 to 1.

While all outcomes are within -1 .. 1, nothing is scaled. From the first one outside, every outcome is scaled by the
range of all outcomes so far, itself included: (y - middle) / half is from -1 to 1, and 0 while there is only one value.
A prediction is made before y is known: it is clipped to -1 .. 1, and scaled back by the range of the earlier outcomes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class OutcomeRange:
    """Smallest and largest outcome so far.

    Args:
        least: Smallest outcome so far; inf before the first.
        most: Largest outcome so far; -inf before the first.

    Attributes:
        scales: Whether an outcome was outside -1 .. 1, so that outcomes are scaled.
    """

    def __init__(self, least: float = math.inf, most: float = -math.inf) -> None:
        self.least, self.most = least, most
        self.scales = least < -1.0 or most > 1.0

    def scaled(self, y: Numbers) -> Numbers:
        """Return consecutive outcomes as they are played, each scaled by the range up to itself."""
        scales, middle, half = self._at(y)
        with np.errstate(divide="ignore", invalid="ignore"):
            within = np.where(half[1:] > 0.0, np.clip((y - middle[1:]) / half[1:], -1.0, 1.0), 0.0)
        return np.where(scales[1:], within, y)

    def scaled_back(self, predictions: Numbers, y: Numbers) -> Numbers:
        """Return the predictions of these outcomes, each scaled back by the range before its outcome."""
        scales, middle, half = (part[:-1] for part in self._at(y))
        return np.where(scales, middle + half * np.clip(predictions, -1.0, 1.0), predictions)

    def scaled_back_now(self, predictions: Numbers) -> Numbers:
        """Return predictions scaled back by the current range."""
        scales, middle, half = self._at(np.zeros(0))
        return np.where(scales, middle + half * np.clip(predictions, -1.0, 1.0), predictions)

    def see(self, y: Numbers) -> None:
        """Extend the range to these outcomes."""
        self.least = min(self.least, float(y.min(initial=math.inf)))
        self.most = max(self.most, float(y.max(initial=-math.inf)))
        self.scales = self.least < -1.0 or self.most > 1.0

    def _at(self, y: Numbers) -> tuple[NDArray[np.bool_], Numbers, Numbers]:
        """Return whether outcomes are scaled, middle and half range, before the first outcome and after each."""
        least = np.minimum.accumulate(np.append(self.least, y))
        most = np.maximum.accumulate(np.append(self.most, y))
        scales = (least < -1.0) | (most > 1.0)
        least, most = np.where(scales, least, -1.0), np.where(scales, most, 1.0)
        return scales, (least + most) / 2.0, (most - least) / 2.0
