"""Base class for Perceptrons in a metric, which is a full matrix or a diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.goal import Goal, added_doubt
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.metric_facts import MetricFacts
from novikoff.comparators.metric_tracker import MetricTracker
from novikoff.core.attribution import Coefficients
from novikoff.core.feature_places import up_to
from novikoff.core.state import Argument, Array, Part, require
from novikoff.core.types import State, StepResult, Theorem
from novikoff.linear import _loops
from novikoff.linear._loops import metric_layout as place
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.scale_free import ScaleFree, over
from novikoff.linear.second_order import SecondOrder
from novikoff.linear.theorems.metric_mistakes import metric_mistakes
from novikoff.numerics.records import astuple

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

SQUARES = (place.LARGEST, place.SQUARES, place.SEEN)
"""Columns of `held` that are never negative."""


class MetricPerceptron(SecondOrder):
    """Base class for Perceptrons in a metric: b is the sum of y x over the updates.

    Updates are the mistakes and the rounds in which y times the score is below `margin`.

    Args:
        ridge: Regularisation of the metric.
        diagonal: Whether the metric is a diagonal instead of a full matrix.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.
    """

    promises: ClassVar[tuple[Theorem, ...]] = (metric_mistakes,)
    fields = (
        Argument("ridge", float),
        Argument("diagonal", bool),
        Argument("scale_free", bool),
        *ScaleFree.fields,
        Part("matrix", places="places", when="full"),
        Array("held", (None, place.HELD), nonnegative=SQUARES, at="_met", assigned=False, when="diagonal"),
        Array("totals", (place.TOTALS,), at="_totals", when="diagonal"),
    )
    margin: ClassVar[float]

    def __init__(self, ridge: float, diagonal: bool, scale_free: bool, bias: float) -> None:
        super().__init__(ridge, scale_free, bias, diagonal)
        self.diagonal = bool(diagonal)
        self._held = np.zeros((1, place.HELD))  # the last row serves all features not seen
        self._totals = np.zeros(place.TOTALS)

    @property
    def full(self) -> bool:
        """Whether the metric is a full matrix."""
        return not self.diagonal

    @property
    def _met(self) -> NDArray[np.float64]:
        """Rows of `_held` for the places met."""
        return self._held[: self.places]

    @property
    def updates(self) -> int:
        return int(self._totals[place.UPDATES]) if self.diagonal else super().updates

    @property
    def mistakes(self) -> int:
        """Number of updates that were mistakes."""
        return int(self._totals[place.MISTAKES] if self.diagonal else self.matrix.totals[at.LOSS])

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each feature, without the constant one."""
        return self._weights()[1:] if self.diagonal else super().weights

    @property
    def bias_weight(self) -> float:
        """Weight of the constant feature."""
        return float(self._weights()[0]) if self.diagonal else super().bias_weight

    @property
    def size(self) -> int:
        """Number of features with a weight."""
        return int(np.count_nonzero(self._held[:, place.LARGEST])) if self.diagonal else super().size

    def metric(self) -> NDArray[np.float64]:
        """Return the diagonal of A by place."""
        held = self._met
        return self.ridge * held[:, place.LARGEST] ** 2 + held[:, place.SQUARES]

    def _doubt(self) -> NDArray[np.float64]:
        """Return the rounding error of b by place.

        It needs the largest |x| of the updates: M if `scale_free`, else at most the root of the sum of x^2.
        """
        held = self._met
        sizes = held[:, place.LARGEST] if self.scale_free else np.sqrt(held[:, place.SQUARES]) * (1.0 + 1e-9)
        return added_doubt(held[:, place.SEEN], sizes)

    def _weights(self) -> NDArray[np.float64]:
        metric = self.metric()
        held = self._met
        return np.divide(held[:, place.MOMENT], metric, out=np.zeros_like(metric), where=metric > 0.0)

    def linear_weights(self) -> Coefficients:
        if not self.diagonal:
            return super().linear_weights()
        sizes = np.sqrt(self._met[1:, place.SQUARES] / max(self.updates, 1))
        return Coefficients(self.weights[np.newaxis], np.array([self.bias * self.bias_weight]), sizes)

    def _terms(self, places: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64] | None:
        if not self.diagonal:
            return super()._terms(places, values)
        held = self._held[np.minimum(places, len(self._held) - 1)]  # the metric includes the row itself
        most = np.maximum(held[:, place.LARGEST], np.abs(values) if self.scale_free else 1.0)
        metric = self.ridge * most * most + held[:, place.SQUARES] + values * values
        return held[:, [place.MOMENT]] * over(values, metric)[:, np.newaxis]

    def _shrinkage(
        self, rows: Nonzeros, score: NDArray[np.float64], linear: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        return 1.0

    def _make_room(self, places: int) -> None:
        if not self.diagonal:
            super()._make_room(places)
        elif places >= len(self._held):
            spare = 0 if self.features.kind == "array" else min(len(self._held), 2**20)
            self._held = np.vstack([self._held, np.zeros((places + 1 - len(self._held) + spare, place.HELD))])

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        scores = np.empty(len(y))
        if self.diagonal:
            _loops.metric_perceptron.play(
                self._held, self._totals, self.ridge, self.scale_free, astuple(rows), y, self.margin, True, scores
            )
        else:
            for here in self.matrix.stretches(len(y)):
                part = astuple(rows.part(here))
                _loops.second_order.play_perceptron(*self.matrix.records, part, y[here], self.margin, scores[here])
        self.scored, predicted = scores, self._predictions(scores)
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, scores=scores)

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        if not self.diagonal:
            return self._looked(rows)[0]
        scores, none = np.empty(len(rows.ends) - 1), np.zeros(0, dtype=np.int8)
        places = up_to(rows.places, len(self._held) - 1)
        read: Any = rows.ends, places, rows.values
        _loops.metric_perceptron.play(
            self._held, self._totals, self.ridge, self.scale_free, read, none, self.margin, False, scores
        )
        return scores

    def tracker(self) -> MetricTracker | None:
        limit = None if self.diagonal else at.LIMIT
        return MetricTracker(self.bias, margin=self.margin, limit=limit) if self.rounds == 0 else None

    def goals(self) -> list[Goal]:
        """Return the objectives that comparators minimise."""
        facts = self.facts()
        if not self.diagonal:
            full = self.matrix.full()
            return [Goal("hinge", full, facts.penalty, self._added(), matrix=full)]
        held = self._met
        added = -held[:, place.MOMENT], self._doubt()
        return [Goal("hinge", Diagonal(self.metric()), facts.penalty, added)]

    def facts(self) -> MetricFacts:
        if self.diagonal:
            held = self._met
            gained = float(self._totals[place.GAINED])
            least, dual = Diagonal(self.metric()).inverse_between(held[:, place.MOMENT], self._doubt())
        else:
            added, doubt = self._added()
            gained = float(self.matrix.totals[at.GAINED])
            least, dual = self.matrix.full().inverse_between(added, doubt)
        return MetricFacts(self.rounds, self.updates, self.mistakes, 0.0, gained, dual, least)

    def after_restoring(self, found: State) -> None:
        if self.diagonal:
            require(len(found["held"]) <= self.places, f"places must be at most {self.places:,}", found["held"].shape)
            self._held = np.vstack([found["held"], np.zeros((1, place.HELD))])
            most = float(found["held"][:, place.SEEN].max(initial=0.0))
            sound = most <= self._totals[place.UPDATES]
            require(sound, "no feature may have more updates than the learner", most)
        totals = self._totals if self.diagonal else self.matrix.totals
        counted = (place.UPDATES, place.MISTAKES) if self.diagonal else (at.UPDATES, at.LOSS)
        updates, mistakes = (float(totals[k]) for k in counted)
        sound = updates.is_integer() and mistakes.is_integer() and 0.0 <= mistakes <= updates <= self.rounds
        require(sound, f"mistakes <= updates <= {self.rounds:,} rounds must be whole numbers", [mistakes, updates])
