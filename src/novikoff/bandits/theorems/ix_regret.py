"""Regret of exponential weights with implicit exploration, by a bound known in advance: with high probability.

Theorem (upper; kind P, at a T that was fixed in advance)
    N policies on K arms, gamma_t = eta_t / 2, eta_t never rises (ix_pathwise.py has the algorithm). If the losses of a
    round are fixed, in any way, before its draw, then with probability at least 1 - delta the regret against the best
    policy is at most
        (2 ln N + ln(2/delta)) / eta_T  +  K * the sum of eta_t  +  ln(2/delta).
    With eta = sqrt(2 ln N / (K T)) that is 2 sqrt(2 K T ln N) + (sqrt(K T / (2 ln N)) + 1) ln(2/delta); with
    eta_t = sqrt(ln N / (K t)) at most 4 sqrt(K T ln N) + (sqrt(K T / ln N) + 1) ln(2/delta).
    Both are less than in the paper, where the square root before ln(2/delta) is twice as large.
    A bandit that explores draws one of the K arms uniformly with probability eps_t. With
        c_t  =  eta_t / (2 (1 - eps_t)) + eta_t/2 + eps_t/K      in place of eta_t,  and  m the largest c_t / eta_t,
    it is (2 ln N + ln(2/delta)) / eta_T + K * the sum of c_t + m ln(2/delta); without exploration that is the same.
    The regret depends on losses that a bandit does not observe: it is reported only if the whole table is known.
Assumptions
    the losses of a round were fixed before its draw (checked for files, arrays and lists; else trusted); the number of
    rounds was fixed in advance (checked if it is the `horizon`; else trusted); probabilities sum to 1 (checked).
Proof
    observable_regret.py shows that exp(a * e) has a mean of at most exp(the mean of a l), for each a <= 2 gamma_t and
    estimate e = q l/(p + gamma_t); likewise for the sum of the estimates over all arms, of which one is not 0. With
    a = eta_T, which is at most 2 gamma_t, and Markov's inequality over N policies: with probability 1 - delta/2,
        E_j  <=  L_j + ln(2N/delta) / eta_T   for all j.
    With a = eta_t over all arms: with probability 1 - delta/2 the sum of eta_t e_t is at most K * the sum of eta_t
    + ln(2/delta). Put both into ix_pathwise.py, where eta_t/2 + gamma_t = eta_t.
    With exploration a term there is at most c_t e_t, since a <= p/(1 - eps) and p - a <= eps/K. As c_t/m is at most
    eta_t, the sum of (c_t/m) e_t is at most K * the sum of c_t/m + ln(2/delta), with probability 1 - delta/2. []
Reference
    [neu2015], theorem 1 and corollary 1.
"""

from __future__ import annotations

import math

from novikoff.bandits.theorems.bandit_facts import BanditFacts, common, draws, game, regret, same_losses, why_void
from novikoff.core.certificate import NO_LARGER, Assumption, Bound, Words, largest_regret, outward, theorem
from novikoff.core.types import Run


@theorem(
    "P",
    "neu2015",
    quantity="regret",
    words=Words(
        covers="exponential weights over estimated losses",
        why="this bound is known in advance, for every table of losses",
    ),
)
def ix_regret(run: Run[BanditFacts]) -> Bound | None:
    """Return (2 ln N + ln(2/delta)) / eta + K * the sum of rates + ln(2/delta); None for other rules and gamma = 0."""
    after = run.after
    if after.rule != "ix" or not after.halved or not run.rounds:
        return None
    observed, quantity = regret(run)
    fixed = Assumption(
        "the number of rounds was fixed in advance", "checked" if after.horizon == run.rounds else "trusted"
    )
    return Bound(
        outward(in_advance(after) * (1.0 + (run.rounds + 8) * 2.0**-51)),
        [*game(run), same_losses(run), *draws(run), fixed],
        {**common(after), "eta": after.eta, "delta": after.delta},
        observed=observed,
        trivial=largest_regret(run.rounds, 1.0, after.best_loss) if after.table else run.loss,
        quantity=quantity,
        why=NO_LARGER,
        void=why_void(run),
    )


def in_advance(after: BanditFacts) -> float:
    """Return the bound for the rates played; 0 if there is nothing to choose."""
    if not after.eta:
        return 0.0
    chance = math.log(2.0 / after.delta)
    return (2.0 * math.log(after.policies) + chance) / after.eta + after.arms * after.rates + after.worst * chance
