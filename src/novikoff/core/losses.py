"""Losses: the cost of a prediction once the outcome is known.

zero-one   1 if the prediction is not the outcome, else 0; predictions and outcomes are any finite numbers
absolute   |p - y|, p and y from 0 to 1
squared    (p - y)^2, p and y from 0 to 1
log        -ln of the probability that the prediction p gives to the outcome y, 0 or 1. Predictions are first clipped to
           [clip, 1 - clip], so the loss is at most ln(1/clip); clipping the losses themselves would break convexity
table      no predictions: the losses of the experts are the data, from 0 to 1
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import Advice, InputError, Option, shown

NAMES = ("zero-one", "absolute", "squared", "log", "table")
ZERO_ONE, ABSOLUTE, SQUARED, LOG, TABLE = range(len(NAMES))
"""Codes of the losses for compiled loops: positions in `NAMES`."""
RANGES = ("finite", "from 0 to 1", "from 0 to 1", "from 0 to 1", "from 0 to 1")
"""Range of predictions (of losses, for a table), by code."""

CLIP = 1e-6
"""Default clip of the log loss."""
BEYOND = Advice("Scale it, leave the column out (", Option("without"), "), or pass another ", Option("loss"), ".")
"""Advice for values out of range."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One of the losses.

    Attributes:
        name: One of `NAMES`.
        clip: Clip of the log loss; 0 for other losses.
    """

    name: str
    clip: float = 0.0

    @classmethod
    def of(cls, name: str, clip: float = CLIP) -> Loss:
        """Return the loss of this name; `clip` applies to the log loss only."""
        if name not in NAMES:
            raise InputError(f"a loss must be one of {', '.join(NAMES)}: got {shown(name)}.")
        if name != "log":
            return cls(name)
        number = isinstance(clip, (int, float)) and not isinstance(clip, bool)
        if not number or not 1e-15 <= clip <= 0.25:
            raise InputError(f"clip must be a number from 1e-15 to 0.25: got {shown(clip)}. 1e-6 is usual.")
        return cls(name, float(clip))

    @property
    def code(self) -> int:
        """Integer code of the loss for compiled loops."""
        return NAMES.index(self.name)

    @property
    def top(self) -> float:
        """Largest possible loss, rounded up so that no computed loss exceeds it."""
        if self.name != "log":
            return 1.0
        # A prediction above 1 - clip is clipped to the rounded 1 - clip, and loses ln of 1 - that; hence the minimum.
        return -math.log(min(self.clip, 1.0 - (1.0 - self.clip))) * (1.0 + 1e-15)

    @property
    def convex(self) -> bool:
        """Whether the weighted mean of predictions never loses more than the weighted mean of their losses."""
        return self.name in ("absolute", "squared", "log")

    @property
    def concave_rate(self) -> float | None:
        """Largest rate at which exp(-rate * loss) is concave in the prediction; None if there is none."""
        return {"log": 1.0, "squared": 0.5}.get(self.name)

    def one(self, prediction: float, outcome: float) -> float:
        """Return the loss of one prediction."""
        return float(self.losses(np.array([prediction], dtype=np.float64), outcome)[0])

    def losses(self, predictions: object, outcome: float) -> NDArray[np.float64]:
        """Return the loss of each prediction; raise `InputError` for invalid values."""
        p = np.asarray(predictions, dtype=np.float64)
        self.check_outcome(outcome)
        low, high = (-math.inf, math.inf) if self.name == "zero-one" else (0.0, 1.0)
        bad = ~(np.isfinite(p) & (p >= low) & (p <= high))
        if bad.any():
            where = int(np.flatnonzero(bad)[0])
            raise self.beyond(where, p[where])
        if self.name == "table":
            return np.array(p)
        if self.name == "zero-one":
            return np.asarray(p != outcome, dtype=np.float64)
        if self.name == "log":
            p = np.clip(p, self.clip, 1.0 - self.clip)
            return np.asarray(-np.log(p if outcome == 1.0 else 1.0 - p))
        difference = np.abs(p - outcome)
        return np.asarray(difference if self.name == "absolute" else difference * difference)

    def beyond(self, expert: int, value: float) -> InputError:
        """Return the error for a prediction or loss out of range."""
        do = "" if self.name == "zero-one" else BEYOND
        return InputError(f"{self.what()} must be {RANGES[self.code]}", f"has {value}", do, expert=expert)

    def check_outcome(self, outcome: object) -> float:
        """Return the outcome as a number, or raise `InputError` if the loss is not defined for it."""
        if self.name == "table":
            return 0.0
        try:
            value = encode.number(outcome)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        sound = math.isfinite(value)
        must = "a finite number"
        if self.name == "log":
            sound, must = value in (0.0, 1.0), "0 or 1"
        elif self.name != "zero-one":
            sound, must = 0.0 <= value <= 1.0, "from 0 to 1"
        if not sound:
            do = BEYOND if self.name in ("absolute", "squared") else ""
            raise InputError(f"an outcome for the {self.name} loss must be {must}", f"got {shown(outcome)}", do)
        return value

    def what(self) -> str:
        """Return the name of the experts' values in messages."""
        return "losses" if self.name == "table" else f"advice for the {self.name} loss"
