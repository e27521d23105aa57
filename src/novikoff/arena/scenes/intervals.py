"""Prediction intervals with guaranteed coverage, around a forecaster of a series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from novikoff.arena.scenes.scene import Place, Scene
from novikoff.conformal.conformal import Conformal
from novikoff.convex.vaw import VAW
from novikoff.core.certificate import Certificate
from novikoff.core.learner import Learner

STEP = 0.2
"""Step of the threshold: large, so that the bound is informative after some twenty rounds."""
PERIOD = 40
"""Rounds after which the series of the hidden target changes its shape."""


class IntervalsScene(Scene):
    """An interval for the next value of a series: it widens after a miss and shrinks after a hit."""

    name, title, learner_name = "intervals", "Intervals", "conformal"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"cover": (50, 95, 80)}
    labelled = False

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, "me")
        self.rival = rival
        self.values: list[float] = [0.0, 0.0]
        self.missed = 0

    def made(self) -> Learner:
        return Conformal(VAW(), alpha=1.0 - self.chosen["cover"] / 100, step=STEP)

    def limits(self) -> list[tuple[int, int]]:
        return [(-100, 100)]

    def example(self, place: Place) -> object:
        return place[0] / 100

    def _row(self) -> Any:
        """Return the row for the next value: the last two and a constant."""
        return np.array([self.values[-1], self.values[-2], 1.0])

    def interval(self) -> tuple[float, float]:
        """Return the interval for the next value."""
        low, high = self.learner.predict_set(self._row())
        return float(low), float(high)

    def random_place(self) -> Place:
        """Return the next value: just outside the interval for the built-in rival, otherwise of a noisy wave."""
        t = len(self.values) - 2
        if self.rival == "builtin":
            low, high = self.interval()
            above = math.floor(100 * high) + 1 if high < 1.0 else 101
            return [above if above <= 100 else max(-100, math.ceil(100 * low) - 1) if low > -1.0 else 0]
        slow = 5.0 if t // PERIOD % 2 == 0 else 2.0
        value = 0.55 * math.sin(t / slow) + 0.12 * self.coins.normal() + 0.25 * (t // PERIOD % 2)
        return [int(np.clip(round(100 * value), -100, 100))]

    def free(self, x: object) -> dict[str, bool]:
        return {"+": True, "-": True}

    def learn(self, x: Any, y: int) -> int:
        low, high = self.interval()
        self.missed += not low <= x <= high
        self.game.learn_one(self._row(), x)
        self.values.append(x)
        self.shown.append((x, y))
        return 0

    def paid(self) -> int:
        return self.missed

    def allowed(self, certificates: Sequence[Certificate]) -> list[float]:
        """Return the misses that the deviation of the coverage allows."""
        bounds = [one.bound for one in certificates if one.theorem == "coverage_deviation"]
        alpha, rounds = 1.0 - self.chosen["cover"] / 100, self.ledger.rounds
        return [float(math.floor(rounds * (alpha + bound) + 1e-6)) for bound in bounds if bound is not None]

    def view(self) -> dict[str, object]:
        low, high = self.interval()
        return {"low": max(low, -9.0), "high": min(high, 9.0), "missed": self.missed, "cover": self.chosen["cover"]}
