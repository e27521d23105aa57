"""Midpoint: a threshold over the reals, in the middle of the interval of consistent thresholds.

Algorithm
    h_theta(x) = +1 if x >= theta, else -1. The thresholds in (lo, hi] are consistent with the labels so far: lo is the
    largest x labelled -1 (at first minus infinity), hi the smallest labelled +1 (at first infinity).
    Predict +1 if x >= (lo + hi)/2. If one end is infinite, so is the middle: (lo, infinity) predicts -1 for every x,
    (-infinity, hi] predicts +1. At the start, predict +1.
    If lo >= hi no threshold is consistent: restart.
    Numbers are stored as Fractions, so doubles keep their exact value and nothing is rounded.
Promise
    None, and no learner has one: thresholds over the reals shatter trees of every depth, and adversaries/bisection.py
    makes any deterministic learner err in every round. On a grid, finite/threshold_halving.py has a bound.
Cost
    O(1) numbers; the middle has one bit more than the ends. O(bits) per sum, O(bits^1.6) per comparison.
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import ClassVar

import numpy as np

from novikoff.core.errors import Advice, InputError, Option, shown
from novikoff.core.learner import Learner
from novikoff.core.state import Coded, Count, require
from novikoff.core.types import Domain, Example, Label, Outcome, State, Theorem, check_label


@dataclass(frozen=True, slots=True)
class MidpointFacts:
    """Numbers of rounds, and of restarts because no threshold was left."""

    rounds: int
    restarts: int


# Hexadecimal, because Python by default refuses to convert integers of more than 4,300 digits to decimal text.
def _as_hex(value: Fraction | None) -> list[str] | None:
    return None if value is None else [f"{value.numerator:x}", f"{value.denominator:x}"]


def _from_hex(parts: list[str] | None) -> Fraction | None:
    if parts is None:
        return None
    numerator, denominator = parts
    return Fraction(int(numerator, 16), int(denominator, 16))


class Midpoint(Learner):
    """Threshold on the real line, in the middle of the interval consistent with all labels; x is one finite number.

    Guarantee:
        None: over the reals no deterministic learner of thresholds has a mistake bound (`bisection_forced`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Midpoint(), [(0.0, -1), (1.0, 1), (0.6, 1), (0.2, -1)]).mistakes
        2
    """

    domain: Domain

    promises: ClassVar[tuple[Theorem, ...]] = ()
    fields = (
        Coded("lo", _as_hex, _from_hex, "a fraction"),
        Coded("hi", _as_hex, _from_hex, "a fraction"),
        Count("rounds"),
        Count("restarts", most="rounds"),
    )

    def __init__(self) -> None:
        self.domain = Domain("any")
        self.lo: Fraction | None = None
        self.hi: Fraction | None = None
        self.rounds = self.restarts = 0

    def predict_one(self, x: Example) -> Label:
        return self._predict(exactly(x))

    def _predict(self, x: Fraction) -> Label:
        if self.lo is None:
            return 1
        if self.hi is None:
            return -1
        return 1 if x >= (self.lo + self.hi) / 2 else -1

    def play_one(self, x: Example, y: Outcome) -> Label:
        """Predict, then learn; x is converted to a Fraction once."""
        value = exactly(x)
        y = check_label(y, self.labels)
        prediction = self._predict(value)
        self.rounds += 1
        if y == 1:
            self.hi = value if self.hi is None else min(self.hi, value)
        else:
            self.lo = value if self.lo is None else max(self.lo, value)
        if self.lo is not None and self.hi is not None and self.lo >= self.hi:
            self.restarts += 1
            self.lo = self.hi = None
        return prediction

    @property
    def rows_held(self) -> int:
        """Training rows in the hypothesis: the points nearest to the threshold on either side."""
        return (self.lo is not None) + (self.hi is not None)

    def facts(self) -> MidpointFacts:
        return MidpointFacts(self.rounds, self.restarts)

    def after_restoring(self, found: State) -> None:
        fits = self.lo is None or self.hi is None or self.lo < self.hi
        require(fits, "lo of a learner must be below hi", self.lo)


def exactly(x: object) -> Fraction:
    """Return one finite number, or a vector of one, as a Fraction."""
    value = x
    if isinstance(value, (np.ndarray, list, tuple)):
        count = value.size if isinstance(value, np.ndarray) else len(value)
        if count != 1:
            raise InputError(
                "x must be one number", f"got {count}", Advice("Pass ", Option("columns", letter="NAME"), ".")
            )
        value = value.item() if isinstance(value, np.ndarray) else value[0]
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Integral):
        return Fraction(int(value))  # int, because numpy integers would overflow inside a Fraction
    if not hasattr(value, "as_integer_ratio"):
        raise InputError(f"x must be a number: got {shown(x)}. Choose a column of numbers.")
    try:
        return Fraction(*value.as_integer_ratio())
    except (OverflowError, ValueError):
        raise InputError(f"x must be finite: got {x!r}. Clean or drop the row.") from None
