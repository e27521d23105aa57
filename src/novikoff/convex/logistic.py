"""Second-order logistic regression: a Newton step per example; without `scale_free`, O(d log T) nats of regret.

Algorithm
    A = ridge * diag(M^2) with M the largest |x| of each feature so far, x_t included (ridge * I if not `scale_free`);
    b = 0. z0 = x'A^-1 b, v = x'A^-1 x; the score z is the root of z + (v/2) tanh(z/2) = z0, P(+1) = 1/(1 + e^-z);
    predict +1 if that is 1/2 or more. Then with q the probability of the wrong label, g = -yq and h = kappa q(1-q):
        b -= (g - hz) x,   A += h x x',   kappa = tanh(C/2)/(C/2).
    `bias` c adds a constant feature of value c. The first 256 features seen have a weight, later ones are ignored.
Promise
    convex/theorems/logistic_regret.py: for every u, L <= L_u + u'(ridge diag M^2)u/2 + sum of Delta + deficit_u, and
    deficit_u = 0 if |<u,x>| <= C in every round.
Cost
    O(d^2) per round, d <= 256; two triangles of d^2/2 numbers.
Reference
    [jezequel2020], whose bound this halves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.goal import Goal
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.metric_facts import MetricFacts
from novikoff.comparators.metric_tracker import MetricTracker
from novikoff.convex.theorems.logistic_regret import logistic_regret
from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument
from novikoff.core.types import Theorem
from novikoff.linear import _loops as linear_loops
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.matrix import Matrix
from novikoff.linear.scale_free import Probabilistic
from novikoff.linear.second_order import SecondOrder
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import U0

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class Logistic(SecondOrder, Probabilistic):
    """Logistic regression with a full second-order metric.

    Args:
        ridge: Regularisation of the metric.
        radius: Largest |<u,x>| of comparators for which the bound has no extra term; 0 to 100.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.

    Guarantee:
        For every u with |<u,x>| <= radius, the log loss is at most that of u + u'Lu/2 + sum of Delta, where
        L = ridge diag(M^2); without `scale_free`, Delta sums to the order of d log T (`logistic_regret`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Logistic(), [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], -1)]).mistakes
        2
    """

    promises: ClassVar[tuple[Theorem, ...]] = (logistic_regret,)
    fields = (Argument("radius", float), *SecondOrder.fields)

    def __init__(self, ridge: float = 0.1, radius: float = 6.0, scale_free: bool = True, bias: float = 1.0) -> None:
        super().__init__(ridge, scale_free, bias)
        if not 0.0 <= radius <= 100.0:
            raise InputError(f"a radius must be from 0 to 100: got {shown(radius)}.")
        self.radius = float(radius)
        self.kappa = curvature(self.radius)

    def _score(self, rows: Nonzeros, y: NDArray[np.int8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        scores = np.empty(len(y))
        for here in self.matrix.stretches(len(y)):
            part = astuple(rows.part(here))
            linear_loops.second_order.play_logistic(*self.matrix.records, part, y[here], self.kappa, scores[here])
        return scores, scores

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        scores, spread = self._looked(rows)
        return numerics.logits.hedge_all(scores, spread)

    def tracker(self) -> MetricTracker | None:
        return MetricTracker(self.bias, [self.kappa], limit=at.LIMIT) if self.rounds == 0 else None

    def goals(self) -> list[Goal]:
        """Return the objectives that comparators minimise."""
        return [goal_of(self.matrix, self.features.count + 1, self.rounds)]

    def textbook(self) -> dict[str, object]:
        numbers = {"ridge": self.ridge, "radius": self.radius, "bias": self.bias}
        exact = {name: float(value).hex() for name, value in numbers.items()}
        return {"rule": "logistic", "scale_free": self.scale_free, **exact}

    def facts(self) -> MetricFacts:
        return facts_of(self.matrix, self.features.count + 1, self.rounds)


def facts_of(matrix: Matrix, places: int, rounds: int) -> MetricFacts:
    """Return the facts for the theorem after `rounds` rounds."""
    totals = matrix.totals
    off = (rounds + 20) * 2.0 * U0 * float(totals[at.LINEAR_SIZE])
    loss, gained, linear = (float(totals[k]) for k in (at.LOSS, at.GAINED, at.LINEAR))
    low, high = matrix.full().inverse_between(*_steps(matrix, places))
    dual, least = linear + off + 0.5 * high, linear - off + 0.5 * low
    return MetricFacts(rounds, int(totals[at.UPDATES]), 0, loss, gained, dual, least)


def goal_of(matrix: Matrix, places: int, rounds: int) -> Goal:
    """Return the objective that the theorem sets for comparators."""
    largest, promised = matrix.of(at.LARGEST, places), facts_of(matrix, places, rounds).penalty
    metric, linear = Diagonal(matrix.ridge * largest * largest), float(matrix.totals[at.LINEAR])
    return Goal("parabola", metric, promised, _steps(matrix, places), matrix=matrix.full(), linear=linear)


def _steps(matrix: Matrix, places: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return -b and its rounding error by place; no coefficient |g - hz| exceeds 1 + |z|/4."""
    return matrix.added(places, 1.0 + float(matrix.totals[at.FARTHEST]) / 4.0)


def curvature(radius: float) -> float:
    """Return kappa(C) = tanh(C/2)/(C/2), the fraction of the log loss's curvature that holds for scores up to C."""
    return math.tanh(radius / 2.0) / (radius / 2.0) if radius > 0.0 else 1.0
