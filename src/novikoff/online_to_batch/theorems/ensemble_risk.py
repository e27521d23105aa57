"""Risk of a hypothesis drawn at random from a run, from its mistakes: for all times at once.

Theorem (upper; kind P, for all n simultaneously)
    Let the examples be independent draws from one distribution, H_{t-1} the hypothesis that predicted example t, M the
    mistakes among the first n, L = ln((M+1)(M+2)/delta). With probability at least 1 - delta, for all n at once
        rbar  =  (RISK(H_0) + .. + RISK(H_{n-1})) / n   <=   P(M) / n,
    where P(0) = L, and for M >= 1 P = M + s, s > 0 the root of s - M ln(1 + s/M) = L. In closed form
        P(M)  <=  M + L + sqrt(L^2 + 2ML)  <=  M + sqrt(2ML) + 2L.
    rbar is the risk of the classifier that draws a new t from 0, .., n-1 for each prediction and predicts with H_t.
    It is also the risk of ONE H_t drawn in this way, on average over the draw; the risk of the one drawn exceeds rbar/d
    with probability at most d, and no more is guaranteed for it. The same holds for losses in [0, 1], M their sum,
    rounded up. The bound may be monitored during the run, and the run may be stopped because of it.
Assumptions
    The examples are independent draws from one distribution (trusted; void if a drift test refutes it). H_0 does not
    depend on them (earlier training on other examples is allowed). First pass only.
Proof
    Given the past, example t is fresh: its loss X_t in [0, 1] has mean p_t = RISK(H_{t-1}). For x > 0, by convexity,
        E[exp(-x X_t) | past]  <=  1 - (1 - e^-x) p_t  <=  exp(-(1 - e^-x) p_t),
    so that exp(-x (X_1 + .. + X_n) + (1 - e^-x) n rbar) is a supermartingale that begins at 1. By Ville's inequality it
    ever reaches (m+1)(m+2)/delta with probability at most delta/((m+1)(m+2)). Choose x = x_m for each m = 0, 1, ..:
    these probabilities sum to delta. Otherwise, whenever the losses sum to at most m,
        n rbar  <=  (x_m m + L_m) / (1 - exp(-x_m)).
    For m = 0 let x grow: the limit is L (the event of no loss at all up to n is that of all x). For m >= 1 the least
    over x is where m (e^x - 1) = x m + L; the right side is then m e^x = m + s with x = ln(1 + s/m). As
    a - ln(1+a) >= a^2/(2(1+a)), s^2 <= 2L (m + s): s <= L + sqrt(L^2 + 2Lm). []
Reference
    [cesabianchi2004], [cesabianchi2008] with other constants, which are never smaller; [howard2020] for such bounds.
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.online_to_batch.risk import poisson_closed, poisson_limit, share
from novikoff.online_to_batch.theorems.risk_facts import MEAN, EnsembleFacts, independent, quantities_of, risk_bound

WHEN = "for all n at once"
"""When the bound holds, as a certificate prints it."""


@theorem(
    "P",
    "cesabianchi2008",
    quantity=MEAN,
    words=Words(
        covers="independent examples from one distribution",
        why="the hypotheses made {mistakes} mistakes on {rounds} examples, each predicted before it was learned from",
        otherwise=(
            "the Brier scores of the hypotheses on {rounds} examples, each predicted before it was learned from, add "
            "up to at most {brier}"
        ),
    ),
)
def ensemble_risk(facts: EnsembleFacts) -> Bound:
    """Bound rbar by P(M)/n; observed is the mistake rate."""
    assumptions, quantities, bound = [independent(facts)], quantities_of(facts, WHEN), None
    if facts.rounds:
        quantities["closed_form"] = share(poisson_closed(facts.mistakes, facts.delta), facts.rounds)
        bound = share(poisson_limit(facts.mistakes, facts.delta), facts.rounds)
    return risk_bound(bound, facts.mistakes, facts.rounds, assumptions, quantities, facts.quantity)
