"""Comparators for one-versus-rest learners: those of a binary learner, for every label.

Algorithm
    One tracker (comparators/metric_tracker.py) for each label: rounds with that label are +1, all others -1. For a
    label that has not appeared, all rounds were -1: such labels share one tracker, which is copied when one appears.
Promise
    That of each tracker. `lost` is the log loss of the scores, P_j = e^z_j / sum of e^z over the labels known.
    `surplus` is the sum of (sum of ln(1 + e^z_j) - ln sum of e^z) over the labels known in each round, rounded down: at
    most the joint loss of the binary learners, minus `lost`. A sum of T numbers has an error of at most T 2^-52 times
    the sum of their sizes, and each number, with its logarithms and exponentials, one of less than 100 2^-52.
Cost
    That of a tracker, times the labels plus one.
Reference
    that of the trackers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.frozen import check_members
from novikoff.comparators.goal import Goal, HasGoals
from novikoff.comparators.metric_facts import MetricComparator, MetricComparatorFacts
from novikoff.comparators.metric_tracker import MetricTracker
from novikoff.comparators.tracker import KEEP, Tracker
from novikoff.core.state import Argument, Array, Count, Number, Part, Parts, require
from novikoff.core.types import Batch, State

if TYPE_CHECKING:
    from novikoff.core.learner import Learner


@dataclass(frozen=True, slots=True)
class AgainstFacts:
    """Facts about every label, in their order.

    Attributes:
        rows: Rounds seen.
        lost: Sum of the log losses of the scores of each member.
        surplus: Lower bound on the joint loss of the member's binary learners beyond that.
        labels: Facts about each label.
    """

    rows: int
    lost: tuple[float, ...]
    surplus: tuple[float, ...]
    labels: tuple[MetricComparatorFacts, ...]

    @property
    def explained(self) -> bool:
        """Whether the learners' sums agree with the scores they played."""
        return all(one.explained for one in self.labels)

    def best(self, member: int) -> list[MetricComparator]:
        """Return for each label the comparator with the member's least bound; [] if some label has none."""
        found = [[u for u in one.comparators if u.member == member] for one in self.labels]
        return [min(some, key=lambda u: u.parabola_bound) for some in found] if all(found) else []


class AgainstTracker(Tracker):
    """Tracker for a one-versus-rest learner.

    Args:
        bias: The learner's value of the constant feature.
        kappa: The learner's kappa, shared by all members; these are counted in the first round.
        announced: Number of labels known before the first round; None for none.
        limit: See `MetricTracker`.
        keep: See `MetricTracker`.
        fits: See `MetricTracker`.
    """

    rows = 0
    kind = "against"
    fields = (
        Number("bias", argument=True),
        Number("kappa", argument=True),
        Count("announced", optional=True, argument=True),
        Count("limit", optional=True, argument=True),
        Count("keep", argument=True),
        Argument("fits", bool),
        Count("rows"),
        Array("lost", (None,), at="_lost", finite=False),
        Array("surplus", (2, None), at="_surplus", finite=False),
        Parts("labels", MetricTracker, at="_labels"),
        Part("unseen", MetricTracker, at="_unseen", optional=True),
    )

    def __init__(
        self, bias: float, kappa: float, announced: int | None = None, limit: int | None = None, keep: int = KEEP // 8,
        fits: bool = True,
    ) -> None:  # fmt: skip
        self.bias, self.kappa, self.announced, self.limit = float(bias), float(kappa), announced, limit
        self.keep, self.fits = keep, fits
        self._labels: list[MetricTracker] = []
        self._unseen: MetricTracker | None = None
        self._lost, self._surplus = np.zeros(0), np.zeros((2, 0))  # surplus of each member, and the size of its terms

    @property
    def rows_held(self) -> int:
        """Number of training rows in the state."""
        trackers = [*self._labels, *([] if self._unseen is None else [self._unseen])]
        return max((tracker.rows_held for tracker in trackers), default=0)

    def see(self, batch: Batch, scores: NDArray[Any]) -> None:
        """Process the rounds of a batch with the scores that each member played, (rows, members, labels).

        Labels that are not yet known have the scores of their shared learner, which has one more column if more may
        appear.
        """
        y = np.asarray(batch.y).astype(np.int64)
        for j, tracker in enumerate(self._trackers(y, scores)):
            tracker.see(replace(batch, y=np.where(y == j, 1, -1).astype(np.int8)), scores[:, :, j].copy())

    def see_row(self, x: Any, y: int, scores: Any) -> None:
        """Process one round: x as (indices, values), or as an array."""
        scores = np.asarray(scores)[np.newaxis]
        for j, tracker in enumerate(self._trackers(np.array([y]), scores)):
            tracker.see_row(x, 1 if y == j else -1, scores[:, :, j].copy())

    def _trackers(self, y: NDArray[np.int64], scores: NDArray[Any]) -> list[MetricTracker]:
        """Return the tracker of each label, including those of these rounds, and the shared one of unseen labels."""
        if self._unseen is None:
            kappas = [self.kappa] * scores.shape[1]
            self._unseen, *self._labels = (
                MetricTracker(self.bias, kappas, limit=self.limit, keep=self.keep, fits=self.fits)
                for _ in range(1 + (self.announced or 0))
            )
            self._lost, self._surplus = np.zeros(scores.shape[1]), np.zeros((2, scores.shape[1]))
        check_members(len(self._lost), scores)
        # known[t] labels exist in round t; scores of the others do not enter its loss.
        known = np.maximum.accumulate(np.maximum(y + 1, len(self._labels))) if len(y) else y
        with np.errstate(all="ignore"):
            s = np.where(np.arange(scores.shape[2]) < known[:, None, None], scores, -np.inf)
            top = s.max(axis=2, initial=-np.inf, keepdims=True)
            # Sum in order, label by label and row by row: the result does not depend on the batches, to the bit.
            whole = top[:, :, 0] + np.log(_added(np.exp(s - top), 2))
            apart = _added(np.logaddexp(0.0, s), 2)
            paid = whole - s[np.arange(len(y)), :, y]
            parts = np.stack([apart - whole, apart + np.abs(whole)])
            self._lost = _added(np.concatenate([self._lost[np.newaxis], paid]), 0)
            self._surplus = _added(np.concatenate([self._surplus[:, np.newaxis], parts], axis=1), 1)
        self.rows += len(y)
        while len(self._labels) <= y.max(initial=-1):
            self._labels.append(MetricTracker.restore(self._unseen.state()))
        return [*self._labels, *([self._unseen] if self.announced is None else [])]

    def facts(self, learner: HasGoals[list[Goal]]) -> AgainstFacts:
        """Return the facts so far; the learner has a list of goals for each label."""
        return self.facts_for(learner.goals())

    def facts_for(self, goals: list[list[Goal]]) -> AgainstFacts:
        """Return the facts so far for these goals."""
        labels = tuple(tracker.facts_for(some) for tracker, some in zip(self._labels, goals, strict=False))
        surplus = self._surplus[0] - (self.rows + 100) * 2.0**-51 * self._surplus[1]
        return AgainstFacts(self.rows, tuple(self._lost.tolist()), tuple(surplus.tolist()), labels)

    def check(self, learner: Learner) -> None:
        must = f"comparators must have at most the learner's {learner.labels} labels"
        require(len(self._labels) <= (learner.labels or 0), must, len(self._labels))
        for one in self._labels:
            one.check(learner)

    def after_restoring(self, found: State) -> None:
        members, seen = len(self._lost), self._labels if self._unseen is None else [*self._labels, self._unseen]
        require(self._surplus.shape[1] == members, f"surplus must have {members:,} members", self._surplus.shape)
        for one in seen:
            require(one.members == members, f"comparators must have {members:,} members", one.members)
        watched = seen if self.announced is None else self._labels
        rows = [one.rows for one in watched]
        sound = (self._unseen is not None or not self.rows) and all(one == self.rows for one in rows)
        require(sound, f"comparators of each label must have seen {self.rows:,} rounds", rows)


def _added(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the sum along an axis, added in order."""
    return np.asarray(np.cumsum(values, axis=axis).take(-1, axis))
