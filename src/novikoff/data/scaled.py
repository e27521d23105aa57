"""Learner wrapper that standardises examples online, for columns of different scales.

Algorithm
    Every x is scaled with the statistics of its features up to and including x (`Scaler`): `standard` subtracts the
    mean and divides by the standard deviation, `range` divides by the largest absolute value. The inner learner plays
    the scaled x. A prediction without learning also includes x, and changes no statistics.
Promise
    That of the inner learner, on the scaled examples: its theorems hold for every sequence of x, and the scaling of
    x_t depends on x_1 .. x_t alone. Comparators see the scaled examples, so their u lives in scaled features.
    With `normalize`, the scaled example is then divided by its norm. Bounds on the risk of averaged weights do not
    carry over: the scaling differs from example to example, so they are not independent draws.
Cost
    Three multiplications per feature, and a few numbers stored per feature.
Reference
    [ross2013]; the sums for the deviation: [chan1983].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt
from novikoff.core.attribution import UNSCALED, Attribution, Importances
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features, Row
from novikoff.core.learner import Ability, Learner, check_batch
from novikoff.core.nesting import Nested
from novikoff.core.state import Argument, Array, Part, Stateful, require
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
"""Values of `scale`."""
LARGE = 4096
"""Number of cells from which reusing a buffer is cheaper than allocating a new one."""
KNOWN = 8
"""Number of statistics per feature in data/_loops/scaling.py."""

Kept = tuple[int, Any, NDArray[np.float64]]
"""Width of the rows so far, column indices, and the statistics of these columns."""


class Scaler(Stateful):
    """Running statistics of each feature, and the scaling by them.

    Args:
        scale: "standard": subtract the mean and divide by the standard deviation of the rows up to and including this
            one; features of sparse rows are divided by their root mean square over the rows in which they are present
            (data/_loops/scaling.py). "range": divide by the largest absolute value so far.
    """

    fields = (Argument("scale", str), Array("known", (KNOWN, None), at="_seen"))
    described = "a scale"

    def __init__(self, scale: Scale) -> None:
        if scale not in SCALES:
            raise InputError(f'a scale must be "standard" or "range": got {shown(scale)}.')
        self.scale = scale
        self._known = np.zeros((KNOWN, 0))  # may be wider than the rows so far, to grow rarely
        self._width = 0
        self._pool = BufferPool()

    def rows(self, x: NDArray[np.number] | Sparse, learn: bool) -> Any:
        """Return the rows scaled; with `learn`, update the statistics."""
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
        """Return the batch scaled; with `learn`, update the statistics."""
        x: Any = batch.x
        if not isinstance(x, Sparse) and x.ndim == 1:
            x = x[:, None]
        if isinstance(x, Sparse):
            return Batch(self.rows(x, learn), batch.y, batch.first, batch.end)
        y = batch.y.copy() if batch.memory == "borrowed" else batch.y
        return Batch(self.rows(x, learn), y, batch.first, batch.end, "owned")

    def _output(self, shape: tuple[int, int]) -> NDArray[np.float64]:
        """Return an output array; a large one reuses a buffer that is no longer referenced."""
        if shape[0] * shape[1] < LARGE:
            return np.empty(shape)
        return self._pool.arrays((shape[0] * shape[1], np.float64))[0].reshape(shape)

    def _of(self, x: Sparse, learn: bool) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Return the statistics of the features of x, and the index of each entry's feature in them.

        Without `learn`, unseen features get statistics of 0 in a temporary array.
        """
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
        """Return a copy of the statistics of these columns (None: all), for `forget`."""
        places = slice(None) if places is None else places[places < self._known.shape[1]]
        return self._width, places, self._known[:, places].copy()

    def forget(self, kept: Kept) -> None:
        """Restore the statistics that `kept` returned, after rows were rejected."""
        width, places, known = kept
        if isinstance(places, slice):
            self._known = known
        else:
            self._known[:, places] = known
        self._width = width
        self._known[:, width:] = 0.0

    @property
    def begins_with_a_row(self) -> bool:
        """Whether it stores the first row, the reference point of deviations."""
        return self.scale == "standard" and bool(self._known.any())

    @property
    def _seen(self) -> NDArray[np.float64]:
        """Statistics of the features so far."""
        return self._known[:, : self._width]

    @_seen.setter
    def _seen(self, known: NDArray[np.float64]) -> None:
        self._known, self._width = known, known.shape[1]

    def after_restoring(self, found: State) -> None:
        rows = self._known[_loops.scaling.ROWS]
        require(bool((rows >= 0.0).all() and (rows % 1.0 == 0.0).all()), "rows of a scale must be counts", rows[:3])


class Rescaled(Stream):
    """Rows of a stream, scaled as a scaled learner saw them; each pass starts a new scaler.

    Args:
        stream: Stream to scale.
        scale: "standard" or "range".
        features: Feature index of the learner, for examples with named features.
    """

    def __init__(self, stream: Stream, scale: Scale, features: Features) -> None:
        self._stream, self._scale, self._known = stream, scale, features
        self.name, self.domain, self.rereadable, self.rows = stream.name, stream.domain, stream.rereadable, stream.rows

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """Labels of the inner stream; they may be known only while it is read."""
        return self._stream.labels

    def fingerprint(self) -> dict[str, Json] | None:
        return self._stream.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        assert start is None, "the scaling of a row depends on all rows before it"
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
    """Return one row scaled, as an array or (indices, values); `width` is the number of known features."""
    if not isinstance(row, tuple):
        found: NDArray[np.float64] = scaler.rows(row[None, :], learn)[0]
        return found
    indices, values = row
    width = max(width, int(indices.max()) + 1 if len(indices) else 0)
    ends = np.array([0, len(indices)], dtype=np.uint64)
    values = scaler.rows(Sparse(ends, indices, values, width, checked=True), learn).values
    return CheckedRow((indices, values)) if np.isfinite(values).all() else (indices, values)


OF_X = ("score_one", "scores_one", "probability_one", "probabilities_one")
"""Methods that are available if the inner learner has them."""


class Scaled(Learner):
    """Learner on examples that are standardised online.

    Args:
        learner: Untrained learner on vectors.
        scale: "standard" (mean 0, deviation 1) or "range" (at most 1 in absolute value).

    Guarantee:
        That of the inner learner on the scaled examples, except bounds on the risk of averaged weights.

    Example:
        >>> import novikoff as nk
        >>> learner = nk.Scaled(nk.Perceptron(), scale="range")
        >>> nk.play(learner, [([1000.0, 0.1], -1), ([10.0, 0.2], 1), ([900.0, 0.1], -1)]).rounds
        3
    """

    features: Features

    promises: ClassVar[tuple[Theorem, ...]] = ()
    fields = (Nested("learner", argument=True), Part("scaler", Scaler), Part("features"))

    def __init__(self, learner: Learner, scale: Scale = "standard") -> None:
        self.learner = learner = adapt(learner)
        if learner.domain.kind != "vector":
            raise InputError(
                f"only learners on vectors can be scaled: {type(learner.original).__name__} plays on {learner.domain}."
            )
        if learner.covers:
            raise InputError("a conformal learner cannot be scaled: scale its inner learner, conformal:[scaled:[…]].")
        self.scaler, self.features = Scaler(scale), Features()
        self.scale = scale
        self.promises = tuple(one for one in learner.promises if one.quantity != "risk of the average")  # type: ignore[misc]
        self.task, self.fixed_labels, self.loss = learner.task, learner.fixed_labels, learner.loss
        self.draws, self.conservative = learner.draws, learner.conservative
        self.seen: Any = None
        """Last examples as the inner learner saw them: a row or a batch."""

    def __repr__(self) -> str:
        given = self.learner._arguments()
        given.append(f"scale={self.scale!r}")
        return f"{type(self.learner.original).__name__}({', '.join(given)})"

    @property
    def within(self) -> Learner:
        """Inner learner."""
        return self.learner

    @property
    def domain(self) -> Domain:
        """Domain of the inner learner."""
        return self.learner.domain

    @property
    def labels(self) -> int | None:
        """Number of labels of the inner learner."""
        return self.learner.labels

    @property
    def size(self) -> int | None:
        """Size of the inner learner."""
        return self.learner.size

    @property
    def updates(self) -> int | None:
        return self.learner.updates

    @property
    def rows_held(self) -> int:
        """Number of training rows stored: those of the inner learner, and the first row for standard scaling."""
        return self.learner.all_rows_held + self.scaler.begins_with_a_row

    def _scaled_example(self, x: Example) -> Any:
        return scaled_row(self.scaler, self.features.row(x, learn=False), self.features.count, learn=False)

    def predict_one(self, x: Example) -> Prediction:
        return self.learner.predict_one(self._scaled_example(x))

    def chances(self, x: Example) -> Distribution:
        return self.learner.chances(self._scaled_example(x))

    def play_one(self, x: Example, y: Outcome) -> Prediction | StepResult:
        met = self.features.met()
        row = self.features.row(x, learn=True)
        kept = self.scaler.kept(row[0] if isinstance(row, tuple) else None)
        try:
            self.seen = scaled_row(self.scaler, row, self.features.count, learn=True)
            return self.learner.play_one(self.seen, y)
        except BaseException:
            self.features.forget(met)
            self.scaler.forget(kept)
            raise

    def learn_many(self, batch: Batch) -> NDArray[np.number] | StepResult | None:
        """Predict and learn every row in order; return None and change nothing if the inner learner cannot."""
        if self.learner.looped:
            return None
        met, kept, played = self.features.met(), self.scaler.kept(), None
        try:
            self.features.rows(batch, learn=True)
            self.seen = self.scaler.batch(batch, learn=True)
            played = self.learner.learn_many(self.seen)
        finally:
            if played is None:
                self.features.forget(met)
                self.scaler.forget(kept)
        return played

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        return self.learner.predict_many(self._scaled_batch(batch))

    def predict_ahead(self, batch: Batch) -> NDArray[np.number]:
        if isinstance(batch.x, list):
            return self.learner.predict_ahead(replace(batch, x=[self._scaled_example(x) for x in batch.x]))
        return self.learner.predict_ahead(self._scaled_batch(batch))

    def _scaled_batch(self, batch: Batch) -> Batch:
        check_batch(self.__dict__.get("encoding"), batch)
        self.features.rows(batch, learn=False)
        return self.scaler.batch(batch, learn=False)

    def has(self, ability: Ability) -> bool:
        """Return whether the method is available: scores and probabilities depend on the inner learner."""
        return self.learner.has(ability) if ability in OF_X else super().has(ability)

    def score_one(self, x: Example) -> float:
        return self.learner.score_one(self._scaled_example(x))

    def scores_one(self, x: Example) -> NDArray[np.float64]:
        return self.learner.scores_one(self._scaled_example(x))

    def probability_one(self, x: Example) -> float:
        return self.learner.probability_one(self._scaled_example(x))

    def probabilities_one(self, x: Example) -> NDArray[np.float64]:
        return self.learner.probabilities_one(self._scaled_example(x))

    def attribution(self, x: Example) -> Attribution | None:
        """Return the score of x as a sum over its features, whose values are those after scaling."""
        return self.learner.attribution(self._scaled_example(x))

    def importances(self) -> Importances | None:
        """Return the importance of the scaled features: sizes of weights, as the features are of one size."""
        found = self.learner.importances()
        return None if found is None else found._replace(unit=found.unit.replace(UNSCALED, "columns scaled"))

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        return self.learner.scores_many(self._scaled_batch(batch))

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        return self.learner.probabilities_many(self._scaled_batch(batch))

    def costs(self, predicted: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.learner.costs(predicted, y)

    def seen_batch(self, batch: Batch) -> Batch:
        found: Batch = self.seen
        return found

    def seen_row(self, x: Example, later: bool = False) -> Row | dict[str, float]:
        return super().seen_row(x, later) if self.seen is None else self.seen

    @property
    def largest_loss(self) -> float:
        return self.learner.largest_loss

    def widen(self, width: int) -> None:
        """Grow to `width` features, if the inner learner allows it."""
        self.learner.widen_all(width)
        self.features.widen(width)

    def tracker(self) -> Tracker | None:
        """Return the comparators of the inner learner, for a new game on the scaled examples."""
        return self.learner.tracker()

    def again(self, stream: Stream) -> Stream:
        """Return the stream of a one-pass game as the inner learner saw it."""
        return Rescaled(stream, self.scaler.scale, self.features)

    def facts(self) -> Facts:
        return self.learner.facts()

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        scaler = state["scaler"]
        require(isinstance(scaler, dict) and "scale" in scaler, "a scaled learner must have a scale", scaler)
        return {**super().arguments(state), "scale": scaler["scale"]}
