"""The hinge loss of a vector u that the player drags, and the Perceptron's theorem for this u."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

from novikoff.arena.scenes.perceptron import PerceptronScene
from novikoff.arena.scenes.plane import UNIT
from novikoff.comparators.tally import Comparator
from novikoff.core.certificate import Certificate
from novikoff.core.learner import Learner
from novikoff.core.types import Run
from novikoff.linear.perceptron import Perceptron
from novikoff.linear.theorems.perceptron_hinge import perceptron_hinge

MOST = 600
"""Largest coordinate of u, in hundredths."""


class HingeScene(PerceptronScene):
    """Each point within the margin of u costs hinge loss, and the theorem holds for every u."""

    name, title, learner_name = "hinge", "Hinge loss", "perceptron"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"u": (-MOST, MOST, 100), "v": (-MOST, MOST, 100)}

    def made(self) -> Learner:
        return Perceptron()

    @property
    def through_origin(self) -> bool:
        return True

    @property
    def dragged(self) -> tuple[Fraction, Fraction]:
        """The u of the player."""
        return Fraction(self.chosen["u"], UNIT), Fraction(self.chosen["v"], UNIT)

    def losses(self) -> list[Fraction]:
        """Return the hinge loss of u in each round, exactly."""
        u, v = self.dragged
        return [max(Fraction(0), 1 - y * (u * Fraction(x[0]) + v * Fraction(x[1]))) for x, y in self.shown]

    def certificates(self) -> list[Certificate]:
        """Return the theorem's certificate for the u of the player, and for no other u."""
        ledger, (u, v) = self.ledger, self.dragged
        assert ledger.tracker is not None
        found: Any = ledger.tracker.facts(self.learner)
        mine = Comparator(1, 1.0, u * u + v * v, sum(self.losses(), Fraction(0)), Fraction(0), Fraction(0))
        run: Run[Any] = Run(
            before=ledger.before, after=self.learner.facts(), rounds=ledger.rounds, mistakes=ledger.mistakes,
            expected=ledger.expected, constants=(ledger.positives, ledger.rounds - ledger.positives),
            adaptive=False, deterministic=True, tracked=replace(found, comparators=(mine,)),
        )  # fmt: skip
        certificate = perceptron_hinge(run)
        return [] if certificate is None else [certificate]

    def more_certificates(self) -> list[tuple[str, Certificate]]:
        return [("best u found", one) for one in self.ledger.certify() if one.theorem == "perceptron_hinge"]

    def view(self) -> dict[str, object]:
        u, v = self.dragged
        losses = [round(float(loss), 6) for loss in self.losses()]
        return {**super().view(), "u": [float(u), float(v), 0.0], "losses": losses}
