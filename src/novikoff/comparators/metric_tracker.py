"""Comparators for learners in a metric: u with a small loss and a small u'Au, fitted to what the theorem says of it.

Algorithm
    Rows are kept, as the learner reads them (kernels/nonzeros.py), with the scores it played. While all of them fit in
    `keep` bytes, asked for facts, the bound itself is minimised over u, on all rows and with the metric that the
    learner has now: it is convex in u, and u is the best in hindsight. From the row that does not fit on, a few u,
    fitted to the rows kept with ridges of several sizes and taken at several scales, see every row, the kept ones
    first.
Promise
    Any u will do: its losses are summed over every round, rounded up (kernels/log_losses.py).
Cost
    Kept: 12 bytes a non-zero, and a fit when asked. After: O(16 non-zeros) per round, 16 numbers a feature.
Reference
    [liu1989] for the fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import kernels
from novikoff.comparators.metric import Diagonal, Full, Metric
from novikoff.types import Batch, Sparse, State

Vector = NDArray[np.float64]
U0 = 2.0**-53
RIDGES = (0.01, 1.0, 30.0, 1000.0)
SCALES = (0.4, 0.7, 1.0, 1.4)
KEEP = 16_000_000
PLAIN = ("bias", "columns", "kappas", "margin", "limit", "riding", "keep", "rows", "places")
HARDLY = 0.95
MANY = 4096
"""Pieces that are kept apart."""


class Goal(NamedTuple):
    """What a learner's theorem says of u: its loss + a penalty.

    loss       "log", "hinge", or "parabola": the larger of the log loss and of what a second-order learner took for it
    penalty    the metric whose square(u)/2 is paid, or sqrt(square(u) * gained) for the hinge loss
    promised   what is promised beside: u'Au is multiplied by it there, and it is added to other losses
    added      the learner's own sum of g x, of (g - hz) x, or of -y x, place by place, and what it may be off by; it is
               compared with the scores that were played, where the tracker has them
    matrix     its sum of h x x', which is compared with them too; None if it has none
    member     whose theorem it is, for a learner with members
    watch      which of the scores that the tracker keeps are the member's
    images     the rows as the member sees them, from all rows as they are; None if just so
    """

    loss: str
    penalty: Metric
    promised: float
    added: tuple[Vector, Vector]
    member: int = 0
    watch: int = 0
    images: Callable[[Any], Any] | None = None
    matrix: Full | None = None


@dataclass(frozen=True, slots=True)
class MetricComparator:
    """One u; losses are sums over all rounds, rounded up.

    log_loss, hinge, parabola   its losses; parabola is the sum of max(l, Q)
    square                      u'Au
    doubt                       the sum of |u_i| times what the learner's sum may be off by
    unexplained                 how far the learner's sums, along u, are from those of what it played, in units of what
                                rounding explains
    promised, member            of the goal it was found for
    """

    log_loss: float
    hinge: float
    parabola: float
    square: float
    doubt: float
    unexplained: float
    promised: float
    member: int

    @property
    def log_bound(self) -> float:
        """The bound on a log loss."""
        return self.log_loss + 0.5 * self.square + self.doubt + self.promised

    @property
    def parabola_bound(self) -> float:
        """The same for a learner of the second order."""
        return self.parabola + 0.5 * self.square + self.promised


@dataclass(frozen=True, slots=True)
class MetricComparatorFacts:
    """Of every comparator; the first is u = 0. rows: rounds seen. fitted: on how many of them."""

    rows: int
    fitted: int
    comparators: tuple[MetricComparator, ...]

    @property
    def explained(self) -> bool:
        """Are the learner's sums those of the scores it played?"""
        return all(u.unexplained <= 1.0 for u in self.comparators if math.isfinite(u.unexplained))


class MetricTracker:
    """Comparators of a learner that begins now.

    bias            the learner's
    watched         which of the learner's scores are kept, and the kappa of who played them; a learner without members
                    has one; after the rows kept, those of the first `riding` of them are needed
    margin          of its updates, as kernels/log_losses.py says
    limit           features that it has weights for, the first it saw; None for all
    """

    scored = True

    def __init__(
        self, bias: float, watched: Sequence[tuple[int, float]] = ((0, 0.0),), margin: float = -1.0,
        limit: int | None = None, keep: int = KEEP, riding: int | None = None,
    ) -> None:  # fmt: skip
        self.riding = len(watched) if riding is None else int(riding)
        self.bias, self.margin, self.limit, self.keep = float(bias), margin, limit, int(keep)
        self.columns, self.kappas = [int(column) for column, _ in watched], [float(kappa) for _, kappa in watched]
        self.rows = self.places = 0
        self._kept: list[Any] | None = []  # pieces (nonzeros, y, scores); None once there are vectors
        self._size = self._fitted = 0
        self._vectors, self._sums = np.zeros((0, 0)), np.zeros((0, 0, 0))
        self._asked: tuple[Any, MetricComparatorFacts] | None = None

    def see_scores(self, batch: Batch, scores: NDArray[Any]) -> None:
        """The rounds of a batch, and the scores that the learner played."""
        self._see(batch.x, np.asarray(batch.y, dtype=np.int8), scores)

    def see_row_scores(self, x: Any, y: int, scores: Any) -> None:
        """One round: x as (indices, values), or as an array of numbers."""
        if isinstance(x, tuple):
            x = Sparse(np.array([0, len(x[0])], np.uint64), x[0], x[1], 2**32)
        else:
            x = x[np.newaxis]
        self._see(x, np.array([y], dtype=np.int8), np.asarray(scores))

    def _see(self, x: Any, y: NDArray[np.int8], scores: NDArray[Any]) -> None:
        scores = scores.reshape(len(y), -1)
        scores = scores[:, np.minimum(self.columns, scores.shape[1] - 1)]  # of who does not play nothing is asked
        if isinstance(x, Sparse):
            rows, _ = kernels.nonzeros.of_sparse(x.indptr, x.indices, x.values, self.bias)
        else:
            array = np.ascontiguousarray(x, dtype=np.float64)
            rows, _ = kernels.nonzeros.of_dense(array if array.ndim == 2 else array[:, None], self.bias)
        self.rows += len(y)
        self.places = max(self.places, int(rows.places[: rows.ends[-1]].max(initial=0)) + 1)
        taken = 0
        if self._kept is not None:
            sizes = 12 * rows.ends[1:] + (9 + 8 * len(self.columns)) * np.arange(1, len(y) + 1) + self._size
            taken = min(int(np.searchsorted(sizes, self.keep)) + 1, len(y))  # the last one may go beyond the limit
            some = slice(0, int(rows.ends[taken]))
            part = kernels.nonzeros.Nonzeros(rows.ends[: taken + 1], rows.places[some].copy(), rows.values[some].copy())
            self._kept.append((part, y[:taken].copy(), np.array(scores[:taken], dtype=np.float64)))
            self._size = int(sizes[taken - 1]) if taken else self._size
            if len(self._kept) > MANY:
                self._together()
            if self._size >= self.keep:
                self._settle()
        if self._kept is None and taken < len(y):
            self._add(rows._replace(ends=rows.ends[taken:]), y[taken:], scores[taken:])

    def _settle(self) -> None:
        """From here on the comparators are those that fit the rows up to now."""
        rows, y, scores = self._together()
        self._vectors = self._candidates(rows, y)
        self._sums = np.zeros((len(self.columns), kernels.log_losses.SUMS, self._vectors.shape[1]))
        self._kept, self._fitted = None, len(y)
        self._add(rows, y, scores)

    def _add(self, rows: Any, y: NDArray[np.int8], scores: Vector) -> None:
        if self.places > len(self._vectors):
            more = self.places - len(self._vectors) + min(len(self._vectors), 2**20)
            self._vectors = np.vstack([self._vectors, np.zeros((more, self._vectors.shape[1]))])
        see: Any = kernels.log_losses.see
        for k, kappa in enumerate(self.kappas[: self.riding]):
            played = np.ascontiguousarray(scores[:, k])
            see(self._vectors, *rows, y, played, kappa, self.margin, self._sums[k])

    def _together(self) -> tuple[Any, NDArray[np.int8], Vector]:
        """All rows kept, as one piece."""
        pieces = self._kept or []
        if len(pieces) != 1:
            ends = [piece[0].ends[1:] for piece in pieces]
            shifts = np.cumsum([0, *(int(end[-1]) for end in ends)])
            together = kernels.nonzeros.Nonzeros(
                np.concatenate([np.zeros(1, np.int64), *(e + s for e, s in zip(ends, shifts, strict=False))]),
                np.concatenate([np.zeros(0, np.uint32), *(piece[0].places for piece in pieces)]),
                np.concatenate([np.zeros(0), *(piece[0].values for piece in pieces)]),
            )
            labels = np.concatenate([np.zeros(0, np.int8), *(piece[1] for piece in pieces)])
            none = np.zeros((0, len(self.columns)))
            self._kept = [(together, labels, np.concatenate([none, *(piece[2] for piece in pieces)]))]
        found: tuple[Any, NDArray[np.int8], Vector] = self._kept[0]  # type: ignore[index]
        return found

    def _candidates(self, rows: Any, y: NDArray[np.int8]) -> Vector:
        """Vectors to ride, one a column: fitted with several ridges, at several scales."""
        most = np.zeros(self.places)
        np.maximum.at(most, rows.places, np.abs(rows.values))
        if self.limit is not None:
            seen, first = np.unique(rows.places, return_index=True)
            most[seen[np.argsort(first)[self.limit :]]] = 0.0
        (places, root), found = Diagonal(most * most).root(), [np.zeros(self.places)]
        x, t = _matrix(rows, self.places)[:, places], np.zeros(len(places))
        phi = _log(y) if self.margin < 0.0 else _smooth_hinge(y, 0.1)
        for ridge in RIDGES[::-1]:
            t = _minimised(x, root, phi, ridge, t)
            u = np.zeros(self.places)
            u[places] = root * t
            found += [scale * u for scale in SCALES]
        return np.stack(found, axis=1)

    def facts(self, learner: Any) -> MetricComparatorFacts:
        """What was seen up to now, with the metric that the learner has now."""
        goals: list[Goal] = learner.goals()
        asked = (self.rows, [goal.promised for goal in goals])
        if self._asked is None or self._asked[0] != asked:
            self._asked = (asked, self._facts(goals))
        return self._asked[1]

    def _facts(self, goals: Sequence[Goal]) -> MetricComparatorFacts:
        found: list[MetricComparator] = []
        if self._kept is None:
            for goal in goals:
                if goal.images is None:
                    vectors = self._vectors[: self.places]
                    rides = goal.watch < self.riding  # else only the losses of u are known, which are everybody's
                    sums = self._sums[goal.watch if rides else 0]
                    found += [self._comparator(goal, u, sums[:, k], rides) for k, u in enumerate(vectors.T)]
            return MetricComparatorFacts(self.rows, self._fitted, tuple(found))
        rows, y, scores = self._together()
        see: Any = kernels.log_losses.see
        best, least = math.inf, self._least(rows, y) if len(goals) > 2 else 0.0
        for goal in goals:
            if goal.promised + (least if goal.images is None else 0.0) >= best:
                continue  # another promises less
            played, seen = (
                np.ascontiguousarray(scores[:, goal.watch]),
                rows if goal.images is None else goal.images(rows),
            )
            places = max(int(seen.places.max(initial=0)) + 1, self.places if goal.images is None else 0)
            chosen = self._best(goal, seen, places, y, played)
            vectors = np.stack([np.zeros(places), *chosen], axis=1)
            sums = np.zeros((kernels.log_losses.SUMS, vectors.shape[1]))
            see(vectors, *seen, y, played, self.kappas[goal.watch], self.margin, sums)
            these = [self._comparator(goal, vectors[:, k], sums[:, k]) for k in range(vectors.shape[1])]
            found += these
            if goal.loss != "hinge":
                best = min(best, *(u.log_bound if goal.loss == "log" else u.parabola_bound for u in these))
        return MetricComparatorFacts(self.rows, len(y), tuple(found))

    def _least(self, rows: Any, y: NDArray[np.int8]) -> float:
        """About the least log loss of all u, whatever their length: it tells which goals are worth a fit."""
        most = np.zeros(self.places)
        np.maximum.at(most, rows.places, np.abs(rows.values))
        places, root = Diagonal(most * most).root()
        x, phi = _matrix(rows, self.places)[:, places], _log(y)
        return HARDLY * phi(x @ (root * _minimised(x, root, phi, RIDGES[0], np.zeros(len(places)))))[0]

    def _comparator(self, goal: Goal, u: Vector, sums: Vector, checked: bool = True) -> MetricComparator:
        at, factor = kernels.log_losses, 1.0 + (self.rows + 20) * 2.0 * U0
        log, hinge, parabola, doubt = (float(sums[k]) for k in (at.LOG, at.HINGE, at.PARABOLA, at.DOUBT))
        added, off = (part[: len(u)] for part in goal.added)
        known, unexplained = u[: len(added)], 0.0
        slack = float(np.abs(known) @ off)
        if checked:
            explained = (self.rows + 20) * 2.0 * U0 * float(np.abs(known) @ np.abs(added)) + slack
            explained += float(sums[at.PULL_DOUBT]) + (self.rows + 20) * 4.0 * U0 * abs(float(sums[at.PULL]))
            unexplained = abs(float(known @ added) - float(sums[at.PULL])) / (4.0 * explained + 1e-300)
        if goal.matrix is not None:
            bent, off_by = goal.matrix.bent(u)
            explained = off_by + float(sums[at.BENT_DOUBT]) + (self.rows + 20) * 2.0 * U0 * float(sums[at.BENT])
            unexplained = max(unexplained, abs(bent - float(sums[at.BENT])) / (4.0 * explained + 1e-300))
        return MetricComparator(
            log_loss=log * factor + doubt * factor,
            hinge=hinge * factor + doubt * factor,
            parabola=parabola * factor + doubt * factor,
            square=goal.penalty.square(u),
            doubt=slack,
            unexplained=unexplained,
            promised=goal.promised,
            member=goal.member,
        )

    def _best(self, goal: Goal, rows: Any, width: int, y: NDArray[np.int8], scores: Vector) -> Sequence[Vector]:
        """Vectors that make the bound small, on the rows kept."""
        if not len(y) or not width:
            return []
        places, root = goal.penalty.root()
        seen = places < width
        places, root = places[seen], root[seen]
        x = _matrix(rows, width)[:, places]

        def whole(t: Vector) -> Vector:
            u = np.zeros(width)
            u[places] = root * t if root.ndim == 1 else root @ t
            return u

        start = np.zeros(root.shape[-1])
        if goal.loss != "hinge":
            phi = _log(y) if goal.loss == "log" else _parabola(y, scores, self.kappas[goal.watch])
            return [whole(_minimised(x, root, phi, 1.0, start))]
        found, t, weight = [], start, max(goal.promised, 1.0)
        for soft in (0.5, 0.1, 0.02):  # sqrt(a b) is the least of (c a + b/c)/2, so the ridge c follows u
            for _ in range(3):
                length = math.sqrt(float(t @ t))
                ridge = math.sqrt(weight) / length if length > 0.0 else 1.0
                t = _minimised(x, root, _smooth_hinge(y, soft), ridge, t)
                found.append(whole(t))
        return found

    def state(self) -> State:
        """All of it, as plain data."""
        kept = None
        if self._kept is not None:
            rows, y, scores = self._together()
            kept = {"ends": rows.ends, "places": rows.places, "values": rows.values, "y": y, "scores": scores}
        plain = {name: getattr(self, name) for name in PLAIN}
        vectors = self._vectors[: self.places].copy()
        return {"kind": "metric", **plain, "fitted": self._fitted, "kept": kept, "vectors": vectors,
                "sums": self._sums.copy()}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        """The tracker whose `state` this is."""
        watched = list(zip(state["columns"], state["kappas"], strict=True))
        tracker = cls(state["bias"], watched, state["margin"], state["limit"], state["keep"], state["riding"])
        tracker.rows, tracker.places, tracker._fitted = (int(state[name]) for name in ("rows", "places", "fitted"))
        kept = state["kept"]
        if kept is not None:
            rows = kernels.nonzeros.Nonzeros(kept["ends"], kept["places"], kept["values"])
            tracker._kept = [(rows, kept["y"], kept["scores"])]
            tracker._size = 12 * len(rows.places) + (9 + 8 * len(watched)) * len(kept["y"])
        else:
            tracker._kept = None
            tracker._vectors, tracker._sums = np.array(state["vectors"]), np.array(state["sums"])
        return tracker


def added_doubt(counts: Vector, sizes: Vector) -> Vector:
    """What a sum of n numbers g x with |g| <= 1 and |x| <= M, feature by feature, may be off by: u0 n (n+20) M."""
    return U0 * counts * (counts + 20.0) * sizes


Loss = Callable[[Vector], tuple[float, Vector]]
"""The sum of the losses of scores, and their slopes."""


def _matrix(rows: Any, places: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((rows.values, rows.places.astype(np.int64), rows.ends), shape=(len(rows.ends) - 1, places))


def _minimised(x: Any, root: Vector, phi: Loss, ridge: float, start: Vector) -> Vector:
    """The t for which phi(x B t) + ridge t't/2 is least, nearly: whatever is found will do."""
    from scipy.optimize import minimize

    def value(t: Vector) -> tuple[float, Vector]:
        lost, slopes = phi(x @ (root * t if root.ndim == 1 else root @ t))
        back = x.T @ slopes
        return lost + 0.5 * ridge * float(t @ t), (root * back if root.ndim == 1 else root.T @ back) + ridge * t

    with np.errstate(all="ignore"):
        found: Vector = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 300, "maxcor": 20}).x
    return found if bool(np.isfinite(found).all()) else start


def _log(y: NDArray[np.int8]) -> Loss:
    def loss(s: Vector) -> tuple[float, Vector]:
        m = y * s
        return float(np.logaddexp(0.0, -m).sum()), -y * _sigmoid(-m)

    return loss


def _parabola(y: NDArray[np.int8], z: Vector, kappa: float) -> Loss:
    q = _sigmoid(-y * z)
    g, h, played = -y * q, kappa * q * (1.0 - q), np.logaddexp(0.0, -y * z)

    def loss(s: Vector) -> tuple[float, Vector]:
        m, gap = y * s, s - z
        lost, near = np.logaddexp(0.0, -m), played + g * gap + 0.5 * h * gap * gap
        return float(np.maximum(lost, near).sum()), np.where(lost >= near, -y * _sigmoid(-m), g + h * gap)

    return loss


def _smooth_hinge(y: NDArray[np.int8], soft: float) -> Loss:
    """max(0, 1 - m) with a parabola of width `soft` at its corner."""

    def loss(s: Vector) -> tuple[float, Vector]:
        short = 1.0 - y * s
        part = np.clip(short / soft, 0.0, 1.0)
        return float((part * (short - 0.5 * soft * part)).sum()), -y * part

    return loss


def _sigmoid(z: Vector) -> Vector:
    tail = np.exp(-np.abs(z))
    return np.where(z >= 0.0, 1.0, tail) / (1.0 + tail)
