"""Validation of expert advice, losses of experts, and the draw of an expert."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.experts._loops.standings_layout import CHUNK
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.lanes import dense

Vector = NDArray[np.float64]

ZERO_ONE, ABSOLUTE, SQUARED, LOG, TABLE = range(5)
"""Codes of losses, as in core/losses.py."""

STEP = 64


@compiled
def flaw(rows: NDArray[np.float64], low: float, high: float, silent: bool) -> tuple[int, int]:
    """Return row and column of the first invalid number; (-1, -1) if there is none.

    Args:
        rows: (rounds, N) advice or losses.
        low: Smallest valid number.
        high: Largest valid number.
        silent: Whether NaN is valid: the expert sleeps.
    """
    for t in range(rows.shape[0]):
        row = rows[t]
        bad = 0
        for i in range(len(row)):
            bad += not (row[i] >= low and row[i] <= high)
        if bad > 0:
            for i in range(len(row)):
                sleeps = silent and row[i] != row[i]
                if not sleeps and not (row[i] >= low and row[i] <= high):
                    return t, i
    return -1, -1


@inner
def lose(
    code: int, clip: float, p: Vector, start: int, count: int, y: float, room: Vector, lost: int, moved: int
) -> None:
    """Write the losses of some experts and, for log loss, their clipped predictions.

    Args:
        code: Code of the loss.
        clip: Distance from 0 and 1 that predictions keep under log loss.
        p: Predictions, or losses of a table.
        start: Index of the first expert in p.
        count: Number of experts.
        y: Outcome.
        room: Scratch in which losses and clipped predictions are written.
        lost: Index of the first loss in room.
        moved: Index of the first clipped prediction in room.
    """
    predicted, losses = p[start : start + count], room[lost : lost + count]  # numba vectorises loops over slices
    if code == ZERO_ONE:
        for i in range(count):
            losses[i] = 1.0 if predicted[i] != y else 0.0
    elif code == ABSOLUTE:
        for i in range(count):
            losses[i] = abs(predicted[i] - y)
    elif code == SQUARED:
        for i in range(count):
            losses[i] = (predicted[i] - y) * (predicted[i] - y)
    elif code == LOG:
        move(clip, p, start, count, room, moved)
        clipped = room[moved : moved + count]
        if y == 1.0:
            for i in range(count):
                losses[i] = -np.log(clipped[i])
        else:
            for i in range(count):
                losses[i] = -np.log(1.0 - clipped[i])
    else:
        for i in range(count):
            losses[i] = predicted[i]


@inlined
def move(clip: float, p: Vector, start: int, count: int, room: Vector, moved: int) -> None:
    """Clip `count` predictions from p[start] on to [clip, 1 - clip], and write them to `room` from `moved` on."""
    predicted, clipped = p[start : start + count], room[moved : moved + count]
    for i in range(count):
        clipped[i] = min(max(predicted[i], clip), 1.0 - clip)


@inlined
def chance(y: float, room: Vector, weights: int, moved: int, count: int) -> float:
    """Return the weight that `count` experts give the outcome y, 0 or 1; weights and predictions are in room."""
    clipped = room[moved : moved + count]
    if y != 1.0:
        for i in range(count):
            clipped[i] = 1.0 - clipped[i]
    return dense(room[weights : weights + count], clipped)


@inlined
def cost(code: int, predicted: float, y: float) -> float:
    """Return the loss of a mixture; not for log loss."""
    if code == SQUARED:
        return (predicted - y) * (predicted - y)
    return abs(predicted - y)


@inner
def find(room: Vector, weights: int, count: int, parts: int, point: float) -> Any:
    """Return the expert at which the cumulative weight exceeds `point`; always one with positive weight.

    Args:
        room: Scratch with the weights and the sums of their chunks.
        weights: Index of the first weight in room.
        count: Number of experts.
        parts: Index of the first chunk's sum in room.
        point: Number from 0 to the sum of all weights.
    """
    k, last = 0, (count - 1) // CHUNK
    while k < last and point >= room[parts + k]:
        point -= room[parts + k]
        k += 1
    i, end = k * CHUNK, min(count, (k + 1) * CHUNK)
    while i + STEP < end:
        one = two = three = four = 0.0  # four independent sums hide the latency of an addition
        for j in range(weights + i, weights + i + STEP, 4):
            one += room[j]
            two += room[j + 1]
            three += room[j + 2]
            four += room[j + 3]
        total = (one + two) + (three + four)
        if point < total:
            break
        point -= total
        i += STEP
    drawn = -1
    for j in range(i, end):
        if room[weights + j] > 0.0:
            drawn = j
            if point < room[weights + j]:
                return drawn
        point -= room[weights + j]
    if drawn < 0:  # rounding made the cumulative weights end below `point`
        for j in range(count):
            if room[weights + j] > 0.0:
                drawn = j
    return drawn
