"""Losses of fixed weights u, row by row: log loss, hinge loss, and the larger of the log loss and of a parabola.

The parabola Q(s) = l(z) + g (s - z) + (h/2)(s - z)^2 is what a second-order learner took for the loss l of the round,
with the z it played, g = l'(z) and h = kappa P(+1) P(-1).
Beside each sum stands what rounding may have taken from it: a dot product of n numbers is within (n+2) 2^-53 times the
sum of its sizes, and the rest of a loss within 10 2^-53 of the sizes of its parts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernels.compiled import compiled
from novikoff.kernels.exp import exp
from novikoff.kernels.logits import log_loss

Vector = NDArray[np.float64]
U0 = 2.0**-53

LOG, HINGE, PARABOLA, DOUBT, PULL, PULL_DOUBT, BENT, BENT_DOUBT, SUMS = range(9)
LOSS, LINEAR, LINEAR_SIZE, TOLD = range(4)


@compiled
def see(
    vectors: Vector, ends: NDArray[np.int64], places: NDArray[np.uint32], values: Vector, y: NDArray[np.int8],
    scores: Vector, kappas: Vector, rides: NDArray[np.bool_], margin: float, sums: Vector, told: Vector,
) -> None:  # fmt: skip
    """Add the losses of every vector on every row.

    vectors   (places, K), as many places as the rows may have
    scores    (rows, C): what each of those played who make up the learner
    kappas    of each: of the second order, else 0
    rides     of whom the parabolas, and the curvature, are wanted
    margin    of a learner that adds y x where y times the score is below that, and on mistakes; negative for others
    sums      (C, SUMS, K): log losses and hinge losses, in that of the first; max(l, Q), what rounding may have done to
              any of these; <u, sum of what was added up>, which is (g - hz) x, or -y x; u'(sum of h x x')u, with h = 1
              where y x was added; and, after each of the two, what rounding may have done to it
    told      (C, TOLD): the log losses of the scores, g z - h z^2/2, and |g z| + h z^2/2
    """
    count = vectors.shape[1]
    s, size, lost = np.empty(count), np.empty(count), np.empty(count)
    for t in range(len(y)):
        for k in range(count):
            s[k] = 0.0
            size[k] = 0.0
        for e in range(ends[t], ends[t + 1]):
            row = vectors[places[e]]
            x = values[e]
            for k in range(count):
                part = row[k] * x
                s[k] += part
                size[k] += abs(part)
        for k in range(count):
            m = y[t] * s[k]
            lost[k] = log_loss(m)
            sums[0, LOG, k] += lost[k]
            sums[0, HINGE, k] += max(0.0, 1.0 - m)
        off = (ends[t + 1] - ends[t] + 2) * U0
        for c in range(scores.shape[1]):
            z = scores[t, c]
            tail = exp(y[t] * z)
            q = 1.0 / (1.0 + tail)
            g = -y[t] * q
            h = kappas[c] * (q * (tail * q)) if kappas[c] > 0.0 else 0.0
            added = g - h * z
            curve = h
            if margin >= 0.0:
                added = -y[t] if (-1 if z < 0.0 else 1) != y[t] or y[t] * z < margin else 0.0
                curve = abs(added)
            played = log_loss(y[t] * z)
            told[c, LOSS] += played
            told[c, LINEAR] += g * z - 0.5 * h * z * z
            told[c, LINEAR_SIZE] += abs(g * z) + 0.5 * h * z * z
            of = sums[c]
            for k in range(count):
                of[PULL, k] += added * s[k]
                of[PULL_DOUBT, k] += (abs(g) + abs(added)) * (off * size[k] + 8.0 * U0 * size[k])
            if not rides[c]:
                continue
            for k in range(count):
                gap = s[k] - z
                bent = 0.5 * h * gap * gap
                near = played + g * gap + bent
                doubt = off * size[k]
                of[PARABOLA, k] += max(lost[k], near)
                of[DOUBT, k] += doubt * (1.0 + abs(g) + h * (abs(gap) + doubt)) + 10.0 * U0 * (
                    1.0 + abs(s[k]) + lost[k] + played + abs(g * gap) + bent
                )
                of[BENT, k] += curve * s[k] * s[k]
                of[BENT_DOUBT, k] += curve * size[k] * (2.0 * doubt + 8.0 * U0 * size[k])
