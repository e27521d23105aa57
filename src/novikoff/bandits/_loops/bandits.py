"""Bandits: in every round draw an arm, observe its loss and no other, and learn.

The loops take whole rows of losses; the learner uses only the entry of the arm it drew. The other entries serve to
evaluate a game on a known table: the expected loss over the draw (`means`), and the sums of all columns (`totals`). If
`whole` is False only the entry of the arm drawn is known. The rules are in bandits/exp3_ix.py, tsallis_inf.py and
exp4.py.

Arguments of the loops
    rows     (n, K) losses from 0 to 1; without whole rows, NaN except for the arm drawn
    whole    whether whole rows are known
    advice   (n, N, K) probability that each expert gives to each arm
    coins    Coins; rates: Rates; sums: Sums, changed; results: Results, output
    weights  (N,) scratch; chances: (K,) scratch
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.bandits._loops.bandit_layout import (
    LOST,
    OFF,
    RATE,
    RATES,
    SPENT,
    STABLE,
    WORST,
    Coins,
    Rates,
    Results,
    Sums,
)
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.exp import exp
from novikoff.numerics.splitmix import uniform

Vector = NDArray[np.float64]
STEPS = 60
"""Largest number of Newton steps; fewer than ten are taken."""


@inlined
def drawn(chances: Vector, coin: float) -> int:
    """Return the arm at which the cumulative probability exceeds the coin; otherwise the last with any probability."""
    total, arm, passed = 0.0, 0, False
    for i in range(len(chances)):
        if not passed and chances[i] > 0.0:
            total += chances[i]
            arm = i
            passed = coin < total
    return arm


@inlined
def weigh(estimates: Vector, rate: float, weights: Vector) -> None:
    """Write weights (arms,) proportional to exp(-rate * estimates) that sum to 1, from the estimates (arms,)."""
    least = estimates[0]
    for i in range(1, len(estimates)):
        least = min(least, estimates[i])
    total = 0.0
    for i in range(len(estimates)):
        weights[i] = exp(-rate * (estimates[i] - least))
        total += weights[i]
    for i in range(len(estimates)):
        weights[i] /= total


@inlined
def spread(estimates: Vector, rate: float, chances: Vector) -> None:
    """Write chances (arms,): 1/(rate * (estimates - x))^2, with x such that they sum to 1.

    As a function of z = rate * (least estimate - x) their sum is at least 1 at z = 1, decreasing and convex: Newton's
    method from there increases monotonically to the root.
    """
    least = estimates[0]
    for i in range(1, len(estimates)):
        least = min(least, estimates[i])
    z = 1.0
    for _ in range(STEPS):
        above, slope = -1.0, 0.0
        for i in range(len(estimates)):
            root = 1.0 / (rate * (estimates[i] - least) + z)
            above += root * root
            slope += root * root * root
        step = above / (2.0 * slope)
        if not step > 4e-16 * z:
            break
        z += step
    for i in range(len(estimates)):
        root = 1.0 / (rate * (estimates[i] - least) + z)
        chances[i] = root * root


@inlined
def falling(size: int, arms: int, fixed: float, t: int) -> float:
    """Return the rate of round t (from 1): a fixed one, or sqrt(ln N / (K t))."""
    return fixed if fixed > 0.0 or size == 1 else math.sqrt(math.log(size) / (arms * t))


@inlined
def exploring(explore: float, t: int) -> float:
    """Return the probability of a uniform draw in round t (from 1): fixed, or t^(-1/3)/2 if negative."""
    return explore if explore >= 0.0 else 0.5 * t ** (-1.0 / 3.0)


@inlined
def watch(chances: Vector, numbers: Vector) -> None:
    """Record in numbers[OFF] the largest distance of the sum of the chances (arms,) from 1."""
    total = 0.0
    for i in range(len(chances)):
        total += chances[i]
    numbers[OFF] = max(numbers[OFF], abs(total - 1.0))


@inlined
def note(numbers: Vector, rate: float, spends: float, loss: float) -> None:
    """Record a round in numbers, at LOST, RATE, RATES and WORST; `spends` is the rate, or more where it explores."""
    numbers[LOST] += loss
    numbers[RATE] = rate
    numbers[RATES] += spends
    if rate > 0.0:
        numbers[WORST] = max(numbers[WORST], spends / rate)


@inlined
def estimate_all(loss: float, chance: float, gammas: Vector, sums: Vector) -> None:
    """Add loss / (chance + gamma) to sums (gammas,) for each of gammas (gammas,)."""
    for c in range(len(gammas)):
        sums[c] += loss / (chance + gammas[c])


@inlined
def mean_loss(chances: Vector, row: Vector) -> float:
    """Return the expected loss over the coin: the mean of row (arms,), the losses, by chances (arms,)."""
    mean = 0.0
    for i in range(len(chances)):
        mean += chances[i] * row[i]
    return mean


@compiled
def exp3_ix(
    rows: Vector, whole: bool, coins: Coins, rates: Rates, sums: Sums, chances: Vector, results: Results
) -> None:
    """Play every row; EXP3-IX never explores."""
    start, first = coins
    fixed, share, _ = rates
    numbers, estimates, gammas, each, totals = sums
    arms, losses, means = results
    size = len(estimates)
    for t in range(len(rows)):
        row = rows[t]
        rate = falling(size, size, fixed, first + t + 1)
        gamma = share * rate
        weigh(estimates, rate, chances)
        watch(chances, numbers)
        arm = drawn(chances, uniform(start, first + t))
        loss, chance = row[arm], chances[arm]
        estimate = loss / (chance + gamma)
        estimates[arm] += estimate
        note(numbers, rate, rate, loss)
        estimate_all(loss, chance, gammas, each[arm])
        numbers[SPENT] += (0.5 * rate + gamma) * estimate
        arms[t], losses[t], means[t] = arm, loss, loss
        if whole:
            means[t] = mean_loss(chances, row)
            for i in range(size):
                totals[i] += row[i]


@compiled
def tsallis_inf(rows: Vector, whole: bool, coins: Coins, sums: Sums, chances: Vector, results: Results) -> None:
    """Play every row."""
    start, first = coins
    numbers, estimates, gammas, each, totals = sums
    arms, losses, means = results
    size = len(estimates)
    for t in range(len(rows)):
        row = rows[t]
        rate = 1.0 / math.sqrt(first + t + 1.0)
        spread(estimates, rate, chances)
        watch(chances, numbers)
        arm = drawn(chances, uniform(start, first + t))
        loss, chance = row[arm], chances[arm]
        estimate = loss / chance
        roots = 0.0
        for i in range(size):
            roots += math.sqrt(chances[i])
        root = math.sqrt(chance)
        # The two terms of the measured bound: penalty of the falling rate, and stability.
        numbers[SPENT] += (2.0 * roots - 2.0) * (math.sqrt(first + t + 1.0) - math.sqrt(first + t + 0.0))
        numbers[STABLE] += rate * loss * loss / (root * (1.0 + rate * estimate * root))
        estimates[arm] += estimate
        note(numbers, rate, rate, loss)
        estimate_all(loss, chance, gammas, each[arm])
        arms[t], losses[t], means[t] = arm, loss, loss
        if whole:
            means[t] = mean_loss(chances, row)
            for i in range(size):
                totals[i] += row[i]


@inlined
def advised(weights: Vector, advice: Vector, explore: float, chances: Vector) -> None:
    """Write the probability of each arm: the experts' weighted advice, with a share `explore` of uniform draws."""
    for i in range(len(chances)):
        chances[i] = 0.0
    for j in range(len(weights)):
        for i in range(len(chances)):
            chances[i] += weights[j] * advice[j, i]
    for i in range(len(chances)):
        chances[i] = (1.0 - explore) * chances[i] + explore / len(chances)


@compiled
def exp4(
    advice: Vector, rows: Vector, whole: bool, coins: Coins, rates: Rates, sums: Sums, weights: Vector,
    chances: Vector, results: Results,
) -> None:  # fmt: skip
    """Play every row, with the advice of each expert."""
    start, first = coins
    fixed, share, explore = rates
    numbers, estimates, gammas, each, totals = sums
    arms, losses, means = results
    size = len(estimates)
    for t in range(len(rows)):
        row, given = rows[t], advice[t]
        mixed = exploring(explore, first + t + 1)
        rate = falling(size if explore == 0.0 else max(size, 2), len(chances), fixed, first + t + 1)
        gamma = share * rate
        weigh(estimates, rate, weights)
        advised(weights, given, mixed, chances)
        watch(chances, numbers)
        arm = drawn(chances, uniform(start, first + t))
        loss, chance = row[arm], chances[arm]
        estimate = loss / (chance + gamma)
        advised_chance = 0.0  # probability of the arm without exploration
        for j in range(size):
            advised_chance += weights[j] * given[j, arm]
            estimates[j] += given[j, arm] * estimate
            for c in range(len(gammas)):
                each[j, c] += given[j, arm] * loss / (chance + gammas[c])
        note(numbers, rate, 0.5 * rate / (1.0 - mixed) + 0.5 * rate + mixed / len(chances), loss)
        explored = max(chance - advised_chance, 0.0)
        numbers[SPENT] += (0.5 * rate * (advised_chance / chance) + gamma + explored) * estimate
        arms[t], losses[t], means[t] = arm, loss, loss
        if whole:
            means[t] = mean_loss(chances, row)
            for j in range(size):
                for i in range(len(chances)):
                    totals[j] += given[j, i] * row[i]


@compiled
def draw(chances: Vector, start: int, t: int) -> int:
    """Return the arm of the round after t."""
    return drawn(chances, uniform(start, t))
