"""Log loss of specialists on the whole stream, by the bound of the copy that never rests.

Theorem (upper)
    Let B be the bound of the steady copy's theorem on its log loss, on this stream. Then  L <= B + ln 2.
Assumptions
    those of experts/theorems/specialists_regret.py; the certificate of the steady copy holds (checked; its trusted
    assumptions are trusted here: void and violated ones are left out).
Proof
    experts/theorems/specialists_regret.py: L is at most the steady copy's loss + ln 2, and that is at most B. []
Reference
    [hazan2009].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import best_constant
from novikoff.core.certificate import Assumption, Bound, Words, outward, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.specialists_facts import EPS, SpecialistsFacts, assumptions, why_void


@theorem(
    "D",
    "hazan2009",
    "log loss",
    words=Words(
        covers="a mixture of copies that start at different times",
        why=(
            "the copy that started in the first round guarantees at most {promised:up} ({by}); mixing it with others "
            "adds at most 0.6932"
        ),
    ),
)
def specialists_promise(run: Run[SpecialistsFacts]) -> Bound | None:
    """Return the least bound of the steady copy + ln 2; None if it has none."""
    if run.log_loss is None or not run.members:
        return None
    trivial = run.rounds * math.log(2.0)
    if reason := why_void(run):
        return Bound(None, assumptions(run), observed=run.log_loss, trivial=trivial, void=reason)
    held = [one for one in run.members[0] if one.holds and one.kind == "D" and one.quantity == "log loss"]
    if not held:
        return None
    best = min(held, key=lambda one: one.bound or 0.0)
    assert best.bound is not None
    trusted = [Assumption(one.claim, "trusted") for one in best.assumptions if one.standing == "trusted"]
    quantities = {"promised": best.bound, "by": best.theorem, "best_constant": best_constant(run)}
    bound = outward(best.bound + math.log(2.0) + EPS * best.bound)
    return Bound(bound, [*assumptions(run), *trusted], quantities, run.log_loss, trivial)
