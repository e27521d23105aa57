"""Comparators for learners with a convex loss: weights u with a small loss and a small norm in the learner's metric.

Algorithm
    Rows are kept as the learner reads them (numerics/nonzeros.py), with the scores it played. While all of them fit in
    `keep` bytes, a request for facts minimises loss + u'Au/2 over u on all rows, with the learner's current metric. The
    objective is convex in u; corners of the loss are smoothed slightly. Once a row does not fit, vectors u are fitted
    to the kept rows with several ridges, and then evaluated on every row, the kept ones first.
Promise
    Any u is valid: its losses are summed over every round, rounded up. The learner's sums are compared with those of
    the scores that it played, along every u.
Cost
    While rows are kept: 12 bytes per non-zero, and a fit per request. Then: O(4 non-zeros) per round, 4 numbers per
    feature.
Reference
    [liu1989] for the fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blas import one_blas_thread
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.rows import Rows, as_nonzeros
from novikoff.comparators.tracker import KEEP, MOST_PLACES, KeptRows, VectorTracker
from novikoff.convex.comparators.losses import CODES, ConvexLoss
from novikoff.core.state import Array, Coded, Count, Number, require
from novikoff.core.types import State
from novikoff.numerics.sizes import U0

Vector = NDArray[np.float64]
RIDGES = (1.0, 10.0, 100.0)
"""Ridges of the comparators fitted when rows no longer fit in memory."""
SOFT = (0.3, 0.03, 0.003)
"""Widths over which corners of the loss are smoothed in successive fits, as fractions of the largest outcome."""


class ConvexGoal(NamedTuple):
    """Objective that a learner's theorem sets for u: its loss + penalty.square(u)/2 + |u| times the error of `added`.

    Attributes:
        penalty: The learner's metric.
        added: The learner's sum of g x, by place.
        doubt: Rounding error of `added`, by place.
        linear: The learner's sum of g z.
    """

    penalty: Diagonal
    added: Vector
    doubt: Vector
    linear: float


class HasGoal(Protocol):
    """A learner whose theorem has one goal for comparators."""

    def goal(self) -> ConvexGoal:
        """Return the goal with the present metric."""
        ...


@dataclass(frozen=True, slots=True)
class ConvexComparator:
    """One comparator u.

    Attributes:
        lost: Total loss, rounded up.
        square: u'Au.
        doubt: Rounding error of the learner's sums along u.
        unexplained: Distance of these sums from those of the scores played, in units of the rounding error.
    """

    lost: float
    square: float
    doubt: float
    unexplained: float


@dataclass(frozen=True, slots=True)
class ConvexComparatorFacts:
    """Facts about all comparators.

    Attributes:
        rows: Rounds seen.
        fitted: Number of rounds on which u was fitted.
        comparators: Comparators with finite values; u = 0 first.
        lost: Total loss of the scores.
        nothing: Total loss of u = 0.
        unexplained: Distance of the learner's sum of g z from that of the scores, in units of the rounding error.
        dual: Upper bound on the sum of g z + G'A^-1 G/2, evaluated on the scores played.
    """

    rows: int
    fitted: int
    comparators: tuple[ConvexComparator, ...]
    lost: float
    nothing: float
    unexplained: float
    dual: float

    @property
    def explained(self) -> bool:
        """Whether the learner's sums agree with the scores it played."""
        return self.unexplained <= 1.0 and all(u.unexplained <= 1.0 for u in self.comparators)


LOST, PULL, PULL_DOUBT, STEEP, SUMS = range(5)
"""Rows of the sums per u: losses, g <u,x>, its rounding error, |g <u,x>|; last, the number of rows."""
PAID, LINEAR, LINEAR_SIZE, SCORE_SUMS = range(4)
"""Entries of the sums over the scores: losses, g z, |g z|; last, the number of entries."""


class ConvexTracker(VectorTracker):
    """Comparators of a learner that starts now.

    Args:
        loss: The learner's loss.
        bias: Value of the learner's constant feature.
        keep: Largest number of bytes of rows to keep.
    """

    outcomes = np.float64
    kind = "convex"
    fields = (
        Coded("loss", list, lambda saved: _loss(*saved), "a known loss and its parameter", argument=True),
        Number("bias", argument=True),
        Count("keep", argument=True),
        Count("rows"),
        Count("places", most=MOST_PLACES),
        Count("fitted", most="rows", at="_fitted"),
        KeptRows("kept", at="_kept", optional=True, assigned=False),
        Array("vectors", (None, None), at="_vectors", assigned=False),
        Array("sums", (SUMS, None), at="_sums", finite=False, assigned=False),
        Array("told", (SCORE_SUMS,), at="_score_sums", finite=False, assigned=False),
    )

    def __init__(self, loss: ConvexLoss, bias: float, keep: int = KEEP) -> None:
        super().__init__(bias, keep)
        self.loss = ConvexLoss(*loss)
        self._vectors, self._sums, self._score_sums = np.zeros((0, 0)), np.zeros((SUMS, 0)), np.zeros(SCORE_SUMS)
        self._cached: tuple[Any, ConvexComparatorFacts] | None = None

    def _overhead(self, y: Vector, scores: NDArray[Any]) -> NDArray[np.int64]:
        return np.full(len(y), 16)

    def _no_scores(self) -> Vector:
        return np.zeros(0)

    def _settle(self) -> None:
        rows, y, scores = self._together()
        most = np.zeros(self.places)
        np.maximum.at(most, rows.places, np.abs(rows.values))
        # The learner's metric at the end is not known yet: take its form, with the scale of the rows and outcomes so
        # far.
        far = max(float(np.abs(y).max(initial=0.0)), 1e-300)
        metric = most * most * min(self.loss.steepest, far) / far
        found = [self._fit(Diagonal(ridge * metric), rows, y) for ridge in RIDGES]
        self._vectors = np.stack([np.zeros(self.places), *found], axis=1)
        self._sums = np.zeros((SUMS, self._vectors.shape[1]))
        self._fitted = len(y)
        self._look_at(self._vectors, rows, y, scores, self._sums, self._score_sums)

    def _fit(self, penalty: Diagonal, rows: Any, y: Vector) -> Vector:
        """Return an approximate minimiser u of loss + penalty.square(u)/2; any result is a valid comparator."""
        from scipy.optimize import minimize

        places, root = penalty.root()
        inside = places < self.places
        places, root = places[inside], root[inside]
        x, t, u = matrix(rows, self.places)[:, places], np.zeros(len(root)), np.zeros(self.places)
        size = 1.0 if self.loss.name == "hinge" else float(np.abs(y).max(initial=0.0)) or 1.0

        def value(t: Vector, soft: float) -> tuple[float, Vector]:
            lost, slopes = self.loss.smooth(x @ (root * t), y, soft * size)
            return lost + 0.5 * float(t @ t), root * (x.T @ slopes) + t

        with np.errstate(all="ignore"), one_blas_thread():
            for soft in SOFT if self.loss.name not in ("squared", "huber") else SOFT[:1]:
                found = minimize(value, t, (soft,), "L-BFGS-B", jac=True, options={"maxiter": 300, "maxcor": 20}).x
                t = found if bool(np.isfinite(found).all()) else t
        u[places] = root * t
        return u

    def _add(self, x: Rows, y: Vector, played: Vector) -> None:
        if self.places > len(self._vectors):
            more = self.places - len(self._vectors)
            self._vectors = np.vstack([self._vectors, np.zeros((more, self._vectors.shape[1]))])
        self._look_at(self._vectors, as_nonzeros(x), y, played, self._sums, self._score_sums)

    @np.errstate(all="ignore")
    def _look_at(self, vectors: Vector, rows: Any, y: Vector, scores: Vector, sums: Vector, score_sums: Vector) -> None:
        """Add the losses of the vectors and of the scores on these rows to `sums` and `score_sums`.

        Args:
            vectors: (places, k) comparators.
            rows: Nonzeros of the rows.
            y: (rows,) outcomes.
            scores: (rows,) scores that the learner played.
            sums: (SUMS, k) sums per comparator, changed.
            score_sums: (SCORE_SUMS,) sums of the scores, changed.
        """
        x = matrix(rows, len(vectors))
        s, wide, outcomes = x @ vectors, abs(x) @ np.abs(vectors), y[:, np.newaxis]
        # Rounding error of <u,x>; the loss is convex, so on the interval s - off .. s + off it is largest at an end.
        off = (np.diff(rows.ends) + 4.0)[:, np.newaxis] * U0 * wide
        lost = np.maximum(self.loss.of(s - off, outcomes), self.loss.of(s + off, outcomes))
        g = self.loss.slopes(scores, y)
        sums[LOST] += lost.sum(axis=0)
        sums[PULL] += g @ s
        sums[PULL_DOUBT] += np.abs(g) @ (off + 8.0 * U0 * wide)
        sums[STEEP] += np.abs(g) @ np.abs(s)
        score_sums += (self.loss.of(scores, y).sum(), float(g @ scores), float(np.abs(g) @ np.abs(scores)))

    def facts(self, learner: HasGoal) -> ConvexComparatorFacts:
        """Return the facts up to now, with the learner's current metric."""
        self.catch_up()
        goal = learner.goal()
        key = (self.rows, goal.linear)
        if self._cached is None or self._cached[0] != key:
            self._cached = (key, self._facts(goal))
        return self._cached[1]

    def _facts(self, goal: ConvexGoal) -> ConvexComparatorFacts:
        vectors, sums, score_sums, fitted = self._vectors, self._sums, self._score_sums, self._fitted
        if self._kept is not None:
            rows, y, scores = self._together()
            fits = [self._fit(goal.penalty, rows, y)] if len(y) else []
            vectors, fitted = np.stack([np.zeros(self.places), *fits], axis=1), len(y)
            sums, score_sums = np.zeros((SUMS, vectors.shape[1])), np.zeros(SCORE_SUMS)
            self._look_at(vectors, rows, y, scores, sums, score_sums)
        found = [self._comparator(goal, vectors[:, k], sums[:, k]) for k in range(vectors.shape[1])]
        explained = (self.rows + 20) * 2.0 * U0 * float(score_sums[LINEAR_SIZE])
        unexplained = abs(goal.linear - float(score_sums[LINEAR])) / (4.0 * explained + 1e-300)
        checked = tuple(u for u in found if math.isfinite(u.lost + u.square + u.unexplained + u.doubt))
        nothing = found[0].lost if found else 0.0
        dual = float(score_sums[LINEAR]) + explained + 0.5 * goal.penalty.inverse_square(goal.added, 0.0 * goal.doubt)
        return ConvexComparatorFacts(self.rows, fitted, checked, float(score_sums[PAID]), nothing, unexplained, dual)

    @np.errstate(all="ignore")
    def _comparator(self, goal: ConvexGoal, u: Vector, sums: Vector) -> ConvexComparator:
        lost, pull, pull_doubt, steep = (float(sums[k]) for k in (LOST, PULL, PULL_DOUBT, STEEP))
        if not u.any():  # exact for u = 0, even if other values overflowed
            return ConvexComparator(lost * (1.0 + (self.rows + 20) * 2.0 * U0), 0.0, 0.0, 0.0)
        shared = min(len(u), len(goal.added))
        known, added, off = u[:shared], goal.added[:shared], goal.doubt[:shared]
        slack = float(np.abs(known) @ off)
        explained = slack + pull_doubt + (self.rows + 20) * 4.0 * U0 * steep
        explained += (shared + 20) * 2.0 * U0 * float(np.abs(known) @ np.abs(added))
        unexplained = abs(float(known @ added) - pull) / (4.0 * explained + 1e-300)
        lost *= 1.0 + (self.rows + 20) * 2.0 * U0
        return ConvexComparator(lost, goal.penalty.square(u), slack + 4.0 * U0 * steep, unexplained)

    @property
    def _columns(self) -> None:
        return None

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        if self._kept is None:
            self._vectors, self._sums, self._score_sums = (found[name] for name in ("vectors", "sums", "told"))
            count = self._vectors.shape[1]
            must = f"{count:,} {self.described} must have sums, and weights at the {self.places:,} places at most"
            sound = self._sums.shape[1] == count > 0 and len(self._vectors) <= self.places
            require(sound, must, self._vectors.shape)


def _loss(name: str, parameter: float) -> ConvexLoss:
    """Return the loss of a saved state."""
    if name not in CODES or not math.isfinite(parameter):
        raise ValueError("unknown")
    return ConvexLoss(name, float(parameter))


def matrix(rows: Any, places: int) -> Any:
    """Return the rows as a sparse matrix with a copy of the values, which scipy sorts in place for abs."""
    from scipy.sparse import csr_array

    first, last = int(rows.ends[0]), int(rows.ends[-1])
    parts = (rows.values[first:last].copy(), rows.places[first:last].astype(np.int64), rows.ends - first)
    return csr_array(parts, shape=(len(rows.ends) - 1, places))
