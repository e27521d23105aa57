"""Halving over directions of the plane, and of space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from novikoff.arena.scenes.plane import UNIT, Plane, separable
from novikoff.arena.scenes.scene import Place
from novikoff.core.learner import Learner
from novikoff.finite.cover_halving import CoverHalving


class HalfspacesScene(Plane):
    """Directions that cover the circle; the majority of those still consistent decides."""

    name, title, learner_name = "halfspaces", "Circle", "cover-halving"

    def made(self) -> Learner:
        return CoverHalving(2, largest=256)

    def votes(self, x: object) -> dict[str, int]:
        votes = self.learner.votes(x)
        return {"+": votes, "-": self.learner.size - votes}

    def view(self) -> dict[str, object]:
        points, alive = self.learner.survivors()
        angles = np.arctan2(points[1], points[0])
        return {"angles": np.round(angles, 4).tolist(), "alive": alive.tolist(), "epsilon": self.learner.epsilon}


class SphereScene(HalfspacesScene):
    """Directions that cover a sphere: each answer cuts the sphere along a great circle, and one side is removed."""

    name, title = "sphere", "Sphere"
    rivals = ("me", "target")

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        u = self.coins.normal(size=3)
        self._target = u / np.linalg.norm(u)
        self._sent = -1

    def made(self) -> Learner:
        return CoverHalving(3, largest=500)

    def example(self, place: Place) -> Any:
        """Return the point of the front half of the sphere over a place; outside of the disc, the one on its edge."""
        a, b = (value / UNIT for value in place)
        far = math.hypot(a, b)
        return np.array([a / far, b / far, 0.0] if far >= 1.0 else [a, b, math.sqrt(1.0 - far * far)])

    def target(self, x: object) -> int:
        return 1 if float(x @ self._target) >= 0 else -1

    def hidden(self) -> list[float]:
        """Return the target's u."""
        return [float(value) for value in self._target]

    def fits(self, x: object, y: int) -> bool:
        return separable([*self.shown, (x, y)])

    def view(self) -> dict[str, object]:
        """Return which directions are left; the directions themselves only where their cover is new."""
        points, alive = self.learner.survivors()
        found: dict[str, object] = {"alive": "".join("1" if one else "0" for one in alive.tolist()),
                                 "epsilon": self.learner.epsilon}  # fmt: skip
        if self._sent != self.learner.level:
            self._sent = self.learner.level
            found["points"] = np.round(points.T, 3).tolist()
        return found
