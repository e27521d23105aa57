"""Pinball loss of the thresholds against that of the best constant threshold.

Theorem (upper; equality around a constant learner, where thresholds are ends of bins)
    rho(r) = (1-alpha) r for r > 0, otherwise -alpha r, is the pinball loss of a quantile forecast. With the thresholds
    of coverage_deviation and the score s_t of the outcome, for every constant c
        sum of rho(s - q)  <=  sum of rho(s - c) + sum over groups of (c - q_1)^2/(2 step)
                               + (step/2) sum of (miss - alpha)^2.
Assumptions
    those of coverage_deviation (checked).
Proof
    alpha - miss is a subgradient of rho(s - q) in q, and each threshold moves against it: this is online gradient
    descent, with its regret bound in each group; sum over groups. [] Rounding: plain sums of T numbers of at most about
    1, so T^2 2^-52 is added. The constants compared are the ends of 256 bins of scores: the bound holds for any
    constant, and for these the sums are exact.
Reference
    [zinkevich2003]; [gibbs2021].
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "zinkevich2003",
    "pinball loss",
    words=Words(
        covers="thresholds that move by a fixed step",
        why="the best constant threshold is {best_threshold:up}",
    ),
)
def coverage_pinball(run: Run[object]) -> Bound | None:
    """Bound the pinball loss of the thresholds; None without a tracker."""
    facts = run.coverage
    if facts is None or facts.rule != "tracker" or facts.delay or not run.rounds:
        return None
    alpha, misses, rounds = facts.alpha, sum(facts.misses), sum(facts.rounds)
    squares = misses * (1.0 - alpha) ** 2 + (rounds - misses) * alpha**2
    played = sum(facts.played)
    rounding = (played + 20) * 2.0**-52 * played
    return Bound(
        outward(facts.best_pinball + 0.5 * facts.step * squares + rounding),
        [facts.counted(), facts.follows(), facts.in_range()],
        {"best_threshold": facts.best, "alpha": alpha, "step": facts.step},
        observed=facts.pinball,
        trivial=rounds * max(alpha, 1.0 - alpha) * (1.0 + facts.step),
    )
