"""Forgetron mistakes against any function in the kernel's space, from the costs of shrinking and removal.

Theorem (upper)
    The learner keeps f = sum of sigma_i y_i K(x_i, .). On a mistake it appends the example with weight 1 (f'), shrinks
    all weights by phi in (0, 1], and removes the oldest example r if there are more than B. Let lambda <= 1 be the
    weight of r at that time and mu = y_r f(x_r) before the removal. Sums over the mistakes, and over the removals:
        S1 = sum (1 - phi) ||f'||,   S2 = sum (1 - phi^2) ||f'||^2,
        P = sum (lambda^2 K(x_r,x_r) - 2 lambda mu),   Lam = sum lambda.
    For every B, every choice of phi, every g in the kernel's space with hinge loss D over ALL rounds, and every R^2
    that no K(x,x) exceeds:
        M  <=  R^2 ||g||^2 + 2 D + 2 ||g|| S1 + (P + 2 R^2 Lam - S2) / R^2.
    The reported bound is the smallest over the tracked g, over mixtures of two neighbouring g, and over R^2, as an
    integer.
Assumptions
    the learner is the Forgetron: it began with an empty list and changed on its mistakes only (checked); K is an inner
    product (checked; trusted for a user-defined function); the comparators were evaluated on all its rounds (checked);
    x is finite (checked).
Proof
    Compare f with h = R^2 g: the decrease of ||f - h||^2 over the run is at most ||h||^2 = R^4 ||g||^2. Appending
    (x, y) on a mistake decreases it by -2 y f(x) + 2 y h(x) - K(x,x), at least 2 R^2 y g(x) - K(x,x). Removing r
    decreases it by 2 lambda mu - 2 lambda y_r h(x_r) - lambda^2 K(r,r). Together, for an r of loss l that was removed,
    the decrease is
        2 (1 - lambda) R^2 (1 - l) - K(r,r) + 2 lambda mu - lambda^2 K(r,r)
            >=  R^2 - 2 R^2 l - (lambda^2 K(r,r) + 2 lambda R^2 - 2 lambda mu),
    and for an example that was not removed at least R^2 - 2 R^2 l. Shrinking decreases it by at least
    (1 - phi^2) ||f'||^2 - 2 (1 - phi) ||f'|| R^2 ||g||. Sum up and divide by R^2. []
    R^2 ||g||^2 + (P - S2)/R^2 is least at R^2 = sqrt(P - S2)/||g||, or as near to it as K(x,x) allows. The loss and the
    norm of a mixture of two g are at most the mixtures of their losses and norms.
Floats
    R0^2 is the largest K(x,x), e the error of a score in units of R0^2 (kernel/theorems/kernel_facts.py, for B + 1
    examples), u = 2^-53. All weights are at most 1, so scores are accurate to (B+1) e R0^2 and ||f'|| <= (B+1) R0. A
    mistake has y f(x) <= (B+1) e R0^2. Rounding the weights moves f by at most u (B+1) R0. ||f'||^2 is updated from one
    mistake to the next: each adds an error of at most d R0^2 in all, d = 16 (B+1) e, and shrinking multiplies the error
    and ||f'||^2 by the same factor. So the errors E of ||f'||^2 have sum (1 - phi^2) E <= M d R0^2, which bounds that
    of S2; by Cauchy-Schwarz that of S1 is at most M sqrt(d) R0. P is off by less than M d R0^2. With a = R0 ||g|| all
    this adds at most
        M (2 d R0^2/R^2 + d a + 2 a sqrt d)
    to the bound; the rounding of the sums adds at most
        (M + 4) 2u (2 ||g|| S1 + S2/R^2 + 2 Lam + M (2B + 3) R0^2/R^2).
Reference
    [dekel2008].
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from novikoff.comparators.rounding import root
from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import UNIT, KernelFacts, assumptions, on_mistakes, score_error, why_void
from novikoff.linear.theorems.perceptron_facts import near, quantities


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of a run, in units in which the Forgetron's R^2 is 1; `least` is R0^2."""

    mistakes: int
    budget: int
    S1: Fraction
    S2: Fraction
    P: Fraction
    Lam: Fraction
    least: Fraction
    error: Fraction

    @classmethod
    def of(cls, run: Run[KernelFacts], budget: int) -> Costs:
        """Return the costs of this run."""
        after, tracked = run.after, run.tracked
        S1, S2, P, Lam = (Fraction(value) for value in (after.S1, after.S2, after.P, after.Lam))
        least = tracked.square / Fraction(after.radius2)
        return cls(run.mistakes, budget, S1, S2, P, Lam, least, score_error(run, budget + 1))

    def bound(self, norm: Fraction, hinge: Fraction) -> Fraction:
        """Return the bound at its best R^2, rounding errors included; `norm` is at least ||g||."""
        if self.least == 0:
            return hinge  # every K(x,x) is 0, so every g(x), and every mistake has loss 1
        square = self.least
        if norm and self.P > self.S2:
            square = max(square, Fraction(math.sqrt(self.P - self.S2)) / norm)
        return pathwise(norm, hinge, self.S1, self.S2, self.P, self.Lam, square) + self.slack(norm, square)

    def roughly(self, norm: float, hinge: float) -> float:
        """Return the part that depends on g, in floats and for the smallest R^2, to choose a comparator."""
        return near(self.least) * norm * norm + 2.0 * hinge + 2.0 * norm * float(self.S1)

    def slack(self, norm: Fraction, square: Fraction) -> Fraction:
        """Return an upper bound on the effect of rounding."""
        part, a = self.least / square, root(self.least) * norm
        d = 16 * (self.budget + 1) * self.error
        runs = self.mistakes * (2 * d * part + d * a + 2 * a * root(d))
        sums = 2 * norm * self.S1 + self.S2 / square + 2 * self.Lam + self.mistakes * (2 * self.budget + 3) * part
        return runs + (self.mistakes + 4) * 2 * UNIT * sums


@theorem(
    "D",
    "dekel2008",
    where=has_comparators,
    words=Words(
        covers="the Forgetron on any rows",
        why=(
            "a kernel classifier of norm {norm:up} has a total hinge loss of {hinge:up}; the cost of removing "
            "{evictions} examples was counted"
        ),
    ),
)
def forgetron_pathwise(run: Run[KernelFacts]) -> Bound | None:
    """Return the smallest bound over the comparators and their mixtures."""
    after, budget = run.after, run.after.budget
    if budget is None:
        return None
    needed = [*assumptions(run), on_mistakes(run)]
    if reason := why_void(run, needed, unreadable(run)):
        return Bound(None, needed, void=reason)
    costs = Costs.of(run, budget)
    scale = root(Fraction(after.radius2))
    norms = [scale * root(u.square) for u in run.tracked.comparators]
    hinges = [u.hinge for u in run.tracked.comparators]
    rough = [costs.roughly(near(norm), near(hinge)) for norm, hinge in zip(norms, hinges, strict=True)]
    best = rough.index(min(rough))
    candidates = [(norms[best], hinges[best]), *mixtures(norms, hinges, costs, max(best - 1, 0), best + 2)]
    return Bound(
        math.floor(min(costs.bound(norm, hinge) for norm, hinge in candidates)),
        needed,
        {
            **quantities(run.tracked, run.tracked.comparators[best]),
            "budget": budget,
            "evictions": after.evictions,
            "S1": after.S1,
            "S2": after.S2,
            "Q": after.Q,
        },
    )


def unreadable(run: Run[KernelFacts]) -> str:
    """Return why the sums of the run cannot be used; "" if they can."""
    after = run.after
    sums = (after.S1, after.S2, after.P, after.Lam, after.Q)
    return "" if all(map(math.isfinite, sums)) and after.radius2 > 0.0 else "the sums of the run are not finite"


def pathwise(
    norm: Fraction, hinge: Fraction, S1: Fraction, S2: Fraction, P: Fraction, Lam: Fraction, square: Fraction
) -> Fraction:
    """Return R^2 ||g||^2 + 2 D + 2 ||g|| S1 + (P + 2 R^2 Lam - S2) / R^2."""
    return square * norm**2 + 2 * hinge + 2 * norm * S1 + (P + 2 * square * Lam - S2) / square


def mixtures(
    norms: list[Fraction], hinges: list[Fraction], costs: Costs, start: int, stop: int
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield (norm, hinge) of the best mixture of each two neighbours, for the smallest R^2."""
    pairs = list(zip(norms, hinges, strict=True))[start:stop]
    for (norm, hinge), (other, loss) in pairwise(pairs):
        step = other - norm
        if step == 0 or costs.least == 0:
            continue
        part = -(loss - hinge + step * costs.S1) / (costs.least * step**2) - norm / step
        if 0 < part < 1:
            part = Fraction(round(part * 2**20), 2**20)
            yield norm + part * step, hinge + part * (loss - hinge)
