"""Second-order logistic regression that forgets: a forecaster for streams that change, without a bound.

Algorithm
    Rows are standardised by the running mean and deviation of each column, the row itself included, and clipped to
    -4 .. 4; a missing value is replaced by the mean. x is the row, or random Fourier features of it, and a constant.
    Learn as convex/logistic.py, but after each round A and b are multiplied by gamma, and one coordinate of A in turn
    receives d (1 - gamma) lambda, so that the ridge stays about lambda.
Promise
    None. In a mixture its loss is measured (mixtures/theorems/switching_regret.py).
Cost
    O(d^2) per round, where d is 1 + the number of columns or of random features.
Reference
    [jezequel2020]; [rahimi2007] for random features.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.convex.logistic import curvature
from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument, Array, Count, Stateful
from novikoff.mixtures import _loops
from novikoff.mixtures.stacks import forgetting
from novikoff.numerics.sizes import LARGEST_SIZE

Vector = NDArray[np.float64]

RADIUS = 6.0
"""Scores up to which the curvature of the log loss is assumed."""
MOST = 1024
"""Largest number of columns or of random features."""


class ForgettingLogistic(Stateful):
    """Logistic regression on standardised rows, with exponential forgetting.

    Args:
        width: Number of columns.
        gamma: Factor of the past after each round; 1 forgets nothing.
        ridge: Regularisation lambda.
        features: Number of random features; 0 to learn from the columns themselves.
        scale: g of the random features, whose frequencies have the variance 2g / columns that vary.
        seed: Seed of the random features.

    Attributes:
        rounds: Rounds learned.

    Example:
        >>> learner = ForgettingLogistic(1)
        >>> rows, y = np.array([[0.0], [1.0]] * 20), np.array([-1, 1] * 20, dtype=np.int8)
        >>> (learner.play(rows, y)[-2:] > 0.0).tolist()
        [False, True]
    """

    described = "a forgetting learner"
    fields = (
        Argument("width", int),
        Argument("gamma", float),
        Argument("ridge", float),
        Argument("features", int),
        Argument("scale", float),
        Argument("seed", int),
        Count("rounds"),
        Array("moments", at="_moments"),
        Array("inverse", at="_inverse"),
        Array("moment", at="_moment"),
    )

    def __init__(
        self, width: int, gamma: float = 0.998, ridge: float = 1.0, features: int = 0, scale: float = 0.5, seed: int = 0
    ) -> None:
        if type(width) is not int or not 0 < width <= MOST or type(features) is not int or not 0 <= features <= MOST:
            got = f"{shown(width)} and {shown(features)}"
            raise InputError(f"columns must be from 1 to {MOST:,}, random features from 0 to {MOST:,}: got {got}.")
        if not 0.0 < scale < math.inf:
            raise InputError(f"a scale must be above 0: got {shown(scale)}.")
        size = (features or width) + 1
        self.gamma, self.ridge = forgetting(gamma, ridge, size)
        self.width, self.features, self.scale, self.seed, self.rounds = width, features, float(scale), seed, 0
        coins = np.random.default_rng(seed)
        self._turns = coins.normal(size=(features, width)) / (2.0 * np.pi)
        self._shifts = coins.random(features)
        self._moments, self._moment, self._inverse = np.zeros((3, width)), np.zeros(size), np.eye(size) / self.ridge

    def play(self, rows: object, y: NDArray[np.int8]) -> Vector:
        """Return the log-odds (rows,) of rows (rows, width), learning from labels -1 and +1.

        Args:
            rows: Numbers, NaN where a value is missing.
            y: Labels.
        """
        played = self._played(self._checked(rows, len(y)), y, True)
        self.rounds += len(y)
        return played

    def look(self, rows: Any) -> Vector:
        """Return the log-odds (rows,) without learning; each row is forecast as the next round."""
        return self._played(self._checked(rows, None), np.zeros(0, np.int8), False)

    def _checked(self, rows: object, count: int | None) -> Vector:
        found = np.ascontiguousarray(rows, dtype=np.float64)
        fits = found.ndim == 2 and found.shape[1] == self.width and count in (None, len(found))
        if not fits or bool((np.abs(found) > LARGEST_SIZE).any()):
            raise InputError(f"rows must have {self.width} numbers from -2^500 to 2^500: got {shown(rows)}.")
        return found

    def _played(self, rows: Vector, y: NDArray[np.int8], learns: bool) -> Vector:
        played = np.empty(len(rows))
        arrays: Any = self._moments, self._inverse, self._moment, self._turns, self._shifts
        _loops.forgetting.play(
            arrays, self.gamma, self.ridge, curvature(RADIUS), self.scale, self.rounds, rows, y, learns, played
        )
        return played
