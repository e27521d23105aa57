"""Log loss of the linear mixture against its members' and its stack's own weights, frozen after 2, 4, 8 ... rounds.

Theorem (upper)
    As in mixtures/theorems/linear_mixture_regret.py: L <= L_j + ln(J+1) for every member j that never slept. Let
    s = s_0 < s_1 < ... be the rounds after which its weights were copied, T the last. For a diagonal member with the
    copies w_0, w_1, ...
        L_j  <=  L_j(s) + sum over i of [ loss of w_i in rounds s_i + 1 .. s_(i+1) + w_i'(A_(i+1) - A_i)w_i/2 ]
                 + sum of Delta since s,
    where L_j(s) is the loss of j up to s, which is observed, not guaranteed. For a second-order member, also on random
    features, the same holds with its ridge L in place of A and, as the loss, the larger of the log loss and the
    member's parabola.
    The stack is a second-order member with L = I. Its row x in a round is the members' scores in that round, clipped
    to -8 .. 8, and 0 for members asleep; h = kappa P(+1) P(-1), kappa = tanh(C/2)/(C/2), with C = max(1, max |x_i|) of
    the round. Its copies w_i are weights of members: the comparator combines the members' scores while the members go
    on learning, so it is not a fixed function of the rows.
    The reported bound is the least over members and stack, and over the s in the first eighth of the rounds.
    If the learner had played before the ledger was opened, -ln of the weight that j had then replaces ln(J+1).
Assumptions
    the ledger records every round of the learner, and the comparators saw them all; each weight agrees with the log
    losses of the scores, and the weights sum to 1 (so the mixture was played); the sums of the members agree with their
    scores, along every copy; no metric shrank (all checked). There is no bound for a member that slept; the stack never
    sleeps.
Proof
    The mixture: as there; if the ledger was opened later, ln w_j has grown by L - L_j since then, and is at most 0.
    Diagonal: convex/theorems/ftrl_suffix.py, from s_i to s_(i+1), with u = w_i.
    Second order, as in convex/theorems/logistic_regret.py: let F_t(u) = u'L_t u/2 + the sum of the parabolas Q up to t.
    Its minimum is at the weights w after t, and l(z) + min F_(t-1) - min F_t <= Delta. From s_i to s_(i+1) the losses
    are at most sum of Delta + min F_(i+1) - min F_i <= sum of Delta + F_(i+1)(w_i) - F_i(w_i), because w_i minimises
    F_i; and that is sum of Delta + sum of Q(w_i) + w_i'(L_(i+1) - L_i)w_i/2. Sum over i. []
    For any z: with b = -sum of (g - hz) x, S = sum of h x x' and A = L + S, min F_t is
    (sum of l - g z + h z^2/2) - b'A^-1 b/2. So from s_i on, for every u, the losses are at most the sum of Q(u) +
    (sum of g z - h z^2/2) + b'A^-1 b/2 at the end - <b_i, u> + u'(L + S_i)u/2. The larger of the two is reported.
    The stack: the argument needs neither one kappa for all rounds, nor the kappa of the lemma there, nor rows that are
    independent of the predictions. It needs h >= 0, so that A >= L > 0 and each F has its minimum at w, and the same h
    in Q, in b and in A. Then F_(t-1)(w) = min F_(t-1) + (w - w_(t-1))'A_(t-1)(w - w_(t-1))/2, whose minimum over
    <w,x> = s is min F_(t-1) + (s - z0)^2/(2v), so, as L = I never grows,
        l(z) + min F_(t-1) - min F_t  =  -min over s of [ (s-z0)^2/(2v) + g(s-z) + h(s-z)^2/2 ]  =  Delta.
    u'(L_(i+1) - L_i)u is 0. The lemma only shows where max(l, Q) is l: in the rounds with |<w_i,x>| <= C, for instance
    if w_i is a convex combination of members. [] With the stack's loss up to s, L_stack(s) + ln(J+1) = L(s) - ln w(s):
    this equals observing L(s) and paying -ln of the stack's weight after s.
    Rounding: b'A^-1 b is bounded with the learner's own weights (comparators/metric.py); the rest as there. The
    comparators see the x and kappa of the stack to the bit: one function (numerics/logits.py) computes them from the
    scores for learner and comparators. g and h come from the same operations. So, as for other members, b and S are off
    by the rounding of their sums alone, b by u0 n (n+20) 8 (1 + max|z|/4) after n rounds.
Reference
    [vovk1998]; [mcmahan2017].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import best_constant, steady
from novikoff.core.certificate import Bound, Words, has_comparators, outward, seen, theorem
from novikoff.core.types import Run
from novikoff.mixtures.theorems.linear_mixture_facts import LinearMixtureFacts, of_a_mixture, weights_before

SHARE = 8
"""Copies are used if they were made in the first 1/SHARE of the rounds."""


@theorem(
    "D",
    "vovk1998",
    "log loss",
    where=has_comparators,
    words=Words(
        covers="an ensemble of logistic regressions from any round on",
        why=(
            "the log loss of its stack, a combination of the scores of its {combined} members, was {before:up} in the "
            "first {after} rounds, which is observed rather than guaranteed; on the members' scores since then, the "
            "weights it had at that point, copied again whenever the number of rounds had doubled, would have lost "
            "{comparator_loss:up}. The comparators are combinations of its own members, not one model of the rows"
        ),
        otherwise=(
            "the log loss of its member {member} was {before:up} in the first {after} rounds, which is observed rather "
            "than guaranteed; the weights it had at that point, copied again whenever the number of rounds had "
            "doubled, would have lost {comparator_loss:up} in the rounds since"
        ),
    ),
)
def linear_mixture_frozen(run: Run[LinearMixtureFacts]) -> Bound | None:
    """Return the least right side over members and rounds; None if no copy is early enough."""
    if run.log_loss is None or not run.after.losses:
        return None
    after, tracked, paid = run.after, run.tracked, run.log_loss
    early = [u for u in tracked.frozen if SHARE * u.after <= tracked.rows]
    if not early:
        return None
    needed = [
        *of_a_mixture(run),
        seen("the sums of the members agree with their scores", all(u.unexplained <= 1.0 for u in early)),
        seen("no metric shrank (no drift by rounding)", all(steady(u.gained, u.least) for u in early)),
    ]
    price = [max(-weight, paid - loss) for weight, loss in zip(weights_before(run), tracked.losses, strict=True)]
    u = min(early, key=lambda u: u.before + u.bound + price[u.member])
    quantities = {
        "member": after.names[u.member],
        "after": u.after,
        "before": u.before,
        "comparator_loss": u.log_loss,
        "delta": max(u.gained, u.dual),
        "deficit": u.deficit,
        "mixture": price[u.member],
        "best_constant": best_constant(run),
    }
    if after.names[u.member] == "stack":
        quantities["combined"] = u.member  # index of the stack, which is the number of members before it
    trivial = u.before + (run.rounds - u.after) * math.log(2.0)
    value = outward(u.before + u.bound + price[u.member] + run.rounds * 2.0**-50)
    return Bound(value, needed, quantities, paid, trivial)
