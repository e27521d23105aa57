"""The last rows of a game, from which trees are grown.

Rows are numbered from 0 in the order of learning. The store keeps at least the last `window` of them: 131,072, or as
many as fit into 64 MB with the columns known at row 32,768. A batch is written before it is played, up to `TOGETHER`
rows at once, and a build that is spread over rounds needs the rows of its start until it ends. So up to `SPARE` rows
beyond the window are kept too; a part that plays row t must not use rows up to t - window, even if they are stored.

Checkpoints contain the rows. Models saved without rows do not: their trees grow from new rows only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.core.state import MOST_ROUNDS, Array, Count, Stateful, keeps_rows, require
from novikoff.core.types import State
from novikoff.trees.columns import MOST_COLUMNS

MOST_ROWS = 131_072
"""Largest window."""
MOST_LEADING = 8
"""Largest number of columns that a learner stores before those of a table, such as lags."""
MOST_BYTES = 2**26
"""Largest memory of the columns in the window."""
SETTLED = MOST_BYTES // (8 * MOST_COLUMNS)
"""Row at which the window is fixed: up to there all rows fit, whatever the number of columns."""
TOGETHER = 1024
"""Number of rows that are written, then played, at once."""
SPARE = 2 * TOGETHER
"""Number of rows beyond the window that are kept: a batch, and the rounds of a build."""


class RowStore(Stateful):
    """Columns and outcomes of the last rows.

    Args:
        most: Largest window; it is smaller if there are many columns.

    Attributes:
        window: Number of last rows that trees may use.
        x: (room, columns) columns; row i is x[i % room]. Rows that were not written yet take no memory.
        y: (room,) outcomes; that of row i is y[i % room].
        again: (room,) whether it is another round of the row before it, in a game with weighted rows.
        count: Number of rows learned so far.
        begin: Number of the first row ever stored: 0 unless the store was restored without rows.
    """

    described = "a store of rows"
    fields = (
        Count("window", least=1, most=MOST_ROWS),
        Count("count", most=MOST_ROUNDS),
        Count("begin", most="count"),
        Count("width", most=MOST_COLUMNS + MOST_LEADING),
        Array("x", (None, "width"), finite=False, assigned=False),
        Array("y", (None,), assigned=False),
        Array("again", (None,), np.bool_, optional=True, assigned=False, default=lambda: None),
    )

    def __init__(self, most: int = MOST_ROWS) -> None:
        self.window, self.count, self.begin = most, 0, 0
        self.x, self.y, self.again = np.empty((0, 0)), np.empty(0), np.empty(0, np.bool_)

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.x.shape[1]

    @width.setter
    def width(self, width: int) -> None:
        self.x = np.empty((len(self.y), width))

    @property
    def first(self) -> int:
        """Number of the oldest row in the store."""
        return max(self.begin, self.count - self.window - SPARE)

    def together(self, rows: int) -> int:
        """Return how many of the next `rows` rows to add at once."""
        settles = SETTLED - self.count if self.count < SETTLED else TOGETHER
        return min(rows, TOGETHER, settles)

    def add(
        self, x: NDArray[np.float64], y: NDArray[np.float64], absent: NDArray[np.float64],
        again: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        """Append rows, at most `together` of them.

        Args:
            x: (rows, columns) columns; there may be more than before.
            y: (rows,) outcomes.
            absent: (columns,) value of new columns in the rows before.
            again: (rows,) whether each is another round of the row before it; None for none.
        """
        assert len(y) <= self.together(len(y))
        if not len(self.y) or x.shape[1] > self.width:
            self._resize(absent[: max(x.shape[1], self.width)])
        slots = np.arange(self.count, self.count + len(y)) % len(self.y)
        self.x[slots], self.y[slots], self.again[slots] = x, y, False if again is None else again
        self.count += len(y)
        if self.count == SETTLED:
            self.window = min(self.window, MOST_BYTES // (8 * max(self.width, 1)))

    def rows(self, first: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return copies of the columns and outcomes of the rows from number `first` to before `stop`."""
        assert self.first <= first <= stop <= self.count
        slots = np.arange(first, stop) % max(len(self.y), 1)
        return self.x[slots], self.y[slots]

    def begins(self, first: int, stop: int) -> NDArray[np.intp]:
        """Return for each of these stored rounds the index, from `first` on, of the first round of its row."""
        again = self.again[np.arange(first, stop) % max(len(self.y), 1)]
        return np.maximum.accumulate(np.where(again, 0, np.arange(stop - first)))

    def _allocate(self, width: int) -> None:
        """Create arrays for all rows that will ever be kept; the system provides memory once rows are written."""
        most = self.window
        if self.count < SETTLED:
            most = min(most, max(SETTLED, MOST_BYTES // (8 * max(width, 1))))
        room = most + SPARE
        self.x, self.y, self.again = np.empty((room, width)), np.empty(room), np.zeros(room, np.bool_)

    def _resize(self, absent: NDArray[np.float64]) -> None:
        """Move the rows to arrays of more columns; those that are new had the value `absent`."""
        had, first = self.width, self.first
        x, y = self.rows(first, self.count)
        again = self.again[np.arange(first, self.count) % max(len(self.y), 1)]
        self._allocate(len(absent))
        slots = np.arange(first, self.count) % len(self.y)
        self.x[slots, :had], self.y[slots], self.again[slots] = x, y, again
        self.x[slots, had:] = absent[had:]

    def state(self) -> State:
        first = self.first if keeps_rows() else self.count
        x, y = self.rows(first, self.count)
        begin = self.begin if keeps_rows() else self.count
        again = self.again[np.arange(first, self.count) % max(len(self.y), 1)]
        return {"window": self.window, "count": self.count, "begin": begin, "width": self.width, "x": x, "y": y,
                "again": again if again.any() else None}  # fmt: skip

    def after_restoring(self, found: State) -> None:
        x, y, first = found["x"], found["y"], self.first
        require(len(x) == len(y) == self.count - first, f"a store must have {self.count - first:,} rows", len(y))
        again = np.zeros(len(y), np.bool_) if found["again"] is None else found["again"]
        require(len(again) == len(y), f"repeated rounds of a store must be marked for {len(y):,} rows", len(again))
        if self.count:
            self._allocate(self.width)
            slots = np.arange(first, self.count) % len(self.y)
            self.x[slots], self.y[slots], self.again[slots] = x, y, again
