"""Halving over directions of the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.arena.scenes.plane import Plane
from novikoff.core.learner import Learner
from novikoff.finite.cover_halving import CoverHalving


class HalfspacesScene(Plane):
    """Directions that cover the circle; the majority of those still consistent decides."""

    name, title, learner_name = "halfspaces", "Halfspaces", "cover-halving"

    def made(self) -> Learner:
        return CoverHalving(2, largest=256)

    def votes(self, x: object) -> dict[str, int]:
        votes = self.learner.votes(x)
        return {"+": votes, "-": self.learner.size - votes}

    def view(self) -> dict[str, Any]:
        points, alive = self.learner.survivors()
        angles = np.arctan2(points[1], points[0])
        return {"angles": np.round(angles, 4).tolist(), "alive": alive.tolist(), "epsilon": self.learner.epsilon}
