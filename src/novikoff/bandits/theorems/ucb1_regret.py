"""Expected pseudo-regret of UCB1 on independent losses.

Theorem (upper; kind E)
    Let the rows of losses in [0, 1] be independent draws of one distribution (the arms of a row may depend on each
    other), mu_i the mean of arm i, gap_i = mu_i - the least mean. The pseudo-regret is the sum of the gaps of the arms
    played. For every T, that of UCB1 has an expectation of at most
        the sum over arms with a gap of  8 ln T / gap_i + (1 + pi^2/3) gap_i,
    and, whatever the gaps are, at most  sqrt(32 (K - 1) T ln T) + (1 + pi^2/3)(K - 1).
    The first is evaluated in a simulation, where the means are known; elsewhere the second. The means are then
    unknown, and the reported pseudo-regret is an estimate, named so: with the mean losses in the table, or observed.
Assumptions
    the rows are independent draws of one distribution (checked in a simulation by this library; refuted against an
    adversary; else trusted); the learner started untrained (checked); it learned from the recorded losses (checked).
Proof
    Let c(t, s) = sqrt(2 ln t / s), i an arm with a gap, * a best arm, and m_i(r) the mean of the first r observed
    losses of i. After n plays of i, UCB1 plays i in a round t + 1 > K only if, for some s <= t and n <= r <= t,
        m_i(r) - c(t, r)  <=  m_*(s) - c(t, s),
    hence only if m_*(s) >= mu_* + c(t, s), or m_i(r) <= mu_i - c(t, r), or gap_i < 2 c(t, r). The third is false if
    n >= 8 ln T / gap_i^2. The losses observed of one arm are independent with its mean, because whether a round plays
    it depends on earlier rows only: by Hoeffding's inequality each of the first two has probability at most
    exp(-4 ln t) = t^-4. So i is played, in expectation, at most ceil(8 ln T / gap_i^2) + the sum over t of
    t^2 * 2 t^-4 <= 8 ln T / gap_i^2 + 1 + pi^2/3 times. Multiply by gap_i and sum.
    Whatever the gaps: arms with gap_i <= d cost at most d T together, each other one at most
    8 ln T / d + (1 + pi^2/3) by the above; with d = sqrt(8 (K - 1) ln T / T) that is the second bound. []
Reference
    [auer2002b], theorem 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from novikoff.bandits.theorems.bandit_facts import BanditFacts, in_expectation
from novikoff.core.certificate import Bound, Words, rule, theorem
from novikoff.core.types import Run

ONCE = 1.0 + math.pi**2 / 3.0
"""Plays of a worse arm that do not grow with T."""


@theorem(
    "E",
    "auer2002b",
    quantity="pseudo-regret",
    where=rule("ucb1"),
    words=Words(
        covers="UCB1 on independent losses of fixed means",
        why="this bound is known in advance, for every distribution of the losses of {arms} arms",
    ),
)
def ucb1_regret(run: Run[BanditFacts]) -> Bound:
    """Return the least of the bound for the known gaps, if they are, and that for all gaps."""
    after = run.after
    limit = without_gaps(after.arms, run.rounds)
    if after.source:
        limit = min(limit, with_gaps(after.gaps, run.rounds))
    return in_expectation(run, limit)


def with_gaps(gaps: Sequence[float], rounds: int) -> float:
    """Return the sum of 8 ln T / gap + (1 + pi^2/3) gap over the positive gaps; at most gap * T for each."""
    level = 8.0 * math.log(max(rounds, 1))
    return math.fsum(min(level / gap + ONCE * gap, gap * rounds) for gap in gaps if gap > 0.0)


def without_gaps(arms: int, rounds: int) -> float:
    """Return sqrt(32 (K - 1) T ln T) + (1 + pi^2/3)(K - 1)."""
    return math.sqrt(32.0 * (arms - 1) * rounds * math.log(max(rounds, 1))) + ONCE * (arms - 1)
