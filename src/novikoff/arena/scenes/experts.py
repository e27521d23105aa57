"""Exponential weights, and the losses of the experts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from novikoff.arena.scenes.scene import Place, Scene
from novikoff.core.certificate import Certificate
from novikoff.core.learner import Learner
from novikoff.experts.exponential_weights import ExponentialWeights


class ExpertsScene(Scene):
    """Weights of experts; in each round you choose which experts lose."""

    name, title, learner_name = "experts", "Experts", "exponential-weights"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"experts": (2, 8, 4)}
    labelled = False

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, "me")
        self.rival = rival
        self._chances = self.coins.uniform(0.2, 0.8, size=self.chosen["experts"])

    def made(self) -> Learner:
        return ExponentialWeights(self.chosen["experts"], loss="table", play="mean")

    def limits(self) -> list[tuple[int, int]]:
        return [(0, 2 ** self.chosen["experts"] - 1)]

    def example(self, place: Place) -> object:
        return np.array([(place[0] >> i) & 1 for i in range(self.chosen["experts"])], dtype=np.float64)

    def random_place(self) -> Place:
        """Return the losing experts: the heaviest one for the built-in rival, otherwise each with its probability."""
        if self.rival == "builtin":
            return [1 << int(np.argmax(self.learner.weights))]
        loses = self.coins.random(self.chosen["experts"]) < self._chances
        return [int(sum(1 << i for i in np.flatnonzero(loses)))]

    def free(self, x: object) -> dict[str, bool]:
        return {"+": True, "-": True}

    def learn(self, x: object, y: int) -> int:
        self.game.learn_one(None, x)
        self.shown.append((x, y))
        return 0

    def allowed(self, certificates: Sequence[Certificate]) -> list[float]:
        """Return the bounds on the loss: that of the best expert, plus a bound on the regret."""
        best = float(self.learner.facts().best_loss)
        return [best + float(one.bound) for one in certificates if one.bound is not None and "regret" in one.quantity]

    def others(self) -> dict[str, float]:
        return {"best expert": float(self.learner.facts().best_loss)}

    def view(self) -> dict[str, object]:
        facts = self.learner.facts()
        lost = np.sum([losses for losses, _ in self.shown], axis=0) if self.shown else np.zeros(self.chosen["experts"])
        return {"weights": self.learner.weights.tolist(), "losses": lost.tolist(), "lost": self.ledger.expected,
                "best": float(facts.best_loss)}  # fmt: skip
