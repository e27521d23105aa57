"""Log loss of `auto`, against its members' and its stack's own weights, frozen after 2, 4, 8 ... rounds: no fit.

Theorem (upper)
    As in mixtures/theorems/auto_regret.py: L <= L_j + ln(J+1) for every member j that never slept. Let s = s_0 < s_1 <
    ... be the rounds after which its weights were copied, T the last. For a diagonal member with the copies w_0, w_1,
    ...
        L_j  <=  L_j(s) + sum over i of [ loss of w_i in rounds s_i + 1 .. s_(i+1) + w_i'(A_(i+1) - A_i)w_i/2 ]
                 + sum of Delta since s,
    L_j(s) what it paid until s: that part is observed, not promised. For a member of the second order, on random
    features too, the same with its ridge L in place of A and, as loss, the larger of the log loss and of the parabola
    that it took for it.
    For the stack it is that of the second order with L = I, the row x of a round being the scores that the members
    played in it, clipped to -8 .. 8 and 0 of members asleep, and h = kappa P(+1) P(-1), kappa = tanh(C/2)/(C/2), with
    the C = max(1, max |x_i|) of the round. Its copies w_i weigh members: the comparator combines the members as they
    played, who went on learning, and is no fixed function of the rows given.
    Reported is the least over members and stack, and over the s in the first eighth of the rounds.
    Of a learner that had begun before the ledger was opened, ln(J+1) is -ln of the weight that j had then.
Assumptions
    its rounds are the ledger's, the comparators saw them all; each weight is what the log losses of the scores say, and
    all of them add up to 1: the mixture was played; the sums of the members are those of the scores they played, along
    every copy; no metric shrank (all checked). A member that slept promises nothing; the stack never sleeps.
Proof
    Of the mixture: as there; if the ledger was opened later, ln w_j has grown by L - L_j since, and is at most 0.
    Diagonal: convex/theorems/ftrl_suffix.py, from s_i to s_(i+1), with u = w_i.
    Second order, as in convex/theorems/logistic_regret.py: F_t(u) = u'L_t u/2 + the sum of the parabolas Q up to t. Its
    least value is at the weights w after t, and l(z) + min F_(t-1) - min F_t <= Delta. From s_i to s_(i+1) the losses
    are at most sum of Delta + min F_(i+1) - min F_i <= sum of Delta + F_(i+1)(w_i) - F_i(w_i), as w_i is where F_i is
    least; and that is sum of Delta + sum of Q(w_i) + w_i'(L_(i+1) - L_i)w_i/2. Sum over i. []
    Whatever z is: with b = -sum of (g - hz) x, S = sum of h x x' and A = L + S, min F_t is
    (sum of l - g z + h z^2/2) - b'A^-1 b/2. So from s_i on, for every u, the losses are at most the sum of Q(u) +
    (sum of g z - h z^2/2) + b'A^-1 b/2 at the end - <b_i, u> + u'(L + S_i)u/2. Promised is the larger of the two.
    The stack: nothing above needs one kappa for all rounds, nor that of the lemma there, nor rows that do not depend on
    what was played. It needs h >= 0, so that A >= L > 0 and each F has its least value at w, and the same h in Q, in b
    and in A. Then F_(t-1)(w) = min F_(t-1) + (w - w_(t-1))'A_(t-1)(w - w_(t-1))/2, whose least value over <w,x> = s is
    min F_(t-1) + (s - z0)^2/(2v), so that, as L = I never grows,
        l(z) + min F_(t-1) - min F_t  =  -min over s of [ (s-z0)^2/(2v) + g(s-z) + h(s-z)^2/2 ]  =  Delta.
    u'(L_(i+1) - L_i)u is 0. The lemma only says where max(l, Q) is l: in the rounds with |<w_i,x>| <= C, as where w_i
    is a convex combination of members. [] With the stack's loss until s, L_stack(s) + ln(J+1) = L(s) - ln w(s): that is
    the same as to observe L(s) and to pay -ln of the weight of the stack after s.
    Rounding: b'A^-1 b is bounded with the weights that the learner has (comparators/metric.py); the rest as there. The
    comparators see the x and kappa of the stack to the bit: one function makes them of the scores that were played
    (numerics/logits.py), for both. g and h are made by the same operations. So, as for other members, b and S are off
    by the rounding of their sums alone, b by u0 n (n+20) 8 (1 + max|z|/4) after n rounds.
Reference
    [vovk1998]; [mcmahan2017].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import best_constant, steady
from novikoff.core.certificate import Bound, Words, has_comparators, outward, seen, theorem
from novikoff.core.types import Run
from novikoff.mixtures.theorems.auto_facts import AutoFacts, of_a_mixture, weights_before

SHARE = 8


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
def auto_frozen(run: Run[AutoFacts]) -> Bound | None:
    """Return the least right side over members and rounds; None if no copy is early enough."""
    if run.log_loss is None:
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
        quantities["combined"] = u.member  # members that come before it
    trivial = u.before + (run.rounds - u.after) * math.log(2.0)
    value = outward(u.before + u.bound + price[u.member] + run.rounds * 2.0**-50)
    return Bound(value, needed, quantities, paid, trivial)
