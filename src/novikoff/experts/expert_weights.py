"""Base class of rules that weigh experts: Standings stores cumulative losses, Sharing weights, Sleeping gains.

The compiled loops keep sums over the rounds in `numbers` and counters in `counts`
(experts/_loops/standings_layout.py).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.state import Array, Count, Field, Stateful
from novikoff.experts._loops import standings_layout as at
from novikoff.experts.panel import Panel
from novikoff.experts.theorems.experts_facts import ExpertsFacts

Vector = NDArray[np.float64]
StepResult = tuple[Vector, Vector, Vector]


class ExpertWeights(Stateful, ABC):
    """Base class of rules that weigh a panel's experts; they define `_play`, `predict`, `weights` and `facts`.

    Args:
        panel: The experts.
        unit: Divisor of the losses; rates are per unit.
        counts: Initial counters (experts/_loops/standings_layout.py).
        params: Constants of the rule, appended to `numbers`.
    """

    fields: ClassVar[tuple[Field, ...]] = (
        Count("rounds", at=f"_counts.{at.ROUNDS}"),
        Array("numbers", (at.NUMBERS,), inplace=True, at="_numbers"),
    )

    def __init__(self, panel: Panel, unit: float, counts: list[int], params: tuple[float, ...] = ()) -> None:
        self.panel, self.unit = panel, unit
        self._counts = np.array(counts, dtype=np.int64)
        self._numbers = np.array([0.0] * at.NUMBERS + [*params])

    @property
    def rounds(self) -> int:
        """Rounds played so far."""
        return int(self._counts[at.ROUNDS])

    def play(self, rows: Vector, outcomes: Vector) -> StepResult:
        """Play every row; return predictions (expert numbers in a game of losses), losses and mean losses."""
        results = at.Results(np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows)))
        self._play(rows.reshape(-1), outcomes, results)
        return results

    @abstractmethod
    def _play(self, rows: Vector, outcomes: Vector, results: at.Results) -> None:
        """Play every row, compiled; rows are concatenated."""

    @abstractmethod
    def predict(self, row: Vector) -> float:
        """Return the prediction for the next round without learning."""

    @abstractmethod
    def weights(self, row: Vector | None = None) -> Vector:
        """Return the weights of the next round, given its advice if known; they sum to 1."""

    @abstractmethod
    def facts(self) -> ExpertsFacts:
        """Return the facts that the theorems need."""

    def _total(self, place: int) -> float:
        """Return a sum over the rounds, which is kept as two numbers."""
        return float(self._numbers[place] + self._numbers[place + 1])

    def _facts(self, losses: Vector, comparator: int | None = None, **more: object) -> ExpertsFacts:
        """Return the facts of every rule, plus `more`.

        Args:
            losses: Total loss of each expert.
            comparator: Expert to compare with; None for the best one.
            more: Facts of the rule.
        """
        panel, best = self.panel, int(losses.argmin())
        comparator = best if comparator is None else comparator
        facts: dict[str, Any] = {
            "rounds": self.rounds,
            "experts": panel.size,
            "loss": panel.loss.name,
            "play": panel.play,
            "top": panel.loss.top,
            "unit": self.unit,
            "rates": self._total(at.RATES) * self.unit,
            "gaps": self._total(at.GAPS),
            "last_gap": float(self._numbers[at.LAST_GAP]),
            "mixed": self._total(at.MIXED),
            "best": best,
            "best_loss": float(losses[best]),
            "comparator": comparator,
            "comparator_loss": float(losses[comparator]),
            "price": float(panel.prices[comparator]) if panel.size > 1 else 0.0,
            "uniform": panel.uniform,
            "clip": panel.loss.clip,
        }
        return ExpertsFacts(**facts | more)

    def _rounding(self, entrances: float) -> float:
        """Bound the effect of rounding on the regret (standings.py); `entrances` is 1/rate summed over epochs."""
        panel = self.panel
        if panel.size == 1:
            return 0.0
        entropy = math.log(panel.size) + float(panel.prices.max())
        return (self.rounds * panel.loss.top * (2500.0 + 16.0 * entropy) + 512.0 * entrances) * 2.0**-53
