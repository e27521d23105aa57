"""Comparators that watch a game: a certificate for a stream that is read once.

Algorithm
    The first rows are kept (warm-up). Then a few comparators are fitted on them, and from there on every row, the kept
    ones first, is shown to all of them. Asked before so many rows came, they are fitted on what there is, and forgotten
    again. Learners on vectors have linear comparators (comparators/linear.py); learners with a kernel have functions in
    its feature space (kernel/comparators/functions.py).
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
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from novikoff.comparators.background import Background
from novikoff.comparators.linear import Wrong
from novikoff.comparators.rows import Gathered, Labels, Row, RowBuffer, Rows, as_rows, sizes
from novikoff.comparators.tally import Comparator, PenalizedComparator, Tally
from novikoff.core.types import Batch, Sparse, State

SMALL = 64
"""Batches of fewer rows are gathered."""
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


class Scorer(Protocol):
    """Fixed comparators that see rows."""

    tally: Tally

    def see(self, x: Rows, y: Labels, wrong: Wrong) -> None:
        """Rows in order."""
        ...

    def state(self) -> State:
        """As plain data."""
        ...


S = TypeVar("S", bound=Scorer)


class ComparatorTracker(Generic[S], ABC):
    """Comparators that see every round once; `LinearTracker` and `KernelTracker`, each in a file, say which."""

    block = 1
    """Rows are shown in multiples of so many, once there are comparators."""
    scored = False
    """Is it shown the learner's scores (comparators/metric_tracker.py), not its mistakes?"""
    names: Mapping[str, int] | None = None
    """The learner's places of named features."""

    def __init__(self, keep_rows: int, keep_bytes: int, additive: bool) -> None:
        self.keep_rows, self.keep_bytes, self.additive = keep_rows, keep_bytes, additive
        self.scorer: S | None = None
        self._kept, self._waiting = RowBuffer(), RowBuffer()
        self._gathered, self._gathered_width = Gathered(), 0
        self._background = Background()

    @abstractmethod
    def _fit(self, x: Rows, y: Labels) -> S:
        """Comparators fitted on these rows, which they have not yet seen."""

    def _as_kept(self, x: Rows) -> Rows:
        """Rows in the form in which they are fitted on."""
        return x

    @property
    def rows(self) -> int:
        """Rounds seen."""
        self.catch_up()
        shown = self._kept.rows if self.scorer is None else self.scorer.tally.rows + self._waiting.rows
        return len(self._gathered) + shown

    def see(self, batch: Batch, wrong: Wrong) -> None:
        """The rounds of a batch that the learner played; wrong: its mistakes.

        If its memory is not borrowed, a background thread looks at it while the game goes on.
        """
        x, y = as_rows(batch), np.ascontiguousarray(batch.y, dtype=np.int8)
        if batch.memory != "borrowed" and len(y) >= SMALL:
            self._gather()
            self._background.later(0 if batch.memory == "mapped" else int(sizes(x).sum()), self._see, x, y, wrong)
            return
        self.catch_up()
        if len(y) < SMALL:
            rows = x.rows() if not isinstance(x, np.ndarray) else x
            self._gathered_width = max(self._gathered_width, x.width if isinstance(x, Sparse) else 0)
            for row, label, mistake in zip(rows, y.tolist(), wrong.tolist(), strict=True):
                self.see_row(row, label, mistake)
            return
        self._gather()
        self._see(x, y, wrong)

    def see_row(self, x: Row, y: int, wrong: bool) -> None:
        """One round: x as (indices, values), an array of numbers, or a mapping from `names` that nobody will change."""
        if self._gathered.add(x, y, wrong):
            self._gather()

    def _gather(self) -> None:
        """Show the rows that were gathered, in batches of one form, after the batches that wait."""
        if not self._gathered:
            return
        self.catch_up()
        width, self._gathered_width = self._gathered_width, 0  # of a batch, however many rows it has
        for x, y, wrong in self._gathered.taken(width, self.names):
            self._see(x, np.array(y, np.int8), np.array(wrong, np.bool_))

    def catch_up(self) -> None:
        """Wait until every batch has been seen."""
        self._background.catch_up()

    def _see(self, x: Rows, y: Labels, wrong: Wrong) -> None:
        done = 0
        while self.scorer is None and done < len(y):
            part = self._as_kept(x[done : done + SOME])
            taken = self._room(part)
            until = done + taken
            self._kept.add(part[:taken], y[done:until], wrong[done:until])
            done = until
            if self._kept.rows >= self.keep_rows or self._kept.size >= self.keep_bytes:
                self.scorer = self._fitted()
                self._kept = RowBuffer()
        if self.scorer is None or done == len(y):
            return
        x, y, wrong = x[done:], y[done:], wrong[done:]
        if self.block == 1:
            self.scorer.see(x, y, wrong)
            return
        self._waiting.add(x, y, wrong)
        if self._waiting.rows >= self.block:
            x, y, wrong = self._waiting.together()
            whole = len(y) - len(y) % self.block
            self.scorer.see(x[:whole], y[:whole], wrong[:whole])
            self._waiting = RowBuffer()
            self._waiting.add(x[whole:], y[whole:], wrong[whole:])

    def _room(self, x: Rows) -> int:
        """How many of these rows are kept to fit on: the last one may go beyond the limit."""
        reached = np.searchsorted(np.cumsum(sizes(x)) + self._kept.size, self.keep_bytes) + 1
        return min(max(self.keep_rows - self._kept.rows, 0), int(reached), len(x))

    def _fitted(self) -> S:
        x, y, wrong = self._kept.together()
        scorer = self._fit(x, y)
        scorer.see(x, y, wrong)
        return scorer

    def _now(self) -> S:
        """Comparators that have seen every round up to now; those that were not settled are forgotten again."""
        self.catch_up()
        self._gather()
        scorer = self.scorer or self._fitted()
        if self._waiting.rows:
            scorer = self._restored(scorer.state())
            scorer.see(*self._waiting.together())
        return scorer

    @property
    def _points(self) -> int:
        """Training rows that the comparators are made of."""
        return 0

    @abstractmethod
    def _restored(self, state: State) -> S:
        """The comparators whose state this is."""

    @abstractmethod
    def facts(self, learner: Any = None) -> ComparatorFacts:
        """What was seen up to now; of the `learner`, whether its mistakes made it what it is."""

    @property
    def rows_held(self) -> int:
        """Training rows in its state."""
        self.catch_up()
        self._gather()
        fitted = self._kept.rows if self.scorer is None else self._points
        return self._waiting.rows + fitted

    def _state(self) -> State:
        self.catch_up()
        self._gather()
        return {
            "keep": [self.keep_rows, self.keep_bytes],
            "additive": self.additive,
            "kept": None if self.scorer else self._kept.state(),
            "waiting": self._waiting.state(),
            "scorer": self.scorer.state() if self.scorer else None,
        }

    def _load(self, state: State) -> Self:
        self.keep_rows, self.keep_bytes = (int(most) for most in state["keep"])
        self.additive = bool(state["additive"])
        if state["scorer"] is not None:
            self.scorer = self._restored(state["scorer"])
            self._waiting = RowBuffer.restore(state["waiting"])
        else:
            self._kept = RowBuffer.restore(state["kept"])
        return self


KINDS = {
    "linear": "comparators.linear_tracker.LinearTracker",
    "kernel": "kernel.comparators.tracker.KernelTracker",
    "metric": "comparators.metric_tracker.MetricTracker",
    "convex": "convex.comparators.tracker.ConvexTracker",
    "against": "comparators.against_tracker.AgainstTracker",
    "many": "comparators.many_tracker.ManyTracker",
    "many-auto": "mixtures.many_auto_tracker.ManyAutoTracker",
    "many-kernel": "kernel.comparators.many_tracker.ManyKernelTracker",
}
"""Where the tracker is whose `state` has that kind."""


def restored(state: State) -> Any:
    """The tracker whose `state` this is."""
    module, _, name = KINDS[state["kind"]].rpartition(".")
    return getattr(importlib.import_module(f"novikoff.{module}"), name).restore(state)
