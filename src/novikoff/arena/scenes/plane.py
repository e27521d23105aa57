"""Scenes in the plane: points, and lines that predict +1 on one side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.adversaries.plane_bisection import PlaneBisection
from novikoff.arena.scenes.scene import Place, Scene
from novikoff.core.types import Adversary
from novikoff.data.demo import table

UNIT = 100
"""Half the side of the plane: coordinates run from -UNIT to UNIT."""


class Plane(Scene):
    """Base class of scenes with points in the plane and lines that predict +1 on one side."""

    rivals: ClassVar[tuple[str, ...]] = ("me", "builtin", "target", "data")

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        angle = self.coins.uniform(0.0, 2.0 * math.pi)
        self._target = np.array([math.cos(angle), math.sin(angle), self.coins.uniform(-0.4, 0.4)])
        self._rows: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        if rival == "data":
            self._rows = flowers(self.coins)

    def limits(self) -> list[tuple[int, int]]:
        return [(-UNIT, UNIT), (-UNIT, UNIT)]

    def example(self, place: Place) -> object:
        return np.array(place, dtype=np.float64) / UNIT

    def builtin(self) -> Adversary:
        return PlaneBisection()

    @property
    def through_origin(self) -> bool:
        """Whether every line goes through the origin."""
        return True

    def target(self, x: Any) -> int:
        offset = 0.0 if self.through_origin else self._target[2]
        return 1 if float(x[0] * self._target[0] + x[1] * self._target[1]) + offset >= 0 else -1

    def hidden(self) -> list[float] | None:
        """Return u and b of the target: it labels x with the sign of <u, x> + b."""
        return [*self._target[:2].tolist(), 0.0 if self.through_origin else float(self._target[2])]

    def data(self, place: int) -> tuple[Place, int]:
        """Return the place and label of a row of real data."""
        assert self._rows is not None
        points, labels = self._rows
        place %= len(points)
        return points[place].tolist(), int(labels[place])

    def fits(self, x: object, y: int) -> bool:
        bias = () if self.through_origin else (1.0,)
        return separable([([*point, *bias], label) for point, label in [*self.shown, (x, y)]])


def separable(rows: Sequence[tuple[Any, int]]) -> bool:
    """Return whether some u has y <u, x> > 0 on all rows (x, y)."""
    from scipy.optimize import linprog

    # Linear program: maximise s subject to y <u, x> >= s on all rows and |u_i| <= 1; u exists if s > 0.
    signed = -np.array([label for _, label in rows])[:, None] * np.array([point for point, _ in rows])
    wanted = np.hstack([signed, np.ones((len(rows), 1))])
    width = signed.shape[1]
    found = linprog([0.0] * width + [-1.0], wanted, np.zeros(len(rows)), bounds=[(-1, 1)] * width + [(0, 1)])
    return bool(found.status == 0 and found.x[-1] > 1e-9)


def flowers(coins: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return two measurements of irises, versicolor or virginica, as places of the plane in random order."""
    _, measures, species = table("iris")
    chosen = species != "setosa"
    rows, labels = measures[chosen][:, 2:], np.where(species[chosen] == "virginica", 1, -1)
    low, high = rows.min(axis=0), rows.max(axis=0)
    places = np.rint((2.0 * (rows - low) / (high - low) - 1.0) * 0.9 * UNIT).astype(np.int64)
    order = coins.permutation(len(places))
    return places[order], labels[order].astype(np.int64)
