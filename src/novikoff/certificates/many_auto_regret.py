"""Log loss of `auto` for many labels: at most that of every member + ln(J+1), so what its softmax member promises.

Theorem (upper)
    J members, and a stack, give each label a probability, and P is their mixture: weights w_j, 1/(J+1) at first, are
    multiplied by what each gave to the label over what P gave. Then L <= L_j + ln(J+1) for every j that never slept,
    and with the theorem of the softmax member sqrt 1 (certificates/many_regret.py), for every U
        L  <=  L_U + sum of u_j'A u_j/2 + sum of Delta + ln(J+1).
    What new labels cost, and the chance that is kept for them, is added as there. Only that one member is compared with
    weights U, which see every round: those against the rest, and on random features, do better as a rule, and their
    losses are told beside.
Assumptions
    those of certificates/many_regret.py for the member; the mixture lost at most ln(J+1) more than each that never
    slept, and the weights are those of the losses (all checked).
Proof
    -ln P_y summed over the rounds is -ln of the sum of the members' weights before they are divided, e^(-L_j)/(J+1)
    each, and that sum is at least any one of them. Who sleeps keeps its weight, and is left out of P: for those awake
    ln w_j = -ln(J+1) + sum of (-ln P_y - (-ln P_j,y)) as before, and w_j <= 1. []
Reference
    [vovk1998]; [mcmahan2017].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.certificate import Bound, outward, seen, theorem
from novikoff.certificates.many_facts import SLACK, ManyFacts, assumptions, reason_void
from novikoff.types import Run


@dataclass(frozen=True, slots=True)
class ManyAutoFacts(ManyFacts):
    """The mixture, and in gained, dual and least its softmax member sqrt 1.

    shown         the number of that member
    names         of all
    losses        the sum of their log losses while awake, had labels been announced
    log_weights   ln of their weights
    slept         who fell asleep
    """

    shown: int
    names: list[str]
    losses: list[float]
    log_weights: list[float]
    slept: list[bool]


@theorem("D", "vovk1998", "log loss")
def many_auto_regret(run: Run[ManyAutoFacts]) -> Bound | None:
    """The least right side over the comparators; None if none were tracked."""
    if run.tracked is None or run.log_loss is None:
        return None
    after, price = run.after, math.log(len(run.after.names))
    awake = [j for j, slept in enumerate(after.slept) if not slept]
    slack = SLACK * (1.0 + after.loss)
    kept = all(after.loss - after.losses[j] <= price + slack for j in {*awake, after.shown})
    weighed = all(abs(after.loss - after.losses[j] - price - after.log_weights[j]) <= slack for j in awake)
    needed = assumptions(run, run.log_loss, after.losses[after.shown])
    trivial = run.rounds * math.log(max(after.labels, 2))
    needed.append(seen("the mixture lost at most ln(J+1) more than every member awake", kept))
    needed.append(seen("its weights are those of what the members lost", weighed))
    if reason := reason_void(run, needed):
        return Bound(None, needed, observed=run.log_loss, trivial=trivial, void=reason)
    u = min(run.tracked.comparators, key=lambda u: u.loss + 0.5 * u.square + u.doubt)
    best = min(awake, key=after.losses.__getitem__)
    quantities = {
        "comparator_loss": u.loss,
        "penalty": 0.5 * u.square,
        "delta": after.penalty,
        "mixture": price,
        "novelty": after.novelty,
        "labels": after.labels,
        "member": after.names[best],
        "member_loss": after.losses[best],
        "best_constant": after.entropy,
        "fitted": run.tracked.fitted,
    }
    value = u.loss + 0.5 * u.square + u.doubt + after.penalty + price + after.novelty
    return Bound(outward(value + run.rounds * 2.0**-49), needed, quantities, run.log_loss, trivial)
