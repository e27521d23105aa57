"""How far the share of misses is from the one asked for: on every stream, around any model.

Theorem (upper; to 99 % against contrarian, see tests)
    Scores are from 0 to B = 1. The set of round t has all y whose score is at most q_t; it is everything if q_t >= B,
    and nothing if q_t < 0. An outcome outside is a miss. q_1 is from 0 to B, and q_{t+1} = q_t + step (miss_t -
    alpha). Then
        |misses/T - alpha|  <=  (B + step)/(step T)        for every T,
    in each group, where each has a threshold of its own.
Assumptions
    the learner counted what the ledger counted; each threshold moved by the step times the misses beyond those asked
    for, which is the equality below; it began where one can come (all checked). Nothing is assumed of the model or the
    stream.
Proof
    Sum the steps: misses - alpha T = (q_{T+1} - q_1)/step, an equality. q rises only from below B, since everything
    misses nothing, and falls only from 0 or above, since nothing misses everything: so it stays from -step alpha to B
    + step (1-alpha), and any two thresholds differ by at most B + step. [] Rounding: q is computed from integers each
    round, within a few units of 2^-53 of its size; that is added twice.
Reference
    [angelopoulos2024]; [gibbs2021] for the equality.
"""

from __future__ import annotations

from fractions import Fraction

from novikoff.conformal.theorems.coverage_facts import LARGEST
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
    group = max(range(len(facts.groups)), key=lambda g: abs(facts.ahead(g)))
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
