"""Regret of AdaHedge, whose rate is set by the cost of mixing so far.

Theorem (upper; with equality for one expert)
    Let D_t be the sum of the gaps h - m of rounds 1 .. t (experts/theorems/experts_facts.py). With the rate
    r_t = ln N / D_{t-1} in round t (infinite while D is 0: all the weight on the leaders), for all losses
        sum of h_t - L*  <=  D_T + D_{T-1}.
    For losses in a range S, and V the sum over rounds of the variance of the losses under the weights, that is at most
        2 sqrt(V ln N) + S (4/3 ln N + 2)  <=  S sqrt(T ln N) + S (4/3 ln N + 2),
    and the learner needs to know neither S, V nor T. The reported bound is D_T + D_{T-1}.
Assumptions
    the learner started with equal weights (checked); a mixture is played of a convex loss only (checked).
Proof
    D never falls, so r never rises, and the sum of m_t is at most L* + ln N / r_T = L* + D_{T-1}
    (experts/theorems/anytime_regret.py; an infinite rate is its limit). Add D_T, the sum of h_t - m_t. []
    In advance: by Bernstein's bound for h - l <= S, with u = r S, gap <= v (e^u - u - 1) / (r S^2), v the variance; for
    u < 3 that is at most v r / (2 (1 - u/3)), so gap / r <= v/2 + S gap / 3, which for u >= 3 holds anyway. Hence
        D_T^2  =  sum of (2 D_{t-1} gap_t + gap_t^2)  <=  ln N sum of (v_t + 2/3 S gap_t) + S D_T,
    so D_T <= sqrt(V ln N) + S (2/3 ln N + 1), and v_t <= S^2 / 4. []
Reference
    [derooij2014], theorem 8.
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, rule, seen, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, regret_bound, witness_of


@theorem(
    "D",
    "derooij2014",
    quantity="regret",
    where=rule("adaptive"),
    words=Words(covers="exponential weights with a learning rate that adapts to the losses"),
)
def ada_hedge_regret(run: Run[ExpertsFacts]) -> Bound:
    """Return D_T + D_{T-1}."""
    after = run.after
    choices = math.log(after.experts)
    advance = after.top * (math.sqrt(after.rounds * choices) + 4.0 / 3.0 * choices + 2.0)
    return regret_bound(
        run,
        0.0 if after.settled else 2.0 * after.gaps - after.last_gap,
        [seen("the learner started with equal weights", after.uniform)],
        {"gaps": after.gaps, "last_gap": after.last_gap, "in_advance": advance},
    )


@ada_hedge_regret.witnessed
def witness(run: Run[ExpertsFacts]) -> dict[str, object] | None:
    """Return the sum of the gaps and the last one."""
    return witness_of(run, gaps=run.after.gaps, last_gap=run.after.last_gap)
