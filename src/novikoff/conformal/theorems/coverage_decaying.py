"""Deviation of the fraction of misses from its target with decaying steps: on every stream, around any model.

Theorem (upper; 80 % of it is reached if all outcomes are covered for a long time, and then all missed)
    Scores, sets and misses as in coverage_deviation, B = 1; q_1 is from 0 to B, and q_{t+1} = q_t + r_t (miss_t -
    alpha) with r_t = step/sqrt(t). Then
        |misses/T - alpha|  <=  (B + step)/(r_T T)  =  (1 + step)/(step sqrt(T))        for every T,
    in each group, where each group has a separate threshold and separate steps.
Assumptions
    the ledger recorded every round of the learner, and counted the same misses; the misses agree with the thresholds:
    misses - alpha T = q_{T+1}/r_T - sum of q_t (1/r_t - 1/r_{t-1}), 1/r_0 = 0, an equality (all checked).
Proof
    misses - alpha T is the sum of (q_{t+1} - q_t)/r_t; summation by parts gives the equality, in which a constant c may
    be subtracted from all q. As in coverage_deviation, q stays between -r_1 alpha and B + r_1 (1 - alpha): with c in
    the middle of these, all |q - c| <= (B + r_1)/2, and their factors, 1/r_T, 1/r_1 and the differences of 1/r from
    t = 2 on, which are positive, sum to 2/r_T. [] Rounding: q is off by at most 4 u0 (1 + step) per round, u0 = 2^-53,
    and the equality by that times sqrt(T)/step.
Reference
    [angelopoulos2024].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run

OFF = 2.0**-50
"""Rounding error of a threshold per round."""


@theorem(
    "D",
    "angelopoulos2024",
    "deviation of coverage",
    words=Words(
        covers="thresholds that move by decreasing steps",
        why=(
            "each threshold rises after a miss and falls after a hit, by {step} divided by the square root of the "
            "rounds so far, so it stays within a short range"
        ),
    ),
)
def coverage_decaying(run: Run[object]) -> Bound | None:
    """Bound the deviation of the group farthest from its target; None for other rules."""
    facts = run.coverage
    if facts is None or facts.rule != "decaying" or not sum(facts.rounds):
        return None
    step, found = float(facts.step), [g for g, rounds in enumerate(facts.rounds) if rounds]

    def off(group: int) -> float:
        rounds = int(facts.rounds[group])
        return OFF * (rounds + 20) * (1.0 + step) * math.sqrt(rounds) / step

    def implied(group: int) -> float:
        return float(facts.after[group] * math.sqrt(facts.rounds[group]) / step - facts.moved[group])

    group = max(found, key=lambda g: abs(facts.ahead(g)) / math.sqrt(facts.rounds[g]))
    rounds = facts.rounds[group]
    whole = (facts.played, facts.missed) == (facts.rounds, facts.misses)
    follows = all(abs(implied(g) - float(facts.ahead(g))) <= 8.0 * off(g) for g in found)
    quantities: dict[str, object] = {
        "alpha": facts.alpha,
        "step": step,
        "misses": facts.misses[group],
        "rounds_counted": rounds,
    }
    if len(facts.groups) > 1:
        quantities |= {"groups": len(facts.groups), "group": facts.groups[group]}
    return Bound(
        outward(((1.0 + step) * math.sqrt(rounds) / step + off(group)) / rounds),
        [seen("the ledger and the thresholds counted the same rounds and misses", whole),
         seen("the misses agree with the thresholds", follows)],
        quantities,
        observed=float(abs(facts.ahead(group)) / rounds),
        trivial=max(facts.alpha, 1.0 - facts.alpha),
    )  # fmt: skip
