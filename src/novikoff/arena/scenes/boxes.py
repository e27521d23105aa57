"""Halving over boxes on a grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from novikoff.arena.scenes.scene import Place, Scene
from novikoff.core.learner import Learner
from novikoff.finite.classes.rectangle import how_many_boxes
from novikoff.finite.rectangle_halving import RectangleHalving


class BoxesScene(Scene):
    """All boxes on a grid vote; a box that errs is removed."""

    name, title, learner_name = "boxes", "Papayas", "rectangle-halving"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"m": (2, 31, 21)}
    rivals: ClassVar[tuple[str, ...]] = ("me", "target")

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        ends = np.sort(self.coins.integers(0, self.chosen["m"], size=(2, 2)), axis=1)
        self._target = ends

    def made(self) -> Learner:
        return RectangleHalving(self.chosen["m"], 2)

    def target(self, x: Any) -> int:
        inside = all(low <= value <= high for value, (low, high) in zip(x, self._target, strict=True))
        return 1 if inside else -1

    def hidden(self) -> list[float] | None:
        """Return the first and last cell of the target on each axis."""
        return [float(end) for end in self._target.reshape(-1)]

    def limits(self) -> list[tuple[int, int]]:
        return [(0, self.chosen["m"] - 1)] * 2

    def example(self, place: Place) -> object:
        return tuple(place)

    def fits(self, x: object, y: int) -> bool:
        positive = [point for point, label in [*self.shown, (x, y)] if label == 1]
        negative = [point for point, label in [*self.shown, (x, y)] if label == -1]
        if not positive:
            return True
        low, high = (tuple(edge(axis) for axis in zip(*positive, strict=True)) for edge in (min, max))
        return not any(all(a <= v <= b for a, v, b in zip(low, point, high, strict=True)) for point in negative)

    def votes(self, x: object) -> dict[str, int]:
        plus = self.learner.votes(x)
        return {"+": plus, "-": self.learner.size - plus}

    def apriori(self) -> float:
        return float(how_many_boxes(self.chosen["m"], 2).bit_length() - 1)

    def view(self) -> dict[str, object]:
        learner = self.learner
        return {"m": self.chosen["m"], "left": learner.size, "low": learner.low, "high": learner.high}

    def field(self) -> dict[str, object]:
        m, size = self.chosen["m"], self.learner.size
        shares = [round(self.learner.votes((x, y)) / size, 3) for y in range(m - 1, -1, -1) for x in range(m)]
        return {"n": m, "shares": shares}
