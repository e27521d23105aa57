"""Second-order logistic regression of each of many labels against the rest (linear/_loops/second_order.py), on the same
rows.

Arrays have one more dimension in front, a learner a label. Where labels may grow, the learner after the last known is
that of a label never seen: it has seen every round, and was always wrong to say it. In the round that brings a label,
that learner is copied: one of the two is from then on the label's, as if it had been announced at the very beginning.

Arguments of the loops, besides those of linear/_loops/second_order.py
    matrices   MatrixArrays with an axis of labels in front
    labels     learners that play: the labels known, and one more where labels may grow
    x          (n,) the row, slot by slot: the same for all
    k          (labels, n) P x of each
    z0, v, z   (labels,) x'w, x'P x and the score played, of each
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
    """A label has come: the learner of a label never seen becomes its own, and a copy of it is the next."""
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
    """The scores of so many learners on row t; how many features they have."""
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
    """The same on random features, of which all are there."""
    for j in range(labels):
        v[j] = product(inverse[j], phi, len(phi), k[j])
        z0[j] = dense(held[j, WEIGHT], phi)
        z[j] = hedged(z0[j], v[j])


@inner
def learn(
    matrices: MatrixArrays, x: Vector, k: Vector, count: int, z0: Vector, v: Vector, z: Vector, labels: int, y: int,
    kappa: float,
) -> None:  # fmt: skip
    """Every learner learns whether it was its label."""
    held, inverse, sums, totals = matrices
    for j in range(labels):
        sign = 1 if j == y else -1
        lost = log_loss(sign * z[j])
        own = MatrixArrays(held[j], inverse[j], sums[j], totals[j])
        learn_logistic(own, x, k[j], count, z0[j], v[j], z[j], sign, lost, kappa)
