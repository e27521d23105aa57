"""Weights of the forecasters of linear mixtures, binary and multiclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.state import Array, require
from novikoff.core.types import State
from novikoff.mixtures._loops import linear_mixture_layout as mix


class Forecasters:
    """Mixin with `_standing`: one row per quantity of _loops/linear_mixture_layout.py, one column per forecaster."""

    rounds: int
    _standing: NDArray[np.float64]

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the forecasters, in order."""
        weights: NDArray[np.float64] = np.exp(self._standing[mix.LOG_WEIGHT])
        return weights

    @property
    def shares(self) -> NDArray[np.float64]:
        """Mean weight of each forecaster over all rounds, among those awake."""
        shares: NDArray[np.float64] = self._standing[mix.SHARE] / max(self.rounds, 1)
        return shares

    @property
    def size(self) -> int:
        """Number of forecasters awake."""
        return int(np.count_nonzero(self._standing[mix.IDLE] >= 0.0))


@dataclass(frozen=True)
class Standing(Array):
    """Saved `_standing` of forecasters."""

    def unpack(self, state: State, owner: object, of: str) -> Any:
        saved, rows = state[self.name], mix.STANDING
        kept = isinstance(saved, np.ndarray) and len(saved) == rows
        require(
            kept,
            f"a saved linear mixture must have {rows} numbers per member, older ones have fewer: train it again",
            saved,
        )
        found = super().unpack(state, owner, of)
        idle, slept = found[mix.IDLE, [0, -1]], found[mix.SLEPT, [0, -1]]  # a diagonal member and the stack never rest
        awake = bool((idle >= 0.0).all() and (slept == 0.0).all())
        require(awake, "the first member of a linear mixture and its stack must have been awake", [idle, slept])
        return found


PLANS = ((1, 0, 0), (4, 0, 0), (4, 2, 4))
"""Possible numbers of rates, ridges and random-feature members."""


def plan_of(saved: Any) -> tuple[int, int, int]:
    """Return the plan that was saved as a list."""
    return PLANS[PLANS.index(tuple(saved))]
