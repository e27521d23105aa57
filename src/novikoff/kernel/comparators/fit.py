"""Fit of comparators f = sum of beta_j K(z_j, .) on a few points.

Algorithm
    For each cost C: solve the dual of (1/2)||f||^2 + C * (hinge loss) on the matrix of K between the points, starting
    from the solution for the next smaller C. Then minimise in the same way 2 kappa times the bound itself, which is the
    sum of max(0, 1 + kappa K(x,x) - y f(x)) + ||f||^2/(4 kappa), as in comparators/fit.py. Two methods alternate. Dual
    coordinate descent, once over the points that violate their optimality condition, finds out which points are
    strictly within 0 .. C. A few steps of conjugate gradients on these, clipped to 0 .. C and accepted if better, find
    their alpha. The costs are in units of 1 / (mean K(z,z)). The largest represents the hard margin; it is abandoned
    once ||f|| divided by the sum of alpha, which is at least the margin of these points, is so small that the bound
    exceeds the number of points. Sums use the loops of numpy, not a linear algebra library, so they do not depend on
    its number of threads.
Promise
    None, and none is needed: a certificate holds for every f, and a good f only tightens it.
Cost
    At most TURNS turns for each C, each O(points^2) at most: a few hundredths of a second in all.
Reference
    [hsieh2008].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.scale import Kappa

HARD = 1e6
"""Cost that represents the hard margin."""
COSTS = (0.05, 0.3, 1.0, 4.0, HARD)
"""Costs C, in increasing order: each problem starts from the solution of the one before."""
KAPPA, STEPS = 0.3, 5
"""First kappa, and the number of its values."""
TURNS = 60
"""Maximum number of turns per problem: one of coordinate descent and one of conjugate gradients."""
GRADIENTS = 6
"""Maximum number of conjugate gradient steps per turn."""
FALLEN = 1e-4
"""Fraction of the first squared residual at which the conjugate gradients stop."""
FEW = 1000
"""Number by which the mistakes allowed must exceed the points before the hard margin is abandoned."""
CLOSE = 1e-9
"""Largest change of a margin at which the descent stops, for at most SMALL points."""
CLOSE_ENOUGH = 3e-3
"""Largest change of a margin at which the descent stops, for more than SMALL points."""
SMALL = 64
"""Number of points up to which a problem is solved to CLOSE."""
SHORTEST = 2.0**-900
"""Range of usable K(z,z): from this to its inverse; others are left out, as they might overflow."""

Matrix = NDArray[np.float64]


def fit(gram: Matrix, y: NDArray[np.int8]) -> tuple[Matrix, float]:
    """Return the fitted coefficients and the kappa of the last problem.

    Args:
        gram: (points, points) K between the points.
        y: (points,) labels -1 and +1.

    Returns:
        betas (costs + 1, points), one row per cost and one for the last problem, zero if it diverged; and kappa, for f
        and K divided by the mean K(z,z): it scales as f does.
    """
    betas, kappa = np.zeros((len(COSTS) + 1, len(y))), Kappa(KAPPA)
    square = gram.diagonal().copy()
    usable = (square > SHORTEST) & (square < 1.0 / SHORTEST)
    if not usable.any() or not np.all(np.isfinite(gram)):
        return betas, 0.0
    labels = y.astype(np.float64)
    unit = 1.0 / float(np.mean(square[usable]))
    square = square * unit  # now the mean is 1; the scale of f does not matter
    usable &= square > SHORTEST
    signed = (gram * unit) * labels[:, None] * labels[None, :]
    problem = _Problem(signed, square, usable, CLOSE if len(y) <= SMALL else CLOSE_ENOUGH)
    warm = problem.alpha
    for k, cost in enumerate(COSTS):
        problem.solve(cost, np.ones(len(y)))
        if np.all(np.isfinite(problem.margins)):
            betas[k] = problem.alpha * labels
        # The last problem starts from the solution for the largest cost below 1, which is the nearest to 2 kappa.
        warm = problem.alpha.copy() if cost < 1.0 else warm
    problem.start(np.minimum(warm, 2.0 * kappa.value))
    for step in range(STEPS):
        problem.solve(2.0 * kappa.value, 1.0 + kappa.value * square)
        length2, lengths = float(np.sum(problem.alpha * problem.margins)), float(np.sum(problem.alpha * square))
        if step == STEPS - 1 or not (length2 > 0.0 and lengths > 0.0):
            break
        problem.start(problem.alpha * kappa.move(np.sqrt(length2 * 2.0 * kappa.value / lengths) / 2.0))
    if np.all(np.isfinite(problem.margins)):
        betas[-1] = problem.alpha * labels
    return betas, kappa.value


def times(matrix: Matrix, vector: Matrix) -> Matrix:
    """Return the product, independent of the number of threads."""
    return np.asarray(np.einsum("ij,j->i", matrix, vector))


class _Problem:
    """Dual problem: the points, alpha, and the margins of f = sum of alpha_j y_j K(z_j, .).

    Args:
        signed: (points, points) y_i y_j K(z_i, z_j).
        square: (points,) K(z,z).
        usable: (points,) whether a point may have an alpha other than 0.
        close: Largest change of a margin at which the descent stops.
    """

    def __init__(self, signed: Matrix, square: Matrix, usable: NDArray[np.bool_], close: float) -> None:
        self.signed, self.square, self.usable, self.close = signed, square, usable, close
        self.alpha, self.margins = np.zeros(len(square)), np.zeros(len(square))

    def start(self, alpha: Matrix) -> None:
        """Set alpha and its margins."""
        self.alpha, self.margins = alpha, times(self.signed, alpha)

    def solve(self, cost: float, target: Matrix) -> None:
        """Minimise the losses below `target` over alpha within 0 .. cost."""
        for _ in range(TURNS):
            movable = self.usable & (np.abs(target - self.margins) > self.close / 4.0)
            moved = self._coordinates(movable, cost, target)
            if moved <= self.close or (cost == HARD and self._inseparable()):
                break
            self._gradients(np.flatnonzero((self.alpha > 0.0) & (self.alpha < cost) & self.usable), cost, target)
        self.start(self.alpha)  # recompute the margins, because updating them accumulated rounding errors

    def _coordinates(self, movable: NDArray[np.bool_], cost: float, target: Matrix) -> float:
        """Optimise one alpha after the other; return the largest change of a margin by its alpha."""
        alpha, margins = self.alpha, self.margins
        # Points whose alpha is at an end of 0 .. C and whose margin is on the right side of the target are optimal.
        stuck = ((alpha <= 0.0) & (margins >= target)) | ((alpha >= cost) & (margins <= target)) | ~movable
        moved, change = 0.0, np.empty(len(alpha))
        for t in np.flatnonzero(~stuck).tolist():
            old, length2 = alpha.item(t), self.square.item(t)
            wanted = min(max(old + (target.item(t) - margins.item(t)) / length2, 0.0), cost)
            if wanted != old:
                alpha[t] = wanted
                np.multiply(self.signed[t], wanted - old, out=change)
                np.add(margins, change, out=margins)
                moved = max(moved, abs(wanted - old) * length2)
        return moved

    def _gradients(self, free: NDArray[np.int64], cost: float, target: Matrix) -> None:
        """Move the alpha of the free points together to where their margins are on target, if that is better."""
        if len(free) < 2:
            return
        across, length2 = self.signed[free], self.square[free]
        part = np.ascontiguousarray(across[:, free])
        rest = target[free] - self.margins[free]
        direction = rest / length2
        moves, size = np.zeros(len(free)), float(np.sum(rest * direction))
        first = size
        for _ in range(GRADIENTS):
            effect = times(part, direction)
            curvature = float(np.sum(direction * effect))
            if not curvature > 0.0:
                break
            step = size / curvature
            moves += step * direction
            rest = rest - step * effect
            scaled = rest / length2
            size, before = float(np.sum(rest * scaled)), size
            if not size > FALLEN * first:
                break
            direction = scaled + (size / before) * direction
        moves = np.clip(self.alpha[free] + moves, 0.0, cost) - self.alpha[free]
        change = np.einsum("j,ji->i", moves, across)
        # The dual objective improves by gain - moves' K moves / 2: accept the step only if that is positive.
        gain = float(np.sum(moves * (target[free] - self.margins[free])))
        if gain > 0.5 * float(np.sum(moves * change[free])):
            self.alpha[free] += moves
            self.margins += change

    def _inseparable(self) -> bool:
        """Return whether R^2 / margin^2 exceeds the number of points plus FEW for every direction."""
        length2 = float(np.sum(self.alpha * self.margins))
        most = (len(self.alpha) + FEW) * length2
        return float(np.max(self.square)) * float(np.sum(self.alpha)) ** 2 > most
