"""Metrics: counts and sums for the error rate, AUC, log loss and related figures.

Rounds
    A `Ledger` is the `Metrics` of its rounds, which theorems count.
Weights
    In a game with weighted rows (data/tables/row_weights.py) a row of weight k is k rounds. All but the first of these
    predict a label that the learner has just seen, so rates over rounds do not measure how it predicts: with k = 7 for
    one of two labels, precision and recall of that label are near 6/7 for any learner that follows its last label.
    Therefore `WeightedMetrics` counts rows in addition to rounds: the prediction of a row's first round, with weight k.
    All rates of a ledger are computed from it.
Delayed labels
    A ledger with labels that come late is that of the game in the order of arrival, in which a prediction is made again
    when its label arrives: then earlier labels are known that were not known when it was served. Therefore
    `ServedMetrics` counts the predictions that were served, and all rates of the ledger are computed from it.
Cost
    Without weights, none. With weights, everything is counted twice.
    A few nanoseconds per round and 0.8 MB for `Ranking`; batches of any size give the same bits.
Area under the ROC curve (`Ranking`)
    The fraction of pairs of a round labelled +1 and one labelled -1 in which the first has the higher score; ties count
    half. Random scores give 1/2. The score of a round is computed before its label is observed.
    A score is counted in the bin of its sign, its power of 2 from 2^-64 to 2^64 and seven binary digits more: a bin is
    less than 1/128 of the score wide, whatever its scale. The order of two different scores in one bin is unknown, so
    the area is reported as an interval that contains it, with its midpoint.
    A NaN score is counted in the bin of the smallest positive scores: it predicts +1, as 0 does.
Calibration
    Rounds are sorted by the predicted P(+1) into ten bins, before the label is known; each has its number of rounds,
    how many of them were +1, and the sum of the predictions. A learner is calibrated if in each bin the mean
    prediction is the fraction of +1.
"""

from __future__ import annotations

import math
from array import array
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt
from novikoff.core.learner import Learner
from novikoff.core.state import MOST_ROUNDS, Stateful, Values, indices, require
from novikoff.core.state import array as saved_array
from novikoff.core.types import State, StepResult
from novikoff.game.baselines import Baselines
from novikoff.game.ledger_checks import next_mark
from novikoff.numerics.total import Total

if TYPE_CHECKING:
    from novikoff.game.coverage import Coverage

CALIBRATION_BINS = 10
"""Number of calibration bins."""


class Bin(NamedTuple):
    """A calibration bin: rounds in which P(+1) was from `low` to `high`.

    Attributes:
        low: Lower end.
        high: Upper end.
        rounds: Number of rounds.
        predicted: Mean of P(+1).
        observed: Fraction labelled +1.
    """

    low: float
    high: float
    rounds: int
    predicted: float
    observed: float


@dataclass(slots=True)
class Calibration(Stateful):
    """Counts of each calibration bin."""

    fields = (
        Values("rounds", int, CALIBRATION_BINS, 0, MOST_ROUNDS),
        Values("positives", int, CALIBRATION_BINS, 0, MOST_ROUNDS),
        Values("sums", float, CALIBRATION_BINS, 0.0, float(MOST_ROUNDS)),
    )
    described = "calibration"

    rounds: list[int] = field(default_factory=lambda: [0] * CALIBRATION_BINS)
    positives: list[int] = field(default_factory=lambda: [0] * CALIBRATION_BINS)
    sums: list[float] = field(default_factory=lambda: [0.0] * CALIBRATION_BINS)

    def write(self, chances: NDArray[np.float64], y: NDArray[np.number]) -> None:
        """Add rounds.

        Args:
            chances: (rows,) probability given to the observed label; NaN is not counted.
            y: (rows,) labels -1 and +1.
        """
        numbers = ~np.isnan(chances)
        chances, y = (chances, y) if numbers.all() else (chances[numbers], y[numbers])
        up = y == 1
        likelihood = np.where(up, chances, 1.0 - chances)
        bins = np.minimum((likelihood * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
        sums = np.array(self.sums)
        np.add.at(sums, bins, likelihood)  # in order, so that batches of any size give the same bits
        self.sums = sums.tolist()
        for counts, chosen in ((self.rounds, bins), (self.positives, bins[up])):
            counts[:] = (np.array(counts) + np.bincount(chosen, minlength=CALIBRATION_BINS)).tolist()

    def write_one(self, chance: float, y: int) -> None:
        """Add one round."""
        if chance == chance:
            likelihood = chance if y == 1 else 1.0 - chance
            k = min(int(likelihood * CALIBRATION_BINS), CALIBRATION_BINS - 1)
            self.rounds[k] += 1
            self.positives[k] += y == 1
            self.sums[k] += likelihood

    @property
    def predicted(self) -> float:
        """Sum of P(+1) over all rounds."""
        return math.fsum(self.sums)

    @property
    def error(self) -> float:
        """Expected calibration error: mean over rounds of |predicted - observed| of their bin."""
        off = math.fsum(abs(likelihood - up) for likelihood, up in zip(self.sums, self.positives, strict=True))
        return off / max(sum(self.rounds), 1)

    def table(self) -> list[Bin]:
        """Return the bins that have rounds."""
        return [
            Bin(
                k / CALIBRATION_BINS,
                (k + 1) / CALIBRATION_BINS,
                rounds,
                self.sums[k] / rounds,
                self.positives[k] / rounds,
            )
            for k, rounds in enumerate(self.rounds)
            if rounds
        ]

    def after_restoring(self, found: State) -> None:
        for name in ("positives", "sums"):
            sound = all(value <= rounds for value, rounds in zip(found[name], self.rounds, strict=True))
            require(sound, f"{name} of {self.described} must be at most the rounds of their bin", found[name])


RANKING_BINS = 2**15
"""Number of bins of scores."""


class Area(NamedTuple):
    """The area under the ROC curve.

    Attributes:
        value: Midpoint of the interval.
        low: Lower end of the interval that contains the area.
        high: Upper end of the interval.
    """

    value: float
    low: float
    high: float


@dataclass(slots=True, eq=False)
class Ranking:
    """Counts of scores by label and bin.

    Attributes:
        waiting: Scores of single rounds, buffered to be counted a few hundred at a time.
        labels: Labels of the buffered scores.
    """

    waiting: array[float] = field(default_factory=lambda: array("d"))
    labels: array[int] = field(default_factory=lambda: array("b"))
    _counts: NDArray[np.int64] | None = None
    _only: NDArray[np.float64] | None = None
    _counted: int = 0

    @property
    def rounds(self) -> int:
        """Number of rounds with a score."""
        return self._counted + len(self.waiting)

    def add(self, scores: NDArray[np.float64], y: NDArray[np.number]) -> None:
        """Add the scores of rounds."""
        from novikoff.game._loops.ranking import count

        self.settle()
        if self._counts is None or self._only is None:
            self._counts, self._only = np.zeros((RANKING_BINS, 2), dtype=np.int64), np.zeros(RANKING_BINS)
        count(scores, scores.view(np.int64), y.astype(np.int8, copy=False), self._counts, self._only)
        self._counted += len(y)

    def settle(self) -> None:
        """Count the buffered scores."""
        if self.waiting:
            scores, y = np.array(self.waiting), np.array(self.labels)
            del self.waiting[:], self.labels[:]
            self.add(scores, y)

    @property
    def positives(self) -> int:
        """Number of counted rounds labelled +1."""
        self.settle()
        return 0 if self._counts is None else int(self._counts[:, 1].sum())

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nonempty bins in order of their scores, and (bins, 2) rounds labelled -1 and +1 in each."""
        self.settle()
        if self._counts is None:
            return np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
        bins = np.flatnonzero(self._counts.any(axis=1))
        return bins, self._counts[bins]

    def less(self, before: Ranking) -> Ranking:
        """Return the counts of the rounds after those of `before`; order within a bin is unknown."""
        self.settle()
        before.settle()
        after = Ranking()
        if self._counts is not None:
            after._counts = self._counts - (0 if before._counts is None else before._counts)
            after._only = np.full(RANKING_BINS, np.nan) if before._counts is not None else self._only
            after._counted = self.rounds - before.rounds
        return after

    def area(self) -> Area | None:
        """Return the area under the ROC curve; None if only one label was observed."""
        self.settle()
        if self._counts is None or self._only is None:
            return None
        bins = np.flatnonzero(self._counts.any(axis=1))
        same = (~np.isnan(self._only[bins])).tolist()
        # `halves` counts twice the pairs in the right order plus the ties, so that it is an integer; `unknown` counts
        # the pairs within one bin whose order is not known. Python integers cannot overflow.
        below = halves = unknown = positives = 0
        for (negative, positive), alike in zip(self._counts[bins].tolist(), same, strict=True):
            halves += positive * (2 * below + (negative if alike else 0))
            unknown += 0 if alike else positive * negative
            below, positives = below + negative, positives + positive
        if not (pairs := below * positives):
            return None
        if not unknown:
            value = halves / (2 * pairs)
            return Area(value, value, value)
        low, high = Fraction(halves, 2 * pairs), Fraction(halves + 2 * unknown, 2 * pairs)
        return Area(float((low + high) / 2), max(math.nextafter(float(low), -1.0), 0.0),
                    min(math.nextafter(float(high), 2.0), 1.0))  # fmt: skip

    def state(self) -> State | None:
        """Return the nonempty bins as plain data; None if there are none."""
        self.settle()
        if self._counts is None or self._only is None or not self._counted:
            return None
        bins = np.flatnonzero(self._counts.any(axis=1))
        return {"bins": bins, "counts": self._counts[bins], "only": self._only[bins]}

    @classmethod
    def restore(cls, state: State | None) -> Ranking:
        """Return the counts with this `state`; written by hand, because only nonempty bins are saved."""
        ranking = cls()
        if state is None:
            return ranking
        bins = indices(state, "bins", None, RANKING_BINS, np.int64, "scores")
        counts = saved_array(state, "counts", (len(bins), 2), np.int64, of="scores")
        only = saved_array(state, "only", (len(bins),), finite=False, of="scores")
        sound = bool((np.diff(bins) > 0).all() and ((counts >= 0) & (counts <= MOST_ROUNDS)).all())
        require(sound, "scores must have a count in each of their bins, in order", bins)
        ranking._counts, ranking._only = np.zeros((RANKING_BINS, 2), dtype=np.int64), np.zeros(RANKING_BINS)
        ranking._counts[bins], ranking._only[bins] = counts, only
        ranking._counted = sum(counts.ravel().tolist())
        return ranking


@dataclass(eq=False, repr=False)
class Metrics:
    """Counts of predictions.

    Attributes:
        player: The learner, adapted.
        rounds: Number of rounds.
        mistakes: Number of mistakes; 0 if the loss is not zero-one.
        positives: Rounds labelled +1, for two labels.
        deterministic: Whether no prediction was drawn at random.
        impossible: Rounds whose label had probability 0.
        curve: (t, mistakes or loss after t) at every t <= 1,000, then at t, ceil(1.01 t), ...
        baselines: Losses of the non-learning baselines, and the confusion table.
        ranking: Scores by label, for the AUC.
        calibration: Predicted probabilities and observed frequencies, of a learner with probabilities.
        coverage: Counts of prediction sets, of a conformal learner.
    """

    player: Learner
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
        self.player = adapt(self.player)
        if self.player.task == "multiclass" and not self.rounds:
            self.baselines.last = 0
        if self.player.covers and self.coverage is None:
            from novikoff.game.coverage import Coverage

            self.coverage = Coverage(self.player.standing())

    @property
    def learner(self) -> Learner:
        """The learner, as the caller passed it."""
        return cast(Learner, self.player.original)

    @property
    def counts(self) -> bool:
        """Whether the loss is the number of mistakes."""
        return self.player.counts_mistakes

    @property
    def expected(self) -> float:
        """Sum over rounds of the probability of a mistake, or of the expected loss."""
        return float(self._expected)

    @property
    def loss(self) -> float:
        """Total loss; the mistakes, if each costs 1."""
        return float(self.mistakes) if self.counts else float(self._paid)

    @property
    def squares(self) -> float:
        """Sum of the squared losses of predicted numbers; 0 for other outcomes."""
        return float(self._squares)

    @property
    def log_loss(self) -> float | None:
        """Sum of -ln P(y), infinite if a label with probability 0 was observed; None without probabilities."""
        if not self.player.probable:
            return None
        return math.inf if self.impossible else float(self._log_loss)

    @property
    def brier(self) -> float | None:
        """Sum of (1 - P(y))^2; multiclass: plus the sum of P^2 of all other labels; None without probabilities."""
        return float(self._brier) if self.player.probable else None

    @property
    def absolute(self) -> float:
        """Sum of the absolute errors of predicted numbers."""
        return float(self._errors)

    @property
    def _signs(self) -> bool:
        """Whether the labels are -1 and +1."""
        return self.player.task == "binary"

    def count_batch(
        self, predictions: NDArray[np.number], y: NDArray[np.number], chances: NDArray[np.number] | None = None
    ) -> None:
        """Count predicted labels with zero-one loss; `chances` are probabilities of a mistake if the learner draws."""
        mistakes = self._count(predictions != y)
        if chances is None:
            self._expected.add(float(mistakes))
        else:
            self.deterministic = False
            self._expected.add_all(chances)
        self._tally(predictions, y)

    def count_results(self, played: StepResult, y: NDArray[np.number]) -> None:
        """Count predictions that come with losses or probabilities."""
        self.deterministic &= not self.player.draws
        if self.counts and self.player.learns_labels:
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

    def _calibrate(self, played: StepResult, y: NDArray[np.number]) -> None:
        """Add the predicted probability of +1, or for multiclass labels that of the predicted label."""
        if self._signs:
            self.calibration.write(played.probabilities, y)
        elif played.confidences is not None:
            right = played.predictions == y
            sure = np.where(right, played.confidences, 1.0 - played.confidences)
            self.calibration.write(sure, np.where(right, np.int8(1), np.int8(-1)))

    def _count(self, wrong: NDArray[np.number]) -> int:
        """Count mistakes, add points to the curve, and return the number of mistakes."""
        before = done = self.mistakes
        at = 0
        while self._next <= self.rounds + len(wrong):
            position = self._next - self.rounds
            done += int(np.count_nonzero(wrong[at:position]))
            at = position
            self._mark(self._next, done)
        self.mistakes = done + int(np.count_nonzero(wrong[at:]))
        return self.mistakes - before

    def _pay(self, losses: NDArray[np.number]) -> None:
        """Add losses, and points to the curve."""
        if self.player.task == "regression":
            self._squares.add_all(losses * losses)
        at = 0
        while self._next <= self.rounds + len(losses):
            position = self._next - self.rounds
            self._paid.add_all(losses[at:position])
            at = position
            self._mark(self._next, float(self._paid))
        self._paid.add_all(losses[at:])

    def _tally(self, predictions: NDArray[np.number], y: NDArray[np.number]) -> None:
        """Count rounds for the baselines and the confusion table; their mistakes or losses were added before."""
        self.rounds += len(y)
        self.positives += int(np.count_nonzero(y == 1)) if y.ndim == 1 and self.player.loss != "table" else 0
        if self.player.loss == "table":  # outcomes are losses: there is no constant prediction
            pass
        elif not self.counts and y.ndim == 1:
            self.baselines.sum(y)
            if self.player.task == "regression":
                self._errors.add_all(np.abs(predictions - y))
        elif y.ndim == 1:
            (self.baselines.count_signs if self._signs else self.baselines.count)(predictions, y)

    def _mark(self, t: int, paid: int | float) -> None:
        self.curve.append((t, paid))
        self._next = next_mark(t)


@dataclass(eq=False, repr=False)
class WeightedMetrics(Metrics):
    """Counts in which each row is predicted once, with its weight; `rounds` is the total weight.

    Attributes:
        rows: Rows of weight 1 or more.
    """

    rows: int = 0

    @classmethod
    def following(cls, counted: Metrics) -> Self:
        """Return weighted counts that continue those of a game, in which every row had weight 1 unless it has them."""
        same = {part.name: deepcopy(getattr(counted, part.name)) for part in fields(Metrics) if part.name != "player"}
        rows = counted.rows if isinstance(counted, WeightedMetrics) else counted.rounds
        return cls(counted.player, rows=rows, **same)

    def score(
        self, played: StepResult, y: NDArray[np.number], weights: NDArray[np.int64] | None,
        chances: NDArray[np.number] | None = None,
    ) -> None:  # fmt: skip
        """Count the rows that begin in these rounds.

        Args:
            played: Result of the rounds.
            y: Outcomes.
            weights: Weights as in `Batch`; None if every row has weight 1.
            chances: Probability of a mistake, if `played` has no losses and the learner draws.
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

    def rank(self, scores: NDArray[np.float64], y: NDArray[np.number], weights: NDArray[np.int64] | None) -> None:
        """Count the scores of the rows that begin in these rounds."""
        times = np.repeat(np.arange(len(y)), 1 if weights is None else weights)
        self.ranking.add(scores[times], np.asarray(y)[times])


class Forecast(NamedTuple):
    """What was served with a prediction.

    Attributes:
        score: Score of two labels; log-odds if the learner has probabilities. None if it has no score.
        chances: Probability of each label known then, for multiclass labels; None without them.
    """

    score: float | None = None
    chances: NDArray[np.float64] | None = None


@dataclass(eq=False, repr=False)
class ServedMetrics(WeightedMetrics):
    """Counts of the predictions that were served before their labels arrived, in the order in which these arrive.

    Prediction sets are counted on arrival, as in the ledger.

    Attributes:
        unknown: Predictions whose probability, or score, was not recorded; log loss and Brier score are then None.
    """

    unknown: int = 0

    @property
    def log_loss(self) -> float | None:
        """Sum of -ln P(y); None without probabilities, or if those of some predictions are unknown."""
        return None if self.unknown else super().log_loss

    @property
    def brier(self) -> float | None:
        """Sum of the Brier scores; None without probabilities, or if those of some predictions are unknown."""
        return None if self.unknown else super().brier

    def served(self, predictions: NDArray[np.number], y: NDArray[np.number], forecasts: list[Forecast]) -> StepResult:
        """Return the result of served predictions whose labels have arrived.

        Args:
            predictions: (rows,) served predictions; -1 for none, while no multiclass label was known.
            y: (rows,) labels.
            forecasts: What was served with each; all of them have a score or probabilities, or none has.
        """
        if not self.counts:
            costs = self.player.costs(predictions.astype(np.float64), y.astype(np.float64))
            return StepResult(predictions, costs, costs)
        wrong = (predictions != y).astype(np.float64)
        result = StepResult(predictions, wrong, wrong)
        if not self.player.probable or not forecasts:
            return result
        if self._signs and forecasts[0].score is not None:
            from novikoff.numerics import logits  # it imports the compiler

            scores = np.array([one.score for one in forecasts], dtype=np.float64)
            return result._replace(probabilities=logits.chances(scores, y.astype(np.int8)))
        if self._signs or forecasts[0].chances is None:
            return result
        known = [one.chances for one in forecasts if one.chances is not None]
        found = [_judged(*one) for one in zip(known, predictions.tolist(), y.tolist(), strict=True)]
        probabilities, confidences, briers = np.array(found).T
        return result._replace(probabilities=probabilities, confidences=confidences, briers=briers)

    def score(
        self, played: StepResult, y: NDArray[np.number], weights: NDArray[np.int64] | None,
        chances: NDArray[np.number] | None = None,
    ) -> None:  # fmt: skip
        """Count predictions; those without a probability, if the learner has them, are also counted as unknown."""
        if self.player.probable and played.probabilities is None:
            self.unknown += int(len(y) if weights is None else weights.sum())
        super().score(played._replace(sets=None), y, weights, chances)


def _judged(chances: NDArray[np.float64], predicted: int, y: int) -> tuple[float, float, float]:
    """Return P(y), P(predicted) and the Brier score; what the known labels leave is reserved for a new one."""
    reserved = max(1.0 - math.fsum(chances), 0.0)
    if y >= len(chances):
        return reserved, math.nan, 2.0 * (1.0 - reserved) ** 2
    squares = math.fsum([*(chances * chances), reserved * reserved])
    observed = float(chances[y])
    return observed, float(chances[predicted]), squares - observed**2 + (1.0 - observed) ** 2
