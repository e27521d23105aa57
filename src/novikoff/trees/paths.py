"""Explanations of trees: the forecast of a row as a sum of steps along its path, and the gain of cuts by column.

Path
    A tree is a mixture over its prunings: on the path v_0 (root) .. v_n (leaf) of a row, node i has the forecast p_i,
    and the mixture stops there with weight s_i. Let Q_i be the forecast if the mixture always stopped at node i at the
    latest: Q_0 = p_0, and Q_n is the forecast of the tree. The step from Q_i to Q_(i+1), in log-odds for two labels,
    belongs to the column of the cut at node i. The base Q_0 and the steps sum to the forecast exactly.
Gain
    The gain of a cut with counts a and b on its sides is the log loss of the best constant on a + b less those on a
    and on b, in nats. For numbers, it is the decrease of the sum of squares about the mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Steps(NamedTuple):
    """Path of a row through one tree.

    Attributes:
        columns: (nodes - 1,) column of the cut at each node but the last.
        forecasts: (nodes, k) Q of each node: probabilities, not normalised, or one number.
    """

    columns: NDArray[np.int64]
    forecasts: Vector


def goes_left(value: float, category: bool, cut: float, sets: NDArray[np.uint64], missing_left: int) -> bool:
    """Return whether a value goes to the left child, as in trees/_loops/cuts.py."""
    if value != value:
        return missing_left == 1
    if not category:
        return bool(value <= cut)
    last = 64 * len(sets) - 1
    b = last if value < 0.0 else min(int(value) + 1, last)
    return bool(int(sets[b >> 6]) >> (b & 63) & 1)


def truncated(forecasts: Vector, stops: Vector, goes: Vector) -> Vector:
    """Return Q of each node of a path.

    Args:
        forecasts: (nodes, k) p of each node.
        stops: (nodes - 1,) weight of stopping at each node but the last.
        goes: (nodes - 1,) weight of going on.
    """
    left = np.append(1.0, np.cumprod(goes))  # weight that reaches each node
    parts = (left[:-1] * stops)[:, np.newaxis] * forecasts[:-1]
    stopped = np.vstack([np.zeros((1, forecasts.shape[1])), np.cumsum(parts, axis=0)])  # before each node
    found: Vector = stopped + left[:, np.newaxis] * forecasts
    return found


def label_gains(left: Vector, right: Vector) -> Vector:
    """Return the gain in nats of cuts with counts (cuts, labels) on either side."""
    return _concentration(left) + _concentration(right) - _concentration(left + right)


def _concentration(counts: Vector) -> Vector:
    """Return the sum of n_c ln n_c less n ln n: minus the log loss of the best constant."""
    total = counts.sum(axis=1)
    logs = [np.log(some, out=np.zeros_like(some), where=some > 0.0) for some in (counts, total)]
    found: Vector = (counts * logs[0]).sum(axis=1) - total * logs[1]
    return found


def number_gains(left: Vector, right: Vector) -> Vector:
    """Return the decrease of the sum of squares by cuts, from (cuts, 2) sum and count on either side."""

    def explained(some: Vector) -> Vector:
        found: Vector = np.divide(some[:, 0] ** 2, some[:, 1], out=np.zeros(len(some)), where=some[:, 1] > 0.0)
        return found

    return np.maximum(explained(left) + explained(right) - explained(left + right), 0.0)


def by_column(columns: NDArray[np.integer], gains: Vector, count: int) -> Vector:
    """Return the sum of the gains of each of `count` columns."""
    found = np.zeros(count)
    np.add.at(found, columns, gains)
    return found
