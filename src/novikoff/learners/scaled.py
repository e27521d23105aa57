"""A learner whose examples are brought to one scale first, online: for tables whose columns are of different sizes.

Algorithm
    Every x is scaled by what is known of its features, x itself included (learners/scaler.py): `standard`, less the
    mean and over the deviation, or `range`, over the largest size. Then the learner within plays the scaled x.
    Asking scales by x too, and remembers nothing.
Promise
    That of the learner within, on the scaled examples: its theorems hold for every sequence of x, and what is done to
    x_t depends on x_1 .. x_t alone. Comparators see the scaled examples, so their u lives in scaled features.
    With `normalize` as well, the scaled example is divided by its length.
Cost
    Three multiplications a feature and a few numbers to remember of each.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import InputError
from novikoff.learners.features import Features
from novikoff.learners.nesting import restored, saved
from novikoff.learners.scaler import Scale, Scaler
from novikoff.player import Player
from novikoff.types import Batch, Distribution, Domain, Example, Label, Learner, Sparse, State, StepResult, Theorem


class Scaled:
    """The learner, on examples of one scale.

    learner   on vectors; it has met none yet
    scale     "standard" or "range"
    """

    promises: ClassVar[tuple[Theorem, ...]] = ()

    def __init__(self, learner: Learner, scale: Scale = "standard") -> None:
        if learner.domain.kind != "vector":
            raise InputError(f"what is scaled must be vectors: {type(learner).__name__} plays on {learner.domain}.")
        self.within = learner
        self.scaler, self.features = Scaler(scale), Features()
        self._player = player = Player(learner)
        self.promises = learner.promises  # type: ignore[misc]
        self.labels, self.outcomes, self.loss = learner.labels, player.outcomes, player.loss
        self.draws, self.conservative = player.draws, player.conservative
        self.seen: Any = None
        """The last examples as the learner within saw them: a row, or a batch."""

    @property
    def domain(self) -> Domain:
        """That of the learner within."""
        return self.within.domain

    @property
    def size(self) -> int | None:
        """What the learner holds."""
        return self._player.size

    @property
    def updates(self) -> int | None:
        """How often it changed."""
        return self._player.updates

    def _row(self, x: Example, learn: bool) -> Any:
        row = self.features.row(x, learn)
        if isinstance(row, tuple):
            indices, values = row
            ends = np.array([0, len(indices)], dtype=np.uint64)
            width = max(self.features.count, int(indices.max(initial=-1)) + 1)
            scaled = self.scaler.rows(Sparse(ends, indices, values, width, checked=True), learn)
            return indices, scaled.values
        return self.scaler.rows(row[None, :], learn)[0]

    def predict_one(self, x: Example) -> Label:
        return self.within.predict_one(self._row(x, learn=False))

    def chances(self, x: Example) -> Distribution:
        """The distribution of its prediction on x."""
        return self._player.chances(self._row(x, learn=False))

    def learn_one(self, x: Example, y: Label) -> None:
        self.play_one(x, y)

    def play_one(self, x: Example, y: Label) -> Any:
        """Predict, then learn."""
        self.seen = self._row(x, learn=True)
        return self._player.play_one(self.seen, y)

    def learn_many(self, batch: Batch) -> NDArray[Any] | StepResult | None:
        """Predict and learn every row in order; None, having done nothing, where the learner cannot."""
        if self._player.looped or isinstance(batch.x, list):
            return None
        self._meet(batch)
        self.seen = self.scaler.batch(batch, learn=True)
        return self._player.learn_many(self.seen)

    def predict_many(self, batch: Batch) -> NDArray[Any]:
        """What it says of every row, learning nothing."""
        if isinstance(batch.x, list):
            return np.array([self.predict_one(x) for x in batch.x])
        return self._player.predict_many(self.scaler.batch(batch, learn=False))

    def _meet(self, batch: Batch) -> None:
        x: Any = batch.x
        if isinstance(x, Sparse):
            self.features.meet("numbers", x.width)
        else:
            self.features.meet("array", x.shape[1] if x.ndim == 2 else 1)

    def tracker(self) -> Any:
        """Comparators to watch a game that begins now, on the scaled examples."""
        return self._player.tracker()

    def facts(self) -> Any:
        return self.within.facts()

    def state(self) -> State:
        return {"learner": saved(self.within), "scaler": self.scaler.state(), "features": self.features.state()}

    @classmethod
    def restore(cls, state: State) -> Self:
        scaler = Scaler.restore(state["scaler"])
        learner = cls(restored(state["learner"]), scaler.scale)
        learner.scaler = scaler
        learner.features.load(state["features"])
        return learner
