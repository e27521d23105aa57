"""Deviation of the fraction of misses from its target, for any rule for sets under the governor.

Theorem (upper; 97 % of it is reached against contrarian, see tests)
    E = misses - alpha (t-1) before round t, H_t = sqrt(t ln(t+1)). If E >= H_t the set is everything; if E <= -H_t it
    is empty; otherwise any rule chooses it. An outcome outside is a miss. Then for every T
        |misses/T - alpha|  <=  (H_T + 1)/T.
Assumptions
    the ledger recorded every round of the governor; the counts of learner and ledger agree (checked).
Proof
    A set of everything has no misses, so from E >= H_t the excess E falls by alpha; an empty set always misses, so from
    E <= -H_t it rises by 1 - alpha; in between a round moves it by at most 1. H never falls. By induction
    -H_T - alpha <= E_T <= H_T + 1 - alpha. [] Rounding: E is computed from integers, within 2^-52 of its terms.
Reference
    [angelopoulos2023]: this is its integral controller, with a saturation function that jumps to everything or nothing.
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "angelopoulos2023",
    "deviation of coverage",
    words=Words(
        covers="any rule for prediction sets under the governor",
        why=(
            "a set contains everything once there are {band:up} misses too many, and nothing once there are as many "
            "too few"
        ),
    ),
)
def coverage_governed(run: Run[object]) -> Bound | None:
    """Bound the deviation of coverage; None without a governor."""
    facts = run.coverage
    if facts is None or facts.rule in ("tracker", "decaying", "overlapping") or not run.rounds:
        return None
    rounds = facts.rounds[0]
    if not rounds:
        return None
    band = math.sqrt(rounds * math.log(rounds + 1.0))
    whole = (facts.played, facts.missed) == (facts.rounds, facts.misses)
    return Bound(
        outward((band + 1.0) / rounds) + 2.0**-48,
        [seen("the ledger and the governor counted the same rounds and misses", whole)],
        {"alpha": facts.alpha, "rule": facts.rule, "misses": facts.misses[0], "band": band},
        observed=float(abs(facts.ahead(0)) / rounds),
        trivial=max(facts.alpha, 1.0 - facts.alpha),
    )
