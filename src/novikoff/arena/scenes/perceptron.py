"""The Perceptron in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from novikoff.arena.scenes.plane import Plane
from novikoff.core.learner import Learner
from novikoff.linear.perceptron import Perceptron


class PerceptronScene(Plane):
    """A line that turns with each mistake."""

    name, title, learner_name = "perceptron", "Perceptron", "perceptron"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"bias": (0, 1, 1)}

    def made(self) -> Learner:
        return Perceptron(bias=float(self.chosen["bias"]))

    @property
    def through_origin(self) -> bool:
        return not self.chosen["bias"]

    def view(self) -> dict[str, Any]:
        weights = self.learner.weights
        plane = [float(w) for w in weights[:2]] if len(weights) >= 2 else [0.0, 0.0]
        return {"w": [*plane, float(self.learner.bias_weight)]}
