"""A learner whose examples are brought to one scale first, online: for columns of different sizes.

Algorithm
    Every x is scaled by what is known of its features, x itself included (`Scaler`): `standard`, less the
    mean and over the deviation, or `range`, over the largest size. Then the learner within plays the scaled x.
    Asking scales by x too, and remembers nothing.
Promise
    That of the learner within, on the scaled examples: its theorems hold for every sequence of x, and what is done to
    x_t depends on x_1 .. x_t alone. Comparators see the scaled examples, so their u lives in scaled features.
    With `normalize` as well, the scaled example is divided by its length. Promises on the risk of averaged weights are
    not passed on: the weights are for examples scaled in different ways, which are no independent draws.
Cost
    Three multiplications a feature and a few numbers to remember of each.
Reference
    [ross2013]; the sums for the deviation: [chan1983].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.core.display import Written
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features, Row
from novikoff.core.learner import Ability, Learner, adapt, check_batch
from novikoff.core.nesting import restored, saved
from novikoff.core.state import array, require
from novikoff.core.stream import Stream
from novikoff.core.types import (
    Batch,
    CheckedRow,
    Distribution,
    Domain,
    Example,
    Facts,
    Json,
    Labels,
    Outcome,
    Position,
    Prediction,
    Sparse,
    State,
    StepResult,
    Theorem,
)
from novikoff.data import _loops
from novikoff.data.formats.buffer_pool import BufferPool

if TYPE_CHECKING:
    from novikoff.comparators.tracker import Tracker

Scale = Literal["standard", "range"]
SCALES = get_args(Scale)
LARGE = 4096
"""Numbers from which on fresh memory costs more than to look for some that was used before."""
KNOWN = 8
"""Numbers that data/_loops/scaling.py keeps of a feature."""

Kept = tuple[int, Any, NDArray[np.float64]]
"""The width of the rows that came, the places of features, and what is known of these."""


class Scaler:
    """What is known of each feature's size.

    standard   each feature less its mean and over its deviation, of the rows up to and including this one; features of
               sparse rows over the root of their mean square, where they are present (data/_loops/scaling.py)
    range      each feature over the largest size it has had
    """

    def __init__(self, scale: Scale) -> None:
        if scale not in SCALES:
            raise InputError(f'a scale must be "standard" or "range": got {shown(scale)}.')
        self.scale = scale
        self._known = np.zeros((KNOWN, 0))  # may be wider than the rows that came, so that it grows seldom
        self._width = 0
        self._pool = BufferPool()

    def rows(self, x: NDArray[np.number] | Sparse, learn: bool) -> Any:
        """The same rows on one scale; with `learn`, the next rows are scaled by these too."""
        by, standard = _loops.scaling, self.scale == "standard"
        if isinstance(x, Sparse):
            x = x.alone()
            known, indices = self._of(x, learn)
            out, sparse = np.empty(len(x.values)), by.standard_sparse if standard else by.range_sparse
            sparse(known, x.indptr, indices, x.values.astype(np.float64, copy=False), out, learn)
            return Sparse(x.indptr, x.indices, out, x.width, checked=True)
        known = self._room(x.shape[1], learn)
        out, dense = self._output(x.shape), by.standard_dense if standard else by.range_dense
        dense(known, np.ascontiguousarray(x, dtype=np.float64), out, learn)
        return out

    def batch(self, batch: Batch, learn: bool) -> Batch:
        """The batch on one scale."""
        x: Any = batch.x
        if not isinstance(x, Sparse) and x.ndim == 1:
            x = x[:, None]
        if isinstance(x, Sparse):
            return Batch(self.rows(x, learn), batch.y, batch.first, batch.end)
        y = batch.y.copy() if batch.memory == "borrowed" else batch.y
        return Batch(self.rows(x, learn), y, batch.first, batch.end, "owned")

    def _output(self, shape: tuple[int, int]) -> NDArray[np.float64]:
        """An array to write in; large ones in memory that was used before, if nobody looks at it any more."""
        if shape[0] * shape[1] < LARGE:
            return np.empty(shape)
        return self._pool.arrays((shape[0] * shape[1], np.float64))[0].reshape(shape)

    def _of(self, x: Sparse, learn: bool) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """What is known of the features of x, and which is where: features that are only asked of need no room."""
        if learn or x.width <= self._known.shape[1]:
            return self._room(x.width, learn), x.indices
        features, places = np.unique(x.indices, return_inverse=True)
        there = features < self._known.shape[1]
        known = np.zeros((KNOWN, len(features)))
        known[:, there] = self._known[:, features[there]]
        return known, places.astype(np.uint32)

    def _room(self, width: int, learn: bool) -> NDArray[np.float64]:
        missing = width - self._known.shape[1]
        spare = min(self._known.shape[1], 2**20) if learn else 0
        known = self._known if missing <= 0 else np.append(self._known, np.zeros((KNOWN, missing + spare)), axis=1)
        if learn:
            self._known, self._width = known, max(self._width, width)
        return known

    def kept(self, places: Any = None) -> Kept:
        """What is known of the features at these places, of all if None: to `forget` what comes now."""
        places = slice(None) if places is None else places[places < self._known.shape[1]]
        return self._width, places, self._known[:, places].copy()

    def forget(self, kept: Kept) -> None:
        """Know again what was `kept`: rows that came since were refused."""
        width, places, known = kept
        if isinstance(places, slice):
            self._known = known
        else:
            self._known[:, places] = known
        self._width = width
        self._known[:, width:] = 0.0

    @property
    def begins_with_a_row(self) -> bool:
        """Does it hold the first number of each feature, from which deviations are measured?"""
        return self.scale == "standard" and bool(self._known.any())

    def state(self) -> State:
        return {"scale": self.scale, "known": self._known[:, : self._width].copy()}

    @classmethod
    def restore(cls, state: State) -> Scaler:
        scaler = cls(state["scale"])
        known = state["known"]
        require(isinstance(known, np.ndarray) and known.ndim == 2, "a scale must have its numbers", type(known))
        scaler._known = array(state, "known", (KNOWN, known.shape[1]))
        rows = scaler._known[_loops.scaling.ROWS]
        require(bool((rows >= 0.0).all() and (rows % 1.0 == 0.0).all()), "rows of a scale must be counted", rows[:3])
        scaler._width = known.shape[1]
        return scaler


class Rescaled(Stream):
    """The rows of a stream, read again as a scaled learner saw them: each pass by a scaler of its own.

    features   the learner's, which have the places of names
    """

    def __init__(self, stream: Stream, scale: Scale, features: Features) -> None:
        self._stream, self._scale, self._known = stream, scale, features
        self.name, self.domain, self.rereadable, self.rows = stream.name, stream.domain, stream.rereadable, stream.rows

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """They may be known only as it is read."""
        return self._stream.labels

    def fingerprint(self) -> dict[str, Json] | None:
        return self._stream.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        assert start is None, "what is done to a row depends on all before it"
        scaler = Scaler(self._scale)
        for batch in self._stream.batches():
            if not isinstance(batch.x, list):
                yield scaler.batch(batch, learn=True)
                continue
            for t, (x, y) in enumerate(batch.rows()):
                row = scaled_row(scaler, self._known.row(x, learn=False), self._known.count, learn=True)
                yield Batch([row], np.array([y]), batch.first + t)


def scaled_row(
    scaler: Scaler, row: Row, width: int, learn: bool
) -> Row | tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """One row on one scale, an array or (indices, values); so many features, at least, have their places."""
    if not isinstance(row, tuple):
        found: NDArray[np.float64] = scaler.rows(row[None, :], learn)[0]
        return found
    indices, values = row
    width = max(width, int(indices.max()) + 1 if len(indices) else 0)
    ends = np.array([0, len(indices)], dtype=np.uint64)
    values = scaler.rows(Sparse(ends, indices, values, width, checked=True), learn).values
    return CheckedRow((indices, values)) if np.isfinite(values).all() else (indices, values)


OF_X = ("score_one", "scores_one", "probability_one", "probabilities_one")
"""Abilities of the learner within."""


class Scaled(Learner):
    """The learner, on examples of one scale.

    learner   on vectors; it has met none yet
    scale     "standard" or "range"
    """

    features: Features

    promises: ClassVar[tuple[Theorem, ...]] = ()

    def __init__(self, learner: Learner, scale: Scale = "standard") -> None:
        if learner.domain.kind != "vector":
            raise InputError(f"what is scaled must be vectors: {type(learner).__name__} plays on {learner.domain}.")
        if adapt(learner).covers:
            raise InputError("what is scaled must say no sets: scale the learner within, conformal:[scaled:[…]].")
        self.learner = learner
        self.scaler, self.features = Scaler(scale), Features()
        self._player = player = adapt(learner)
        self.scale = scale
        self.promises = tuple(one for one in learner.promises if one.quantity != "risk of the average")  # type: ignore[misc]
        self.outcomes, self.loss, self.numbered = player.outcomes, player.loss, player.numbered
        self.draws, self.conservative = player.draws, player.conservative
        self.seen: Any = None
        """The last examples as the learner within saw them: a row, or a batch."""

    def __repr__(self) -> str:
        given = self.learner._arguments() if isinstance(self.learner, Written) else []
        given.append(f"scale={self.scale!r}")
        return f"{type(self.learner).__name__}({', '.join(given)})"

    @property
    def within(self) -> Learner:
        """The learner that learns."""
        return self._player

    @property
    def domain(self) -> Domain:
        """That of the learner within."""
        return self._player.domain

    @property
    def labels(self) -> int | None:
        """Those of the learner within."""
        return self._player.labels

    @property
    def size(self) -> int | None:
        """What the learner holds."""
        return self._player.size

    @property
    def updates(self) -> int | None:
        return self._player.updates

    @property
    def rows_held(self) -> int:
        """Training rows it holds: those of the learner, and the first row, which standard scales are measured from."""
        return self._player.all_rows_held + self.scaler.begins_with_a_row

    def _asked(self, x: Example) -> Any:
        return scaled_row(self.scaler, self.features.row(x, learn=False), self.features.count, learn=False)

    def predict_one(self, x: Example) -> Prediction:
        return self._player.predict_one(self._asked(x))

    def chances(self, x: Example) -> Distribution:
        return self._player.chances(self._asked(x))

    def play_one(self, x: Example, y: Outcome) -> Prediction | StepResult:
        met = self.features.met()
        row = self.features.row(x, learn=True)
        kept = self.scaler.kept(row[0] if isinstance(row, tuple) else None)
        try:
            self.seen = scaled_row(self.scaler, row, self.features.count, learn=True)
            return self._player.play_one(self.seen, y)
        except BaseException:
            self.features.forget(met)
            self.scaler.forget(kept)
            raise

    def learn_many(self, batch: Batch) -> NDArray[np.number] | StepResult | None:
        """Predict and learn every row in order; None, having done nothing, where the learner cannot."""
        if self._player.looped:
            return None
        met, kept, played = self.features.met(), self.scaler.kept(), None
        try:
            self.features.rows(batch, learn=True)
            self.seen = self.scaler.batch(batch, learn=True)
            played = self._player.learn_many(self.seen)
        finally:
            if played is None:
                self.features.forget(met)
                self.scaler.forget(kept)
        return played

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        return self._player.predict_many(self._asked_multiclass(batch))

    def predict_ahead(self, batch: Batch) -> NDArray[np.number]:
        if isinstance(batch.x, list):
            return self._player.predict_ahead(replace(batch, x=[self._asked(x) for x in batch.x]))
        return self._player.predict_ahead(self._asked_multiclass(batch))

    def _asked_multiclass(self, batch: Batch) -> Batch:
        check_batch(self.__dict__.get("encoding"), batch)
        self.features.rows(batch, learn=False)
        return self.scaler.batch(batch, learn=False)

    def has(self, ability: Ability) -> bool:
        """Return whether the method is its own: scores and probabilities are those of the learner within."""
        return self._player.has(ability) if ability in OF_X else super().has(ability)

    def score_one(self, x: Example) -> float:
        return self._player.score_one(self._asked(x))

    def scores_one(self, x: Example) -> NDArray[np.float64]:
        return self._player.scores_one(self._asked(x))

    def probability_one(self, x: Example) -> float:
        return self._player.probability_one(self._asked(x))

    def probabilities_one(self, x: Example) -> NDArray[np.float64]:
        return self._player.probabilities_one(self._asked(x))

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        return self._player.scores_many(self._asked_multiclass(batch))

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        return self._player.probabilities_many(self._asked_multiclass(batch))

    def costs(self, said: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._player.costs(said, y)

    def seen_batch(self, batch: Batch) -> Batch:
        found: Batch = self.seen
        return found

    def seen_row(self, x: Example, later: bool = False) -> Row | dict[str, float]:
        return super().seen_row(x, later) if self.seen is None else self.seen

    def widen(self, width: int) -> None:
        """Let arrays be so wide from now on, if the learner within lets them."""
        self._player.widen_all(width)
        self.features.widen(width)

    def tracker(self) -> Tracker | None:
        """Comparators to watch a game that begins now, on the scaled examples."""
        return self._player.tracker()

    def again(self, stream: Stream) -> Stream:
        """The stream of a whole game in one pass, as the learner within saw it."""
        return Rescaled(stream, self.scaler.scale, self.features)

    def facts(self) -> Facts:
        return self._player.facts()

    def state(self) -> State:
        return {"learner": saved(self.learner), "scaler": self.scaler.state(), "features": self.features.state()}

    @classmethod
    def restore(cls, state: State) -> Self:
        scaler = Scaler.restore(state["scaler"])
        learner = cls(restored(state["learner"]), scaler.scale)
        learner.scaler = scaler
        learner.features.load(state["features"])
        return learner
