"""Precision of predictions with a threshold, for all thresholds and times at once.

Theorem (lower; kind P, for all n simultaneously)
    In the setting of online_to_batch/theorems/threshold_cost.py let the classifier draw a new t from 0, .., n-1 for
    each prediction and predict +1 if the score of H_t is at least c. With probability at least 1 - delta, for all n and
    all c at once, its precision, the probability that a fresh example is +1, given that it is predicted +1, is
        g(c) / (g(c) + a(c))   >=   Q(TP(c)) / (Q(TP(c)) + P(FP(c))).
    These are the events of threshold_cost.py: all three theorems hold together with probability at least 1 - delta. If
    one hypothesis scores fresh examples, the limit is that of its own precision.
Assumptions
    As in threshold_cost.py.
Proof
    g/(g + a) grows with g and shrinks as a grows; insert n g >= Q(TP) and n a <= P(FP). []
Reference
    [cesabianchi2008], [howard2020].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.online_to_batch.risk import poisson_least, poisson_limit
from novikoff.online_to_batch.theorems.risk_facts import ThresholdFacts, threshold_bound
from novikoff.online_to_batch.theorems.threshold_cost import WORDS


@theorem(
    "P",
    "cesabianchi2008",
    quantity="precision",
    side="lower",
    words=Words(covers="independent examples from one distribution", why=WORDS),
)
def threshold_precision(facts: ThresholdFacts) -> Bound:
    """Bound g(c) / (g(c) + a(c)); observed is the precision on the examples, 0 where it is undefined."""
    right, wrong = facts.true_positives, facts.false_positives
    value, observed = 0.0, right / (right + wrong) if right else 0.0
    if right:
        least, most = poisson_least(right, facts.level), poisson_limit(wrong, facts.level)
        value = max(math.nextafter(least / math.nextafter(least + most, math.inf), 0.0), 0.0)
    return threshold_bound(facts, "precision", value, observed, 0.0)
