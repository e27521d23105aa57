"""Growing trees that correct the forecasts of another forecaster.

Algorithm
    The forecaster gives a base for each row: a logit for two labels, a prediction for numbers. A tree grows on the rows
    and mixes all its prunings (trees/tree.py); the forecast of a node is the base, plus a correction that the node
    learns. For two labels the correction of the logit takes Newton steps; with forgetting below 1 it follows drift in
    the node's region. For numbers it is the mean residual, shrunk to that of the parent. A node is split where the
    corrections of its children gain most.
Promise
    Loss at most that of every pruning plus its price, as for the trees without a base; against the base itself, a
    pruning with one node. No theorem compares it to the best corrections in hindsight.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.trees._loops import layout as at
from novikoff.trees.growing import GrowingTree
from novikoff.trees.store import RowStore

Vector = NDArray[np.float64]


class ResidualTree(GrowingTree):
    """Tree that corrects a base, as a part of mixtures.

        store.add(x, y, absent)
        corrected = tree.correct(store, kinds, first, store.count, base)

    It is saved and restored as every growing tree: `state`, `load`, `attach`. `settle` returns the loss, the bound of
    the best pruning and the checks of the sums.

    Args:
        task: "labels" for the logits of two labels, "numbers" for predictions.
        forgetting: Factor of the curvature of a correction in each round; labels only.
        threshold: Least gain of a cut, in nats.
        least: Least number of rows on each side of a cut.
        ridge: Ridge of the corrections of logits.
    """

    described = "a residual tree"

    def __init__(
        self, task: Literal["labels", "numbers"] = "labels", forgetting: float = 1.0, threshold: float = 10.0,
        least: int = 8, ridge: float = 1.0,
    ) -> None:  # fmt: skip
        kind = at.RESIDUALS if task == "labels" else at.NUMBERS
        super().__init__(kind, 2, threshold, least, forgetting if task == "labels" else 1.0, ridge, based=True)

    def correct(self, store: RowStore, kinds: NDArray[np.int8], first: int, stop: int, base: Vector) -> Vector:
        """Return the corrected base of the stored rows first .. stop - 1, each before its outcome, and learn them.

        Args:
            store: Rows; their outcomes are labels 0 and 1, or numbers.
            kinds: (columns,) 1 for categories.
            first: Number of the first row that this tree has not seen.
            stop: Number of the row to stop before; at most `TOGETHER` rows are played at once.
            base: (rows,) logits or predictions, each made before the outcome.
        """
        return self._one(self.play(store, kinds, first, stop, base))

    def corrected(self, x: NDArray[np.float64], kinds: NDArray[np.int8], base: Vector) -> Vector:
        """Return the corrected base of rows x (rows, columns) without learning."""
        return self._one(self.look(x, kinds, base))

    def _one(self, forecasts: NDArray[np.float64]) -> Vector:
        if self.kind == at.NUMBERS:
            return forecasts[:, 0]
        logits: Vector = np.log(forecasts[:, 1]) - np.log(forecasts[:, 0])
        return logits
