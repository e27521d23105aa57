"""Forgetron mistakes against a function of small norm in the kernel's space, by a bound without sums over the run.

Theorem (upper)
    Let K(x,x) <= R^2, fixed in advance, and let the budget be B >= 83. For every g in the kernel's space with
    R ||g|| <= U = (1/4) sqrt((B+1) / ln(B+1)) and hinge loss D over ALL rounds:
        M  <=  2 R^2 ||g||^2 + 4 D.
    The reported bound is the smallest over the tracked g with such a norm, as an integer. It is seldom informative
    (U is 1.09 at B = 83, and 10 at 15,500): kernel/theorems/forgetron_pathwise.py is never weaker.
Assumptions
    B >= 83 (checked); no K(x,x) exceeded R^2 by more than a fraction of 1e-12 (checked); on this run Q <= (15/32) M and
    shrinking cost at most M/32, as the proof shows they must (checked); and those of
    kernel/theorems/forgetron_pathwise.py.
Proof
    Let R = 1. By kernel/theorems/forgetron_pathwise.py M <= ||g||^2 + 2 D + Q + C, where Q = P + 2 Lam is the cost of
    removals and C = sum of (1 - phi) ||f'|| (2 ||g|| - (1 + phi) ||f'||) that of shrinking.
    Q <= (15/32) M: the self-tuned learner chooses phi to ensure it. The basic one shrinks by at least
    (B+1)^(-1/(2(B+1))) on each of the B + 1 mistakes at which an example is in the list, so lambda <= 1/sqrt(B+1), and
    ||f|| <= U after shrinking: a removal costs lambda^2 K(r,r) + 2 lambda - 2 lambda mu <= 1/(B+1) + 2/sqrt(B+1) +
    2 U/sqrt(B+1), which is at most 15/32 for B >= 83.
    C <= M/32: if phi = 1 the term is 0, and if phi >= U/||f'|| it is at most 0, as ||g|| <= U <= ||f'||. Otherwise it
    is at most U^2 ln(1/phi). For the basic learner ln(1/phi) is then ln(B+1)/(2(B+1)), and U^2 times that is 1/32. The
    self-tuned one then has Q = (15/32) M, because otherwise phi could have been larger; so this removal cost at least
    15/32, and as ||f|| < U after shrinking, lambda >= 1/sqrt(B+1): over the B + 1 mistakes at which the example was in
    the list, ln(1/phi) sums to at most ln(B+1)/2. At most M/(B+1) such intervals, disjoint and chosen from the last
    one backwards, cover all those mistakes. So the sum of ln(1/phi) is at most (M/(B+1)) ln(B+1)/2, and U^2 times that
    is M/32.
    So M <= ||g||^2 + 2 D + M/2. Rounding errors are added as there, twice.
Reference
    [dekel2008].
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.comparators.rounding import root
from novikoff.core.certificate import Assumption, Bound, Words, has_comparators, seen, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.forgetron_pathwise import Costs, unreadable
from novikoff.kernel.theorems.kernel_facts import KernelFacts, assumptions, on_mistakes, why_void
from novikoff.linear.theorems.perceptron_facts import quantities

LEAST_BUDGET = 83
"""Smallest budget for which the cost of a removal is at most 15/32."""
TOLERANCE = Fraction(1, 10**9)
"""Rounding error allowed for the costs of removals and of shrinking."""


@theorem(
    "D",
    "dekel2008",
    where=has_comparators,
    words=Words(
        covers="a Forgetron with a budget large enough for comparators of small norm",
        why=(
            "a kernel classifier of norm {norm:up}, within the limit of {U:down} for a budget of {budget}, has a total "
            "hinge loss of {hinge:up}"
        ),
    ),
)
def forgetron_theorem(run: Run[KernelFacts]) -> Bound | None:
    """Return the smallest 2 R^2 ||g||^2 + 4 D over the short comparators."""
    budget = run.after.budget
    if budget is None:
        return None
    needed = [*assumptions(run), on_mistakes(run)]
    reason = why_void(run, needed, unreadable(run))
    if not reason:
        needed += own_assumptions(run, budget)
        reason = why_void(run, needed)
    if reason:
        return Bound(None, needed, void=reason)
    radius2 = Fraction(run.after.radius2)
    longest2 = Fraction(longest(budget)) ** 2
    costs = Costs.of(run, budget)
    short = [u for u in run.tracked.comparators if radius2 * u.square <= longest2]
    square = max(costs.least, Fraction(1))  # a little more than 1 at most
    above = 2 * TOLERANCE + max(costs.S2 - costs.P, Fraction(0)) * (1 - 1 / square)
    best = min(short, key=lambda u: 2 * square * radius2 * u.square + 4 * u.hinge)
    slack = costs.slack(root(radius2 * best.square), square) + above
    return Bound(
        math.floor(2 * square * radius2 * best.square + 4 * best.hinge + 2 * slack),
        needed,
        {**quantities(run.tracked, best), "budget": budget, "U": longest(budget), "Q": run.after.Q},
    )


def longest(budget: int) -> float:
    """Return U, rounded down."""
    return 0.25 * math.sqrt((budget + 1) / math.log(budget + 1)) * (1.0 - 1e-12)


def own_assumptions(run: Run[KernelFacts], budget: int) -> list[Assumption]:
    """Return the further assumptions of this theorem."""
    after = run.after
    fits = run.tracked.square <= Fraction(after.radius2) * (1 + Fraction(1, 10**12))
    removals = Fraction(after.P) + 2 * Fraction(after.Lam) <= Fraction(15, 32) * run.mistakes + TOLERANCE
    shrinking = 2 * Fraction(longest(budget)) * Fraction(after.S1) - Fraction(after.S2)
    return [
        seen(f"the budget is at least {LEAST_BUDGET}", budget >= LEAST_BUDGET),
        seen("no K(x,x) was above the R^2 set in advance", fits),
        seen("removals cost at most 15/32 of the mistakes", removals),
        seen("shrinking cost at most 1/32 of the mistakes", shrinking <= Fraction(run.mistakes, 32) + TOLERANCE),
    ]
