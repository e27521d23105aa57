"""Squared loss of AdaHedge with sharing, against every way of following one forecaster of a number at a time.

Theorem (upper)
    N forecasters with the prior pi predict numbers and lose l_i, the square of their error. In round t the mean under
    weights w is played, with a rate eta_t that never rises. Then
        m = -ln(sum of w_i e^(-eta_t l_i)) / eta_t,   v_i = w_i e^(-eta_t (l_i - m)),   gap = h - m,
    h the mean of the l_i, and, with a = 1/(t+1) and r = eta_{t+1}/eta_t <= 1,
        w_i  =  (1 - a) v_i^r / Z + a pi_i,   Z = sum of v_i^r.
    eta_t = c / D, D the sum of the gaps so far; while D = 0 the rate is infinite, w = pi and m = min l_i; in the first
    round with a finite rate w = pi too. A path names one forecaster for each round. In that first round it pays
    ln(1/pi_i) / eta; in every later round t, with i its forecaster in that round,
        (ln Z + ln 1/(1 - 1/t)) / eta_t   if it stayed with i,   (ln t/pi_i) / eta_t   if it changed to i.
    For every path:  L  <=  its loss + its price + D_T, and the least of these is known exactly.
    The sum of ln Z / eta_t is at most ln N / eta_T.
Assumptions
    the learner started untrained, its rounds and its loss are the ledger's, the forecasts of each round were recorded
    (all checked). A forecast that differs from the replayed mean is a violation.
Proof
    A square is convex, so L is at most the sum of h = m + gap. With u_t the forecaster of the path,
    m_t - l_t(u_t) = ln(v_t(u_t)/w_t(u_t)) / eta_t. Sum from the first round s with a finite rate and pair
    ln v of each round with ln w of the next:
        -ln w_s(u_s) / eta_s  +  sum over t > s of [ ln v_{t-1}(u_{t-1}) / eta_{t-1} - ln w_t(u_t) / eta_t ]
                              +  ln v_T(u_T) / eta_T,
    and the last is at most 0. If the path stays with i, w_t(i) >= (1 - 1/t) v^r / Z and r/eta_t = 1/eta_{t-1}: ln v
    cancels, and what is left is the price. If it changes to i, ln v <= 0 and w_t(i) >= pi_i / t. Before s, m = min l_i.
    Z <= N^(1-r), as v sums to 1, and (1 - r)/eta_t = 1/eta_t - 1/eta_{t-1}. []
    Rounding: paths are compensated sums; gaps as in mixtures/theorems/numbers_regret.py, each within 2^-50 of the
    largest loss of its round and of D.
Reference
    [cesabianchi2012], with the gaps of [derooij2014].
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, has_comparators, outward, theorem
from novikoff.core.types import CountsRounds, Run
from novikoff.mixtures.theorems.top_facts import TopFacts, of_a_top


@theorem(
    "D",
    "cesabianchi2012",
    "squared loss",
    where=has_comparators,
    words=Words(
        covers="every way of following one of its forecasters of a number at a time and changing between them",
        why=(
            "for every way of following one of the {forecasters} forecasters at a time and changing between them, the "
            "loss is at most the measured loss of that way plus its price; the cheapest lost {path_loss:up} at a price "
            "of {price:up} (changes: {changes}, not a count of drifts); mixing adds {mixture:up}"
        ),
    ),
)
def numbers_switching_regret(run: Run[CountsRounds]) -> Bound | None:
    """Return loss + price of the cheapest path + the gaps; None for a mixture that does not share."""
    tracked: TopFacts = run.tracked
    path = tracked.path
    if path is None or run.log_loss is not None:
        return None
    quantities = {
        "forecasters": len(tracked.names),
        "path_loss": path.loss,
        "price": path.value - path.loss,
        "changes": path.changes,
        "mixture": tracked.gaps,
        "best": tracked.names[tracked.best],
        "best_loss": tracked.losses[tracked.best],
    }
    rounding = (run.rounds + 20) * 2.0**-50 * (path.value + tracked.gaps)
    value = outward(path.value + tracked.gaps + rounding)
    return Bound(value, of_a_top(run, run.loss), quantities, run.loss, tracked.trivial, broken=tracked.replay)
