"""Facts shared by the theorems on coverage: the counts of the ledger and the thresholds of the learner."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from novikoff.core.certificate import Assumption, seen

LARGEST = 1
"""Largest score."""


@dataclass(frozen=True, slots=True)
class CoverageFacts:
    """Prediction sets of a game since its ledger was opened.

    Attributes:
        alpha: Target fraction of misses.
        step: Step of the thresholds.
        rule: "tracker", or the rule under the governor.
        groups: Name of each group.
        rounds: Rounds of each group, as counted by the ledger.
        misses: Outcomes outside their sets, per group, as counted by the ledger.
        before: Threshold of each group when the game started.
        after: Threshold of each group now.
        played: Rounds of each group since the learner's first.
        missed: Misses of each group since the learner's first, as counted by the learner.
        pinball: Pinball loss of the thresholds.
        best: Best constant threshold in hindsight, among the ends of bins.
        best_pinball: Its pinball loss, plus the theorem's charge for its distance from the initial thresholds.
        moved: With decaying steps: excess misses of each group according to its thresholds.
        start: Initial threshold.
        overlapping: Where groups overlap, and `groups` are cells: name and cells of each group.
        columns: Number of overlapping groups of a row.
        delay: Number of rounds by which outcomes come late.
    """

    alpha: float
    step: float
    rule: str
    groups: tuple[str, ...]
    rounds: tuple[int, ...]
    misses: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    played: tuple[int, ...]
    missed: tuple[int, ...]
    pinball: float
    best: float
    best_pinball: float
    moved: tuple[float, ...] = ()
    start: float = 0.0
    overlapping: tuple[tuple[str, tuple[int, ...]], ...] = ()
    columns: int = 0
    delay: int = 0

    def ahead(self, group: int) -> Fraction:
        """Return the exact excess of misses over the target; negative if there were fewer."""
        return self.misses[group] - Fraction(self.alpha) * self.rounds[group]

    def rounding(self, group: int) -> Fraction:
        """Return a bound on the error of a threshold in floats."""
        sizes = 2 + Fraction(self.step) * (self.missed[group] + self.played[group] + 1)
        return Fraction(8, 2**53) * sizes

    def counted(self) -> Assumption:
        """Return the assumption that the learner's counts include those of the ledger."""
        sound = all(
            rounds <= played and misses <= missed
            for rounds, played, misses, missed in zip(self.rounds, self.played, self.misses, self.missed, strict=True)
        )
        return seen("the learner's counts include those of the ledger", sound)

    def follows(self) -> Assumption:
        """Return the assumption that each threshold moved by step (misses - alpha T)."""
        sound = all(
            abs(Fraction(after) - Fraction(before) - Fraction(self.step) * self.ahead(g)) <= 2 * self.rounding(g)
            for g, (before, after) in enumerate(zip(self.before, self.after, strict=True))
        )
        return seen("each threshold moved by the step times its excess misses", sound)

    def in_range(self) -> Assumption:
        """Return the assumption that each threshold started within its range."""
        steps = (self.delay + 1) * self.step
        low, high = -steps * self.alpha, LARGEST + steps * (1.0 - self.alpha)
        sound = all(low - 1e-9 <= q <= high + 1e-9 for q in self.before)
        return seen("each threshold started within its range", sound)
