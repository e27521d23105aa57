"""Compiled loops of online gradient descent in a ball, for dense and sparse rows.

The weights are w = scale * v, so that shrinking all of them changes one number. `short` is the sum of all earlier w
minus mass * v, and `pull` the sum of the gradients. `totals` holds scalars; its first three entries are v, `short` and
`pull` of the constant feature (convex/_loops/gradient_layout.py). The example is x~: each feature times `stretch`,
followed by the bias.
    average of w_1 .. w_t  =  (mass * v + short) / t
When `scale` has become small, or many rounds have passed, it is folded into v and the norm is recomputed, so that
rounding errors do not accumulate. A single row is a batch of one.

Arguments of the loops:
    weights: (features,) v, changed
    short: (features,) changed
    pull: (features,) changed
    totals: (OWN,) changed
    gram: (d + 2, d + 1) sums for the first d features: x~ x~' (lower triangle, bias first), and y x~ in the last row;
        kept while KNOWN is 1
    params: (7,) fixed before the first round
    x: (rows, features)
    indptr, indices, values: arrays of SparseRows
    y: (rows,) numbers
    scores, predictions, losses: (rows,) outputs
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops import gradient_layout as at
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import dense, dense_scaled, prefetch_sparse, sparse_scaled, square_sparse
from novikoff.numerics.totals import put

Numbers = NDArray[np.float64]
Indices = NDArray[np.uint32]

TINY = 1e-250
"""Least squared norm of a gradient: smaller ones count as 0, as their step would underflow."""
LEAST_SCALE = 2.0**-8
"""Scale below which v is folded: cancellation between `short` and mass * v loses as many bits as the scale."""
FEWEST_ROUNDS = 4096.0
"""Number of rounds after which v is folded, unless there are more features than that."""


@inlined
def square_dense(x: Numbers) -> float:
    """Return ||x||^2."""
    return dense(x, x)


@inlined
def stretch_of(square: float, params: Numbers) -> float:
    """Return the factor of x in x~."""
    if params[at.NORMALIZE] == 0.0:
        return 1.0
    return 1.0 / np.sqrt(square) if square >= at.SHORTEST else 0.0


@compiled
def too_long_dense(x: Numbers, params: Numbers) -> int:
    """Return the first row with ||x||^2 above its limit or NaN; -1 if there is none."""
    for t in range(len(x)):
        if not square_dense(x[t]) <= params[at.MOST]:
            return t
    return -1


@compiled
def too_long_sparse(indptr: NDArray[np.uint64], values: NDArray[Any], params: Numbers) -> int:
    """Return the first row with ||x||^2 above its limit or NaN; -1 if there is none."""
    for t in range(len(indptr) - 1):
        if not square_sparse(values, indptr[t], indptr[t + 1]) <= params[at.MOST]:
            return t
    return -1


@inlined
def score_dense(weights: Numbers, totals: Numbers, params: Numbers, x: Numbers) -> float:
    """Return <w, x~>; NaN if x is too long."""
    square = square_dense(x)
    if not square <= params[at.MOST]:
        return np.nan
    return totals[at.SCALE] * (
        dense_scaled(weights, x, stretch_of(square, params)) + totals[at.WEIGHT] * params[at.BIAS]
    )


@inlined
def score_sparse(weights: Numbers, totals: Numbers, params: Numbers, indices: Indices, values: NDArray[Any]) -> float:
    """Return <w, x~>; NaN if x is too long."""
    square = square_sparse(values, 0, len(values))
    if not square <= params[at.MOST]:
        return np.nan
    stretch = stretch_of(square, params)
    return totals[at.SCALE] * (
        sparse_scaled(weights, indices, values, 0, len(values), stretch) + totals[at.WEIGHT] * params[at.BIAS]
    )


@compiled
def scores_dense(weights: Numbers, totals: Numbers, params: Numbers, x: Numbers, scores: Numbers) -> None:
    """Write <w, x~> of every row into `scores`."""
    for t in range(len(scores)):
        scores[t] = score_dense(weights, totals, params, x[t])


@compiled
def scores_sparse(
    weights: Numbers, totals: Numbers, params: Numbers, indptr: NDArray[np.uint64], indices: Indices,
    values: NDArray[Any], scores: Numbers,
) -> None:  # fmt: skip
    """Write <w, x~> of every row into `scores`."""
    for t in range(len(scores)):
        start, stop = indptr[t], indptr[t + 1]
        scores[t] = score_sparse(weights, totals, params, indices[start:stop], values[start:stop])


@inlined
def loss_of(prediction: float, y: float, loss: float) -> float:
    """Return the squared or absolute loss of a prediction."""
    error = prediction - y
    return error * error if loss == at.SQUARED else abs(error)


@inlined
def step(totals: Numbers, params: Numbers, prediction: float, y: float, square: float) -> tuple[float, float, bool]:
    """Play the scalar part of a round; `square` is ||x~||^2.

    Return the slope of the loss, the multiple of x~ to add to v, and whether there is a change; v is not changed here.
    """
    totals[at.ROUNDS] += 1.0
    totals[at.SINCE] += 1.0
    totals[at.MASS] += totals[at.SCALE]  # mass * v + short is the sum of all w, this round's included
    put(totals, at.ZERO, loss_of(0.0, y, params[at.LOSS]))
    error = prediction - y
    if params[at.LOSS] == at.SQUARED:
        slope = 2.0 * error
    else:
        slope = 1.0 if error > 0.0 else -1.0 if error < 0.0 else 0.0
    gradient2 = slope * slope * square
    if gradient2 < TINY:
        return 0.0, 0.0, False
    totals[at.SQUARES] += gradient2
    if params[at.RULE] == at.FIXED:
        rate = params[at.PACE]
    elif params[at.RULE] == at.ANYTIME:
        rate = params[at.PACE] / np.sqrt(totals[at.ROUNDS])
    else:
        rate = params[at.PACE] / np.sqrt(totals[at.SQUARES])
    if totals[at.FIRST_RATE] == 0.0:
        totals[at.FIRST_RATE] = rate
    totals[at.RATE] = rate
    totals[at.STEPS] += rate * gradient2
    put(totals, at.LINEAR, slope * prediction)
    change = -(rate * slope) / totals[at.SCALE]
    # ||w - rate g||^2 = ||w||^2 + rate^2 ||g||^2 - 2 rate <g, w>, and <g, w> = slope * prediction.
    totals[at.LENGTH2] += rate * (rate * gradient2 - 2.0 * slope * prediction)
    constant = change * params[at.BIAS]
    totals[at.WEIGHT] += constant
    totals[at.SHORT] -= totals[at.MASS] * constant  # the sum of all w stays as it was
    totals[at.PULL] += slope * params[at.BIAS]
    return slope, change, True


@inlined
def must_settle(totals: Numbers, params: Numbers) -> bool:
    """Return whether w has left the ball or v is due to be folded."""
    return totals[at.LENGTH2] > params[at.RADIUS] * params[at.RADIUS] or totals[at.SINCE] >= max(
        FEWEST_ROUNDS, totals[at.PLACES]
    )


@inlined
def settle(weights: Numbers, short: Numbers, totals: Numbers, params: Numbers) -> None:
    """Project w onto the ball at the end of a round, and fold v if due."""
    radius2 = params[at.RADIUS] * params[at.RADIUS]
    if totals[at.LENGTH2] > radius2:
        totals[at.SCALE] *= params[at.RADIUS] / np.sqrt(totals[at.LENGTH2])
        totals[at.LENGTH2] = radius2
    if totals[at.SCALE] < LEAST_SCALE or totals[at.SINCE] >= max(FEWEST_ROUNDS, totals[at.PLACES]):
        fold(weights, short, totals)


@inlined
def fold(weights: Numbers, short: Numbers, totals: Numbers) -> None:
    """Set `scale` to 1 and `mass` to 0 by folding them into the vectors; recompute ||w||^2."""
    scale, mass = totals[at.SCALE], totals[at.MASS]
    totals[at.SHORT] += mass * totals[at.WEIGHT]
    totals[at.WEIGHT] *= scale
    total = totals[at.WEIGHT] * totals[at.WEIGHT]
    for i in range(int(totals[at.PLACES])):
        short[i] += mass * weights[i]
        weights[i] *= scale
        total += weights[i] * weights[i]
    totals[at.SCALE], totals[at.MASS], totals[at.LENGTH2], totals[at.SINCE] = 1.0, 0.0, total, 0.0


@inlined
def know_dense(gram: Numbers, params: Numbers, x: Numbers, y: float, stretch: float) -> None:
    """Add x~ x~' to the lower triangle of `gram`, and y x~ to its last row; the bias is first."""
    last, bias = len(gram) - 1, params[at.BIAS]
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
    gram: Numbers,
    params: Numbers,
    indices: Indices,
    values: NDArray[Any],
    start: int,
    stop: int,
    y: float,
    stretch: float,
) -> None:
    """Add x~ x~' and y x~ of a sparse row to `gram`, as `know_dense` does."""
    last, bias = len(gram) - 1, params[at.BIAS]
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
    weights: Numbers, short: Numbers, pull: Numbers, totals: Numbers, gram: Numbers, params: Numbers, x: Numbers,
    y: Numbers, predictions: Numbers, losses: Numbers,
) -> None:  # fmt: skip
    """Predict and learn every row in order; a row that is too long is skipped, with NaN as prediction."""
    bias2, width = params[at.BIAS] * params[at.BIAS], x.shape[1]
    for t in range(len(x)):
        row = x[t]
        square = dense(row, row)
        if not square <= params[at.MOST]:
            predictions[t] = losses[t] = np.nan
            continue
        stretch = stretch_of(square, params)
        prediction = totals[at.SCALE] * (dense_scaled(weights, row, stretch) + totals[at.WEIGHT] * params[at.BIAS])
        predictions[t], losses[t] = prediction, loss_of(prediction, y[t], params[at.LOSS])
        totals[at.PLACES] = totals[at.LONGEST] = width
        if totals[at.KNOWN] == 1.0:
            if width >= gram.shape[1]:  # too many features: the best comparator will not be known exactly
                totals[at.KNOWN] = 0.0
            else:
                know_dense(gram, params, row, y[t], stretch)
        slope, change, moved = step(totals, params, prediction, y[t], square * stretch * stretch + bias2)
        if moved:
            change, slope, mass = change * stretch, slope * stretch, totals[at.MASS]
            for i in range(width):
                added = row[i] * change
                weights[i] += added
                short[i] -= mass * added
                pull[i] += row[i] * slope
        if must_settle(totals, params):
            settle(weights, short, totals, params)


@compiled
def play_sparse(
    weights: Numbers, short: Numbers, pull: Numbers, totals: Numbers, gram: Numbers, params: Numbers,
    indptr: NDArray[np.uint64], indices: Indices, values: NDArray[Any], y: Numbers, predictions: Numbers,
    losses: Numbers,
) -> None:  # fmt: skip
    """Predict and learn every row in order; a row that is too long is skipped, with NaN as prediction."""
    bias2 = params[at.BIAS] * params[at.BIAS]
    for t in range(len(y)):
        start, stop = indptr[t], indptr[t + 1]
        prefetch_sparse(indices, values, start, stop)
        square = square_sparse(values, start, stop)
        if not square <= params[at.MOST]:
            predictions[t] = losses[t] = np.nan
            continue
        stretch = stretch_of(square, params)
        score = sparse_scaled(weights, indices, values, start, stop, stretch)
        prediction = totals[at.SCALE] * (score + totals[at.WEIGHT] * params[at.BIAS])
        predictions[t], losses[t] = prediction, loss_of(prediction, y[t], params[at.LOSS])
        last = np.uint32(0)
        for k in range(start, stop):
            last = max(last, indices[k])
        totals[at.PLACES] = max(totals[at.PLACES], last + 1.0 if stop > start else 0.0)
        totals[at.LONGEST] = max(totals[at.LONGEST], np.float64(stop - start))
        if totals[at.KNOWN] == 1.0:
            if totals[at.PLACES] >= gram.shape[1]:
                totals[at.KNOWN] = 0.0
            else:
                know_sparse(gram, params, indices, values, start, stop, y[t], stretch)
        slope, change, moved = step(totals, params, prediction, y[t], square * stretch * stretch + bias2)
        if moved:
            change, slope, mass = change * stretch, slope * stretch, totals[at.MASS]
            for k in range(start, stop):
                i, value = indices[k], np.float64(values[k])
                added = value * change
                weights[i] += added
                short[i] -= mass * added
                pull[i] += value * slope
        if must_settle(totals, params):
            settle(weights, short, totals, params)
