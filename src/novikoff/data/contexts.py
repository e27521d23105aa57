"""Contexts: what a bandit is shown in each round, and the losses of all arms; a simulation in memory.

X has a row for each round: an example for learners, or with `advice` the arm that each expert says (bandits/exp4.py).
The losses have a column for each arm. Without contexts: `nk.Losses`.
"""

from __future__ import annotations

from collections.abc import Iterator

from numpy.typing import ArrayLike

from novikoff.core.errors import SourceError
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Position
from novikoff.data.advice import at_once, numbers
from novikoff.data.arrays import in_batches


class Contexts(Stream):
    """Rows X and the losses of each arm, of as many rounds."""

    rereadable = True

    def __init__(self, X: ArrayLike, losses: ArrayLike, advice: bool = False, name: str = "contexts") -> None:
        self.name = name
        self._x, self._y = numbers(X, 2, "X", name), numbers(losses, 2, "a table of losses", name)
        if len(self._x) != len(self._y):
            raise SourceError(
                f"X and the losses must be of one length: got {len(self._x):,} and {len(self._y):,} rounds."
            )
        self.domain, self.rows = Domain("advice" if advice else "vector", self._x.shape[1]), len(self._y)
        self.outcomes = "labels" if advice else "numbers"

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        return in_batches(self._x, self._y, start, at_once(self._y), "owned")
