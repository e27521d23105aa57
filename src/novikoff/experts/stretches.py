"""Stretches of blocks that specialists are there for: what each costs, where its loss is kept, what is told of some."""

from __future__ import annotations

import math
from typing import NamedTuple

from novikoff.core.certificate import bound_text

STEADY = 0
"""The block in which the copy that never rests is said to begin."""


class Between(NamedTuple):
    """What happened between two rounds, both included, and what was promised there.

    log_loss, mistakes   of the mixture
    bound                what its log loss could be at most: of the copies begun there, and what they cost
    begun                the log loss of the copies begun there, each on the stretch that it is there for
    steady               that of the copy that began with the first round
    constant             the least log loss, and the fewest mistakes, of one who always says the same
    """

    first: int
    last: int
    mistakes: int
    log_loss: float
    bound: float
    begun: float
    steady: float
    constant: tuple[float, int]

    @property
    def rows(self) -> int:
        """How many rounds."""
        return self.last - self.first + 1

    def __str__(self) -> str:
        rate, most = f"{100 * self.mistakes / self.rows:.3g} %", bound_text(self.bound / self.rows, "upper")
        return (
            f"Rounds {self.first:,} to {self.last:,}: {self.mistakes:,} mistakes in {self.rows:,} ({rate}), "
            f"log loss {self.log_loss / self.rows:.4f} a round; the theorem allows at most {most} there. "
            f"The best constant of these rounds: {self.constant[0] / self.rows:.4f}, and {self.constant[1]:,} "
            f"mistakes. Copies begun there: {self.begun / self.rows:.4f}; the copy that began with the first round: "
            f"{self.steady / self.rows:.4f}."
        )


def doublings(start: int) -> int:
    """How often 2 divides it."""
    return (start & -start).bit_length() - 1


def price(start: int) -> float:
    """What following the copy that began with this block costs, on each of its stretches: ln of 1 / its weight."""
    return math.log(2.0 * start * (start + 1) * (doublings(start) + 1))


def place(start: int) -> int:
    """Where the losses on the stretches of the copy begun with this block are kept: the copies before have so many."""
    return 2 * (start - 1) - (start - 1).bit_count()
