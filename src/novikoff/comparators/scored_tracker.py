"""What trackers share that are shown the scores a learner played, not its mistakes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.background import Background
from novikoff.comparators.rows import Gathered
from novikoff.core.state import integer
from novikoff.core.types import Batch, State

COMPARATORS = "comparators"
KEEP = 16_000_000
"""Bytes of rows that are kept, if nothing is said."""
MANY = 4096
"""Pieces of rows that are kept before they are put together."""
SMALL = 64
"""Batches of fewer rows are looked at at once."""


def whole_numbers(state: State, *names: str) -> list[int]:
    """Counts of a tracker's state, checked."""
    return [integer(state, name, of=COMPARATORS) for name in names]


class ScoredTracker:
    """A tracker that is shown scores."""

    scored = True

    def due(self, rounds: int) -> int:
        """After how many of the next so many rounds it wants to `look` at the learner: it never does."""
        return rounds

    def look(self, learner: Any) -> None:
        """The game stands still at a round that was `due`."""


class WarmTracker(ScoredTracker, ABC):
    """One that keeps the first rows, of `keep` bytes, to fit comparators on; `_settle` does, and what follows is added.

    outcomes   the kind of number that they are
    """

    outcomes: ClassVar[type[np.generic]]
    rows = places = 0

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self._kept: list[Any] | None = []  # pieces (nonzeros, y, scores); None once there are vectors
        self._size = self._fitted = 0
        self._gathered, self._background = Gathered(), Background()

    def catch_up(self) -> None:
        """Look at every round that was shown and waits."""
        self._background.catch_up()
        for x, y, scores in self._gathered.taken():
            self._see(x, np.array(y, dtype=self.outcomes), np.array(scores, dtype=np.float64))

    @property
    def rows_held(self) -> int:
        """Training rows in its state."""
        self.catch_up()
        return sum(len(piece[1]) for piece in self._kept or ())

    def see_scores(self, batch: Batch, scores: NDArray[Any]) -> None:
        """The rounds of a batch, and the scores that the learner played.

        If its memory is not borrowed, a background thread looks at it while the game goes on.
        """
        x: Any = batch.x
        y = np.asarray(batch.y, dtype=self.outcomes)
        if self._gathered:
            self.catch_up()
        self.rows += len(y)
        if batch.memory != "borrowed" and len(y) >= SMALL:
            self._background.later(0 if batch.memory == "mapped" else x.nbytes, self._see, x, y, scores)
        else:
            self._background.catch_up()
            self._see(x, y, scores)

    def see_row_scores(self, x: Any, y: int, scores: Any) -> None:
        """One round: x as (indices, values), or as an array of numbers."""
        self.rows += 1
        if self._gathered.add(x, y, scores if isinstance(scores, float) else np.array(scores)):
            self.catch_up()

    @abstractmethod
    def _see(self, x: Any, y: NDArray[Any], scores: NDArray[Any]) -> None:
        """The same, in the background or not."""

    def _keep(self, rows: Any, y: NDArray[Any], scores: NDArray[Any], sizes: NDArray[np.int64]) -> int:
        """Keep rows up to the limit, beyond which the last may go, and settle there; how many were kept.

        sizes   bytes up to each row, with what it comes to beside its non-zeros
        """
        if self._kept is None:
            return 0
        sizes = 12 * rows.ends[1:] + sizes + self._size
        taken = min(int(np.searchsorted(sizes, self.keep)) + 1, len(y))
        some = slice(0, int(rows.ends[taken]))
        part = numerics.nonzeros.Nonzeros(rows.ends[: taken + 1], rows.places[some].copy(), rows.values[some].copy())
        self._kept.append((part, y[:taken].copy(), np.array(scores[:taken], dtype=np.float64)))
        self._size = int(sizes[taken - 1]) if taken else self._size
        if len(self._kept) > MANY:
            self._together()
        if self._size >= self.keep:
            self._settle()
        return taken

    @abstractmethod
    def _together(self) -> Any:
        """All rows kept, as one piece."""

    @abstractmethod
    def _settle(self) -> None:
        """From here on the comparators are those that fit the rows up to now."""
