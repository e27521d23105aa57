"""Comparators in a learner's metric: what was found of each u."""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.comparators.frozen import FrozenFacts


@dataclass(frozen=True, slots=True)
class MetricComparator:
    """One u; losses are sums over all rounds, rounded up.

    log_loss, hinge, parabola   its losses; parabola is the sum of max(l, Q)
    square                      u'Au
    doubt                       the sum of |u_i| times what the learner's sum may be off by
    unexplained                 how far the learner's sums, along u, are from those of what it played, in units of what
                                rounding explains
    promised, member            of the goal it was found for; promised is no less than what the tracker evaluated itself
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
    updates       rounds that its scores made updates, and `mistakes` among them; for learners with a margin
    """

    rows: int
    fitted: int
    comparators: tuple[MetricComparator, ...]
    losses: tuple[float, ...] = ()
    unexplained: float = 0.0
    frozen: tuple[FrozenFacts, ...] = ()
    updates: int = 0
    mistakes: int = 0

    @property
    def explained(self) -> bool:
        """Are the learner's sums those of the scores it played?"""
        return self.unexplained <= 1.0 and all(u.unexplained <= 1.0 for u in self.comparators)
