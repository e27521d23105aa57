"""Risk of the best hypothesis of a run, from its errors on the examples after it.

Theorem (upper; kind P, n fixed in advance, or for all n simultaneously)
    Let K_t be the errors of H_t on examples t+1, .., n, N_t = n - t of them, and U_t Clopper and Pearson's upper limit
    at level delta/n: the p at which at most K_t of N_t have probability delta/n (1 if K_t = N_t). With probability at
    least 1 - delta, n being fixed in advance,
        RISK(H_t)  <=  U_t   for all t = 0, .., n-1 together,
    so also for the t of the smallest U_t, however the t to compare were chosen (for example the 50 that predicted
    longest). Among equal hypotheses the first has the most examples after it. If n was not fixed in advance, this holds
    for all n and t together with P(K_t)/N_t in place of U_t, P as in online_to_batch/theorems/ensemble_risk.py with
    L = ln((t+1)(t+2)(K+1)(K+2)/delta).
    A bound in advance: with B = ln(3n/delta), k = sqrt 2 + sqrt(2/3), with probability at least 1 - delta
        min over ALL t of U_t   <=   ( sqrt(rbar) + 4 k sqrt(B/n) )^2,      4k = 8.92284..,
    and rbar is at most the limit of ensemble_risk_fixed.py at delta/3. The certificate reports U_t; `explicit` is the
    last bound, which holds for the best of all hypotheses, not for the best of some, and for n fixed in advance.
Assumptions
    The examples are independent draws from one distribution (trusted; void if a drift test refutes it); n was fixed in
    advance (trusted for a whole source); the errors are those on ALL examples after t (checked). H_0 does not depend on
    the examples. First pass only.
Proof
    Given the first t examples H_t is fixed and K_t is binomial (N_t, RISK(H_t)). Clopper and Pearson's limit is below
    the risk with probability at most its level: the limit grows with K, so it is below r only if K is at most the
    largest k whose limit is below r, and at r the probability of that is at most the level. By a union bound over the n
    levels, all limits hold together before any t is chosen. For all n, take ensemble_risk.py given the first t
    examples, with delta/((t+1)(t+2)), which sum to delta.
    The last: let W_t = (K + B + sqrt(B^2 + 2BK))/N, K = K_t, N = N_t, r = RISK(H_t), so that sqrt(W_t N) =
    sqrt(K + B/2) + sqrt(B/2). At p = W_t at most K of N has probability at most exp(-(Np-K)^2/(2Np)) = e^-B <= delta/n,
    so U_t <= W_t. By Bernstein's inequality, except with probability e^-B each, delta/3 in all, K <= Nr + B/3 +
    sqrt(B^2/9 + 2NrB), and K + B/2 <= (sqrt(Nr) + (k - sqrt(1/2)) sqrt B)^2; so sqrt(W_t) <= sqrt(r) + k sqrt(B/N). Let
    v = min W_t. Then r_t >= v - 2k sqrt(vB/N_t), also where sqrt v < k sqrt(B/N_t), as that is negative. The mean over
    t, with 1 + 1/sqrt 2 + .. + 1/sqrt n <= 2 sqrt n, is rbar >= v - 4k sqrt(vB/n); so
    sqrt v <= 2k sqrt(B/n) + sqrt(rbar + 4 k^2 B/n) <= sqrt(rbar) + 4k sqrt(B/n). []
Reference
    [cesabianchi2004], [cesabianchi2008] for the choice among all hypotheses; [clopper1934].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, seen, theorem
from novikoff.online_to_batch.risk import candidate_limit, clopper_pearson, kl_limit
from novikoff.online_to_batch.theorems.risk_facts import BestFacts, in_advance, independent, quantities_of, risk_bound

FACTOR = 4.0 * (math.sqrt(2.0) + math.sqrt(2.0 / 3.0))
"""The constant 4k of the theorem."""


@theorem(
    "P",
    "cesabianchi2008",
    quantity="risk",
    words=Words(
        covers="independent examples from one distribution",
        why="it was fixed after {first} examples and made {errors} errors on the {trials} that followed",
    ),
)
def best_risk(facts: BestFacts) -> Bound:
    """RISK(H_t) <= U_t; observed is the error rate of H_t on the examples after it."""
    every = facts.trials == facts.rounds - facts.first
    assumptions = [
        independent(facts),
        *([in_advance(facts)] if facts.horizon else []),
        seen("its errors are counted on all later examples", every),
    ]
    quantities = quantities_of(facts, "n fixed in advance" if facts.horizon else "for all n at once")
    if not facts.rounds or not facts.trials:
        return risk_bound(None, 0, 0, assumptions, quantities)
    quantities |= {"candidates": facts.candidates, "first": facts.first, "errors": facts.errors,
                   "trials": facts.trials}  # fmt: skip
    if facts.horizon:
        quantities["explicit"] = explicit(facts.mistakes, facts.rounds, facts.delta)
    bound = limit(facts.errors, facts.trials, facts.first, facts.rounds, facts.delta, facts.horizon)
    return risk_bound(bound, facts.errors, facts.trials, assumptions, quantities)


def limit(errors: int, trials: int, first: int, rounds: int, delta: float, horizon: bool = True) -> float:
    """Return U_t, by which candidates are compared (the smallest wins); 1 if there are no trials."""
    if not trials:
        return 1.0
    if not horizon:
        return candidate_limit(errors, trials, first, delta)
    level = math.nextafter(delta / rounds, 0.0)
    return clopper_pearson(errors, trials, level) if level else 1.0


def explicit(mistakes: int, rounds: int, delta: float) -> float:
    """Return (sqrt(limit of rbar at delta/3) + 8.92284 sqrt(ln(3n/delta)/n))^2, at most 1."""
    third = math.nextafter(delta / 3.0, 0.0) or delta
    b = math.log(3.0 * rounds) - math.log(delta)
    root = math.sqrt(kl_limit(mistakes, rounds, third)) + FACTOR * math.sqrt(b / rounds)
    return min(root * root * (1.0 + 1e-12), 1.0)
