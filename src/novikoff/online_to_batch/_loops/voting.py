"""The votes of a Perceptron's hypotheses on many rows: they are gone through once, each as the learner had it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops.perceptron import add_dense, add_sparse, score_dense
from novikoff.numerics.compiled import compiled
from novikoff.numerics.lanes import inverse_norm, sparse, sparse_scaled
from novikoff.numerics.records import SparseRows


@compiled
def votes_dense(
    weights: NDArray[np.float64], bias_weight: NDArray[np.float64], steps: NDArray[np.float64], signs: NDArray[np.int8],
    counts: NDArray[np.int64], x: NDArray[Any], bias: float, normalize: bool, out: NDArray[np.int64],
) -> None:  # fmt: skip
    """The same for dense rows x (rows, features); steps: (hypotheses - 1, features), each the row that was added."""
    for k in range(len(counts)):
        if counts[k] > 0:
            for t in range(len(out)):
                out[t] += -counts[k] if score_dense(weights, bias_weight, x[t], bias, normalize) < 0.0 else counts[k]
        if k < len(signs):
            scale = inverse_norm(steps[k], 0, steps.shape[1]) if normalize else 1.0
            add_dense(weights, bias_weight, steps[k], signs[k] * scale, signs[k], bias)


@compiled
def votes_sparse(
    weights: NDArray[np.float64], bias_weight: NDArray[np.float64], steps: SparseRows, signs: NDArray[np.int8],
    counts: NDArray[np.int64], rows: SparseRows, bias: float, normalize: bool, out: NDArray[np.int64],
) -> None:  # fmt: skip
    """out[t] += the votes on row t: counts[k] of hypothesis k, which comes from the one before by step k-1.

    weights       (features,) and bias_weight: (1,), those of the first hypothesis; those of the last afterwards
    steps         the row that was added for each hypothesis but the first, signs: (hypotheses - 1,), its label
    counts        (hypotheses,) votes of each
    rows          those to vote on; out: (rows,), changed
    """
    ends, places, numbers = steps
    indptr, indices, values = rows
    scales = np.ones(len(out))
    if normalize:
        for t in range(len(out)):
            scales[t] = inverse_norm(values, indptr[t], indptr[t + 1])
    for k in range(len(counts)):
        if counts[k] > 0:
            for t in range(len(out)):
                start, stop = indptr[t], indptr[t + 1]
                if normalize:
                    score = sparse_scaled(weights, indices, values, start, stop, scales[t]) + bias_weight[0] * bias
                else:
                    score = sparse(weights, indices, values, start, stop) + bias_weight[0] * bias
                out[t] += -counts[k] if score < 0.0 else counts[k]
        if k < len(signs):
            start, stop = ends[k], ends[k + 1]
            scale = inverse_norm(numbers, start, stop) if normalize else 1.0
            add_sparse(weights, bias_weight, places, numbers, start, stop, signs[k] * scale, signs[k], bias)
