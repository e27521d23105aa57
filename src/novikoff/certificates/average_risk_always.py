"""Risk of the average of the weights, for a convex loss on independent examples, at all times at once.

Theorem (upper; kind P, delta = 0.025 or as asked for, for all n simultaneously)
    As in certificates/average_risk.py: w_t made of the examples before t only, ||w_t|| <= W; independent draws from one
    distribution; a loss convex in w with values in [0, C]. With probability at least 1 - delta, for every n at once the
    mean w of w_1 .. w_n has
        risk(w)  <=  (C/n) P(M),     M = ceil((l_1(w_1) + .. + l_n(w_n)) / C),
    where P(0) = L, P(M) = M + s with s - M ln(1 + s/M) = L, and L = ln((M+1)(M+2)/delta). So it may be watched as the
    game goes on, and stopped by. It is also the tighter one where losses are small beside C.
Assumptions
    those of certificates/average_risk.py, without the last: the number of rounds need not be fixed.
Proof
    For X in [0, 1] of mean p given the past and y > 0, E exp(-yX) <= 1 - (1 - e^-y) p <= exp(-(1 - e^-y) p), so
    exp(-y sum X + (1 - e^-y) sum p) is a supermartingale and by Ville ever reaches (m+1)(m+2)/delta with chance
    delta/((m+1)(m+2)) at most. Take y = y_m for each whole m: these chances sum to delta. Otherwise, when the sum of X
    is in (m-1, m], the sum of p is at most (y m + L)/(1 - e^-y), least at P(m). X = l/C; then Jensen as there. []
Reference
    [cesabianchi2004]; [howard2020] for such bounds.
"""

from __future__ import annotations

import math

from novikoff.certificate import Bound, theorem
from novikoff.certificates.average_risk import DELTA, risk_bound
from novikoff.certificates.online_gradient_facts import OnlineGradientFacts
from novikoff.risk import poisson_limit
from novikoff.types import Run


@theorem("P", "cesabianchi2004", quantity="risk of the average")
def average_risk_always(run: Run[OnlineGradientFacts], delta: float = DELTA) -> Bound | None:
    """(C/n) P(ceil(loss / C)); None before the first round."""
    if run.rounds == 0:
        return None
    top, limit = run.after.top, math.inf
    if math.isfinite(run.loss):
        limit = top * (poisson_limit(math.ceil(run.loss / top * (1.0 + 1e-12)), delta) / run.rounds)
    return risk_bound(run, limit, delta, "at all rounds at once")
