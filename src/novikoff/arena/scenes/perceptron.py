"""The Perceptron in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from novikoff.arena.scenes.plane import Plane
from novikoff.core.learner import Learner
from novikoff.linear.perceptron import Perceptron
from novikoff.linear.proofs import chosen


class PerceptronScene(Plane):
    """A line that turns with each mistake."""

    name, title, learner_name = "perceptron", "Perceptron", "perceptron"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"bias": (0, 1, 1)}

    def made(self) -> Learner:
        return Perceptron(bias=float(self.chosen.get("bias", 1)))

    @property
    def through_origin(self) -> bool:
        return not self.chosen.get("bias", 1)

    def best(self) -> dict[str, object] | None:
        """Return u and b of the comparator, and the margin with which it separates the rows; 0 if it does not."""
        assert self.ledger.tracker is not None
        tracked = self.ledger.tracker.facts(self.learner)
        found = chosen(tracked)
        if found is None:
            return None
        u, norm = found
        w = np.array([*u[:2], u[-1] * self.learner.bias]) if len(u) == 3 else np.zeros(3)
        margin = min(y * float(np.dot(w, [*x, 1.0])) for x, y in self.shown) / norm
        return {"w": w.tolist(), "norm": norm, "margin": max(margin, 0.0)}

    def view(self) -> dict[str, object]:
        weights = self.learner.weights
        plane = [float(w) for w in weights[:2]] if len(weights) >= 2 else [0.0, 0.0]
        return {"w": [*plane, float(self.learner.bias_weight)]}
