"""The Perceptron's rows, one by one and many, dense and sparse.

The example is x~: each feature times 1/||x|| where rows are normalised, and then the constant `bias`.
A score that is not a number predicts +1.
Both call the same dot products and the same `add_*`, so they agree to the bit. There is a pass for rows as
they are and one for normalised rows: with the choice inside the loop, they take half as long again, and only one of
them has to be compiled.

Arguments of the loops
    weights       (features,) and bias_weight: (1,), changed by what learns
    x             (rows, features), or (features,) of one row; indptr, indices, values: SparseRows, field by field
    y             (rows,) labels -1 and +1
    predictions   (rows,) out; scores: (rows,) out
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
    """<w, x~>."""
    row = np.ascontiguousarray(x)  # the lanes read straight through memory; no copy of what lies so
    if normalize:
        return dense_scaled(weights, row, inverse_norm(row, 0, len(row))) + bias_weight[0] * bias
    return dense(weights, row) + bias_weight[0] * bias


@inlined
def score_sparse(
    weights: Weights, bias_weight: Weights, indices: Indices, values: NDArray[Any], bias: float, normalize: bool
) -> float:
    """<w, x~>."""
    if normalize:
        scale = inverse_norm(values, 0, len(values))
        return sparse_scaled(weights, indices, values, 0, len(values), scale) + bias_weight[0] * bias
    return sparse(weights, indices, values, 0, len(values)) + bias_weight[0] * bias


@inlined
def add_dense(weights: Weights, bias_weight: Weights, x: NDArray[Any], step: float, y: int, bias: float) -> None:
    """w += y x~; step is y times the scale of x (y is a sign: to multiply by it is exact)."""
    for i in range(len(x)):
        weights[i] += x[i] * step
    bias_weight[0] += y * bias


@inlined
def add_sparse(
    weights: Weights, bias_weight: Weights, indices: Indices, values: NDArray[Any], start: int, stop: int, step: float,
    y: int, bias: float,
) -> None:  # fmt: skip
    """w += y x~; step is y times the scale of x (y is a sign: to multiply by it is exact)."""
    for k in range(np.uint64(start), np.uint64(stop)):
        weights[indices[k]] += values[k] * step
    bias_weight[0] += y * bias


@compiled
def play_dense(weights: Weights, bias_weight: Weights, x: NDArray[Any], y: int, bias: float, normalize: bool) -> float:
    """Predict, and on a mistake add y x~; the score that was."""
    score = score_dense(weights, bias_weight, x, bias, normalize)
    if (-1 if score < 0.0 else 1) != y and np.isfinite(score):
        row = np.ascontiguousarray(x)
        add_dense(weights, bias_weight, row, y * (inverse_norm(row, 0, len(row)) if normalize else 1.0), y, bias)
    return score


@compiled
def scores_dense(
    weights: Weights, bias_weight: Weights, x: NDArray[Any], bias: float, normalize: bool, scores: Weights
) -> None:  # fmt: skip
    """<w, x~> of every row."""
    for t in range(len(scores)):
        scores[t] = score_dense(weights, bias_weight, x[t], bias, normalize)


@compiled
def scores_sparse(
    weights: Weights, bias_weight: Weights, indptr: NDArray[np.uint64], indices: Indices, values: NDArray[Any],
    bias: float, normalize: bool, scores: Weights,
) -> None:  # fmt: skip
    """<w, x~> of every row."""
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
    """The passes over dense and over sparse rows, as they are or (unit) each divided by its length."""

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
