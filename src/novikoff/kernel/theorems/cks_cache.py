"""Number of examples that a distilling learner stores at once.

Theorem (upper; tight on e_1 .. e_k, all labelled -1, with the linear kernel and beta = 0)
    A learner inserts (x, y) when y f(x) <= beta, f being the sum of y_j K(x_j, .) over its list L, and then removes
    examples as long as some j of L has y_j f(x_j) - K(x_j,x_j) > beta. If y g(x) >= 1 on every round, for a
    function g in the kernel's space, and R^2 is the largest K(x,x), then at every time
        |L|  <=  (R^2 + beta) ||g||^2.
    A bound on the memory, not on mistakes: for this learner no mistake bound is known.
Assumptions
    some g tracked has a margin (checked); the list was empty at the start (checked); the learner distills
    after every insertion (checked); the comparators were evaluated on all its rounds with its K (checked);
    x is finite (checked).
Proof
    When nothing is left to remove, ||f||^2 = sum over L of y_j f(x_j) <= |L| (R^2 + beta); and
    |L| <= sum over L of y_j g(x_j) = <g,f> <= ||g|| ||f||. Divide by sqrt|L|. []
    In floats f(x_j) is stored while j is in the list: each of N insertions and at most N removals changes it by a K,
    which is off by k R^2 (kernel/theorems/kernel_facts.py), and rounds a number of at most H R^2, H being the largest
    number of examples so far. So it is off by at most (2N + 4) (k + (H + 4) 2^-53) R^2, which includes the error of the
    subtracted K(x_j,x_j).
Reference
    [crammer2004]; the bound is sharper than theirs, which has 2 beta.
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.comparators.rounding import root
from novikoff.core.certificate import Bound, Words, has_comparators, refutations, seen, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import UNIT, KernelFacts, assumptions
from novikoff.linear.theorems.perceptron_facts import SEPARATED, not_separated, quantities, shortest

NO_MORE = {"beyond_that": "no mistake bound is known"}
"""Quantity reported with every certificate of this theorem."""


@theorem(
    "D",
    "crammer2004",
    quantity="supports",
    where=has_comparators,
    words=Words(
        covers="rows that a kernel classifier separates without exception",
        why=(
            "a kernel classifier separates these rows with margin {margin:down}, and no row is longer than {R:up} in "
            "the kernel's feature space"
        ),
    ),
)
def cks_cache(run: Run[KernelFacts]) -> Bound | None:
    """Return |L| <= (R^2 + beta) ||g||^2; None if the learner does not distill."""
    tracked, after = run.tracked, run.after
    if not after.distilled:
        return None
    best, needed = shortest(tracked), assumptions(run)
    reason = tracked.invalid_reason or refutations(needed) or ("" if best else not_separated(run.tracked))
    needed.append(seen(SEPARATED, best is not None))
    inserted = after.updates - run.before.updates
    trivial = inserted if after.budget is None else min(inserted, after.budget)
    if reason or best is None:
        return Bound(None, needed, NO_MORE, observed=after.supports, trivial=trivial, void=reason)
    most = after.updates if after.budget is None else min(after.updates, after.budget + 1)
    square = tracked.square * (1 + (2 * after.updates + 4) * (tracked.error + (most + 4) * UNIT))
    return Bound(
        math.floor((square + Fraction(after.margin)) * best.square),
        needed,
        {**quantities(tracked, best), "margin": float(1 / root(best.square)), "beta": after.margin, **NO_MORE},
        observed=after.supports,
        trivial=trivial,
    )
