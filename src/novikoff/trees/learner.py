"""Base classes of learners that play table columns: rows, outcomes and predictions for the three tasks.

A subclass has a `part` that plays stored rows (`Part` below): a growing tree, or a forest.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.attribution import Attribution, Importances, Scale
from novikoff.core.decision_tree import Node
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features, Row
from novikoff.core.labels import CountedLabels
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Array, Count, Field, Part, Sum, require
from novikoff.core.types import (
    Batch,
    Domain,
    Example,
    Outcome,
    Prediction,
    Sparse,
    State,
    StepResult,
    Task,
    check_label,
    signs,
)
from novikoff.numerics.sizes import LARGEST_SIZE
from novikoff.numerics.total import Total
from novikoff.trees._loops.layout import BINS
from novikoff.trees.columns import Columns
from novikoff.trees.paths import Steps
from novikoff.trees.store import MOST_ROWS, RowStore

MOST_LABELS = 1024
"""Largest number of labels of a tree or forest."""


class Forecaster(Protocol):
    """A part that plays the rows of a store; a forecast has k entries, one per label, or one for numbers."""

    def play(self, store: RowStore, kinds: NDArray[np.int8], first: int, stop: int) -> NDArray[np.float64]:
        """Return the forecasts (rows, k) of the stored rows first .. stop - 1, and learn each before the next."""

    def look(self, x: NDArray[np.float64], kinds: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return the forecasts (rows, k) of rows (rows, columns) without learning."""

    def add_label(self, store: RowStore, kinds: NDArray[np.int8], row: int) -> float:
        """Learn a stored row whose label is new; return the loss recorded for it."""

    def steps(self, x: NDArray[np.float64], kinds: NDArray[np.int8]) -> list[Steps]:
        """Return the path of a row (columns,) through each tree."""

    def mixed(self) -> list[Node]:
        """Return the trees, whose leaves have the forecast of the mixture of their prunings."""

    def gains(self, columns: int) -> NDArray[np.float64]:
        """Return the gain of the cuts on each column (columns,)."""

    def attach(self, store: RowStore) -> None:
        """Link the restored part to the restored store."""

    @property
    def count(self) -> int:
        """Number of nodes."""


class TableLearner(Learner):
    """Base class for learners on table columns (trees/columns.py).

    Args:
        rows: Number of last rows from which trees grow, at most 131,072.
    """

    keeps_scores = True
    domain: Domain
    features: Features
    fields: ClassVar[tuple[Field, ...]] = (
        Argument("rows", int),
        Count("rounds"),
        Part("features"),
        Part("columns"),
        Part("store"),
        Part("part"),
    )
    part: Forecaster

    def __init__(self, rows: int = MOST_ROWS) -> None:
        if type(rows) is not int or not 1 <= rows <= MOST_ROWS:
            raise InputError(f"rows must be an integer from 1 to {MOST_ROWS:,}: got {shown(rows)}.")
        self.domain = Domain("vector")
        self.rows, self.rounds, self.scored = rows, 0, None
        self.features, self.columns, self.store = Features(), Columns(), RowStore(rows)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.part.count)

    @property
    def rows_stored(self) -> int:
        """Number of stored training rows: checkpoints contain them, models saved without rows do not."""
        return self.store.count - self.store.first

    # Outcomes and predictions of the task

    @abstractmethod
    def _outcome(self, y: object) -> NDArray[Any]:
        """Return one outcome as an array of one, after checking it."""

    @abstractmethod
    def _outcomes(self, batch: Batch) -> NDArray[np.generic]:
        """Return the outcomes of a batch after checking them."""

    @abstractmethod
    def _play(self, first: int, y: NDArray[np.generic]) -> StepResult:
        """Play the rows that were stored from number `first` on."""

    @abstractmethod
    def _predictions(self, forecasts: NDArray[np.float64]) -> NDArray[Any]:
        """Return the predictions of forecasts (rows, k)."""

    # Explanations

    scale: ClassVar[Scale] = "log-odds"
    gained: ClassVar[str] = "nats gained by cuts"

    @abstractmethod
    def _score_steps(self, forecasts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores (nodes, outputs) of forecasts (nodes, k) along a path."""

    @abstractmethod
    def _learned(self, y: NDArray[np.float64]) -> NDArray[Any]:
        """Return stored outcomes as labels or numbers."""

    def attribution(self, x: Example) -> Attribution:
        """Return the score of x as the sum of the steps along its path, in the mean over all trees."""
        row = self.columns.row(self.features.row(x, learn=False))
        paths = self.part.steps(row[0], self.columns.kinds)
        scores = [self._score_steps(path.forecasts) for path in paths]
        values = np.zeros((self.columns.count, scores[0].shape[1]))
        for path, along in zip(paths, scores, strict=True):
            np.add.at(values, path.columns, np.diff(along, axis=0) / len(paths))
        base = np.sum([along[0] / len(paths) for along in scores], axis=0)
        score = self._score_steps(self._look(row))[0]
        return Attribution("path", self.scale, score, base, self.columns.places(), values)

    last_category: ClassVar[int] = BINS - 2
    """Number of the category of a cut that stands for all others."""

    def leaves(self) -> list[Node]:
        """Return the trees, whose leaves have scores; the mean over all trees is the score of a row."""
        return [self._with_scores(root) for root in self.part.mixed()]

    def _with_scores(self, node: Node) -> Node:
        if node.left is None or node.right is None:
            return replace(node, forecast=tuple(self._score_steps(np.array([node.forecast]))[0].tolist()))
        return replace(node, left=self._with_scores(node.left), right=self._with_scores(node.right))

    def importances(self) -> Importances:
        """Return the gain of the cuts on each column, at the place of its first feature."""
        values = np.zeros(self.features.count)
        values[self.columns.places()] = self.part.gains(self.columns.count)
        return Importances("gain", self.gained, values)

    def reference(self) -> Row | None:
        x = self.store.rows(self.store.first, self.store.count)[0]
        return self.columns.typical_row(x, self.features) if len(x) else None

    def last_rows(self, most: int) -> Batch | None:
        first = max(self.store.first, self.store.count - most)
        x, y = self.store.rows(first, self.store.count)
        return Batch(self.columns.examples(x, self.features), self._learned(y), first + 1) if len(y) else None

    # Rows

    def _x(self, batch: Batch, learn: bool) -> NDArray[np.float64] | Sparse:
        """Return the rows of a batch after checking all of them; features of refused rows are forgotten."""
        met = self.features.met()
        x = self.features.rows(batch, learn)
        try:
            if not isinstance(x, Sparse):
                x = np.ascontiguousarray(x, dtype=np.float64)
                finite = np.isfinite(x).all(axis=1)
                if not finite.all():
                    raise self._infinite(batch.first + int(np.argmin(finite)))
            elif not np.isfinite(x.values[x.entries]).all():
                bad = next(t for t in range(len(x)) if not np.isfinite(x.row(t)[1]).all())
                raise self._infinite(batch.first + bad)
            if learn:
                self.columns.check(x, self.encoding)
        except InputError:
            self.features.forget(met)
            raise
        return x

    def _infinite(self, where: int) -> InputError:
        return InputError(f"x must be finite: the row of round {where:,} is not. Drop it.")

    def predict_one(self, x: Example) -> Prediction:
        predicted: Prediction = self._predictions(self._look_one(x))[0].item()
        return predicted

    def _look_one(self, x: Example) -> NDArray[np.float64]:
        """Return the forecast (1, k) of one row."""
        return self._look(self.columns.row(self.features.row(x, learn=False)))

    def _look_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return the forecasts (rows, k) of a batch without learning."""
        return self._look(self.columns.rows(self._x(batch, learn=False)))

    def _look(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.part.look(x, self.columns.kinds)

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        return self._predictions(self._look_many(batch))

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        outcome, met = self._outcome(y), self.features.met()
        row = self.features.row(x, learn=True)
        try:
            columns = self.columns.learn_one(row, self.encoding)
        except InputError:
            self.features.forget(met)
            raise
        again = np.array([True]) if self.repeats else None
        self.store.add(columns, self._stored(outcome), self.columns.absent, again)
        played = self._play(self.store.count - 1, outcome)
        self.rounds += 1
        self.scored = self.scored.item() if isinstance(self.scored, np.ndarray) and self.scored.ndim == 1 else None
        return StepResult(
            *(None if value is None else value[0].item() if value.ndim == 1 else value[0] for value in played)
        )

    def learn_many(self, batch: Batch) -> StepResult:
        y, x, copies = self._outcomes(batch), self._x(batch, learn=True), batch.copies
        played: list[StepResult] = []
        scored: list[Any] = []
        start = 0
        while start < len(y) or not played:
            stop = start + self.store.together(len(y) - start)
            columns = self.columns.learn(x[start:stop], self.encoding)
            again = None if copies is None else copies[start:stop]
            self.store.add(columns, self._stored(y[start:stop]), self.columns.absent, again)
            played.append(self._play(self.store.count - (stop - start), y[start:stop]))
            scored.append(self.scored)
            self.rounds += stop - start
            start = stop
        if len(played) == 1:
            return played[0]
        self.scored = None if scored[0] is None else np.concatenate([one for one in scored if one is not None])
        return StepResult(*(None if parts[0] is None else _joined(list(parts)) for parts in zip(*played, strict=True)))

    def _stored(self, y: NDArray[np.generic]) -> NDArray[np.float64]:
        """Return outcomes as the store keeps them."""
        return y.astype(np.float64)

    def widen(self, width: int) -> None:
        """Grow to `width` features; new ones get their columns when they are learned."""
        self.features.widen(width)

    def after_restoring(self, found: State) -> None:
        known, stored = self.columns.count, self.store.width
        require(stored <= known, "stored rows must have no more columns than are known", stored)
        self.part.attach(self.store)


def _joined(parts: list[NDArray[np.generic]]) -> NDArray[np.generic]:
    """Return the rows of all parts; scores of labels that were not known yet are -inf."""
    if parts[0].ndim == 1:
        return np.concatenate(parts)
    most = max(part.shape[1] for part in parts)
    padded = [np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=-math.inf) for part in parts]
    return np.concatenate(padded)


class BinaryTableLearner(TableLearner):
    """Base class for labels -1 and +1: forecasts are the pair P(-1), P(+1)."""

    fields: ClassVar[tuple[Field, ...]] = (*TableLearner.fields, Count("positives", most="rounds"))

    def __init__(self, rows: int = MOST_ROWS) -> None:
        super().__init__(rows)
        self.positives = 0

    @property
    def entropy(self) -> float:
        """Log loss of the best constant probability in hindsight."""
        counts = (self.positives, self.rounds - self.positives)
        return math.fsum(n * math.log(self.rounds / n) for n in counts if n)

    def _outcome(self, y: object) -> NDArray[Any]:
        return np.array([check_label(y, None)], dtype=np.int8)

    def _outcomes(self, batch: Batch) -> NDArray[np.generic]:
        return signs(batch)

    def _stored(self, y: NDArray[Any]) -> NDArray[np.float64]:
        return (y > 0).astype(np.float64)

    def _learned(self, y: NDArray[np.float64]) -> NDArray[Any]:
        return np.where(y > 0.0, 1, -1).astype(np.int8)

    def _score_steps(self, forecasts: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._scores(forecasts)[:, np.newaxis]

    def _predictions(self, forecasts: NDArray[np.float64]) -> NDArray[Any]:
        return np.where(forecasts[:, 1] >= forecasts[:, 0], 1, -1).astype(np.int8)

    def _scores(self, forecasts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-odds of +1; their sign is the prediction."""
        found: NDArray[np.float64] = np.log(forecasts[:, 1] / forecasts[:, 0])
        return found

    def _play(self, first: int, y: NDArray[Any]) -> StepResult:
        forecasts = self.part.play(self.store, self.columns.kinds, first, self.store.count)
        predicted = self._predictions(forecasts)
        wrong = (predicted != y).astype(np.float64)
        scores = self.scored = self._scores(forecasts)
        self.positives += int(np.count_nonzero(y > 0))
        chances = forecasts[np.arange(len(y)), (y > 0).astype(np.int64)]
        return StepResult(predicted, wrong, wrong, probabilities=chances, scores=scores)

    def score_one(self, x: Example) -> float:
        return self._scores(self._look_one(x)).item(0)

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        return self._scores(self._look_many(batch))

    def probability_one(self, x: Example) -> float:
        return self._look_one(x).item(1)

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return P(+1) of every row without learning."""
        return self._look_many(batch)[:, 1].copy()

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        y = self.store.rows(self.store.first, self.store.count)[1]
        require(bool(((y == 0.0) | (y == 1.0)).all()), "stored labels must be 0 or 1", y[:3])


class MulticlassTableLearner(CountedLabels, TableLearner):
    """Base class for labels 0, 1, 2, ..., announced or growing: forecasts are the probability of each.

    In round t a probability of 1/t^2 is reserved for a new label unless labels are announced. The mixture is not
    charged for a round with a new label: its nodes only count the row.

    Args:
        rows: As for `TableLearner`.
        labels: Number of labels; None if new labels may appear.
    """

    task: Task = "multiclass"
    most = MOST_LABELS
    fields: ClassVar[tuple[Field, ...]] = (
        Argument("labels", int | None, at="announced"),
        *TableLearner.fields,
        Array("counts", (None,), np.int64, nonnegative=True, at="_counts"),
        Sum("novelty"),
        Count("first_rounds", most="rounds"),
    )

    def __init__(self, rows: int = MOST_ROWS, labels: int | None = None) -> None:
        super().__init__(rows)
        self._announce(labels)
        self.novelty, self.first_rounds = Total(), 0

    scale = "log probability"

    def _learned(self, y: NDArray[np.float64]) -> NDArray[Any]:
        return y.astype(np.int64)

    def _score_steps(self, forecasts: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.log(forecasts / forecasts.sum(axis=1, keepdims=True))
        return found

    def _predictions(self, forecasts: NDArray[np.float64]) -> NDArray[Any]:
        return forecasts.argmax(axis=1) if forecasts.shape[1] else np.zeros(len(forecasts), dtype=np.int64)

    def _reserved(self, rounds: NDArray[np.int64] | int) -> Any:
        """Return the probability reserved for a new label after `rounds` rounds."""
        return 1.0 / (rounds + 1.0) ** 2 if self.grows else 0.0 * rounds

    def _play(self, first: int, y: NDArray[Any]) -> StepResult:
        kinds, stop = self.columns.kinds, self.store.count
        found: list[StepResult] = []
        start = first
        while start < stop or not found:
            known = self.labels
            new = np.flatnonzero(y[start - first :] >= known)
            end = start + int(new[0]) if len(new) else stop
            if end > start or start == stop:
                part = y[start - first : end - first]
                forecasts = self.part.play(self.store, kinds, start, end) if known else np.zeros((0, 0))
                found.append(self._judged(forecasts, part, start))
                self._counts = self._counts + np.bincount(part, minlength=known)
            if end < stop:
                forecasts = self._look(self.store.x[end % len(self.store.y)][np.newaxis])
                found.append(self._judged(forecasts, y[end - first : end - first + 1], end))
                booked = self.part.add_label(self.store, kinds, end)
                self.novelty.add(-math.log(self._reserved(end)) - booked)
                self._counts = np.append(self._counts, 1)
                self.first_rounds += 1
                end += 1
            start = end
        return StepResult(*(None if parts[0] is None else _joined(list(parts)) for parts in zip(*found, strict=True)))

    def _look(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return super()._look(x) if self.labels else np.zeros((len(x), 0))

    def _judged(self, forecasts: NDArray[np.float64], y: NDArray[np.int64], first: int) -> StepResult:
        """Return the result of rounds with known labels, or of a single round with a new label."""
        predicted, rows, known = self._predictions(forecasts), np.arange(len(y)), forecasts.shape[1]
        reserved = self._reserved(np.arange(first, first + len(y)))
        chances = (1.0 - reserved)[:, None] * forecasts
        wrong = (predicted != y).astype(np.float64)
        if len(y) and y[0] >= known:
            # The known labels have 1 - reserved between them, taken as one label for the Brier score.
            observed, confidences, briers = reserved, np.full(1, math.nan), 2.0 * (1.0 - reserved) ** 2
        else:
            observed, confidences = chances[rows, y], chances[rows, predicted] if known else np.zeros(0)
            if self.grows:
                self.novelty.add_all(-np.log1p(-reserved))
            # cumsum adds from left to right whatever the number of rows, so batches do not change the score.
            everything = np.append(chances, reserved[:, None], axis=1)
            squares = np.cumsum(everything**2, axis=1)[:, -1] if len(y) else reserved
            briers = squares - observed**2 + (1.0 - observed) ** 2
        with np.errstate(divide="ignore"):
            scores = np.log(forecasts)
        return StepResult(
            predicted, wrong, wrong, probabilities=observed, scores=scores, confidences=confidences, briers=briers
        )

    def scores_one(self, x: Example) -> NDArray[np.float64]:
        """Return the score of each label: the logarithm of its probability."""
        found: NDArray[np.float64] = np.log(self._look_one(x)[0])
        return found

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return the scores of every row, with a column per label, without learning."""
        found: NDArray[np.float64] = np.log(self._look_many(batch))
        return found

    def probabilities_one(self, x: Example) -> NDArray[np.float64]:
        """Return the probability of each label; the rest is reserved for a new label."""
        found: NDArray[np.float64] = (1.0 - self._reserved(self.rounds)) * self._look_one(x)[0]
        return found

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return the probabilities of every row without learning."""
        found: NDArray[np.float64] = (1.0 - self._reserved(self.rounds)) * self._look_many(batch)
        return found

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        self._check_counts()
        y = self.store.rows(self.store.first, self.store.count)[1]
        require(bool(((y >= 0.0) & (y < self.labels) & (y == np.floor(y))).all()), "stored labels must be known", y[:3])


class NumberTableLearner(TableLearner):
    """Base class for regression with squared loss."""

    task: Task = "regression"
    loss = "squared"
    keeps_scores = False
    scale = "number"
    gained = "squared error saved by cuts"

    def _learned(self, y: NDArray[np.float64]) -> NDArray[Any]:
        return y

    def _score_steps(self, forecasts: NDArray[np.float64]) -> NDArray[np.float64]:
        return forecasts[:, :1]

    def _outcome(self, y: object) -> NDArray[Any]:
        try:
            value = encode.number(y)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        return self._bounded(np.array([value]), f"got {shown(y)}")

    def _outcomes(self, batch: Batch) -> NDArray[np.generic]:
        return self._bounded(encode.doubles(batch.y), f"an outcome from round {batch.first:,} on is not")

    def _bounded(self, y: NDArray[np.float64], got: str) -> NDArray[np.float64]:
        if y.ndim != 1 or not bool((np.abs(y) <= LARGEST_SIZE).all()):
            raise InputError(f"y must be a number from {-LARGEST_SIZE:g} to {LARGEST_SIZE:g}: {got}.")
        return y

    def _predictions(self, forecasts: NDArray[np.float64]) -> NDArray[Any]:
        return forecasts[:, 0].copy()

    def _play(self, first: int, y: NDArray[Any]) -> StepResult:
        predicted = self.part.play(self.store, self.columns.kinds, first, self.store.count)[:, 0].copy()
        losses = (predicted - y) ** 2
        return StepResult(predicted, losses, losses)

    def score_one(self, x: Example) -> float:
        return self._look_one(x).item(0)

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        return self._look_many(batch)[:, 0].copy()

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        y = self.store.rows(self.store.first, self.store.count)[1]
        require(bool((np.abs(y) <= LARGEST_SIZE).all()), "stored outcomes must be at most 2^500 in size", y[:3])
