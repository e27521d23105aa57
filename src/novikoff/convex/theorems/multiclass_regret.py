"""Log loss of multiclass follow the regularised leader, against every U.

Theorem (upper; within 3 % on e_1 .. e_n, all labelled 1 of two, at a rate of 1/4)
    Labels 0 .. k-1. Scores z, P_j = e^z_j / sum of e^z, l(z) = -ln P_y, g = P - 1_y its gradient, G_j the sum of g_j x,
    A_1 <= A_2 <= ... metrics, the same for all labels, where A_t may depend on x_t; z0_j = -G_j'A_t^-1 x over earlier
    rounds, v = x'A_t^-1 x. For every U
        L  <=  L_U + sum of u_j'A u_j/2 + sum of Delta,   Delta = <g, z - z0> + |g|^2 v/2,
    L the sum of l(z) and L_U of l(Ux) over all rounds, A the metric at the end. If z_j + v (P_j - 1/k) = z0_j, Delta is
    v (1 - |P|^2)/2. Whatever z is, L <= L_U + sum of u_j'A u_j/2 + D, D = sum of <g, z> + sum of G_j'A^-1 G_j/2 at the
    end. The bound uses the larger of the two.
    If labels are not announced, k is the number of labels observed so far, the current one included, for L and for L_U.
    The learner cannot know a label before its first round: it reserves a probability e_t for a new label, and the known
    labels share the rest. In addition to L it then loses -ln(1 - e_t) in a round without a new label, and
    -ln e_t - l(z) in a round with one: this is added exactly. With e_t = 1/t^2 the former sum to at most ln 2, and a
    new label in round t costs at most 2 ln t.
Assumptions
    the learner started untrained; its rounds are those of the ledger, and the comparators saw them all; its losses and
    its sums are those of the scores it played; its metric never shrank (all checked).
Proof
    l is convex: l(z) - l(Ux) <= <g, z - Ux>. Sum: L - L_U <= sum of <g, z> - sum of <G_j, u_j>, and -<G_j, u_j> <=
    u_j'A u_j/2 + G_j'A^-1 G_j/2: that is D. With Phi_t = sum of G_j'A_t^-1 G_j/2, as A grows, <g, z> + Phi_t -
    Phi_{t-1} <= <g, z - z0> + |g|^2 v/2 = Delta; so D is at most the sum of Delta. At the root, with e = z - z0 =
    -v (P - 1/k): |g|^2 - 2 <g, P - 1/k> = |P - 1_y|^2 - 2 <P - 1_y, P> = 1 - |P|^2, as the entries of g sum to 0.
    A label not yet observed has G = 0 and no part in l: it joins at no cost, and nothing above changes. L_U over fewer
    labels is at most L_U over all. []
    Rounding: G is off by at most u0 n (n+20) M for a feature with n rounds and |x| <= M, u0 = 2^-53, which adds that
    times |U|; sums of kT numbers are off by (kT+20) 2 u0 of the sum of their sizes; the metric is the computed one.
Reference
    [mcmahan2017]; [orabona2018].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import why_void
from novikoff.comparators.multiclass_facts import MulticlassFacts, assumptions
from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "mcmahan2017",
    "log loss",
    words=Words(
        covers="multiclass follow the regularised leader on any rows",
        why=(
            "there are weights for the {labels} labels with a total log loss of {comparator_loss:up} on these rows; "
            "their norm adds {penalty:up}, learning them {delta:up}, and labels seen for the first time {novelty:up}"
        ),
    ),
)
def multiclass_regret(run: Run[MulticlassFacts]) -> Bound | None:
    """Return the least bound over the comparators; None if none were tracked."""
    if run.tracked is None or run.log_loss is None:
        return None
    after = run.after
    needed, trivial = assumptions(run, run.log_loss, after.loss), run.rounds * math.log(max(after.labels, 2))
    if reason := why_void(run, needed):
        return Bound(None, needed, observed=run.log_loss, trivial=trivial, void=reason)
    u = min(run.tracked.comparators, key=lambda u: u.loss + 0.5 * u.square + u.doubt)
    quantities = {
        "comparator_loss": u.loss,
        "penalty": 0.5 * u.square,
        "delta": max(after.penalty, run.tracked.dual),
        "novelty": after.novelty,
        "labels": after.labels,
        "best_constant": after.entropy,
        "fitted": run.tracked.fitted,
    }
    value = u.loss + 0.5 * u.square + u.doubt + max(after.penalty, run.tracked.dual) + after.novelty
    return Bound(outward(value + run.rounds * 2.0**-49), needed, quantities, run.log_loss, trivial)
