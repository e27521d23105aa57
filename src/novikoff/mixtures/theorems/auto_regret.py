"""Log loss of `auto`, against every u of every member.

Theorem (upper)
    P = sum of w_j P_j / sum of w_j over the forecasters awake, w_j = 1/(J+1) at first; then w_j *= P_j(y)/P(y) for
    those. Who is awake is settled before y, and the first round settles J. For every forecaster j that never slept
        L  <=  L_j + ln(J+1),
    and for one that slept and woke, any number of times, the same over the rounds in which it was awake: nothing is
    promised against it in the others, so it is left out of what follows. Diagonal members and the stack never sleep.
    so for every such member j and every u:  L <= L_u + (what j's own theorem says of u) + ln(J+1), which is
    convex/theorems/ftrl_regret.py for diagonal members and convex/theorems/logistic_regret.py for the others.
    Reported is the least of these. For members on random features u has a weight for each of those: they move with the
    running mean of the rows, and L_u is found by going through the rows again in their order.
Assumptions
    the learner began with nothing, its rounds are the ledger's, the comparators saw them all; each weight is what the
    log losses of the scores say, and all of them add up to 1: the mixture was played; no metric shrank; the sums of
    each member whose theorem is used are those of the scores it played (all checked). The members whose theorems are
    used never slept; random features are found again up to 20,000 rounds, of rows that are kept. Of the others nothing
    is used but their scores.
Proof
    The awake keep the sum of their weights and sleepers keep theirs, also when they wake, so all weights add up to 1,
    and w_j <= 1. ln w_j is -ln(J+1) + the sum of L - L_j over the rounds in which j was awake. []
    A member j that sleeps from round s on could stand for rounds 1 .. s, with an awake k for the rest: L <= L_j(1..s) +
    ln(J+1) + L_k(s+1..T) - ln w_k(s). That is L_k + ln(J+1) - ln w_j(s), so never less than what k alone gives; with
    k's suffix promised it is, in the same way, above mixtures/theorems/auto_frozen.py at s by at least -ln w_j(s).
Reference
    [vovk1998].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import best_constant, steady
from novikoff.core.certificate import Bound, has_comparators, outward, refutations, seen, theorem
from novikoff.core.errors import counted
from novikoff.core.types import Run
from novikoff.mixtures.theorems.auto_facts import AutoFacts, of_a_mixture

NONE_AWAKE = "no member was active in all rounds"
NOT_KEPT = "only members on random features were active in all rounds, and there are too many to recompute theirs"


@theorem("D", "vovk1998", "log loss", where=has_comparators)
def auto_regret(run: Run[AutoFacts]) -> Bound | None:
    """Return the least right side over members and comparators."""
    if run.log_loss is None:
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
    reason = refutations(needed)
    if run.before.rounds:
        reason = f"warm start: the learner had played {counted(run.before.rounds, 'round')} when the game started"
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
