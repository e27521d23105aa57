"""Log loss of the multiclass linear mixture: at most that of its best member + ln(J+1).

Theorem (upper)
    As in mixtures/theorems/multiclass_linear_mixture_regret.py: J members and a stack, mixed with weights that are
    1/(J+1) at first. For every forecaster j that never slept
        L  <=  L_j + ln(J+1) + the cost of new labels,
    where L_j is its own log loss in these rounds, had labels been announced. The reported bound is the least over j.
    L_j is observed, not guaranteed: the theorem is about the mixture. The theorem named above bounds members against
    weights in hindsight.
Assumptions
    the learner started untrained, its rounds and its loss are the ledger's (checked); the loss of the reported member
    agrees with its scores (checked for the softmax member sqrt 1 and the one-versus-rest members, whose scores the
    comparators see; trusted for the other members and the stack, whose losses only the learner counts).
Proof
    As there: ln w_j = L - L_j - ln(J+1) for a forecaster that never slept, and w_j <= 1. []
    Rounding: sums of T logarithms are within T 2^-50 of their size.
Reference
    [vovk1998].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import SLACK
from novikoff.core.certificate import Assumption, Bound, Words, outward, seen, theorem, warm_start
from novikoff.core.types import Run
from novikoff.mixtures.theorems.multiclass_linear_mixture_regret import MulticlassLinearMixtureFacts


@theorem(
    "D",
    "vovk1998",
    "log loss",
    words=Words(
        covers="an ensemble over many labels, compared with its best member",
        why=(
            "its member {member} lost {member_loss:up} in these rounds; mixing it with others adds {mixture:up}, and "
            "labels seen for the first time {novelty:up}"
        ),
    ),
)
def multiclass_linear_mixture_members(run: Run[MulticlassLinearMixtureFacts]) -> Bound | None:
    """Return the least loss of a forecaster that never slept + ln(J+1) + new labels; None without probabilities."""
    if run.log_loss is None or not run.after.names:
        return None
    before, after, price = run.before, run.after, math.log(len(run.after.names))
    agreed = abs(after.loss + after.novelty - run.log_loss) <= SLACK * (1.0 + run.log_loss)
    needed = [
        seen("the learner started untrained", before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("its total agrees with the ledger's", agreed),
    ]
    reason = warm_start(before.rounds)
    best = min((j for j, slept in enumerate(after.slept) if not slept), key=after.losses.__getitem__)
    needed.append(_played(run, best))
    quantities = {
        "member": after.names[best],
        "member_loss": after.losses[best],
        "mixture": price,
        "novelty": after.novelty,
        "best_constant": after.entropy,
    }
    rounding = run.rounds * 2.0**-50 * (1.0 + after.losses[best] + after.novelty)
    bound = outward(after.losses[best] + price + after.novelty + rounding)
    return Bound(bound, needed, quantities, run.log_loss, run.rounds * math.log(max(after.labels, 2)), void=reason)


def _played(run: Run[MulticlassLinearMixtureFacts], member: int) -> Assumption:
    """Compare a member's loss, as counted by the learner, with that of its scores, if comparators saw them."""
    claim, after, tracked = f"{run.after.names[member]}'s loss agrees with its scores", run.after, run.tracked
    known: dict[int, float] = {}
    if tracked is not None and tracked.rows == run.rounds:
        against = tracked.against.lost if tracked.against else []
        known = {after.shown: tracked.lost, **{after.lanes + m: lost for m, lost in enumerate(against)}}
    if member not in known:
        return Assumption(claim, "trusted")
    counted_loss = after.losses[member]
    return seen(claim, abs(known[member] - counted_loss) <= SLACK * (1.0 + counted_loss))
