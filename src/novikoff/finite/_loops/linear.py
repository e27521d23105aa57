"""The labels that linear hypotheses give one x: +1 if the score <w, x> is at least 0, else -1.

Grid weights are not stored. Hypothesis number k, written in base 2n+1, has the digits w_i + n, the first feature
first; so the numbers fall into rows that share their leading digits, and a score is that of the row plus an entry
of `low`, the scores of all endings. Whole numbers, so exact in any order.
Points of a cover are stored, feature by feature; a score is summed over features 0, 1, 2, ... in that order for all
points and for a list of them alike, so that both give the same sign.

Arguments of the loops
    x         (features,) one example; whole numbers for the grid
    n         grid weights are from -n to n; digits: how many of the last weights `low` covers
    low       ((2n+1)^digits,) what `low_scores` wrote
    numbers   (hypotheses,) of the grid; members: (hypotheses,), columns of `points`
    points    (features, hypotheses)
    labels    (hypotheses,) out
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

BLOCK = 1024


@compiled
def low_scores(x: NDArray[np.int64], n: int, low: NDArray[np.int64]) -> None:
    """Fill `low`, of length (2n+1)^j for some j, with the scores of all choices of the last j weights."""
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
    """The score of the leading weights, those of the `digits` digits of `row`."""
    score = 0
    for i in range(digits - 1, -1, -1):
        score += (row % (2 * n + 1) - n) * x[i]
        row //= 2 * n + 1
    return score


@compiled
def label_grid(
    x: NDArray[np.int64], n: int, digits: int, low: NDArray[np.int64], labels: NDArray[np.int8]
) -> None:  # fmt: skip
    """The labels of every hypothesis of the grid, in order."""
    for row in range(len(labels) // len(low)):
        least = -row_score(x, n, row, digits)
        part = labels[row * len(low) : (row + 1) * len(low)]
        for j in range(len(part)):
            part[j] = 1 if low[j] >= least else -1


@compiled
def label_numbers(
    x: NDArray[np.int64], n: int, digits: int, low: NDArray[np.int64], numbers: NDArray[Any], labels: NDArray[np.int8],
) -> None:  # fmt: skip
    """The labels of the hypotheses with these numbers. Sorted ones are faster: a row's score is found once."""
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
    """The labels of every point (a column of `points`), a block at a time."""
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
    """The labels of the points with these numbers; a number may come from a file, so it is checked."""
    for k in range(len(members)):
        j = members[k]
        if j < 0 or j >= points.shape[1]:
            raise IndexError("a survivor must be a point of the cover")
        score = 0.0
        for i in range(len(x)):
            score += points[i, j] * x[i]
        labels[k] = 1 if score >= 0.0 else -1
