"""Bisection against boxes in `dim` dimensions: thresholds in disguise.

Strategy
    A box labels +1 inside, -1 outside. Show (x, 0, ..., 0) for the x of adversaries/bisection.py, in Fractions, or in
    doubles where the learner takes vectors:
    the box [theta, 2] x [-1, 1] x ... x [-1, 1] labels it as the threshold theta labels x, as 0 < x < 1.
Forces
    adversaries/theorems/bisection_forced.py: a mistake in every round, on any deterministic learner.
Witness
    The box, as (low, high) for each axis.
Cost
    That of bisection, and O(dim) per round.
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from novikoff.adversaries.bisection import Bisection
from novikoff.adversaries.theorems.bisection_forced import BisectionFacts, bisection_forced
from novikoff.core.sizes import integer
from novikoff.core.types import Distribution, Domain, Example, Label, Theorem


class RectangleBisection:
    """Adversary that halves the interval of possible positions of one side of a box in every round.

    Args:
        dim: Number of axes.
        domain: Domain of the learner; None for tuples of numbers. On vectors doubles run out.

    Guarantee:
        A deterministic learner errs in every round, although some box fits all labels (`bisection_forced`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.TightestBox(2), nk.adversaries.RectangleBisection(2), rounds=6).mistakes
        6
    """

    promises: ClassVar[tuple[Theorem, ...]] = (bisection_forced,)

    def __init__(self, dim: int, domain: Domain | None = None) -> None:
        self.dim = integer(dim, "dim", "a box needs at least one dimension, an integer", 1)
        self.name = f"rectangle-bisection:dim={self.dim}"
        vectors = domain is not None and domain.kind == "vector"
        self.domain = Domain("vector" if vectors else "any", self.dim)
        self._line = Bisection(exact=not vectors)

    def ask(self, probe: Callable[[Example], Distribution]) -> tuple[Fraction | float, ...]:
        zero = Fraction(0) if self._line.exact else 0.0
        return (self._line.x, *(zero,) * (self.dim - 1))

    def answer(self, prediction: Distribution) -> Label:
        return self._line.answer(prediction)

    def witness(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return a box that fits every label, as (low, high) for each axis."""
        side = (Fraction(self._line.witness()), Fraction(2))
        return (side, *((Fraction(-1), Fraction(1)),) * (self.dim - 1))

    def facts(self) -> BisectionFacts:
        return replace(self._line.facts(), axes=self.dim)
