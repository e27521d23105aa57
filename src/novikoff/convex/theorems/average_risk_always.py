"""Risk of the average weights, for a convex loss on independent examples, at all times at once.

Theorem (upper; kind P, delta = 0.025 by default, for all n simultaneously)
    As in convex/theorems/average_risk.py: w_t depends on examples before t only, ||w_t|| <= W; independent draws from
    one distribution; a loss convex in w with values in [0, C]. With probability at least 1 - delta, for every n at once
    the mean w of w_1 .. w_n has
        risk(w)  <=  (C/n) (M + min over k >= 0 of (psi(r_k) V + ln((k+1)(k+2)/delta)) / r_k),
        M = sum of l_t(w_t)/C,   V = sum of (l_t(w_t)/C)^2,   r_k = (1 - 2^-7) (2/3)^k,   psi(r) = -ln(1-r) - r.
    The margin is about sqrt(2 V ln(1/delta)) for large V, and ln(1/delta) for small V: it depends on the second moment
    of the losses, not on C. The bound may be monitored during the game and used to decide when to stop. The bound with
    the first moment alone, V = M, is never smaller: V <= M as losses are at most C.
Assumptions
    those of convex/theorems/average_risk.py, except the last: the number of rounds need not be fixed.
Proof
    For 0 <= x <= 1 and 0 < r < 1:  -ln(1 - rx) - rx <= psi(r) x^2, as (-ln(1-s) - s)/s^2 = 1/2 + s/3 + s^2/4 + ..
    grows with s, and rx <= r. So exp(-rx - psi(r) x^2) <= 1 - rx. For X in [0, 1] of mean p given the past, then,
    E exp(-rX - psi(r) X^2) <= 1 - rp <= exp(-rp), and exp(sum of (rp - rX - psi(r) X^2)) is a supermartingale that
    starts at 1. By Ville it ever reaches (k+1)(k+2)/delta with probability at most delta/((k+1)(k+2)). Use r = r_k for
    each k: these probabilities sum to delta. Otherwise r_k (sum of p) < r_k M + psi(r_k) V + ln((k+1)(k+2)/delta) for
    all n and k, so the least over k may be taken. X = l/C; then Jensen as there. []
    The r_k are fixed before the run, and each has its share of delta: choosing the best of them afterwards costs no
    more. Neighbours differ by a factor of 3/2, so that the best of them is within 3 % of the best r between them.
Reference
    [cesabianchi2004]; [fan2015] for the inequality, [howard2020] for such bounds.
"""

from __future__ import annotations

import math

from novikoff.convex.theorems.average_risk import DELTA, risk_bound
from novikoff.convex.theorems.online_gradient_facts import OnlineGradientFacts
from novikoff.core.certificate import Bound, Words, theorem
from novikoff.core.types import Run

LARGEST, RATIO, RATES = 1.0 - 2.0**-7, 2.0 / 3.0, 80
"""Rates r_k: the first, the ratio of successive rates, and their number; 80 rates reach 10^-14."""
UP = 1.0 + 1e-12
"""Factor that covers the rounding error of sums of losses."""


@theorem(
    "P",
    "cesabianchi2004",
    quantity="risk of the average",
    words=Words(
        covers="independent examples from one distribution",
        why="this is its mean loss on examples it had not seen, plus an allowance for chance",
    ),
)
def average_risk_always(run: Run[OnlineGradientFacts], delta: float = DELTA) -> Bound | None:
    """Return (C/n) (M + the least margin over the rates); None before the first round."""
    if run.rounds == 0:
        return None
    top, limit = run.after.top, math.inf
    if math.isfinite(run.loss):
        first = run.loss / top * UP
        second = first if run.squares is None else min(run.squares / top / top * UP, first)
        limit = top * ((first + margin(second, delta)) / run.rounds)
    return risk_bound(run, limit, delta, "at all rounds at once")


def margin(second: float, delta: float) -> float:
    """Return the least (psi(r) V + ln((k+1)(k+2)/delta)) / r over the rates r = r_k; `second` is V."""
    rates = [LARGEST * RATIO**k for k in range(RATES)]
    shares = [math.log((k + 1) * (k + 2) / delta) for k in range(RATES)]
    return min((psi(r) * second + share) / r for r, share in zip(rates, shares, strict=True)) * UP


def psi(r: float) -> float:
    """Return an upper bound on -ln(1-r) - r; for small r, where that cancels, r^2/(2(1-r))."""
    return -math.log1p(-r) - r if r > 1e-3 else r * r / (2.0 * (1.0 - r))
