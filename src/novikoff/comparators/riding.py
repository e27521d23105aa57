"""Riding comparators: a certificate for a stream that is read once.

Algorithm
    The first rows, up to `keep` bytes, are kept. Then three directions are fitted on them (comparators/fit.py), and
    from there on every row, the kept ones first, is shown to all three (comparators/riders.py).
    Asked before so many rows came, the directions are fitted on what there is, and forgotten again.
Promise
    The facts hold for every round seen, in one pass or in several (each round counts once for each time it was played).
    They are a function of the rows alone: not of batches, of stops, or of when they were asked for.
Cost
    O(non-zeros of x) per round, about what the learner's own sweep takes; memory `keep` + 16 bytes a feature, and up to
    100 MB where a second thread looks at the batches.
Reference
    any u will do: [novikoff1962], [freund1999].
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.comparators.first_rows import BYTES_A_NONZERO, BYTES_A_ROW, FirstRows
from novikoff.comparators.riders import BLOCK, Comparator, Riders, Rows
from novikoff.comparators.rounding import length_of
from novikoff.types import Batch, Lasting, Sparse, State

__all__ = ["Comparator", "Riding", "RidingFacts"]

Row = NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]

WAITING_ROWS = 256
WAITING_NUMBERS = 2**17
SMALL = 64
MOST_BEHIND = 2**26
"""Bytes of batches that may wait for the second thread: enough to go on while it fits."""

MOST_HELPED = 2**20
"""Rows whose margins, 32 bytes each, the first thread may find before they are added up."""

HEAVIEST = 2.0**450
"""Weights at the start may not be larger: their squares must be safe."""


@dataclass(frozen=True, slots=True)
class RidingFacts:
    """What the theorems need to know of the rounds.

    rows            rounds seen
    square          at least R^2, the largest ||x~||^2
    nonzeros        the most non-zeros of an x~, the bias included
    exact           all x~ are whole numbers, and every value here is exact
    comparators     every u that rode along, at every scale; the first is u = 0
    start_square    at least ||w_1||^2, for a learner that did not start at zero
    start_exact     it is exact, w_1 being whole
    bias, normalize the features: those of the learner, if all is well
    flaw            why nothing can be said; "" if something can
    directions      each U, feature by feature, the weight of the bias last; none if there are millions of features
    """

    rows: int
    square: Fraction
    nonzeros: int
    exact: bool
    comparators: tuple[Comparator, ...]
    start_square: Fraction
    start_exact: bool
    bias: float
    normalize: bool
    flaw: str
    directions: tuple[NDArray[np.float64], ...] = field(default=(), compare=False, repr=False)


class Riding:
    """Comparators that see every round once.

    bias, normalize   the learner's: x~ is x, of length 1 if `normalize`, and then the constant `bias` if it is not 0
    start             the learner's weights before the first round, that of the bias last; None if all are zero
    keep              how many bytes of rows to fit on
    """

    def __init__(
        self, bias: float = 0.0, normalize: bool = False, start: ArrayLike | None = None, keep: int = 16_000_000
    ) -> None:
        self.bias, self.normalize, self.keep = float(bias), bool(normalize), int(keep)
        self.start = None if start is None else np.array(start, dtype=np.float64)
        if self.start is not None and not np.any(self.start):
            self.start = None
        self._riders: Riders | None = None
        self._kept = FirstRows()
        self._waiting: list[tuple[Row, int]] = []
        self._waiting_numbers = 0
        self._thread: ThreadPoolExecutor | None = None
        self._behind: deque[_Waiting] = deque()
        self._behind_size = 0

    @property
    def rows(self) -> int:
        """Rounds seen."""
        self.catch_up()
        return len(self._waiting) + (self._kept.rows if self._riders is None else self._riders.rows)

    def see(self, batch: Batch, behind: Lasting = False) -> None:
        """The rounds of a batch that the learner played.

        behind   look at it in a second thread while the game goes on; its arrays must then stay as they are.
                 "mapped": they lie in a mapped file, and to wait takes no memory
        """
        if behind and len(batch) >= SMALL:
            self._thread = self._thread or ThreadPoolExecutor(1, "riding")
            waiting = _Waiting(batch, mapped=behind == "mapped")
            waiting.seen = self._thread.submit(self._see_waiting, waiting)
            self._behind.append(waiting)
            self._behind_size += waiting.size
            if self._behind_size > MOST_BEHIND:
                self._help(waiting)
            while self._behind and (self._behind_size > MOST_BEHIND or self._behind[0].seen.done()):
                self._caught_up()
            return
        self.catch_up()
        self._see_batch(batch)

    def catch_up(self) -> None:
        """Wait until every batch has been seen; once there are directions, help with the last of what waits."""
        while self._behind:
            some, rows = 1, len(self._behind[0].batch)
            if self._riders is not None and self._riders.settled:
                while some < len(self._behind) and rows < MOST_HELPED:
                    rows += len(self._behind[some].batch)
                    some += 1
                for waiting in reversed(list(islice(self._behind, some))):
                    self._help(waiting)
            for _ in range(some):
                self._caught_up()
        self._kept.own()

    def _caught_up(self) -> None:
        """Wait for the first batch that waits."""
        waiting = self._behind[0]
        if not waiting.seen.done():
            wait([waiting.seen])
        self._behind.popleft()
        self._behind_size -= waiting.size
        waiting.seen.result()

    def _help(self, waiting: _Waiting) -> None:
        """Find the margins of a batch that waits, if the second thread has not begun with it: the sums are its own.

        If it begins meanwhile, it finds them too, and these are left.
        """
        riders = self._riders
        if riders is not None and riders.settled and not waiting.begun and waiting.margins is None:
            waiting.margins = riders.margins(*_arrays(waiting.batch), self.bias, self.normalize)

    def _see_waiting(self, waiting: _Waiting) -> None:
        """A batch that waited, in the second thread."""
        waiting.begun = True
        margins = waiting.margins
        if margins is None:
            self._see_batch(waiting.batch, waiting.mapped)
        else:
            assert self._riders is not None  # there are no margins without directions
            self._flush()
            self._riders.add(_arrays(waiting.batch)[0], margins, self.bias)

    def _see_batch(self, batch: Batch, mapped: bool = False) -> None:
        if len(batch) == 0:
            return
        x, y = _arrays(batch)
        if len(batch) < SMALL:
            for row, label in zip(x.rows() if isinstance(x, Sparse) else x, y.tolist(), strict=True):
                self._wait(row, label)
            return
        self._flush()
        self._see(x, y, mapped)

    def see_row(self, x: Row, y: int) -> None:
        """One round: x as (indices, values), or as an array of numbers."""
        self.catch_up()
        self._wait(x, y)

    def _wait(self, x: Row, y: int) -> None:
        """Keep a row until there are enough to look at."""
        if isinstance(x, tuple):
            self._waiting.append(((x[0].copy(), x[1].copy()), y))
            self._waiting_numbers += len(x[1])
        else:
            self._waiting.append((x.copy(), y))
            self._waiting_numbers += len(x)
        if len(self._waiting) >= WAITING_ROWS or self._waiting_numbers >= WAITING_NUMBERS:
            self._flush()

    def _flush(self) -> None:
        """Show the rows that wait, in batches of one kind."""
        waiting, self._waiting, self._waiting_numbers = self._waiting, [], 0
        start = 0
        for stop in range(1, len(waiting) + 1):
            if stop == len(waiting) or _kind(waiting[stop][0]) != _kind(waiting[start][0]):
                x = _together([row for row, _ in waiting[start:stop]])
                self._see(x, np.array([y for _, y in waiting[start:stop]], dtype=np.int8))
                start = stop

    def _see(self, x: Rows, y: NDArray[np.int8], mapped: bool = False) -> None:
        done = 0
        while self._riders is None and done < len(y):
            part = x[done : done + BLOCK]
            done += self._kept.take(part, y[done : done + BLOCK], self.keep, mapped)
            if self._kept.size >= self.keep:
                self._riders = self._fitted()
                self._kept = FirstRows()
        if self._riders is not None and done < len(y):
            self._riders.see(x[done:], y[done:], self.bias, self.normalize)

    def _fitted(self) -> Riders:
        x, y = self._kept.together()
        riders = Riders.fitted(x, y, self.bias, self.normalize)
        riders.see(x, y, self.bias, self.normalize)
        return riders

    def facts(self) -> RidingFacts:
        """What was seen up to now."""
        self.catch_up()
        self._flush()
        riders = self._riders or self._fitted()
        start, flaw = self.start, riders.flaw
        if start is not None and not np.max(np.abs(start)) <= HEAVIEST:
            start, flaw = None, flaw or "the weights at the start were too large"
        square, exact = (Fraction(0), True) if start is None else length_of(start)
        return RidingFacts(
            rows=riders.rows,
            square=Fraction(0) if flaw else riders.square(),
            nonzeros=riders.nonzeros,
            exact=riders.exact,
            comparators=tuple(riders.comparators(start)),
            start_square=square,
            start_exact=exact,
            bias=self.bias,
            normalize=self.normalize,
            flaw=flaw,
            directions=riders.directions(),
        )

    def state(self) -> State:
        """All of it, as plain data."""
        self.catch_up()
        self._flush()
        return {
            "bias": self.bias,
            "normalize": self.normalize,
            "keep": self.keep,
            "start": None if self.start is None else self.start.copy(),
            "kept": None if self._riders else self._kept.state(),
            "riders": self._riders.state() if self._riders else None,
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        """The comparators whose `state` this is."""
        riding = cls(state["bias"], state["normalize"], state["start"], state["keep"])
        if state["riders"] is not None:
            riding._riders = Riders.restore(state["riders"])
        else:
            riding._kept = FirstRows.restore(state["kept"])
        return riding


class _Waiting:
    """A batch that waits for the second thread."""

    def __init__(self, batch: Batch, mapped: bool) -> None:
        self.batch, self.mapped = batch, mapped
        self.size = 0 if mapped else _size(batch)
        self.margins: NDArray[np.float64] | None = None  # if the first thread has found them
        self.begun = False  # by the second thread
        self.seen: Future[None]


def _arrays(batch: Batch) -> tuple[Rows, NDArray[np.int8]]:
    """The rows and the labels as the kernels take them."""
    x = batch.x
    if not isinstance(x, Sparse):
        x = np.asarray(x)
        x = x if x.ndim == 2 else x.reshape(len(batch), -1)
        kind = x.dtype if x.dtype in (np.float64, np.float32, np.int64) else np.float64
        x = np.ascontiguousarray(x, dtype=kind)
    return x, np.ascontiguousarray(batch.y, dtype=np.int8)


def _size(batch: Batch) -> int:
    """Bytes that its rows take, about."""
    x = batch.x
    if not isinstance(x, Sparse):
        return int(getattr(x, "nbytes", 0))
    return BYTES_A_NONZERO * int(x.indptr[-1] - x.indptr[0]) + BYTES_A_ROW * len(batch)


def _kind(x: Row) -> int:
    """-1 for a sparse row, the width of a dense one."""
    return -1 if isinstance(x, tuple) else len(x)


def _together(rows: list[Any]) -> Rows:
    """Rows of one kind, as a batch."""
    if not isinstance(rows[0], tuple):
        return np.stack(rows).astype(np.float64)
    lengths = np.array([0] + [len(indices) for indices, _ in rows], dtype=np.uint64)
    indices = np.concatenate([indices for indices, _ in rows]).astype(np.uint32)
    values = np.concatenate([values for _, values in rows]).astype(np.float64)
    return Sparse(np.cumsum(lengths, dtype=np.uint64), indices, values, int(indices.max(initial=0)) + 1)
