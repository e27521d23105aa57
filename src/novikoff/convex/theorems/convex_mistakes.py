"""Mistakes of a learner with the hinge loss, against every u.

Theorem (upper)
    M <= the sum of its hinge losses, so the bound of convex/theorems/convex_regret.py on that sum holds for M.
Assumptions
    those of convex/theorems/convex_regret.py (checked).
Proof
    A mistake has y z <= 0, so max(0, 1 - y z) >= 1. []
Reference
    [mcmahan2017].
"""

from __future__ import annotations

import math

from novikoff.convex.theorems.convex_facts import ConvexFacts
from novikoff.convex.theorems.convex_regret import convex_regret
from novikoff.core.certificate import Bound, Words, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "mcmahan2017",
    words=Words(
        covers="follow the regularised leader with the hinge loss",
        why=(
            "a linear classifier has a total hinge loss of {comparator_loss:up} on these rows; its norm, in the "
            "learner's metric, adds {penalty:up}, and learning it adds {delta:up}"
        ),
    ),
)
def convex_mistakes(run: Run[ConvexFacts]) -> Bound | None:
    """Return the bound on the hinge loss, rounded down to an integer; None for any other loss."""
    if run.after.loss != "hinge" or (found := convex_regret(run)) is None:
        return None
    bound = None if found.bound is None or not math.isfinite(found.bound) else math.floor(found.bound)
    void = found.reason if found.status == "void" else ""
    return Bound(bound, found.assumptions, found.quantities, void=void)
