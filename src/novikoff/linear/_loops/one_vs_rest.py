"""Compiled loops of one-versus-rest second-order logistic regression (linear/_loops/second_order.py).

Arrays have a leading axis with one learner per label. If labels may grow, the learner after the last known label stands
for all new labels: it has played every round with a negative label. In the first round of a label this learner is
copied: one copy then belongs to the label, as if it had been announced at the start.

Arguments of the loops, in addition to those of linear/_loops/second_order.py:
    matrices: MatrixArrays with a leading axis of labels; `inverse` and `held` are its fields of these names
    labels: number of learners that play: the labels known, and one more if labels may grow
    x: (n,) the row by slot, the same for all learners
    k: (labels, n) P x of each learner
    z0, v, z: (labels,) x'w, x'P x and the score played, of each learner
"""

from __future__ import annotations

from novikoff.linear._loops.second_order import Vector, changes, learn_logistic, meet, product
from novikoff.linear._loops.second_order_layout import WEIGHT, MatrixArrays, Metric
from novikoff.numerics.compiled import inner
from novikoff.numerics.lanes import dense
from novikoff.numerics.logits import hedged, log_loss
from novikoff.numerics.nonzeros import Nonzeros


@inner
def copy_next(matrices: MatrixArrays, known: int) -> None:
    """Give the learner of new labels to a label in its first round, and copy it for the next new label."""
    held, inverse, sums, totals = matrices
    held[known + 1] = held[known]
    inverse[known + 1] = inverse[known]
    sums[known + 1] = sums[known]
    totals[known + 1] = totals[known]


@inner
def look(
    metric: Metric, matrices: MatrixArrays, rows: Nonzeros, t: int, keep: bool,
    labels: int, x: Vector, k: Vector, z0: Vector, v: Vector, z: Vector,
) -> int:  # fmt: skip
    """Score row t with the first `labels` learners; return their number of features."""
    held, inverse, sums, totals = matrices
    count = 0
    for j in range(labels):
        here, matrix = held[j], inverse[j]
        if not keep and changes(metric, here, rows, t):
            matrix = inverse[j].copy()
        if not keep:
            here = held[j].copy()
        own = MatrixArrays(here, matrix, sums[j], totals[j])
        count = meet(metric, own, rows, t, keep, x, k[j])
        v[j] = product(matrix, x, count, k[j])
        z0[j] = dense(here[WEIGHT, :count], x[:count])
        z[j] = hedged(z0[j], v[j])
    return count


@inner
def look_waves(
    held: Vector, inverse: Vector, phi: Vector, labels: int, k: Vector, z0: Vector, v: Vector, z: Vector
) -> None:
    """Score random features phi, which are all present, with the first `labels` learners."""
    for j in range(labels):
        v[j] = product(inverse[j], phi, len(phi), k[j])
        z0[j] = dense(held[j, WEIGHT], phi)
        z[j] = hedged(z0[j], v[j])


@inner
def learn(
    matrices: MatrixArrays, x: Vector, k: Vector, count: int, z0: Vector, v: Vector, z: Vector, labels: int, y: int,
    kappa: float,
) -> None:  # fmt: skip
    """Update every learner with whether its label was observed."""
    held, inverse, sums, totals = matrices
    for j in range(labels):
        sign = 1 if j == y else -1
        lost = log_loss(sign * z[j])
        own = MatrixArrays(held[j], inverse[j], sums[j], totals[j])
        learn_logistic(own, x, k[j], count, z0[j], v[j], z[j], sign, lost, kappa)
