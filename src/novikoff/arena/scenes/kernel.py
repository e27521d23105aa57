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

FIELD = 41
"""Points per side of the picture of the plane."""
RING = (0.35, 0.75)
"""Inner and outer radius of the ring that the hidden target labels +1."""
LEVELS = 9
"""Largest level of confidence in the picture: a score's level is its share of the largest score."""


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
        return 1 if RING[0] <= far <= RING[1] else -1

    def hidden(self) -> list[float] | None:
        """Return the centre and the two radii of the ring."""
        return [0.3 * float(self._target[2]), *RING]

    def fits(self, x: object, y: int) -> bool:
        return Scene.fits(self, x, y)

    def view(self) -> dict[str, object]:
        return self.memory(self.learner)

    @staticmethod
    def memory(learner: Any) -> dict[str, object]:
        """Return the examples that a learner stores, with their weights."""
        if not learner.size:
            return {"supports": [], "weights": []}
        rows, weights = learner.supports.expansion()
        return {"supports": np.asarray(rows).tolist(), "weights": np.round(weights, 6).tolist()}

    def field(self) -> dict[str, object]:
        return picture(self.learner, FIELD)


def picture(learner: Any, side: int) -> dict[str, object]:
    """Return the predictions of a learner, and their confidence, on a grid of side * side points of the plane."""
    along = np.linspace(-1.0, 1.0, side)
    points = np.array([[x, y] for y in along[::-1] for x in along])
    batch = Batch(points, np.ones(len(points), np.int8), 0)
    predicted, scores = learner.predict_many(batch), np.abs(learner.scores_many(batch))
    levels = np.rint(LEVELS * scores / max(float(scores.max()), 1e-300)).astype(np.int64)
    return {
        "n": side,
        "says": "".join("+" if label == 1 else "-" for label in predicted.tolist()),
        "levels": "".join(map(str, levels.tolist())),
    }
