"""Comparators that are evaluated during a game: certificates for a stream that is read once.

Algorithm
    The first rows are kept (warm-up). Then a few comparators are fitted on them, and every row, the kept ones first, is
    shown to all comparators. If facts are requested during the warm-up, comparators are fitted on the rows so far and
    then discarded. Single rows are buffered first.
    Theorems on mistakes compare with linear functions (comparators/linear.py) or functions in the feature space of a
    kernel (kernel/comparators/functions.py); theorems on losses with vectors, in the learner's metric
    (comparators/metric_tracker.py, multiclass_tracker.py, convex/comparators/tracker.py).
Promise
    The facts hold for every round seen, in one pass or in several (each round counts once for each time it was played).
    They depend only on the rows and mistakes: not on batches, on interruptions, or on when facts are requested.
Cost
    Linear: O(non-zeros of x) per round, about the time of the learner itself; memory 16 MB of rows + 16 bytes per
    feature. Kernel: at most 400 values of K per round, for all comparators together; memory: the rows kept.
    Up to 100 MB more if a background thread processes the batches.
Reference
    a bound holds for every u: [novikoff1962], [freund1999]; in the feature space of a kernel: [aizerman1964].
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.rows import (
    BYTES_PER_ROW,
    KEPT,
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
from novikoff.comparators.witness import Witness
from novikoff.core.adapt import adapt
from novikoff.core.state import Field, Part, Stateful, Value, Values, array, ends, indices, require
from novikoff.core.types import Batch, Sparse, State
from novikoff.numerics.records import astuple

if TYPE_CHECKING:
    from novikoff.core.learner import Learner

KEEP = 16_000_000
"""Default limit of the kept rows, in bytes."""
MOST_BEHIND = 2**26
"""Maximum bytes of batches in the queue of the background thread: enough to go on while that thread fits."""
MOST_PLACES = 2**32 + 1
"""Maximum number of places of features, including the constant feature."""
NO_LIMIT = 2**62
"""Number of rows that stands for no limit."""
SMALL = 64
"""Batch size below which rows are not sent to the background thread; trackers of mistakes buffer them instead."""
SOME = 8192
"""Number of rows processed together during the warm-up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorFacts:
    """Facts about the rounds, for theorems.

    Attributes:
        rows: Rounds seen.
        mistakes: Mistakes of the learner in these rounds.
        square: At least R^2, the largest ||x~||^2 or K(x,x).
        mistakes_square: At least the sum of ||x~||^2 or K(x,x) over the mistakes.
        comparators: Every u, at every scale; the first is u = 0.
        penalized: Every u with targets 1 + kappa ||x~||^2 that may give a bound.
        over_mistakes: The same u, with losses summed over the mistakes alone.
        unexplained: Distance of the learner from the sum of its mistakes, in units of rounding error; above 1,
            something other than mistakes changed it. None if not checked.
        invalid_reason: Reason why no theorem applies; "" if there is none.
        witness: Proof that no comparator separates the rows; None if there is none.
    """

    unbiased: ClassVar[bool] = False
    """Whether comparators have no constant feature, which could help them."""
    space: ClassVar[str] = ""
    """Where examples are compared, if different ones may be the same there."""

    rows: int
    mistakes: int
    square: Fraction
    mistakes_square: Fraction
    comparators: tuple[Comparator, ...]
    penalized: tuple[PenalizedComparator, ...] = ()
    over_mistakes: tuple[PenalizedComparator, ...] = ()
    unexplained: float | None = None
    invalid_reason: str = ""
    witness: Witness | None = None


class Background:
    """Queue of calls that a background thread makes in order (docs/decisions/0016)."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._behind: deque[tuple[Future[None], int]] = deque()  # queued calls and their bytes
        self._bytes = 0

    def later(self, size: int, call: Callable[..., None], *arguments: object) -> None:
        """Queue a call with arguments of `size` bytes; block while too many bytes are queued."""
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
        """Wait for the first call in the queue."""
        made, size = self._behind[0]
        wait([made])
        self._behind.popleft()
        self._bytes -= size
        made.result()


class Tracker(Stateful, ABC):
    """Comparators of one learner's game."""

    kind: ClassVar[str]
    """Name of the class in saved states."""
    described = "comparators"
    scored: ClassVar[bool] = True
    """Whether it receives the scores that the learner played; otherwise it receives which rounds were mistakes."""
    names: Mapping[str, int] | None = None
    """Position of each named feature, as the learner numbers them."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Rounds seen."""

    @property
    @abstractmethod
    def rows_held(self) -> int:
        """Number of training rows in the state."""

    @abstractmethod
    def see(self, batch: Batch, played: NDArray[Any]) -> None:
        """Process the rounds of a batch; `played` has the scores of each round, or whether it was a mistake."""

    @abstractmethod
    def see_row(self, x: Row, y: Any, played: Any) -> None:
        """Process one round: x as (indices, values), an array, or a mapping that is not changed later."""

    @abstractmethod
    def facts(self, learner: Any) -> Any:
        """Return the facts so far, for the theorems of the learner."""

    def state(self) -> State:
        return {"kind": self.kind, **super().state()}

    def check(self, learner: Learner) -> None:
        """Raise `ModelFileError` if comparators of a model file cannot be those of the learner."""

    def inner(self, played: NDArray[Any]) -> Tracker:
        """Return the tracker that receives these scores of a batch: this one, unless it passes them on."""
        return self

    def due(self, rounds: int) -> int:
        """Return the number of rounds until the next `look`, at most `rounds`; by default there is none."""
        return rounds

    def look(self, learner: Any) -> None:
        """Inspect the learner after a round that was `due`."""


class WarmTracker(Tracker):
    """Tracker that keeps the first rows, fits comparators on them, and sums their losses on every row.

    Args:
        keep: Bytes of rows to fit on; the last row may exceed it.
        keep_rows: Maximum number of rows to fit on.
    """

    outcomes: ClassVar[type[np.generic]] = np.int8
    """Number type of the outcomes."""
    rows = 0
    block = 1
    """Number of rows that are processed at a time, once there are comparators."""

    def __init__(self, keep: int, keep_rows: int = NO_LIMIT) -> None:
        self.keep, self.keep_rows = int(keep), int(keep_rows)
        self._kept: RowBuffer | None = RowBuffer()  # None once there are comparators
        self._waiting = RowBuffer()
        self._gathered, self._gathered_width = Gathered(), 0
        self._background = Background()

    def see(self, batch: Batch, played: NDArray[Any]) -> None:
        """Process the rounds of a batch, in a background thread if its memory is not borrowed."""
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

    def state(self) -> State:
        self.catch_up()
        return super().state()

    def catch_up(self) -> None:
        """Wait until every batch has been processed, and process the gathered rows."""
        self._background.catch_up()
        width, self._gathered_width = self._gathered_width, 0
        for x, y, played in self._gathered.taken(width, self.names):
            self._see(x, np.array(y, self.outcomes), np.array(played, np.float64 if self.scored else np.bool_))

    def _see(self, x: Rows, y: NDArray[np.generic], played: NDArray[np.generic]) -> None:
        """Keep rows during the warm-up; afterwards show them to the comparators, in multiples of `block` rows."""
        x, played, extra = self._read(x, y, played)
        done = 0
        while self._kept is not None and done < len(y):
            some = slice(done, done + SOME)
            part = x if len(y) <= SOME and not done else x[some]
            done += self._keep(self._kept, self._as_kept(part), y[some], played[some], extra[some])
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

    def _keep(
        self, kept: RowBuffer, x: Rows, y: NDArray[np.generic], played: NDArray[np.generic], extra: NDArray[np.int64]
    ) -> int:
        """Keep as many of these rows as there is room for, and fit when it is full; return their number."""
        size = int(extra.sum()) + numbers_size(x)
        if kept.rows + len(y) < self.keep_rows and kept.size + size < self.keep:
            kept.add(x, y, played, size)
            return len(y)
        ends = np.cumsum(numbers_sizes(x) + extra)
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
        """Return rows and their scores or mistakes in the form of the comparators, and bytes of overhead per row."""
        return x, played, np.full(len(y), BYTES_PER_ROW)

    def _as_kept(self, x: Rows) -> Rows:
        """Return rows in the form in which they are kept for the fit."""
        return x

    @abstractmethod
    def _settle(self) -> None:
        """Fit comparators on the kept rows, and evaluate them on these rows."""

    @abstractmethod
    def _add(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> None:
        """Evaluate the comparators on rows."""

    @property
    def _points(self) -> int:
        """Number of training rows that the comparators consist of."""
        return 0

    @property
    def rows_held(self) -> int:
        """Number of training rows in the state."""
        self.catch_up()
        return self._waiting.rows + (self._points if self._kept is None else self._kept.rows)


class VectorTracker(WarmTracker):
    """Tracker whose comparators are vectors, for learners that read a row's non-zeros (numerics/nonzeros.py).

    Args:
        bias: The learner's value of the constant feature.
        keep: Bytes of rows to keep.

    Attributes:
        places: One more than the last place seen.
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
        return as_sparse(rows), np.ascontiguousarray(played, dtype=np.float64), self._overhead(y, played)

    @abstractmethod
    def _overhead(self, y: NDArray[Any], scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return the bytes that each of the next rows takes in addition to its non-zeros."""

    @abstractmethod
    def _no_scores(self) -> NDArray[np.float64]:
        """Return the scores of no rows."""

    def _together(self) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        """Return all rows kept, their outcomes and scores."""
        if self._kept is None or not self._kept.rows:
            return as_nonzeros(Sparse.of_rows([])), np.zeros(0, self.outcomes), self._no_scores()
        x, y, scores = self._kept.together()
        return as_nonzeros(x), y, scores

    @property
    @abstractmethod
    def _columns(self) -> int | None:
        """Maximum number of scores per row; None if there is one."""

    def check(self, learner: Learner) -> None:
        features = adapt(learner).features
        if features is not None:
            must = f"comparators must have at most the learner's {features.count:,} features"
            require(self.places <= features.count + 1, must, self.places)

    def after_restoring(self, found: State) -> None:
        if found["kept"] is None:
            self._kept = None
            return
        rows, y, scores = found["kept"]
        x, self._kept = as_sparse(rows), RowBuffer()
        self._kept.add(x, y, scores, int((numbers_sizes(x) + self._overhead(y, scores)).sum()))


@dataclass(frozen=True)
class KeptRows(Field):
    """State field of the rows that a `VectorTracker` keeps, with their outcomes and scores."""

    def pack(self, value: Any, owner: Any) -> object:
        rows, y, scores = owner._together()
        return {"ends": rows.ends, "places": rows.places, "values": rows.values, "y": y, "scores": scores}

    def unpack(self, state: State, owner: Any, of: str) -> object:
        kept, columns, rows, places = state[self.name], owner._columns, owner.rows, owner.places
        last = ends(kept, "ends", rows, of=KEPT)
        size = int(last[-1])
        found = numerics.nonzeros.Nonzeros(
            last, indices(kept, "places", size, places, of=KEPT), array(kept, "values", (size,), of=KEPT)
        )
        most = int(found.places.max(initial=0)) + 1 if rows else 0
        require(places == most, f"kept rows must reach the last of {places:,} places", most)
        scores = array(kept, "scores", (rows,) if columns is None else (rows, None), finite=False, of=KEPT)
        if columns is not None:
            sound = min(rows, 1) <= scores.shape[1] <= columns
            require(sound, f"scores of kept rows must be from 1 to {columns:,} per row", scores.shape)
        return found, array(kept, "y", (rows,), owner.outcomes, of=KEPT), scores


class Scorer(Protocol):
    """Fixed comparators, with the sums of their margins over the rows seen."""

    tally: Tally

    def see(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> None:
        """Process rows in order."""
        ...

    def state(self) -> State:
        """Return the state as plain data."""
        ...


S = TypeVar("S", bound=Scorer)


class ScorerTracker(WarmTracker, Generic[S]):
    """Tracker whose comparators are in a scorer: `LinearTracker`, `KernelTracker` and `MulticlassKernelTracker`.

    Args:
        keep_rows: Maximum number of rows to fit on.
        keep_bytes: Bytes of rows to fit on.
        additive: Whether to check that a mistake adds to the learner and nothing else changes it.
    """

    scored = False
    fields: ClassVar[tuple[Field, ...]] = (
        Values("keep", int, 2, 0, at="_most"),
        Value("additive", bool),
        Part("kept", RowBuffer, optional=True, at="_kept"),
        Part("waiting", RowBuffer, at="_waiting"),
    )

    def __init__(self, keep_rows: int, keep_bytes: int, additive: bool = False) -> None:
        super().__init__(keep_bytes, keep_rows)
        self.additive = additive
        self.scorer: S | None = None
        self._fit_of: tuple[int, S] | None = None  # number of kept rows, and the comparators fitted on them

    @abstractmethod
    def _fit(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> S:
        """Return comparators fitted on these rows, which are not counted yet."""

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
        """Return comparators that have seen every round so far; those fitted during the warm-up are not stored."""
        self.catch_up()
        scorer = self.scorer
        if scorer is None:  # fitted once for each number of rows: certificates and proofs ask for the same one
            assert self._kept is not None
            if self._fit_of is None or self._fit_of[0] != self._kept.rows:
                self._fit_of = (self._kept.rows, self._fitted())
            scorer = self._fit_of[1]
        if self._waiting.rows:
            scorer = deepcopy(scorer)
            scorer.see(*self._waiting.together())
        return scorer

    @property
    def _most(self) -> list[int]:
        """Maximum number of rows to fit on, and of their bytes."""
        return [self.keep_rows, self.keep]

    @_most.setter
    def _most(self, most: list[int]) -> None:
        self.keep_rows, self.keep = most

    def after_restoring(self, found: State) -> None:
        must = f"{self.described} must have either kept rows or directions"
        require((self.scorer is None) != (self._kept is None), must, self.scorer)
        rows = self._kept.rows if self._kept is not None else 0
        self.rows = rows + self._waiting.rows + (0 if self.scorer is None else self.scorer.tally.rows)


KINDS = {
    "linear": "comparators.linear_tracker.LinearTracker",
    "kernel": "kernel.comparators.tracker.KernelTracker",
    "metric": "comparators.metric_tracker.MetricTracker",
    "convex": "convex.comparators.tracker.ConvexTracker",
    "against": "comparators.against_tracker.AgainstTracker",
    "many": "comparators.multiclass_tracker.MulticlassTracker",
    "many-linear-mixture": "mixtures.multiclass_linear_mixture_tracker.MulticlassLinearMixtureTracker",
    "auto": "mixtures.with_trees.AutoTracker",
    "bayes": "mixtures.top_tracker.BayesTracker",
    "switching": "mixtures.top_tracker.SwitchingTracker",
    "numbers": "mixtures.top_tracker.NumbersTracker",
    "many-kernel": "kernel.comparators.multiclass_tracker.MulticlassKernelTracker",
}
"""Class of the tracker for each `kind` in a saved state."""


def restored(state: State) -> Tracker:
    """Return the tracker restored from its state."""
    kind = state["kind"]
    require(isinstance(kind, str) and kind in KINDS, f"comparators must be one of {', '.join(KINDS)}", kind)
    module, _, name = KINDS[kind].rpartition(".")
    found: Tracker = getattr(importlib.import_module(f"novikoff.{module}"), name).restore(state)
    return found
