"""Thresholds of a classifier with scores: precision and recall at each, and the one that predictions use.

A threshold t predicts +1 where the score is at least t. The table comes from the counts of scores by label that every
game keeps for the AUC (`Ranking` of game/metrics.py): its thresholds are the lower ends of the bins that have rows, so
scores within 1/128 of each other are not told apart. Scores were computed before the label was known. For a learner
with probabilities P(+1) = 1 / (1 + exp(-score)), and thresholds are shown as probabilities.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.learner import Predictor
from novikoff.core.state import MOST_ROUNDS, Argument, Choice, Number, Stateful, Values, require
from novikoff.core.types import Batch, Example, State
from novikoff.game._loops.ranking import DIGITS
from novikoff.game.metrics import RANKING_BINS, Ranking

if TYPE_CHECKING:
    from novikoff.core.certificate import Certificate
    from novikoff.game.ledger import Ledger

Rule = Literal["cost", "precision", "recall", "fixed"]
THRESHOLDS = RANKING_BINS + 1
"""Number of thresholds among which one may be chosen: the lower end of each bin, and infinity."""
LARGEST = sys.float_info.max
"""Largest double; integers may be larger."""


class ThresholdRow(NamedTuple):
    """What one threshold predicts on the rows of a game.

    Attributes:
        threshold: P(+1) from which on rows are positive, or the score for a learner without probabilities; infinite if
            no row is.
        score: The same as a score.
        true_positives: Positive rows at or above it (with row weights: their weight, as in all counts).
        false_positives: Negative rows at or above it.
        false_negatives: Positive rows below it.
        true_negatives: Negative rows below it.
    """

    threshold: float
    score: float
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    @property
    def precision(self) -> float | None:
        """Fraction of the positive predictions that are right; None if there are none."""
        predicted = self.true_positives + self.false_positives
        return self.true_positives / predicted if predicted else None

    @property
    def recall(self) -> float | None:
        """Fraction of the positive rows that are found; None if there are none."""
        positives = self.true_positives + self.false_negatives
        return self.true_positives / positives if positives else None

    @property
    def false_positive_rate(self) -> float | None:
        """Fraction of the negative rows that are predicted positive; None if there are none."""
        negatives = self.false_positives + self.true_negatives
        return self.false_positives / negatives if negatives else None

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.true_positives / max(2 * self.true_positives + self.false_positives + self.false_negatives, 1)

    def cost(self, fp: float = 1.0, fn: float = 1.0) -> float:
        """Return the mean cost per row, for these costs of a false positive and a false negative."""
        return (fp * self.false_positives + fn * self.false_negatives) / max(sum(self[2:]), 1)


class Thresholds(tuple[ThresholdRow, ...]):
    """Every threshold of a game, the lowest first; the last predicts no row positive."""

    __slots__ = ()

    def frame(self) -> object:
        """Return a pandas frame with one row per threshold."""
        import pyarrow as pa

        columns: dict[str, list[object]] = {name: [getattr(one, name) for one in self] for name in ThresholdRow._fields}
        columns |= {name: [getattr(one, name) for one in self] for name in ("precision", "recall", "f1")}
        try:
            return pa.table(columns).to_pandas()
        except ImportError:
            raise InputError("a frame needs pandas: it is not installed. Iterate over the rows.") from None

    def at(self, score: float) -> ThresholdRow:
        """Return the first row whose threshold is at least a score."""
        return next((one for one in self if one.score >= score), self[-1])


def lowest(bins: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the lowest score in each bin of `Ranking`; bins: (bins,) their numbers."""
    half = RANKING_BINS // 2
    sizes = np.where(bins >= half, bins - half, half - bins)  # of |score|: lower end, or upper end of a negative bin
    words = (sizes + (1023 << DIGITS) - half // 2) << (52 - DIGITS)
    ends = words.astype(np.int64).view(np.float64)
    ends = np.where(sizes == half, np.inf, ends)
    least: NDArray[np.float64] = np.where(bins >= half, ends, np.nextafter(-ends, 0.0))
    return np.where(bins == half, 0.0, np.where(bins == 0, -np.inf, least))


def rounded_down(score: float) -> float:
    """Return the lower end of the bin of a score."""
    ends = lowest(np.arange(RANKING_BINS))
    return score if score == math.inf else float(ends[np.searchsorted(ends, score, side="right") - 1])


def probability(score: float) -> float:
    """Return P(+1) of a score, in log-odds; infinity stays, for a threshold that no row reaches."""
    if math.isinf(score):
        return max(score, 0.0)
    return 1.0 / (1.0 + math.exp(-score)) if score >= 0.0 else math.exp(max(score, -745.0)) / (1.0 + math.exp(score))


def log_odds(share: float) -> float:
    """Return the score of a probability."""
    if share <= 0.0:
        return -math.inf
    return math.inf if share >= 1.0 else math.log(share) - math.log1p(-share)


def table_of(ranking: Ranking, probable: bool) -> Thresholds:
    """Return the thresholds of counted scores."""
    bins, counts = ranking.counts()
    above = np.cumsum(counts[::-1], axis=0)[::-1]  # (bins, 2) negative and positive rows at or above each bin
    negatives, positives = counts.sum(axis=0).tolist() if len(bins) else (0, 0)
    scores = [*lowest(bins).tolist(), math.inf]
    rows = []
    for score, (fp, tp) in zip(scores, [*above.tolist(), [0, 0]], strict=True):
        shown_as = probability(score) if probable else score
        rows.append(ThresholdRow(shown_as, score, tp, fp, positives - tp, negatives - fp))
    return Thresholds(rows)


def check_scores(ledger: Ledger) -> None:
    """Raise `InputError` unless predictions are two labels by the sign of a score."""
    player = ledger.player
    if player.task != "binary" or not player.scores_rows or player.draws:
        found = f"{ledger.spec or type(ledger.learner).__name__} has {player.task} predictions"
        if player.task == "binary":
            found = f"{ledger.spec or type(ledger.learner).__name__} has no scores"
        raise InputError("thresholds need a learner with scores for two labels", found, "Choose auto or logistic.")


def thresholds(ledger: Ledger) -> Thresholds:
    """Implement `Ledger.thresholds`."""
    check_scores(ledger)
    metrics = ledger.metrics
    if not ledger.rounds:
        raise InputError("thresholds need a game with at least one row: this one has none.")
    if metrics.ranking.rounds != metrics.rounds:
        raise InputError("thresholds need the score of every row: this game has rows without one.")
    return table_of(metrics.ranking, ledger.player.probable)


@dataclass(eq=False)
class Threshold(Stateful):
    """The threshold that predictions use, with its counts on the rows that it was chosen on.

    Attributes:
        rule: "cost", "precision", "recall", or "fixed" for a given threshold.
        target: Precision, recall or threshold that was asked for; None for "cost".
        score: Score from which on rows are predicted positive.
        probable: Whether scores are log-odds: `value` is then a probability.
        counts: True positives, false positives, false negatives, true negatives.
        cost_fp: Cost of a false positive.
        cost_fn: Cost of a false negative.
        delta: Probability that one of its limits may fail.
        fresh: Whether it was chosen on rows from which the learner had not learned.
        wealth: Largest wealth of the game's drift test; None if there was none.
        refuted: Whether that test refuted that the rows are independent draws.
        late: Whether labels were delayed.
        copies: Whether rows had weights.
        repeated: Whether rows were played more than once.
        single: Whether all rows are of one pass over one source.
    """

    fields = (
        Choice("rule", ("cost", "precision", "recall", "fixed"), argument=True),
        Number("target", optional=True, argument=True),
        Number("score", finite=False, argument=True),
        Argument("probable", bool),
        Values("counts", int, 4, 0, MOST_ROUNDS, argument=True),
        Number("cost_fp", 0.0, argument=True),
        Number("cost_fn", 0.0, argument=True),
        Number("delta", 5e-324, 1.0 - 2.0**-53, argument=True),
        Argument("fresh", bool),
        Number("wealth", 0.0, optional=True, argument=True),
        *(Argument(name, bool) for name in ("refuted", "late", "copies", "repeated", "single")),
    )
    described = "a threshold"

    rule: Rule
    target: float | None
    score: float
    probable: bool
    counts: list[int]
    cost_fp: float = 1.0
    cost_fn: float = 1.0
    delta: float = 0.05
    fresh: bool = False
    wealth: float | None = None
    refuted: bool = False
    late: bool = False
    copies: bool = False
    repeated: bool = False
    single: bool = True

    def __repr__(self) -> str:
        row, costs = self.row, f"FP={self.cost_fp:g}, FN={self.cost_fn:g}"
        rates = f"precision {_rate(row.precision)}, recall {_rate(row.recall)}"
        return f"<Threshold {self.value:.4g}: {rates}, cost {self.cost:.4g} per row for {costs}>"

    @property
    def value(self) -> float:
        """The threshold: P(+1) from which on rows are positive, or the score for a learner without probabilities."""
        return probability(self.score) if self.probable else self.score

    @property
    def row(self) -> ThresholdRow:
        """Its row of the table."""
        return ThresholdRow(self.value, self.score, *self.counts)

    @property
    def rows(self) -> int:
        """Number of rows that it was chosen on; their weight, if rows had weights."""
        return sum(self.counts)

    @property
    def cost(self) -> float:
        """Mean cost per row."""
        return self.row.cost(self.cost_fp, self.cost_fn)

    @property
    def constant_cost(self) -> float:
        """Mean cost per row of the better constant prediction."""
        tp, fp, fn, tn = self.counts
        return min(self.cost_fp * (fp + tn), self.cost_fn * (tp + fn)) / max(self.rows, 1)

    @property
    def certificates(self) -> list[Certificate]:
        """Limits on cost, precision and recall on new rows, which hold together with probability 1 - delta."""
        found: list[Certificate] = import_module("novikoff.online_to_batch.choose_threshold").limits(self)
        return found

    def predict(self, player: Predictor, batch: Batch) -> NDArray[np.int8]:
        """Return -1 or +1 for every row of a batch."""
        return self._signs(np.asarray(player.scores_many(batch), dtype=np.float64).reshape(-1))

    def predict_one(self, player: Predictor, x: Example) -> int:
        """Return -1 or +1 for one example, as the learner takes it."""
        return self.decide(player.score_one(x))

    def decide(self, score: float) -> int:
        """Return -1 or +1 for a score."""
        return int(self._signs(np.array([score], dtype=np.float64))[0])

    def _signs(self, scores: NDArray[np.float64]) -> NDArray[np.int8]:
        scores = np.where(np.isnan(scores), 0.0, scores)  # as in `Ranking`
        return np.where((scores >= self.score) & (self.score < np.inf), np.int8(1), np.int8(-1))

    def after_restoring(self, found: State) -> None:
        require(self.score == self.score, "the score of a threshold must be a number", self.score)


def _rate(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"


def decide(
    table: Thresholds, rule: Rule, target: float | None, cost_fp: float, cost_fn: float, probable: bool
) -> ThresholdRow:
    """Return the threshold of a rule: least cost, or the largest recall (precision) with this precision (recall).

    Of thresholds with the same cost it is the one nearest to what is right for exact probabilities, FP / (FP + FN), or
    to 0 for other scores.

    Args:
        table: All thresholds.
        rule: "cost", "precision" or "recall".
        target: Precision or recall that is required.
        cost_fp: Cost of a false positive.
        cost_fn: Cost of a false negative.
        probable: Whether scores are log-odds.
    """
    if rule == "cost":
        aim = log_odds(cost_fp / (cost_fp + cost_fn)) if probable else 0.0
        least = min(one.cost(cost_fp, cost_fn) for one in table)
        near = lambda one: abs(one.score - aim) if math.isfinite(one.score) else math.inf  # noqa: E731
        return min((one for one in table if one.cost(cost_fp, cost_fn) == least), key=near)
    assert target is not None
    rates = [one.precision if rule == "precision" else one.recall for one in table]
    found = [one for one, rate in zip(table, rates, strict=True) if rate is not None and rate >= target]
    if not found:
        best = max((rate for rate in rates if rate is not None), default=0.0)
        raise InputError(f"no threshold has a {rule} of {target:g} on these rows", f"the largest is {best:.4g}")
    if rule == "recall":
        return max(found, key=lambda one: (one.precision or 0.0, one.score))
    return max(found, key=lambda one: (one.recall or 0.0, one.precision or 0.0, -one.score))


def check_rule(
    cost: object, precision: object, recall: object, threshold: object
) -> tuple[Rule, float | None, float, float]:
    """Return rule, target, and costs of a false positive and a false negative; raise `InputError` if they are wrong."""
    targets = {"precision": precision, "recall": recall}
    given = [name for name, value in {**targets, "threshold": threshold}.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"{given[0]} and {given[1]} cannot be combined: leave one of them out.")
    fp, fn = (1.0, 1.0) if cost is None else check_costs(cost)
    for name, target in targets.items():
        if target is not None:
            if isinstance(target, bool) or not isinstance(target, (int, float)) or not 0.0 < target <= 1.0:
                raise InputError(f"{name} must be above 0 and at most 1: got {shown(target)}.")
            return ("precision" if name == "precision" else "recall"), float(target), fp, fn
    if threshold is not None:
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not abs(threshold) <= LARGEST:
            raise InputError(f"threshold must be a finite number: got {shown(threshold)}. 0.5 is usual.")
        return "fixed", float(threshold), fp, fn
    if cost is None:
        do = 'Pass cost={"FP": 1, "FN": 5}, precision=0.95, recall=0.9 or threshold=0.3.'
        raise InputError("a threshold needs a rule", "got none", do)
    return "cost", None, fp, fn


def check_probability(threshold: float) -> None:
    """Raise `InputError` unless a threshold is a probability."""
    if not 0.0 <= threshold <= 1.0:
        raise InputError(f"a threshold of probabilities must be from 0 to 1: got {threshold:g}. 0.5 is usual.")


def check_costs(cost: object) -> tuple[float, float]:
    """Return the costs of a false positive and of a false negative."""
    do = 'Write {"FP": 1, "FN": 5}.'
    if not isinstance(cost, Mapping) or {str(name).upper() for name in cost} != {"FP", "FN"}:
        raise InputError("costs must be those of FP, a false positive, and FN, a false negative", f"got {shown(cost)}",
                         do)  # fmt: skip
    values = {str(name).upper(): value for name, value in cost.items()}
    for value in values.values():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value <= LARGEST:
            raise InputError("costs must be positive numbers", f"got {shown(value)}", do)
    return float(values["FP"]), float(values["FN"])
