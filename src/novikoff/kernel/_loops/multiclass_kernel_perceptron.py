"""Rule of the multiclass kernel Perceptron: one coefficient per label and support (kernel/_loops/cache.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernel._loops import cache as at
from novikoff.kernel._loops.cache import Cache, Rows, Rule, Vector
from novikoff.kernel._loops.kernel_perceptron import find
from novikoff.kernel._loops.supports import compare, put, room_for, row_of, self_of, square_of
from novikoff.linear._loops.multiclass_layout import MISTAKES, SURPRISES
from novikoff.linear._loops.multiclass_perceptron import largest
from novikoff.numerics.compiled import compiled
from novikoff.numerics.lanes import dense


@compiled
def play(
    cache: Cache, rule: Rule, rows: Rows, y: NDArray[np.int64], first: int, learns: bool, known: int,
    coefficients: Vector, totals: Vector, scores: Vector, predicted: NDArray[np.int64],
) -> int:  # fmt: skip
    """Play the rows from `first` on until the arrays are full; return the row to resume from.

    A new label is learned from as if it had been announced just before its round.

    Args:
        cache: Supports, changed.
        rule: Kernel.
        rows: Rows of kernel/_loops/rows.py.
        y: (rows,) label indices; read only if `learns`.
        first: First row to play.
        learns: Whether to learn.
        known: Number of labels before the first row.
        coefficients: (labels, slots) coefficients, changed.
        totals: (multiclass_layout.TOTALS,) sums over all rounds, changed.
        scores: (rows, labels) output: f_j of each row; -inf for labels not yet known.
        predicted: (rows,) output: predicted label.
    """
    values, width = cache.scratch[at.VALUES], rows[3]
    for t in range(first, len(scores)):
        here, x = row_of(rows, t)
        compare(cache, rule, here, x, width, at.VALUES)
        count, s = cache.counts[at.COUNT], scores[t]
        now = max(known, y[t] + 1) if learns else known
        for j in range(len(s)):
            s[j] = dense(coefficients[j, :count], values[:count]) if j < now else -np.inf
        predicted[t] = largest(s, known)
        if not learns:
            continue
        best = largest(s, now)  # the prediction, had a new label been announced
        if best == y[t]:
            totals[SURPRISES] += predicted[t] != y[t]
            known = now
            continue
        slot = find(cache, here, x, width, 1)
        if slot < 0:
            slot = count
            if slot >= coefficients.shape[1] or not room_for(cache, here, slot, width):
                return t
            put(cache, slot, here, x, width, 1, 0.0, self_of(rule, square_of(x)))
        coefficients[y[t], slot] += 1.0
        coefficients[best, slot] -= 1.0
        cache.counts[at.UPDATES] += 1
        totals[MISTAKES] += 1.0
        known = now
    return len(scores)
