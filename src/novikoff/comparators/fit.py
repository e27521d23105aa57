"""A few linear comparators fitted on a few rows.

Algorithm
    Dual coordinate descent on three problems, rows in random order, each starting from the previous solution:
        hinge    (1/2)||u||^2 + C * (sum of max(0, 1 - y<u,x~>)), with the C whose bounds were best on real streams
        lengths  2 kappa times the bound sum of max(0, 1 + kappa ||x~||^2 - y<u,x~>) + ||u||^2/(4 kappa) itself, for a
                 few kappa on the way to the best (comparators/scale.py)
        margin   the hinge loss with a large C, for the hard margin: it stops as soon as ||u|| / (sum of alpha), which
                 is at least the margin of these rows, is so small that the mistakes it allows exceed the rows
    C and the first kappa are in units of 1 / (mean ||x~||^2).
Promise
    None, and none is needed: a certificate holds for every u, a good one only tightens it.
Cost
    At most VISITS non-zeros are visited for each problem: less than a tenth of a second, whatever the number of rows.
Reference
    [hsieh2008].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.scale import Kappa
from novikoff.core.types import Sparse
from novikoff.numerics.coins import coin
from novikoff.numerics.records import SparseRows, astuple

Vector = NDArray[np.float64]

COST, HARD = 0.15, 1e6
"""C of the hinge loss and of the hard margin."""
VISITS, VISITS_LENGTHS, VISITS_HARD = 3_000_000, 5_000_000, 16_000_000
"""Maximum number of non-zeros visited for the hinge loss, for lengths, and for the hard margin."""
KAPPA, STEPS = 0.3, 5
"""First kappa, and the number of its values."""
EPOCHS = 2_000
"""Maximum number of epochs per problem."""
FEWEST = 3
"""Minimum number of epochs per problem."""
FEW = 1000
"""Excess of the allowed mistakes over the rows at which the search for a hard margin is given up."""
CLOSE = 1e-7
"""Largest change of a margin at which the descent has converged."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Fitted directions.

    Attributes:
        directions: (features, 3) weights; zero for a direction that diverged.
        bias_weights: (3,) bias weights.
        kappa: kappa of the second direction.
    """

    directions: NDArray[np.float64]
    bias_weights: Vector
    kappa: float


def fit(x: Sparse, y: NDArray[np.int8], bias: float = 0.0, normalize: bool = False) -> Fitted:
    """Fit one u for each problem: hinge, lengths, margin."""
    descent = _Descent(x, y, bias, normalize)
    directions, bias_weights = np.zeros((x.width, 3)), np.zeros(3)
    if descent.unit == 0.0:
        return Fitted(directions, bias_weights, 0.0)

    def keep(k: int) -> None:
        if np.all(np.isfinite(descent.u)) and np.isfinite(descent.bias_weight[0]):
            directions[:, k], bias_weights[k] = descent.u, descent.bias_weight[0]

    descent.solve(COST * descent.unit, 0.0, VISITS)
    keep(0)
    hinge = descent.alpha.copy(), descent.u.copy(), descent.bias_weight.copy()
    kappa = Kappa(KAPPA * descent.unit)
    for step in range(STEPS):
        descent.solve(2.0 * kappa.value, kappa.value, VISITS_LENGTHS // STEPS, fewest=1)
        wanted = descent.wanted_kappa(2.0 * kappa.value)
        if step == STEPS - 1 or not 0.0 < wanted < math.inf:
            break
        descent.scale(kappa.move(wanted))
    keep(1)
    descent.alpha, descent.u, descent.bias_weight = hinge
    descent.solve(HARD * descent.unit, 0.0, VISITS_HARD, hard=True)
    keep(2)
    return Fitted(directions, bias_weights, kappa.value)


class _Descent:
    """Dual variables alpha, u = the sum of alpha_t y_t x~_t, and their rows."""

    def __init__(self, x: Sparse, y: NDArray[np.int8], bias: float, normalize: bool) -> None:
        from novikoff.comparators._loops import descent

        self._rows, self._y, self._bias = astuple(SparseRows(x.indptr, x.indices, x.values)), y, bias
        self._scale, self._square = np.empty(len(y)), np.empty(len(y))
        descent.lengths(x.indptr, x.values, bias, normalize, self._scale, self._square)
        usable = self._square[(self._square > descent.SHORTEST) & (self._square < 1.0 / descent.SHORTEST)]
        self.unit = 1.0 / float(np.mean(usable)) if len(usable) else 0.0
        self.u, self.bias_weight, self.alpha = np.zeros(x.width), np.zeros(1), np.zeros(len(y))
        self._order, self._nonzeros = np.arange(len(y)), max(int(x.indptr[-1] - x.indptr[0]), len(y))
        self._epochs = 0

    def solve(self, cost: float, kappa: float, visits: int, hard: bool = False, fewest: int = FEWEST) -> None:
        """Run epochs until nothing moves or `visits` non-zeros were visited."""
        from novikoff.comparators._loops import descent

        for _ in range(min(max(visits // self._nonzeros, fewest), EPOCHS)):
            moved = descent.epoch(
                self._rows, self._y, self._bias, self._scale, self._square, self._order, self.alpha, cost, kappa,
                self.u, self.bias_weight, coin(0, "fit", self._epochs) >> 1,
            )  # fmt: skip
            self._epochs += 1
            if moved <= CLOSE or (hard and self._inseparable()):
                break

    def scale(self, factor: float) -> None:
        """Multiply alpha and u by a factor, as the initial value for another cost."""
        self.alpha *= factor
        self.u *= factor
        self.bias_weight *= factor

    def _length(self) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.sqrt(np.sum(self.u * self.u) + self.bias_weight[0] ** 2))

    def wanted_kappa(self, cost: float) -> float:
        """Return the kappa at which the derivative of the bound would vanish, for fixed u and alpha."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._length() / (2.0 * float(np.sqrt(np.sum(self.alpha * self._square) / cost)) or math.nan)

    def _inseparable(self) -> bool:
        """Return whether R^2 / margin^2 exceeds the number of rows in every direction, with allowance for few rows."""
        rows = len(self.alpha)
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.sqrt(np.max(self._square)) * np.sum(self.alpha) > np.sqrt(rows + FEW) * self._length())
