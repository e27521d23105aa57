"""A learner whose examples are brought to one scale first, online: for columns of different sizes.

Algorithm
    Every x is scaled by what is known of its features, x itself included (data/scaler.py): `standard`, less the
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

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.feature_places import Features
from novikoff.core.nesting import restored, saved
from novikoff.core.one_step import Playing, check_batch
from novikoff.core.player import Player
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Distribution, Domain, Example, Label, Learner, State, StepResult, Theorem
from novikoff.core.written import Written
from novikoff.data.rescaled import Rescaled, scaled_row
from novikoff.data.scaler import Scale, Scaler

OF_MANY = ("scores_many", "probabilities_many")


class Scaled(Playing):
    """The learner, on examples of one scale.

    learner   on vectors; it has met none yet
    scale     "standard" or "range"
    """

    promises: ClassVar[tuple[Theorem, ...]] = ()

    def __init__(self, learner: Learner, scale: Scale = "standard") -> None:
        if learner.domain.kind != "vector":
            raise InputError(f"what is scaled must be vectors: {type(learner).__name__} plays on {learner.domain}.")
        if Player(learner).covers:
            raise InputError("what is scaled must say no sets: scale the learner within, conformal:[scaled:[…]].")
        self.within = learner
        self.scaler, self.features = Scaler(scale), Features()
        self._player = player = Player(learner)
        self.scale = scale
        self.promises = tuple(one for one in learner.promises if one.quantity != "risk of the average")  # type: ignore[misc]
        self.outcomes, self.loss, self.numbered = player.outcomes, player.loss, player.numbered
        self.draws, self.conservative = player.draws, player.conservative
        self.seen: Any = None
        """The last examples as the learner within saw them: a row, or a batch."""

    def __repr__(self) -> str:
        given = self.within._arguments() if isinstance(self.within, Written) else []
        given.append(f"scale={self.scale!r}")
        return f"{type(self.within).__name__}({', '.join(given)})"

    @property
    def domain(self) -> Domain:
        """That of the learner within."""
        return self.within.domain

    @property
    def labels(self) -> int | None:
        """Those of the learner within."""
        return self.within.labels

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
        return self._player.rows_held + self.scaler.begins_with_a_row

    def _asked(self, x: Example) -> Any:
        return scaled_row(self.scaler, self.features.row(x, learn=False), self.features.count, learn=False)

    def predict_one(self, x: Example) -> Label:
        return self.within.predict_one(self._asked(x))

    def chances(self, x: Example) -> Distribution:
        return self._player.chances(self._asked(x))

    def play_one(self, x: Example, y: Label) -> Any:
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

    def learn_many(self, batch: Batch) -> NDArray[Any] | StepResult | None:
        """Predict and learn every row in order; None, having done nothing, where the learner cannot."""
        if self._player.looped or isinstance(batch.x, list):
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

    def predict_many(self, batch: Batch) -> NDArray[Any]:
        if isinstance(batch.x, list):
            return np.array([self.predict_one(x) for x in batch.x])
        return self._player.predict_many(self._asked_many(batch))

    def predict_ahead(self, batch: Batch) -> NDArray[Any]:
        if isinstance(batch.x, list):
            return self._player.predict_ahead(replace(batch, x=[self._asked(x) for x in batch.x]))
        return self._player.predict_ahead(self._asked_many(batch))

    def _asked_many(self, batch: Batch) -> Batch:
        check_batch(self.__dict__.get("encoding"), batch)
        self.features.rows(batch, learn=False)
        return self.scaler.batch(batch, learn=False)

    def __getattr__(self, name: str) -> Any:
        """Scores and probabilities of x, or of the rows of a batch, where the learner within has them."""
        if name not in ("score_one", "probability_one", "scores_one", "probabilities_one", *OF_MANY):
            raise AttributeError(f"{type(self).__name__} has no {name}")
        of_scaled = getattr(self.within, name)
        if name in OF_MANY:
            return lambda batch: of_scaled(self._asked_many(batch))
        return lambda x: of_scaled(self._asked(x))

    def widen(self, width: int) -> None:
        """Let arrays be so wide from now on, if the learner within lets them."""
        self._player.widen(width)
        self.features.widen(width)

    def tracker(self) -> Any:
        """Comparators to watch a game that begins now, on the scaled examples."""
        return self._player.tracker()

    def again(self, stream: Stream) -> Stream:
        """The stream of a whole game in one pass, as the learner within saw it."""
        return Rescaled(stream, self.scaler.scale, self.features)

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
