"""Consistent and Halving on the same stream of thresholds."""

from __future__ import annotations

from collections.abc import Mapping

from novikoff.arena.scenes.scene import Beside, Place
from novikoff.arena.scenes.thresholds import ThresholdsScene
from novikoff.finite.classes.threshold import Thresholds
from novikoff.finite.consistent import Consistent
from novikoff.game.game import Game


class RaceScene(ThresholdsScene):
    """Halving asks all thresholds that are left, Consistent follows the first of them; both see the same rounds."""

    name, title, learner_name = "race", "Consistent", "consistent"

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, "me" if rival == "builtin" else rival)
        self.rival = rival
        self.second = Beside("Consistent", Game(Consistent(Thresholds(self.chosen["n"]))))

    def random_place(self) -> Place:
        """Return the point on which Consistent errs, for the built-in rival: the first threshold that is left."""
        return [min(self.learner.lo, self.chosen["n"])] if self.rival == "builtin" else super().random_place()

    def target(self, x: object) -> int:
        return -1 if self.rival == "builtin" else super().target(x)
