"""Compiled loops of the Perceptron, for single rows and batches, dense and sparse.

The example is x~: each feature times 1/||x|| if rows are normalised, followed by the constant `bias`.
A score of NaN predicts +1.
Single rows and batches use the same dot products and the same `add_*`, so they agree to the bit. Plain and normalised
rows have separate passes: a branch inside the loop makes it 50 % slower, and usually only one pass has to be compiled.

Arguments of the loops:
    weights: (features,) weight of each feature, changed by loops that learn
    bias_weight: (1,) weight of the constant feature, changed by loops that learn
    x: (rows, features), or (features,) for one row
    indptr, indices, values: arrays of SparseRows
    y: (rows,) labels -1 and +1
    predictions: (rows,) output
    scores: (rows,) output
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import dense, dense_scaled, inverse_norm, prefetch_sparse, sparse, sparse_scaled

Weights = NDArray[np.float64]
Indices = NDArray[np.uint32]


@inlined
def score_dense(weights: Weights, bias_weight: Weights, x: NDArray[Any], bias: float, normalize: bool) -> float:
    """Return <w, x~>."""
    row = np.ascontiguousarray(x)  # `dense` needs contiguous memory; no copy if x already is
    if normalize:
        return dense_scaled(weights, row, inverse_norm(row, 0, len(row))) + bias_weight[0] * bias
    return dense(weights, row) + bias_weight[0] * bias


@inlined
def score_sparse(
    weights: Weights, bias_weight: Weights, indices: Indices, values: NDArray[Any], bias: float, normalize: bool
) -> float:
    """Return <w, x~>."""
    if normalize:
        scale = inverse_norm(values, 0, len(values))
        return sparse_scaled(weights, indices, values, 0, len(values), scale) + bias_weight[0] * bias
    return sparse(weights, indices, values, 0, len(values)) + bias_weight[0] * bias


@inlined
def add_dense(weights: Weights, bias_weight: Weights, x: NDArray[Any], step: float, y: int, bias: float) -> None:
    """Add y x~ to w; `step` is y times the scale of x, an exact product as y is a sign."""
    for i in range(len(x)):
        weights[i] += x[i] * step
    bias_weight[0] += y * bias


@inlined
def add_sparse(
    weights: Weights, bias_weight: Weights, indices: Indices, values: NDArray[Any], start: int, stop: int, step: float,
    y: int, bias: float,
) -> None:  # fmt: skip
    """Add y x~ to w; `step` is y times the scale of x, an exact product as y is a sign."""
    for k in range(np.uint64(start), np.uint64(stop)):
        weights[indices[k]] += values[k] * step
    bias_weight[0] += y * bias


@compiled
def play_dense(weights: Weights, bias_weight: Weights, x: NDArray[Any], y: int, bias: float, normalize: bool) -> float:
    """Predict, add y x~ on a mistake, and return the score."""
    score = score_dense(weights, bias_weight, x, bias, normalize)
    if (-1 if score < 0.0 else 1) != y and np.isfinite(score):
        row = np.ascontiguousarray(x)
        add_dense(weights, bias_weight, row, y * (inverse_norm(row, 0, len(row)) if normalize else 1.0), y, bias)
    return score


@compiled
def scores_dense(
    weights: Weights, bias_weight: Weights, x: NDArray[Any], bias: float, normalize: bool, scores: Weights
) -> None:  # fmt: skip
    """Write <w, x~> of every row into `scores`."""
    for t in range(len(scores)):
        scores[t] = score_dense(weights, bias_weight, x[t], bias, normalize)


@compiled
def scores_sparse(
    weights: Weights, bias_weight: Weights, indptr: NDArray[np.uint64], indices: Indices, values: NDArray[Any],
    bias: float, normalize: bool, scores: Weights,
) -> None:  # fmt: skip
    """Write <w, x~> of every row into `scores`."""
    for t in range(len(scores)):
        start, stop = indptr[t], indptr[t + 1]
        prefetch_sparse(indices, values, start, stop)
        if normalize:
            score = sparse_scaled(weights, indices, values, start, stop, inverse_norm(values, start, stop))
        else:
            score = sparse(weights, indices, values, start, stop)
        scores[t] = score + bias_weight[0] * bias


def learn_dense(
    weights: Weights, bias_weight: Weights, x: NDArray[Any], y: NDArray[np.int8], bias: float, normalize: bool,
    predictions: NDArray[np.int8], scores: Weights,
) -> None:  # fmt: skip
    """Play every row in order."""
    (_learn_dense_unit if normalize else _learn_dense)(weights, bias_weight, x, y, bias, predictions, scores)


def learn_sparse(
    weights: Weights, bias_weight: Weights, indptr: NDArray[np.uint64], indices: Indices, values: NDArray[Any],
    y: NDArray[np.int8], bias: float, normalize: bool, predictions: NDArray[np.int8], scores: Weights,
) -> None:  # fmt: skip
    """Play every row in order."""
    (_learn_sparse_unit if normalize else _learn_sparse)(
        weights, bias_weight, indptr, indices, values, y, bias, predictions, scores
    )


def _passes(unit: bool) -> tuple[Any, Any]:
    """Return the passes over dense and over sparse rows, with each row divided by its norm if `unit`."""

    @compiled
    def over_dense(
        weights: Weights, bias_weight: Weights, x: NDArray[Any], y: NDArray[np.int8], bias: float,
        predictions: NDArray[np.int8], scores: Weights,
    ) -> None:  # fmt: skip
        for t in range(len(x)):
            row = x[t]
            scale = inverse_norm(row, 0, len(row)) if unit else 1.0
            score = (dense_scaled(weights, row, scale) if unit else dense(weights, row)) + bias_weight[0] * bias
            prediction = -1 if score < 0.0 else 1
            scores[t], predictions[t] = score, prediction
            if prediction != y[t]:
                add_dense(weights, bias_weight, row, y[t] * scale, y[t], bias)

    @compiled
    def over_sparse(
        weights: Weights, bias_weight: Weights, indptr: NDArray[np.uint64], indices: Indices, values: NDArray[Any],
        y: NDArray[np.int8], bias: float, predictions: NDArray[np.int8], scores: Weights,
    ) -> None:  # fmt: skip
        for t in range(len(y)):
            start, stop = indptr[t], indptr[t + 1]
            prefetch_sparse(indices, values, start, stop)
            scale = inverse_norm(values, start, stop) if unit else 1.0
            if unit:
                total = sparse_scaled(weights, indices, values, start, stop, scale)
            else:
                total = sparse(weights, indices, values, start, stop)
            score = total + bias_weight[0] * bias
            prediction = -1 if score < 0.0 else 1
            scores[t], predictions[t] = score, prediction
            if prediction != y[t]:
                add_sparse(weights, bias_weight, indices, values, start, stop, y[t] * scale, y[t], bias)

    return over_dense, over_sparse


_learn_dense, _learn_sparse = _passes(unit=False)
_learn_dense_unit, _learn_sparse_unit = _passes(unit=True)
