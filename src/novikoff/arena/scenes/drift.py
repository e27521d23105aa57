"""A stream whose target turns, and copies of a learner that take over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from novikoff.arena.scenes.plane import Plane
from novikoff.arena.scenes.scene import Scene
from novikoff.convex.logistic import Logistic
from novikoff.core.certificate import Certificate
from novikoff.core.learner import Learner
from novikoff.core.types import Batch
from novikoff.experts.specialists import Specialists

GRID = 25
"""Points per side of the picture of the plane."""


class DriftScene(Plane):
    """The target turns now and then. Fresh copies of the learner start all the time, and the better ones take over."""

    name, title, learner_name = "drift", "Drift", "specialists"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"block": (4, 32, 8), "turn": (20, 200, 60)}
    rivals: ClassVar[tuple[str, ...]] = ("me", "target")

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        self._angles = self.coins.uniform(1.2, 2.4, size=64).cumsum()
        self._steady = 0.0

    def made(self) -> Learner:
        return Specialists(Logistic(), block=self.chosen["block"])

    def hidden(self) -> list[float]:
        """Return the target of the next round."""
        angle = self._angles[self.ledger.rounds // self.chosen["turn"] % 64]
        return [math.cos(angle), math.sin(angle), 0.0]

    def target(self, x: Any) -> int:
        u, v, _ = self.hidden()
        return 1 if x[0] * u + x[1] * v >= 0 else -1

    def fits(self, x: object, y: int) -> bool:
        return Scene.fits(self, x, y)

    def learn(self, x: object, y: int) -> int:
        p = self.learner.steady.probability_one(x)
        self._steady -= math.log(max(p if y == 1 else 1.0 - p, 1e-300))
        return super().learn(x, y)

    def others(self) -> dict[str, float]:
        return {"first copy": self._steady}

    def paid(self) -> float:
        return float(self.ledger.log_loss or 0.0)

    def allowed(self, certificates: Sequence[Certificate]) -> list[float]:
        return [float(one.bound) for one in certificates if one.bound is not None and one.quantity == "log loss"]

    def view(self) -> dict[str, object]:
        shares: dict[int, float] = {}
        for first, weight in zip(*self.learner.awake(), strict=True):
            shares[first] = shares.get(first, 0.0) + float(weight)  # two copies start in the first round
        return {"copies": [[first, round(share, 4)] for first, share in shares.items()],
                "turn": self.chosen["turn"] if self.rival == "target" else 0}  # fmt: skip

    def field(self) -> dict[str, object]:
        along = np.linspace(-1.0, 1.0, GRID)
        points = np.array([[x, y] for y in along[::-1] for x in along])
        scores = np.asarray(self.learner.scores_many(Batch(points, np.ones(len(points), np.int8), 0)))
        chances = 1.0 / (1.0 + np.exp(-np.clip(scores, -50.0, 50.0)))
        levels = np.rint(9 * np.abs(2.0 * chances - 1.0)).astype(np.int64)
        return {
            "n": GRID,
            "says": "".join("+" if p >= 0.5 else "-" for p in chances.tolist()),
            "levels": "".join(map(str, levels.tolist())),
        }
