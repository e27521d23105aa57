"""Comparators for the kernel Perceptron of many labels: a function F_j in the kernel's space for each label.

Algorithm
    The first `keep` rows are kept, as the learner reads them. F_j = sum of beta_ij K(z_i, .) over these is fitted to
    them: with Phi a root of the matrix of K between them it is U for rows Phi (comparators/multiclass_fit.py). Then F
    sees every row, the kept ones first; a label that comes later has F = 0.
Promise
    Any F will do: its hinge losses are summed over every round, rounded up, by the bounds on F_j(x) of
    kernel/comparators/functions.py. What the learner added up is compared with its mistakes, along every F.
Cost
    `keep` values of K per round, and a fit of O(keep^3).
Reference
    [liu1989] for the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.linear import LONGEST, SHORTEST, ratio
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.multiclass_facts import MulticlassGoal
from novikoff.comparators.multiclass_fit import best_for
from novikoff.comparators.rows import KEPT, RowBuffer, Rows, as_sparse, chosen, nonzeros_of, restored_rows
from novikoff.comparators.tally import Tally
from novikoff.comparators.tracker import NO_LIMIT, ScorerTracker
from novikoff.core.state import array, require
from novikoff.core.types import Sparse, State
from novikoff.kernel.comparators.fit import times
from novikoff.kernel.comparators.functions import AT_ONCE, BLOCK, FLOOR, LITTLE, KernelScorer
from novikoff.kernel.kernels import Kernel

Vector = NDArray[np.float64]
LEAST = 1e-10
"""Of the largest eigenvalue: those below are left out of a fit."""


@dataclass(frozen=True, slots=True)
class MulticlassKernelComparator:
    """One F: at least its hinge losses, and at least ||F||^2."""

    hinge: Fraction
    square: Fraction


@dataclass(frozen=True, slots=True)
class MulticlassKernelComparatorFacts:
    """Of every comparator; the first is F = 0.

    rows, mistakes   rounds seen; those in which the scores were a mistake, had labels been announced
    square, error    at least R^2, and the error of one K in units of it
    unexplained      how far the learner's functions are from what its mistakes made them, in units of what rounding
                     explains; None if nothing was fitted
    invalid_reason   why nothing can be said of these rows
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
    """Several F, a row of `betas` for each label of each; and their sums."""

    def __init__(self, similarity: Kernel, points: Rows, betas: Vector, labels: int) -> None:
        super().__init__(similarity, points, betas, Tally(len(betas), 0))
        self.labels, self.count = labels, len(betas) // labels if labels else 0
        self.rows = self.mistakes = 0
        self.hinges, self.pulls = np.zeros(self.count), np.zeros(self.count)

    @classmethod
    def best(cls, similarity: Kernel, x: Rows, y: NDArray[np.int64], known: NDArray[np.int64]) -> Self:
        """Fitted to these rows, which they have not yet seen."""
        own, labels = similarity.self_product(x), int(known.max(initial=0))
        if not len(y) or labels < 2 or not SHORTEST <= float(own.max()) <= LONGEST:
            return cls(similarity, chosen(x, np.arange(0)), np.zeros((0, 0)), labels)
        from threadpoolctl import threadpool_limits

        gram = similarity.matrix(x, x)
        with threadpool_limits(1, "blas"):
            values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
        large = values > LEAST * values[-1]
        values, vectors = values[large], vectors[:, large]
        phi, width = np.ascontiguousarray(vectors * np.sqrt(values)), len(values)
        ends = np.arange(0, phi.size + 1, width, dtype=np.int64)
        rows = numerics.nonzeros.Nonzeros(ends, np.tile(np.arange(width, dtype=np.uint32), len(y)), phi.ravel())
        nothing = np.zeros((width, labels))
        goal = MulticlassGoal(Diagonal(np.ones(width)), 2.0 * float(own.max()) * len(y), nothing, nothing)
        found = best_for(goal, rows, y, known, (width, labels), True)
        betas = np.vstack([(vectors / np.sqrt(values) @ u).T for u in found])
        sound = bool(np.isfinite(betas).all())
        return cls(similarity, x, np.ascontiguousarray(betas) if sound else np.zeros_like(betas), labels)

    def see(self, x: Rows, y: NDArray[Any], played: NDArray[Any]) -> None:
        """Rows in order, in blocks of BLOCK; played (rows, 2): the label predicted, and how many were known."""
        for start in range(0, len(y), BLOCK):
            some = slice(start, start + BLOCK)
            self._see_block(x[some], y[some], *played[some].T)

    def _see_block(self, x: Rows, y: NDArray[np.int64], said: NDArray[np.int64], now: NDArray[np.int64]) -> None:
        ones, at, width = np.ones(len(y), dtype=np.int8), np.arange(len(y)), max(int(now.max()), self.labels)
        self._see(x, ones, said != y)  # lengths, and whether K can be trusted
        self.rows += len(y)
        self.mistakes += int((said != y).sum())
        if not self.count or self.invalid_reason:
            return
        own = self.similarity.self_product(x)
        low, high = self.margins(x, ones, own), -self.margins(x, -ones, own)
        for c in range(self.count):
            least, most = np.zeros((len(y), width)), np.zeros((len(y), width))
            part = slice(c * self.labels, (c + 1) * self.labels)
            least[:, : self.labels], most[:, : self.labels] = low[:, part], high[:, part]
            middle = 0.5 * (least + most)
            self.pulls[c] += float((middle[at, y] - middle[at, said]).sum())
            most[np.arange(width) >= now[:, None]] = -np.inf
            most[at, y] = -np.inf
            short = np.maximum(0.0, (1.0 - least[at, y] + most.max(axis=1)) * LITTLE)
            self.hinges[c] += float(short.sum()) * LITTLE

    def found(self) -> tuple[MulticlassKernelComparator, ...]:
        """What is known of each, F = 0 first."""
        zero = MulticlassKernelComparator(Fraction(self.rows), Fraction(0))
        if self.invalid_reason:
            return (zero,)
        squares = [sum(self.norms2[c * self.labels : (c + 1) * self.labels], Fraction(0)) for c in range(self.count)]
        factor = 1.0 + (self.rows + 20) * 2.0**-52
        pairs = zip(self.hinges.tolist(), squares, strict=True)
        return zero, *(MulticlassKernelComparator(Fraction(hinge * factor), square) for hinge, square in pairs)

    def unexplained_by(self, examples: Rows, coefficients: Vector) -> float | None:
        """How far the learner's functions, a row of coefficients each, are from what its mistakes made them."""
        if not self.count or self.invalid_reason:
            return None
        values = np.zeros((len(coefficients), len(self.points)))  # of the learner's functions at the points
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

    def state(self) -> State:
        """As plain data, without the similarity."""
        return {**super().state(), "labels": self.labels, "rows": self.rows, "mistakes": self.mistakes,
                "hinges": self.hinges.copy(), "pulls": self.pulls.copy()}  # fmt: skip

    @classmethod
    def restore(cls, similarity: Kernel, state: State) -> Self:
        points, betas = restored_rows(state["points"]), np.array(state["betas"], np.float64, order="C")
        scorer = cls(similarity, points, betas, int(state["labels"]))
        scorer.tally, scorer._reason = Tally.restore(state["tally"]), str(state["reason"])
        scorer.longest, scorer.norm2 = np.asarray(state["largest"], np.float64).tolist()
        scorer.width, scorer.rows, scorer.mistakes = (int(state[name]) for name in ("width", "rows", "mistakes"))
        scorer.hinges, scorer.pulls = np.array(state["hinges"]), np.array(state["pulls"])
        return scorer


class MulticlassKernelTracker(ScorerTracker[MulticlassKernelScorer]):
    """Comparators of a learner that begins now, with this K; `announced` labels are known before the first round."""

    scored = True
    outcomes = np.int64
    block = BLOCK

    def __init__(self, similarity: Kernel, announced: int | None = None, keep: int = 400) -> None:
        super().__init__(keep, NO_LIMIT)
        self.similarity, self.announced, self._known = similarity, announced, announced or 0

    def _read(
        self, x: Rows, y: NDArray[np.int64], played: NDArray[Any]
    ) -> tuple[Rows, NDArray[Any], NDArray[np.int64]]:  # fmt: skip
        """Of the scores played: the label predicted, had all labels known by then been announced; and their number."""
        now = np.maximum.accumulate(np.maximum(y + 1, self._known)) if len(y) else y
        known = np.arange(played.shape[1]) < now[:, None]
        said = np.where(known, played, -np.inf).argmax(axis=1) if len(y) else y
        self._known = int(now.max(initial=self._known))
        return super()._read(_sparse(x), y, np.stack([said, now], axis=1))

    def _fit(self, x: Rows, y: NDArray[np.int64], played: NDArray[np.int64]) -> MulticlassKernelScorer:
        known = played[:, 1] if len(y) else np.zeros(0, np.int64)
        return MulticlassKernelScorer.best(self.similarity, x, y, known)

    @property
    def _points(self) -> int:
        return 0 if self.scorer is None else len(self.scorer.points)

    def _restored(self, state: State) -> MulticlassKernelScorer:
        return MulticlassKernelScorer.restore(self.similarity, state)

    def facts(self, learner: Any) -> MulticlassKernelComparatorFacts:
        """What was seen up to now."""
        scorer = self._now()
        reason = scorer.invalid_reason
        unexplained = scorer.unexplained_by(learner.supports.expansion()[0], learner.coefficients)
        square, error = (Fraction(0), Fraction(0)) if reason else (scorer.square(), Fraction(scorer.error))
        fitted = self.rows if self._kept is not None else self.keep_rows
        return MulticlassKernelComparatorFacts(self.rows, fitted, scorer.mistakes, scorer.found(), square, error,
                                         unexplained, reason, self.similarity)  # fmt: skip

    def state(self) -> State:
        """All of it, as plain data."""
        found = self._state()
        return {"kind": "many-kernel", "similarity": self.similarity.state(), "announced": self.announced,
                "keep": self.keep_rows, "rows": self.rows, "known": self._known,
                **{name: found[name] and _plain(found[name]) for name in ("kept", "waiting")},
                "scorer": found["scorer"]}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        """The tracker whose `state` this is."""
        tracker = cls(Kernel.restore(state["similarity"]), state["announced"], int(state["keep"]))
        tracker.rows, tracker._known = int(state["rows"]), int(state["known"])
        if state["scorer"] is not None:
            tracker.scorer, tracker._kept = tracker._restored(state["scorer"]), None
        elif state["kept"] is not None:
            tracker._kept = tracker._buffer(state["kept"])
        if state.get("waiting") is not None:
            tracker._waiting = tracker._buffer(state["waiting"])
        return tracker

    def _buffer(self, state: State) -> RowBuffer:
        """The rows whose state this is, with their labels."""
        rows, buffer = restored_rows(state["x"]), RowBuffer()
        y, said, now = (array(state, name, (len(rows),), np.int64, of=KEPT) for name in ("y", "said", "now"))
        sound = bool(((y >= 0) & (y < now) & (said >= 0) & (said < now) & (now <= self._known)).all())
        require(sound, f"labels of kept rows must be of the {self._known:,} known", y)
        buffer.add(rows, y, np.stack([said, now], axis=1))
        return buffer


def _plain(state: State) -> State:
    """A buffer's state with labels predicted and known apart."""
    said, now = state["wrong"].reshape(-1, 2).astype(np.int64).T
    return {"x": state["x"], "y": state["y"].astype(np.int64), "said": said.copy(), "now": now.copy()}


def _sparse(x: Rows) -> Sparse:
    """Rows as the learner reads them: the places and numbers of what is not zero."""
    rows = as_sparse(nonzeros_of(x, 0.0)).alone()
    return Sparse(rows.indptr, rows.indices, rows.values, int(rows.indices.max(initial=0)) + 1, checked=True)
