"""Forecasters: what a mixture of members and a stack tells of their weights, whether labels are two or many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.core.state import array, require
from novikoff.core.types import State
from novikoff.mixtures._loops import auto_layout as mix


class Forecasters:
    """Has `_standing`, a row for each fact of mixtures/_loops/auto_layout.py, and a column for each forecaster."""

    rounds: int
    _standing: NDArray[np.float64]

    @property
    def weights(self) -> NDArray[np.float64]:
        """Of the forecasters, in their order."""
        weights: NDArray[np.float64] = np.exp(self._standing[mix.LOG_WEIGHT])
        return weights

    @property
    def shares(self) -> NDArray[np.float64]:
        """The mean of each weight over all rounds, of those awake."""
        shares: NDArray[np.float64] = self._standing[mix.SHARE] / max(self.rounds, 1)
        return shares

    @property
    def size(self) -> int:
        """Forecasters awake."""
        return int(np.count_nonzero(self._standing[mix.IDLE] >= 0.0))

    def _load_standing(self, state: State) -> None:
        saved, rows = state["standing"], mix.STANDING
        kept = isinstance(saved, np.ndarray) and len(saved) == rows
        require(
            kept, f"members of auto must have {rows} numbers each, as since they wake again: train it once more", saved
        )
        self._standing = array(state, "standing", self._standing.shape)
        awake = self._standing[mix.IDLE, [0, -1]]  # a diagonal member and the stack never rest
        require(bool((awake >= 0.0).all()), "the first member of auto and its stack must be awake", awake)
