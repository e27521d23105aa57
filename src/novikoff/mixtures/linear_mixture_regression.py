"""Linear mixture for regression: the part of `auto-regression` without trees. No parameter, no scaling.

Algorithm
    Members, each Vovk-Azoury-Warmuth (convex/vaw.py) on y - y_1, so that the origin does not matter:
        2 linear, ridges 1 and 0.01, on the first 256 features seen; features beyond these are ignored, and the report
        mentions it
        4 on 256 random features of the standardised row (numerics/fourier.py), of four widths, if the first row has no
        feature beyond the 256th
    One more member repeats the last outcome. A stack: the same regression, ridge 1, on the members' predictions. All
    predictions are clipped to the range of the outcomes so far; in the first round, without a range, they are 0. The
    final prediction is the mean of members and stack by AdaHedge's weights on their squared losses
    (experts/_loops/ada_hedge.py). Rows without labels (`predict_ahead`) are predicted without the last-outcome member:
    by AdaHedge's weights over the others alone, with the mean of the other members in its place in the stack. `bias` c
    adds a constant feature of value c; `seed` draws the random features.
Promise
    mixtures/theorems/linear_mixture_regression_regret.py: the squared loss is at most that of the best weights in
    hindsight of each member, which are known exactly, + the regret of its theorem + the price of the mixture and
    of the range.
Cost
    O(d^2) per round for linear members, d <= 256, and O(256^2) for each on random features.
Reference
    [derooij2014] for the mixture; [vovk2001], [azoury2001] for the members; [rahimi2007] for random features.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.convex.vaw import vaw_facts
from novikoff.core.attribution import Importances, mean_importances
from novikoff.core.batch import places_of
from novikoff.core.errors import InputError
from novikoff.core.state import Argument, Array, Count, Number, Part, Parts, Value, require
from novikoff.core.types import Batch, Example, Outcome, State, StepResult, Task, Theorem
from novikoff.experts import _loops as experts_loops
from novikoff.experts._loops import ada_hedge_layout as hedge
from novikoff.linear import _loops as linear_loops
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.matrix import Matrix
from novikoff.linear.scale_free import ScaleFree
from novikoff.mixtures._loops.linear_mixture_layout import WAVES
from novikoff.mixtures.forecasters import RIDGES, WIDTHS, LinearMembers
from novikoff.mixtures.theorems.linear_mixture_regression_regret import (
    LinearMixtureRegressionFacts,
    linear_mixture_regression_regret,
)
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import LARGEST_SIZE

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

CHUNK = 1024
"""Number of rows whose random features are held at once: 2 KB per row and width."""
LARGEST = 0.5 * LARGEST_SIZE
"""Largest |y|; differences of two outcomes are features of the stack."""
NOTABLE = 0.05
"""Mean weight of the last-outcome member above which it is reported."""
SCALING = "varying columns"
"""Scaling of the widths of random features (numerics/fourier.py); models scaled by all columns are refused."""


class LinearMixtureRegression(LinearMembers, ScaleFree):
    """Regression learner without parameters: a mixture of second-order learners and a stack on their predictions.

    Args:
        seed: Seed of the random features.
        bias: Value of a constant feature; 0 for none.

    Guarantee:
        Squared loss at most that of the best weights in hindsight of any member, plus that member's regret bound and
        the price of mixing and of the range of the outcomes (`linear_mixture_regression_regret`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.LinearMixtureRegression()
        >>> ledger = nk.play(learner, [([float(t)], 2.0 * t) for t in range(20)])
        >>> print(round(learner.predict_one([20.0])))
        38
    """

    promises: ClassVar[tuple[Theorem, ...]] = (linear_mixture_regression_regret,)
    task: Task = "regression"
    loss = "squared"
    scaling = SCALING
    fields = (
        Argument("seed", int),
        *ScaleFree.fields,
        Value("settled", bool, at="_settled"),
        Value("scaling", str),
        Count("width", most=at.LIMIT, at="_width"),
        Array("moments", at="_moments"),
        Parts("linear", places="places", at="_linear"),
        Parts("waves", places="_angles", at="_waves"),
        Part("stack", places="size", at="_stack"),
        Array("table", at="_table"),
        Array("numbers", at="_numbers"),
        Array("outcomes", (5,), finite=False, at="_outcomes_seen"),
        Number("earlier", at="_earlier", default=lambda: 0.0),
    )
    _angles = WAVES

    def __init__(self, seed: int = 0, bias: float = 1.0) -> None:
        super().__init__(bias)
        self._seeded(seed)
        self._settled = False
        self._again: NDArray[np.bool_] | None = None
        """Whether each round that is being played is another round of the row before it."""
        self._begin(0)

    def _begin(self, width: int) -> None:
        """Create untrained members; `width` is the number of columns for random features, 0 for none."""
        self._draw(width, WAVES - 1)
        self._widths = np.array(WIDTHS if width else ())
        self._linear = [Matrix(ridge, scale_free=True) for ridge in RIDGES]
        self._waves = [Matrix(1.0, scale_free=False) for _ in self._widths]
        self._stack = Matrix(1.0, scale_free=True)
        for matrix in self._waves:
            matrix.make_room(WAVES)
        self._stack.make_room(self.members + 1)
        self._table, self._numbers = np.zeros((hedge.TABLE, self.members + 1)), np.zeros(hedge.NUMBERS)
        self._first, self._last, self._grown, self._range = 0.0, 0.0, 0.0, (-math.inf, math.inf)
        self._earlier = 0.0
        """Outcome before that of the last row, for its further rounds."""

    @property
    def members(self) -> int:
        """Number of members, without the stack."""
        return len(self._linear) + len(self._waves) + 1

    @property
    def names(self) -> list[str]:
        """Names of the forecasters, in order."""
        random = [f"random features {g:g}" for g in WIDTHS[: len(self._waves)]]
        return [*(f"linear {matrix.ridge:g}" for matrix in self._linear), *random, "last outcome", "stack"]

    @property
    def size(self) -> int:
        """Number of forecasters."""
        return self.members + 1

    def tale(self) -> list[str]:
        """Return sentences on ignored features and on the weight of the last outcome, where notable."""
        found, share = [], float(self.shares[self._repeats])
        if self._linear[0].count == at.LIMIT and self.features.count + bool(self.bias) > at.LIMIT:
            looked = at.LIMIT - bool(self.bias)
            found.append(
                f"Its members use only the first {looked} features seen, the capacity of their matrices. For wide "
                "rows, adagrad:loss=squared uses every feature."
            )
        if share >= NOTABLE:
            others = self._table[hedge.LOSSES, : self._repeats]  # without the stack, which is last and also uses it
            root = math.sqrt(float(others.min()) / self.rounds)
            found.append(
                f"The member that repeats the last outcome had {100.0 * share:.3g} % of the weight, on average. It is "
                f"left out when rows without labels are predicted: the best of the other members had RMSE {root:.4g}."
            )
        return found

    @property
    def _repeats(self) -> int:
        """Index of the member that repeats the last outcome."""
        return self.members - 1

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the forecasters, in order."""
        return self._mixing()

    def _mixing(self) -> NDArray[np.float64]:
        predicted = np.empty(self.size)
        for j, one in enumerate(np.eye(self.size)):
            experts_loops.ada_hedge.play(
                self._table, self._numbers, one[np.newaxis], np.zeros(1), False, predicted[j : j + 1]
            )
        return predicted

    @property
    def shares(self) -> NDArray[np.float64]:
        """Mean weight of each forecaster over all rounds."""
        shares: NDArray[np.float64] = self._table[hedge.SHARES] / max(self.rounds, 1)
        return shares

    def importances(self) -> Importances | None:
        """Return the mean of the weights of the members on x, those on random features left out."""
        if not self.rounds:
            return None
        places, own = self.features.count + 1, self._mixing()
        members = [np.abs(one.of(at.WEIGHT, places)[1:]) for one in self._linear]
        stacked = self._stack.of(at.WEIGHT, self.members)
        influence = (own[:-1] + own[-1] * stacked)[: len(members)]
        sizes = self._linear[0].deviations(places, self.bias, self.rounds)
        return mean_importances(influence, members, sizes, centred=self.bias != 0.0)

    def _make_room(self, places: int) -> None:
        for matrix in self._linear:
            matrix.make_room(places)

    def learn_many(self, batch: Batch) -> StepResult:
        self._again = batch.copies
        try:
            return super().learn_many(batch)
        finally:
            self._again = None

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        self._again = np.array([True]) if self.repeats else None
        try:
            return super().play_one(x, y)
        finally:
            self._again = None

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        if not self._settled and len(y):
            width, small = self._first_row(rows)
            self._begin(width if small else 0)
            self._make_room(self.features.count + 1)
            self._settled, self._first = True, float(y[0])
            self._last = self._earlier = self._first
        predicted = np.empty(len(y))
        for start in range(0, len(y), CHUNK):
            part = slice(start, start + CHUNK)
            again = None if self._again is None else self._again[part]
            self._play(rows.part(part), y[part], self.rounds + start, predicted[part], again)
        losses = (predicted - y) ** 2
        return StepResult(predicted, losses, losses)

    def _play(
        self, rows: Nonzeros, y: NDArray[np.float64], seen: int, predicted: NDArray[np.float64],
        again: NDArray[np.bool_] | None,
    ) -> None:  # fmt: skip
        """Predict and learn, after `seen` rounds."""
        predictions, low, high = np.empty((len(y), self.size)), *self._ranges(y)
        for j, (matrix, view) in enumerate(self._views(rows, float(seen), True)):
            predictions[:, j] = self._learned(matrix, view, y)
        members = predictions[:, :-1]
        new = y if again is None else y[~again]
        before = np.concatenate([[self._earlier, self._last], new])[: len(new) + 1]
        members[:, -1] = before[places_of(again, len(y), len(before))] - self._first
        self._clip(members, low, high)
        predictions[:, -1] = self._learned(self._stack, self._stacked(members), y)
        self._clip(predictions[:, -1:], low, high)
        if seen == 0:
            predictions[0] = 0.0
        experts_loops.ada_hedge.play(self._table, self._numbers, predictions, y, True, predicted)
        beyond = np.maximum(np.maximum(low - y, y - high), 0.0)
        for more in beyond[beyond > 0.0].tolist():
            self._grown += more * more
        self._earlier, self._last = float(before[-1]), float(y[-1])
        self._range = (float(min(low[-1], y[-1])), float(max(high[-1], y[-1])))

    def _ranges(self, y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest and the largest outcome before each y; both are y_1 at the first."""
        least, most = self._range if math.isfinite(self._range[0]) else (self._first, self._first)
        return (np.minimum.accumulate(np.append(least, y[:-1])), np.maximum.accumulate(np.append(most, y[:-1])))

    def _clip(self, predictions: NDArray[np.float64], low: Any, high: Any) -> None:
        """Turn predictions of y - y_1 into predictions of y, clipped to the range."""
        predictions += self._first
        np.clip(predictions, low[:, np.newaxis], high[:, np.newaxis], out=predictions)

    def _views(self, rows: Nonzeros, seen: float, keep: bool) -> list[tuple[Matrix, Any]]:
        """Return each member with the rows in its features."""
        found = [(matrix, rows) for matrix in self._linear]
        if self._waves:
            phis = numerics.fourier.images(
                self._turns, self._shifts, self._widths, self._moments, seen, keep, astuple(rows)
            )
            ends = np.arange(0, phis[0].size + 1, WAVES, dtype=np.int64)
            places = np.tile(np.arange(WAVES, dtype=np.uint32), len(ends) - 1)
            for matrix, phi in zip(self._waves, phis, strict=True):
                found.append((matrix, numerics.nonzeros.Nonzeros(ends, places, phi.reshape(-1))))
        return found

    def _stacked(self, members: NDArray[np.float64]) -> Any:
        """Return the members' predictions as rows for the stack."""
        return numerics.nonzeros.of_dense(np.ascontiguousarray(members - self._first), 0.0)[0]

    def _learned(self, matrix: Matrix, rows: Nonzeros, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a member's predictions of y - y_1, not clipped, learning after each round."""
        scores = np.empty(len(y))
        for here in matrix.stretches(len(y)):
            linear_loops.second_order.play_vaw(
                *matrix.records, astuple(rows.part(here)), y[here] - self._first, -math.inf, math.inf, scores[here]
            )
        return scores

    def predict_ahead(self, batch: Batch) -> NDArray[np.float64]:
        """Predict rows without labels, leaving out the last outcome."""
        if isinstance(batch.x, list):
            return np.array([self._look(self._row(x, learn=False), ahead=True)[0] for x in batch.x])
        return self._look(self._rows(batch, learn=False), ahead=True)

    def _look(self, rows: Nonzeros, ahead: bool = False) -> NDArray[np.float64]:
        count = len(rows.ends) - 1
        predicted, predictions = np.zeros(count), np.empty((count, self.size))
        if not self.rounds:
            return predicted
        low, high = (np.full(count, end) for end in self._range)
        for j, (matrix, view) in enumerate(self._views(rows, float(self.rounds), False)):
            predictions[:, j] = _predict(matrix, view)
        members = predictions[:, :-1]
        members[:, -1] = self._last - self._first
        self._clip(members, low, high)
        if ahead:
            self._mean(members[:, :-1], range(self._repeats), members[:, -1])
        predictions[:, -1] = _predict(self._stack, self._stacked(members))
        self._clip(predictions[:, -1:], low, high)
        used = [j for j in range(self.size) if not ahead or j != self._repeats]
        self._mean(predictions[:, used], used, predicted)
        return predicted

    def _mean(self, predictions: NDArray[np.float64], forecasters: Sequence[int], mean: NDArray[np.float64]) -> None:
        """Write the mean of some forecasters, by AdaHedge's weights over them alone."""
        table, found = np.ascontiguousarray(self._table[:, list(forecasters)]), np.empty(len(predictions))
        experts_loops.ada_hedge.play(table, self._numbers, np.ascontiguousarray(predictions), np.zeros(0), False, found)
        mean[:] = found

    def _bounded(self, y: NDArray[np.float64], got: str) -> NDArray[np.float64]:
        if y.ndim != 1 or not bool((np.abs(y) <= LARGEST).all()):
            raise InputError(f"y must be a number, at most 2^499 in size: {got}.")
        return y

    def facts(self) -> LinearMixtureRegressionFacts:
        places = [self.features.count + 1] * len(self._linear) + [WAVES] * len(self._waves)
        members = [*self._linear, *self._waves]
        vaws = [vaw_facts(*pair, self.rounds) for pair in zip(members, places, strict=True)]
        numbers, table = self._numbers.tolist(), self._table
        return LinearMixtureRegressionFacts(
            self.rounds, self.names, table[hedge.LOSSES].tolist(), self.shares.tolist(), numbers[hedge.GAPS],
            numbers[hedge.LAST_GAP], numbers[hedge.MIXED], numbers[hedge.PAID], self._first, self._grown,
            vaws[0].squares, [int(matrix.totals[at.UPDATES]) for matrix in members], [one.unclipped for one in vaws],
            [one.least for one in vaws], [one.most for one in vaws], [one.chi for one in vaws],
            [one.credit + one.shed for one in vaws],
        )  # fmt: skip

    def _restart(self, width: int) -> None:
        self._begin(width)

    @property
    def _outcomes_seen(self) -> NDArray[np.float64]:
        """First and last outcome, growth of the range, and the range."""
        return np.array([self._first, self._last, self._grown, *self._range])

    @_outcomes_seen.setter
    def _outcomes_seen(self, seen: NDArray[np.float64]) -> None:
        self._first, self._last, self._grown, *ends = seen.tolist()
        self._range = (ends[0], ends[1])

    @classmethod
    def restore(cls, state: State) -> Self:
        must = "random features of a linear mixture must be scaled by their varying columns: train it again"
        require(state.get("scaling") == SCALING, must, state.get("scaling"))
        return super().restore(state)


def _predict(matrix: Matrix, rows: Nonzeros) -> NDArray[np.float64]:
    """Return a member's predictions of y - y_1 without learning."""
    scores, spread = matrix.look(rows)
    found: NDArray[np.float64] = scores / (1.0 + spread)
    return found
