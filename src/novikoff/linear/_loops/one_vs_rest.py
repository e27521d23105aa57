"""Second-order logistic regression of each of many labels against the rest (linear/_loops/second_order.py), on the same
rows.

Arrays have one more dimension in front, a learner a label. Where labels may grow, the learner after the last known is
that of a label never seen: it has seen every round, and was always wrong to say it. In the round that brings a label,
that learner is copied: one of the two is from then on the label's, as if it had been announced at the very beginning.
"""

from __future__ import annotations

from novikoff.linear._loops.second_order import Places, Slots, Vector, changes, learn_logistic, meet, product
from novikoff.linear._loops.second_order_layout import WEIGHT
from novikoff.numerics.compiled import inner
from novikoff.numerics.lanes import dense
from novikoff.numerics.logits import hedged, log_loss


@inner
def copy_next(held: Vector, inverse: Vector, sums: Vector, totals: Vector, known: int) -> None:
    """A label has come: the learner of a label never seen becomes its own, and a copy of it is the next."""
    held[known + 1] = held[known]
    inverse[known + 1] = inverse[known]
    sums[known + 1] = sums[known]
    totals[known + 1] = totals[known]


@inner
def look(
    slots: Slots, held: Vector, inverse: Vector, totals: Vector, ridge: float, scale_free: bool, places: Places,
    values: Vector, start: int, stop: int, keep: bool, labels: int, x: Vector, k: Vector, z0: Vector, v: Vector,
    z: Vector,
) -> int:  # fmt: skip
    """The scores of so many learners; how many features they have."""
    count = 0
    for j in range(labels):
        here, matrix = held[j], inverse[j]
        if not keep and changes(slots, here, scale_free, places, values, start, stop):
            matrix = inverse[j].copy()
        if not keep:
            here = held[j].copy()
        count = meet(slots, here, matrix, totals[j], ridge, scale_free, places, values, start, stop, keep, x, k[j])
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
    held: Vector, inverse: Vector, sums: Vector, totals: Vector, x: Vector, k: Vector, count: int, z0: Vector,
    v: Vector, z: Vector, labels: int, y: int, kappa: float,
) -> None:  # fmt: skip
    """Every learner learns whether it was its label."""
    for j in range(labels):
        sign = 1 if j == y else -1
        lost = log_loss(sign * z[j])
        learn_logistic(inverse[j], sums[j], held[j], totals[j], x, k[j], count, z0[j], v[j], z[j], sign, lost, kappa)
