"""Comparators for learners of each label against the rest: those of a learner of two labels, for every label.

Algorithm
    comparators/metric_tracker.py for each label, whose rounds are +1. A label that has not come has only rounds of -1
    behind it, as all such labels have: one tracker stands for them, and is copied when a label comes.
Promise
    That of each tracker. `lost` is what the scores cost, P_j = e^z_j / sum of e^z over the labels known.
Cost
    That of a tracker, times the labels, and one.
Reference
    that of the trackers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.metric_comparator import MetricComparatorFacts
from novikoff.comparators.metric_tracker import KEEP, MetricTracker
from novikoff.types import Batch, State


@dataclass(frozen=True, slots=True)
class AgainstFacts:
    """Of every label, in their order.

    rows     rounds seen
    lost     the sum of the log losses of the scores that the learner played
    labels   what was found for each
    """

    rows: int
    lost: float
    labels: tuple[MetricComparatorFacts, ...]

    @property
    def explained(self) -> bool:
        """Are the learners' sums those of the scores they played?"""
        return all(one.explained for one in self.labels)


class AgainstTracker:
    """Comparators of a learner that begins now.

    bias, kappa   the learner's
    announced     labels that are known before the first round; None for none
    limit, keep   as of a MetricTracker
    """

    scored = True

    def __init__(
        self, bias: float, kappa: float, announced: int | None = None, limit: int | None = None, keep: int = KEEP // 8
    ) -> None:
        self.announced = announced
        self._labels = [MetricTracker(bias, [kappa], limit=limit, keep=keep) for _ in range(announced or 0)]
        self._unseen = MetricTracker(bias, [kappa], limit=limit, keep=keep)
        self.rows, self.lost = 0, 0.0

    def due(self, rounds: int) -> int:
        """It never wants to look at the learner."""
        return rounds

    def look(self, learner: Any) -> None:
        """Never due."""

    def see_scores(self, batch: Batch, scores: NDArray[Any]) -> None:
        """The rounds of a batch, and the scores that the learner played; of labels to come, that of their learner."""
        y = np.asarray(batch.y).astype(np.int64)
        for j, tracker in enumerate(self._met(y, scores)):
            tracker.see_scores(replace(batch, y=np.where(y == j, 1, -1).astype(np.int8)), _column(scores, j))

    def see_row_scores(self, x: Any, y: int, scores: Any) -> None:
        """One round: x as (indices, values), or as an array of numbers."""
        scores = np.asarray(scores)[np.newaxis]
        for j, tracker in enumerate(self._met(np.array([y]), scores)):
            tracker.see_row_scores(x, 1 if y == j else -1, _column(scores, j))

    def _met(self, y: NDArray[np.int64], scores: NDArray[Any]) -> list[MetricTracker]:
        """The trackers of the labels, those of these rounds among them, and the one of all others."""
        before = np.maximum.accumulate(np.maximum(y + 1, len(self._labels))) if len(y) else y
        with np.errstate(all="ignore"):
            s = np.where(np.arange(scores.shape[1]) < before[:, None], scores, -np.inf)
            top = s.max(axis=1, initial=-np.inf, keepdims=True)
            self.lost += float((top[:, 0] + np.log(np.exp(s - top).sum(axis=1)) - s[np.arange(len(y)), y]).sum())
        self.rows += len(y)
        while len(self._labels) <= y.max(initial=-1):
            self._labels.append(MetricTracker.restore(self._unseen.state()))
        return [*self._labels, *([self._unseen] if self.announced is None else [])]

    def facts(self, learner: Any) -> AgainstFacts:
        """What was seen up to now; the learner has a list of goals for each label."""
        pairs = zip(self._labels, learner.goals(), strict=True)
        return AgainstFacts(self.rows, self.lost, tuple(tracker.facts_for(goals) for tracker, goals in pairs))

    def state(self) -> State:
        """All of it, as plain data."""
        return {"kind": "against", "announced": self.announced, "rows": self.rows, "lost": self.lost,
                "labels": [tracker.state() for tracker in self._labels], "unseen": self._unseen.state()}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        """The tracker whose `state` this is."""
        tracker = cls(0.0, 0.0)
        tracker.announced, tracker.rows, tracker.lost = state["announced"], int(state["rows"]), float(state["lost"])
        tracker._labels = [MetricTracker.restore(one) for one in state["labels"]]
        tracker._unseen = MetricTracker.restore(state["unseen"])
        return tracker


def _column(scores: NDArray[Any], j: int) -> NDArray[Any]:
    return np.ascontiguousarray(scores[:, j : j + 1])
