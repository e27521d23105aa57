"""Online gradient descent in a ball: its rounds, dense and sparse.

The weights are w = scale * v, so that to shrink all of them is to change one number. Beside v there are `short`,
what mass * v is short of the sum of all earlier w, and `pull`, the sum of the gradients. `own` holds numbers, the first
three the same for the constant feature (kernels/gradient_layout.py). The example is x~: each feature times `stretch`,
then the bias.
    average of w_1 .. w_t  =  (mass * v + short) / t
When `scale` has become small, or many rounds have passed, it is folded into v and the length is measured again, so that
rounding off never adds up for long. A single row is a batch of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.kernels.compiled import compiled, inlined
from novikoff.kernels.gradient_layout import (
    ANYTIME,
    BIAS,
    FIRST_RATE,
    FIXED,
    KNOWN,
    LENGTH2,
    LINEAR,
    LONGEST,
    LOSS,
    MASS,
    MOST,
    NORMALIZE,
    PACE,
    PLACES,
    PULL,
    RADIUS,
    RATE,
    ROUNDS,
    RULE,
    SCALE,
    SHORT,
    SHORTEST,
    SINCE,
    SQUARED,
    SQUARES,
    STEPS,
    WEIGHT,
    ZERO,
)
from novikoff.kernels.lanes import dense, dense_scaled, prefetch_sparse, sparse_scaled

Numbers = NDArray[np.float64]
Indices = NDArray[np.uint32]

TINY = 1e-250
"""A gradient whose squared length is below is none: its step would be lost among the smallest doubles."""
LEAST_SCALE = 2.0**-8
"""Folded below: `short` and mass * v cancel, and would lose as many bits as the scale."""
FEWEST_ROUNDS = 4096.0
"""Folded after so many rounds, or as many as there are features."""


@inlined
def square_dense(x: Numbers) -> float:
    """||x||^2."""
    return dense(x, x)


@inlined
def square_sparse(values: NDArray[Any], start: int, stop: int) -> float:
    """||x||^2, from left to right."""
    total = 0.0
    for k in range(np.uint64(start), np.uint64(stop)):
        value = np.float64(values[k])
        total += value * value
    return total


@inlined
def stretch_of(square: float, law: Numbers) -> float:
    """What x is multiplied by in x~."""
    if law[NORMALIZE] == 0.0:
        return 1.0
    return 1.0 / np.sqrt(square) if square >= SHORTEST else 0.0


@compiled
def too_long_dense(x: Numbers, law: Numbers) -> int:
    """The first row with ||x||^2 above its limit, or not a number; -1 if there is none."""
    for t in range(len(x)):
        if not square_dense(x[t]) <= law[MOST]:
            return t
    return -1


@compiled
def too_long_sparse(indptr: NDArray[np.uint64], values: NDArray[Any], law: Numbers) -> int:
    """The first row with ||x||^2 above its limit, or not a number; -1 if there is none."""
    for t in range(len(indptr) - 1):
        if not square_sparse(values, indptr[t], indptr[t + 1]) <= law[MOST]:
            return t
    return -1


@compiled
def score_dense(weights: Numbers, own: Numbers, law: Numbers, x: Numbers) -> float:
    """<w, x~>; not a number if x is too long."""
    square = square_dense(x)
    if not square <= law[MOST]:
        return np.nan
    return own[SCALE] * (dense_scaled(weights, x, stretch_of(square, law)) + own[WEIGHT] * law[BIAS])


@compiled
def score_sparse(weights: Numbers, own: Numbers, law: Numbers, indices: Indices, values: NDArray[Any]) -> float:
    """<w, x~>; not a number if x is too long."""
    square = square_sparse(values, 0, len(values))
    if not square <= law[MOST]:
        return np.nan
    stretch = stretch_of(square, law)
    return own[SCALE] * (sparse_scaled(weights, indices, values, 0, len(values), stretch) + own[WEIGHT] * law[BIAS])


@inlined
def loss_of(prediction: float, y: float, loss: float) -> float:
    """Squared or absolute."""
    error = prediction - y
    return error * error if loss == SQUARED else abs(error)


@inlined
def add_up(own: Numbers, place: int, value: float) -> None:
    """Neumaier's sum: own[place] + own[place + 1] grows by value."""
    total = own[place]
    new = total + value
    if abs(total) >= abs(value):
        own[place + 1] += (total - new) + value
    else:
        own[place + 1] += (value - new) + total
    own[place] = new


@inlined
def step(own: Numbers, law: Numbers, prediction: float, y: float, square: float) -> tuple[float, float, bool]:
    """One round of all that is not a vector; `square` is ||x~||^2.

    The slope of the loss; by how much of x~ v must change; and is there a change at all? The change is not yet in v.
    """
    own[ROUNDS] += 1.0
    own[SINCE] += 1.0
    own[MASS] += own[SCALE]
    add_up(own, ZERO, loss_of(0.0, y, law[LOSS]))
    error = prediction - y
    if law[LOSS] == SQUARED:
        slope = 2.0 * error
    else:
        slope = 1.0 if error > 0.0 else -1.0 if error < 0.0 else 0.0
    gradient2 = slope * slope * square
    if gradient2 < TINY:
        return 0.0, 0.0, False
    own[SQUARES] += gradient2
    if law[RULE] == FIXED:
        rate = law[PACE]
    elif law[RULE] == ANYTIME:
        rate = law[PACE] / np.sqrt(own[ROUNDS])
    else:
        rate = law[PACE] / np.sqrt(own[SQUARES])
    if own[FIRST_RATE] == 0.0:
        own[FIRST_RATE] = rate
    own[RATE] = rate
    own[STEPS] += rate * gradient2
    add_up(own, LINEAR, slope * prediction)
    change = -(rate * slope) / own[SCALE]
    own[LENGTH2] += rate * (rate * gradient2 - 2.0 * slope * prediction)
    constant = change * law[BIAS]
    own[WEIGHT] += constant
    own[SHORT] -= own[MASS] * constant
    own[PULL] += slope * law[BIAS]
    return slope, change, True


@inlined
def must_settle(own: Numbers, law: Numbers) -> bool:
    """Has w left the ball, or is it time to fold?"""
    return own[LENGTH2] > law[RADIUS] * law[RADIUS] or own[SINCE] >= max(FEWEST_ROUNDS, own[PLACES])


@inlined
def settle(weights: Numbers, short: Numbers, own: Numbers, law: Numbers) -> None:
    """At the end of a round: back into the ball; and fold, if it is time."""
    radius2 = law[RADIUS] * law[RADIUS]
    if own[LENGTH2] > radius2:
        own[SCALE] *= law[RADIUS] / np.sqrt(own[LENGTH2])
        own[LENGTH2] = radius2
    if own[SCALE] < LEAST_SCALE or own[SINCE] >= max(FEWEST_ROUNDS, own[PLACES]):
        fold(weights, short, own)


@inlined
def fold(weights: Numbers, short: Numbers, own: Numbers) -> None:
    """Make `scale` 1 and `mass` 0; measure ||w|| again."""
    scale, mass = own[SCALE], own[MASS]
    own[SHORT] += mass * own[WEIGHT]
    own[WEIGHT] *= scale
    total = own[WEIGHT] * own[WEIGHT]
    for i in range(int(own[PLACES])):
        short[i] += mass * weights[i]
        weights[i] *= scale
        total += weights[i] * weights[i]
    own[SCALE], own[MASS], own[LENGTH2], own[SINCE] = 1.0, 0.0, total, 0.0


@inlined
def know_dense(gram: Numbers, law: Numbers, x: Numbers, y: float, stretch: float) -> None:
    """Add x~ x~' to the lower triangle of `gram`, and y x~ to its last row; the bias comes first."""
    last, bias = len(gram) - 1, law[BIAS]
    gram[0, 0] += bias * bias
    gram[last, 0] += y * bias
    for i in range(len(x)):
        one = x[i] * stretch
        gram[last, i + 1] += y * one
        gram[i + 1, 0] += one * bias
        for j in range(i + 1):
            gram[i + 1, j + 1] += one * (x[j] * stretch)


@inlined
def know_sparse(
    gram: Numbers, law: Numbers, indices: Indices, values: NDArray[Any], start: int, stop: int, y: float, stretch: float
) -> None:
    """The same for a sparse row."""
    last, bias = len(gram) - 1, law[BIAS]
    gram[0, 0] += bias * bias
    gram[last, 0] += y * bias
    for k in range(np.uint64(start), np.uint64(stop)):
        one, i = values[k] * stretch, np.int64(indices[k]) + 1
        gram[last, i] += y * one
        gram[i, 0] += one * bias
        for m in range(np.uint64(start), k + np.uint64(1)):
            j = np.int64(indices[m]) + 1
            gram[max(i, j), min(i, j)] += one * (values[m] * stretch)


@compiled
def play_dense(
    weights: Numbers, short: Numbers, pull: Numbers, own: Numbers, gram: Numbers, law: Numbers, x: Numbers, y: Numbers,
    predictions: Numbers, losses: Numbers,
) -> None:  # fmt: skip
    """Predict and learn every row in order. One that is too long is left out: its prediction is not a number."""
    bias2, width = law[BIAS] * law[BIAS], x.shape[1]
    for t in range(len(x)):
        row = x[t]
        square = dense(row, row)
        if not square <= law[MOST]:
            predictions[t] = losses[t] = np.nan
            continue
        stretch = stretch_of(square, law)
        prediction = own[SCALE] * (dense_scaled(weights, row, stretch) + own[WEIGHT] * law[BIAS])
        predictions[t], losses[t] = prediction, loss_of(prediction, y[t], law[LOSS])
        own[PLACES] = own[LONGEST] = width
        if own[KNOWN] == 1.0:
            if width >= gram.shape[1]:
                own[KNOWN] = 0.0
            else:
                know_dense(gram, law, row, y[t], stretch)
        slope, change, moved = step(own, law, prediction, y[t], square * stretch * stretch + bias2)
        if moved:
            change, slope, mass = change * stretch, slope * stretch, own[MASS]
            for i in range(width):
                added = row[i] * change
                weights[i] += added
                short[i] -= mass * added
                pull[i] += row[i] * slope
        if must_settle(own, law):
            settle(weights, short, own, law)


@compiled
def play_sparse(
    weights: Numbers, short: Numbers, pull: Numbers, own: Numbers, gram: Numbers, law: Numbers,
    indptr: NDArray[np.uint64], indices: Indices, values: NDArray[Any], y: Numbers, predictions: Numbers,
    losses: Numbers,
) -> None:  # fmt: skip
    """Predict and learn every row in order. One that is too long is left out: its prediction is not a number."""
    bias2 = law[BIAS] * law[BIAS]
    for t in range(len(y)):
        start, stop = indptr[t], indptr[t + 1]
        prefetch_sparse(indices, values, start, stop)
        square = square_sparse(values, start, stop)
        if not square <= law[MOST]:
            predictions[t] = losses[t] = np.nan
            continue
        stretch = stretch_of(square, law)
        score = sparse_scaled(weights, indices, values, start, stop, stretch)
        prediction = own[SCALE] * (score + own[WEIGHT] * law[BIAS])
        predictions[t], losses[t] = prediction, loss_of(prediction, y[t], law[LOSS])
        last = np.uint32(0)
        for k in range(start, stop):
            last = max(last, indices[k])
        own[PLACES] = max(own[PLACES], last + 1.0 if stop > start else 0.0)
        own[LONGEST] = max(own[LONGEST], np.float64(stop - start))
        if own[KNOWN] == 1.0:
            if own[PLACES] >= gram.shape[1]:
                own[KNOWN] = 0.0
            else:
                know_sparse(gram, law, indices, values, start, stop, y[t], stretch)
        slope, change, moved = step(own, law, prediction, y[t], square * stretch * stretch + bias2)
        if moved:
            change, slope, mass = change * stretch, slope * stretch, own[MASS]
            for k in range(start, stop):
                i, value = indices[k], np.float64(values[k])
                added = value * change
                weights[i] += added
                short[i] -= mass * added
                pull[i] += value * slope
        if must_settle(own, law):
            settle(weights, short, own, law)
