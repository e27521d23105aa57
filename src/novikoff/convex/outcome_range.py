"""The range of outcomes, learned as they come: for a learner that plays outcomes from -1 to 1.

As long as no outcome is beyond -1 .. 1, nothing is changed. From the first that is, every outcome is scaled by the
range of all outcomes so far, itself included: (y - middle) / half is from -1 to 1, and 0 while there is but one value.
A prediction is made before y is known: it is cut off at -1 and 1, and scaled back by the range of the outcomes before.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class OutcomeRange:
    """The smallest and the largest outcome so far; both infinite before the first.

    scales   was one beyond -1 .. 1?
    """

    def __init__(self, least: float = math.inf, most: float = -math.inf) -> None:
        self.least, self.most = least, most
        self.scales = least < -1.0 or most > 1.0

    def scaled(self, y: Numbers) -> Numbers:
        """Outcomes that come one after the other, each as it is played."""
        scales, middle, half = self._at(y)
        with np.errstate(divide="ignore", invalid="ignore"):
            within = np.where(half[1:] > 0.0, np.clip((y - middle[1:]) / half[1:], -1.0, 1.0), 0.0)
        return np.where(scales[1:], within, y)

    def said(self, predictions: Numbers, y: Numbers) -> Numbers:
        """Predictions of these outcomes, scaled back by what was known before each."""
        scales, middle, half = (part[:-1] for part in self._at(y))
        return np.where(scales, middle + half * np.clip(predictions, -1.0, 1.0), predictions)

    def asked(self, predictions: Numbers) -> Numbers:
        """Predictions made now, scaled back."""
        scales, middle, half = self._at(np.zeros(0))
        return np.where(scales, middle + half * np.clip(predictions, -1.0, 1.0), predictions)

    def see(self, y: Numbers) -> None:
        """Outcomes have come."""
        self.least = min(self.least, float(y.min(initial=math.inf)))
        self.most = max(self.most, float(y.max(initial=-math.inf)))
        self.scales = self.least < -1.0 or self.most > 1.0

    def _at(self, y: Numbers) -> tuple[NDArray[np.bool_], Numbers, Numbers]:
        """Before the first of these outcomes and after each: are they scaled, and by what middle and half range?"""
        least = np.minimum.accumulate(np.append(self.least, y))
        most = np.maximum.accumulate(np.append(self.most, y))
        scales = (least < -1.0) | (most > 1.0)
        least, most = np.where(scales, least, -1.0), np.where(scales, most, 1.0)
        return scales, (least + most) / 2.0, (most - least) / 2.0
