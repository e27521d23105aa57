"""From an online game to one classifier: which hypothesis to keep, and the limit on its risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from novikoff.arena.scenes.perceptron import PerceptronScene
from novikoff.arena.scenes.plane import UNIT
from novikoff.arena.scenes.scene import Place
from novikoff.core.certificate import Certificate
from novikoff.online_to_batch.theorems.best_risk import best_risk
from novikoff.online_to_batch.theorems.best_risk import limit as best_limit
from novikoff.online_to_batch.theorems.risk_facts import BestFacts

DELTA = 0.05
"""Probability that the limit may fail."""
JUDGED = 4000
"""New examples on which the true risk of the kept hypothesis is measured once the target is shown."""


@lru_cache(maxsize=2**16)
def limit(errors: int, trials: int, first: int) -> float:
    """Return the limit on the risk of a hypothesis, for all rounds at once."""
    return best_limit(errors, trials, first, first + trials, DELTA, False)


class RiskScene(PerceptronScene):
    """Each mistake makes a new line. Which one to keep, and how often will it be wrong on new points?"""

    name, title, learner_name = "risk", "Risk", "perceptron"
    rivals: ClassVar[tuple[str, ...]] = ("me", "target", "data")
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"noise": (0, 40, 5)}
    lasting = False

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        self._lines: list[dict[str, Any]] = []  # distinct hypotheses: first round, weights, errors since
        super().__init__(options, seed, rival)
        self._keep()

    def _w(self) -> list[float]:
        weights = self.learner.weights
        plane = [float(w) for w in weights[:2]] if len(weights) >= 2 else [0.0, 0.0]
        return [*plane, float(self.learner.bias_weight)]

    def _keep(self) -> None:
        """Add the hypothesis of now, if it is a new one."""
        w = self._w()
        if not self._lines or self._lines[-1]["w"] != w:
            self._lines.append({"first": self.ledger.rounds, "w": w, "errors": 0})

    def learn(self, x: Any, y: int) -> int:
        for line in self._lines:
            line["errors"] += (1 if np.dot(line["w"], [*x, 1.0]) >= 0 else -1) != y
        predicted = super().learn(x, y)
        self._keep()
        return predicted

    def target(self, x: object) -> int:
        """Return the label of the target, or, as often as `noise` says, the other one."""
        right = super().target(x)
        return -right if self.coins.random() < self.chosen["noise"] / 100 else right

    def random_place(self) -> Place:
        """Draw a point uniformly."""
        return [int(value) for value in self.coins.integers(-UNIT, UNIT + 1, size=2)]

    def limits_of(self) -> list[float]:
        """Return the limit on the risk of each hypothesis."""
        rounds = self.ledger.rounds
        return [limit(line["errors"], rounds - line["first"], line["first"]) for line in self._lines]

    def kept(self) -> int:
        """Return the number of the hypothesis with the smallest limit, the first of equals."""
        return int(np.argmin(self.limits_of()))

    def certificates(self) -> list[Certificate]:
        line, rounds = self._lines[self.kept()], self.ledger.rounds
        facts = BestFacts(
            rounds=rounds, delta=DELTA, candidates=len(self._lines), first=line["first"], errors=line["errors"],
            trials=rounds - line["first"], mistakes=self.ledger.mistakes, horizon=False,
        )  # fmt: skip
        certificate = best_risk(facts)
        return [] if certificate is None else [certificate]

    def paid(self) -> float:
        """Return the error rate of the kept hypothesis since it was made, in percent."""
        line = self._lines[self.kept()]
        trials = self.ledger.rounds - line["first"]
        return 100.0 * line["errors"] / trials if trials else 0.0

    def allowed(self, certificates: Sequence[Certificate]) -> list[float]:
        """Return the limit on the risk, in percent."""
        return [100.0 * one.bound for one in certificates if one.bound is not None]

    def hidden(self) -> list[float]:
        """Return the target, and the error rate of the kept hypothesis on new draws of it, in percent."""
        u = np.array([*self._target[:2], self._target[2]])
        points = np.hstack([np.random.default_rng(0).uniform(-1.0, 1.0, size=(JUDGED, 2)), np.ones((JUDGED, 1))])
        other = float(np.mean((points @ u >= 0) != (points @ np.array(self._lines[self.kept()]["w"]) >= 0)))
        noise = self.chosen["noise"] / 100
        return [*map(float, u), 100.0 * (noise + other * (1.0 - 2.0 * noise))]

    def best(self) -> None:
        """Return None: the comparator of another theorem would only confuse here."""

    def view(self) -> dict[str, object]:
        limits = self.limits_of()
        lines = [{**line, "limit": 100.0 * bound} for line, bound in zip(self._lines, limits, strict=True)]
        return {"w": self._w(), "kept": self.kept(), "lines": lines, "delta": DELTA}
