"""Metrics: counts and sums from which the error rate, AUC, log loss and their relatives are computed.

Rounds
    A `Ledger` is the `Metrics` of its rounds: what theorems count.
Weights
    In a game with weighted rows (data/tables/weights.py) a row of weight k is k rounds. All but the first of these
    predict a label that the learner has just seen, so rates over rounds say nothing of how it predicts: with k = 7 for
    one of two labels, precision and recall of that label are near 6/7 for any learner that follows its last label. So
    there is a second count beside that of rounds, `WeightedMetrics`: the prediction of a row's first round, k times.
    All rates of a ledger are from it.
Cost
    None without weights. With weights, the counting of a game twice.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.player import Player
from novikoff.core.types import Learner, StepResult
from novikoff.game.baselines import Baselines
from novikoff.game.calibration import Calibration
from novikoff.game.consistency import next_mark
from novikoff.game.ranking import Ranking
from novikoff.numerics.total import Total

if TYPE_CHECKING:
    from novikoff.game.coverage import Coverage


@dataclass(eq=False, repr=False)
class Metrics:
    """Counts of predictions.

    rounds, mistakes   counted by the tie rule; no mistakes where the loss is another than zero-one
    positives          rounds labelled +1 (two labels only)
    deterministic      no prediction was drawn by a coin
    impossible         rounds whose label had probability 0
    curve              (t, mistakes or loss after t) at every t <= 1,000, then at t, ceil(1.01 t), ...
    baselines          the losses of the non-learning baselines, and the confusion table
    ranking            how the scores of the rounds rank the labels
    calibration        predicted probabilities beside observed frequencies, of a learner with probabilities
    coverage           what the sets held, of a conformal learner
    """

    learner: Learner
    _: KW_ONLY
    rounds: int = 0
    mistakes: int = 0
    positives: int = 0
    deterministic: bool = True
    impossible: int = 0
    curve: list[tuple[int, int | float]] = field(default_factory=list)
    baselines: Baselines = field(default_factory=Baselines)
    ranking: Ranking = field(default_factory=Ranking)
    calibration: Calibration = field(default_factory=Calibration)
    coverage: Coverage | None = None
    _next: int = 1
    _expected: Total = field(default_factory=Total)
    _paid: Total = field(default_factory=Total)
    _log_loss: Total = field(default_factory=Total)
    _brier: Total = field(default_factory=Total)
    _errors: Total = field(default_factory=Total)
    _squares: Total = field(default_factory=Total)

    def __post_init__(self) -> None:
        self.player = Player(self.learner)
        if self.learner.labels is not None and not self.rounds:
            self.baselines.last = 0
        if self.player.covers and self.coverage is None:
            from novikoff.game.coverage import Coverage

            self.coverage = Coverage(self.player.standing())

    @property
    def counts(self) -> bool:
        """Are mistakes what the learner pays for?"""
        return self.player.counts

    @property
    def expected(self) -> float:
        """The sum over rounds of the chance of a mistake, or of the expected loss."""
        return float(self._expected)

    @property
    def loss(self) -> float:
        """What the predictions cost: the mistakes, where a mistake costs 1."""
        return float(self.mistakes) if self.counts else float(self._paid)

    @property
    def squares(self) -> float:
        """Sum of the squared losses of predicted numbers; 0 for other outcomes."""
        return float(self._squares)

    @property
    def log_loss(self) -> float | None:
        """The sum of -ln P(y), infinite if a label came that had no chance; None without probabilities."""
        if not self.player.probable:
            return None
        return math.inf if self.impossible else float(self._log_loss)

    @property
    def brier(self) -> float | None:
        """The sum of (1 - P(y))^2, of many labels that over all of (P - 1 if it came)^2; None without probabilities."""
        return float(self._brier) if self.player.probable else None

    @property
    def absolute(self) -> float:
        """The sum of the absolute errors of predicted numbers."""
        return float(self._errors)

    @property
    def _signs(self) -> bool:
        """Are the labels -1 and +1?"""
        return self.learner.labels is None and not self.player.pays

    def count_batch(self, predictions: NDArray[Any], y: NDArray[Any], chances: NDArray[Any] | None = None) -> None:
        """Count labels that cost 1 if they are wrong; `chances` of a mistake are those of a learner that draws."""
        mistakes = self._count(predictions != y)
        if chances is None:
            self._expected.add(float(mistakes))
        else:
            self.deterministic = False
            self._expected.add_all(chances)
        self._tally(predictions, y)

    def count_results(self, played: StepResult, y: NDArray[Any]) -> None:
        """Count predictions that have losses of their own, or probabilities."""
        self.deterministic &= not self.player.draws
        if self.counts and not self.player.pays:
            self._count(played.predictions != y)
        elif self.counts:
            self._count(played.losses > 0.0)
        else:
            self._pay(played.losses)
        self._expected.add_all(played.expected)
        if played.probabilities is not None:
            possible = played.probabilities[played.probabilities > 0.0]
            self.impossible += len(played.probabilities) - len(possible)
            self._log_loss.add_all(-np.log(possible))
            briers = (1.0 - played.probabilities) ** 2 if played.briers is None else played.briers
            self._brier.add_all(briers)
            self._calibrate(played, y)
        if played.sets is not None and self.coverage is not None:
            self.coverage.write(played.sets)
        self._tally(played.predictions, y)

    def _calibrate(self, played: StepResult, y: NDArray[Any]) -> None:
        """The predicted probability of +1; of many labels, that of the predicted label."""
        if self._signs:
            self.calibration.write(played.probabilities, y)
        elif played.confidences is not None:
            right = played.predictions == y
            sure = np.where(right, played.confidences, 1.0 - played.confidences)
            self.calibration.write(sure, np.where(right, np.int8(1), np.int8(-1)))

    def _count(self, wrong: NDArray[Any]) -> int:
        """Count mistakes, and mark the curve; returns their number."""
        before = done = self.mistakes
        at = 0
        while self._next <= self.rounds + len(wrong):
            position = self._next - self.rounds
            done += int(np.count_nonzero(wrong[at:position]))
            at = position
            self._mark(self._next, done)
        self.mistakes = done + int(np.count_nonzero(wrong[at:]))
        return self.mistakes - before

    def _pay(self, losses: NDArray[Any]) -> None:
        """Add up losses, and mark the curve."""
        if self.player.outcomes == "numbers":
            self._squares.add_all(losses * losses)
        at = 0
        while self._next <= self.rounds + len(losses):
            position = self._next - self.rounds
            self._paid.add_all(losses[at:position])
            at = position
            self._mark(self._next, float(self._paid))
        self._paid.add_all(losses[at:])

    def _tally(self, predictions: NDArray[Any], y: NDArray[Any]) -> None:
        """Count rounds whose mistakes or losses were added, for the baselines and the confusion table."""
        self.rounds += len(y)
        self.positives += int(np.count_nonzero(y == 1)) if y.ndim == 1 and self.player.loss != "table" else 0
        if self.player.loss == "table":  # outcomes are losses: there is nothing to predict always
            pass
        elif not self.counts and y.ndim == 1:
            self.baselines.sum(y)
            if self.player.outcomes == "numbers":
                self._errors.add_all(np.abs(predictions - y))
        elif y.ndim == 1:
            (self.baselines.count_signs if self._signs else self.baselines.count)(predictions, y)

    def _mark(self, t: int, paid: int | float) -> None:
        self.curve.append((t, paid))
        self._next = next_mark(t)


@dataclass(eq=False, repr=False)
class WeightedMetrics(Metrics):
    """Counts in which each row is predicted once, with its weight: `rounds` is their total weight.

    rows   of weight 1 or more
    """

    rows: int = 0

    @classmethod
    def following(cls, counted: Metrics) -> Self:
        """Those of a game in which every row had weight 1 so far."""
        same = {part.name: deepcopy(getattr(counted, part.name)) for part in fields(Metrics) if part.name != "learner"}
        return cls(counted.learner, rows=counted.rounds, **same)

    def score(
        self, played: StepResult, y: NDArray[Any], weights: NDArray[np.int64] | None,
        chances: NDArray[Any] | None = None,
    ) -> None:  # fmt: skip
        """Count the rows that begin in these rounds; weights None: each has weight 1.

        chances   of a mistake, where `played` has no losses
        """
        weights = np.ones(len(y), dtype=np.int64) if weights is None else weights
        self.rows += int(np.count_nonzero(weights))
        if self.counts and self.player.loss != "table" and y.ndim == 1:
            self.baselines.weigh_changes(y, weights)
        times = np.repeat(np.arange(len(y)), weights)
        if played.losses is None:
            self.count_batch(np.asarray(played.predictions)[times], y[times],
                             None if chances is None else chances[times])  # fmt: skip
            return
        parts = (None if part is None else np.asarray(part)[times] for part in played[:-1])
        self.count_results(StepResult(*parts), y[times])

    def rank(self, scores: NDArray[np.float64], y: NDArray[Any], weights: NDArray[np.int64] | None) -> None:
        """Count the scores of the rows that begin in these rounds."""
        times = np.repeat(np.arange(len(y)), 1 if weights is None else weights)
        self.ranking.add(scores[times], np.asarray(y)[times])
