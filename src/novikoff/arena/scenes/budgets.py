"""Two ways to bound the memory of the kernel Perceptron, on the same stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from novikoff.arena.scenes.kernel import FIELD, KernelScene, picture
from novikoff.arena.scenes.scene import Beside
from novikoff.core.learner import Learner
from novikoff.game.game import Game
from novikoff.kernel.forgetron import Forgetron
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron


class BudgetsScene(KernelScene):
    """Memory for a few examples: the Forgetron fades and drops the oldest, RBP drops a random one."""

    name, title, learner_name = "budgets", "Budgets", "forgetron"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"gamma": (1, 20, 6), "budget": (2, 40, 10)}

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        rbp = RandomizedBudgetPerceptron(self.chosen["budget"], gamma=float(self.chosen["gamma"]), seed=seed)
        self.second = Beside("RBP", Game(rbp))

    def made(self) -> Learner:
        return Forgetron(self.chosen["budget"], gamma=float(self.chosen["gamma"]))

    def view(self) -> dict[str, object]:
        assert self.second is not None
        return {**super().view(), "budget": self.chosen["budget"], "rbp": self.memory(self.second.game.learner)}

    def field(self) -> dict[str, object]:
        assert self.second is not None
        return {**picture(self.learner, FIELD), "rbp": picture(self.second.game.learner, FIELD)}
