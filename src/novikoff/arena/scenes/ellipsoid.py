"""The ellipsoid method in the plane."""

from __future__ import annotations

from novikoff.arena.scenes.plane import Plane
from novikoff.core.learner import Learner
from novikoff.linear.ellipsoid import Ellipsoid


class EllipsoidScene(Plane):
    """An ellipse that contains the target; each mistake cuts it."""

    name, title, learner_name = "ellipsoid", "Ellipsoid", "ellipsoid"

    def made(self) -> Learner:
        return Ellipsoid(width=2)

    def view(self) -> dict[str, object]:
        centre, factor = self.learner.weights, self.learner.factor
        return {"centre": centre.tolist(), "factor": factor.tolist(), "w": [*centre.tolist(), 0.0]}
