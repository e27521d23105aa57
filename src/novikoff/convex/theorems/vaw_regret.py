"""Squared loss of Vovk-Azoury-Warmuth, against the best weights in hindsight, which it knows.

Theorem (upper; equality with the credit, where L = ridge I and nothing is clipped)
    A_t = L_t + sum of x x' over the rounds up to t, x_t included, L growing; b the sum of y x. It says x'A^-1 b, with b
    of the rounds before; v = x'(A_t - xx')^-1 x, chi = v/(1+v). Then
        sum of (said - y)^2  <=  min over u of (u'Lu + sum of (<u,x> - y)^2) + sum of y^2 chi - sum of said^2 v.
    The minimum is sum of y^2 - b'A^-1 b. With L = ridge I the sum of chi is at most ln det(A/ridge).
    Said may be clipped to a range that all y are in. For labels and P(+1) = (1 + said)/2 the Brier score is a quarter
    of the squared loss: Brier <= minimum/4 + (sum of chi)/4. Promised is the bound without its last term, the credit,
    which only the run itself knows.
Assumptions
    the learner began with nothing, its rounds and its loss are the ledger's, the minimum is known to 1e-6 of the
    outcomes' squares, its sums are those of what it said: the equality of the proof holds (all checked).
Proof
    Phi = b'A^-1 b. A_t - xx' >= A_{t-1}, so with b before the round b'A_t^-1 b <= Phi_{t-1} - said^2 (1+v), and
    Phi_t = b'A_t^-1 b + 2 y said + y^2 chi. So said^2 - 2 y said <= Phi_{t-1} - Phi_t + y^2 chi - said^2 v; sum. What
    is lost in <= is by how much L lowers Phi as it grows: with that sum, it is an equality. To clip is to project on a
    set that y is in. [] Rounding: b'A^-1 b from both sides, comparators/metric.py; b is off by
    u0 n (n+20) M max|y|.
Reference
    [vovk2001]; [azoury2001].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Bound, outward, seen, theorem
from novikoff.core.types import Run

SLACK = 1e-6
TINY = 1e-290
"""Squares below are known no better."""


@dataclass(frozen=True, slots=True)
class VAWFacts:
    """The learner, now.

    rounds          its rounds, from its first
    loss            its squared loss, as it saw it
    least, most     the minimum over u is between these
    squares         the sum of y^2
    chi, credit     the sums of y^2 chi, and of said^2 v
    shed            by how much growing L lowered b'A^-1 b
    unclipped       its loss, had it clipped nothing
    probabilities   of labels
    """

    rounds: int
    loss: float
    least: float
    most: float
    squares: float
    chi: float
    credit: float
    shed: float
    unclipped: float
    probabilities: bool


@theorem("D", "vovk2001", "squared loss")
def vaw_regret(run: Run[VAWFacts]) -> Bound:
    """The promise, beside the loss."""
    before, after = run.before, run.after
    part = 0.25 if after.probabilities else 1.0
    paid = run.brier if after.probabilities and run.brier is not None else run.loss
    slack = SLACK * after.squares + TINY
    known = after.most + after.chi - after.credit - after.shed
    needed = [
        seen("the learner started untrained", before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("its total agrees with the ledger's", abs(part * after.loss - paid) <= slack),
        seen("the best loss in hindsight is known up to rounding", after.most - after.least <= slack),
        seen("its sums agree with its predictions up to rounding", abs(after.unclipped - known) <= slack),
        seen("clipping did not increase the loss", after.loss <= after.unclipped + slack),
    ]
    quantity, trivial = ("Brier score", run.rounds / 4.0) if after.probabilities else ("squared loss", after.squares)
    quantities = {
        "best_in_hindsight": part * after.most,
        "chi": part * after.chi,
        "credit": part * after.credit,
    }
    rounding = run.rounds * 2.0**-50 * max(1.0, after.squares / max(run.rounds, 1))
    bound = outward(part * (after.most + after.chi) + rounding)
    bound = bound if math.isfinite(bound) else math.inf
    return Bound(bound, needed, quantities, paid, trivial, quantity)
