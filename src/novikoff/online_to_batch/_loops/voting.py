"""Votes of a Perceptron's hypotheses on many rows, in one loop over the hypotheses: each is rebuilt from the last."""

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
    """Add the votes on dense rows to `out`: counts[k] votes of hypothesis k, which is hypothesis k-1 plus step k-1.

    Args:
        weights: (features,) weights of the first hypothesis; overwritten by those of the last.
        bias_weight: (1,) bias weight of the first hypothesis; overwritten by that of the last.
        steps: (hypotheses - 1, features) row that was added to reach each later hypothesis.
        signs: (hypotheses - 1,) label of each of these rows.
        counts: (hypotheses,) number of votes of each hypothesis.
        x: (rows, features) rows to vote on.
        bias: Value of the constant feature.
        normalize: Whether each row is divided by its norm.
        out: (rows,) votes for +1 minus those for -1, accumulated.
    """
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
    """Add the votes on sparse rows to `out`: counts[k] votes of hypothesis k, which is hypothesis k-1 plus step k-1.

    Args:
        weights: (features,) weights of the first hypothesis; overwritten by those of the last.
        bias_weight: (1,) bias weight of the first hypothesis; overwritten by that of the last.
        steps: Rows that were added to reach each hypothesis but the first.
        signs: (hypotheses - 1,) label of each of these rows.
        counts: (hypotheses,) number of votes of each hypothesis.
        rows: Rows to vote on.
        bias: Value of the constant feature.
        normalize: Whether each row is divided by its norm.
        out: (rows,) votes for +1 minus those for -1, accumulated.
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
