"""Mixture of specialists in log loss: awake copies are weighted by their probabilities of earlier labels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled


@compiled
def mix(
    masses: NDArray[np.float64], logs: NDArray[np.float64], chances: NDArray[np.float64], losses: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability that the mixture gives to each label.

    Args:
        masses: (forecasters,) prior weights.
        logs: (forecasters,) log probabilities of all earlier labels, updated.
        chances: (rounds, forecasters) P(y) of each.
        losses: (rounds, forecasters + 1) out: -ln P(y) of each, and of the mixture.
    """
    mixed = np.empty(len(chances))
    for t in range(len(chances)):
        top = -math.inf
        for i in range(len(logs)):
            top = max(top, logs[i])
        whole = part = 0.0
        for i in range(len(logs)):
            weight = masses[i] * math.exp(logs[i] - top) if top > -math.inf else masses[i]
            whole += weight
            part += weight * chances[t, i]
        mixed[t] = part / whole
        for i in range(len(logs)):
            losses[t, i] = -math.log(chances[t, i]) if chances[t, i] > 0.0 else math.inf
            logs[i] -= losses[t, i]
        losses[t, len(logs)] = -math.log(mixed[t]) if mixed[t] > 0.0 else math.inf
    return mixed
