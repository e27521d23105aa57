"""A few linear comparators fitted on a few rows.

Algorithm
    For each cost C: dual coordinate descent on (1/2)||u||^2 + C * (hinge loss), rows in an order drawn by coins, going
    on from the solution for the smaller C. The costs are in units of 1 / (mean ||x~||^2); two are where mistake bounds
    on real streams were best, the last stands for the hard margin: it is left off as soon as ||u|| / (sum of alpha), no
    less than the margin of these rows, is so small that they are fewer than the mistakes it allows.
Promise
    None, and none is needed: a certificate holds for every u, a good one only tightens it.
Cost
    At most VISITS non-zeros are looked at for each C: less than a tenth of a second, whatever the number of rows.
Reference
    [hsieh2008].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernels.coins import coin
from novikoff.types import Sparse

HARD = 1e6
COSTS = (0.15, 0.7, HARD)
VISITS = (3_000_000, 4_000_000, 16_000_000)
EPOCHS = 2_000
FEWEST = 3
FEW = 1000
CLOSE = 1e-7
"""When no margin moves by more than this, the descent has arrived."""


def fit(
    x: Sparse, y: NDArray[np.int8], bias: float = 0.0, normalize: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One u for each cost: (features, costs) and the weights of the bias. A u that went astray is zero."""
    from novikoff.kernels import descent

    rows = len(y)
    directions, owns = np.zeros((x.width, len(COSTS))), np.zeros(len(COSTS))
    scale, square = np.empty(rows), np.empty(rows)
    descent.lengths(x.indptr, x.values, bias, normalize, scale, square)
    usable = square[(square > descent.SHORTEST) & (square < 1.0 / descent.SHORTEST)]
    if len(usable) == 0:
        return directions, owns
    unit = 1.0 / float(np.mean(usable))
    u, own, alpha, order = np.zeros(x.width), np.zeros(1), np.zeros(rows), np.arange(rows)
    nonzeros = max(int(x.indptr[-1] - x.indptr[0]), rows)
    number = 0
    for k, (cost, visits) in enumerate(zip(COSTS, VISITS, strict=True)):
        for _ in range(min(max(visits // nonzeros, FEWEST), EPOCHS)):
            descent.shuffle(order, coin(0, "fit", number) >> 1)
            number += 1
            moved = descent.epoch(x.indptr, x.indices, x.values, y, bias, scale, square, order, alpha, cost * unit, u,
                                  own)  # fmt: skip
            if moved <= CLOSE or (cost == HARD and _hopeless(alpha, u, own, square)):
                break
        if np.all(np.isfinite(u)) and np.isfinite(own[0]):
            directions[:, k], owns[k] = u, own[0]
    return directions, owns


def _hopeless(
    alpha: NDArray[np.float64], u: NDArray[np.float64], own: NDArray[np.float64], square: NDArray[np.float64]
) -> bool:
    """Is R^2 / gamma^2 more than the number of rows, whatever the direction? A few rows are cheap: go on with them."""
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.sqrt(np.sum(u * u) + own[0] * own[0])
        return bool(np.sqrt(np.max(square)) * np.sum(alpha) > np.sqrt(len(alpha) + FEW) * length)
