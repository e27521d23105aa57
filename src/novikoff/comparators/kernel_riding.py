"""Comparators that ride along in the feature space of a kernel: a certificate for a stream that is read once.

Algorithm
    The first rows are kept, up to `keep` of them or 64 MB. Then a few f = sum of beta_j K(z_j, .) are fitted on them
    (comparators/kernel_fit.py), and from there on every row, the kept ones first, is shown to all of them
    (comparators/kernel_riders.py), in blocks of 128. Asked before so many rows came, they are fitted on what there is,
    and forgotten again.
Promise
    The facts hold for every round seen, in one pass or in several (each round counts once for each time it was played).
    They are a function of the rows alone: not of batches, of stops, or of when they were asked for.
Cost
    `keep` values of K per round at most, for all f together; memory: the rows kept.
Reference
    any u will do: [freund1999]; in the feature space of a kernel: [aizerman1964].
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from novikoff.comparators.kernel_riders import BLOCK, KernelRiders
from novikoff.comparators.pieces import Labels, Pieces, Row, Rows, as_rows, sizes, stacked
from novikoff.comparators.riders import Comparator
from novikoff.errors import InputError
from novikoff.similarity import Similarity
from novikoff.types import Batch, Lasting, State

__all__ = ["Comparator", "KernelRiding", "KernelRidingFacts"]

MOST_KEPT = 64_000_000
MOST_BEHIND = 2**26
"""Bytes of batches that may wait for the second thread."""


@dataclass(frozen=True, slots=True)
class KernelRidingFacts:
    """What the theorems need to know of the rounds.

    rows          rounds seen
    square        at least R^2, the largest K(x,x)
    error         at most the error of one computed K(z,x), in units of R^2
    comparators   every f that rode along, at every scale; the first is f = 0
    points        how many z_j they are made of
    similarity    K: that of the learner, if all is well
    flaw          why nothing can be said; "" if something can
    """

    rows: int
    square: Fraction
    error: Fraction
    comparators: tuple[Comparator, ...]
    points: int
    similarity: Similarity
    flaw: str


class KernelRiding:
    """Comparators that see every round once.

    similarity   the learner's K
    keep         how many rows to fit on
    """

    def __init__(self, similarity: Similarity, keep: int = 400) -> None:
        if keep < 0:
            raise InputError(f"rows to fit on must be at least 0: got {keep}.")
        self.similarity, self.keep = similarity, int(keep)
        self._riders: KernelRiders | None = None
        self._kept, self._waiting = Pieces(), Pieces()
        self._single: list[tuple[Row, int]] = []
        self._thread: ThreadPoolExecutor | None = None
        self._behind: deque[tuple[Future[None], int]] = deque()  # batches that wait, and their sizes
        self._behind_size = 0

    @property
    def rows(self) -> int:
        """Rounds seen."""
        self.catch_up()
        shown = self._kept.rows if self._riders is None else self._riders.tally.rows
        return len(self._single) + self._waiting.rows + shown

    def see(self, batch: Batch, behind: Lasting = False) -> None:
        """The rounds of a batch that the learner played.

        behind   look at it in a second thread while the game goes on; its arrays must then stay as they are
        """
        x, y = as_rows(batch.x, len(batch)), np.ascontiguousarray(batch.y, dtype=np.int8)
        if behind and len(batch) >= BLOCK:
            self._gather()
            self._thread = self._thread or ThreadPoolExecutor(1, "riding")
            size = int(sizes(x).sum())
            self._behind.append((self._thread.submit(self._see, x, y), size))
            self._behind_size += size
            while self._behind and (self._behind_size > MOST_BEHIND or self._behind[0][0].done()):
                self._caught_up()
            return
        self._gather()
        self.catch_up()
        self._see(x, y)

    def catch_up(self) -> None:
        """Wait until every batch has been seen."""
        while self._behind:
            self._caught_up()

    def _caught_up(self) -> None:
        """Wait for the first batch that waits."""
        seen, size = self._behind[0]
        wait([seen])
        self._behind.popleft()
        self._behind_size -= size
        seen.result()

    def see_row(self, x: Row, y: int) -> None:
        """One round: x as (indices, values), or as an array of numbers."""
        self._single.append(((x[0].copy(), x[1].copy()) if isinstance(x, tuple) else np.array(x, np.float64), y))
        if len(self._single) >= BLOCK:
            self._gather()

    def _gather(self) -> None:
        """Show the single rows that wait, together, after the batches that wait."""
        if not self._single:
            return
        self.catch_up()
        single, self._single = self._single, []
        start = 0
        for stop in range(1, len(single) + 1):
            if stop == len(single) or _form(single[stop][0]) != _form(single[start][0]):
                y = np.array([y for _, y in single[start:stop]], dtype=np.int8)
                self._see(stacked([row for row, _ in single[start:stop]]), y)
                start = stop

    def _see(self, x: Rows, y: Labels) -> None:
        if self._riders is None:
            room = np.searchsorted(np.cumsum(sizes(x)) + self._kept.size, MOST_KEPT) + 1
            taken = min(self.keep - self._kept.rows, int(room), len(y))
            self._kept.add(x[:taken], y[:taken])
            x, y = x[taken:], y[taken:]
            if self._kept.rows >= self.keep or self._kept.size >= MOST_KEPT:
                self._riders = self._fitted()
                self._kept = Pieces()
        if self._riders is None or len(y) == 0:
            return
        self._waiting.add(x, y)
        if self._waiting.rows >= BLOCK:
            x, y = self._waiting.together()
            whole = len(y) - len(y) % BLOCK
            self._riders.see(x[:whole], y[:whole])
            self._waiting = Pieces()
            self._waiting.add(x[whole:], y[whole:])

    def _fitted(self) -> KernelRiders:
        x, y = self._kept.together()
        riders = KernelRiders.fitted(self.similarity, x, y)
        riders.see(x, y)
        return riders

    def facts(self) -> KernelRidingFacts:
        """What was seen up to now."""
        self.catch_up()
        self._gather()
        riders = self._riders or self._fitted()
        if self._waiting.rows:
            riders = riders.copy()
            riders.see(*self._waiting.together())
        flaw = riders.trouble()
        return KernelRidingFacts(
            rows=riders.tally.rows,
            square=Fraction(0) if flaw else riders.radius2(),
            error=Fraction(0) if flaw else Fraction(riders.error),
            comparators=tuple(riders.comparators()),
            points=len(riders.points),
            similarity=self.similarity,
            flaw=flaw,
        )

    def state(self) -> State:
        """All of it, as plain data; "kind" tells it from the state of linear comparators."""
        self.catch_up()
        self._gather()
        return {
            "kind": "kernel",
            "similarity": self.similarity.state(),
            "keep": self.keep,
            "kept": None if self._riders else self._kept.state(),
            "waiting": self._waiting.state(),
            "riders": self._riders.state() if self._riders else None,
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        """The comparators whose `state` this is."""
        riding = cls(Similarity.restore(state["similarity"]), state["keep"])
        if state["riders"] is not None:
            riding._riders = KernelRiders.restore(riding.similarity, state["riders"])
            riding._waiting = Pieces.restore(state["waiting"])
        else:
            riding._kept = Pieces.restore(state["kept"])
        return riding


def _form(x: Row) -> int:
    """-1 for a sparse row, the width of a dense one."""
    return -1 if isinstance(x, tuple) else len(x)
