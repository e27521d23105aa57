"""Vovk-Azoury-Warmuth: ridge regression that includes x before predicting; its best loss in hindsight is known.

Algorithm
    A = ridge * diag(M^2) with M the largest |x| of each feature so far (ridge * I if not `scale_free`); b = 0.
    In each round A += x x'; predict x'A^-1 b, clipped to `low` .. `high` if given; then b += y x. Outcomes are numbers,
    with the squared loss. With `probabilities`, labels are -1 and +1 and P(+1) = (1 + the prediction)/2, clipped to 0
    .. 1; predict +1 if that is 1/2 or more. The loss is then the Brier score, a quarter of the squared difference; the
    log loss is infinite if P(y) is 0. `bias` c adds a constant feature of value c. The first 256 features seen have a
    weight, later ones are ignored.
Promise
    convex/theorems/vaw_regret.py: the loss is at most min over u of (u'Lu + the loss of u) + sum of y^2 chi. The
    minimum is known exactly, from A, b and the sum of y^2: no comparator has to be fitted.
Cost
    O(d^2) per round, d <= 256; two triangles of d^2/2 numbers.
Reference
    [vovk2001]; [azoury2001].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.convex.theorems.vaw_regret import VAWFacts, vaw_regret
from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument
from novikoff.core.types import Batch, Example, StepResult, Task, Theorem
from novikoff.linear import _loops as linear_loops
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.matrix import Matrix
from novikoff.linear.second_order import SecondOrder
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import LARGEST_SIZE, U0

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class VAW(SecondOrder):
    """Online ridge regression for numbers, or for the probability of a label.

    Args:
        ridge: Regularisation of the metric.
        probabilities: Whether to predict P(+1) of labels -1 and +1 instead of numbers.
        low: Smallest outcome, at which predictions are clipped; None for no limit.
        high: Largest outcome, at which predictions are clipped; None for no limit.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.

    Guarantee:
        The squared loss is at most that of the best u in hindsight, penalty u'Lu included, plus the sum of y^2 chi;
        without `scale_free`, chi sums to at most ln det(A/ridge), of the order of d log T (`vaw_regret`).

    Example:
        >>> import novikoff as nk
        >>> round(nk.play(nk.VAW(), [([1.0], 2.0), ([2.0], 4.0), ([3.0], 6.0)]).loss, 2)
        34.41
    """

    promises: ClassVar[tuple[Theorem, ...]] = (vaw_regret,)
    task: Task = "regression"
    fields = (
        Argument("probabilities", bool),
        Argument("low", float | None),
        Argument("high", float | None),
        *SecondOrder.fields,
    )

    def __init__(
        self, ridge: float = 1.0, probabilities: bool = False, low: float | None = None, high: float | None = None,
        scale_free: bool = True, bias: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(ridge, scale_free, bias)
        self.probabilities = bool(probabilities)
        self.task = "binary" if self.probabilities else "regression"
        self.loss = "zero-one" if self.probabilities else "squared"
        if self.probabilities and not (low is None and high is None):
            raise InputError(f"low and high must be left out with probabilities: got {shown(low)} and {shown(high)}.")
        self.low, self.high = low, high
        ends = (-1.0, 1.0) if self.probabilities else (-math.inf, math.inf)
        self._ends = tuple(end if given is None else float(given) for given, end in zip((low, high), ends, strict=True))
        if not self._ends[0] < self._ends[1]:
            raise InputError(f"low must be below high: got {shown(low)} and {shown(high)}.")

    @classmethod
    def task_of(cls, given: Mapping[str, object]) -> Task:
        return "binary" if given["probabilities"] else "regression"

    def probability_one(self, x: Example) -> float:
        return 0.5 * (1.0 + self.score_one(x))

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return P(+1) of every row without learning."""
        return 0.5 * (1.0 + self.scores_many(batch))

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        scores, outcomes = np.empty(len(y)), y.astype(np.float64)
        low, high = self._ends
        for here in self.matrix.stretches(len(y)):
            part = astuple(rows.part(here))
            linear_loops.second_order.play_vaw(*self.matrix.records, part, outcomes[here], low, high, scores[here])
        if not self.probabilities:
            losses = (scores - outcomes) ** 2
            return StepResult(scores, losses, losses)
        self.scored, predicted = scores, self._predictions(scores)
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, probabilities=0.5 * (1.0 + outcomes * scores))

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        scores, spread = self._looked(rows)
        found: NDArray[np.float64] = np.clip(scores / (1.0 + spread), self._ends[0], self._ends[1])
        return found

    def _shrinkage(
        self, rows: Nonzeros, score: NDArray[np.float64], linear: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        return 1.0 / (1.0 + self._looked(rows)[1])

    def _bounded(self, y: NDArray[np.float64], got: str) -> NDArray[np.float64]:
        least, most = max(self._ends[0], -LARGEST_SIZE), min(self._ends[1], LARGEST_SIZE)
        if y.ndim != 1 or not bool(((y >= least) & (y <= most)).all()):
            raise InputError(f"y must be a number from {least:g} to {most:g}: {got}.")
        return y

    def textbook(self) -> dict[str, object]:
        ends = {
            name: None if end is None else float(end).hex() for name, end in (("low", self.low), ("high", self.high))
        }
        ridge, bias = float(self.ridge).hex(), float(self.bias).hex()
        return {"rule": "vaw", "ridge": ridge, "scale_free": self.scale_free, "bias": bias, **ends}

    def facts(self) -> VAWFacts:
        return vaw_facts(self.matrix, self.features.count + 1, self.rounds, self.probabilities)


def vaw_facts(matrix: Matrix, places: int, rounds: int, probabilities: bool = False) -> VAWFacts:
    """Return the facts for the theorem from a matrix played by linear/_loops/second_order.py, with `places` places."""
    totals, full = matrix.totals, matrix.full()
    added, doubt = matrix.added(places, float(totals[at.FARTHEST]))
    loss, chi, squares, credit = (float(totals[k]) for k in (at.LOSS, at.GAINED, at.LINEAR, at.LINEAR_SIZE))
    least, most = full.inverse_between(added, doubt)
    off = (rounds + 20) * 2.0 * U0 * squares
    return VAWFacts(
        rounds, loss, squares - off - most, squares + off - least, squares, chi, credit, float(totals[at.SHED]),
        float(totals[at.UNCLIPPED]), probabilities,
    )  # fmt: skip
