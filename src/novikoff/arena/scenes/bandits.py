"""Bandits: arms of which only the one played shows its loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from novikoff.arena.scenes.scene import Place, Scene
from novikoff.bandits.exp3_ix import Exp3IX
from novikoff.bandits.tsallis_inf import TsallisINF
from novikoff.bandits.ucb1 import UCB1
from novikoff.core.certificate import Certificate
from novikoff.core.learner import Learner

RULES = ("tsallis-inf", "exp3-ix", "ucb1")
"""Learners, by the option `rule`."""


class BanditsScene(Scene):
    """Slot machines: only the one that is played shows its loss, so estimates take exploring."""

    name, title, learner_name = "bandits", "Bandits", "tsallis-inf"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"arms": (2, 6, 3), "rule": (0, 2, 0)}
    labelled = False

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        self._seed = seed
        super().__init__(options, seed, rival)
        arms = self.chosen["arms"]
        self._means = np.sort(self.coins.uniform(0.15, 0.85, size=arms))[self.coins.permutation(arms)]
        self._arms: list[int] = []
        self._seen: list[tuple[int, float]] = []

    def opponent(self) -> None:
        """Return None: the built-in rival only chooses losses."""

    def made(self) -> Learner:
        arms = self.chosen["arms"]
        if RULES[self.chosen["rule"]] == "ucb1":
            return UCB1(arms)
        kind = TsallisINF if RULES[self.chosen["rule"]] == "tsallis-inf" else Exp3IX
        return kind(arms, seed=self._seed)

    def limits(self) -> list[tuple[int, int]]:
        return [(0, 2 ** self.chosen["arms"] - 1)]

    def example(self, place: Place) -> Any:
        return np.array([(place[0] >> i) & 1 for i in range(self.chosen["arms"])], dtype=np.float64)

    def hidden(self) -> list[float]:
        """Return the probability with which each arm loses."""
        return [float(mean) for mean in self._means]

    def random_place(self) -> Place:
        """Return the losing arms: the likeliest one for the built-in rival, otherwise each with its probability."""
        if self.rival == "builtin":
            chances = self.learner.chances()
            return [1 << max(chances, key=lambda arm: (chances[arm], -arm))]
        loses = self.coins.random(self.chosen["arms"]) < self._means
        return [int(sum(1 << i for i in np.flatnonzero(loses)))]

    def free(self, x: object) -> dict[str, bool]:
        return {"+": True, "-": True}

    def learn(self, x: Any, y: int) -> int:
        arm = self.learner.predict_one()
        self.game.learn_one(None, x)
        self._seen.append((arm, float(x[arm])))
        self.shown.append((x, y))
        return 0

    def paid(self) -> float:
        return float(self.ledger.loss)

    def others(self) -> dict[str, float]:
        return {"best arm": float(min(self.learner.totals))} if self._seen else {}

    def allowed(self, certificates: Sequence[Certificate]) -> list[float]:
        return [float(one.bound) for one in certificates if one.bound is not None and one.quantity == "loss"]

    def view(self) -> dict[str, object]:
        arms = self.chosen["arms"]
        plays, losses = [0] * arms, [0.0] * arms
        for arm, loss in self._seen:
            plays[arm] += 1
            losses[arm] += loss
        chances = self.learner.chances()
        rounds = max(len(self._seen), 2)
        return {
            "rule": RULES[self.chosen["rule"]],
            "chances": [round(chances.get(arm, 0.0), 4) for arm in range(arms)],
            "plays": plays,
            "losses": losses,
            "width": [round(math.sqrt(2.0 * math.log(rounds) / n), 4) if n else 1.0 for n in plays],
            "totals": [float(total) for total in self.learner.totals],
            "arm": self._seen[-1][0] if self._seen else None,
        }
