"""What a learner's theorem in a metric says of a comparator u, and the learner's own weights as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.metric import U0, Full, Metric

Vector = NDArray[np.float64]


class Goal(NamedTuple):
    """What a learner's theorem says of u: its loss + a penalty.

    loss       "log", "hinge", or "parabola": the larger of the log loss and of what a second-order learner took for it
    penalty    the metric whose square(u)/2 is paid, or sqrt(square(u) * gained) for the hinge loss
    promised   what is promised beside: u'Au is multiplied by it there, and it is added to other losses. It is what the
               learner claims; the tracker takes it no less than `dual_of` the goal
    added      the learner's own sum of g x, of (g - hz) x, or of -y x, place by place, and what it may be off by; it is
               compared with the scores that were played, where the tracker has them
    linear     its own sum of g z - h z^2/2, which is compared with them too; None if it has none
    matrix     its sum of h x x', and the same of that
    member     whose theorem it is, for a learner with members: the number of its scores
    images     the rows as the member sees them, from all rows as they are; None if just so
    on_scores  its rows are the scores of the members before it, clipped: it is a stack
    """

    loss: str
    penalty: Metric
    promised: float
    added: tuple[Vector, Vector]
    member: int = 0
    images: Callable[[Any], Any] | None = None
    matrix: Full | None = None
    linear: float | None = None
    on_scores: bool = False


def dual_of(goal: Goal, linear: float, size: float, rounds: int) -> float:
    """At least what the goal's own sums leave of its theorem, whatever its learner claims: `promised` must be no less.

    That is b'A^-1 b for the hinge loss, else the sum of g z - h z^2/2 plus half of it; b is `added`.

    linear, size   the sum of g z - h z^2/2 over the scores that were played, and that of the sizes of its terms
    """
    metric, (added, off) = goal.matrix or goal.penalty, goal.added
    if goal.loss == "hinge":
        return metric.inverse_between(added, off)[1]
    off = np.zeros(len(added)) if goal.loss == "log" else off  # there the doubt is paid by each comparator
    return linear + (rounds + 20) * 2.0 * U0 * size + 0.5 * metric.inverse_between(added, off)[1]


class Own(NamedTuple):
    """The weights of a learner, or of one of its members, and what its theorem says: promised is what it added up."""

    goal: Goal
    weights: Vector


def added_doubt(counts: Vector, sizes: Vector) -> Vector:
    """What a sum of n numbers g x with |g| <= 1 and |x| <= M, feature by feature, may be off by: u0 n (n+20) M."""
    return U0 * counts * (counts + 20.0) * sizes
