"""What theorems on coverage share: what the ledger counted, beside the thresholds of the learner."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from novikoff.core.certificate import Assumption, seen

LARGEST = 1
"""Of the scores."""


@dataclass(frozen=True, slots=True)
class CoverageFacts:
    """The sets of a game, since its ledger was opened.

    alpha, step   the share of misses asked for; how far a threshold moves
    rule          "tracker", or how else thresholds are found, under the governor
    groups        what each group is called
    rounds        of each group, as the ledger counted them
    misses        outcomes that were in no set, of each group, as the ledger counted them
    before        the threshold of each group when the game started
    after         the threshold of each group now
    played        rounds of each group since the learner's first
    missed        misses of each group since the learner's first, as the learner counted them
    pinball       the pinball loss of the thresholds
    best          the constant threshold that is best in hindsight, of those at the ends of bins
    moved         of each group, with steps that fall: what its thresholds say of its misses beyond those asked for
    start         the first threshold
    overlapping   where groups overlap, and `groups` are cells: what each is called, and its cells
    columns       in how many of them a row is
    best_pinball  its pinball loss, and what the theorem charges for its distance from where the thresholds began
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

    def ahead(self, group: int) -> Fraction:
        """How many misses more than asked for, exactly; less than 0 if there were fewer."""
        return self.misses[group] - Fraction(self.alpha) * self.rounds[group]

    def rounding(self, group: int) -> Fraction:
        """What a threshold in floats may be off by."""
        sizes = 2 + Fraction(self.step) * (self.missed[group] + self.played[group] + 1)
        return Fraction(8, 2**53) * sizes

    def counted(self) -> Assumption:
        """The learner counted what the ledger did."""
        sound = all(
            rounds <= played and misses <= missed
            for rounds, played, misses, missed in zip(self.rounds, self.played, self.misses, self.missed, strict=True)
        )
        return seen("the learner's counts include those of the ledger", sound)

    def follows(self) -> Assumption:
        """Each threshold has moved by just what the misses say: q at the end - q at first = step (misses - alpha T)."""
        sound = all(
            abs(Fraction(after) - Fraction(before) - Fraction(self.step) * self.ahead(g)) <= 2 * self.rounding(g)
            for g, (before, after) in enumerate(zip(self.before, self.after, strict=True))
        )
        return seen("each threshold moved by the step times its excess misses", sound)

    def in_range(self) -> Assumption:
        """No threshold began where none can come."""
        low, high = -self.step * self.alpha, LARGEST + self.step * (1.0 - self.alpha)
        sound = all(low - 1e-9 <= q <= high + 1e-9 for q in self.before)
        return seen("each threshold started within its range", sound)
