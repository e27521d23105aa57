"""AdaHedge over a few forecasters of a number, with squared loss: predict the weighted mean.

Weights are proportional to exp(-rate * loss so far), rate = ln N / D with D the cost of mixing so far; while D is 0 all
leaders have the same weight, and the others none. The cost of a round is the gap h - m: h is the mean loss under the
weights, and h - m = ln(sum of w exp(-rate (l - h))) / rate. If that could overflow, m is the difference of the mix
losses of all rounds before and after this one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.experts._loops.ada_hedge_layout import GAPS, LAST_GAP, LOSSES, MIXED, PAID, SHARES
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.exp import exp

Vector = NDArray[np.float64]

SMALLEST = 1e-290
"""Smallest gap that counts; below it the rate would overflow."""
FAR = 600.0
"""Largest exponent rate * (h - least loss) for which the gap is computed directly."""


@inlined
def weigh(losses: Vector, gaps: float, w: Vector) -> float:
    """Write the weights, which sum to 1, and return the rate, infinite while there are no gaps."""
    least = losses[0]
    for j in range(len(losses)):
        least = min(least, losses[j])
    rate, whole = np.inf, 0.0
    if gaps > SMALLEST:
        rate = np.log(np.float64(len(losses))) / gaps
    for j in range(len(losses)):
        behind = losses[j] - least
        w[j] = 1.0 if behind == 0.0 else 0.0 if rate == np.inf else exp(-rate * behind)
        whole += w[j]
    for j in range(len(losses)):
        w[j] /= whole
    return rate


@inlined
def mixed(losses: Vector, rate: float) -> float:
    """Return -ln(sum of exp(-rate * loss)) / rate; the least loss if the rate is infinite."""
    least = losses[0]
    for j in range(len(losses)):
        least = min(least, losses[j])
    if rate == np.inf:
        return least
    total = 0.0
    for j in range(len(losses)):
        total += exp(-rate * (losses[j] - least))
    return least - np.log(total) / rate


@compiled
def play(table: Vector, numbers: Vector, predictions: Vector, y: Vector, learns: bool, predicted: Vector) -> None:
    """Write the weighted mean of every row of predictions; if `learns`, learn from each row before the next.

    Args:
        table: (TABLE, N) losses and sums of weights (ada_hedge_layout.py), changed if `learns`.
        numbers: (NUMBERS,) sums over the rounds, changed if `learns`.
        predictions: (rows, N) predictions of the forecasters.
        y: (rows,) outcomes; read only if `learns`.
        learns: Whether to learn.
        predicted: (rows,) output.
    """
    losses, shares = table[LOSSES], table[SHARES]
    count = len(losses)
    w, lost = np.empty(count), np.empty(count)
    for t in range(len(predictions)):
        rate = weigh(losses, numbers[GAPS], w)
        mean = 0.0
        for j in range(count):
            mean += w[j] * predictions[t, j]
        predicted[t] = mean
        if not learns:
            continue
        h, least = 0.0, np.inf
        for j in range(count):
            lost[j] = (predictions[t, j] - y[t]) ** 2
            h += w[j] * lost[j]
            least = min(least, lost[j])
        if rate * (h - least) < FAR:  # expm1 and log1p keep the digits of a small gap
            inside = 0.0
            for j in range(count):
                inside += w[j] * np.expm1(-rate * (lost[j] - h))
            gap = np.log1p(max(inside, 0.0)) / rate
        else:
            gap = h - (mixed(losses + lost, rate) - mixed(losses, rate))
        gap = max(gap, 0.0)
        for j in range(count):
            losses[j] += lost[j]
            shares[j] += w[j]
        numbers[GAPS] += gap
        numbers[LAST_GAP] = gap
        numbers[MIXED] += h
        numbers[PAID] += (mean - y[t]) ** 2
