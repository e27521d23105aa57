"""Squared loss of Vovk-Azoury-Warmuth, against the best weights in hindsight, which are known exactly.

Theorem (upper; equality with the credit, where L = ridge I and nothing is clipped)
    Let A_t = L_t + sum of x x' over the rounds up to t, x_t included, where L never shrinks, and b the sum of y x. The
    prediction is p = x'A^-1 b, with b of the earlier rounds; v = x'(A_t - xx')^-1 x, chi = v/(1+v). Then
        sum of (p - y)^2  <=  min over u of (u'Lu + sum of (<u,x> - y)^2) + sum of y^2 chi - sum of p^2 v.
    The minimum is sum of y^2 - b'A^-1 b. With L = ridge I the sum of chi is at most ln det(A/ridge).
    p may be clipped to a range that contains all y. For labels and P(+1) = (1 + p)/2 the Brier score is a quarter of
    the squared loss: Brier <= minimum/4 + (sum of chi)/4. The reported bound omits the last term, the credit, which
    depends on the predictions.
Assumptions
    the learner started untrained; its rounds and its loss are those of the ledger; the minimum is known to a fraction
    of 1e-6 of the outcomes' squares; its sums are those of its predictions, so the equality of the proof holds (all
    checked).
Proof
    Phi = b'A^-1 b. A_t - xx' >= A_{t-1}, so with b before the round b'A_t^-1 b <= Phi_{t-1} - p^2 (1+v), and
    Phi_t = b'A_t^-1 b + 2 y p + y^2 chi. So p^2 - 2 y p <= Phi_{t-1} - Phi_t + y^2 chi - p^2 v; sum. The slack in <= is
    the decrease of Phi by growing L: with that sum added, it is an equality. Clipping projects onto a set that contains
    y. [] Rounding: b'A^-1 b from both sides, comparators/metric.py; b is off by u0 n (n+20) M max|y|.
Reference
    [vovk2001]; [azoury2001].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Bound, outward, parts, seen, theorem
from novikoff.core.types import Run

SLACK = 1e-6
"""Rounding error allowed for sums, as a fraction of the sum of y^2."""
TINY = 1e-290
"""Absolute error allowed for sums of squares."""


@dataclass(frozen=True, slots=True)
class VAWFacts:
    """State of a Vovk-Azoury-Warmuth learner.

    Attributes:
        rounds: Rounds since its start.
        loss: Squared loss as the learner computed it.
        least: Lower bound on the minimum over u.
        most: Upper bound on the minimum over u.
        squares: Sum of y^2.
        chi: Sum of y^2 chi.
        credit: Sum of p^2 v.
        shed: Decrease of b'A^-1 b by growing L.
        unclipped: Loss without clipping.
        probabilities: Whether predictions are probabilities of labels.
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
    """Return the bound on the loss."""
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


@vaw_regret.witnessed
def witness(run: Run[VAWFacts]) -> dict[str, object] | None:
    """Return the best loss in hindsight and the sum of y^2 chi."""
    part = 0.25 if run.after.probabilities else 1.0
    return parts(best_in_hindsight=part * run.after.most, chi=part * run.after.chi)
