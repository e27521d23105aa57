"""Labels that linear hypotheses give one x: +1 if the score <w, x> is at least 0, else -1.

Grid weights are not stored. Hypothesis number k, written in base 2n+1, has the digits w_i + n, the first feature first.
So the numbers fall into rows that share their leading digits, and a score is that of the row plus an entry of `low`,
the scores of all choices of the last weights. Scores are integers, so exact in any order.
Points of a cover are stored feature by feature. A score is summed over features 0, 1, 2, ... in that order, for all
points as for a list of them, so that both give the same sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

BLOCK = 1024
"""Number of points scored together, so that their scores stay in the fastest cache."""


@compiled
def low_scores(x: NDArray[np.int64], n: int, low: NDArray[np.int64]) -> None:
    """Write the scores of all choices of the last j weights.

    Args:
        x: (features,) example, integers.
        n: Largest weight; weights are -n .. n.
        low: ((2n+1)^j,) output; its length determines j.
    """
    low[0] = 0
    filled = 1
    i = len(x)
    while filled < len(low):
        i -= 1
        # From the last block to the first: block 0 is read by all the others.
        for digit in range(2 * n, -1, -1):
            step = (digit - n) * x[i]
            for j in range(filled):
                low[digit * filled + j] = low[j] + step
        filled *= 2 * n + 1


@inlined
def row_score(x: NDArray[np.int64], n: int, row: int, digits: int) -> int:
    """Return the score of the leading weights.

    Args:
        x: (features,) example, integers.
        n: Largest weight.
        row: Number whose base-(2n+1) digits are the leading weights plus n.
        digits: Number of leading weights.
    """
    score = 0
    for i in range(digits - 1, -1, -1):
        score += (row % (2 * n + 1) - n) * x[i]
        row //= 2 * n + 1
    return score


@compiled
def label_grid(
    x: NDArray[np.int64], n: int, digits: int, low: NDArray[np.int64], labels: NDArray[np.int8]
) -> None:  # fmt: skip
    """Write the labels of all hypotheses of the grid, in order.

    Args:
        x: (features,) example, integers.
        n: Largest weight.
        digits: Number of leading weights, those that `low` does not cover.
        low: ((2n+1)^(features - digits),) output of `low_scores`.
        labels: (hypotheses,) output.
    """
    for row in range(len(labels) // len(low)):
        least = -row_score(x, n, row, digits)
        part = labels[row * len(low) : (row + 1) * len(low)]
        for j in range(len(part)):
            part[j] = 1 if low[j] >= least else -1


@compiled
def label_numbers(
    x: NDArray[np.int64], n: int, digits: int, low: NDArray[np.int64], numbers: NDArray[Any], labels: NDArray[np.int8],
) -> None:  # fmt: skip
    """Write the labels of some hypotheses; fastest if sorted, because each row's score is then computed once.

    Args:
        x: (features,) example, integers.
        n: Largest weight.
        digits: Number of leading weights, those that `low` does not cover.
        low: ((2n+1)^(features - digits),) output of `low_scores`.
        numbers: (hypotheses,) numbers of the hypotheses on the grid.
        labels: (hypotheses,) output.
    """
    start = 0
    least = -row_score(x, n, 0, digits)
    for k in range(len(numbers)):
        j = numbers[k] - start
        if j < 0 or j >= len(low):
            row = numbers[k] // len(low)
            start = row * len(low)
            j = numbers[k] - start
            least = -row_score(x, n, row, digits)
        labels[k] = 1 if low[j] >= least else -1


@compiled
def label_points(points: NDArray[np.float64], x: NDArray[np.float64], labels: NDArray[np.int8]) -> None:
    """Write the labels of all points of a cover, one block at a time.

    Args:
        points: (features, hypotheses) unit normals, one per column.
        x: (features,) example.
        labels: (hypotheses,) output.
    """
    scores = np.empty(BLOCK)
    for start in range(0, len(labels), BLOCK):
        part = labels[start : start + BLOCK]
        for j in range(len(part)):
            scores[j] = 0.0
        for i in range(len(x)):
            feature = points[i, start : start + BLOCK]
            value = x[i]
            for j in range(len(part)):
                scores[j] += feature[j] * value
        for j in range(len(part)):
            part[j] = 1 if scores[j] >= 0.0 else -1


@compiled
def label_members(
    points: NDArray[np.float64], x: NDArray[np.float64], members: NDArray[np.int64], labels: NDArray[np.int8]
) -> None:
    """Write the labels of some points of a cover.

    Args:
        points: (features, hypotheses) unit normals, one per column.
        x: (features,) example.
        members: (survivors,) columns of `points`; checked, because they may come from a file.
        labels: (survivors,) output.
    """
    for k in range(len(members)):
        j = members[k]
        if j < 0 or j >= points.shape[1]:
            raise IndexError("a survivor must be a point of the cover")
        score = 0.0
        for i in range(len(x)):
            score += points[i, j] * x[i]
        labels[k] = 1 if score >= 0.0 else -1
