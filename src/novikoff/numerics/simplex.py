"""Probabilities nearest to a score for each label: P_j = max(s_j - tau, 0), with tau such that they sum to 1.

This is the projection on the simplex: every distribution is its own projection, and a constant added to all scores
changes nothing. tau is found by repeatedly dropping the scores not above the tau of the rest [michelot1986].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inner

Vector = NDArray[np.float64]


@inner
def project(s: Vector, known: int, p: Vector) -> None:
    """Write P of the first `known` scores to p, and 0 for the others; scores 1 or more below the largest get 0.

    Args:
        s: (labels,) scores.
        known: Number of labels in use, at least 1.
        p: (labels,) probabilities, written.
    """
    top = s[0]  # scores are taken relative to the largest, so that no sum overflows
    for j in range(1, known):
        top = max(top, s[j])
    tau = -1.0
    left = 0
    while True:
        total = 0.0
        count = 0
        for j in range(known):
            if s[j] - top > tau:
                total += s[j] - top
                count += 1
        if count == left or count == 0:
            break
        left = count
        tau = (total - 1.0) / count
    for j in range(known):
        p[j] = max((s[j] - top) - tau, 0.0)
    for j in range(known, len(p)):
        p[j] = 0.0


@compiled
def nearest(scores: Vector) -> Vector:
    """Return P of every row of scores (rows, labels)."""
    found = np.empty(scores.shape)
    for t in range(len(scores)):
        if scores.shape[1] > 0:
            project(scores[t], scores.shape[1], found[t])
    return found
