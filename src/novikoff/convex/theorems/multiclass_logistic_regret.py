"""Log loss of one-versus-rest second-order logistic regression, against every U.

Lemma
    Scores z of k labels, P_j = e^z_j / sum of e^z. Then -ln P_y <= ln(1 + e^-z_y) + sum over j != y of ln(1 + e^z_j):
    the multiclass loss is at most the sum of the losses of the binary learners, each of which learns whether its label
    was observed. The difference is s = sum over j of ln(1 + e^z_j) - ln sum of e^z >= 0, known from the scores of the
    round.
Theorem (upper)
    By the theorem of convex/theorems/logistic_regret.py for each label j, whose rounds are +1, for every U
        L  <=  sum over j of (L_u_j + u_j'L_j u_j/2 + sum of Delta_j + deficit_u_j)  -  S,
    where L_u_j is the log loss of u_j on the indicator of label j, and S the sum of s over the labels known in each
    round, a lower bound on the excess of the binary losses over L. S depends on the scores played, as do the sums of
    Delta_j.
    If labels are not announced, the cost of new labels and of the probability reserved for them is added as in
    convex/theorems/multiclass_regret.py.
Assumptions
    the learner started untrained; its rounds are those of the ledger, and the comparators saw them all; its losses and
    the sums of each label are those of the scores it played; no metric shrank (all checked).
Proof
    Lemma: with a = e^-z_y and b_j = e^z_j, (1 + a) times the product of 1 + b_j is at least 1 + a sum of b_j,
    which is 1/P_y; and ln(1 + e^-z_y) = ln(1 + e^z_y) - z_y, so the difference is s, whatever y is. Labels not yet
    observed add to the right side, but neither to the left nor to S. So L + S is at most the total of the binary
    losses, which their theorems bound. The learner of a label that appears late has played from the first round on,
    shared with all labels not yet observed: its rounds are all rounds, and its theorem applies unchanged. []
    Rounding: that of each label, convex/theorems/logistic_regret.py.
Reference
    [jezequel2020]; [rifkin2004] for one versus the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.comparators.metric_facts import SLACK, steady
from novikoff.core.certificate import (
    Bound,
    Words,
    has_comparators,
    outward,
    refutations,
    seen,
    theorem,
    warm_start,
)
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class MulticlassLogisticFacts:
    """State of a one-versus-rest logistic learner.

    Attributes:
        rounds: Rounds since its start.
        labels: Number of labels known.
        loss: Total log loss, had labels been announced just before their first round.
        novelty: Additional cost of new labels.
        entropy: Log loss of the best constant probabilities in hindsight.
        losses: Total log loss of each binary learner.
        gained: Sum of Delta of each binary learner.
        dual: Upper bound on the value that each learner's sums imply for `gained`.
        least: Lower bound on the same.
    """

    rounds: int
    labels: int
    loss: float
    novelty: float
    entropy: float
    losses: list[float]
    gained: list[float]
    dual: list[float]
    least: list[float]


@theorem(
    "D",
    "jezequel2020",
    "log loss",
    where=has_comparators,
    words=Words(
        covers="one-versus-rest logistic regression on any rows",
        why=(
            "for the {labels} labels there are one-versus-rest weights with a total log loss of {comparator_loss:up} "
            "on these rows; their norm adds {penalty:up}, learning them {delta:up}, losses that the learner "
            "overestimated {deficit:up}, and labels seen for the first time {novelty:up}; normalising the "
            "probabilities saves {surplus:down}"
        ),
    ),
)
def multiclass_logistic_regret(run: Run[MulticlassLogisticFacts]) -> Bound | None:
    """Return the least bound over the comparators of each label."""
    if run.log_loss is None:
        return None
    after, tracked, paid = run.after, run.tracked, run.log_loss
    trivial, slack = run.rounds * math.log(max(after.labels, 2)), SLACK * (1.0 + paid)
    needed = [
        seen("the learner started untrained", run.before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("the comparators were evaluated on every round", tracked.rows == run.rounds),
        seen("its total agrees with the ledger's", abs(after.loss + after.novelty - paid) <= slack),
        seen("its total loss agrees with its scores", abs(sum(tracked.lost) - after.loss) <= slack),
        seen("the sums of each label agree with its scores", tracked.explained),
        seen("no metric shrank (no drift by rounding)", all(map(steady, after.gained, after.least))),
    ]
    reason = warm_start(run.before.rounds) or refutations(needed)
    best, surplus = tracked.best(0), max(tracked.surplus[0], 0.0) if tracked.surplus else 0.0
    if len(best) < after.labels:
        reason = reason or "no comparator could be evaluated: numbers overflowed"
    if reason:
        return Bound(None, needed, observed=paid, trivial=trivial, void=reason)
    quantities = {
        "comparator_loss": math.fsum(u.log_loss for u in best),
        "penalty": math.fsum(0.5 * u.square for u in best),
        "delta": math.fsum(u.promised for u in best),
        "deficit": math.fsum(u.parabola - u.log_loss for u in best),
        "against_the_rest": math.fsum(after.losses),
        "surplus": surplus,
        "novelty": after.novelty,
        "labels": after.labels,
        "best_constant": after.entropy,
        "fitted": min((one.fitted for one in tracked.labels), default=0),
    }
    value = math.fsum(u.parabola_bound for u in best) + after.novelty - surplus
    return Bound(outward(value + run.rounds * max(after.labels, 1) * 2.0**-49), needed, quantities, paid, trivial)
