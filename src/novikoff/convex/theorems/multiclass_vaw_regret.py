"""Brier score of Vovk-Azoury-Warmuth with many labels, against the best weights in hindsight, which it knows.

Theorem (upper; equality with the credit, where L = ridge I and nothing is projected)
    k labels in a round: those announced, or those that have come, that of the round among them; c has 1/k for each of
    these, and 0 for others. A_t = L_t + sum of x x' over the rounds up to t, x_t included, L growing, the same for all
    labels; b_j the sum of (1_y - c)_j x. The score s_j is x'A^-1 b_j, with b_j of the rounds before; P is the
    projection of c + s on the simplex of the k labels; v = x'(A_t - xx')^-1 x, chi = v/(1+v). Then
        sum of |P - 1_y|^2  <=  min over U of (sum of u_j'L u_j + sum of |c + Ux - 1_y|^2) + sum of (1 - 1/k) chi.
    The minimum is sum of (1 - 1/k) - sum of b_j'A^-1 b_j: many labels cost no more than one. The credit, sum of
    |s|^2 v, could be taken off; only the run itself knows it, and it is not promised.
    Where labels are not announced, the learner cannot know a label before it comes: it keeps a chance 1/t^2 for that,
    and shares the rest out by P. What this and rounds with new labels cost besides is added, exactly.
Assumptions
    the learner began with nothing, its rounds and its Brier score are the ledger's, the minimum is known to 1e-6 of
    the rounds, its sums are those of its scores: the equality of the proof holds (all checked).
Proof
    The theorem of convex/theorems/vaw_regret.py holds for any outcomes, and so for those of each label, (1_y - c)_j,
    where c is known once it is known which labels there are; A is the same. Add it up over the labels: c + s in place
    of P, with |1_y - c|^2 = 1 - 1/k before chi. 1_y is on the simplex, and to project moves nothing away from it. A
    label that has not come has outcome 0 and c = 0 in every round up to then, so b = 0 and s = 0, just as if it were
    not there: it joins at no cost, its column of U being that of all rounds. [] c is what floats say of 1/k. Rounding:
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
    """The learner, now.

    rounds, labels   its rounds from its first, and the labels it knows
    loss             its Brier score, had labels been announced just before they came
    novelty          what labels that nobody could know cost besides
    least, most      the minimum over U is between these
    squares          the sum of 1 - 1/k
    chi, credit      the sums of (1 - 1/k) chi, and of |s|^2 v
    shed             by how much growing L lowered the sum of b_j'A^-1 b_j
    unprojected      its loss, had it projected nothing
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
    """The promise, beside the Brier score; None where that is not known."""
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
