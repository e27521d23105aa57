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
    promised   what is promised beside: u'Au is multiplied by it there, and it is added to other losses
    added      the learner's own sum of g x, of (g - hz) x, or of -y x, place by place, and what it may be off by; it is
               compared with the scores that were played, where the tracker has them
    linear     its own sum of g z - h z^2/2, which is compared with them too; None if it has none
    matrix     its sum of h x x', and the same of that
    member     whose theorem it is, for a learner with members: the number of its scores
    images     the rows as the member sees them, from all rows as they are; None if just so
    """

    loss: str
    penalty: Metric
    promised: float
    added: tuple[Vector, Vector]
    member: int = 0
    images: Callable[[Any], Any] | None = None
    matrix: Full | None = None
    linear: float | None = None


class Own(NamedTuple):
    """The weights of a learner, or of one of its members, and what its theorem says: promised is what it added up."""

    goal: Goal
    weights: Vector


def added_doubt(counts: Vector, sizes: Vector) -> Vector:
    """What a sum of n numbers g x with |g| <= 1 and |x| <= M, feature by feature, may be off by: u0 n (n+20) M."""
    return U0 * counts * (counts + 20.0) * sizes
