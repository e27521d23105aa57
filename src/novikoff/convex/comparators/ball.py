"""Best weights in a ball for the squared loss, computed from sums over all rounds without the examples.

Problem
    minimise  sum of (y_t - <u, x_t>)^2  =  c - 2 <b, u> + <u, A u>   over ||u|| <= W,
    with A the sum of x x', b the sum of y x, c the sum of y^2.
Method
    u = (A + h)^-1 b with h = 0 if that lies in the ball, otherwise the h > 0 that puts u on its surface: the norm of u
    decreases in h, so h is found by bisection, in the coordinates of A's eigenvectors. Any u in the ball is a valid
    comparator; a u that is not quite the best only makes the reported regret slightly smaller.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

HALVINGS = 200
"""Steps of the bisection; more than the bits of a double."""
NOTHING, LEAST = 1e-13, 1e-200
"""Eigenvalues below NOTHING times the largest, or below LEAST, count as 0: u stays 0 along them."""


def best_in_ball(gram: NDArray[np.float64], moments: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Return the best u in the ball.

    Args:
        gram: (d, d) A; only the lower triangle is read.
        moments: (d,) b.
        radius: W.
    """
    values, vectors = np.linalg.eigh(gram)
    along = vectors.T @ moments
    kept = values > max(NOTHING * float(values[-1]), LEAST)
    values, along, vectors = values[kept], along[kept], vectors[:, kept]
    if not len(values) or not along.any():
        return np.zeros(len(moments))

    def length(h: float) -> float:
        return float(np.linalg.norm(along / (values + h)))

    low, high = 0.0, float(np.linalg.norm(along)) / radius  # at `high` the norm is at most the radius
    if length(0.0) > radius:
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if length(middle) > radius else (low, middle)
        low = high  # the end at which u is inside the ball
    best: NDArray[np.float64] = vectors @ (along / (values + low))
    longest = float(np.linalg.norm(best)) * (1.0 + len(best) * 2.0**-52)
    return best if longest <= radius else best * (radius / longest * (1.0 - 2.0**-50))


def squared_loss(
    gram: NDArray[np.float64], moments: NDArray[np.float64], outcomes: float, u: NDArray[np.float64], rounds: int
) -> tuple[float, float]:
    """Return the total squared loss of u and its rounding error.

    Args:
        gram: (d, d) A; only the lower triangle is read.
        moments: (d,) b.
        outcomes: Sum of y^2.
        u: (d,) weights.
        rounds: Number of rounds.
    """
    whole = np.tril(gram) + np.tril(gram, -1).T
    lost = outcomes - 2.0 * float(moments @ u) + float(u @ whole @ u)
    size = (math.sqrt(outcomes) + float(np.linalg.norm(u)) * math.sqrt(float(np.trace(whole)))) ** 2
    return max(lost, 0.0), (rounds + 3 * len(u) + 16) * 2.0**-52 * size
