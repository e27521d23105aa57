"""What Perceptrons in a metric have in common, the metric being a full matrix or a diagonal."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import kernels
from novikoff.certificates.metric_facts import MetricFacts
from novikoff.certificates.metric_mistakes import metric_mistakes
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.metric_comparator import Goal, added_doubt
from novikoff.comparators.metric_tracker import MetricTracker
from novikoff.kernels import second_order_layout as at
from novikoff.learners.restoring import Schema, array, require
from novikoff.learners.second_order import SecondOrder
from novikoff.types import State, StepResult, Theorem


class MetricPerceptron(SecondOrder):
    """b = sum of y x over the updates: the mistakes, and where y times the score is below `margin`."""

    promises: ClassVar[tuple[Theorem, ...]] = (metric_mistakes,)
    params: ClassVar[Schema] = {"ridge": float, "diagonal": bool, "scale_free": bool, "bias": float}
    margin: ClassVar[float]

    def __init__(self, ridge: float, diagonal: bool, scale_free: bool, bias: float) -> None:
        super().__init__(ridge, scale_free, bias)
        self.diagonal = bool(diagonal)
        self._held, self._own = np.zeros((1, 4)), np.zeros(3)  # the last row is that of all features not seen

    @property
    def updates(self) -> int:
        """How often it changed."""
        return int(self._own[0]) if self.diagonal else super().updates

    @property
    def mistakes(self) -> int:
        """Those among the updates that were mistakes."""
        return int(self._own[1] if self.diagonal else self.matrix.own[at.LOSS])

    @property
    def weights(self) -> NDArray[np.float64]:
        """A weight for each feature, in their order; the constant feature has its own."""
        return self._weights()[1:] if self.diagonal else super().weights

    @property
    def bias_weight(self) -> float:
        """The weight of the constant feature."""
        return float(self._weights()[0]) if self.diagonal else super().bias_weight

    @property
    def size(self) -> int:
        """Features with a weight."""
        return int(np.count_nonzero(self._held[:, 0])) if self.diagonal else super().size

    def metric(self) -> NDArray[np.float64]:
        """The diagonal of A, place by place."""
        held = self._held[: self.features.count + 1]
        return self.ridge * held[:, 0] ** 2 + held[:, 1]

    def _doubt(self) -> NDArray[np.float64]:
        """What b of the diagonal may be off by; no |x| of an update is above the root of the sum of x^2."""
        held = self._held[: self.features.count + 1]
        return added_doubt(held[:, 3], held[:, 0] if self.scale_free else np.sqrt(held[:, 1]) * (1.0 + 1e-9))

    def _weights(self) -> NDArray[np.float64]:
        metric = self.metric()
        held = self._held[: self.features.count + 1]
        return np.divide(held[:, 2], metric, out=np.zeros_like(metric), where=metric > 0.0)

    def _make_room(self, places: int) -> None:
        if not self.diagonal:
            super()._make_room(places)
        elif places >= len(self._held):
            spare = 0 if self.features.kind == "array" else min(len(self._held), 2**20)
            self._held = np.vstack([self._held, np.zeros((places + 1 - len(self._held) + spare, 4))])

    def _learn(self, rows: Any, y: NDArray[Any]) -> StepResult:
        scores = np.empty(len(y))
        play: Any = kernels.metric_perceptron.play if self.diagonal else kernels.second_order.play_perceptron
        if self.diagonal:
            play(self._held, self._own, self.ridge, self.scale_free, *rows, y, self.margin, True, scores)
        else:
            play(*self.matrix.arrays, *rows, y, self.margin, scores)
        self.scored, said = scores, self._said(scores)
        wrong = (said != y).astype(np.float64)
        return StepResult(said, wrong, wrong, scores=scores)

    def _look(self, rows: Any) -> NDArray[np.float64]:
        if not self.diagonal:
            score, spread = self._looked(rows)
            return score / (1.0 + spread) if self.margin == 0.0 else score
        scores, none = np.empty(len(rows.ends) - 1), np.zeros(0, dtype=np.int8)
        places = np.minimum(rows.places, np.uint32(len(self._held) - 1))
        kernels.metric_perceptron.play(
            self._held, self._own, self.ridge, self.scale_free, rows.ends, places, rows.values, none, self.margin,
            False, scores,
        )  # fmt: skip
        return scores

    def tracker(self) -> MetricTracker | None:
        """Comparators for a game that begins now."""
        limit = None if self.diagonal else at.LIMIT
        return MetricTracker(self.bias, margin=self.margin, limit=limit) if self.rounds == 0 else None

    def goals(self) -> list[Goal]:
        """What a comparator is to make small."""
        facts = self.facts()
        if not self.diagonal:
            full = self.matrix.full()
            return [Goal("hinge", full, facts.penalty, self._added(), matrix=full)]
        held = self._held[: self.features.count + 1]
        added = -held[:, 2], self._doubt()
        return [Goal("hinge", Diagonal(self.metric()), facts.penalty, added)]

    def facts(self) -> MetricFacts:
        if self.diagonal:
            held = self._held[: self.features.count + 1]
            gained = float(self._own[2])
            least, dual = Diagonal(self.metric()).inverse_between(held[:, 2], self._doubt())
        else:
            added, doubt = self._added()
            gained, (least, dual) = float(self.matrix.own[at.GAINED]), self.matrix.full().inverse_between(added, doubt)
        return MetricFacts(self.rounds, self.updates, self.mistakes, 0.0, gained, dual, least)

    def state(self) -> State:
        if not self.diagonal:
            return super().state()
        return {**self._plain(), "held": self._held[: self.features.count + 1].copy(), "own": self._own.copy()}

    @classmethod
    def restore(cls, state: State) -> Self:
        if not state["diagonal"]:
            return super().restore(state)
        learner = cls._bare(state)
        held = array(state, "held", (min(len(state["held"]), learner.features.count + 1), 4))
        require(bool((held[:, [0, 1, 3]] >= 0.0).all()), "sums of squares must not be negative", held)
        learner._held, learner._own = np.vstack([held, np.zeros((1, 4))]), array(state, "own", (3,))
        return learner
