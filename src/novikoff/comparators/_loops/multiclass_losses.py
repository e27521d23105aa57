"""Multiclass losses of fixed weights U, row by row: log losses, or hinge losses.

With s_j = <u_j, x> for the labels known in the round, including the label of the round, the log loss is
ln sum of e^s - s_y and the hinge loss max(0, 1 - s_y + the largest other s). Each sum is accompanied by its possible
rounding error: that of a dot product of n numbers is at most (n+2) 2^-53 times the sum of the sizes of its terms, that
of the other parts of a loss at most (k+10) 2^-53 times the sum of their sizes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled
from novikoff.numerics.sizes import U0
from novikoff.numerics.softmax import softmax

Vector = NDArray[np.float64]
LOST, DOUBT, PULL, PULL_DOUBT, SUMS = range(5)
"""Rows of `sums`, one column per U; the last name is the number of rows."""
LOSS, LINEAR, LINEAR_SIZE, SCORE_SUMS = range(4)
"""Positions in `score_sums`; the last name is their number."""


@compiled
def see(
    vectors: Vector, ends: NDArray[np.int64], places: NDArray[np.uint32], values: Vector, y: NDArray[np.int64],
    scores: Vector, known: int, hinge: bool, sums: Vector, score_sums: Vector,
) -> None:  # fmt: skip
    """Add the losses of every U on every row.

    Args:
        vectors: (K, places, labels) weights.
        ends: (rows + 1,) as in Nonzeros.
        places: (entries,) as in Nonzeros.
        values: (entries,) as in Nonzeros.
        y: (rows,) labels as numbers.
        scores: (rows, labels) scores that the learner would have played with each label announced before its first
            round.
        known: Number of labels before the first row.
        hinge: Whether the loss is the hinge loss; otherwise it is the log loss.
        sums: (SUMS, K) losses, and their possible rounding error; <U, sum of g x>, where g = P - 1_y, or on a mistake
            1_predicted - 1_y; and its possible rounding error. Accumulated.
        score_sums: (SCORE_SUMS,) log losses of the scores, or their mistakes; <g, z>; the sum of |g z|. Accumulated.
    """
    # g: gradient of the round in the scores; s, size: scores of one U and the sums of the sizes of their terms.
    count, labels = vectors.shape[0], scores.shape[1]
    g, s, size, p = np.empty(labels), np.empty(labels), np.empty(labels), np.empty(labels)
    for t in range(len(y)):
        z, here = scores[t], y[t]
        known = max(known, here + 1)
        if hinge:
            best = 0
            for j in range(1, known):
                if z[j] > z[best]:
                    best = j
            for j in range(known):
                g[j] = 0.0
            if best != here:
                score_sums[LOSS] += 1.0
                g[best] = 1.0
                g[here] = -1.0
        else:
            score_sums[LOSS] += softmax(z, known, g) - z[here]
            g[here] -= 1.0
            for j in range(known):
                score_sums[LINEAR] += g[j] * z[j]
                score_sums[LINEAR_SIZE] += abs(g[j] * z[j])
        off = (ends[t + 1] - ends[t] + 2) * U0  # relative error of a dot product
        for k in range(count):
            for j in range(known):
                s[j] = 0.0
                size[j] = 0.0
            for e in range(ends[t], ends[t + 1]):
                row = vectors[k, places[e]]
                x = values[e]
                for j in range(known):
                    part = row[j] * x
                    s[j] += part
                    size[j] += abs(part)
            largest, far = 0.0, 0.0
            for j in range(known):
                largest = max(largest, size[j])
                far = max(far, abs(s[j]))
                sums[PULL, k] += g[j] * s[j]
                sums[PULL_DOUBT, k] += 2.0 * abs(g[j]) * (off + 8.0 * U0) * size[j]
            if hinge:
                other = -np.inf
                for j in range(known):
                    if j != here:
                        other = max(other, s[j])
                lost = max(0.0, 1.0 - s[here] + other)
            else:
                lost = softmax(s, known, p) - s[here]
            sums[LOST, k] += lost
            sums[DOUBT, k] += off * (largest + size[here]) + (known + 10) * U0 * (1.0 + far + lost)
