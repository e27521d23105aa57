"""Compiled loop of one-versus-rest second-order logistic regression (linear/_loops/one_vs_rest.py).

P_j = e^z_j / sum of e^z over the labels known. Arrays and the learner of new labels as there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops.multiclass_ftrl import escape
from novikoff.linear._loops import one_vs_rest
from novikoff.linear._loops.multiclass_layout import LOSS, NOVELTY, Labels
from novikoff.linear._loops.multiclass_perceptron import largest
from novikoff.linear._loops.second_order import Vector
from novikoff.linear._loops.second_order_layout import MatrixArrays, Metric
from novikoff.numerics.compiled import compiled
from novikoff.numerics.nonzeros import Nonzeros
from novikoff.numerics.softmax import softmax

look_rest, learn_rest, copy_next = one_vs_rest.look, one_vs_rest.learn, one_vs_rest.copy_next


@compiled
def play(
    metric: Metric, matrices: MatrixArrays, kappa: float, paid: Vector, labels: Labels, rows: Nonzeros,
    y: NDArray[np.int64], learns: bool, scores: Vector, predicted: NDArray[np.int64], chances: Vector,
) -> None:  # fmt: skip
    """Score every row; with `learns`, learn from each before the next, and write predictions and probabilities.

    Args:
        metric: Regularisation and slots.
        matrices: Arrays with a leading axis of labels, and one more learner if labels may grow.
        kappa: Fraction of the curvature of the log loss that is used.
        paid: (multiclass_layout.TOTALS,) sums over all rounds.
        labels: Labels known before the first row.
        rows: Nonzeros of the rows.
        y: (rows,) labels as integers; read only if `learns`.
        learns: Whether to learn from the rows.
        scores: (rows, labels) output, with one more column if labels may grow; labels not known have the score of
            the learner of new labels.
        predicted: (rows,) output: predicted labels; written only if `learns`.
        chances: (rows,) output: probability of the observed label; written only if `learns`.
    """
    metric, matrices, rows = Metric(*metric), MatrixArrays(*matrices), Nonzeros(*rows)
    held = matrices.held
    known, rounds, grows = labels
    room, columns = held.shape[2], scores.shape[1]
    x, k = np.zeros(room), np.zeros((len(held), room))
    z0, v, z, p = np.empty(len(held)), np.empty(len(held)), np.empty(len(held)), np.empty(columns + 1)
    for t in range(len(rows.ends) - 1):
        there = known + grows if learns else known
        count = look_rest(metric, matrices, rows, t, learns, there, x, k, z0, v, z)
        for j in range(columns):
            scores[t, j] = z[min(j, there - 1)]
        if not learns:
            continue
        here, now, reserved = y[t], max(known, y[t] + 1), escape(rounds + t) if grows else 0.0
        predicted[t] = largest(z, known)
        lost = softmax(z, now, p) - z[here]
        paid[LOSS] += lost
        if now > known:
            chances[t] = reserved
            paid[NOVELTY] -= np.log(reserved) + lost
            copy_next(matrices, known)
            z0[now], v[now], z[now] = z0[known], v[known], z[known]
            k[now] = k[known]
        else:
            chances[t] = (1.0 - reserved) * p[here]
            paid[NOVELTY] -= np.log1p(-reserved)
        learn_rest(matrices, x, k, count, z0, v, z, now + grows, here, kappa)
        known = now
