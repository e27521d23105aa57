"""Brier score of multiclass Vovk-Azoury-Warmuth, against the best weights in hindsight, which are known exactly.

Theorem (upper; equality with the credit, where L = ridge I and nothing is projected)
    Let k be the number of labels in a round: those announced, or those observed so far, the current one included. c is
    1/k for each of these, and 0 for others. A_t = L_t + sum of x x' over the rounds up to t, x_t included, is the same
    for all labels, and L never shrinks; b_j is the sum of (1_y - c)_j x. The score s_j is x'A^-1 b_j, with b_j of the
    earlier rounds; P is the projection of c + s onto the simplex of the k labels; v = x'(A_t - xx')^-1 x, chi =
    v/(1+v). Then
        sum of |P - 1_y|^2  <=  min over U of (sum of u_j'L u_j + sum of |c + Ux - 1_y|^2) + sum of (1 - 1/k) chi.
    The minimum is sum of (1 - 1/k) - sum of b_j'A^-1 b_j: several labels cost no more than one. The credit, sum of
    |s|^2 v, could be subtracted; it depends on the predictions, and is not part of the bound.
    If labels are not announced, the learner cannot know a label before its first round: it reserves a probability of
    1/t^2 for a new label, and P shares the rest. The additional cost of this and of rounds with new labels is added
    exactly.
Assumptions
    the learner started untrained; its rounds and its Brier score are those of the ledger; the minimum is known to a
    fraction of 1e-6 of the rounds; its sums are those of its scores, so the equality of the proof holds (all checked).
Proof
    The theorem of convex/theorems/vaw_regret.py holds for any outcomes, and so for those of each label, (1_y - c)_j,
    where c is known once the set of labels is known; A is the same. Add it up over the labels: c + s in place
    of P, with |1_y - c|^2 = 1 - 1/k before chi. 1_y is on the simplex, so projecting does not increase the distance to
    it. A label not yet observed has outcome 0 and c = 0 in every round so far, so b = 0 and s = 0, as if it were
    absent: it joins at no cost, with its column of U that of all rounds. [] c is 1/k rounded to a double. Rounding:
    b_j'A^-1 b_j from both sides, comparators/metric.py; b_j is off by u0 n (n+20) M for a feature with n rounds and |x|
    <= M.
Reference
    [vovk2001]; [azoury2001].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.convex.theorems.vaw_regret import SLACK
from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class MulticlassVAWFacts:
    """State of a multiclass Vovk-Azoury-Warmuth learner.

    Attributes:
        rounds: Rounds since its start.
        labels: Number of labels known.
        loss: Brier score, had labels been announced just before their first round.
        novelty: Additional cost of new labels.
        least: Lower bound on the minimum over U.
        most: Upper bound on the minimum over U.
        squares: Sum of 1 - 1/k.
        chi: Sum of (1 - 1/k) chi.
        credit: Sum of |s|^2 v.
        shed: Decrease of the sum of b_j'A^-1 b_j by growing L.
        unprojected: Loss without projection.
    """

    rounds: int
    labels: int
    loss: float
    novelty: float
    least: float
    most: float
    squares: float
    chi: float
    credit: float
    shed: float
    unprojected: float


@theorem(
    "D",
    "vovk2001",
    "Brier score",
    words=Words(
        covers="ridge regression on the indicators of many labels",
        why=(
            "the best weights for the {labels} labels in hindsight lose {best_in_hindsight:up}, penalty included; "
            "learning them adds {chi:up}, and labels seen for the first time {novelty:up}"
        ),
    ),
)
def multiclass_vaw_regret(run: Run[MulticlassVAWFacts]) -> Bound | None:
    """Return the bound on the Brier score; None if the score is not known."""
    if run.brier is None:
        return None
    after, paid = run.after, run.brier
    slack = SLACK * (1.0 + after.squares)
    known = after.most + after.chi - after.credit - after.shed
    needed = [
        seen("the learner started untrained", run.before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("its total agrees with the ledger's", abs(after.loss + after.novelty - paid) <= slack),
        seen("the best loss in hindsight is known up to rounding", after.most - after.least <= slack),
        seen("its sums agree with its scores up to rounding", abs(after.unprojected - known) <= slack),
        seen("projecting did not increase the loss", after.loss <= after.unprojected + slack),
    ]
    quantities = {
        "best_in_hindsight": after.most,
        "chi": after.chi,
        "credit": after.credit,
        "novelty": after.novelty,
        "labels": after.labels,
    }
    bound = outward(after.most + after.chi + after.novelty + run.rounds * 2.0**-49)
    trivial = run.rounds * (1.0 - 1.0 / max(after.labels, 2))
    return Bound(bound if math.isfinite(bound) else math.inf, needed, quantities, paid, trivial)
