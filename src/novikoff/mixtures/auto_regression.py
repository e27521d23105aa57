"""Auto for regression: `auto` where outcomes are numbers. No parameter, no scaling.

Algorithm
    Inputs, each a separate forecaster, clipped to the range of the earlier outcomes:
        the linear mixture (mixtures/linear_mixture_regression.py)
        boosted trees (trees/boosting.py) after 25, 50 and 100 boosting rounds; boosted trees on the residuals of the
        linear mixture, after 20 and 60 boosting rounds
        boosted trees after 100 rounds, and on residuals after 20 and 60, which also use lags: the previous outcome, and
        exponential means of earlier outcomes
        the same after 30 rounds on the last 500 and on the last 2,000 rows, and on the residuals of the last 1,000
        a forest of 5 trees (trees/forest_regression.py)
        a tree that corrects the boosted trees after 100 rounds (trees/residual.py), from the second row on
        the previous outcome
    Stacks: four Vovk-Azoury-Warmuth forecasters on the inputs (mixtures/stacks.py), around their mean or around the
    linear mixture, two of which forget 1 % of the past per round. The prediction is the mean of the linear mixture, the
    last outcome and the stacks by AdaHedge (mixtures/tops.py). `drift=false`, for streams that do not change: no stack
    that forgets.
    Trees use the columns of a table as they are: numbers, categories, missing values. Rows of more than 256 columns,
    text and hashed rows are played by the linear mixture alone. `bias` c adds a constant feature of value c to linear
    members. `seed` draws random features, rows and columns.
Promise
    mixtures/theorems/numbers_regret.py: squared loss at most that of each forecaster plus twice the measured mixability
    gaps. For the linear mixture alone: mixtures/theorems/linear_mixture_regression_regret.py.
Cost
    About 200 microseconds per row of 10 columns, refits included; their work is spread over rounds.
Reference
    [derooij2014] for AdaHedge; those of the members.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.tracker import Tracker
from novikoff.core.errors import InputError
from novikoff.core.state import Array, Part, Parts
from novikoff.core.types import Batch, Example, StepResult, Theorem
from novikoff.mixtures.linear_mixture_regression import LinearMixtureRegression
from novikoff.mixtures.stacks import Lags, NumberStack
from novikoff.mixtures.theorems.linear_mixture_regression_regret import (
    LinearMixtureRegressionFacts,
    linear_mixture_regression_regret,
)
from novikoff.mixtures.theorems.numbers_regret import numbers_regret
from novikoff.mixtures.top_tracker import NumbersTracker
from novikoff.mixtures.tops import AdaHedgeTop
from novikoff.mixtures.with_trees import AutoTracker, Vector, WithTrees, checked_drift, rehearsed
from novikoff.trees.boosting import NUMBERS, RESIDUALS, WINDOW, BoostedTrees, Boosting
from novikoff.trees.forest_regression import RegrownNumbers
from novikoff.trees.residual import ResidualTree

LAGS = 4
"""Number of lag columns, stored after column 0, the linear mixture's prediction."""
LAST = NUMBERS.prefixes[-1:]
"""Number of boosting rounds of the trees with lags."""
WINDOWS, WINDOW_OF_RESIDUALS = (500, 2000), 1000
"""Numbers of last rows of the trees that follow drift, and of those on residuals."""
TREES = 5
"""Trees of the forest."""
CORRECTED = 3
"""Input that the tree corrects: boosted trees after 100 rounds."""
INPUTS = 15
"""Number of inputs."""
PLAIN = ("linear mixture", "last outcome", "stack", "stack around the linear mixture")
"""Names of the forecasters with `drift=false`."""
ADAPTING = ("stack forgetting 1 %", "stack around the linear mixture, forgetting 1 %")
"""Names of the further forecasters, which follow drift."""
MEAN = (1.0 / INPUTS,) * INPUTS
"""Centre of a stack: the mean of the inputs."""
HALF = (0.5, *[0.5 / (INPUTS - 1)] * (INPUTS - 1))
"""Centre of a stack around the linear mixture, which has half of the weight."""


def _recent(settings: Boosting, rows: int) -> Boosting:
    """Return constants for boosted trees on the last rows: those of two labels where they do not depend on the loss."""
    rounds = WINDOW.rounds
    return replace(
        settings, rounds=rounds, leaves=WINDOW.leaves, rate=WINDOW.rate, prefixes=(rounds,), window=rows
    )  # fmt: skip


class AutoRegression(WithTrees, LinearMixtureRegression):
    """Regression learner without parameters: linear learners, boosted trees and stacks on them, mixed by AdaHedge.

    Args:
        seed: Seed of random features, rows and columns.
        bias: Value of a constant feature of linear members; 0 for none.
        drift: None to adapt to changes; False if the stream does not change.

    Guarantee:
        Squared loss at most that of each of its forecasters plus twice the measured mixability gaps
        (`numbers_regret`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.AutoRegression()
        >>> ledger = nk.play(learner, [([float(t)], 2.0 * t) for t in range(20)])
        >>> print(round(learner.predict_one([20.0])))
        38
    """

    promises: ClassVar[tuple[Theorem, ...]] = (
        numbers_regret,
        linear_mixture_regression_regret,
    )
    rehearsals = rehearsed(
        "boosted_trees_of_numbers", "forest_of_numbers", "correction_of_numbers", "stacks_of_numbers", "top_of_numbers"
    )
    fields = (
        *LinearMixtureRegression.fields,
        *WithTrees.tree_fields,
        Part("lags", at="_lags", when="full"),
        Parts("boosted", at="_boosted", when="full"),
        Part("forest", at="_forest", when="full"),
        Part("corrector", at="_corrector", when="full"),
        Parts("stacks", at="_stacks", when="full"),
        Part("top", at="_top", when="full"),
        Array("span", (3,), at="_span", when="full"),
    )

    def __init__(self, seed: int = 0, bias: float = 1.0, drift: bool | None = None) -> None:
        super().__init__(seed, bias)
        self.drift = checked_drift(drift)
        if self.drift:
            raise InputError(
                "drift=true needs two labels, not numbers. Leave it out: auto adapts to changes by itself."
            )
        self._prepare(None)

    def _create(self) -> None:
        seed = self.seed
        self._lags = Lags(None)
        self._boosted = [
            BoostedTrees(NUMBERS, seed, 1 + LAGS), BoostedTrees(RESIDUALS, seed, 1 + LAGS, 0),
            BoostedTrees(replace(NUMBERS, prefixes=LAST), seed, 1), BoostedTrees(RESIDUALS, seed, 1, 0),
            *(BoostedTrees(_recent(NUMBERS, rows), seed, 1) for rows in WINDOWS),
            BoostedTrees(_recent(RESIDUALS, WINDOW_OF_RESIDUALS), seed, 1, 0),
        ]  # fmt: skip
        self._forest = RegrownNumbers(TREES, seed, 1 + LAGS)
        self._corrector = ResidualTree("numbers")
        self._stacks = [NumberStack(MEAN, 0.1), NumberStack(HALF, 10.0)]
        if self.drift is not False:
            self._stacks += [NumberStack(MEAN, 1.0, 0.99), NumberStack(HALF, 10.0, 0.99)]
        self._top = AdaHedgeTop(self._prior)
        self._span = np.zeros(3)
        """Smallest, largest and last outcome; 0 before the first."""

    def _resume(self) -> None:
        for trees in self._boosted:
            trees.resume(self.stored)
        self._forest.attach(self.stored)
        self._corrector.attach(self.stored)

    @property
    def forecasters(self) -> list[str]:
        """Names of the forecasters on top, if trees play."""
        return [*PLAIN, *(() if self.drift is False else ADAPTING)]

    @property
    def _prior(self) -> list[float]:
        """Prior of the forecasters."""
        return [1.0 / len(self.forecasters)] * len(self.forecasters)

    def _forecast(self, played: StepResult) -> Vector:
        return np.asarray(played.predictions, np.float64)

    def _mixed(
        self, x: Vector, kinds: NDArray[np.int8], y: Vector, linear: Vector, copies: Vector | None,
        again: NDArray[np.bool_] | None,
    ) -> StepResult:  # fmt: skip
        count, first = len(y), self.stored.count == 0
        lags = self._lags.columns(y, again)
        absent = np.append(np.zeros(1 + LAGS), self.columns.absent[: len(kinds)])
        self.stored.add(np.hstack([linear[:, None], lags, x]), y, absent, again)
        wide, stop = np.append(np.zeros(LAGS, np.int8), kinds), self.stored.count
        boosted = [part.play(self.stored, count, wide if part.skipped == 1 else kinds) for part in self._boosted]
        forest = self._forest.play(self.stored, kinds, stop - count, stop)[:, 0]
        least, most = self._span[:2] if not first else (y[0], y[0])
        low = np.minimum.accumulate(np.append(least, y[:-1]))
        high = np.maximum.accumulate(np.append(most, y[:-1]))
        inputs = _inputs(linear, boosted, forest, lags[:, 0], low, high)
        base = inputs[:, CORRECTED].copy()  # in the first row clipped to its outcome: there is nothing to correct
        corrected = self._corrector.correct(self.stored, self._all_kinds(kinds), stop - count, stop, base)
        inputs[:, -2] = np.clip(np.where(np.isfinite(corrected), corrected, base), low, high)
        if first:
            inputs[0] = 0.0  # no outcome is known
        stacks = [stack.play(inputs, y) for stack in self._stacks]
        forecasts = np.column_stack([inputs[:, 0], inputs[:, -1], *stacks])
        predicted = self._top.play(forecasts, y)
        self._span = np.array([min(low[-1], y[-1]), max(high[-1], y[-1]), y[-1]])
        losses = (predicted - y) ** 2
        return StepResult(predicted, losses, losses, scores=np.column_stack([forecasts, predicted]))

    def _looked(self, x: Vector, linear: Vector, ahead: bool = False) -> Vector:
        """Return the predictions (rows,) for columns x and predictions of the linear mixture, without learning.

        Args:
            x: Columns.
            linear: Predictions of the linear mixture.
            ahead: Whether several rows are predicted before any of their outcomes: then the slowest mean replaces all
                lags, and the linear mixture's prediction the previous outcome.
        """
        lags = self._lags.look(len(x))
        if ahead:
            lags = np.repeat(lags[:, -1:], LAGS, axis=1)
        rows = np.hstack([linear[:, None], lags, x])
        boosted, forest = [part.look(rows) for part in self._boosted], self._forest.look(rows, self._forest.kinds)[:, 0]
        low, high = np.full(len(x), self._span[0]), np.full(len(x), self._span[1])
        inputs = _inputs(linear, boosted, forest, linear if ahead else lags[:, 0], low, high)
        base = inputs[:, CORRECTED].copy()
        corrected = self._corrector.corrected(rows, self._all_kinds(self.columns.kinds), base)
        inputs[:, -2] = np.clip(np.where(np.isfinite(corrected), corrected, base), low, high)
        return self._combined(inputs)

    def _all_kinds(self, kinds: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the kinds of all stored columns, given those of the table: the others are numbers."""
        return np.append(np.zeros(1 + LAGS, np.int8), kinds)

    def _combined(self, inputs: Vector) -> Vector:
        """Return the predictions (rows,) of inputs (rows, inputs), without learning."""
        stacks = [stack.look(inputs) for stack in self._stacks]
        found: Vector = self._top.look(np.column_stack([inputs[:, 0], inputs[:, -1], *stacks]))
        return found

    leading = 1 + LAGS

    def _influences(self) -> tuple[float, list[tuple[float, Vector]]]:
        count, step = self.columns.count, 0.01 * float(self._span[1] - self._span[0])
        if step <= 0.0:
            return 1.0, []
        middle = np.full(INPUTS, 0.5 * float(self._span[0] + self._span[1]))
        found = self._combined(np.vstack([middle, middle + step * np.eye(INPUTS)]))
        each, place = np.abs(found[1:] - found[0]) / step, 1
        trees = []
        for part in self._boosted:
            many, lags = len(part.settings.prefixes), 1 + LAGS - part.skipped
            trees.append((float(each[place : place + many].sum()), part.gains(lags + count)[lags:]))
            place += many
        trees.append((float(each[place]), self._forest.gains(count)))
        trees.append((float(each[place + 1]), self._corrector.gains(1 + LAGS + count)[1 + LAGS :]))
        return float(each[0]), trees

    @property
    def _stored_labels(self) -> None:
        return None

    def _as_outcomes(self, y: Vector) -> Vector:
        return y

    def scores_many(self, batch: Batch) -> Vector:
        scores = super().scores_many(batch)
        return self._looked(self._columns_of(batch), scores) if self.full else scores

    def score_one(self, x: Example) -> float:
        score = super().score_one(x)
        return self._looked(self._columns_of(x), np.array([score])).item(0) if self.full else score

    def predict_ahead(self, batch: Batch) -> Vector:
        """Predict rows without labels, without the previous outcome."""
        linear = super().predict_ahead(batch)
        if not self.full:
            return linear
        if isinstance(batch.x, list):
            rows = zip(batch.x, linear, strict=True)
            return np.array([self._looked(self._columns_of(x), np.array([one]), True).item(0) for x, one in rows])
        return self._looked(self._columns_of(batch), linear, ahead=True)

    def tale(self) -> list[str]:
        """Return sentences on ignored features and on the last outcome, where notable."""
        return [] if self.full else super().tale()

    def tracker(self) -> Tracker:
        """Return a recorder of forecasts for a game that starts now."""
        return AutoTracker(super().tracker(), NumbersTracker(self._prior), len(self._prior) + 1)

    def facts(self) -> LinearMixtureRegressionFacts:
        """Return the facts for the theorem of the linear mixture; the theorem of the whole uses its tracker's."""
        facts = super().facts()
        return replace(facts, names=[]) if self.full else facts


def _inputs(
    linear: Vector, boosted: list[Vector], forest: Vector, last: Vector, low: Vector, high: Vector
) -> Vector:  # fmt: skip
    """Return the inputs (rows, inputs), clipped; where trees have no finite forecast, that of the linear mixture.

    The one before the last is not yet corrected.

    Args:
        linear: (rows,) Predictions of the linear mixture.
        boosted: (rows, prefixes, 1) Scores of boosted trees.
        forest: (rows,) Predictions of the forest.
        last: (rows,) Last outcome.
        low: (rows,) Smallest outcome before.
        high: (rows,) Largest outcome before.
    """
    after = (part for scores in boosted for part in scores[:, :, 0].T)
    found = np.column_stack([linear, *after, forest, linear, last])
    found = np.where(np.isfinite(found), found, linear[:, None])
    clipped: Vector = np.clip(found, low[:, None], high[:, None])
    return clipped
