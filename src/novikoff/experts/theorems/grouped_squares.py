"""Squared loss of groups, each against the better of the common learner and its own.

Theorem (upper; the slack is that of AdaHedge)
    In each group AdaHedge mixes the predicted numbers of two learners, on their squared losses. With the sum D_g of its
    mixability gaps in group g,
        L_g  <=  min(L_g of the common learner, L_g of the group's own) + 2 D_g,
    and the reported bound is the sum over the groups.
Assumptions
    the learners started untrained; the groups have the rounds and the loss of the ledger (all checked).
Proof
    With rates r_t = ln 2 / D_{t-1}, which never increase, the mix losses m_t sum to at most -1/r_T ln of the mean of
    exp(-r_T L), hence to at most min L + ln 2 / r_T = min L + D_{T-1}; while D is 0 they sum to min L. The weighted
    mean h_t of the losses is m_t + its gap, so the h_t sum to at most min L + D_{T-1} + D_T. The squared loss is
    convex: the loss of the mean prediction is at most h_t. [] Rounding: as in experts/theorems/grouped_regret.py.
Reference
    [derooij2014].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.grouped_facts import GroupedFacts, assumptions, reason_void


@theorem(
    "D",
    "derooij2014",
    "squared loss",
    words=Words(
        covers="a common learner mixed with one per group",
        why=(
            "the better of the common learner and its own lost {least:up} in all, over {groups} groups; mixing adds at "
            "most {price:up}"
        ),
    ),
)
def grouped_squares(run: Run[GroupedFacts]) -> Bound | None:
    """Return the sum over groups of the lesser loss + twice the gap; None for labels."""
    after = run.after
    if run.log_loss is not None or any(one.labels for one in after.groups) or not run.rounds:
        return None
    quantities = {
        "least": after.sum("least"), "groups": len(after.groups), "common": after.sum("common"),
        "own": after.sum("own"),
        "price": after.sum("price"),
    }  # fmt: skip
    return Bound(
        outward(after.bound), assumptions(run, run.loss), quantities, run.loss, math.inf,
        void=reason_void(run, run.loss), broken=after.broken,
    )  # fmt: skip
