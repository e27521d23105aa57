"""Expected pseudo-regret of explore-then-commit on independent losses.

Theorem (upper; kind E)
    Let the rows of losses in [0, 1] be independent draws of one distribution (the arms of a row may depend on each
    other), gap_i the mean of arm i less the least mean. The pseudo-regret is the sum of the gaps of the arms played.
    With m plays of each arm in the exploration, for every T, its expectation is at most
        the sum over arms of  m gap_i + max(T - mK, 0) gap_i exp(-m gap_i^2),
    and, whatever the gaps are, at most  m (K - 1) + max(T - mK, 0) sqrt(ln K / (2 m)).
    The first is evaluated in a simulation, where the means are known; elsewhere the second, next to an estimate of the
    pseudo-regret (ucb1_regret.py).
Assumptions
    the rows are independent draws of one distribution (checked in a simulation by this library; refuted against an
    adversary; else trusted); the learner started untrained (checked); it learned from the recorded losses (checked).
Proof
    Exploration plays each arm at most m times: the sum of m gap_i, at most m (K - 1). Afterwards one arm is played for
    at most max(T - mK, 0) rounds. It is i only if the mean loss of i in the exploration is at most that of a best arm:
    the mean of m differences, each of two independent losses in [0, 1] (of different rounds), which is subgaussian
    with variance (1/4 + 1/4)/m, is then gap_i below its mean. That has probability at most exp(-m gap_i^2).
    Whatever the gaps: let e_i be the mean of arm i less its mean loss in the exploration, * a best arm. The arm i that
    is played has gap_i <= e_i - e_*, so its expected gap is at most E[max e_i] - E[e_*] = E[max e_i], which is at most
    sqrt(2 ln K / (4 m)), since each e_i is subgaussian with variance 1/(4m). []
Reference
    [lattimore2020], chapter 6, where the exponent is m gap^2/4, for variance 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from novikoff.bandits.theorems.bandit_facts import BanditFacts, in_expectation
from novikoff.core.certificate import Bound, Words, rule, theorem
from novikoff.core.types import Run


@theorem(
    "E",
    "lattimore2020",
    quantity="pseudo-regret",
    where=rule("explore-then-commit"),
    words=Words(
        covers="explore-then-commit on independent losses of fixed means",
        why="this bound is known in advance, for every distribution; each arm was explored {each} times",
    ),
)
def explore_then_commit_regret(run: Run[BanditFacts]) -> Bound:
    """Return the least of the bound for the known gaps, if they are, and that for all gaps."""
    after = run.after
    limit = without_gaps(after.arms, run.rounds, after.each)
    if after.source:
        limit = min(limit, with_gaps(after.gaps, run.rounds, after.each))
    return in_expectation(run, limit, quantities={"each": after.each})


def with_gaps(gaps: Sequence[float], rounds: int, each: int) -> float:
    """Return the sum of m gap + (T - mK)+ gap exp(-m gap^2) over the arms; at most gap * T for each."""
    rest = max(rounds - each * len(gaps), 0)
    return math.fsum(
        min(gap * (each + rest * math.exp(-each * gap * gap)) * (1.0 + 1e-14), gap * rounds) for gap in gaps
    )


def without_gaps(arms: int, rounds: int, each: int) -> float:
    """Return m (K - 1) + (T - mK)+ sqrt(ln K / (2 m))."""
    return each * (arms - 1) + max(rounds - each * arms, 0) * math.sqrt(math.log(arms) / (2.0 * each))


def tuned(arms: int, rounds: int) -> int:
    """Return the m from 1 to T/K at which `without_gaps` is least; it is convex in m."""
    low, high = 1, max(rounds // arms, 1)
    while low < high:
        middle = (low + high) // 2
        if without_gaps(arms, rounds, middle) <= without_gaps(arms, rounds, middle + 1):
            high = middle
        else:
            low = middle + 1
    return low
