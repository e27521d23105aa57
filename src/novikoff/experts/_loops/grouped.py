"""Mixtures of two forecasters within a group: by their posterior, or by AdaHedge on squared losses."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled


@compiled
def posterior(common: float, own: float) -> float:
    """Return the weight of the second forecaster, from the log probabilities that each gave to all earlier labels."""
    if common == own:  # also if both are minus infinity
        return 0.5
    gap = own - common
    return 1.0 / (1.0 + math.exp(-gap)) if gap > -700.0 else math.exp(gap)


@compiled
def mix(
    logs: NDArray[np.float64], chances: NDArray[np.float64], losses: NDArray[np.float64], mixed: NDArray[np.float64]
) -> None:
    """Mix the probabilities of the labels of consecutive rows.

    Args:
        logs: (2,) log probabilities of all earlier labels, updated.
        chances: (rows, 2) P(y) of each forecaster.
        losses: (rows, 3) out: -ln P(y) of each, and of the mixture.
        mixed: (rows,) out: P(y) of the mixture.
    """
    for t in range(len(chances)):
        weight = posterior(logs[0], logs[1])
        mixed[t] = chances[t, 0] + weight * (chances[t, 1] - chances[t, 0])
        for i in range(2):
            losses[t, i] = -math.log(chances[t, i]) if chances[t, i] > 0.0 else math.inf
            logs[i] -= losses[t, i]
        losses[t, 2] = -math.log(mixed[t]) if mixed[t] > 0.0 else math.inf


@compiled
def add(sums: NDArray[np.float64], losses: NDArray[np.float64], wrong: NDArray[np.float64]) -> None:
    """Add the losses of rows to the sums of a group.

    Args:
        sums: (6,) columns of `Grouped`, updated: rounds, mixture, common, own, gap, wrong labels.
        losses: (rows, 3) losses of the common learner, of the group's own, and of the mixture.
        wrong: (rows,) 1 where the predicted label is wrong, else 0.
    """
    for t in range(len(losses)):
        sums[0] += 1.0
        sums[1] += losses[t, 2]
        sums[2] += losses[t, 0]
        sums[3] += losses[t, 1]
        sums[5] += wrong[t]


@compiled
def hedged(common: float, own: float, gap: float) -> float:
    """Return the weight of the second forecaster by AdaHedge, from the losses so far and the mixability gap."""
    if common == own:
        return 0.5
    if gap <= 0.0:
        return 1.0 if own < common else 0.0
    power = math.log(2.0) / gap * (own - common)
    return 1.0 / (1.0 + math.exp(power)) if power < 700.0 else math.exp(-power)


@compiled
def potential(common: float, own: float, rate: float) -> float:
    """Return -1/rate ln of the mean of exp(-rate loss) over both; the lesser loss at an infinite rate."""
    least, gap = min(common, own), abs(common - own)
    if rate == math.inf or gap == 0.0:
        return least
    return least - math.log(0.5 + 0.5 * math.exp(-rate * gap)) / rate


@compiled
def hedge(
    sums: NDArray[np.float64], said: NDArray[np.float64], y: NDArray[np.float64], found: NDArray[np.float64],
    losses: NDArray[np.float64],
) -> None:  # fmt: skip
    """Mix predicted numbers of consecutive rows.

    Args:
        sums: (6,) columns of `Grouped`, updated: rounds, mixture, common, own, gap, wrong labels.
        said: (rows, 2) predictions of the common learner and of the group's own.
        y: (rows,) outcomes.
        found: (rows,) out: predictions of the mixture.
        losses: (rows,) out: their squared losses.
    """
    for t in range(len(said)):
        weight = hedged(sums[2], sums[3], sums[4])
        found[t] = said[t, 0] + weight * (said[t, 1] - said[t, 0])
        losses[t] = (found[t] - y[t]) ** 2
        common, own = (said[t, 0] - y[t]) ** 2, (said[t, 1] - y[t]) ** 2
        mean = common + weight * (own - common)
        rate = math.log(2.0) / sums[4] if sums[4] > 0.0 else math.inf
        mixed = potential(sums[2] + common, sums[3] + own, rate) - potential(sums[2], sums[3], rate)
        sums[0] += 1.0
        sums[1] += losses[t]
        sums[2] += common
        sums[3] += own
        sums[4] += max(mean - mixed, 0.0)
