"""Mistakes of a multiclass Perceptron, against the hinge loss of any U.

Theorem (upper; tight for the Perceptron on e_1 .. e_n, all labelled 1 of two)
    Labels 0 .. k-1, with a column of weights for each. W is the sum over the updates, which are the mistakes, of
    x (1_y - 1_p)', p the predicted label; scores are those of A_t^-1 W, where the metrics A_t grow with the updates:
    the identity for the Perceptron; ridge diag(M^2) + the sum of x x' over the updates, including x_t, for the
    second-order Perceptron. For every U, with D the sum over ALL rounds of max(0, 1 - <u_y,x> + max over the other
    labels j of <u_j,x>), A the last metric, and v = x'A_t^-1 x (||x||^2 for the Perceptron):
        M  <=  D + sqrt(sum of u_j'A u_j * Q),   Q = sum over the updates of 2 v.
    Whatever scores were played, the same holds with the sum of w_j'A^-1 w_j in place of Q. The bound uses the larger of
    the two, rounded down to an integer.
    If labels are not announced, the other labels in D are those observed so far, and S is added: the rounds whose label
    was new and would have been predicted had it been known. S is at most the number of labels less one.
Assumptions
    the learner started untrained; its rounds are those of the ledger, and the comparators saw them all; its mistakes
    are those of its scores, and W is the sum over them; its metric never shrank (all checked).
Proof
    Suppose that labels are announced just before their first round. A mistake adds <u_y - u_p, x> to the sum of
    <u_j, w_j>: at least 1 minus the hinge loss of the round. So M - D <= sum of <u_j, w_j> <=
    sqrt(sum of u_j'A u_j) sqrt(Phi), with Phi the sum of w_j'A^-1 w_j. A growing A lowers Phi, and an update adds
    2(s_y - s_p) + 2v to it, where s_p >= s_y: so Phi <= Q. A label not yet observed has w = 0, is never predicted and
    is not among the other labels, so the argument does not involve it. In a round with a new label the learner predicts
    another one (except in the very first round). In S of these rounds the new label would have been predicted, had it
    been known, and there would have been no mistake. []
    Rounding: W is off by at most u0 n (n+20) max|x| for a feature with n updates, u0 = 2^-53 (comparators/metric.py).
Reference
    [crammer2003]; [fink2006]; [cesabianchi2005].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import why_void
from novikoff.comparators.multiclass_facts import MulticlassFacts, assumptions
from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "fink2006",
    words=Words(
        covers="the multiclass Perceptron on any rows",
        why=(
            "weights for the {labels} labels have a total hinge loss of {hinge:up} on these rows; labels seen for the "
            "first time add {new}"
        ),
    ),
)
def multiclass_mistakes(run: Run[MulticlassFacts]) -> Bound | None:
    """Return the least bound over the comparators; None if none were tracked."""
    if run.tracked is None:
        return None
    after = run.after
    needed = assumptions(run, run.mistakes, after.mistakes)
    if reason := why_void(run, needed):
        return Bound(None, needed, void=reason)
    gained = max(after.penalty, run.tracked.dual)
    values = [u.loss + math.sqrt(u.square * max(gained, 0.0)) for u in run.tracked.comparators]
    best = min(range(len(values)), key=values.__getitem__)
    u, new = run.tracked.comparators[best], int(after.novelty)
    quantities = {"hinge": u.loss, "square": u.square, "gained": gained, "labels": after.labels, "new": new,
                  "fitted": run.tracked.fitted}  # fmt: skip
    value = outward(values[best])
    bound = min(math.floor(value) + new, run.rounds) if math.isfinite(value) else run.rounds
    return Bound(bound, needed, quantities)
