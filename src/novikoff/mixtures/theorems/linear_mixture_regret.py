"""Log loss of the linear mixture against every u of every member.

Theorem (upper)
    P = sum of w_j P_j / sum of w_j over the forecasters awake, w_j = 1/(J+1) at first; then w_j *= P_j(y)/P(y) for
    those. The forecasters awake are determined before y, and J by the first row. For every forecaster j that never
    slept
        L  <=  L_j + ln(J+1).
    For a forecaster that slept and woke, any number of times, the same holds over the rounds in which it was awake;
    there is no bound in the other rounds, so it is left out below. Diagonal members and the stack never sleep. So for
    every member j that never slept and every u:  L <= L_u + (the regret of j's theorem against u) + ln(J+1). The
    theorem is convex/theorems/ftrl_regret.py for diagonal members and convex/theorems/logistic_regret.py for the
    others. The reported bound is the least of these. For members on random features u has a weight per random feature:
    these depend on the running mean of the rows, and L_u is computed by reading the rows again in their order.
Assumptions
    the learner started untrained, its rounds are the ledger's, the comparators saw them all; each weight agrees with
    the log losses of the scores, and the weights sum to 1 (so the mixture was played); no metric shrank; the sums of
    each member whose theorem is used agree with its scores (all checked). Only theorems of members that never slept are
    used; random features are recomputed for up to 20,000 rounds, from stored rows. Other members enter by their scores
    only.
Proof
    The forecasters awake keep the sum of their weights, and sleepers keep their own, also when they wake. So all
    weights sum to 1, and w_j <= 1. ln w_j is -ln(J+1) + the sum of L - L_j over the rounds in which j was awake. []
    A member j that sleeps from round s on could be compared in rounds 1 .. s, and an awake k in the rest:
    L <= L_j(1..s) + ln(J+1) + L_k(s+1..T) - ln w_k(s). That is L_k + ln(J+1) - ln w_j(s), so never less than the bound
    of k alone; with a bound on k's suffix it exceeds, in the same way, mixtures/theorems/linear_mixture_frozen.py at s
    by at least -ln w_j(s).
Reference
    [vovk1998].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import best_constant, steady
from novikoff.core.certificate import (
    Bound,
    has_comparators,
    outward,
    refutations,
    seen,
    theorem,
    warm_start,
)
from novikoff.core.types import Run
from novikoff.mixtures.theorems.linear_mixture_facts import LinearMixtureFacts, of_a_mixture

NONE_AWAKE = "no member was active in all rounds"
NOT_KEPT = "only members on random features were active in all rounds, and there are too many to recompute theirs"


@theorem("D", "vovk1998", "log loss", where=has_comparators)
def linear_mixture_regret(run: Run[LinearMixtureFacts]) -> Bound | None:
    """Return the least right side over members and comparators."""
    if run.log_loss is None or not run.after.losses:
        return None
    after, tracked, trivial = run.after, run.tracked, run.rounds * math.log(2.0)
    if run.rounds and not tracked.fitted:  # no row was kept
        return None
    awake, price = [j for j, slept in enumerate(after.slept) if not slept], math.log(len(after.losses))
    needed = [
        seen("the learner started untrained", run.before.rounds == 0),
        *of_a_mixture(run),
        seen("the sums of the members agree with their scores", tracked.explained),
        seen("no metric shrank (no drift by rounding)", all(map(steady, after.gained, after.least))),
    ]
    reason = warm_start(run.before.rounds) or refutations(needed)
    lanes = sum(name.startswith(("sqrt", "newton")) for name in after.names)
    if reason or not tracked.comparators:
        reason = reason or (NOT_KEPT if any(j < len(after.gained) for j in awake) else NONE_AWAKE)
        return Bound(None, needed, observed=run.log_loss, trivial=trivial, void=reason)
    u = min(tracked.comparators, key=lambda u: u.log_bound if u.member < lanes else u.parabola_bound)
    value = u.log_bound if u.member < lanes else u.parabola_bound
    paid = max(price, run.log_loss - after.losses[u.member])
    quantities = {
        "member": after.names[u.member],
        "comparator_loss": u.log_loss,
        "penalty": 0.5 * u.square,
        "delta": u.promised,
        "deficit": 0.0 if u.member < lanes else u.parabola - u.log_loss,
        "mixture": price,
        "best_constant": best_constant(run),
        "heaviest": after.names[max(range(len(after.names)), key=after.log_weights.__getitem__)],
        "fitted": tracked.fitted,
    }
    return Bound(outward(value + paid + run.rounds * 2.0**-50), needed, quantities, run.log_loss, trivial)
