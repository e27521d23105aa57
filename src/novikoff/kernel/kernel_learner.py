"""What learners that keep examples have in common: they say the sign of f(x) = sum of coefficient * K(z, x).

A learner of this family brings its rule, twice: `_learn_many`, compiled (kernels/), plays rows until there is no room,
and says where to go on; `_insert` puts in one example, for a kernel function of the user's. An example is inserted on a
mistake; with `beta` > 0, whenever y f(x) <= beta.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import still
from novikoff.core.feature_places import Features
from novikoff.core.learner import Learner
from novikoff.core.state import Count, Field, Part
from novikoff.core.types import Batch, CheckedRow, Domain, Example, Label, Outcome, State, Theorem, check_label, signs
from novikoff.kernel import _loops
from novikoff.kernel._loops.cache import Cache, Places, Rows, Rule, Vector
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.supports import Examples, Supports
from novikoff.kernel.theorems.kernel_facts import KernelFacts

Row = tuple[Places, Vector, int]
"""Places, numbers and width of an example, as in kernel/_loops/rows.py."""

Played = tuple[Cache, Rule, Rows, NDArray[np.int8], int, Vector]
"""Supports, K, rows, labels, the row to begin with, and where the scores go."""

UNUSED = {"rbf": ("degree", "constant"), "polynomial": ("gamma",)}
"""Parameters that a kernel does not have."""


class KernelLearner(Learner):
    """Supports, and how they are played with.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or whole numbers to
    numbers (core/feature_places.py).
    """

    domain: Domain
    features: Features

    keeps_scores = True
    promises: ClassVar[tuple[Theorem, ...]]
    labels: int | None = None
    conservative = True
    scales = True
    additive = False
    """A mistake adds y K(x, .) to f, and nothing else changes it, as long as no example has left."""
    beta = 0.0
    fields: ClassVar[tuple[Field, ...]] = (
        Count("rounds"),
        Part("features"),
        Examples("supports", "features.count", dense="features.dense"),
    )

    def __init__(self, similarity: Kernel, budget: int | None = None) -> None:
        self.domain = Domain("vector")
        self.similarity, self.budget = similarity, budget
        self.supports = Supports(similarity, budget)
        self.features = Features()
        self.rounds = 0
        self.scored = None

    @property
    def size(self) -> int:
        """Supports held."""
        return self.supports.count

    @property
    def rows_held(self) -> int:
        """Training rows in its hypothesis: the supports."""
        return self.supports.count

    @property
    def updates(self) -> int:
        """Examples ever inserted."""
        return self.supports.updates

    def _argument(self, name: str, default: Any) -> Any:
        known = self.similarity.arguments()
        return (
            default if name in UNUSED.get(self.similarity.kind, ()) else known.get(name, getattr(self, name, default))
        )

    @abstractmethod
    def _learn_many(self, *rows: *Played) -> int:
        """Play the rows; the row to go on with, if there was no room."""

    @abstractmethod
    def _insert(self, row: Row, y: int, self_value: float) -> None:
        """Put in one example, of whose K(z,x) the supports know the values. self_value: K(x,x)."""

    def predict_one(self, x: Example) -> Label:
        return -1 if self.score_one(x) < 0.0 else 1

    def score_one(self, x: Example) -> float:
        """f(x), the number whose sign is said."""
        row = self.features.row(x, learn=False)
        if self.supports.count == 0:
            return 0.0
        if not isinstance(row, tuple) and self.supports.wrong_width(len(row)):
            row = CheckedRow((np.arange(len(row), dtype=np.uint32), row))
        return self.supports.score(*_loops.rows.rows_of_one(row)[1:])

    def predict_many(self, batch: Batch) -> NDArray[np.int8]:
        return np.where(self.scores_many(batch) < 0.0, np.int8(-1), np.int8(1))

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """f of every row, learning nothing; compiled, but for a function of the user's."""
        held, rows = self.supports, _loops.rows.rows_of(self.features.rows(batch, learn=False))
        if held.count and (held.user_kernel or held.wrong_width(rows[3])):
            return np.array([self.score_one(x) for x, _ in batch.rows()], dtype=np.float64)
        scores = np.zeros(len(batch))
        if held.count:
            _loops.supports.score_rows(held.to_read(), held.rule, rows, scores)
        return scores

    def play_one(self, x: Example, y: Outcome) -> Label:
        label, held = check_label(y, None), self.supports
        rows = _loops.rows.rows_of_one(self.features.row(x, learn=not held.user_kernel))
        if not held.user_kernel:
            said = int(self._play(rows, np.array([label], dtype=np.int8))[0])
            self.scored = self.scored.item() if isinstance(self.scored, np.ndarray) else self.scored
            return said
        self_value, score = held.call(*rows[1:]), held.score_called()
        self.features.row(x, learn=True)  # only now: the function may have failed
        held.begin(rows[3])
        if _loops.supports.inserts(score, label, self.beta):
            self._insert(rows[1:], label, self_value)
        self.rounds += 1
        self.scored = score
        return -1 if score < 0.0 else 1

    def learn_many(self, batch: Batch) -> NDArray[np.int8] | None:
        """Predict and learn every row in order, compiled; None, having done nothing, with a function of the user's."""
        if self.supports.user_kernel:
            return None
        y = signs(batch)
        return self._play(_loops.rows.rows_of(self.features.rows(batch, learn=True)), y)

    def _play(self, rows: Rows, y: NDArray[np.int8]) -> NDArray[np.int8]:
        held, (indptr, places, _, width), y = self.supports, rows, still(y)
        held.begin(width)
        scores, t = np.empty(len(y)), 0
        while (t := self._learn_many(held.cache, held.rule, rows, y, t, scores)) < len(y):
            held.make_room(places[int(indptr[t]) : int(indptr[t + 1])] if width < 0 else places, width)
        self.rounds += len(y)
        self.scored = scores
        return np.where(scores < 0.0, -1, 1).astype(np.int8)

    def widen(self, width: int) -> None:
        """Let arrays be so wide from now on; supports are 0 in new columns."""
        if self.features.widen(width):
            self.supports.begin(width)

    def tracker(self) -> KernelTracker | None:
        """Comparators to watch a game that begins now, in the same feature space, if a theorem needs them."""
        return KernelTracker(self.similarity, additive=self.additive) if self.promises else None

    def facts(self) -> KernelFacts:
        held = self.supports
        return KernelFacts(
            rounds=self.rounds,
            updates=held.updates,
            supports=held.updates - held.evictions,
            evictions=held.evictions,
            budget=self.budget,
            similarity=self.similarity,
            empty=held.count == 0,
            **self._more_facts(),
        )

    def _more_facts(self) -> dict[str, Any]:
        """What the theorems of this learner need to know besides."""
        return {}

    @classmethod
    def arguments(cls, state: State) -> dict[str, Any]:
        similarity = Kernel.restore(state["supports"]["similarity"])
        return {**similarity.arguments(), **super().arguments(state)}
