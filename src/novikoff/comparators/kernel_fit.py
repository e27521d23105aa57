"""A few comparators f = sum of beta_j K(z_j, .) fitted on a few points.

Algorithm
    For each cost C: dual coordinate descent on (1/2)||f||^2 + C * (hinge loss), on the matrix of K between the points;
    going on from the solution for the smaller C, and passing over points that are where they should be. The costs are
    in units of 1 / (mean K(z,z)); the last stands for the hard margin: it is left off as soon as ||f|| divided by the
    sum of alpha, no less than the margin of these points, is so small that they are fewer than the mistakes it allows.
Promise
    None, and none is needed: a certificate holds for every f, a good one only tightens it.
Cost
    At most STEPS steps for each C, each O(points): a tenth of a second in all, or two.
Reference
    [hsieh2008].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HARD = 1e6
COSTS = (0.05, 0.3, 1.0, 4.0, HARD)
STEPS = 12_000
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
        margins = signed @ alpha  # what was added up along the way has been rounded
        if np.all(np.isfinite(margins)):
            betas[k] = alpha * labels
    return betas


def _descend(
    signed: Matrix, square: Matrix, usable: NDArray[np.bool_], alpha: Matrix, margins: Matrix, cost: float,
    close: float, hard: bool,
) -> None:  # fmt: skip
    """Move one alpha at a time to where the loss of its point is best, within 0 .. cost."""
    steps = 0
    while steps < STEPS:
        stuck = ((alpha <= 0.0) & (margins >= 1.0)) | ((alpha >= cost) & (margins <= 1.0)) | ~usable
        moved = 0.0
        for t in np.flatnonzero(~stuck).tolist():
            old = float(alpha[t])
            wanted = min(max(old + (1.0 - float(margins[t])) / float(square[t]), 0.0), cost)
            if wanted != old:
                alpha[t] = wanted
                margins += (wanted - old) * signed[t]
                moved = max(moved, abs(wanted - old) * float(square[t]))
            steps += 1
        if moved <= close or (hard and _hopeless(alpha, margins, square)):
            return


def _hopeless(alpha: Matrix, margins: Matrix, square: Matrix) -> bool:
    """Is R^2 / margin^2 more than the number of points, whatever the direction? A few are cheap: go on with them."""
    length2 = float(np.sum(alpha * margins))
    return float(np.max(square)) * float(np.sum(alpha)) ** 2 > (len(alpha) + FEW) * length2
