"""Risk of the average of the weights, for a convex loss on independent examples, at all times at once.

Theorem (upper; kind P, delta = 0.025 or as asked for, for all n simultaneously)
    As in convex/theorems/average_risk.py: w_t made of the examples before t only, ||w_t|| <= W; independent draws from
    one distribution; a loss convex in w with values in [0, C]. With probability at least 1 - delta, for every n at once
    the mean w of w_1 .. w_n has
        risk(w)  <=  (C/n) (M + min over k >= 0 of (psi(r_k) V + ln((k+1)(k+2)/delta)) / r_k),
        M = sum of l_t(w_t)/C,   V = sum of (l_t(w_t)/C)^2,   r_k = (1 - 2^-7) (2/3)^k,   psi(r) = -ln(1-r) - r.
    The margin is about sqrt(2 V ln(1/delta)) where V is large, and ln(1/delta) where it is small: what counts is the
    second moment of the losses, not C. So it may be watched as the game goes on, and stopped by. The bound by the first
    moment alone, in which V is M, is never less: V <= M as losses are at most C.
Assumptions
    those of convex/theorems/average_risk.py, without the last: the number of rounds need not be fixed.
Proof
    For 0 <= x <= 1 and 0 < r < 1:  -ln(1 - rx) - rx <= psi(r) x^2, as (-ln(1-s) - s)/s^2 = 1/2 + s/3 + s^2/4 + ..
    grows with s, and rx <= r. So exp(-rx - psi(r) x^2) <= 1 - rx. For X in [0, 1] of mean p given the past, then,
    E exp(-rX - psi(r) X^2) <= 1 - rp <= exp(-rp), and exp(sum of (rp - rX - psi(r) X^2)) is a supermartingale that
    begins at 1. By Ville it ever reaches (k+1)(k+2)/delta with chance delta/((k+1)(k+2)) at most. Take r = r_k for each
    k: these chances sum to delta. Otherwise r_k (sum of p) < r_k M + psi(r_k) V + ln((k+1)(k+2)/delta) for all n and k,
    so the least over k may be taken. X = l/C; then Jensen as there. []
    The r_k are the same before every run, and each pays its own share of delta: choosing the best of them by looking
    costs no more. Neighbours differ by 3/2, so that the best of them is within 3 % of the best r between them.
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
"""The rates r_k: the first, by what each is smaller than the one before, and how many are tried; 80 reach 10^-14."""
UP = 1.0 + 1e-12
"""What sums of losses may be too small by, rounded."""


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
    """(C/n) (M + the least margin over the rates); None before the first round."""
    if run.rounds == 0:
        return None
    top, limit = run.after.top, math.inf
    if math.isfinite(run.loss):
        first = run.loss / top * UP
        second = first if run.squares is None else min(run.squares / top / top * UP, first)
        limit = top * ((first + margin(second, delta)) / run.rounds)
    return risk_bound(run, limit, delta, "at all rounds at once")


def margin(second: float, delta: float) -> float:
    """The least (psi(r) V + ln((k+1)(k+2)/delta)) / r over the rates r = r_k; second: V."""
    rates = [LARGEST * RATIO**k for k in range(RATES)]
    shares = [math.log((k + 1) * (k + 2) / delta) for k in range(RATES)]
    return min((psi(r) * second + share) / r for r, share in zip(rates, shares, strict=True)) * UP


def psi(r: float) -> float:
    """At least -ln(1-r) - r; where that cancels, r^2/(2(1-r)), which is no less."""
    return -math.log1p(-r) - r if r > 1e-3 else r * r / (2.0 * (1.0 - r))
