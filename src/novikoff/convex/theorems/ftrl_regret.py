"""Log loss of follow the regularised leader, against every u.

Theorem (upper; within 5 % on e_1 .. e_k)
    Scores z, g = l'(z) with l(z) = ln(1 + e^(-yz)), G the sum of g x, A_1 <= A_2 <= ... metrics, where A_t may depend
    on x_t; z0 = -G_{t-1}'A_t^-1 x, v = x'A_t^-1 x. For every u
        L  <=  L_u + u'Au/2 + sum of Delta,   Delta = g (z - z0) + g^2 v/2,
    L the sum of l(z) and L_u of l(<u,x>) over all rounds, A the metric at the end. If z + (v/2) tanh(z/2) = z0, Delta
    is v q (1-q)/2 with q the probability of the wrong label: at most v/8. Whatever z is, L <= L_u + u'Au/2 + D, D = sum
    of g z + G'A^-1 G/2 at the end. The bound uses the larger of the two.
Assumptions
    the learner started untrained; its rounds are those of the ledger, and the comparators saw them all; its sums are
    those of the scores it played; its metric never shrank; with a constant feature of value c, which adds c (P(+1) -
    1[y = +1]) to its gradient in every round, G/c is exactly the total excess of P(+1) (all checked).
Proof
    Convexity: l(z) - l(<u,x>) <= g (z - <u,x>). Sum: L - L_u <= sum of g z - <G,u>, and -<G,u> <= u'Au/2 + G'A^-1 G/2:
    that is D. With Phi_t = G_t'A_t^-1 G_t/2, as A grows, g z + Phi_t - Phi_{t-1} <= g z - g z0 + g^2 v/2 = Delta; so D
    is at most the sum of Delta. Where z is the root, z - z0 = -(v/2) tanh(z/2), y g = -q and y tanh(z/2) = 1 - 2q. []
    Rounding: G is off by at most u0 n (n+20) M for a feature with n rounds and |x| <= M, u0 = 2^-53, which adds that
    times |u|; sums of T numbers are off by (T+20) 2 u0 of the sum of their sizes; the metric is the computed one.
Reference
    [mcmahan2017]; [orabona2018].
"""

from __future__ import annotations

from novikoff.comparators.metric_facts import MetricFacts, log_loss_bound
from novikoff.core.certificate import Bound, has_comparators, parts, theorem
from novikoff.core.types import Run


@theorem("D", "mcmahan2017", "log loss", where=has_comparators)
def ftrl_regret(run: Run[MetricFacts]) -> Bound | None:
    """Return the least bound over the comparators."""
    return log_loss_bound(run, lambda u: u.log_bound)


@ftrl_regret.witnessed
def witness(run: Run[MetricFacts]) -> dict[str, object] | None:
    """Return the parts of the least bound, and u by place, -1 for the constant feature."""
    u = min(run.tracked.comparators, key=lambda u: u.log_bound)
    found = parts(comparator=u.log_loss, penalty=0.5 * u.square, delta=u.promised, doubt=u.doubt)
    return None if found is None else {**found, "weights": u.by_place()}
