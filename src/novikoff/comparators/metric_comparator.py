"""Comparators in a learner's metric: what its theorem says of u (`Goal`), and what was found of each u."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.frozen import FrozenFacts
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


@dataclass(frozen=True, slots=True)
class MetricComparator:
    """One u; losses are sums over all rounds, rounded up.

    log_loss, hinge, parabola   its losses; parabola is the sum of max(l, Q)
    square                      u'Au
    doubt                       the sum of |u_i| times what the learner's sum may be off by
    unexplained                 how far the learner's sums, along u, are from those of what it played, in units of what
                                rounding explains
    promised, member            of the goal it was found for
    """

    log_loss: float
    hinge: float
    parabola: float
    square: float
    doubt: float
    unexplained: float
    promised: float
    member: int

    @property
    def log_bound(self) -> float:
        """The bound on a log loss."""
        return self.log_loss + 0.5 * self.square + self.doubt + self.promised

    @property
    def parabola_bound(self) -> float:
        """The same for a learner of the second order."""
        return self.parabola + 0.5 * self.square + self.promised


@dataclass(frozen=True, slots=True)
class MetricComparatorFacts:
    """Of every comparator; the first is u = 0.

    rows          rounds seen
    fitted        on how many of them
    losses        the sum of the log losses of the scores, for each of those who make up the learner
    unexplained   as of a comparator, of all that was compared besides
    frozen        copies of the learner's own weights, if any were made
    """

    rows: int
    fitted: int
    comparators: tuple[MetricComparator, ...]
    losses: tuple[float, ...] = ()
    unexplained: float = 0.0
    frozen: tuple[FrozenFacts, ...] = ()

    @property
    def explained(self) -> bool:
        """Are the learner's sums those of the scores it played?"""
        return self.unexplained <= 1.0 and all(u.unexplained <= 1.0 for u in self.comparators)


def added_doubt(counts: Vector, sizes: Vector) -> Vector:
    """What a sum of n numbers g x with |g| <= 1 and |x| <= M, feature by feature, may be off by: u0 n (n+20) M."""
    return U0 * counts * (counts + 20.0) * sizes
