"""The kernel Perceptron in the plane, and the Forgetron."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from novikoff.arena.scenes.plane import Plane
from novikoff.arena.scenes.scene import Scene
from novikoff.core.learner import Learner
from novikoff.core.types import Batch
from novikoff.kernel.forgetron import Forgetron
from novikoff.kernel.kernel_perceptron import KernelPerceptron

FIELD = 61
"""Points per side of the picture of the plane."""


class KernelScene(Plane):
    """Bumps around the examples the learner got wrong; with a budget, the oldest fade."""

    name, title, learner_name = "kernel", "Kernel", "kernel-perceptron"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"gamma": (1, 20, 6), "budget": (0, 40, 0)}
    rivals: ClassVar[tuple[str, ...]] = ("me", "target", "data")

    def made(self) -> Learner:
        gamma, budget = float(self.chosen["gamma"]), self.chosen["budget"]
        return Forgetron(max(budget, 1), gamma=gamma) if budget else KernelPerceptron(gamma=gamma)

    def target(self, x: Any) -> int:
        """Return 1 inside a ring, -1 elsewhere."""
        far = math.hypot(x[0] - 0.3 * self._target[2], x[1])
        return 1 if 0.35 <= far <= 0.75 else -1

    def fits(self, x: Any, y: int) -> bool:
        return Scene.fits(self, x, y)

    def view(self) -> dict[str, Any]:
        if not self.learner.size:
            return {"supports": [], "weights": []}
        rows, weights = self.learner.supports.expansion()
        return {"supports": np.asarray(rows).tolist(), "weights": np.asarray(weights).tolist()}

    def field(self) -> dict[str, Any]:
        along = np.linspace(-1.0, 1.0, FIELD)
        points = np.array([[x, y] for y in along[::-1] for x in along])
        predicted = self.learner.predict_many(Batch(points, np.ones(len(points), np.int8), 0))
        return {"n": FIELD, "says": "".join("+" if label == 1 else "-" for label in predicted.tolist())}
