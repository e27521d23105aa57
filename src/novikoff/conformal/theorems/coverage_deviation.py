"""Deviation of the fraction of misses from its target: on every stream, around any model.

Theorem (upper; 99 % of it is reached against contrarian, see tests)
    Scores are from 0 to B = 1. The set of round t contains all y whose score is at most q_t; it is everything if
    q_t >= B, and empty if q_t < 0. An outcome outside is a miss. q_1 is from 0 to B, and
    q_{t+1} = q_t + step (miss_t - alpha). Then
        |misses/T - alpha|  <=  (B + step)/(step T)        for every T,
    in each group, where each group has a separate threshold.
Assumptions
    the counts of learner and ledger agree; each threshold moved by the step times the excess misses, which is the
    equality below; it started within its range (all checked). Nothing is assumed about the model or the stream.
Proof
    Sum the steps: misses - alpha T = (q_{T+1} - q_1)/step, an equality. q rises only from below B, because a set of
    everything has no misses, and falls only from 0 or above, because an empty set always misses: so it stays between
    -step alpha and B + step (1-alpha), and any two thresholds differ by at most B + step. [] Rounding: q is computed
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
    most = (LARGEST + step + 2 * facts.rounding(group)) / (step * rounds)
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
    """Return the counts of the group that is farthest from its target."""
    facts = run.coverage
    if facts is None:
        return None
    group = farthest(facts)
    return {
        "rounds": facts.rounds[group],
        "misses": facts.misses[group],
        "alpha": str(Fraction(facts.alpha)),
        "step": str(Fraction(facts.step)),
    }
