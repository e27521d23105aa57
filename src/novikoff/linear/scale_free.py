"""Base classes for scale-free linear learners, which read x in any form as places and values of its non-zeros.

A subclass defines its compiled rule: `_learn` plays rows, `_look` returns the scores of rows without learning. `bias` c
adds a constant feature of value c, stored as feature 0; features beyond those learned from count as never seen. Numbers
below 2^-500 in size are read as 0, numbers above 2^500 are refused (numerics/nonzeros.py). A learner with a matrix may
accept a smaller range (`taken_by` in linear/matrix.py).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.core import encode
from novikoff.core.attribution import Attribution, Importances, Scale, entries_of, weight_importances
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Count, Field, Part
from novikoff.core.types import (
    Batch,
    Domain,
    Example,
    Label,
    Outcome,
    Prediction,
    Sparse,
    StepResult,
    Theorem,
    check_label,
    signs,
)
from novikoff.numerics.sizes import LARGEST_SIZE, LEAST_SIZE

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

LABEL = {y: np.array([y], dtype=np.int8) for y in (-1, 1)}
"""Array of one row for each label; read-only by convention."""


class Rows(Learner):
    """Base class for linear learners with any kind of outcome: maps features to places and plays rows.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or integers to numbers
    (core/feature_places.py).

    Args:
        bias: Value of a constant feature; 0 for none.
    """

    domain: Domain
    features: Features

    keeps_scores = True
    promises: ClassVar[tuple[Theorem, ...]]
    fields: ClassVar[tuple[Field, ...]] = (Argument("bias", float), Count("rounds"), Part("features"))

    def __init__(self, bias: float = 1.0) -> None:
        if bias != 0.0 and not LEAST_SIZE <= abs(bias) <= LARGEST_SIZE:
            raise InputError(f"a bias must be 0, or from 2^-500 to 2^500 in size: got {shown(bias)}.")
        self.domain = Domain("vector")
        self.bias = float(bias)
        self.features = Features()
        self.rounds = 0
        self.scored = None
        self._sizes, self._remedy = (LEAST_SIZE, LARGEST_SIZE), ""

    @property
    def places(self) -> int:
        """Number of rows of an array with a row per feature: the features met and the constant one."""
        return self.features.count + 1

    def _take_only(self, sizes: tuple[float, float], remedy: str) -> None:
        """Accept only numbers that are 0 or within `sizes` in absolute value; check the bias now, rows later."""
        self._sizes, self._remedy = sizes, remedy
        if self.bias != 0.0 and not sizes[0] <= abs(self.bias) <= sizes[1]:
            raise InputError(f"a bias must be 0, or {self._size_range()} in size: got {shown(self.bias)}. {remedy}")

    def _size_range(self) -> str:
        least, most = self._sizes
        return f"at most {most:.3g}" if least == LEAST_SIZE else f"from {least:.3g} to {most:.3g}"

    def _outside(self, rows: Nonzeros) -> int:
        """Return the first row with a number outside the accepted range; -1 if there is none."""
        if self._sizes == (LEAST_SIZE, LARGEST_SIZE):
            return -1
        values = np.abs(rows.values[: rows.ends[-1]])
        bad = np.flatnonzero((values < self._sizes[0]) | (values > self._sizes[1]))
        return int(np.searchsorted(rows.ends, bad[0], side="right")) - 1 if len(bad) else -1

    @abstractmethod
    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        """Play the rows."""

    @abstractmethod
    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        """Return the scores of the rows without learning."""

    @abstractmethod
    def _make_room(self, places: int) -> None:
        """Make room for `places` places, including that of the constant feature."""

    @abstractmethod
    def _predictions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return the predictions for these scores."""

    @abstractmethod
    def _outcome(self, y: object) -> NDArray[Any]:
        """Return one outcome as a batch of one row, after checking it."""

    @abstractmethod
    def _outcomes(self, batch: Batch) -> NDArray[np.generic]:
        """Return the outcomes of a batch after checking them."""

    def predict_one(self, x: Example) -> Prediction:
        predicted: Label = self._predictions(self._look(self._row(x, learn=False)))[0].item()
        return predicted

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        return self._predictions(self.scores_many(batch))

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return the score of every row, with a column per label if multiclass, without learning."""
        return self._look(self._rows(batch, learn=False))

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        outcome = self._outcome(y)
        row = self._row(x, learn=True)
        self._make_room(self.features.count + 1)
        played = self._learn(row, outcome)
        self.scored = self.scored.item() if isinstance(self.scored, np.ndarray) else self.scored
        self.rounds += 1
        return StepResult(*(None if value is None else _one(value) for value in played))

    def learn_many(self, batch: Batch) -> StepResult:
        y = self._outcomes(batch)
        rows = self._rows(batch, learn=True)
        self._make_room(self.features.count + 1)
        played = self._learn(rows, y)
        self.rounds += len(batch)
        return played

    @property
    def _scale(self) -> Scale:
        """What a score is, for explanations."""
        return "score"

    def attribution(self, x: Example) -> Attribution | None:
        """Return the score of x as the sum of weight times value, each times the shrinkage of this row."""
        rows, (places, values) = self._row(x, learn=False), entries_of(self.features.row(x, learn=False))
        constant = np.zeros(1, dtype=np.int64), np.array([self.bias])
        base, terms = self._terms(*constant), self._terms(places + 1, values)
        if base is None or terms is None:
            return None
        score = np.reshape(self._look(rows), -1)
        by = self._shrinkage(rows, score, base[0] + terms.sum(axis=0))
        return Attribution("exact", self._scale, score, base[0] * by, places, terms * by)

    def importances(self) -> Importances | None:
        own = self.linear_weights()
        return None if own is None else weight_importances(own)

    def _terms(self, places: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return weight times value (entries, outputs) of places, 0 being the constant feature; None if not linear."""
        own = self.linear_weights()
        if own is None:
            return None
        constant = own.intercepts / self.bias if self.bias else own.intercepts
        return products(np.column_stack([constant, own.weights]), places, values)

    def _shrinkage(
        self, rows: Nonzeros, score: NDArray[np.float64], linear: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        """Return the factor by which the score of the weights is played on a row, for each output.

        Args:
            rows: The row.
            score: (outputs,) score as played.
            linear: (outputs,) sum of weight times value.
        """
        return 1.0

    def _row(self, x: Example, learn: bool) -> Nonzeros:
        """Return x as a row; features of a refused row are forgotten."""
        met = self.features.met()
        row = self.features.row(x, learn)
        # `mapped` caches the last dict converted, for a caller that predicts x and then learns it.
        mapped = self.features.mapped
        if mapped is not None and mapped.row is not row:
            mapped = None
        if mapped is not None and mapped.rows is not None:  # x was predicted just before, and is now learned
            return mapped.rows
        if isinstance(row, tuple):
            found, bad = numerics.nonzeros.of_row(*row, self.bias)
        else:
            found, bad = numerics.nonzeros.of_dense(row[np.newaxis], self.bias)
        if bad >= 0:
            self.features.forget(met)
            raise InputError(f"x must be at most 2^500 in size: got {shown(x)}. Multiply the feature by a power of 2.")
        if self._outside(found) >= 0:
            self.features.forget(met)
            raise InputError(f"x must be 0, or {self._size_range()} in size: got {shown(x)}. {self._remedy}")
        if mapped is not None:
            mapped.rows = found
        return found

    def _rows(self, batch: Batch, learn: bool) -> Nonzeros:
        """Return the rows of a batch; all are checked before the first is played."""
        met = self.features.met()
        x = self.features.rows(batch, learn)
        if isinstance(x, Sparse):
            found, bad = numerics.nonzeros.of_sparse(*x.arrays, self.bias)
        else:
            found, bad = numerics.nonzeros.of_dense(np.ascontiguousarray(x, dtype=np.float64), self.bias)
        if bad >= 0:
            self.features.forget(met)
            where = f"round {batch.first + bad:,}"
            raise InputError(f"x must be finite and at most 2^500 in size: that of {where} is not. Drop the row.")
        if (bad := self._outside(found)) >= 0:
            self.features.forget(met)
            where = f"round {batch.first + bad:,}"
            raise InputError(f"x must be 0, or {self._size_range()} in size: that of {where} is not. {self._remedy}")
        return found


class ScaleFree(Rows):
    """Base class for learners that predict the sign of a score, or the score itself for regression."""

    @property
    def _scale(self) -> Scale:
        return "number" if self.task == "regression" else "score"

    def predict_one(self, x: Example) -> Prediction:
        score = self.score_one(x)
        return score if self.task == "regression" else -1 if score < 0.0 else 1

    def score_one(self, x: Example) -> float:
        return self._look(self._row(x, learn=False)).item(0)

    def _predictions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        return np.where(scores < 0.0, -1, 1).astype(np.int8) if self.task == "binary" else scores

    def _outcome(self, y: object) -> NDArray[Any]:
        if self.task == "binary":
            return np.array([check_label(y, None)], dtype=np.int8)
        try:
            value = encode.number(y)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        return self._bounded(np.array([value]), f"got {shown(y)}")

    def _outcomes(self, batch: Batch) -> NDArray[np.generic]:
        if self.task == "binary":
            return signs(batch)
        return self._bounded(encode.doubles(batch.y), f"an outcome from round {batch.first:,} on is not")

    def _bounded(self, y: NDArray[np.float64], got: str) -> NDArray[np.float64]:
        """Return numeric outcomes, or raise an error with `got` if one is outside the accepted range."""
        return y


class Probabilistic(ScaleFree):
    """Base class for learners whose scores are log-odds: P(+1) = 1/(1 + e^-z)."""

    @property
    def _scale(self) -> Scale:
        return "log-odds"

    @abstractmethod
    def _score(self, rows: Nonzeros, y: NDArray[np.int8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Learn the rows; return their scores (rows,) and those for comparators: the same, or (rows, members)."""

    def _learn(self, rows: Nonzeros, y: NDArray[np.int8]) -> StepResult:
        scores, shown = self._score(rows, y)
        self.scored, predicted = scores, self._predictions(scores)
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, probabilities=numerics.logits.chances(scores, y), scores=shown)

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        """Play one row with plain numbers: arrays of length 1 would take most of the time."""
        if type(y) is not int or y not in (1, -1):
            y = check_label(y, None)
        row = self._row(x, learn=True)
        self._make_room(self.features.count + 1)
        scores, shown = self._score(row, LABEL[y])
        score = self.scored = scores.item(0)
        self.rounds += 1
        predicted = -1 if score < 0.0 else 1
        wrong = 0.0 if predicted == y else 1.0
        chance = numerics.logits.chance(y * score)
        return StepResult(predicted, wrong, wrong, probabilities=chance, scores=score if shown is scores else shown[0])

    def probability_one(self, x: Example) -> float:
        return numerics.logits.chance(self.score_one(x))

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return P(+1) of every row without learning."""
        return self._chances(self.scores_many(batch))

    def _chances(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = numerics.logits.chances(scores, np.ones(len(scores), dtype=np.int8))
        return found


def products(
    weights: NDArray[np.float64], places: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return weight times value (entries, outputs) for weights (outputs, places); 0 for places beyond."""
    found, known = np.zeros((len(places), len(weights))), places < weights.shape[1]
    found[known] = weights[:, places[known]].T * values[known, np.newaxis]
    return found


def over(values: NDArray[np.float64], metric: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values / metric, 0 where the metric is 0: the feature was never seen."""
    found: NDArray[np.float64] = np.divide(values, metric, out=np.zeros_like(values), where=metric > 0.0)
    return found


def ratio(score: NDArray[np.float64], linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return score / linear, 1 where linear is 0: the shrinkage of a score that is played smaller than computed."""
    found: NDArray[np.float64] = np.divide(score, linear, out=np.ones_like(score), where=linear != 0.0)
    return found


def _one(value: NDArray[np.generic]) -> Any:
    return value[0].item() if value.ndim == 1 else value[0]
