"""Comparators for the multiclass kernel Perceptron: one function F_j in the kernel's space per label.

Algorithm
    The first `keep` rows z_i are stored, as the learner reads them, and F_j = sum of beta_ij K(z_i, .) is fitted to
    them. With Phi a square root of the matrix of K between them, this is the linear fit of U to the rows of Phi
    (comparators/multiclass_fit.py). Then F is evaluated on every row, the stored ones first; a label that is first
    observed later has F = 0.
Promise
    The bound holds for any F: its hinge losses are summed over every round, rounded up, from the bounds on F_j(x) of
    kernel/comparators/functions.py. The learner's functions are compared with the sum of its mistakes, along every F.
Cost
    `keep` values of K per round, and a fit of O(keep^3).
Reference
    [liu1989] for the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.blas import one_blas_thread
from novikoff.comparators.linear import LONGEST, SHORTEST, ratio
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.multiclass_facts import MulticlassGoal
from novikoff.comparators.multiclass_fit import best_for
from novikoff.comparators.multiclass_tracker import MOST_LABELS
from novikoff.comparators.rows import (
    KEPT,
    RowBuffer,
    Rows,
    SavedRows,
    as_sparse,
    chosen,
    nonzeros_of,
    restored_rows,
    rows_state,
)
from novikoff.comparators.tally import Tally
from novikoff.comparators.tracker import NO_LIMIT, ScorerTracker
from novikoff.core.state import Array, Count, Field, Part, array, require
from novikoff.core.types import Sparse, State
from novikoff.kernel.comparators.fit import times
from novikoff.kernel.comparators.functions import AT_ONCE, BLOCK, FLOOR, LITTLE, KernelScorer
from novikoff.kernel.kernels import Kernel

if TYPE_CHECKING:
    from novikoff.core.learner import Learner

Vector = NDArray[np.float64]
LEAST = 1e-10
"""Fraction of the largest eigenvalue below which eigenvalues are left out of a fit."""


@dataclass(frozen=True, slots=True)
class MulticlassKernelComparator:
    """One F, with upper bounds on its total hinge loss and on ||F||^2."""

    hinge: Fraction
    square: Fraction


@dataclass(frozen=True, slots=True)
class MulticlassKernelComparatorFacts:
    """Facts of the multiclass comparators.

    Attributes:
        rows: Rounds evaluated.
        fitted: Rows that the comparators were fitted on.
        mistakes: Rounds in which the scores were a mistake, had labels been announced.
        comparators: The comparators; the first is F = 0.
        square: Upper bound on R^2.
        error: Error of one K, in units of R^2.
        unexplained: Distance of the learner's functions from the sum of its mistakes, in units of the rounding error;
            None if nothing was fitted.
        invalid_reason: Why no bound can be computed for these rows; "" if one can.
        similarity: Kernel of the comparators.
    """

    rows: int
    fitted: int
    mistakes: int
    comparators: tuple[MulticlassKernelComparator, ...]
    square: Fraction
    error: Fraction
    unexplained: float | None
    invalid_reason: str
    similarity: Kernel


class MulticlassKernelScorer(KernelScorer):
    """Several F, with one row of `betas` per F and label, and their sums."""

    fields = (
        SavedRows("points", argument=True),
        Array("betas", (None, None), finite=False, argument=True),
        Count("labels", most=MOST_LABELS, argument=True),
        Part("tally", Tally),
        *KernelScorer.measured,
        Count("rows"),
        Count("mistakes", most="rows"),
        Array("hinges", ("count",), finite=False),
        Array("pulls", ("count",), finite=False),
    )

    def __init__(self, similarity: Kernel, points: Rows, betas: Vector, labels: int) -> None:
        super().__init__(similarity, points, betas, Tally(len(betas), 0))
        self.labels, self.count = labels, len(betas) // labels if labels else 0
        self.rows = self.mistakes = 0
        self.hinges, self.pulls = np.zeros(self.count), np.zeros(self.count)

    @classmethod
    def best(cls, similarity: Kernel, x: Rows, y: NDArray[np.int64], known: NDArray[np.int64]) -> Self:
        """Return comparators fitted on these rows, on which they are still to be evaluated."""
        selfs, labels = similarity.self_product(x), int(known.max(initial=0))
        if not len(y) or labels < 2 or not SHORTEST <= float(selfs.max()) <= LONGEST:
            return cls(similarity, chosen(x, np.arange(0)), np.zeros((0, 0)), labels)
        gram = similarity.matrix(x, x)
        with one_blas_thread(with_scipy=False):
            values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
        large = values > LEAST * values[-1]
        values, vectors = values[large], vectors[:, large]
        phi, width = np.ascontiguousarray(vectors * np.sqrt(values)), len(values)
        ends = np.arange(0, phi.size + 1, width, dtype=np.int64)
        rows = numerics.nonzeros.Nonzeros(ends, np.tile(np.arange(width, dtype=np.uint32), len(y)), phi.ravel())
        nothing = np.zeros((width, labels))
        goal = MulticlassGoal(Diagonal(np.ones(width)), 2.0 * float(selfs.max()) * len(y), nothing, nothing)
        found = best_for(goal, rows, y, known, (width, labels), True)
        betas = np.vstack([(vectors / np.sqrt(values) @ u).T for u in found])
        sound = bool(np.isfinite(betas).all())
        return cls(similarity, x, np.ascontiguousarray(betas) if sound else np.zeros_like(betas), labels)

    def see(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> None:
        """Evaluate rows in order, in blocks of BLOCK; `played` (rows, 2) holds prediction and count of known labels."""
        for start in range(0, len(y), BLOCK):
            some = slice(start, start + BLOCK)
            self._see_block(x[some], y[some], *played[some].T)

    def _see_block(self, x: Rows, y: NDArray[np.int64], predicted: NDArray[np.int64], now: NDArray[np.int64]) -> None:
        ones, at, width = np.ones(len(y), dtype=np.int8), np.arange(len(y)), max(int(now.max()), self.labels)
        self._see(x, ones, predicted != y)  # lengths, and whether K is accurate
        self.rows += len(y)
        self.mistakes += int((predicted != y).sum())
        if not self.count or self.invalid_reason:
            return
        selfs = self.similarity.self_product(x)
        # `margins` returns lower bounds; with labels -1 they are upper bounds with the opposite sign.
        low, high = self.margins(x, ones, selfs), -self.margins(x, -ones, selfs)
        for c in range(self.count):
            least, most = np.zeros((len(y), width)), np.zeros((len(y), width))
            part = slice(c * self.labels, (c + 1) * self.labels)
            least[:, : self.labels], most[:, : self.labels] = low[:, part], high[:, part]
            middle = 0.5 * (least + most)
            self.pulls[c] += float((middle[at, y] - middle[at, predicted]).sum())
            # The hinge loss compares the label with the largest F_j(x) among the other labels known in this round.
            most[np.arange(width) >= now[:, None]] = -np.inf
            most[at, y] = -np.inf
            short = np.maximum(0.0, (1.0 - least[at, y] + most.max(axis=1)) * LITTLE)
            self.hinges[c] += float(short.sum()) * LITTLE

    def found(self) -> tuple[MulticlassKernelComparator, ...]:
        """Return every comparator, F = 0 first."""
        zero = MulticlassKernelComparator(Fraction(self.rows), Fraction(0))
        if self.invalid_reason:
            return (zero,)
        squares = [sum(self.norms2[c * self.labels : (c + 1) * self.labels], Fraction(0)) for c in range(self.count)]
        factor = 1.0 + (self.rows + 20) * 2.0**-52
        pairs = zip(self.hinges.tolist(), squares, strict=True)
        return zero, *(MulticlassKernelComparator(Fraction(hinge * factor), square) for hinge, square in pairs)

    def unexplained_by(self, examples: Rows, coefficients: Vector) -> float | None:
        """Return the distance of the learner's functions from the sum of its mistakes, in rounding errors."""
        if not self.count or self.invalid_reason:
            return None
        values = np.zeros((len(coefficients), len(self.points)))  # learner's functions at the points
        for start in range(0, coefficients.shape[1], AT_ONCE):
            some = np.arange(start, min(start + AT_ONCE, coefficients.shape[1]))
            between = self.similarity.matrix(self.points, chosen(examples, some))
            values += np.stack([times(between, row[some]) for row in coefficients])
        unit, J, R = 2.0**-53, len(self.points), float(self.square()) ** 0.5
        weight = float(np.abs(coefficients).sum())
        off = 4.0 * self.mistakes * (self.error * LITTLE + (J + 8) * 2.0 * unit) * R
        off += (self.error + (J + coefficients.shape[1] + 8) * 2.0 * unit) * R * weight
        worst = 0.0
        for c in range(self.count):
            part = slice(c * self.labels, (c + 1) * self.labels)
            dot = float((self.betas[part] * values[: self.labels]).sum())
            worst = max(worst, ratio(self.pulls[c] - dot, 2.0 * float(self._heavy[part].sum()) * off + FLOOR))
        return worst

    def after_restoring(self, found: State) -> None:
        counts, betas, rows = [self.tally.rows, self.tally.mistakes, self.tally.directions], len(self.betas), self.rows
        must = f"{betas:,} {self.described} must have seen {rows:,} rounds with {self.mistakes:,} mistakes"
        require(counts == [rows, self.mistakes, betas] and betas == self.count * self.labels, must, counts)


@dataclass(frozen=True)
class LabelledRows(Field):
    """State field of a buffer of rows with their labels, predictions and numbers of known labels."""

    def pack(self, value: Any, owner: object) -> object:
        x, y, played = value.together()
        predicted, now = played.reshape(-1, 2).astype(np.int64).T
        return {"x": rows_state(x), "y": y.astype(np.int64), "said": predicted.copy(), "now": now.copy()}

    def unpack(self, state: State, owner: Any, of: str) -> object:
        saved, known, buffer = state[self.name], owner._known, RowBuffer()
        rows = restored_rows(saved["x"])
        y, predicted, now = (array(saved, name, (len(rows),), np.int64, of=KEPT) for name in ("y", "said", "now"))
        sound = bool(((y >= 0) & (y < now) & (predicted >= 0) & (predicted < now) & (now <= known)).all())
        require(sound, f"labels of kept rows must be among the {known:,} known ones", y)
        buffer.add(rows, y, np.stack([predicted, now], axis=1))
        return buffer


class MulticlassKernelTracker(ScorerTracker[MulticlassKernelScorer]):
    """Tracker of multiclass comparators in the feature space of a kernel.

    Args:
        similarity: The learner's kernel.
        announced: Number of labels known before the first round; None if unknown.
        keep: Number of rows to fit on.
    """

    scored = True
    outcomes = np.int64
    block = BLOCK
    kind = "many-kernel"
    fields = (
        Part("similarity", Kernel, argument=True),
        Count("announced", optional=True, argument=True),
        Count("keep", at="keep_rows", argument=True),
        Count("rows"),
        Count("known", most=MOST_LABELS, at="_known"),
        LabelledRows("kept", at="_kept", optional=True),
        LabelledRows("waiting", at="_waiting", default=RowBuffer),
        Part("scorer", MulticlassKernelScorer, optional=True, given=("similarity",)),
    )

    def __init__(self, similarity: Kernel, announced: int | None = None, keep: int = 400) -> None:
        super().__init__(keep, NO_LIMIT)
        self.similarity, self.announced, self._known = similarity, announced, announced or 0

    def _read(
        self, x: Rows, y: NDArray[np.int64], played: NDArray[Any]
    ) -> tuple[Rows, NDArray[Any], NDArray[np.int64]]:  # fmt: skip
        """Replace the scores of each row by the prediction, had its label been known, and the count of known labels."""
        now = np.maximum.accumulate(np.maximum(y + 1, self._known)) if len(y) else y
        known = np.arange(played.shape[1]) < now[:, None]
        predicted = np.where(known, played, -np.inf).argmax(axis=1) if len(y) else y
        self._known = int(now.max(initial=self._known))
        return super()._read(_sparse(x), y, np.stack([predicted, now], axis=1))

    def _fit(self, x: Rows, y: NDArray[np.int64], played: NDArray[np.int64]) -> MulticlassKernelScorer:
        known = played[:, 1] if len(y) else np.zeros(0, np.int64)
        return MulticlassKernelScorer.best(self.similarity, x, y, known)

    @property
    def _points(self) -> int:
        return 0 if self.scorer is None else len(self.scorer.points)

    def facts(self, learner: Any) -> MulticlassKernelComparatorFacts:
        """Return the facts up to now."""
        scorer = self._now()
        reason = scorer.invalid_reason
        unexplained = scorer.unexplained_by(learner.supports.expansion()[0], learner.coefficients)
        square, error = (Fraction(0), Fraction(0)) if reason else (scorer.square(), Fraction(scorer.error))
        fitted = self.rows if self._kept is not None else self.keep_rows
        return MulticlassKernelComparatorFacts(self.rows, fitted, scorer.mistakes, scorer.found(), square, error,
                                         unexplained, reason, self.similarity)  # fmt: skip

    def check(self, learner: Learner) -> None:
        must = f"comparators must have at most the learner's {learner.labels} labels"
        require(self._known <= (learner.labels or 0), must, self._known)

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        require(self.rows == found["rows"], f"{self.described} must have seen {self.rows:,} rounds", found["rows"])
        labels = 0 if self.scorer is None else self.scorer.labels
        require(labels <= self._known, f"{self.described} must have at most the {self._known:,} known labels", labels)


def _sparse(x: Rows) -> Sparse:
    """Return rows as the learner reads them: indices and values of the non-zeros."""
    rows = as_sparse(nonzeros_of(x, 0.0)).alone()
    return Sparse(rows.indptr, rows.indices, rows.values, int(rows.indices.max(initial=0)) + 1, checked=True)
