"""Bets against exchangeability, and on the errors of a certified classifier, one example after the other.

The capital of a drift test has one row per scale of the bets: the amounts on "fewer errors", on nothing, and on "more
errors". The p-value of an example is randomised by its coin (numerics/coins.py); `start` is the state before the first
coin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.splitmix import uniform

SEEN, NUMBER, ONES = range(3)
"""Counts of a drift test: examples in all, of this block, and errors of this block."""


@inlined
def p_value(wrong: bool, ones: int, number: int, u: float) -> float:
    """Return the random rank of example `number` of a block after `ones` errors."""
    if wrong:
        return u * (ones + 1) / number
    return (ones + u * (number - ones)) / number


@inlined
def bet(capital: NDArray[np.float64], scales: NDArray[np.float64], jump: float, p: float) -> float:
    """Redistribute the capital (scales, 3), changed, bet on p at each of scales (scales,), and return the wealth."""
    wealth = 0.0
    for j in range(len(scales)):
        less, none, more = capital[j, 0], capital[j, 1], capital[j, 2]
        even = jump / 3.0 * ((less + none) + more)  # the share `jump` is divided equally among the three
        won = scales[j] * (p - 0.5)
        less = ((1.0 - jump) * less + even) * (1.0 + won)
        none = (1.0 - jump) * none + even
        more = ((1.0 - jump) * more + even) * (1.0 - won)
        capital[j, 0], capital[j, 1], capital[j, 2] = less, none, more
        wealth += (less + none) + more
    return wealth


@compiled
def learn_many(
    wrong: NDArray[np.bool_], start: int, counts: NDArray[np.int64], capital: NDArray[np.float64],
    scales: NDArray[np.float64], often: float, wealth: float, largest: float, enough: float,
) -> tuple[float, float]:  # fmt: skip
    """Bet on every example of a part of a block until the wealth is `enough`; return the wealth and its maximum.

    Args:
        wrong: (examples,) whether each is an error.
        start: State of the coins before the first.
        counts: (3,) SEEN, NUMBER and ONES, updated.
        capital: (scales, 3) on fewer errors, on nothing, on more errors; updated.
        scales: (scales,) scales of the bets.
        often: Largest share of the capital that is redistributed.
        wealth: Wealth before.
        largest: Largest wealth before.
        enough: Wealth at which betting stops.
    """
    for t in range(len(wrong)):
        counts[NUMBER] += 1
        if wealth < enough:
            p = p_value(wrong[t], counts[ONES], counts[NUMBER], uniform(start, counts[SEEN]))
            wealth = bet(capital, scales, min(often, 1.0 / (counts[SEEN] + 1)), p)
            largest = max(largest, wealth)
        counts[SEEN] += 1
        counts[ONES] += wrong[t]
    return wealth, largest


@compiled
def watch(
    wrong: NDArray[np.bool_], seen: int, capital: NDArray[np.float64], gains: NDArray[np.float64],
    losses: NDArray[np.float64], every: int, wealth: float, largest: float, enough: float,
) -> tuple[float, float]:  # fmt: skip
    """Bet on the errors of a certified classifier; return the wealth and its maximum.

    Before example 0, every, 2 every, ... fresh capital is added: 2/((j+1)(j+2)), in equal parts.

    Args:
        wrong: (examples,) whether each is an error.
        seen: Number of earlier examples.
        capital: (bets,) updated.
        gains: (bets,) factor of each bet after an error.
        losses: (bets,) factor of each bet after a correct prediction.
        every: Examples between additions of capital.
        wealth: Wealth before.
        largest: Largest wealth before.
        enough: Wealth at which betting stops.
    """
    for t in range(len(wrong)):
        if wealth >= enough:
            break
        if (seen + t) % every == 0:
            j = (seen + t) // every
            for k in range(len(capital)):
                capital[k] += 2.0 / ((j + 1.0) * (j + 2.0)) / len(capital)
        wealth = 0.0
        for k in range(len(capital)):
            kept = capital[k] * (gains[k] if wrong[t] else losses[k])
            capital[k] = kept if kept > 1e-300 else 0.0  # denormal numbers would slow the loop down
            wealth += capital[k]
        largest = max(largest, wealth)
    return wealth, largest
