"""Mistakes of a Perceptron in a metric, against the hinge loss of any u.

Theorem (upper; tight for the second-order Perceptron on e_1 .. e_k, all labelled -1)
    Let b be the sum of y x over the updates, which are all mistakes and U other rounds, and A a metric at least as
    large as that of the last update. For every u, with D the sum over ALL rounds of max(0, 1 - y<u,x>):
        M  <=  D - U + sqrt(u'Au * Q).
    With m = y times the score and v = x'A_t^-1 x, Q is a sum over the updates: of v + 2 max(m, 0) for every metric that
    grows with the updates and includes x_t in A_t, such as the diagonal; of (v + 2m - m^2)/(1+v) for AROW, whose A_t
    excludes x_t. For the second-order Perceptron U = 0 and m <= 0, so Q is the sum of v. Whatever the scores were, the
    same holds with b'A^-1 b in place of Q. The bound uses the larger of the two, rounded down to an integer: Q is
    computed by the learner, b'A^-1 b by the comparators.
Assumptions
    the learner started untrained; its rounds are those of the ledger, and the comparators saw them all; b is the sum of
    y x over the rounds in which its scores require an update, as counted by the comparators; its metric never shrank
    (all checked).
Proof
    M + U - D is at most the sum over updates of y<u,x> = <u,b>, and that at most sqrt(u'Au) sqrt(b'A^-1 b). With
    Phi = b'A^-1 b, a growing A lowers Phi, and an update of b in the metric with x adds 2m + v. AROW adds x x' to A and
    y x to b: (b + yx)'(A + xx')^-1 (b + yx) = b'A^-1 b + (v + 2m - m^2)/(1+v). [] u = 0 gives D = T, so a bound of
    T - U is vacuous. Rounding: comparators/metric.py.
Reference
    [cesabianchi2005]; [crammer2013].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import MetricFacts, assumptions, why_void
from novikoff.core.certificate import Bound, has_comparators, outward, seen, theorem
from novikoff.core.types import Run


@theorem("D", "cesabianchi2005", where=has_comparators)
def metric_mistakes(run: Run[MetricFacts]) -> Bound:
    """Return the least bound over the comparators."""
    after = run.after
    idle = after.updates - after.mistakes
    needed, trivial = assumptions(run, run.mistakes), run.rounds - idle
    counted = (run.tracked.updates, run.tracked.mistakes) == (after.updates, after.mistakes)
    needed.append(seen("it learned in exactly the rounds in which its scores require it", counted))
    if reason := why_void(run, needed):
        return Bound(None, needed, trivial=trivial, void=reason)
    values = [u.hinge + math.sqrt(u.square * max(u.promised, 0.0)) for u in run.tracked.comparators]
    best = min(range(len(values)), key=values.__getitem__)
    u = run.tracked.comparators[best]
    quantities = {"hinge": u.hinge, "square": u.square, "gained": u.promised, "updates": after.updates,
                  "fitted": run.tracked.fitted}  # fmt: skip
    value = outward(values[best])
    bound = min(math.floor(value) - idle, trivial) if math.isfinite(value) else trivial
    return Bound(bound, needed, quantities, trivial=trivial)
