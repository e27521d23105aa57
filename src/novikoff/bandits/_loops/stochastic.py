"""Bandits for independent losses: UCB1, explore-then-commit, Thompson sampling.

The loops take whole rows of losses, and use only the entry of the arm they play; the other entries enter `totals`. The
rules are in bandits/ucb1.py, explore_then_commit.py and thompson.py.

Arguments of the loops
    rows      (n, K) losses from 0 to 1; without whole rows, NaN except for the arm played
    whole     whether whole rows are known
    first     number of earlier rounds
    counts    Counts, changed
    results   Results, output
    explored  (K,) sum of the losses of each arm in the exploration, changed
    ones      (K,) number of losses of each arm that were rounded to 1, changed
    plays     (K,) rounds in which each arm was played
    paid      (K,) sum of the losses of each arm in these rounds
    starts    states of the coins: of the posterior samples, and of the rounding of losses
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.bandits._loops.bandit_layout import LOST, Counts, Results, Starts
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.splitmix import coin, uniform

Vector = NDArray[np.float64]


@inlined
def least_lower_limit(plays: Vector, paid: Vector, t: int) -> int:
    """Return the first arm never played; else that with the least lower limit, mean loss - sqrt(2 ln t / plays).

    Args:
        plays: (arms,) rounds in which each arm was played.
        paid: (arms,) sum of its losses.
        t: Rounds so far.
    """
    arm, least = 0, math.inf
    level = 2.0 * math.log(max(t, 1))
    for i in range(len(plays)):
        limit = -math.inf if plays[i] == 0.0 else paid[i] / plays[i] - math.sqrt(level / plays[i])
        if limit < least:
            arm, least = i, limit
    return arm


@inlined
def in_turn_or_best(explored: Vector, each: int, t: int) -> int:
    """Return the arm of the round after t: all in turn, `each` times; then that with the least explored loss."""
    if t < each * len(explored):
        return t % len(explored)
    arm = 0
    for i in range(1, len(explored)):
        if explored[i] < explored[arm]:
            arm = i
    return arm


@inlined
def least_sample(plays: Vector, ones: Vector, start: int, t: int) -> int:
    """Return the arm with the least sample of Beta(1 + ones, 1 + plays - ones), by the coins of the round after t.

    plays (arms,) has the rounds in which each arm was played, ones (arms,) those in which it lost 1.

    A sample is G/(G + H) of two gamma samples, by Marsaglia's and Tsang's rejection; normal numbers are those of Box
    and Muller. Every arm and round has its own generator, whose coins are used in order.
    """
    arm, least = 0, math.inf
    for i in range(len(plays)):
        state, k, first, second = coin(start, t * len(plays) + i), 0, 0.0, 0.0
        for part in range(2):
            d = (1.0 + ones[i] if part == 0 else 1.0 + plays[i] - ones[i]) - 1.0 / 3.0
            c = 1.0 / math.sqrt(9.0 * d)
            sample = 0.0
            while sample == 0.0:
                radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state, k)))
                x = radius * math.cos(2.0 * math.pi * uniform(state, k + 1))
                v = (1.0 + c * x) ** 3
                if v > 0.0 and math.log(1.0 - uniform(state, k + 2)) < 0.5 * x * x + d - d * v + d * math.log(v):
                    sample = d * v
                k += 3
            if part == 0:
                first = sample
            else:
                second = sample
        drawn = first / (first + second)
        if drawn < least:
            arm, least = i, drawn
    return arm


@inlined
def note(arm: int, row: Vector, whole: bool, counts: Counts) -> float:
    """Record a round, row (K,) of its losses, and return the loss of the arm played."""
    numbers, plays, paid, totals = counts
    loss = row[arm]
    numbers[LOST] += loss
    plays[arm] += 1.0
    paid[arm] += loss
    if whole:
        for i in range(len(totals)):
            totals[i] += row[i]
    return float(loss)


@compiled
def ucb1(rows: Vector, whole: bool, first: int, counts: Counts, results: Results) -> None:
    """Play every row."""
    _, plays, paid, _ = counts
    arms, losses, means = results
    for t in range(len(rows)):
        arm = least_lower_limit(plays, paid, first + t)
        loss = note(arm, rows[t], whole, counts)
        arms[t], losses[t], means[t] = arm, loss, loss


@compiled
def explore_then_commit(
    rows: Vector, whole: bool, first: int, each: int, explored: Vector, counts: Counts, results: Results
) -> None:
    """Play every row."""
    arms, losses, means = results
    for t in range(len(rows)):
        arm = in_turn_or_best(explored, each, first + t)
        loss = note(arm, rows[t], whole, counts)
        if first + t < each * len(explored):
            explored[arm] += loss
        arms[t], losses[t], means[t] = arm, loss, loss


@compiled
def thompson(
    rows: Vector, whole: bool, first: int, starts: Starts, ones: Vector, counts: Counts, results: Results
) -> None:
    """Play every row."""
    samples, rounding = starts
    _, plays, _, _ = counts
    arms, losses, means = results
    for t in range(len(rows)):
        arm = least_sample(plays, ones, samples, first + t)
        loss = note(arm, rows[t], whole, counts)
        if uniform(rounding, first + t) < loss:
            ones[arm] += 1.0
        arms[t], losses[t], means[t] = arm, loss, loss


@compiled
def ucb1_arm(plays: Vector, paid: Vector, t: int) -> int:
    """Return the arm of the round after t."""
    return least_lower_limit(plays, paid, t)


@compiled
def committed_arm(explored: Vector, each: int, t: int) -> int:
    """Return the arm of the round after t."""
    return in_turn_or_best(explored, each, t)


@compiled
def thompson_arm(plays: Vector, ones: Vector, start: int, t: int) -> int:
    """Return the arm of the round after t."""
    return least_sample(plays, ones, start, t)
