"""Regret of exponential weights with a decreasing rate: no horizon is needed.

Theorem (upper; approached arbitrarily closely with N = 2: the experts alternate first, then one leads)
    Losses lie in [0, S]; in round t weights are proportional to prior * exp(-r_t L), with the losses L of all rounds
    before and r_1 >= r_2 >= ... > 0. Whatever the losses are, for every expert i and every T
        sum of h_t  <=  L_i + ln(1/prior_i) / r_T + S^2/8 (r_1 + ... + r_T).
    The reported bound is the least of the right sides over i, less the loss of the best expert. With r_t = 2 sqrt(ln N
    / t) / S and no prior that is at most S sqrt(T ln N), for every T.
Assumptions
    losses lie in [0, S] (checked); the last rate is no larger than the mean rate (checked: decreasing rates imply it);
    the learner began with its prior (checked); a mixture is played of a convex loss only (checked). The rate of a round
    applies to all losses before it: multiplying old weights by exp(-r_t l_t) is a different rule, which is not covered.
Proof
    Let F_t(r) = -(1/r) ln sum of prior_i exp(-r L_i), with the losses of t rounds: the power mean of exp(-L) of order r
    is exp(-F_t(r)) and grows with r, so F_t falls as r grows (sum of priors <= 1 only adds ln(1/sum)/r, which does,
    too). The mix loss of round t is m_t = F_t(r_t) - F_{t-1}(r_t). As r_{t+1} <= r_t, F_t(r_t) <= F_t(r_{t+1}), so
        sum of m_t  <=  F_T(r_T) - F_0(r_1)  <=  F_T(r_T)  <=  L_i + ln(1/prior_i) / r_T,
    the sum telescoping with F_0 >= 0. And h_t - m_t <= r_t S^2 / 8 by Hoeffding's lemma. []
    For the rate 2 sqrt(ln N / t)/S: the first term is S sqrt(T ln N)/2, and the sum of 1/sqrt t is at most 2 sqrt T.
Reference
    [cesabianchi2006], theorem 2.3, with a larger constant; [derooij2014] for the mix loss.
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, rule, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, regret_bound, the_rate_never_rose, witness_of


@theorem(
    "D",
    "cesabianchi2006",
    quantity="regret",
    where=rule("anytime"),
    words=Words(covers="exponential weights with a learning rate that decreases with the rounds"),
)
def anytime_regret(run: Run[ExpertsFacts]) -> Bound:
    """Return ln(1/prior)/r_T + S^2/8 * (sum of rates) for the comparator that minimises it."""
    after = run.after
    default_rate = after.top * math.sqrt(after.rounds * math.log(after.experts))
    return regret_bound(
        run,
        0.0 if after.settled else after.detour + after.entrance + after.variation,
        [the_rate_never_rose(after)],
        {"comparator": after.comparator, "default_rate": default_rate},
    )


@anytime_regret.witnessed
def witness(run: Run[ExpertsFacts]) -> dict[str, object] | None:
    """Return the rates."""
    return witness_of(run, rate=run.after.rate, rates=run.after.rates / run.after.unit)
