"""Log loss of the multiclass linear mixture: at most the best bound of a member + ln(J+1).

Theorem (upper)
    J members and a stack give each label a probability, and P is their mixture: weights w_j, 1/(J+1) at first, are
    multiplied by the probability that each gave to the label over that of P. Then L <= L_j + ln(J+1) for every j that
    never slept. So for every U: with the theorem of the softmax member sqrt 1 (convex/theorems/multiclass_regret.py)
        L  <=  L_U + sum of u_j'A u_j/2 + sum of Delta + ln(J+1),
    and with that of a one-versus-rest member (convex/theorems/multiclass_logistic_regret.py)
        L  <=  sum over labels of (L_u_j + u_j'L_j u_j/2 + sum of Delta_j + deficit_u_j) + ln(J+1).
    The reported bound is the least of these. Members on random features, the discriminant and the stack have no bound
    of their own here; the certificate gives the loss of the best forecaster. The cost of new labels and of the
    probability reserved for them is added as there.
Assumptions
    those of convex/theorems/multiclass_regret.py for the softmax member; for one-versus-rest members whose theorems are
    used, losses and sums agree with their scores, and no metric shrank; the mixture lost at most ln(J+1) more than each
    member that never slept, and the weights agree with the losses (all checked). One-versus-rest members are compared
    while all rows are stored.
Proof
    -ln P_y summed over the rounds is -ln of the sum of the members' unnormalised weights, e^(-L_j)/(J+1) each, and that
    sum is at least any one of them. A sleeper keeps its weight, also when it wakes, and is left out of
    P: ln w_j = -ln(J+1) + sum of (-ln P_y - (-ln P_j,y)) over the rounds in which j was awake, and w_j <= 1. []
Reference
    [vovk1998]; [mcmahan2017].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.comparators.metric_facts import SLACK, why_void
from novikoff.comparators.multiclass_facts import MulticlassFacts, assumptions
from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class MulticlassLinearMixtureFacts(MulticlassFacts):
    """State of the mixture; gained, dual and least are those of its softmax member sqrt 1.

    Attributes:
        shown: Index of that member.
        names: Names of all forecasters.
        losses: Sum of their log losses while awake, had labels been announced.
        log_weights: ln of their weights.
        slept: Whether each slept in any round; it may be awake again.
        lanes: Number of softmax members, which precede the one-versus-rest members.
        steady: Whether no metric of the compared one-versus-rest members shrank.
    """

    shown: int
    names: list[str]
    losses: list[float]
    log_weights: list[float]
    slept: list[bool]
    lanes: int
    steady: bool


@theorem(
    "D",
    "vovk1998",
    "log loss",
    words=Words(
        covers="an ensemble over many labels, on any rows",
        why=(
            "there are weights for the {labels} labels with a total log loss of {comparator_loss:up} on these rows; "
            "their norm adds {penalty:up}, learning them {delta:up}, losses that the learner overestimated "
            "{deficit:up}, mixing {mixture:up}, and labels seen for the first time {novelty:up}. This is the bound of "
            "its member {member}; the best member was {best}, with {best_loss:up}"
        ),
    ),
)
def multiclass_linear_mixture_regret(run: Run[MulticlassLinearMixtureFacts]) -> Bound | None:
    """Return the least right side over the comparators; None if none were tracked."""
    if run.tracked is None or run.log_loss is None or not run.after.names:
        return None
    after, price = run.after, math.log(len(run.after.names))
    awake = [j for j, slept in enumerate(after.slept) if not slept]
    slack = SLACK * (1.0 + after.loss)
    against = run.tracked.against
    used = [m for m in range(len(against.lost)) if against.best(m)] if against else []
    compared = {after.shown, *(after.lanes + m for m in used)}
    kept = all(after.loss - after.losses[j] <= price + slack for j in compared.union(awake))
    weighed = all(abs(after.loss - after.losses[j] - price - after.log_weights[j]) <= slack for j in awake)
    needed = assumptions(run, run.log_loss, after.losses[after.shown])
    trivial = run.rounds * math.log(max(after.labels, 2))
    needed.append(seen("the mixture lost at most ln(J+1) more than every active or compared member", kept))
    needed.append(seen("its weights agree with the members' losses", weighed))
    if against:
        agreed = all(abs(against.lost[m] - after.losses[after.lanes + m]) <= slack for m in used)
        needed.append(seen("the one-versus-rest losses of the members agree with their scores", agreed))
        needed.append(seen("their sums agree with these scores", against.explained))
        needed.append(seen("none of their metrics shrank (no drift by rounding)", after.steady))
    if reason := why_void(run, needed):
        return Bound(None, needed, observed=run.log_loss, trivial=trivial, void=reason)
    member, value, parts = min(_promises(run), key=lambda one: one[1])
    best = min(awake, key=after.losses.__getitem__)
    quantities = {
        "member": after.names[member],
        **parts,
        "mixture": price,
        "novelty": after.novelty,
        "labels": after.labels,
        "best": after.names[best],
        "best_loss": after.losses[best],
        "best_constant": after.entropy,
        "fitted": run.tracked.fitted,
    }
    bound = outward(value + price + after.novelty + run.rounds * max(after.labels, 1) * 2.0**-49)
    return Bound(bound, needed, quantities, run.log_loss, trivial)


def _promises(run: Run[MulticlassLinearMixtureFacts]) -> list[tuple[int, float, dict[str, float]]]:
    """Return index, bound and parts of the bound of each compared member."""
    after, tracked = run.after, run.tracked
    u = min(tracked.comparators, key=lambda u: u.loss + 0.5 * u.square + u.doubt)
    parts = {"comparator_loss": u.loss, "penalty": 0.5 * u.square, "delta": after.penalty, "deficit": 0.0}
    found = [(after.shown, u.loss + 0.5 * u.square + u.doubt + after.penalty, parts)]
    for m in range(len(tracked.against.lost)) if tracked.against else ():
        if best := tracked.against.best(m):
            parts = {
                "comparator_loss": math.fsum(u.log_loss for u in best),
                "penalty": math.fsum(0.5 * u.square for u in best),
                "delta": math.fsum(u.promised for u in best),
                "deficit": math.fsum(u.parabola - u.log_loss for u in best),
            }
            found.append((after.lanes + m, math.fsum(u.parabola_bound for u in best), parts))
    return found
