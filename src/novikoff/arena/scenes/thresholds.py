"""Halving over thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from novikoff.adversaries.grid_bisection import GridBisection
from novikoff.arena.scenes.scene import Place, Scene
from novikoff.core.learner import Learner
from novikoff.core.types import Adversary
from novikoff.finite.threshold_halving import ThresholdHalving


class ThresholdsScene(Scene):
    """An interval of thresholds that halves."""

    name, title, learner_name = "thresholds", "Thresholds", "threshold-halving"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"n": (1, 1000, 100)}

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        self._target = int(self.coins.integers(0, self.chosen["n"] + 2))

    def made(self) -> Learner:
        return ThresholdHalving(self.chosen["n"])

    def builtin(self) -> Adversary:
        return GridBisection(self.chosen["n"])

    def target(self, x: Any) -> int:
        return 1 if x >= self._target else -1

    def hidden(self) -> list[float] | None:
        """Return the threshold of the target."""
        return [float(self._target)]

    def limits(self) -> list[tuple[int, int]]:
        return [(0, self.chosen["n"])]

    def example(self, place: Place) -> object:
        return place[0]

    def _between(self) -> tuple[int, int]:
        """Return the smallest and largest threshold consistent with all answers; lo > hi if there is none."""
        above = [x for x, y in self.shown if y == 1]
        below = [x + 1 for x, y in self.shown if y == -1]
        return max(below, default=0), min(above, default=self.chosen["n"] + 1)

    def fits(self, x: Any, y: int) -> bool:
        low, high = self._between()
        return bool(low <= min(high, x) if y == 1 else max(low, x + 1) <= high)

    def votes(self, x: object) -> dict[str, int]:
        low, high = self.learner.lo, self.learner.hi
        plus = max(0, min(high, x) - low + 1)
        return {"+": plus, "-": high - low + 1 - plus}

    def apriori(self) -> float:
        return float((self.chosen["n"] + 2).bit_length() - 1)

    def view(self) -> dict[str, object]:
        return {"lo": self.learner.lo, "hi": self.learner.hi, "n": self.chosen["n"]}
