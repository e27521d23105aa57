"""A few comparators f = sum of beta_j K(z_j, .) fitted on a few points.

Algorithm
    For each cost C: the dual of (1/2)||f||^2 + C * (hinge loss), on the matrix of K between the points, going on from
    the solution for the smaller C. In turns: dual coordinate descent, once over the points that are not where they
    should be; then a few steps of conjugate gradients on those strictly within 0 .. C, their result cut off at 0 and C,
    and taken if that is better. The first finds out which points those are, the second what their alpha is. The costs
    are in units of 1 / (mean K(z,z)); the last stands for the hard margin: it is left off as soon as ||f|| divided by
    the sum of alpha, no less than the margin of these points, is so small that they are fewer than the mistakes it
    allows. Sums are numpy's own, not those of a linear algebra library: they do not depend on its threads.
Promise
    None, and none is needed: a certificate holds for every f, a good one only tightens it.
Cost
    At most TURNS turns for each C, each O(points^2) at most: a few hundredths of a second in all.
Reference
    [hsieh2008].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HARD = 1e6
COSTS = (0.05, 0.3, 1.0, 4.0, HARD)
TURNS = 60
GRADIENTS = 6
"""The most conjugate gradients in a turn; they also end when the residual has become FALLEN times as small."""
FALLEN = 1e-4
FEW = 1000
CLOSE = 1e-9
CLOSE_ENOUGH = 3e-3
"""When no margin moves by more than this, the descent is near enough; on a few points it goes on to CLOSE."""
SMALL = 64
SHORTEST = 2.0**-900

Matrix = NDArray[np.float64]


def fit(gram: Matrix, y: NDArray[np.int8]) -> Matrix:
    """One beta for each cost, as rows. One that went astray is zero."""
    betas = np.zeros((len(COSTS), len(y)))
    square = gram.diagonal().copy()
    usable = (square > SHORTEST) & (square < 1.0 / SHORTEST)
    if not usable.any() or not np.all(np.isfinite(gram)):
        return betas
    labels = y.astype(np.float64)
    unit = 1.0 / float(np.mean(square[usable]))
    square = square * unit  # the mean is 1: f will have another length, which does not matter
    usable &= square > SHORTEST
    signed = (gram * unit) * labels[:, None] * labels[None, :]
    alpha, margins = np.zeros(len(y)), np.zeros(len(y))
    close = CLOSE if len(y) <= SMALL else CLOSE_ENOUGH
    for k, cost in enumerate(COSTS):
        _descend(signed, square, usable, alpha, margins, cost, close, cost == HARD)
        margins = times(signed, alpha)  # what was added up along the way has been rounded
        if np.all(np.isfinite(margins)):
            betas[k] = alpha * labels
    return betas


def times(matrix: Matrix, vector: Matrix) -> Matrix:
    """Their product, whatever the number of threads."""
    return np.asarray(np.einsum("ij,j->i", matrix, vector))


def _descend(
    signed: Matrix, square: Matrix, usable: NDArray[np.bool_], alpha: Matrix, margins: Matrix, cost: float,
    close: float, hard: bool,
) -> None:  # fmt: skip
    """Move alpha to where the losses are best, within 0 .. cost."""
    for _ in range(TURNS):
        moved = _coordinates(signed, square, usable & (np.abs(1.0 - margins) > close / 4.0), alpha, margins, cost)
        if moved <= close or (hard and _hopeless(alpha, margins, square)):
            return
        _gradients(signed, square, np.flatnonzero((alpha > 0.0) & (alpha < cost) & usable), alpha, margins, cost)


def _coordinates(
    signed: Matrix, square: Matrix, movable: NDArray[np.bool_], alpha: Matrix, margins: Matrix, cost: float
) -> float:
    """Move one alpha after the other to where the loss of its point is best; the most that a margin moved by itself."""
    stuck = ((alpha <= 0.0) & (margins >= 1.0)) | ((alpha >= cost) & (margins <= 1.0)) | ~movable
    moved, change = 0.0, np.empty(len(alpha))
    for t in np.flatnonzero(~stuck).tolist():
        old, length2 = alpha.item(t), square.item(t)
        wanted = min(max(old + (1.0 - margins.item(t)) / length2, 0.0), cost)
        if wanted != old:
            alpha[t] = wanted
            np.multiply(signed[t], wanted - old, out=change)
            np.add(margins, change, out=margins)
            moved = max(moved, abs(wanted - old) * length2)
    return moved


def _gradients(
    signed: Matrix, square: Matrix, free: NDArray[np.int64], alpha: Matrix, margins: Matrix, cost: float
) -> None:
    """Move the alpha of the free points together to where their margins are 1, if that is better."""
    if len(free) < 2:
        return
    across, length2 = signed[free], square[free]
    part = np.ascontiguousarray(across[:, free])
    rest = 1.0 - margins[free]
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
    moves = np.clip(alpha[free] + moves, 0.0, cost) - alpha[free]
    change = np.einsum("j,ji->i", moves, across)
    if float(np.sum(moves * (1.0 - margins[free]))) > 0.5 * float(np.sum(moves * change[free])):
        alpha[free] += moves
        margins += change


def _hopeless(alpha: Matrix, margins: Matrix, square: Matrix) -> bool:
    """Is R^2 / margin^2 more than the number of points, whatever the direction? A few are cheap: go on with them."""
    length2 = float(np.sum(alpha * margins))
    return float(np.max(square)) * float(np.sum(alpha)) ** 2 > (len(alpha) + FEW) * length2
