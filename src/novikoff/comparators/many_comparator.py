"""Comparators for many labels: what a learner's theorem says of U (`ManyGoal`), and what was found of each U."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.against_tracker import AgainstFacts
from novikoff.comparators.metric import Metric

Vector = NDArray[np.float64]


class ManyGoal(NamedTuple):
    """What a learner's theorem says of U, whose columns are labels: its loss + a penalty.

    penalty    the metric, the same for every label, in which the squares of the columns are added up
    promised   what is promised beside: it is added to half of these, or multiplied by them under the root
    added      the learner's own sum of g x, or of its updates with the sign turned, (places, labels)
    doubt      what it may be off by
    linear     its own sum of <g, z>; None if it has none
    """

    penalty: Metric
    promised: float
    added: Vector
    doubt: Vector
    linear: float | None = None


@dataclass(frozen=True, slots=True)
class ManyComparator:
    """One U; the loss is a sum over all rounds, rounded up.

    loss          its log losses, or hinge losses
    square        the sum of u_j'A u_j
    doubt         the sum of |U| times what the learner's sum may be off by
    unexplained   how far the learner's sum, along U, is from that of what it played, in units of what rounding explains
    """

    loss: float
    square: float
    doubt: float
    unexplained: float


@dataclass(frozen=True, slots=True)
class ManyComparatorFacts:
    """Of every comparator; the first is U = 0.

    rows          rounds seen
    fitted        on how many of them
    lost          the sum of the log losses, or the mistakes, of the scores that the learner played
    unexplained   as of a comparator, of all that was compared besides
    against       comparators of members against the rest, of a learner that has some
    dual          at least what the learner's sums leave of its theorem, evaluated on the scores that were played
    """

    rows: int
    fitted: int
    comparators: tuple[ManyComparator, ...]
    lost: float
    unexplained: float = 0.0
    against: AgainstFacts | None = None
    dual: float = -math.inf

    @property
    def explained(self) -> bool:
        """Are the learner's sums those of the scores it played?"""
        return self.unexplained <= 1.0 and all(u.unexplained <= 1.0 for u in self.comparators)
