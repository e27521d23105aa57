"""Comparators that watch a game: a certificate for a stream that is read once.

Algorithm
    The first rows are kept (warm-up). Then a few comparators are fitted on them, and from there on every row, the kept
    ones first, is shown to all of them. Asked before so many rows came, they are fitted on what there is, and forgotten
    again. Learners on vectors have linear comparators (comparators/linear.py); learners with a kernel have functions in
    its feature space (comparators/kernel.py).
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

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.comparators.background import Background
from novikoff.comparators.kernel import KernelScorer
from novikoff.comparators.linear import HEAVIEST, LinearScorer, Wrong
from novikoff.comparators.rounding import length_of
from novikoff.comparators.rows import Labels, Row, RowBuffer, Rows, as_rows, form_of, sizes, stacked, without_zeros
from novikoff.comparators.tally import Comparator, PenalizedComparator, Tally
from novikoff.errors import InputError
from novikoff.similarity import Similarity
from novikoff.types import Batch, Sparse, State

SMALL = 64
"""Batches of fewer rows are gathered."""
SOME = 8192
"""Rows that are looked at together during the warm-up."""
MOST_GATHERED = 2**20
"""Bytes of rows that are gathered before they are shown."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearComparatorFacts(ComparatorFacts):
    """Of linear comparators.

    nonzeros        the most non-zeros of an x~, the bias included
    start_square    at least ||w_1||^2, for a learner that did not start at zero
    bias, normalize the features: those of the learner, if all is well
    top             thresholds go up to 2^top
    directions      each U, feature by feature, the weight of the bias last; none if there are millions of features
    """

    nonzeros: int
    start_square: Fraction
    bias: float
    normalize: bool
    top: int
    directions: tuple[NDArray[np.float64], ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelComparatorFacts(ComparatorFacts):
    """Of comparators in the feature space of a kernel.

    error        at most the error of one computed K(z,x), in units of R^2
    points       how many z_j they are made of
    similarity   K: that of the learner, if all is well
    """

    error: Fraction
    points: int
    similarity: Similarity


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
    """Comparators that see every round once; `LinearTracker` and `KernelTracker` say which."""

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
        self._gathered: list[tuple[Row, int, bool]] = []
        self._gathered_size = self._gathered_width = 0
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
                self._gather_row(row, label, mistake)
            return
        self._gather()
        self._see(x, y, wrong)

    def see_row(self, x: Row, y: int, wrong: bool) -> None:
        """One round: x as (indices, values), an array of numbers, or a mapping from `names` that nobody will change."""
        self._gather_row(x, y, wrong)

    def _gather_row(self, x: Row, y: int, wrong: bool) -> None:
        """Keep a row until there are enough to look at."""
        copied: Row = x
        if isinstance(x, tuple):
            copied = x[0].copy(), x[1].copy()
        elif not isinstance(x, dict):
            copied = np.array(x, dtype=np.float64)
        self._gathered.append((copied, y, wrong))
        self._gathered_size += 8 * len(x[1] if isinstance(x, tuple) else x)
        if len(self._gathered) >= 256 or self._gathered_size >= MOST_GATHERED:
            self._gather()

    def _gather(self) -> None:
        """Show the rows that were gathered, in batches of one form, after the batches that wait."""
        if not self._gathered:
            return
        self.catch_up()
        gathered, self._gathered, self._gathered_size = self._gathered, [], 0
        width, self._gathered_width = self._gathered_width, 0  # of a batch, however many rows it has
        start = 0
        for stop in range(1, len(gathered) + 1):
            if stop == len(gathered) or form_of(gathered[stop][0]) != form_of(gathered[start][0]):
                some = gathered[start:stop]
                labels, wrong = np.array([y for _, y, _ in some], np.int8), np.array([w for *_, w in some], np.bool_)
                self._see(stacked([row for row, *_ in some], width, self.names), labels, wrong)
                start = stop

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

    @abstractmethod
    def _restored(self, state: State) -> S:
        """The comparators whose state this is."""

    @abstractmethod
    def facts(self, learner: Any = None) -> ComparatorFacts:
        """What was seen up to now; of the `learner`, whether its mistakes made it what it is."""

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


class LinearTracker(ComparatorTracker[LinearScorer]):
    """Linear comparators.

    bias, normalize   the learner's: x~ is x, of length 1 if `normalize`, and then the constant `bias` if it is not 0
    start             the learner's weights before the first round, that of the bias last; None if all are zero
    keep              how many bytes of rows to fit on
    additive          a mistake adds y x~ to the learner's weights, and nothing else changes them: this is checked
    """

    def __init__(
        self, bias: float = 0.0, normalize: bool = False, start: ArrayLike | None = None, keep: int = 16_000_000,
        additive: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(2**62, int(keep), additive)
        self.bias, self.normalize = float(bias), bool(normalize)
        self.start = None if start is None else np.array(start, dtype=np.float64)
        if self.start is not None and not np.any(self.start):
            self.start = None

    def _as_kept(self, x: Rows) -> Rows:
        return without_zeros(x)

    def _fit(self, x: Rows, y: Labels) -> LinearScorer:
        return LinearScorer.fitted(without_zeros(x), y, self.bias, self.normalize)

    def _restored(self, state: State) -> LinearScorer:
        return LinearScorer.restore(state, self.bias, self.normalize)

    def facts(self, learner: Any = None) -> LinearComparatorFacts:
        scorer = self._now()
        start, reason = self.start, scorer.invalid_reason
        if start is not None and not np.max(np.abs(start)) <= HEAVIEST:
            start, reason = None, reason or "the weights at the start were too large"
        unexplained = None
        if self.additive and learner is not None and not reason:
            unexplained = scorer.unexplained(start, np.append(learner.weights, learner.bias_weight))
        penalized = tuple(scorer.penalized(start))
        return LinearComparatorFacts(
            rows=scorer.tally.rows,
            mistakes=scorer.tally.mistakes,
            square=Fraction(0) if reason else scorer.square(),
            mistakes_square=Fraction(0) if reason else scorer.tally.mistakes_square(),
            comparators=tuple(scorer.comparators(start)),
            penalized=penalized,
            over_mistakes=tuple(scorer.over_mistakes(start, {u.scale for u in penalized})),
            unexplained=unexplained,
            invalid_reason=reason,
            nonzeros=scorer.nonzeros,
            start_square=Fraction(0) if start is None else length_of(start),
            bias=self.bias,
            normalize=self.normalize,
            top=scorer.tally.top,
            directions=scorer.directions(),
        )

    def state(self) -> State:
        start = None if self.start is None else self.start.copy()
        return {"kind": "linear", "bias": self.bias, "normalize": self.normalize, "start": start,
                **self._state()}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        return cls(state["bias"], state["normalize"], state["start"])._load(state)


class KernelTracker(ComparatorTracker[KernelScorer]):
    """Comparators in the feature space of a kernel.

    similarity   the learner's K
    keep         how many rows to fit on
    additive     a mistake adds y K(x, .) to the learner's function, and nothing else changes it: this is checked as
                 long as no example has left its list
    """

    block = 128

    def __init__(self, similarity: Similarity, keep: int = 400, additive: bool = False) -> None:
        if keep < 0:
            raise InputError(f"rows to fit on must be at least 0: got {keep}.")
        super().__init__(int(keep), 64_000_000, additive)
        self.similarity = similarity

    def _fit(self, x: Rows, y: Labels) -> KernelScorer:
        return KernelScorer.fitted(self.similarity, x, y)

    def _restored(self, state: State) -> KernelScorer:
        return KernelScorer.restore(self.similarity, state)

    def facts(self, learner: Any = None) -> KernelComparatorFacts:
        scorer = self._now()
        reason, unexplained = scorer.invalid_reason, None
        if self.additive and learner is not None and learner.supports.evictions == 0:
            unexplained = scorer.unexplained(*learner.supports.expansion())
        penalized = tuple(scorer.penalized())
        return KernelComparatorFacts(
            rows=scorer.tally.rows,
            mistakes=scorer.tally.mistakes,
            square=Fraction(0) if reason else scorer.square(),
            mistakes_square=Fraction(0) if reason else scorer.tally.mistakes_square(),
            comparators=tuple(scorer.comparators()),
            penalized=penalized,
            over_mistakes=tuple(scorer.over_mistakes({u.scale for u in penalized})),
            unexplained=unexplained,
            invalid_reason=reason,
            error=Fraction(0) if reason else Fraction(scorer.error),
            points=len(scorer.points),
            similarity=self.similarity,
        )

    def state(self) -> State:
        return {"kind": "kernel", "similarity": self.similarity.state(), **self._state()}

    @classmethod
    def restore(cls, state: State) -> Self:
        return cls(Similarity.restore(state["similarity"]))._load(state)


def restored(state: State) -> Any:
    """The tracker whose `state` this is."""
    if state.get("kind") == "convex":
        from novikoff.comparators.convex_tracker import ConvexTracker

        return ConvexTracker.restore(state)
    if state.get("kind") == "many":
        from novikoff.comparators.many_tracker import ManyTracker

        return ManyTracker.restore(state)
    if state.get("kind") == "against":
        from novikoff.comparators.against_tracker import AgainstTracker

        return AgainstTracker.restore(state)
    if state.get("kind") == "many-auto":
        from novikoff.comparators.many_auto_tracker import ManyAutoTracker

        return ManyAutoTracker.restore(state)
    if state.get("kind") == "many-kernel":
        from novikoff.comparators.many_kernel_tracker import ManyKernelTracker

        return ManyKernelTracker.restore(state)
    if state.get("kind") == "metric":
        from novikoff.comparators.metric_tracker import MetricTracker

        return MetricTracker.restore(state)
    return KernelTracker.restore(state) if state.get("kind") == "kernel" else LinearTracker.restore(state)
