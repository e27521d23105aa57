"""Comparators that watch a game: a certificate for a stream that is read once.

Algorithm
    The first rows are kept (warm-up). Then a few comparators are fitted on them, and from there on every row, the kept
    ones first, is shown to all of them. Asked before so many rows came, they are fitted on what there is, and forgotten
    again. Single rows are gathered first.
    Theorems on mistakes compare with linear functions (comparators/linear.py) or functions in the feature space of a
    kernel (kernel/comparators/functions.py); theorems on losses with vectors, in the learner's metric
    (comparators/metric_tracker.py, multiclass_tracker.py, convex/comparators/tracker.py).
Promise
    The facts hold for every round seen, in one pass or in several (each round counts once for each time it was played).
    They are a function of the rows and mistakes alone: not of batches, of stops, or of when they were asked for.
Cost
    Linear: O(non-zeros of x) per round, about what the learner itself takes; memory 16 MB of rows + 16 bytes a feature.
    Kernel: at most 400 values of K per round, for all comparators together; memory: the rows kept.
    Up to 100 MB more where a background thread looks at the batches.
Reference
    any u will do: [novikoff1962], [freund1999]; in the feature space of a kernel: [aizerman1964].
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.rows import (
    BYTES_A_ROW,
    Gathered,
    Row,
    RowBuffer,
    Rows,
    as_nonzeros,
    as_rows,
    as_sparse,
    nonzeros_of,
    numbers_size,
    numbers_sizes,
)
from novikoff.comparators.tally import Comparator, PenalizedComparator, Tally
from novikoff.core.state import integer
from novikoff.core.types import Batch, Sparse, State
from novikoff.numerics.records import astuple

COMPARATORS = "comparators"
KEEP = 16_000_000
"""Bytes of rows kept by default."""
MOST_BEHIND = 2**26
"""Bytes of batches that may wait for the background thread: enough to go on while it fits."""
NO_LIMIT = 2**62
SMALL = 64
"""Batches of fewer rows do not go to the background thread: with mistakes alone, their rows are gathered."""
SOME = 8192
"""Rows that are looked at together during the warm-up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorFacts:
    """What the theorems need to know of the rounds.

    rows             rounds seen
    mistakes         of the learner, among them
    square           at least R^2, the largest ||x~||^2 or K(x,x)
    mistakes_square  at least the sum of those over the mistakes
    comparators      every u, at every scale; the first is u = 0
    penalized        every u with targets 1 + kappa ||x~||^2 that may bound something
    over_mistakes    those u again, their losses summed over the mistakes alone
    unexplained      how far the learner is from what its mistakes made it, in units of what rounding explains: more
                     than 1, and it did something else; None if it was not looked at
    invalid_reason   why nothing can be said; "" if something can
    """

    rows: int
    mistakes: int
    square: Fraction
    mistakes_square: Fraction
    comparators: tuple[Comparator, ...]
    penalized: tuple[PenalizedComparator, ...] = ()
    over_mistakes: tuple[PenalizedComparator, ...] = ()
    unexplained: float | None = None
    invalid_reason: str = ""


class Background:
    """Calls that are made in order, in one thread (docs/decisions/0016)."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._behind: deque[tuple[Future[None], int]] = deque()  # what waits, and its bytes
        self._bytes = 0

    def later(self, size: int, call: Callable[..., None], *arguments: Any) -> None:
        """Make this call soon, with arguments of so many bytes; wait, if too much waits."""
        self._thread = self._thread or ThreadPoolExecutor(1, "comparators")
        self._behind.append((self._thread.submit(call, *arguments), size))
        self._bytes += size
        while self._behind and (self._bytes > MOST_BEHIND or self._behind[0][0].done()):
            self._wait()

    def catch_up(self) -> None:
        """Wait until every call has been made."""
        while self._behind:
            self._wait()

    def _wait(self) -> None:
        """Wait for the first one."""
        made, size = self._behind[0]
        wait([made])
        self._behind.popleft()
        self._bytes -= size
        made.result()


class Tracker(ABC):
    """Comparators that watch the game of one learner."""

    scored: ClassVar[bool] = True
    """Is it shown the scores that the learner played, or whether each round was a mistake?"""
    names: Mapping[str, int] | None = None
    """The learner's places of named features."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Rounds seen."""

    @property
    @abstractmethod
    def rows_held(self) -> int:
        """Training rows in its state."""

    @abstractmethod
    def see(self, batch: Batch, played: NDArray[Any]) -> None:
        """The rounds of a batch; played: the scores of each, or which were mistakes."""

    @abstractmethod
    def see_row(self, x: Row, y: Any, played: Any) -> None:
        """One round: x as (indices, values), an array of numbers, or a mapping from `names` that nobody will change."""

    @abstractmethod
    def facts(self, learner: Any) -> Any:
        """What was seen up to now, for the theorems of the learner."""

    @abstractmethod
    def state(self) -> State:
        """All of it, as plain data."""

    def due(self, rounds: int) -> int:
        """After how many of the next `rounds` rounds to `look` at the learner: never, unless overridden."""
        return rounds

    def look(self, learner: Any) -> None:  # noqa: B027 (optional)
        """The game stands still at a round that was `due`."""


class WarmTracker(Tracker):
    """A tracker that keeps the first rows, fits comparators on them, and adds up what these lose on every row.

    keep        bytes of rows to fit on; the last row may go beyond
    keep_rows   the most rows to fit on
    """

    outcomes: ClassVar[type[np.generic]] = np.int8
    """The type of number that outcomes are."""
    rows = 0
    block = 1
    """Rows are added in multiples of this number, once there are comparators."""

    def __init__(self, keep: int, keep_rows: int = NO_LIMIT) -> None:
        self.keep, self.keep_rows = int(keep), int(keep_rows)
        self._kept: RowBuffer | None = RowBuffer()  # None once there are comparators
        self._waiting = RowBuffer()
        self._gathered, self._gathered_width = Gathered(), 0
        self._background = Background()

    def see(self, batch: Batch, played: NDArray[Any]) -> None:
        """The rounds of a batch; if its memory is not borrowed, a background thread looks at it meanwhile."""
        x, y = as_rows(batch), np.ascontiguousarray(batch.y, dtype=self.outcomes)
        if len(y) < SMALL and not self.scored:
            rows = x.rows() if isinstance(x, Sparse) else x
            self._gathered_width = max(self._gathered_width, x.width if isinstance(x, Sparse) else 0)
            for row, outcome, one in zip(rows, y.tolist(), played.tolist(), strict=True):
                self.see_row(row, outcome, one)
            return
        if self._gathered:
            self.catch_up()
        self.rows += len(y)
        if batch.memory == "borrowed" or len(y) < SMALL:
            self._background.catch_up()
            self._see(x, y, played)
            return
        self._background.later(0 if batch.memory == "mapped" else x.nbytes, self._see, x, y, played)

    def see_row(self, x: Row, y: Any, played: Any) -> None:
        self.rows += 1
        if self._gathered.add(x, y, np.array(played) if isinstance(played, np.ndarray) else played):
            self.catch_up()

    def catch_up(self) -> None:
        """Wait until every batch has been seen, and look at the rows that were gathered."""
        self._background.catch_up()
        width, self._gathered_width = self._gathered_width, 0
        for x, y, played in self._gathered.taken(width, self.names):
            self._see(x, np.array(y, self.outcomes), np.array(played, np.float64 if self.scored else np.bool_))

    def _see(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> None:
        x, played, beside = self._read(x, y, played)
        done = 0
        while self._kept is not None and done < len(y):
            some = slice(done, done + SOME)
            part = x if len(y) <= SOME and not done else x[some]
            done += self._keep(self._kept, self._as_kept(part), y[some], played[some], beside[some])
        if done == len(y):
            return
        x, y, played = x[done:], y[done:], played[done:]
        if self.block == 1:
            self._add(x, y, played)
            return
        self._waiting.add(x, y, played)
        if self._waiting.rows >= self.block:
            x, y, played = self._waiting.together()
            whole = len(y) - len(y) % self.block
            self._add(x[:whole], y[:whole], played[:whole])
            self._waiting = RowBuffer()
            self._waiting.add(x[whole:], y[whole:], played[whole:])

    def _keep(self, kept: RowBuffer, x: Rows, y: NDArray[Any], played: NDArray[Any], beside: NDArray[np.int64]) -> int:
        """Keep as many of these rows as there is room for, and settle where there is no more; how many were kept."""
        size = int(beside.sum()) + numbers_size(x)
        if kept.rows + len(y) < self.keep_rows and kept.size + size < self.keep:
            kept.add(x, y, played, size)
            return len(y)
        ends = np.cumsum(numbers_sizes(x) + beside)
        reached = int(np.searchsorted(ends + kept.size, self.keep)) + 1
        taken = min(max(self.keep_rows - kept.rows, 0), reached, len(y))
        kept.add(x[:taken], y[:taken], played[:taken], int(ends[taken - 1]) if taken else 0)
        if kept.rows >= self.keep_rows or kept.size >= self.keep:
            self._settle()
            self._kept = None
        return taken

    def _read(
        self, x: Rows, y: NDArray[Any], played: NDArray[Any]
    ) -> tuple[Rows, NDArray[Any], NDArray[np.int64]]:  # fmt: skip
        """Rows, and what was played, as comparators take them; bytes of each row beside its numbers."""
        return x, played, np.full(len(y), BYTES_A_ROW)

    def _as_kept(self, x: Rows) -> Rows:
        """Rows in the form in which they are fitted on."""
        return x

    @abstractmethod
    def _settle(self) -> None:
        """Fit comparators on the rows kept, and show them these rows."""

    @abstractmethod
    def _add(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> None:
        """Show rows to the comparators."""

    @property
    def _points(self) -> int:
        """Training rows that the comparators are made of."""
        return 0

    @property
    def rows_held(self) -> int:
        """Training rows in its state."""
        self.catch_up()
        return self._waiting.rows + (self._points if self._kept is None else self._kept.rows)


class VectorTracker(WarmTracker):
    """A tracker whose comparators are vectors, for learners that read a row's non-zeros (numerics/nonzeros.py).

    bias     the learner's
    places   one more than the last place seen
    """

    places = 0
    normalize = False

    def __init__(self, bias: float, keep: int) -> None:
        super().__init__(keep)
        self.bias, self._fitted = float(bias), 0

    def _read(
        self, x: Rows, y: NDArray[Any], played: NDArray[Any]
    ) -> tuple[Rows, NDArray[Any], NDArray[np.int64]]:  # fmt: skip
        rows = nonzeros_of(x, self.bias)
        if self.normalize:
            numerics.nonzeros.normalize(astuple(rows))
        self.places = max(self.places, int(rows.places[: rows.ends[-1]].max(initial=0)) + 1)
        return as_sparse(rows), np.ascontiguousarray(played, dtype=np.float64), self._beside(y, played)

    @abstractmethod
    def _beside(self, y: NDArray[Any], scores: NDArray[Any]) -> NDArray[np.int64]:
        """Bytes of each of the next rows beside its non-zeros."""

    @abstractmethod
    def _no_scores(self) -> NDArray[np.float64]:
        """The scores of no rows."""

    def _together(self) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        """All rows kept, their outcomes and scores."""
        if self._kept is None or not self._kept.rows:
            return as_nonzeros(Sparse.of_rows([])), np.zeros(0, self.outcomes), self._no_scores()
        x, y, scores = self._kept.together()
        return as_nonzeros(x), y, scores

    def _load_kept(self, rows: Any, y: NDArray[Any], scores: NDArray[Any]) -> None:
        """Take these for the rows kept."""
        x, self._kept = as_sparse(rows), RowBuffer()
        self._kept.add(x, y, scores, int((numbers_sizes(x) + self._beside(y, scores)).sum()))


class Scorer(Protocol):
    """Fixed comparators that see rows."""

    tally: Tally

    def see(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> None:
        """Rows in order."""
        ...

    def state(self) -> State:
        """As plain data."""
        ...


S = TypeVar("S", bound=Scorer)


class ScorerTracker(WarmTracker, Generic[S]):
    """A tracker whose comparators are in a scorer: `LinearTracker`, `KernelTracker` and `MulticlassKernelTracker`.

    additive   a mistake adds to the learner, and nothing else changes it: this is checked
    """

    scored = False

    def __init__(self, keep_rows: int, keep_bytes: int, additive: bool = False) -> None:
        super().__init__(keep_bytes, keep_rows)
        self.additive = additive
        self.scorer: S | None = None

    @abstractmethod
    def _fit(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> S:
        """Comparators fitted on these rows, which they have not yet seen."""

    @abstractmethod
    def _restored(self, state: State) -> S:
        """The comparators whose state this is."""

    def _settle(self) -> None:
        self.scorer = self._fitted()

    def _add(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> None:
        assert self.scorer is not None
        self.scorer.see(x, y, played)

    def _fitted(self) -> S:
        assert self._kept is not None
        x, y, played = self._kept.together()
        scorer = self._fit(x, y, played)
        scorer.see(x, y, played)
        return scorer

    def _now(self) -> S:
        """Comparators that have seen every round up to now; those that were not settled are forgotten again."""
        self.catch_up()
        scorer = self.scorer or self._fitted()
        if self._waiting.rows:
            scorer = self._restored(scorer.state())
            scorer.see(*self._waiting.together())
        return scorer

    def _state(self) -> State:
        self.catch_up()
        return {
            "keep": [self.keep_rows, self.keep],
            "additive": self.additive,
            "kept": None if self._kept is None else self._kept.state(),
            "waiting": self._waiting.state(),
            "scorer": self.scorer.state() if self.scorer else None,
        }

    def _load(self, state: State) -> Self:
        self.keep_rows, self.keep = (int(most) for most in state["keep"])
        self.additive = bool(state["additive"])
        if state["scorer"] is not None:
            self.scorer, self._kept = self._restored(state["scorer"]), None
            self._waiting = RowBuffer.restore(state["waiting"])
            self.rows = self.scorer.tally.rows + self._waiting.rows
        else:
            self._kept = RowBuffer.restore(state["kept"])
            self.rows = self._kept.rows
        return self


def whole_numbers(state: State, *names: str) -> list[int]:
    """Counts of a tracker's state, checked."""
    return [integer(state, name, of=COMPARATORS) for name in names]


KINDS = {
    "linear": "comparators.linear_tracker.LinearTracker",
    "kernel": "kernel.comparators.tracker.KernelTracker",
    "metric": "comparators.metric_tracker.MetricTracker",
    "convex": "convex.comparators.tracker.ConvexTracker",
    "against": "comparators.against_tracker.AgainstTracker",
    "many": "comparators.multiclass_tracker.MulticlassTracker",
    "many-auto": "mixtures.multiclass_auto_tracker.MulticlassAutoTracker",
    "many-kernel": "kernel.comparators.multiclass_tracker.MulticlassKernelTracker",
}
"""Where the tracker is whose `state` has that kind."""


def restored(state: State) -> Any:
    """The tracker whose `state` this is."""
    module, _, name = KINDS[state["kind"]].rpartition(".")
    return getattr(importlib.import_module(f"novikoff.{module}"), name).restore(state)
