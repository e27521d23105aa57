"""The Perceptron for many labels: a column of weights a label, rows of what is not zero (numerics/nonzeros.py).

`known` labels are known before the first row. A row may bring the next one, which is then known: what is predicted is
among those known before, what is learned is as if the label had been there, with weights of 0.
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
    """The first of the largest; 0 of none."""
    best = 0
    for j in range(1, known):
        if s[j] > s[best]:
            best = j
    return best


@compiled
def play(
    weights: Vector, seen: Vector, totals: Vector, known: int, rows: Nonzeros, y: NDArray[np.int64], learns: bool,
    scores: Vector, said: NDArray[np.int64],
) -> None:  # fmt: skip
    """The scores of every row, and the labels predicted; with `learns`, learning from each.

    weights   (places, labels), as many labels as there may be
    seen      (places, 2) updates that had the place, and its largest |x|
    totals    (multiclass_layout.TOTALS,) sums over all rounds
    y         (rows,) labels as numbers; not read unless `learns`
    scores    (rows, labels) out; -inf of labels not known
    said      (rows,) out: the label predicted
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
        said[t] = largest(s, known)
        if not learns:
            continue
        known = now
        best = largest(s, known)
        if best == y[t]:
            totals[SURPRISES] += said[t] != y[t]
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
