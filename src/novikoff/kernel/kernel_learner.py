"""Base class of the kernel learners, which predict the sign of f(x) = sum of coefficient * K(z, x).

A subclass implements its rule twice. `_learn_many`, compiled (_loops/), plays rows until the arrays are full and
returns the row to resume from. `_insert` inserts one example, for a user-defined kernel function. An example is
inserted on a mistake; with `beta` > 0, whenever y f(x) <= beta.
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
"""Feature indices, values and width of an example, as in kernel/_loops/rows.py."""

Played = tuple[Cache, Rule, Rows, NDArray[np.int8], int, Vector]
"""Supports, kernel, rows, labels, first row to play, and output array of the scores."""

UNUSED = {
    "linear": ("gamma", "degree", "constant"),
    "rbf": ("degree", "constant"),
    "polynomial": ("gamma",),
}
"""Parameters without effect, by kernel."""


class KernelLearner(Learner):
    """Binary classifier that stores supports and predicts the sign of their weighted sum of kernels.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or integers to
    numbers (core/feature_places.py).
    """

    domain: Domain
    features: Features

    keeps_scores = True
    promises: ClassVar[tuple[Theorem, ...]]
    conservative = True
    scales = True
    additive = False
    """Whether, as long as no support was removed, f changes only by y K(x, .) on a mistake."""
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
        """Number of supports."""
        return self.supports.count

    @property
    def rows_held(self) -> int:
        """Number of training rows in the hypothesis: the supports."""
        return self.supports.count

    @property
    def updates(self) -> int:
        """Number of examples inserted so far."""
        return self.supports.updates

    def _argument(self, name: str, default: object) -> object:
        if name in UNUSED.get(self.similarity.kind, ()):
            return default
        if name == "kernel" and default is None and self.similarity.kind != "own":
            return default  # the parameters that are shown name the kernel
        known = self.similarity.arguments()
        return known[name] if name in known else super()._argument(name, default)

    @abstractmethod
    def _learn_many(self, *rows: *Played) -> int:
        """Play the rows; return the row to resume from, the number of rows if all were played."""

    @abstractmethod
    def _insert(self, row: Row, y: int, self_value: float) -> None:
        """Insert one example; the supports hold its values K(z,x), and `self_value` is K(x,x)."""

    def predict_one(self, x: Example) -> Label:
        return -1 if self.score_one(x) < 0.0 else 1

    def score_one(self, x: Example) -> float:
        """Return f(x), whose sign is the prediction."""
        row = self.features.row(x, learn=False)
        if self.supports.count == 0:
            return 0.0
        # The supports are stored sparse: read a dense x in the same form.
        if not isinstance(row, tuple) and self.supports.wrong_width(len(row)):
            row = CheckedRow((np.arange(len(row), dtype=np.uint32), row))
        return self.supports.score(*_loops.rows.rows_of_one(row)[1:])

    def predict_many(self, batch: Batch) -> NDArray[np.int8]:
        return np.where(self.scores_many(batch) < 0.0, np.int8(-1), np.int8(1))

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return f of every row without learning; compiled, except for a user-defined kernel."""
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
            predicted = int(self._play(rows, np.array([label], dtype=np.int8))[0])
            self.scored = self.scored.item() if isinstance(self.scored, np.ndarray) else self.scored
            return predicted
        self_value, score = held.call(*rows[1:]), held.score_called()
        self.features.row(x, learn=True)  # only now, because the kernel function may have failed
        held.begin(rows[3])
        if _loops.supports.inserts(score, label, self.beta):
            self._insert(rows[1:], label, self_value)
        self.rounds += 1
        self.scored = score
        return -1 if score < 0.0 else 1

    def learn_many(self, batch: Batch) -> NDArray[np.int8] | None:
        """Predict and learn every row in order, compiled; return None and do nothing with a user-defined kernel."""
        if self.supports.user_kernel:
            return None
        y = signs(batch)
        return self._play(_loops.rows.rows_of(self.features.rows(batch, learn=True)), y)

    def _play(self, rows: Rows, y: NDArray[np.int8]) -> NDArray[np.int8]:
        held, (indptr, places, _, width), y = self.supports, rows, still(y)
        held.begin(width)
        scores, t = np.empty(len(y)), 0
        # The loop stops at a row that does not fit; grow the arrays and resume from it.
        while (t := self._learn_many(held.cache, held.rule, rows, y, t, scores)) < len(y):
            held.make_room(places[int(indptr[t]) : int(indptr[t + 1])] if width < 0 else places, width)
        self.rounds += len(y)
        self.scored = scores
        return np.where(scores < 0.0, -1, 1).astype(np.int8)

    def widen(self, width: int) -> None:
        """Grow to `width` features; supports are 0 in new columns."""
        if self.features.widen(width):
            self.supports.begin(width)

    def tracker(self) -> KernelTracker | None:
        """Return comparators in the same feature space for a game that starts now; None if no theorem needs them."""
        return KernelTracker(self.similarity, additive=self.additive) if self.promises else None

    def textbook(self) -> dict[str, object] | None:
        known = self.similarity
        if not self.additive or known.kind == "own" or self.supports.evictions:
            return None
        constants = {"gamma": known.gamma.hex(), "constant": known.constant.hex(), "bias": known.bias.hex()}
        return {
            "rule": "kernel-perceptron", "kernel": known.kind, "degree": known.degree, "budget": self.budget,
            "normalize": known.normalized, "differences": self.features.dense, **constants,
        }  # fmt: skip

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
        """Return further facts that the theorems of this learner need."""
        return {}

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        similarity = Kernel.restore(state["supports"]["similarity"])
        return {**similarity.arguments(), **super().arguments(state)}
