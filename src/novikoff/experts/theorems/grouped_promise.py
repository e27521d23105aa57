"""Log loss of groups, by the bound of the common learner.

Theorem (upper)
    Let B be the bound of the common learner's theorem on its log loss, on this stream of G groups. Then
        L  <=  B + G ln 2.
Assumptions
    those of experts/theorems/grouped_regret.py; the certificate of the common learner holds (checked; its trusted
    assumptions are trusted here: void and violated ones are left out).
Proof
    experts/theorems/grouped_regret.py: in each group L_g is at most the common learner's loss there + ln 2. These
    losses sum to its loss on the stream, which is at most B. []
Reference
    [vovk1998].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import best_constant
from novikoff.core.certificate import Assumption, Bound, Words, outward, seen, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.grouped_facts import ULP, GroupedFacts, assumptions, reason_void


@theorem(
    "D",
    "vovk1998",
    "log loss",
    words=Words(
        covers="a common learner mixed with one per group",
        why="the common learner guarantees at most {promised:up} ({by}); mixing adds at most 0.6932 in each group",
    ),
)
def grouped_promise(run: Run[GroupedFacts]) -> Bound | None:
    """Return the least bound of the common learner + ln 2 per group; None if it has none."""
    if run.log_loss is None or not run.members:
        return None
    trivial = run.rounds * math.log(2.0)
    needed = assumptions(run, run.log_loss)
    if reason := reason_void(run, run.log_loss):
        return Bound(None, needed, observed=run.log_loss, trivial=trivial, void=reason)
    held = [one for one in run.members[0] if one.holds and one.kind == "D" and one.quantity == "log loss"]
    if not held:
        return None
    best = min(held, key=lambda one: one.bound or 0.0)
    assert best.bound is not None
    lost = run.after.sum("common")
    same = abs(lost - float(best.observed)) <= 1e-9 * (1.0 + lost)
    trusted = [Assumption(one.claim, "trusted") for one in best.assumptions if one.standing == "trusted"]
    quantities = {"promised": best.bound, "by": best.theorem, "groups": len(run.after.groups),
                  "best_constant": best_constant(run)}  # fmt: skip
    more = len(run.after.groups) * math.log(2.0) + run.rounds * ULP * (1.0 + best.bound)
    agrees = seen("the loss of the common learner agrees with its ledger", same)
    return Bound(outward(best.bound + more), [*needed, agrees, *trusted], quantities, run.log_loss, trivial)
