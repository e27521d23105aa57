"""Multiclass probabilities from a score for each label: P_j = e^z_j / sum of e^z.

From z0, the scores of the weights, and v = x'A^-1 x, the scores that are played are
    the root z of  z_j + v (P_j - 1/k) = z0_j:
z0 after a k-th of a step for each of the k possible labels. z minimises F(z) = |z - z0|^2/2 + v (ln sum e^z - mean of
z), which is strictly convex. Newton's method converges to it, with steps halved until F decreases; its matrix
diag(1 + vP) - vPP' is inverted in O(k). Any z may be played, so it need not be the root to the last bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.logits import BEYOND, LARGEST, STEPS

Vector = NDArray[np.float64]


@inner
def softmax(z: Vector, known: int, p: Vector) -> float:
    """Write P of the first `known` scores to p, and 0 for the others; return the logarithm of the sum of e^z.

    Args:
        z: (labels,) scores.
        known: Number of labels in use, at least 1.
        p: (labels,) probabilities, written.
    """
    top = z[0]  # exponentials are taken relative to the largest score, so that none overflows
    for j in range(1, known):
        top = max(top, z[j])
    total = 0.0
    for j in range(known):
        p[j] = exp(z[j] - top)
        total += p[j]
    for j in range(known):
        p[j] /= total
    for j in range(known, len(p)):
        p[j] = 0.0
    return top + np.log(total)


@inner
def hedged(z0: Vector, v: float, known: int, z: Vector, p: Vector, step: Vector, tried: Vector) -> float:
    """Write the scores that are played to z, and their P to p; return the logarithm of the sum of e^z.

    Args:
        z0: (labels,) scores of the weights.
        v: x'A^-1 x.
        known: Number of labels in use.
        z: (labels,) scores that are played, written.
        p: (labels,) their probabilities, written.
        step: (known,) buffer for the Newton step.
        tried: (known,) buffer for the scores after it.
    """
    sound = 0.0 <= v <= BEYOND  # False for NaN
    for j in range(known):
        sound &= abs(z0[j]) <= BEYOND
    for j in range(known):
        z[j] = z0[j] if sound else 0.0
    whole = softmax(z, known, p)
    if known < 2 or not sound or v == 0.0:
        return clipped(z, known, p, whole)
    value = v * (whole - mean(z, known))
    for _ in range(STEPS):
        # Newton step by the Sherman-Morrison formula: with D = diag(1 + vP) and r the negative gradient, it is
        # D^-1 r + v D^-1 P (P'D^-1 r) / (1 - v P'D^-1 P), whose denominator is the sum of P_j / (1 + v P_j).
        inside = 0.0
        outside = 0.0
        for j in range(known):
            rest = z0[j] - z[j] - v * (p[j] - 1.0 / known)
            step[j] = rest / (1.0 + v * p[j])
            inside += p[j] * step[j]
            outside += p[j] / (1.0 + v * p[j])
        size = 0.0
        far = 0.0
        for j in range(known):
            step[j] += v * p[j] / (1.0 + v * p[j]) * inside / outside
            size = max(size, abs(step[j]))
            far = max(far, abs(z[j]))
        if not size > 1e-12 * far:
            break
        part = 1.0  # fraction of the step, halved until F decreases
        while True:
            square = 0.0
            for j in range(known):
                tried[j] = z[j] + part * step[j]
                square += (tried[j] - z0[j]) ** 2
            whole = softmax(tried, known, p)
            new = 0.5 * square + v * (whole - mean(tried, known))
            if new < value or part < 1e-6:
                break
            part *= 0.5
        better = new < value
        value = new
        for j in range(known):
            z[j] = tried[j]
        if not better:
            break
    return clipped(z, known, p, whole)


@inner
def mean(z: Vector, known: int) -> float:
    """Return the mean of the first `known` scores."""
    total = 0.0
    for j in range(known):
        total += z[j]
    return total / known


@inner
def clipped(z: Vector, known: int, p: Vector, whole: float) -> float:
    """Raise scores more than 700 below the largest, so that no P is 0; return ln(sum of e^z).

    z, p   (labels,) scores and probabilities, changed
    """
    top = z[0]
    for j in range(1, known):
        top = max(top, z[j])
    far = False
    for j in range(known):
        if z[j] < top - LARGEST:
            z[j] = top - LARGEST
            far = True
    return softmax(z, known, p) if far else whole


@compiled
def hedge_all(z0: Vector, v: Vector, known: int, z: Vector) -> None:
    """Write the scores that are played, row by row: z0 (rows, labels), v (rows,), z (rows, labels) written."""
    p, step, tried = np.empty(known), np.empty(known), np.empty(known)
    for t in range(len(v)):
        hedged(z0[t], v[t], known, z[t], p, step, tried)


@compiled
def shares(scores: Vector) -> Vector:
    """Return P of every row of scores (rows, labels)."""
    found = np.empty(scores.shape)
    for t in range(len(scores)):
        if scores.shape[1] > 0:
            softmax(scores[t], scores.shape[1], found[t])
    return found
