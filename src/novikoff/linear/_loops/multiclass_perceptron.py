"""Compiled loop of the multiclass Perceptron: a column of weights per label, rows as non-zeros (numerics/nonzeros.py).

`known` labels are known before the first row. A row may introduce the next label: the prediction is among the labels
known before, and the update is as if the new label had been there, with weights of 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops.multiclass_layout import GAINED, MISTAKES, SURPRISES
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]


@inlined
def largest(s: Vector, known: int) -> int:
    """Return the smallest index of the largest of the first `known` scores s (labels,); 0 if `known` is 0."""
    best = 0
    for j in range(1, known):
        if s[j] > s[best]:
            best = j
    return best


@compiled
def play(
    weights: Vector, seen: Vector, totals: Vector, known: int, rows: Nonzeros, y: NDArray[np.int64], learns: bool,
    scores: Vector, predicted: NDArray[np.int64],
) -> None:  # fmt: skip
    """Score and predict every row; with `learns`, learn from each before the next.

    Args:
        weights: (places, labels) weights, with room for all labels of the rows.
        seen: (places, 2) number of updates with the place, and its largest |x|.
        totals: (multiclass_layout.TOTALS,) sums over all rounds.
        known: Labels known before the first row.
        rows: Nonzeros of the rows.
        y: (rows,) labels as integers; read only if `learns`.
        learns: Whether to learn from the rows.
        scores: (rows, labels) output; -inf for labels not known.
        predicted: (rows,) output: predicted labels.
    """
    ends, places, values = rows
    for t in range(len(ends) - 1):
        s = scores[t]
        now = max(known, y[t] + 1) if learns else known
        for j in range(len(s)):
            s[j] = 0.0 if j < now else -np.inf
        square = 0.0
        for e in range(ends[t], ends[t + 1]):
            row = weights[places[e]]
            x = values[e]
            square += x * x
            for j in range(now):
                s[j] += row[j] * x
        predicted[t] = largest(s, known)
        if not learns:
            continue
        known = now
        best = largest(s, known)
        if best == y[t]:
            totals[SURPRISES] += predicted[t] != y[t]
            continue
        totals[MISTAKES] += 1.0
        totals[GAINED] += 2.0 * square
        for e in range(ends[t], ends[t + 1]):
            row = weights[places[e]]
            x = values[e]
            row[y[t]] += x
            row[best] -= x
            seen[places[e], 0] += 1.0
            seen[places[e], 1] = max(seen[places[e], 1], abs(x))
