"""Compiled loops of multiclass learners with one matrix (linear/_loops/second_order.py) and a vector b_j per label.

The score of label j is b_j'A^-1 x / (1 + v), v = x'A^-1 x: the score with x included in A. No weights are stored: P x
is needed anyway, and b_j'(P x) costs as much as w_j'x. `moments` has a row per label, with room for all labels, and a
column per slot; `known` labels are known before the first row. A row may introduce the next label: the prediction is
among the labels known before, and the update is as if the new label had been there, with b = 0.

Arguments of the loops: those of linear/_loops/second_order.py (b and w of its `held` are not used), and
    moments: (labels, n) b_j, a column per slot
    paid: (multiclass_layout.TOTALS,) sums over all rounds
    known: labels known before the first row; the label of a row is one of these or the next one
    y: (rows,) labels as integers
    scores: (rows, labels) output; -inf for labels not known
    predicted: (rows,) output: predicted labels
    chances: (rows,) output: probability of the observed label
    s, p: (labels,) scratch: scores and probabilities of a row
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops import multiclass_layout as many
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear._loops.multiclass_layout import Labels
from novikoff.linear._loops.multiclass_perceptron import largest
from novikoff.linear._loops.second_order import Vector, change, changes, grow, meet, product, taken
from novikoff.linear._loops.second_order_layout import MatrixArrays, Metric
from novikoff.numerics.compiled import compiled, inner
from novikoff.numerics.lanes import dense
from novikoff.numerics.nonzeros import Nonzeros
from novikoff.numerics.simplex import project


@inner
def scale(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, t: int, moments: Vector, known: int,
    column: Vector,
) -> None:  # fmt: skip
    """Grow M to the values of row t, and add the decrease of the sum of b_j'A^-1 b_j to the totals."""
    slots, ridge = metric.slots, metric.ridge
    held, inverse, _, totals = matrix
    count = int(totals[at.COUNT])
    for e in range(rows.ends[t], rows.ends[t + 1]):
        i = int(slots[rows.places[e]])
        if i < 0:
            continue
        size = abs(rows.values[e])
        most = held[at.LARGEST, i]
        if size > most:
            more = ridge * ((size - most) * (size + most))
            grow(inverse, held, count, i, more, column)
            held[at.LARGEST, i] = size
            part = taken(more, max(column[i], 0.0))
            for j in range(known):
                moved = dense(moments[j, :count], column[:count])
                totals[at.SHED] += part * moved * moved


@inner
def score(moments: Vector, k: Vector, count: int, v: float, known: int, s: Vector) -> None:
    """Write the score of each label into s, from k = P x by slot; -inf for labels not known."""
    for j in range(len(s)):
        s[j] = dense(moments[j, :count], k[:count]) / (1.0 + v) if j < known else -np.inf


@compiled
def look(
    metric: Metric, matrix: MatrixArrays, moments: Vector, known: int, rows: Nonzeros,
    scores: Vector,
) -> None:  # fmt: skip
    """Score every row without learning; new features and M of the row itself are included in copies."""
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    held, inverse, sums, totals = matrix
    x, k = np.zeros(held.shape[1]), np.zeros(held.shape[1])
    for t in range(len(rows.ends) - 1):
        sizes, copy = held.copy(), inverse
        if changes(metric, held, rows, t):
            copy = inverse.copy()
        count = meet(metric, MatrixArrays(sizes, copy, sums, totals), rows, t, False, x, k)
        v = product(copy, x, count, k)
        score(moments, k, int(totals[at.COUNT]), v, known, scores[t])


@compiled
def play_vaw(
    metric: Metric, matrix: MatrixArrays, moments: Vector, paid: Vector, labels: Labels,
    rows: Nonzeros, y: NDArray[np.int64], scores: Vector, predicted: NDArray[np.int64], chances: Vector,
) -> None:  # fmt: skip
    """Play Vovk-Azoury-Warmuth on 1_y - 1/k: write scores, predictions and the probability of each observed label."""
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    held, inverse, _, totals = matrix
    known, rounds, grows = labels
    x, k, p = np.zeros(held.shape[1]), np.zeros(held.shape[1]), np.zeros(scores.shape[1])
    for t in range(len(y)):
        if metric.scale_free:
            scale(metric, matrix, rows, t, moments, known, k)
        count = meet(metric, matrix, rows, t, True, x, k)
        v = product(inverse, x, count, k)
        s, now = scores[t], max(known, y[t] + 1)
        score(moments, k, count, v, now, s)
        predicted[t] = largest(s, known)
        # `cost` is the Brier score of the round, with a probability reserved for a new label.
        reserved = 1.0 / (rounds + t + 1.0) ** 2 if grows else 0.0
        if y[t] >= known:
            chances[t] = reserved
            cost = 2.0 * (1.0 - reserved) ** 2
        else:
            project(s, known, p)
            chances[t] = (1.0 - reserved) * p[y[t]]
            cost = reserved * reserved
            for j in range(known):
                cost += ((1.0 - reserved) * p[j] - (j == y[t])) ** 2
        # `loss` is the score as if the label had been announced, which the theorem bounds.
        known = now
        project(s, known, p)
        share = 1.0 / known
        square = (1.0 - share) * (1.0 - share) + (known - 1.0) * (share * share)
        loss = 0.0
        for j in range(known):
            target = (j == y[t]) - share
            loss += (p[j] - (j == y[t])) ** 2
            totals[at.UNCLIPPED] += (s[j] - target) ** 2
            totals[at.LINEAR_SIZE] += s[j] * s[j] * v
            for i in range(count):
                moments[j, i] += target * x[i]
        totals[at.LOSS] += loss
        totals[at.GAINED] += square * (v / (1.0 + v))
        totals[at.LINEAR] += square
        paid[many.NOVELTY] += cost - loss
        change(matrix, x, k, count, 0.0, v, 1.0, 0.0)


@compiled
def play_perceptron(
    metric: Metric, matrix: MatrixArrays, moments: Vector, paid: Vector, known: int,
    rows: Nonzeros, y: NDArray[np.int64], scores: Vector, predicted: NDArray[np.int64],
) -> None:  # fmt: skip
    """Play the second-order Perceptron: write scores and predictions, and learn from mistakes."""
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    held, inverse = matrix.held, matrix.inverse
    x, k = np.zeros(held.shape[1]), np.zeros(held.shape[1])
    for t in range(len(y)):
        count = meet(metric, matrix, rows, t, True, x, k)
        v = product(inverse, x, count, k)
        s, now = scores[t], max(known, y[t] + 1)
        score(moments, k, count, v, now, s)
        predicted[t] = largest(s, known)
        known = now
        best = largest(s, known)
        if best == y[t]:  # wrong, if at all, only because the label was not announced
            paid[many.SURPRISES] += predicted[t] != y[t]
            continue
        paid[many.MISTAKES] += 1.0
        paid[many.GAINED] += 2.0 * (v / (1.0 + v))
        for i in range(count):
            moments[y[t], i] += x[i]
            moments[best, i] -= x[i]
        change(matrix, x, k, count, 0.0, v, 1.0, 0.0)
