"""Cost of predictions with a threshold, for all thresholds, costs and times at once.

Theorem (upper; kind P, for all n simultaneously)
    Let the examples be independent draws from one distribution and s_t the score that the hypothesis H_{t-1} gave
    example t. With a threshold c it predicts +1 if s_t >= c. Among the first n examples let FP(c), FN(c) and TP(c) be
    the false positives, the false negatives and the true positives, and a(c), b(c), g(c) the means over the hypotheses
    H_0, .., H_{n-1} of their probabilities on a fresh example. For N thresholds fixed in advance, with probability at
    least 1 - delta, for all n and all these c at once
        n a(c)  <=  P(FP(c)),     n b(c)  <=  P(FN(c)),     n g(c)  >=  Q(TP(c)),
    where with L = ln(3N (m+1)(m+2)/delta) P(m) > m > Q(m) are the two roots of p - m - m ln(p/m) = L, P(0) = L and
    Q(0) = 0. So for all costs A of a false positive and B of a false negative at once
        expected cost of a fresh example  =  A a(c) + B b(c)  <=  (A P(FP(c)) + B P(FN(c))) / n
    for the classifier that draws a new t from 0, .., n-1 for each prediction and predicts with H_t and c. The threshold
    may be chosen after the run, for its cost, precision or recall on these examples; the run may be stopped because of
    it. If one hypothesis H, made without these examples, scores them all, it is the drawn one, and the limits are its.
Assumptions
    The examples are independent draws from one distribution (trusted; void if a drift test refutes it), each played
    once (checked; trusted if the game had several sources); or fresh examples from which H has not learned (trusted).
    H_0 does not depend on them.
    The thresholds are the edges of the bins of scores (game/metrics.py), and infinity: fixed in advance.
Proof
    Fix c. The upper limits are those of ensemble_risk.py for the losses 1[false positive] and 1[false negative] of
    H_{t-1}, in [0, 1] and of mean a_t, b_t given the past, with delta/(3N) each.
    The lower limit: let X_t in [0, 1] have mean p_t given the past. For x > 0, by convexity,
        E[exp(x X_t) | past]  <=  1 + (e^x - 1) p_t  <=  exp((e^x - 1) p_t),
    so that exp(x (X_1 + .. + X_n) - (e^x - 1)(p_1 + .. + p_n)) is a supermartingale that begins at 1. By Ville's
    inequality it ever reaches 3N (m+1)(m+2)/delta with probability at most delta/(3N (m+1)(m+2)). Choose x = x_m for
    each m = 1, 2, ..: these sum to at most delta/(3N). Otherwise, whenever X_1 + .. + X_n = m,
        p_1 + .. + p_n  >=  (x_m m - L) / (e^{x_m} - 1).
    The right side is largest where m (1 - e^-x) = x m - L, and is then q = m e^-x: q - m + m ln(m/q) = L, q = Q(m). For
    m = 0 the limit is 0. Add up the 3N probabilities: delta. []
Reference
    [cesabianchi2008] for the risk of a run; [howard2020] for such limits.
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.online_to_batch.risk import poisson_limit, share
from novikoff.online_to_batch.theorems.risk_facts import ThresholdFacts, threshold_bound

WORDS = (
    "of {rounds} examples, each scored by a hypothesis that had not learned from it, {true_positives} were true "
    "positives, {false_positives} false positives and {false_negatives} false negatives; valid for {thresholds} "
    "thresholds at once"
)
"""Why the limits of a threshold hold."""


@theorem(
    "P",
    "cesabianchi2008",
    quantity="cost per row",
    words=Words(covers="independent examples from one distribution", why=WORDS),
)
def threshold_cost(facts: ThresholdFacts) -> Bound:
    """Bound A a(c) + B b(c); observed is the mean cost of the examples."""
    value = 0.0
    if facts.rounds:
        for cost, count in ((facts.cost_fp, facts.false_positives), (facts.cost_fn, facts.false_negatives)):
            limit = share(poisson_limit(count, facts.level), facts.rounds)
            value = math.nextafter(value + math.nextafter(cost * limit, math.inf), math.inf)
    return threshold_bound(facts, "cost per row", value, facts.cost, max(facts.cost_fp, facts.cost_fn))
