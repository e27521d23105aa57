"""Bisection on the circle of directions: halfplanes through the origin cannot be learned with few mistakes.

Strategy
    u(t) = (1 - t^2, 2t), for t from 0 to 1, are directions of the plane, and h_u(x) = +1 if <u, x> >= 0, else -1. Every
    t strictly between a and b fits the labels so far, at first 0 and 1. Show x = (-2m, 1 - m^2) for m = (a + b)/2: as
        <u(t), x>  =  2 (t - m) (1 + t m),
    its label is +1 if t >= m, else -1. Answer with the opposite of the prediction: on +1, a = m; on -1, b = m.
    m is a multiple of 2^-bits, with at most 26 bits, so that x is exact in doubles. When no such m is left the
    directions are exhausted, and the labels are those of the witness.
Forces
    adversaries/theorems/plane_bisection_forced.py: a mistake in each of the first `bits` rounds, on any
    deterministic learner. The rows are separable, but the margin halves from round to round: the Perceptron's bound,
    (R/margin)^2, grows as fast as the forced mistakes.
Witness
    u = (1 - t^2, 2t) for t = (a + b)/2: it separates everything that was shown.
Cost
    O(1) per round; integers, so exact.
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from novikoff.adversaries.opposite import opposite
from novikoff.adversaries.theorems.plane_bisection_forced import PlaneBisectionFacts, plane_bisection_forced
from novikoff.core.sizes import integer
from novikoff.core.types import Distribution, Domain, Example, Label, Theorem

MOST_BITS = 26
"""Largest number of bits of m for which m^2 is exact in doubles."""


class PlaneBisection:
    """Adversary that halves the arc of possible halfplanes through the origin in every round.

    Args:
        bits: Number of halvings, from 1 to 26; rows are exact in doubles.

    Guarantee:
        At least min(T, bits) mistakes on any deterministic learner, although one halfplane separates all rows
        (`plane_bisection_forced`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Perceptron(), nk.adversaries.PlaneBisection(bits=4), rounds=4).mistakes
        4
    """

    promises: ClassVar[tuple[Theorem, ...]] = (plane_bisection_forced,)

    def __init__(self, bits: int = MOST_BITS) -> None:
        must = f"bits must be an integer from 1 to {MOST_BITS}, so that x is exact"
        self.bits = integer(bits, "bits", must, 1, MOST_BITS)
        self.name = "plane-bisection" + (f":bits={self.bits}" if self.bits != MOST_BITS else "")
        self.domain = Domain("vector", 2)
        self.a, self.b = 0, 2**self.bits  # in units of 2^-bits
        self.rounds = self.forced = 0

    def ask(self, probe: Callable[[Example], Distribution]) -> tuple[float, float]:
        m = Fraction((self.a + self.b) // 2, 2**self.bits)
        return float(-2 * m), float(1 - m * m)

    def answer(self, prediction: Distribution) -> Label:
        m = (self.a + self.b) // 2
        self.rounds += 1
        if m == self.a:  # two neighbours: every t between them is above m
            return 1
        self.forced += 1
        label = opposite(prediction)
        if label == 1:
            self.a = m
        else:
            self.b = m
        return label

    def witness(self) -> tuple[Fraction, Fraction]:
        """Return a direction that fits every label."""
        t = Fraction(self.a + self.b, 2 ** (self.bits + 1))
        return 1 - t * t, 2 * t

    def facts(self) -> PlaneBisectionFacts:
        return PlaneBisectionFacts(self.bits, self.a, self.b, self.rounds, self.forced)
