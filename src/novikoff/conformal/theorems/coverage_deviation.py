"""Deviation of the fraction of misses from its target: on every stream, around any model.

Theorem (upper; 99 % of it is reached against contrarian, see tests)
    Scores are from 0 to B = 1. The set of round t contains all y whose score is at most the threshold; it is everything
    if that is B or more, and empty if it is below 0. An outcome outside is a miss. q_1 is from 0 to B,
    q_{t+1} = q_t + step (miss_t - alpha), and the threshold of round t is q_{t-d}, or q_1 if t <= d: outcomes come d
    rounds late (d = 0: before the next round). Then
        |misses/T - alpha|  <=  (B + (d+1) step)/(step T)        for every T,
    in each group, where each group has a separate threshold.
Assumptions
    the counts of learner and ledger agree; each threshold moved by the step times the excess misses, which is the
    equality below; it started within its range (all checked). Nothing is assumed about the model or the stream.
Proof
    Sum the steps: misses - alpha T = (q_{T+1} - q_1)/step, an equality. Let m be the last round with q_m < B before q
    is B or more. A round t misses only if its threshold q_{t-d} is below B, as a set of everything has no misses: so
    t - d <= m, and q rises at most in the rounds m to m+d, by step (1-alpha) each. Likewise it falls only from a
    threshold of 0 or above, as an empty set always misses: at most d+1 times by step alpha below 0. So q stays between
    -(d+1) step alpha and B + (d+1) step (1-alpha), and any two values differ by at most B + (d+1) step. In a group, at
    most d of its own outcomes are outstanding. [] Rounding: q is computed
    from integers each round, within a few units of 2^-53 of its size; that is added twice.
Reference
    [angelopoulos2024]; [gibbs2021] for the equality.
"""

from __future__ import annotations

from fractions import Fraction

from novikoff.conformal.theorems.coverage_facts import LARGEST, CoverageFacts
from novikoff.core.certificate import Bound, Words, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "angelopoulos2024",
    "deviation of coverage",
    words=Words(
        covers="thresholds that move by a fixed step",
        why=(
            "the threshold of a group rises after each miss and falls after each hit, so it stays within a short "
            "range; of {groups} groups, {group} is farthest from its target, with {misses} misses in {rounds_counted} "
            "rounds"
        ),
        otherwise=(
            "the threshold rises after each miss and falls after each hit, so it stays within a short range: {misses} "
            "misses in {rounds_counted} rounds"
        ),
    ),
)
def coverage_deviation(run: Run[object]) -> Bound | None:
    """Bound the deviation of the group farthest from its target; None without a tracker."""
    facts = run.coverage
    if facts is None or facts.rule != "tracker" or not run.rounds:
        return None
    group = farthest(facts)
    rounds, step = facts.rounds[group], Fraction(facts.step)
    if not rounds:
        return None
    most = (LARGEST + (facts.delay + 1) * step + 2 * facts.rounding(group)) / (step * rounds)
    quantities: dict[str, object] = {
        "alpha": facts.alpha, "step": facts.step, "misses": facts.misses[group], "rounds_counted": rounds,
        "threshold_before": facts.before[group], "threshold_after": facts.after[group],
    }  # fmt: skip
    if len(facts.groups) > 1:
        quantities |= {"groups": len(facts.groups), "group": facts.groups[group]}
    return Bound(
        float(most) * (1.0 + 1e-15),
        [facts.counted(), facts.follows(), facts.in_range()],
        quantities,
        observed=float(abs(facts.ahead(group)) / rounds),
        trivial=max(facts.alpha, 1.0 - facts.alpha),
    )


def farthest(facts: CoverageFacts) -> int:
    """Return the group whose misses are farthest from their target."""
    return max(range(len(facts.groups)), key=lambda g: abs(facts.ahead(g)))


@coverage_deviation.witnessed
def witness(run: Run[object]) -> dict[str, object] | None:
    """Return the constants and the counts of the group that is farthest from its target; None after a warm start."""
    facts = run.coverage
    if facts is None or facts.played != facts.rounds:
        return None
    group = farthest(facts)
    exact = {"alpha": facts.alpha, "step": facts.step, "start": facts.before[group]}
    counts = {"rounds": facts.rounds[group], "misses": facts.misses[group], "delay": facts.delay}
    more: dict[str, object] = {}
    if len(facts.groups) > 1:
        more = {"group": group, "group_name": facts.groups[group]}
    return more | counts | {name: str(Fraction(value)) for name, value in exact.items()}
