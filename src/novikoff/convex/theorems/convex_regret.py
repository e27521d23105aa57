"""Loss of follow the regularised leader with any convex loss, against every u.

Theorem (upper; 87 % of it is reached on e_1 .. e_k)
    Let the losses l_t be convex in the score, g a subgradient of l_t at z, G the sum of g x, and A_1 <= A_2 <= ...
    metrics, where A_t may depend on x_t; z = -G_{t-1}'A_t^-1 x_t, v = x'A_t^-1 x. For every u
        sum of l(z)  <=  sum of l(<u,x>) + u'Au/2 + sum of g^2 v/2,
    A the metric at the end. Whatever z is, the same holds with D = sum of g z + G'A^-1 G/2 in place of the last sum; D
    is at most that sum. The bound uses the larger of the two.
    With A = M sqrt(s^2 M^2 + H)/c for a feature with |x| <= M, H the sum of (g x)^2, |g| <= s (AdaGrad), the regret
    against u is at most
        the sum over features of  u^2 M sqrt(s^2 M^2 + H)/(2c) + c sqrt(H)/M,
    which is of the order of sqrt T for hinge, absolute, pinball and Huber loss.
Assumptions
    the learner started untrained; its rounds and its loss are those of the ledger, and the comparators saw all rounds;
    its sums are those of the scores it played; its metric never shrank (all checked).
Proof
    Convexity: l(z) - l(<u,x>) <= g (z - <u,x>). Sum: at most the sum of g z - <G,u>, and -<G,u> <= u'Au/2 + G'A^-1 G/2
    (Fenchel): that is D. With Phi_t = G_t'A_t^-1 G_t/2, as A grows, Phi_t - Phi_{t-1} <= g G_{t-1}'A_t^-1 x + g^2 v/2 =
    -g z + g^2 v/2: add up. AdaGrad: g^2 x^2 <= s^2 M^2, so s^2 M^2 + H_{t-1} >= H_t and the sum of g^2 x^2/A_t is at
    most c/M times that of (H_t - H_{t-1})/sqrt(H_t), which is at most 2 sqrt(H). [] The first non-zero outcome sets the
    scale of the rate while G = 0, when z is 0 in any metric.
    Rounding: G is off by at most u0 n (n+20) M max|g| for a feature with n rounds, u0 = 2^-53, which adds that times
    |u|; slopes by u0 of their size; sums of T numbers by (T+20) 2 u0 of the sum of their sizes; the loss of u is the
    larger of those at the ends of an interval that contains <u,x>; the metric is the computed one, exactly.
Reference
    [mcmahan2017]; [duchi2011]; [zinkevich2003] for convex losses.
"""

from __future__ import annotations

from novikoff.convex.theorems.convex_facts import ConvexFacts, judged
from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "mcmahan2017",
    "loss",
    words=Words(
        covers="follow the regularised leader with a convex loss",
        why=(
            "a linear predictor has a total loss of {comparator_loss:up} on these rows; its norm, in the learner's "
            "metric, adds {penalty:up}, and learning it adds {delta:up}"
        ),
    ),
)
def convex_regret(run: Run[ConvexFacts]) -> Bound | None:
    """Return the least bound over the comparators; None if none were tracked."""
    if run.tracked is None:
        return None
    u, needed, reason = judged(run)
    after, quantity, trivial = run.after, f"{run.after.loss} loss", run.tracked.nothing
    if u is None:
        return Bound(None, needed, observed=after.lost, trivial=trivial, quantity=quantity, void=reason)
    quantities = {
        "comparator_loss": u.lost,
        "penalty": 0.5 * u.square,
        "delta": max(after.promised, run.tracked.dual),
        "fitted": run.tracked.fitted,
    }
    rounding = run.rounds * 2.0**-50 + 2.0**-50 * after.lost
    bound = outward(u.lost + 0.5 * u.square + u.doubt + quantities["delta"] + rounding)
    return Bound(bound, needed, quantities, after.lost, trivial, quantity)
