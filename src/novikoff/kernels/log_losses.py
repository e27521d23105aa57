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


@compiled
def see(
    vectors: Vector, ends: NDArray[np.int64], places: NDArray[np.uint32], values: Vector, y: NDArray[np.int8],
    scores: Vector, kappa: float, margin: float, sums: Vector,
) -> None:  # fmt: skip
    """Add the losses of every vector on every row.

    vectors   (places, K), as many places as the rows may have
    scores    what the learner played
    kappa     of a second-order learner, else 0
    margin    of a learner that adds y x where y times the score is below that, and on mistakes; negative for others
    sums      (SUMS, K): log losses, hinge losses, max(l, Q), what rounding may have done to any of these; <u, sum of
              what the learner added up>, which is (g - hz) x, or -y x; u'(sum of h x x')u, with h = 1 where y x was
              added; and, after each of the two, what rounding may have done to it
    """
    count = vectors.shape[1]
    s, size = np.empty(count), np.empty(count)
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
        z = scores[t]
        tail = exp(y[t] * z)
        q = 1.0 / (1.0 + tail)
        g = -y[t] * q
        h = kappa * (q * (tail * q))
        added = g - h * z
        curve = h
        if margin >= 0.0:
            added = -y[t] if (-1 if z < 0.0 else 1) != y[t] or y[t] * z < margin else 0.0
            curve = abs(added)
        played = log_loss(y[t] * z)
        off = (ends[t + 1] - ends[t] + 2) * U0
        for k in range(count):
            m = y[t] * s[k]
            lost = log_loss(m)
            gap = s[k] - z
            bent = 0.5 * h * gap * gap
            near = played + g * gap + bent
            doubt = off * size[k]
            sums[LOG, k] += lost
            sums[HINGE, k] += max(0.0, 1.0 - m)
            sums[PARABOLA, k] += max(lost, near)
            sums[DOUBT, k] += doubt * (1.0 + abs(g) + h * (abs(gap) + doubt)) + 10.0 * U0 * (
                1.0 + abs(m) + lost + played + abs(g * gap) + bent
            )
            sums[PULL, k] += added * s[k]
            sums[BENT, k] += curve * s[k] * s[k]
            sums[BENT_DOUBT, k] += curve * size[k] * (2.0 * doubt + 8.0 * U0 * size[k])
            sums[PULL_DOUBT, k] += (abs(g) + abs(added)) * (doubt + 8.0 * U0 * size[k])
