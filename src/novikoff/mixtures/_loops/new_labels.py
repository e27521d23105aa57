"""Probability that is reserved for a label that was never seen.

In round t, after k labels, r = 3/4 u + 1/4 1/t^2. Here u is the probability of a new label if labels are drawn
independently and with equal probabilities from K, where K is from 1 to MOST with a prior proportional to
1/((K+2) (K+3)): the posterior of K is proportional to prior(K) K!/(K-k)! K^-(t-1). A round in which a label is new
costs at most 2 ln t + ln 4, and all other rounds together at most 3/4 of what they would cost by u alone, and 1/4 ln 2:
r is a mean, and -ln(1 - r) is convex.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inner
from novikoff.numerics.exp import exp

MOST = 256
"""Largest K."""
DRAWN = 0.75
"""Weight of u in r."""
SURE = 64
"""After SURE (k + 1) rounds u is taken to be 0: it is below e^-50."""


@inner
def uniform(rounds: int, known: int) -> float:
    """Return u after `rounds` rounds with `known` labels."""
    if rounds > SURE * (known + 1):
        return 0.0
    weight, whole, new = 1.0, 0.0, 0.0
    for k in range(known, MOST + 1):
        whole += weight
        new += weight * (k - known) / k
        weight *= (k + 2.0) / (k + 4.0) * ((k + 1.0) / (k + 1.0 - known)) * exp(-rounds * np.log1p(1.0 / k))
    return new / whole if whole > 0.0 else 0.0


@compiled
def reserve(rounds: int, known: NDArray[np.int64], reserved: NDArray[np.float64]) -> None:
    """Write the probability reserved in each round.

    rounds     rounds before these
    known      (rows,) labels known before each round
    reserved   (rows,) out: 1 before the first label
    """
    for t in range(len(known)):
        now = rounds + t + 1.0
        reserved[t] = 1.0
        if known[t] > 0:
            reserved[t] = DRAWN * uniform(rounds + t, known[t]) + (1.0 - DRAWN) / (now * now)
