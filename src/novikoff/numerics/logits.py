"""Probabilities from scores: the logistic function, and the score that hedges between the two labels.

A score z means P(+1) = 1/(1 + e^-z). From z0, the score of the weights, and v = x'A^-1 x, the score that is played is
    the root z of  z + (v/2) tanh(z/2) = z0:
z0 after half a step for each of the two possible labels. It is odd in z0; for z0 > 0 it is found by Halley's method
from below, starting at max(z0/(1 + v/4), z0 - v/2), usually in one or two steps and never in more than seven in tests.
Each step triples the number of correct digits, so the last step need not be small.
Scores are clipped to -700 .. 700: no probability is 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.sizes import CLIP

LARGEST = 700.0
"""Largest size of a score."""
BEYOND = 1e300
"""Largest input for which no intermediate result overflows; beyond it the score 0 is played."""
STEPS = 64
"""Maximum number of steps, which is never reached."""


@inner
def hedged(z0: float, v: float) -> float:
    """Return the score that is played, from z0 and v."""
    sound = abs(z0) <= BEYOND and v <= BEYOND  # False for NaN; any finite score may be played, NaN may not
    size = abs(z0) if sound else 0.0
    half = 0.5 * v if sound and v > 0.0 else 0.0  # rounding may leave v below 0
    z = max(size / (1.0 + 0.5 * half), size - half)
    for _ in range(STEPS):
        e = exp(-z)
        per = 1.0 / (1.0 + e)
        tanh, slope = (1.0 - e) * per, 2.0 * half * (e * (per * per))
        below = size - z - half * tanh
        rise = 1.0 + slope
        step = below / (rise - 0.5 * below * (slope / rise * tanh))
        z += step
        if not abs(step) > 1e-5 * z + 1e-15:  # the next step would be below 1e-15 of z
            break
    z = min(z, LARGEST)
    return z if z0 >= 0.0 else -z


@inlined
def chance(z: float) -> float:
    """Return 1/(1 + e^-z): P(+1) of a score z; for y z, the probability of the label y."""
    e = exp(z)
    return e / (1.0 + e)


@inner
def log_loss(z: float) -> float:
    """Return ln(1 + e^-z) for z = y times the score."""
    return np.log1p(exp(-z)) if z > 0.0 else np.log1p(exp(z)) - z


@inlined
def stacked(scores: NDArray[np.float64], x: NDArray[np.float64]) -> float:
    """Write the clipped scores of members to x, the row of a stack; return the kappa of its loss in this round.

    kappa is tanh(C/2)/(C/2) with C = max(1, the largest |x_i|): the fraction of the curvature of the log loss that is
    left at scores up to C, and so at those of every convex combination of the members.

    Args:
        scores: (J,) scores of the members.
        x: (J,) clipped scores, written.
    """
    farthest = 1.0
    for i in range(len(scores)):
        x[i] = min(max(scores[i], -CLIP), CLIP)
        farthest = max(farthest, abs(x[i]))
    return np.tanh(0.5 * farthest) / (0.5 * farthest)


@compiled
def chances(scores: NDArray[np.float64], y: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the probability that scores (rows,) gave to labels y (rows,), -1 or +1."""
    found = np.empty(len(y))
    for t in range(len(y)):
        found[t] = chance(y[t] * scores[t])
    return found


@compiled
def hedge_all(scores: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores that are played, from those of the weights (rows,) and `spread` (rows,), their v."""
    found = np.empty(len(scores))
    for t in range(len(scores)):
        found[t] = hedged(scores[t], spread[t])
    return found
