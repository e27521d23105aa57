"""Comparators for multiclass learners: weights U with a small loss and a small square in the learner's metric.

Algorithm
    Rows are kept, as the learner reads them (numerics/nonzeros.py), with the scores it played. While all of them fit in
    `keep` bytes, a request for facts minimises the bound itself over U, on all rows and with the learner's present
    metric: it is convex in U, and U is the best in hindsight. From the first row that does not fit, a U fitted to the
    kept rows is evaluated at a few scales on every row, the kept ones first; its weights are 0 for labels that appear
    later.
Promise
    The bound holds for any U: its losses are summed over every round, rounded up
    (comparators/_loops/multiclass_losses.py). The learner's sums are compared with the scores that it played, along
    every U.
Cost
    Kept: 12 bytes per non-zero and 8 per score, and a fit per request. After: O(4k non-zeros) per round, 4k numbers per
    feature.
Reference
    [liu1989] for the fit (comparators/multiclass_fit.py).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators import _loops
from novikoff.comparators.goal import HasGoals
from novikoff.comparators.metric import Diagonal, Full
from novikoff.comparators.metric_fit import FACTORS
from novikoff.comparators.multiclass_facts import MulticlassComparator, MulticlassComparatorFacts, MulticlassGoal
from novikoff.comparators.multiclass_fit import best_for
from novikoff.comparators.rows import Rows, as_nonzeros, with_labels
from novikoff.comparators.tracker import KEEP, MOST_PLACES, KeptRows, VectorTracker
from novikoff.core.state import Argument, Array, Choice, Count, Number, require
from novikoff.core.types import State
from novikoff.numerics.sizes import U0

if TYPE_CHECKING:
    from novikoff.core.learner import Learner

Vector = NDArray[np.float64]
MOST_LABELS = 2**31
"""Largest number of labels."""


class MulticlassTracker(VectorTracker):
    """Tracker for a multiclass learner.

    Args:
        loss: "log" or "hinge".
        bias: The learner's value of the constant feature.
        announced: Number of labels known before the first round; None for none.
        normalize: Whether rows are divided by their length.
        keep: Bytes of rows to keep.
    """

    outcomes = np.int64
    kind = "many"
    fields = (
        Choice("loss", ("log", "hinge"), argument=True),
        Number("bias", argument=True),
        Count("announced", optional=True, argument=True),
        Argument("normalize", bool),
        Count("keep", argument=True),
        Count("rows"),
        Count("places", most=MOST_PLACES),
        Count("labels", most=MOST_LABELS),
        Count("known", at="_known"),
        KeptRows("kept", at="_kept", optional=True, assigned=False),
        Count("fitted", most="rows", at="_fitted"),
        Array("vectors", (None, None, None), at="_known_vectors", assigned=False),
        Array("sums", (None, None), at="_sums", finite=False, assigned=False),
        Array("told", (None,), at="_score_sums", finite=False, assigned=False),
    )

    def __init__(
        self, loss: str, bias: float, announced: int | None = None, normalize: bool = False, keep: int = KEEP
    ) -> None:
        super().__init__(bias, keep)
        self.loss, self.announced, self.normalize = loss, announced, normalize
        self.labels = announced or 0
        self._known = self.labels  # number of labels before the first row that the vectors have not seen
        self._vectors, self._sums = np.zeros((0, 0, 0)), np.zeros((_loops.multiclass_losses.SUMS, 0))
        self._score_sums = np.zeros(_loops.multiclass_losses.SCORE_SUMS)
        self._cached: tuple[Any, MulticlassComparatorFacts] | None = None

    def _overhead(self, y: NDArray[np.int64], scores: NDArray[Any]) -> NDArray[np.int64]:
        known = self._known_in(y, self.labels)
        self.labels = max(self.labels, int(y.max(initial=-1)) + 1)
        return 16 + 8 * known

    def _no_scores(self) -> Vector:
        return np.zeros((0, self.labels))

    def _together(self) -> tuple[Any, NDArray[np.int64], Vector]:
        rows, y, scores = super()._together()
        return rows, y, with_labels(scores, self.labels)

    def _settle(self) -> None:
        rows, y, scores = self._together()
        most = np.zeros(self.places)
        np.maximum.at(most, rows.places, np.abs(rows.values))
        nothing = np.zeros((self.places, int(self._known_in(y)[-1])))
        metric = Diagonal(np.where(most > 0.0, 1.0, 0.0) if self.loss == "hinge" else most * most)
        goal = MulticlassGoal(metric, float(len(y)), nothing, nothing)
        found = best_for(goal, rows, y, self._known_in(y), nothing.shape, self.loss == "hinge")
        self._vectors = np.stack([nothing, *(scale * u for u in found[-1:] for scale in FACTORS)])
        self._sums = np.zeros((_loops.multiclass_losses.SUMS, len(self._vectors)))
        self._fitted = len(y)
        self._look_at(rows, y, scores)

    def _known_in(self, y: NDArray[np.int64], before: int = 0) -> NDArray[np.int64]:
        """Return the number of labels known in each round, that of the round included."""
        return np.maximum.accumulate(np.maximum(y + 1, max(before, self.announced or 0)))

    def _add(self, x: Rows, y: NDArray[np.int64], played: Vector) -> None:
        self._look_at(as_nonzeros(x), y, played)

    def _look_at(self, rows: Any, y: NDArray[np.int64], scores: Vector) -> None:
        """Add the losses of the vectors on these rows."""
        vectors = self._vectors
        if self.places > vectors.shape[1] or self.labels > vectors.shape[2]:
            room = self.places + min(vectors.shape[1], 2**20) if self.places > vectors.shape[1] else vectors.shape[1]
            self._vectors = np.zeros((len(vectors), room, self.labels))
            self._vectors[:, : vectors.shape[1], : vectors.shape[2]] = vectors
        see: Any = _loops.multiclass_losses.see
        see(self._vectors, *rows, y, np.ascontiguousarray(scores), self._known, self.loss == "hinge", self._sums,
            self._score_sums)  # fmt: skip
        self._known = max(self._known, int(y.max(initial=-1)) + 1)

    def facts(self, learner: HasGoals[MulticlassGoal]) -> MulticlassComparatorFacts:
        """Return the facts so far, with the learner's present metric."""
        self.catch_up()
        (goal,) = learner.goals()
        key = (self.rows, goal.promised)
        if self._cached is None or self._cached[0] != key:
            self._cached = (key, self._facts(goal))
        return self._cached[1]

    def _facts(self, goal: MulticlassGoal) -> MulticlassComparatorFacts:
        at = _loops.multiclass_losses
        if self._kept is None:
            vectors, sums, score_sums, fitted = (
                self._vectors[:, : self.places],
                self._sums,
                self._score_sums,
                self._fitted,
            )
        else:
            rows, y, scores = self._together()
            shape, fitted = (self.places, self.labels), len(y)
            chosen = best_for(goal, rows, y, self._known_in(y), shape, self.loss == "hinge")
            vectors = np.stack([np.zeros(shape), *chosen])
            sums, score_sums = np.zeros((at.SUMS, len(vectors))), np.zeros(at.SCORE_SUMS)
            see: Any = at.see
            see(vectors, *rows, y, scores, self.announced or 0, self.loss == "hinge", sums, score_sums)
        found = [self._comparator(goal, u, sums[:, k]) for k, u in enumerate(vectors)]
        unexplained = 0.0
        if goal.linear is not None and self.rows:
            explained = (self.rows + 20) * 2.0 * U0 * float(score_sums[at.LINEAR_SIZE])
            unexplained = abs(goal.linear - float(score_sums[at.LINEAR])) / (4.0 * explained + 1e-300)
        checked = tuple(u for u in found if math.isfinite(u.unexplained + u.square))
        dual = self._dual(goal, float(score_sums[at.LINEAR]), float(score_sums[at.LINEAR_SIZE]))
        return MulticlassComparatorFacts(self.rows, fitted, checked, float(score_sums[at.LOSS]), unexplained, dual=dual)

    def _dual(self, goal: MulticlassGoal, linear: float, size: float) -> float:
        """Return an upper bound on the sum of b_j'A^-1 b_j; for the log loss, on half of it plus the sum of <g, z>."""
        hinge, labels = self.loss == "hinge", goal.added.shape[1]
        doubt = goal.doubt if hinge else np.zeros(goal.doubt.shape)  # for the log loss the bound of each U includes it
        if isinstance(goal.penalty, Full) and labels:
            whole = goal.penalty.inverses_between(goal.added.T, doubt.max(axis=1))[1]
        else:
            whole = math.fsum(goal.penalty.inverse_between(goal.added[:, j], doubt[:, j])[1] for j in range(labels))
        return whole if hinge else linear + (self.rows + 20) * 2.0 * U0 * size + 0.5 * whole

    def _comparator(self, goal: MulticlassGoal, u: Vector, sums: Vector) -> MulticlassComparator:
        """Return U with its loss rounded up, after comparing the learner's sum along U with that of its scores."""
        at, factor = _loops.multiclass_losses, 1.0 + (self.rows + 20) * 2.0 * U0
        lost, doubt, pull, pull_doubt = (float(sums[k]) for k in (at.LOST, at.DOUBT, at.PULL, at.PULL_DOUBT))
        shape = tuple(map(min, u.shape, goal.added.shape))
        known, added, off = (part[: shape[0], : shape[1]] for part in (u, goal.added, goal.doubt))
        with np.errstate(all="ignore"):
            slack = float((np.abs(known) * off).sum())
            explained = (self.rows + known.size + 20) * 2.0 * U0 * float(np.abs(known * added).sum()) + slack
            explained += pull_doubt + (self.rows + 20) * 4.0 * U0 * abs(pull)
            unexplained = abs(float((known * added).sum()) - pull) / (4.0 * explained + 1e-300)
        zero = not u.any()  # U = 0 is exact even if sums overflowed
        square = 0.0 if zero else sum(goal.penalty.square(column) for column in u.T)
        return MulticlassComparator((lost + doubt) * factor, square, slack, 0.0 if zero else unexplained)

    @property
    def _columns(self) -> int:
        return self.labels

    @property
    def _known_vectors(self) -> Vector:
        """Vectors at the places seen."""
        return self._vectors[:, : self.places]

    def check(self, learner: Learner) -> None:
        super().check(learner)
        must = f"comparators must have at most the learner's {learner.labels} labels"
        require(self.labels <= (learner.labels or 0), must, self.labels)

    def after_restoring(self, found: State) -> None:
        labels, announced, at = self.labels, self.announced or 0, _loops.multiclass_losses
        most = max(labels, announced)
        require(self._known <= most, f"known labels must be at most {most:,}", self._known)
        if found["kept"] is not None:
            y = found["kept"][1]
            known = max(int(y.max(initial=-1)) + 1, announced)
            require(bool((y >= 0).all()) and labels == known, f"kept rows must have {labels:,} labels", known)
            self.labels = announced  # counted again with the rows
            super().after_restoring(found)
            return
        super().after_restoring(found)
        self._vectors, self._sums, self._score_sums = (found[name] for name in ("vectors", "sums", "told"))
        shape, count = self._vectors.shape, len(self._vectors)
        sound = shape[1] == self.places and labels <= shape[2]
        require(sound, f"{self.described} must have weights for {self.places:,} places and {labels:,} labels", shape)
        sound = self._sums.shape == (at.SUMS, count) and self._score_sums.shape == (at.SCORE_SUMS,)
        require(sound, f"sums must have {count:,} comparators", self._sums.shape)
