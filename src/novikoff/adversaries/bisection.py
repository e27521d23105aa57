"""Bisection: thresholds over the reals cannot be learned with finitely many mistakes.

Strategy
    h_theta(x) = +1 if x >= theta, else -1. Every theta in (a, b] fits the labels so far, at first (0, 1].
    Show x = (a + b)/2 and label it with the opposite of the prediction: on +1, b = x; on -1, a = x.
    With Fractions (`exact`) this never ends. With doubles it does: when no double lies strictly between a and b the
    interval is exhausted, and from then on the labels are those of the witness. That takes 53 rounds against
    "always +1" (a climbs to 1), 1,074 against "always -1" (b falls through the denormals).
    On vectors, x is the first of the features and the others are 0, in doubles: in one dimension halfspaces are
    thresholds. On the grid 0 .. n the interval is one of integers, and is exhausted after about log2(n + 2) rounds.
Forces
    adversaries/theorems/bisection_forced.py: a mistake in every round before exhaustion, on any deterministic
    learner. The rounds after exhaustion force nothing, whatever mistakes the learner makes in them.
Witness
    theta = b.
Cost
    O(t) bits at round t, so O(T^2) bit operations: 10,000 rounds in a second or two. In doubles O(1).
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from novikoff.adversaries.opposite import opposite
from novikoff.adversaries.theorems.bisection_forced import BisectionFacts, bisection_forced
from novikoff.core.types import Distribution, Domain, Example, Label, Theorem


class Bisection:
    """Adversary that halves the interval of possible thresholds in every round.

    Args:
        exact: Whether to use Fractions, which never run out; with False, doubles.
        domain: Domain of the learner; None for numbers. On vectors and grids numbers run out.

    Guarantee:
        A deterministic learner errs in every round, although some threshold fits all labels (`bisection_forced`). With
        doubles and on grids, in every round until no number is left inside the interval.

    Example:
        >>> import novikoff as nk
        >>> adversary = nk.adversaries.Bisection()
        >>> nk.play(nk.Midpoint(), adversary, rounds=10).mistakes
        10
        >>> adversary.witness()
        Fraction(3, 4)
    """

    promises: ClassVar[tuple[Theorem, ...]] = (bisection_forced,)

    def __init__(self, exact: bool = True, domain: Domain | None = None) -> None:
        kind = "any" if domain is None else domain.kind
        width = 1 if domain is None else domain.width or 1
        self.exact = exact and kind != "vector"
        self.name = "bisection" if self.exact else "bisection:exact=false"
        self.domain, self._zeros = Domain("any"), (0.0,) * (width - 1)
        self.a: Fraction | float = Fraction(0) if exact else 0.0
        self.b: Fraction | float = Fraction(1) if exact else 1.0
        if kind == "vector":
            self.domain, self.a, self.b = Domain("vector", width), 0.0, 1.0
        elif kind == "index" and domain is not None and domain.width is not None:
            self.domain, self.a, self.b = domain, -1, domain.width
        self.x = self._middle()
        self.rounds = self.exhausted_at = 0

    def _middle(self) -> Fraction | float:
        if self.domain.kind == "index":
            return max((self.a + self.b) // 2, 0)  # -1 is no point of the grid
        return (self.a + self.b) / 2

    def ask(self, probe: Callable[[Example], Distribution]) -> Example:
        return (self.x, *self._zeros) if self.domain.kind == "vector" else self.x

    def answer(self, prediction: Distribution) -> Label:
        self.rounds += 1
        if not self.a < self.x < self.b:
            self.exhausted_at = self.exhausted_at or self.rounds
            return 1 if self.x >= self.b else -1
        label = opposite(prediction)
        if label == 1:
            self.b = self.x
        else:
            self.a = self.x
        self.x = self._middle()
        return label

    def witness(self) -> Fraction | float:
        """Return a threshold that fits every label."""
        return self.b

    def facts(self) -> BisectionFacts:
        return BisectionFacts(self.rounds, self.exhausted_at, self.b)
