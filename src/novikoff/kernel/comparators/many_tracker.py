"""Comparators for the kernel Perceptron of many labels: a function F_j in the kernel's space for each label.

Algorithm
    The first `keep` rows are kept, as the learner reads them. F_j = sum of beta_ij K(z_i, .) over these is fitted to
    them: with Phi a root of the matrix of K between them it is U for rows Phi (comparators/many_fit.py). Then F sees
    every row, the kept ones first; a label that comes later has F = 0.
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
from novikoff.comparators.many_facts import ManyGoal
from novikoff.comparators.many_fit import best_for
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.rows import KEPT, Rows, chosen, nonzeros_of, one_row, restored_rows, rows_state
from novikoff.comparators.scored_tracker import ScoredTracker
from novikoff.comparators.tally import Tally
from novikoff.core.state import array, require
from novikoff.core.types import Batch, Sparse, State
from novikoff.kernel.comparators.fit import times
from novikoff.kernel.comparators.functions import AT_ONCE, BLOCK, FLOOR, LITTLE, KernelScorer
from novikoff.kernel.similarity import Similarity

Vector = NDArray[np.float64]
LEAST = 1e-10
"""Of the largest eigenvalue: those below are left out of a fit."""


@dataclass(frozen=True, slots=True)
class ManyKernelComparator:
    """One F: at least its hinge losses, and at least ||F||^2."""

    hinge: Fraction
    square: Fraction


@dataclass(frozen=True, slots=True)
class ManyKernelComparatorFacts:
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
    comparators: tuple[ManyKernelComparator, ...]
    square: Fraction
    error: Fraction
    unexplained: float | None
    invalid_reason: str
    similarity: Similarity


class ManyKernelScorer(KernelScorer):
    """Several F, a row of `betas` for each label of each; and their sums."""

    def __init__(self, similarity: Similarity, points: Rows, betas: Vector, labels: int) -> None:
        super().__init__(similarity, points, betas, Tally(len(betas), 0))
        self.labels, self.count = labels, len(betas) // labels if labels else 0
        self.rows = self.mistakes = 0
        self.hinges, self.pulls = np.zeros(self.count), np.zeros(self.count)

    @classmethod
    def best(cls, similarity: Similarity, x: Rows, y: NDArray[np.int64], known: NDArray[np.int64]) -> Self:
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
        goal = ManyGoal(Diagonal(np.ones(width)), 2.0 * float(own.max()) * len(y), nothing, nothing)
        found = best_for(goal, rows, y, known, (width, labels), True)
        betas = np.vstack([(vectors / np.sqrt(values) @ u).T for u in found])
        sound = bool(np.isfinite(betas).all())
        return cls(similarity, x, np.ascontiguousarray(betas) if sound else np.zeros_like(betas), labels)

    def see_many(self, x: Rows, y: NDArray[np.int64], said: NDArray[np.int64], now: NDArray[np.int64]) -> None:
        """Rounds in which `said` had been said, had the `now` labels been announced."""
        for start in range(0, len(y), BLOCK):
            some = slice(start, start + BLOCK)
            self._see_block(x[some], y[some], said[some], now[some])

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

    def found(self) -> tuple[ManyKernelComparator, ...]:
        """What is known of each, F = 0 first."""
        zero = ManyKernelComparator(Fraction(self.rows), Fraction(0))
        if self.invalid_reason:
            return (zero,)
        squares = [sum(self.norms2[c * self.labels : (c + 1) * self.labels], Fraction(0)) for c in range(self.count)]
        factor = 1.0 + (self.rows + 20) * 2.0**-52
        pairs = zip(self.hinges.tolist(), squares, strict=True)
        return zero, *(ManyKernelComparator(Fraction(hinge * factor), square) for hinge, square in pairs)

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


class ManyKernelTracker(ScoredTracker):
    """Comparators of a learner that begins now, with this K; `announced` labels are known before the first round."""

    def __init__(self, similarity: Similarity, announced: int | None = None, keep: int = 400) -> None:
        self.similarity, self.announced, self.keep = similarity, announced, keep
        self.rows, self._known, self._fitted = 0, announced or 0, 0
        self._kept: list[Any] | None = []  # pieces (rows, y, said, now); None once there is a scorer
        self._scorer: ManyKernelScorer | None = None

    @property
    def rows_held(self) -> int:
        """Training rows in its state."""
        points = 0 if self._scorer is None else len(self._scorer.points)
        return points + sum(len(piece[1]) for piece in self._kept or ())

    def see_scores(self, batch: Batch, scores: NDArray[Any]) -> None:
        """The rounds of a batch, and the scores that the learner played."""
        self._see(batch.x, np.asarray(batch.y).astype(np.int64), scores)

    def see_row_scores(self, x: Any, y: int, scores: Any) -> None:
        """One round: x as (indices, values), or as an array of numbers."""
        self._see(one_row(x), np.array([y], dtype=np.int64), np.asarray(scores)[np.newaxis])

    def _see(self, x: Any, y: NDArray[np.int64], scores: NDArray[Any]) -> None:
        rows = _sparse(x)
        now = np.maximum.accumulate(np.maximum(y + 1, self._known)) if len(y) else y
        known = np.arange(scores.shape[1]) < now[:, None]
        said = np.where(known, scores, -np.inf).argmax(axis=1) if len(y) else y
        self.rows += len(y)
        self._known = int(now.max(initial=self._known))
        taken = 0
        if self._kept is not None:
            taken = min(self.keep - sum(len(piece[1]) for piece in self._kept), len(y))
            some = np.arange(taken)
            self._kept.append((chosen(rows, some), y[:taken].copy(), said[:taken], now[:taken]))
            if taken < len(y):
                self._scorer, self._fitted, self._kept = self._best(), self.keep, None
        if self._scorer is not None and taken < len(y):
            rest = np.arange(taken, len(y))
            self._scorer.see_many(chosen(rows, rest), y[taken:], said[taken:], now[taken:])

    def _together(self) -> Any:
        pieces = [piece for piece in self._kept or [] if len(piece[1])]
        if len(pieces) > 1:
            x = Sparse.concatenated([piece[0] for piece in pieces])
            pieces = [(x, *(np.concatenate([piece[k] for piece in pieces]) for k in (1, 2, 3)))]
        none = np.zeros(0, dtype=np.int64)
        self._kept = pieces or [(_sparse(np.zeros((0, 1))), none, none, none)]
        return self._kept[0]

    def _best(self) -> ManyKernelScorer:
        """Fitted to the rows kept, which it has seen."""
        x, y, said, now = self._together()
        scorer = ManyKernelScorer.best(self.similarity, x, y, now)
        scorer.see_many(x, y, said, now)
        return scorer

    def facts(self, learner: Any) -> ManyKernelComparatorFacts:
        """What was seen up to now."""
        scorer = self._best() if self._scorer is None else self._scorer
        reason = scorer.invalid_reason
        unexplained = scorer.unexplained_by(learner.supports.expansion()[0], learner.coefficients)
        square, error = (Fraction(0), Fraction(0)) if reason else (scorer.square(), Fraction(scorer.error))
        fitted = self._fitted if self._kept is None else self.rows
        return ManyKernelComparatorFacts(self.rows, fitted, scorer.mistakes, scorer.found(), square, error, unexplained,
                                         reason, self.similarity)  # fmt: skip

    def state(self) -> State:
        """All of it, as plain data."""
        kept = None
        if self._kept is not None:
            x, y, said, now = self._together()
            kept = {"x": rows_state(x), "y": y, "said": said, "now": now}
        scorer, found = self._scorer, None
        if scorer is not None:
            found = {**scorer.state(), "labels": scorer.labels, "rows": scorer.rows, "mistakes": scorer.mistakes,
                     "hinges": scorer.hinges.copy(), "pulls": scorer.pulls.copy()}  # fmt: skip
        return {"kind": "many-kernel", "similarity": self.similarity.state(), "announced": self.announced,
                "keep": self.keep, "rows": self.rows, "known": self._known, "kept": kept, "scorer": found}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        """The tracker whose `state` this is."""
        tracker = cls(Similarity.restore(state["similarity"]), state["announced"], int(state["keep"]))
        tracker.rows, tracker._known = int(state["rows"]), int(state["known"])
        if (kept := state["kept"]) is not None:
            rows = restored_rows(kept["x"])
            y, said, now = (array(kept, name, (len(rows),), np.int64, of=KEPT) for name in ("y", "said", "now"))
            sound = bool(((y >= 0) & (y < now) & (said >= 0) & (said < now) & (now <= tracker._known)).all())
            require(sound, f"labels of kept rows must be of the {tracker._known:,} known", y)
            tracker._kept = [(rows, y, said, now)]
        if (found := state["scorer"]) is not None:
            points, betas = restored_rows(found["points"]), np.array(found["betas"], np.float64, order="C")
            scorer = ManyKernelScorer(tracker.similarity, points, betas, int(found["labels"]))
            scorer.tally, scorer._reason = Tally.restore(found["tally"]), str(found["reason"])
            scorer.longest, scorer.norm2 = np.asarray(found["largest"], np.float64).tolist()
            scorer.width, scorer.rows, scorer.mistakes = (int(found[name]) for name in ("width", "rows", "mistakes"))
            scorer.hinges, scorer.pulls = np.array(found["hinges"]), np.array(found["pulls"])
            tracker._scorer, tracker._kept, tracker._fitted = scorer, None, tracker.keep
        return tracker


def _sparse(x: Any) -> Sparse:
    """Rows as the learner reads them: the places and numbers of what is not zero."""
    rows = nonzeros_of(x, 0.0)
    end = int(rows.ends[-1])
    width = int(rows.places[:end].max(initial=0)) + 1
    return Sparse(rows.ends.astype(np.uint64), rows.places[:end].copy(), rows.values[:end].copy(), width, checked=True)
