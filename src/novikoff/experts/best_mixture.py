"""The best mixture of experts in hindsight, for squared loss.

Problem
    Weights u >= 0 that sum to 1 with the least f(u) = sum over rounds of (<u, p_t> - y_t)^2, for predictions p_t and
    outcomes y_t in [0, 1]. The best mixture is never worse than the best expert and often much better; no regret bound
    of exponential weights covers it.
Method
    The sums G = sum of p p', b = sum of y p, c = sum of y^2 are kept: f(u) = u'Gu - 2b'u + c. Wolfe's method:
    minimise f on the affine hull of the chosen experts; if the minimum is outside the simplex, move as far towards it
    as possible and drop an expert; otherwise add the expert with the least slope. In exact arithmetic it ends after
    finitely many steps.
Distance from the optimum
    f is convex, so no mixture is better than f(u) by more than the largest slope g'u - g_i, g = 2(Gu - b): the
    Frank-Wolfe gap. The least loss lies between `lower` and `upper` whatever the search did.
Rounding
    The sums are of numbers in [0, 1], in blocks of 1,024 rows; the blocks are added with compensation. So
    G, b and c, and their products with u, have a relative error of at most E = (1,024 + 4N + 16) 2^-52, twice the
    error bound. f(u) has the error E (u'Gu + 2b'u + c), a slope twice E times its terms. The limits include these.
Cost
    O(N^2) time per row and O(N^2) memory; the search takes O(N^3) for a few more experts than it chooses.
Reference
    [wolfe1976]; [jaggi2013] for the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.core.errors import InputError, Where
from novikoff.core.observer import Observer
from novikoff.core.types import Batch, StepResult

Vector = NDArray[np.float64]
ROWS = 1024
"""Number of rows per block of a sum."""
STEPS_PER_EXPERT = 20
"""Maximum number of steps of the search, per expert."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Weights, and limits on the least loss of any mixture: lower <= least <= loss of these weights <= upper."""

    weights: Vector
    lower: float
    upper: float


class BestMixture(Observer):
    """Observer that finds the best mixture of experts in hindsight, for squared loss.

    It takes O(N^2) time per round of advice from N experts.

    Args:
        experts: Number of experts N.

    Example:
        >>> from novikoff.experts.best_mixture import BestMixture
        >>> best = BestMixture(2)
        >>> best.add([[0.0, 1.0], [1.0, 0.0]], [0.5, 0.5])
        >>> best.best().weights.round(6).tolist()
        [0.5, 0.5]
    """

    def __init__(self, experts: int) -> None:
        self.rounds = 0
        self._square, self._square_lost = np.zeros((experts, experts)), np.zeros((experts, experts))
        self._with_y, self._with_y_lost = np.zeros(experts), np.zeros(experts)
        self._y, self._y_lost = np.zeros(1), np.zeros(1)

    def see(self, batch: Batch, result: StepResult) -> None:
        self.add(cast(Vector, batch.x), batch.y)

    def add(self, predictions: ArrayLike, outcomes: ArrayLike) -> None:
        """Add rounds: one row of predictions per outcome."""
        p = np.ascontiguousarray(predictions, dtype=np.float64)
        y = np.ascontiguousarray(outcomes, dtype=np.float64)
        if p.ndim != 2 or p.shape != (len(y), len(self._with_y)) or y.ndim != 1:
            wanted = f"a row of {len(self._with_y)} for each outcome"
            raise InputError(f"predictions must be {wanted}: got shapes {p.shape} and {y.shape}.")
        for name, values in (("prediction", p), ("outcome", y)):
            wrong = np.argwhere(~((values >= 0.0) & (values <= 1.0)))
            if len(wrong):
                first = tuple(wrong[0].tolist())
                where: Where = {"round": self.rounds + first[0] + 1, **({"expert": first[1]} if first[1:] else {})}
                verb = "has" if first[1:] else "got"
                raise InputError(f"a {name} must be in [0, 1]", f"{verb} {values[first]}", **where)
        for start in range(0, len(y), ROWS):
            some, outcome = p[start : start + ROWS], y[start : start + ROWS]
            _add(self._square, self._square_lost, some.T @ some)
            _add(self._with_y, self._with_y_lost, some.T @ outcome)
            _add(self._y, self._y_lost, outcome @ outcome)
        self.rounds += len(y)

    def best(self, gap: float = 1e-9) -> Mixture:
        """Return the best mixture, to within `gap` per round if rounding allows."""
        square, with_y = self._square + self._square_lost, self._with_y + self._with_y_lost
        y = float((self._y + self._y_lost)[0])
        weights = _search(square / max(self.rounds, 1), with_y / max(self.rounds, 1), gap)
        turned = square @ weights
        quadratic, cross = float(weights @ turned), float(weights @ with_y)  # u'Gu and b'u
        loss, slope = quadratic - 2.0 * cross + y, 2.0 * (turned - with_y)
        widest = max(float(weights @ slope - slope.min()), 0.0)
        unit = (ROWS + 4 * len(weights) + 16) * 2.0**-52
        error = unit * (quadratic + 2.0 * cross + y) + self.rounds * 2.0**-1000  # products that underflow
        slopes = 2.0 * unit * (quadratic + cross + float((turned + with_y).max(initial=0.0)))
        return Mixture(weights, max(loss - widest - error - slopes, 0.0), loss + error)


def _add(total: Vector, lost: Vector, more: NDArray[np.float64] | np.float64) -> None:
    """Add in place by Neumaier's method; terms are nonnegative, so a comparison finds the larger."""
    new = total + more
    lost += np.where(total >= more, (total - new) + more, (more - new) + total)
    total[...] = new


def _search(square: Vector, with_y: Vector, gap: float) -> Vector:
    """Return weights with a Frank-Wolfe gap of at most `gap`, or the best that floating point finds."""
    experts = len(with_y)
    weights = np.zeros(experts)
    weights[np.argmin(np.diag(square) - 2.0 * with_y)] = 1.0
    best, widest, least = weights, np.inf, np.inf
    for _ in range(STEPS_PER_EXPERT * experts):
        turned = square @ weights
        slope = 2.0 * (turned - with_y)
        found, loss = float(weights @ slope - slope.min()), float(weights @ (turned - 2.0 * with_y))
        if found < widest:
            best, widest = weights, found
        entering = int(np.argmin(slope))
        if widest <= gap or weights[entering] > 0.0 or loss >= least:
            break
        least = loss
        chosen = np.append(np.flatnonzero(weights), entering)
        weights = _corrected(square, with_y, weights, chosen)
    return best


def _corrected(square: Vector, with_y: Vector, weights: Vector, chosen: NDArray[np.intp]) -> Vector:
    """Minimise f over the chosen experts or a subset of them: Wolfe's minor cycle."""
    current = weights[chosen]
    while True:
        count = len(chosen)
        system = np.zeros((count + 1, count + 1))
        system[:count, :count] = square[np.ix_(chosen, chosen)]
        system[:count, count] = system[count, :count] = 1.0  # Lagrange multiplier of the constraint sum = 1
        wanted = np.linalg.lstsq(system, np.append(with_y[chosen], 1.0), rcond=None)[0][:count]
        if not (wanted <= 0.0).any():
            break
        falling = wanted <= 0.0
        # Wanted weights outside the simplex: go as far towards them as all weights stay at least 0, and drop the expert
        # that reaches 0 first.
        steps = current[falling] / np.maximum(current[falling] - wanted[falling], np.finfo(np.float64).tiny)
        current = np.maximum(current + min(float(steps.min()), 1.0) * (wanted - current), 0.0)
        stuck = np.flatnonzero(falling)[np.argmin(steps)]
        current[stuck] = 0.0
        chosen, current = chosen[current > 0.0], current[current > 0.0]
        if len(chosen) == 1:
            wanted = np.ones(1)
            break
    new = np.zeros(len(with_y))
    new[chosen] = np.maximum(wanted, 0.0)
    new /= new.sum()
    return new
