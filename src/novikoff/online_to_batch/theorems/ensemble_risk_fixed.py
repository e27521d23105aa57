"""Risk of a hypothesis drawn at random from a run, from its mistakes: at the end of a run of fixed length.

Theorem (upper; kind P, n fixed in advance)
    Let n examples be independent draws from one distribution, H_{t-1} the hypothesis that predicted example t, M the
    mistakes, L = ln((M+1)(M+2)/delta). With probability at least 1 - delta
        rbar  =  (RISK(H_0) + .. + RISK(H_{n-1})) / n   <=   max { p : n kl(M/n || p) <= L },
    kl(q || p) = q ln(q/p) + (1-q) ln((1-q)/(1-p)). For losses in [0, 1] M is their sum, rounded up.
    The bound is smaller than that of online_to_batch/theorems/ensemble_risk.py, but holds only for one n that was
    chosen before the first example, not for one at which the run was stopped because of its results.
Assumptions
    The examples are independent draws from one distribution (trusted; void if a drift test refutes it); n was fixed in
    advance (trusted for a whole source; refuted, and void, for a run that may have been stopped). H_0 does not depend
    on the examples. First pass only.
Proof
    Given the past the loss X_t in [0, 1] of example t has mean p_t = RISK(H_{t-1}), and E[exp(-x X_t) | past] <=
    1 - c p_t, c = 1 - e^-x, by convexity, x > 0. So the product of the exp(-x X_t)/(1 - c p_t) is a supermartingale
    that begins at 1. As ln(1 - c p) is concave in p, the product of the 1 - c p_t is at most (1 - c rbar)^n. By
    Markov's inequality, except with probability delta/((m+1)(m+2)), which for m = 0, 1, .. sum to delta,
        -x (X_1 + .. + X_n) - n ln(1 - c rbar)  <  L_m                                                       (x = x_m).
    If the losses sum to at most m, then -x m - n ln(1 - c rbar) < L_m. For m < n let p > m/n be the solution of
    n kl(m/n || p) = L_m, and x_m the x > 0 that maximises -x m - n ln(1 - (1 - e^-x) p). This maximum is n kl(m/n || p)
    (it is at e^-x = m (1-p) / (p (n-m)) for m > 0, and x grows without bound for m = 0). The left side grows with rbar,
    so rbar < p. For m = n there is nothing to show. []
Reference
    [cesabianchi2008] for the question; [langford2005] for kl.
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.online_to_batch.risk import kl_limit
from novikoff.online_to_batch.theorems.risk_facts import (
    MEAN,
    EnsembleFacts,
    in_advance,
    independent,
    quantities_of,
    risk_bound,
)

WHEN = "n fixed in advance"
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
def ensemble_risk_fixed(facts: EnsembleFacts) -> Bound:
    """Bound rbar by the p above M/n with n kl(M/n || p) = L; observed is the mistake rate."""
    bound = kl_limit(facts.mistakes, facts.rounds, facts.delta) if facts.rounds else None
    needed = [independent(facts), in_advance(facts)]
    return risk_bound(bound, facts.mistakes, facts.rounds, needed, quantities_of(facts, WHEN), facts.quantity)
