"""Log loss of groups, each against the better of the common learner and its own.

Theorem (upper; with equality for a group whose own learner always gives probability 0 to the label)
    In each group two forecasters P_1, P_2 start with weight 1/2, and P = w_1 P_1 + w_2 P_2 with their posterior w. Then
    in every group g, over its rows,
        L_g  <=  min(L_g of the common learner, L_g of the group's own) + ln 2,
    and the reported bound is the sum over the groups. P_2 of the first row of a group is P_1, so that a new group is
    predicted like the common learner.
Assumptions
    the learners started untrained; the groups have the rounds and the loss of the ledger (all checked). A group
    beyond its own bound is a violation too.
Proof
    The product of the P(y) of a group telescopes to half the product of the P_1(y) plus half that of the P_2(y), which
    is at least half of either; take -ln, and sum over the groups. []
    Rounding: the weights come from sums of losses l; an error e of a sum changes ln of the mean of exp(l) by at most e.
    Each round adds at most 2^-52 of the sum and a few 2^-53 of 1: less than 2^-50 (1 + L) in all.
Reference
    [vovk1998].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import best_constant
from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.grouped_facts import GroupedFacts, assumptions, reason_void


@theorem(
    "D",
    "vovk1998",
    "log loss",
    words=Words(
        covers="a common learner mixed with one per group",
        why=(
            "the better of the common learner and its own lost {least:up} in all, over {groups} groups; mixing adds at "
            "most 0.6932 in each"
        ),
    ),
)
def grouped_regret(run: Run[GroupedFacts]) -> Bound | None:
    """Return the sum over groups of the lesser loss + ln 2; None for numbers."""
    if run.log_loss is None:
        return None
    after = run.after
    quantities = {
        "least": after.sum("least"), "groups": len(after.groups), "common": after.sum("common"),
        "own": after.sum("own"),
        "best_constant": best_constant(run),
    }  # fmt: skip
    return Bound(
        outward(after.bound), assumptions(run, run.log_loss), quantities, run.log_loss, run.rounds * math.log(2.0),
        void=reason_void(run, run.log_loss),
        broken=after.broken,
    )  # fmt: skip
