"""Second-order logistic regression of each label against the rest, as a learner of its own
(linear/_loops/one_vs_rest.py).

P_j = e^z_j / sum of e^z over the labels known. Arrays, and the learner of a label never seen, as there; `totals` of the
whole as many_layout.py says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops.many_ftrl import escape
from novikoff.linear._loops import one_vs_rest
from novikoff.linear._loops.many_layout import LOSS, NOVELTY
from novikoff.linear._loops.many_perceptron import largest
from novikoff.linear._loops.second_order import Places, Slots, Vector
from novikoff.numerics.compiled import compiled
from novikoff.numerics.softmax import softmax

look_rest, learn_rest, copy_next = one_vs_rest.look, one_vs_rest.learn, one_vs_rest.copy_next


@compiled
def play(
    slots: Slots, held: Vector, inverse: Vector, sums: Vector, totals: Vector, ridge: float, scale_free: bool,
    kappa: float, books: Vector, known: int, rounds: int, grows: bool, ends: NDArray[np.int64], places: Places,
    values: Vector, y: NDArray[np.int64], learns: bool, scores: Vector, said: NDArray[np.int64], chances: Vector,
) -> None:  # fmt: skip
    """The scores of every row; if `learns`, what is said, and what was given to y.

    scores   (rows, labels); of labels never seen, and in one column more where these may come, that of their learner
    """
    room, columns = held.shape[2], scores.shape[1]
    x, k = np.zeros(room), np.zeros((len(held), room))
    z0, v, z, p = np.empty(len(held)), np.empty(len(held)), np.empty(len(held)), np.empty(columns + 1)
    for t in range(len(ends) - 1):
        start, stop = ends[t], ends[t + 1]
        there = known + grows if learns else known
        count = look_rest(
            slots, held, inverse, totals, ridge, scale_free, places, values, start, stop, learns, there, x, k, z0, v, z
        )
        for j in range(columns):
            scores[t, j] = z[min(j, there - 1)]
        if not learns:
            continue
        here, now, kept = y[t], max(known, y[t] + 1), escape(rounds + t) if grows else 0.0
        said[t] = largest(z, known)
        lost = softmax(z, now, p) - z[here]
        books[LOSS] += lost
        if now > known:
            chances[t] = kept
            books[NOVELTY] -= np.log(kept) + lost
            copy_next(held, inverse, sums, totals, known)
            z0[now], v[now], z[now] = z0[known], v[known], z[known]
            k[now] = k[known]
        else:
            chances[t] = (1.0 - kept) * p[here]
            books[NOVELTY] -= np.log1p(-kept)
        learn_rest(held, inverse, sums, totals, x, k, count, z0, v, z, now + grows, here, kappa)
        known = now
