"""Multiclass auto: the learner to start with. No parameter, no scaling, rows and tables of any kind.

Algorithm
    Inputs, each a separate forecaster that gives every known label a probability:
        the linear mixture (mixtures/multiclass_linear_mixture.py)
        boosted trees (trees/boosting.py) after 15, 30 and 60 boosting rounds, and a forest of 20 trees
        (trees/regrown.py)
        forests of 5 trees on the last 500 and the last 2,000 rows, which also use lags: the two previous labels
        the frequencies of the labels, those of recent rounds most: exponential means of rates 0.5, 0.1 and 0.02
    Stacks: softmax regressions with one weight per input (mixtures/stacks.py): one on the first five inputs, and one
    on all inputs that forgets 0.2 % of the past per round. P is a mixture of inputs and stacks by fixed share of rate
    1/(t+1) (mixtures/tops.py), which starts with the linear mixture alone; the first stack joins after 32 rounds, all
    others after 128. Predict the label with the largest P. `drift=false`, for streams that do not change: no window,
    one stack, a Bayes mixture, in which all play from the start.
    If labels are not announced, part of P is reserved for a new one: its probability if labels were drawn at random
    from an unknown number of them, and at least 1/(4 t^2) in round t (mixtures/_loops/new_labels.py).
    Trees use the columns of a table as they are: numbers, categories, missing values. Rows of more than 256 columns,
    text and hashed rows, and more than 32 announced labels are played by the linear mixture alone, as with `fast`;
    trees are not fitted to more than 32 labels. `bias` c adds a constant feature of value c to linear members. `seed`
    draws random features, bags and columns.
Promise
    mixtures/theorems/switching_regret.py: log loss at most that of every way of following one forecaster at a time and
    changing between them, plus its price. With `drift=false` mixtures/theorems/mixture_regret.py: at most that of each
    forecaster, plus ln of 1 over its prior. For the linear mixture alone:
    mixtures/theorems/multiclass_linear_mixture_regret.py and multiclass_linear_mixture_members.py.
Cost
    That of the linear mixture and about 30 microseconds per row and label for the trees of 20 columns.
Reference
    [herbster1998] for the mixture; those of the members.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.tracker import Tracker
from novikoff.core.errors import POSITIVE, Advice, InputError
from novikoff.core.state import Part, Parts
from novikoff.core.types import Batch, Example, Outcome, Prediction, StepResult, Theorem
from novikoff.mixtures import _loops
from novikoff.mixtures.multiclass_linear_mixture import MulticlassLinearMixture
from novikoff.mixtures.stacks import PREVIOUS, RATES, RecentLabels, SoftmaxStack
from novikoff.mixtures.theorems.mixture_regret import mixture_regret
from novikoff.mixtures.theorems.multiclass_linear_mixture_members import multiclass_linear_mixture_members
from novikoff.mixtures.theorems.multiclass_linear_mixture_regret import (
    MulticlassLinearMixtureFacts,
    multiclass_linear_mixture_regret,
)
from novikoff.mixtures.theorems.switching_regret import switching_regret
from novikoff.mixtures.top_tracker import BayesTracker, SwitchingTracker
from novikoff.mixtures.tops import BayesTop, FixedShareTop
from novikoff.mixtures.with_trees import AutoTracker, Vector, WithTrees, checked_drift, joins_of, rehearsed
from novikoff.trees.boosting import MANY_LABELS, MOST_OUTPUTS, BoostedTrees
from novikoff.trees.regrown import RegrownForest

WINDOWS = (500, 2000)
"""Numbers of last rows of the forests that follow drift."""
PLAIN = ("linear mixture", "boosted trees 15", "boosted trees 30", "boosted trees 60", "forest")
"""Names of the inputs of the first stack, which use no window."""
ADAPTING = (
    *(f"forest, last {rows:,} rows" for rows in WINDOWS),
    *(f"recent labels, weight {rate:g}" for rate in RATES),
)
"""Names of the inputs that follow drift."""
STACKS = ("stack", "stack forgetting 0.2 %")
"""Names of the stacks."""
PRIOR = (0.4, *[0.1 / 9] * 9, 0.4, 0.1)
"""Prior of the forecasters: short streams are best played by the linear mixture."""
PLAIN_PRIOR = (0.4, *[0.1 / 4] * 4, 0.5)
"""The same with drift=False."""
JOINS = joins_of(len(STACKS), len(PLAIN) + len(ADAPTING) - 1)
"""Numbers of rounds after which the forecasters join."""
CENTRE = (0.5, 1 / 12, 1 / 12, 1 / 12, 0.25)
"""Initial weights of the first stack."""
WIDE_CENTRE = (0.4, 1 / 15, 1 / 15, 1 / 15, 0.2, 0.1, 0.1, 0.0, 0.0, 0.0)
"""Initial weights of the stack on all inputs."""
LEAST = 1e-12
"""Smallest probability that a forecaster gives to a known label."""


class MulticlassAuto(WithTrees, MulticlassLinearMixture):
    """Multiclass classifier without parameters: linear learners, trees and stacks on them, mixed by fixed share.

    Args:
        fast: Whether to play two linear members only.
        seed: Seed of random features, bags and columns.
        bias: Value of a constant feature of linear members; 0 for none.
        labels: Number of labels, if known in advance.
        drift: None to adapt to changes; False if the stream does not change.

    Guarantee:
        Log loss at most that of every way of following one of its forecasters at a time and changing between them,
        plus a price of about ln(rounds) per change (`switching_regret`). With drift=False, at most that of each of its
        forecasters plus ln of 1 over its prior (`mixture_regret`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 1.0], 2)] * 4
        >>> nk.play(nk.MulticlassAuto(), rows).mistakes
        3
    """

    promises: ClassVar[tuple[Theorem, ...]] = (
        switching_regret,
        mixture_regret,
        multiclass_linear_mixture_regret,
        multiclass_linear_mixture_members,
    )
    rehearsals = rehearsed("forest", "boosted_trees_of_labels", "stacks_of_labels", "top_of_labels")
    fields = (
        *MulticlassLinearMixture.fields,
        *WithTrees.tree_fields,
        Part("recent", at="_recent", when="full"),
        Part("boosted", at="_boosted", when="full"),
        Parts("forests", at="_forests", when="full"),
        Parts("stacks", at="_stacks", when="full"),
        Part("top", at="_top", when="full"),
    )

    def __init__(
        self, fast: bool = False, seed: int = 0, bias: float = 1.0, labels: int | None = None, drift: bool | None = None
    ) -> None:
        super().__init__(fast, seed, bias, labels)
        self.drift = checked_drift(drift)
        if self.drift:
            advice = Advice("Leave drift out: auto adapts to changes by itself. Or: ", POSITIVE)
            raise InputError("drift=true needs two labels", "MulticlassAuto takes many", advice)
        self._prepare(False if self.fast or (labels or 0) > MOST_OUTPUTS else None)
        self._before = self.labels
        """Labels known before the rows that are being played."""

    def _create(self) -> None:
        known, seed = max(self.announced or 0, 1), self.seed
        self._recent = RecentLabels()
        self._boosted = BoostedTrees(MANY_LABELS, seed, PREVIOUS)
        self._forests = [RegrownForest(known, 20, seed, PREVIOUS, tried="root")]
        self._stacks = [SoftmaxStack(CENTRE, known)]
        if self.drift is False:
            self._top = BayesTop(PLAIN_PRIOR)
            return
        self._forests += [RegrownForest(known, 5, seed, window=rows, tried="root") for rows in WINDOWS]
        self._stacks += [SoftmaxStack(WIDE_CENTRE, known, 0.998)]
        self._top = FixedShareTop(PRIOR, JOINS)

    def _resume(self) -> None:
        self._boosted.resume(self.stored)
        for forest in self._forests:
            forest.resume(self.stored)

    @property
    def size(self) -> int:
        """Number of forecasters awake."""
        return len(self.forecasters) if self.full else super().size

    @property
    def forecasters(self) -> list[str]:
        """Names of the forecasters on top, if trees play."""
        return [*PLAIN, *STACKS[:1]] if self.drift is False else [*PLAIN, *ADAPTING, *STACKS]

    def learn_many(self, batch: Batch) -> StepResult:
        self._before = self.labels
        return super().learn_many(batch)

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        self._before = self.labels
        return super().play_one(x, y)

    def _forecast(self, played: StepResult) -> Vector:
        return self.mixes

    def _mixed(
        self, x: Vector, kinds: NDArray[np.int8], y: NDArray[np.int64], linear: Vector, copies: Vector | None,
        again: NDArray[np.bool_] | None,
    ) -> StepResult:  # fmt: skip
        first = self.stored.count
        absent = np.append(np.full(PREVIOUS, np.nan), self.columns.absent[: len(kinds)])
        self.stored.add(np.hstack([self._recent.columns(y, again), x]), y.astype(np.float64), absent, again)
        known = np.maximum.accumulate(np.append(self._before, y[:-1] + 1))
        self._before = max(self._before, int(y.max()) + 1)
        scores = np.full((len(y), len(self.forecasters) + 1, self._before), -np.inf)
        reserved: Vector = np.zeros(len(y))
        if self.grows:
            _loops.new_labels.reserve(first, known, reserved)
        start = 0
        while start < len(y):
            labels = int(known[start])
            stop = start + int(np.searchsorted(known[start:], labels, "right"))
            if y[stop - 1] == labels and stop - start > 1:
                stop -= 1  # a row with a new label is played alone
            here = slice(start, stop)
            repeated = None if again is None else again[here]
            self._play_labels(kinds, y[here], linear[here, :labels], reserved[here], scores[here], repeated)
            start = stop
        return self._result(y, known, reserved, scores)

    def _play_labels(
        self, kinds: NDArray[np.int8], y: NDArray[np.int64], linear: Vector, reserved: Vector, scores: Vector,
        again: NDArray[np.bool_] | None,
    ) -> None:  # fmt: skip
        """Play rows whose labels are known, or one row with a new label.

        Args:
            kinds: (columns,) Kinds of the columns.
            y: (rows,) Labels.
            linear: (rows, k) P of the linear mixture over the known labels.
            reserved: (rows,) Probability reserved for a new label.
            scores: (rows, forecasters + 1, labels) Out: ln P of all forecasters and of the mixture.
            again: (rows,) Whether each round is another round of the row before it; None for none.
        """
        count, known = len(y), linear.shape[1]
        new = int(y[0]) == known
        if new and known > 0:
            row = self.stored.rows(self._boosted.rounds, self._boosted.rounds + 1)[0]
            forests = [forest.look(row) for forest in self._forests]
            for forest, some in zip(self._forests, self._views(kinds), strict=True):
                forest.add_label()
                forest.play(self.stored, 1, some)
        else:
            forests = [
                forest.play(self.stored, count, some)
                for forest, some in zip(self._forests, self._views(kinds), strict=True)
            ]
        boosted = self._boosted.play(self.stored, count, kinds, max(known, 1))
        recent = self._recent.play(y, max(known, 1), again)
        inputs = _logs(linear if known else np.ones((1, 1)), boosted, forests, self._adapting(recent))
        if new and known > 0:
            stacks = [stack.look(inputs[:, : len(stack.centre)]) for stack in self._stacks]
            # The stacks learn the row as if its label had been announced, with probability 1/(known + 1).
            wider = np.pad(
                inputs - np.log1p(1.0 / known), ((0, 0), (0, 0), (0, 1)), constant_values=-np.log(known + 1.0)
            )
            for stack in self._stacks:
                stack.play(wider[:, : len(stack.centre)], y)
        else:
            stacks = [stack.play(inputs[:, : len(stack.centre)], y) for stack in self._stacks]
        with np.errstate(divide="ignore"):
            logs = np.concatenate([inputs, np.stack(stacks, axis=1)], axis=1) + np.log1p(-reserved)[:, None, None]
            if new:
                logs = np.pad(logs[:, :, :known], ((0, 0), (0, 0), (0, 1)), constant_values=np.log(reserved[0]))
        played = self._top.play_labels(logs, y)
        scores[:, :-1, : logs.shape[2]], scores[:, -1, : logs.shape[2]] = logs, played

    def _views(self, kinds: NDArray[np.int8]) -> list[NDArray[np.int8]]:
        """Return the kinds of the columns of each forest: those on recent rows use the previous labels too."""
        return [kinds, *[np.append(np.ones(PREVIOUS, np.int8), kinds)] * (len(self._forests) - 1)]

    def _adapting(self, recent: Vector) -> Vector:
        """Return the frequencies (rows, rates, labels) that are inputs: none with drift=False."""
        return recent if self.drift is None else recent[:, :0]

    def _result(self, y: NDArray[np.int64], known: NDArray[np.int64], reserved: Vector, scores: Vector) -> StepResult:
        """Return the result of rows; the probability of a new label is the one reserved for it."""
        rows, new = np.arange(len(y)), y >= known
        chances = np.exp(scores[:, -1])
        observed = chances[rows, y]
        chances[rows[new], y[new]] = 0.0
        predicted = chances.argmax(axis=1)
        wrong = (predicted != y).astype(np.float64)
        squares = np.cumsum(np.append(chances, reserved[:, None], axis=1) ** 2, axis=1)[:, -1]
        briers = np.where(new, 2.0 * (1.0 - reserved) ** 2, squares - observed**2 + (1.0 - observed) ** 2)
        confidences = np.where(new, np.nan, chances[rows, predicted])
        return StepResult(
            predicted, wrong, wrong, probabilities=observed, scores=scores, confidences=confidences, briers=briers
        )  # fmt: skip

    def _judged(self, played: StepResult, *given: object) -> tuple[Vector, Vector]:
        return played.confidences, played.briers

    def _looked(self, x: Vector, linear: Vector) -> Vector:
        """Return P (rows, labels) of columns x, given P of the linear mixture, without learning."""
        labels = linear.shape[1]
        rows, recent = np.hstack([self._recent.columns_ahead(len(x)), x]), self._recent.look(len(x), labels)
        forests = [forest.look(rows) for forest in self._forests]
        logs = _logs(linear, self._boosted.look(rows, labels), forests, self._adapting(recent))
        found: Vector = np.exp(self._combined(logs))
        return found

    def _combined(self, inputs: Vector) -> Vector:
        """Return ln P (rows, labels) of inputs (rows, inputs, labels), without learning."""
        stacks = [stack.look(inputs[:, : len(stack.centre)]) for stack in self._stacks]
        found: Vector = self._top.look_labels(np.concatenate([inputs, np.stack(stacks, axis=1)], axis=1))
        return found

    def _influences(self) -> tuple[float, list[tuple[float, Vector]]]:
        step, count, labels = 0.1, self.columns.count, self.labels
        prefixes, inputs = len(MANY_LABELS.prefixes), len(self.forecasters) - len(self._stacks)
        logs = np.full((1 + inputs, inputs, labels), -np.log(labels))
        logs[np.arange(1, 1 + inputs), np.arange(inputs), 0] += step
        found = self._combined(logs)[:, 0]
        each = np.abs(found[1:] - found[0]) / step
        trees = [(float(each[1 : 1 + prefixes].sum()), self._boosted.gains(count))]
        for one, forest in zip(each[1 + prefixes :].tolist(), self._forests, strict=False):
            lags = PREVIOUS - forest.skipped
            trees.append((one, forest.gains(lags + count)[lags:]))
        return float(each[0]), trees

    leading = PREVIOUS

    @property
    def _stored_labels(self) -> int:
        return self.labels

    def _as_outcomes(self, y: Vector) -> NDArray[np.int64]:
        return y.astype(np.int64)

    def scores_many(self, batch: Batch) -> Vector:
        scores = super().scores_many(batch)
        return self._looked(self._columns_of(batch), scores) if self.full and self.rounds else scores

    def scores_one(self, x: Example) -> Vector:
        scores = super().scores_one(x)
        return self._looked(self._columns_of(x), scores[None])[0] if self.full and self.rounds else scores

    def predict_one(self, x: Example) -> Prediction:
        label: int = self._predictions(self.scores_one(x)[None])[0].item()
        return label

    def probabilities_one(self, x: Example) -> Vector:
        return self._unreserved * self.scores_one(x)

    def probabilities_many(self, batch: Batch) -> Vector:
        return self._unreserved * self.scores_many(batch)

    @property
    def _unreserved(self) -> float:
        """Probability of the known labels together."""
        if not self.grows:
            return 1.0
        if not self.full:
            return 1.0 - 1.0 / (self.rounds + 1.0) ** 2
        reserved = np.empty(1)
        _loops.new_labels.reserve(self.rounds, np.array([self.labels], np.int64), reserved)
        return 1.0 - reserved.item(0)

    def tracker(self) -> Tracker:
        """Return a recorder of forecasts, or the comparators of the linear mixture, for a game that starts now."""
        top = BayesTracker(PLAIN_PRIOR) if self.drift is False else SwitchingTracker(PRIOR, JOINS)
        return AutoTracker(super().tracker(), top, len(self.forecasters) + 1)

    def facts(self) -> MulticlassLinearMixtureFacts:
        """Return the facts for the theorems of the linear mixture; the theorem of the whole uses its tracker's."""
        facts = super().facts()
        return replace(facts, names=[]) if self.full else facts


def _logs(linear: Vector, boosted: Vector, forests: list[Vector], recent: Vector) -> Vector:
    """Return ln P of the inputs (rows, inputs, labels).

    Args:
        linear: (rows, labels) P of the linear mixture.
        boosted: (rows, prefixes, labels) Scores of boosted trees.
        forests: (rows, labels) ln P of each forest.
        recent: (rows, rates, labels) Frequencies of recent labels.
    """
    boosted = boosted - boosted.max(axis=2, keepdims=True)
    boosted = boosted - np.log(np.exp(boosted).sum(axis=2, keepdims=True))
    first = np.log(np.maximum(linear, LEAST))
    return np.concatenate([first[:, None], boosted, *(forest[:, None] for forest in forests), np.log(recent)], axis=1)
