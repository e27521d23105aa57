"""Comparators for learners in a metric: u with a small loss and a small u'Au, fitted to the theorem's bound.

Algorithm
    Rows are kept, as the learner reads them (numerics/nonzeros.py), with the scores it played. While all of them fit in
    `keep` bytes, a request for facts minimises the bound itself over u, on all rows and with the learner's present
    metric: it is convex in u, and u is the best in hindsight. From the first row that does not fit, a few u are fitted
    to the kept rows, with several ridges and at several scales, and evaluated on every row, the kept ones first; or no
    u is fitted, if copies of the learner's weights are the comparators (comparators/frozen.py).
Promise
    The bound holds for any u: its losses are summed over every round, rounded up (comparators/_loops/log_losses.py).
    The learner's sums are compared with the scores that it played, along every u, and along one more u for goals that
    cannot give the least bound.
Cost
    Kept: 12 bytes per non-zero, and a fit per request. After: O(24 non-zeros) per round, 24 numbers per feature.
Reference
    [liu1989] for the fit (comparators/metric_fit.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators import _loops
from novikoff.comparators._loops import log_losses_layout as at
from novikoff.comparators.frozen import Copies, FrozenWeights, check_lanes, check_members, in_lanes
from novikoff.comparators.goal import Goal, HasGoals, HasOwnWeights, dual_of
from novikoff.comparators.metric_facts import MetricComparator, MetricComparatorFacts
from novikoff.comparators.metric_fit import FACTORS, best_for, candidates, generic, least_log_loss
from novikoff.comparators.rows import Rows, as_nonzeros
from novikoff.comparators.tracker import KEEP, MOST_PLACES, KeptRows, VectorTracker
from novikoff.core.state import Argument, Array, Count, Number, Part, Values, require
from novikoff.core.types import State
from novikoff.numerics.sizes import U0

Vector = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)
"""Largest finite number."""


class MetricTracker(VectorTracker):
    """Tracker for a learner in a metric.

    Args:
        bias: The learner's value of the constant feature.
        kappas: kappa of each member, 0 if it is of first order; one entry for a learner without members.
        margin: Margin of its updates, as in comparators/_loops/log_losses.py.
        limit: Number of features that it has weights for, in order of appearance; None for all.
        keep: Bytes of rows to keep; with 0 no u is searched for.
        fits: Whether some u are fitted when the rows exceed `keep`.
        frozen: Copies of the learner's weights as further comparators; None for none.
    """

    kind = "metric"
    fields = (
        Number("bias", argument=True),
        Values("kappas", float, None, -LARGEST, LARGEST, argument=True),
        Number("margin", argument=True),
        Count("limit", optional=True, argument=True),
        Count("keep", argument=True),
        Argument("fits", bool),
        Count("rows"),
        Count("places", most=MOST_PLACES),
        Count("updates", most="rows"),
        Count("mistakes", most="updates"),
        Part("frozen", FrozenWeights, optional=True, argument=True),
        Count("fitted", most="rows", at="_fitted"),
        KeptRows("kept", at="_kept", optional=True, assigned=False),
        Array("vectors", (None, None), at="_known_vectors", assigned=False),
        Array("owners", (None,), np.int64, at="_owners", assigned=False),
        Array("sums", (at.SUMS, None), at="_sums", finite=False, assigned=False),
        Array("told", (None, at.SCORE_SUMS), at="_score_sums", finite=False, assigned=False),
    )

    def __init__(
        self, bias: float, kappas: Sequence[float] = (0.0,), margin: float = -1.0, limit: int | None = None,
        keep: int = KEEP, fits: bool = True, frozen: FrozenWeights | None = None,
    ) -> None:  # fmt: skip
        super().__init__(bias, keep)
        self.margin, self.limit, self.fits = margin, limit, bool(fits)
        self.kappas = [float(kappa) for kappa in kappas]
        self._kept = self._kept if keep else None
        self.frozen = frozen
        self.updates = self.mistakes = 0
        self._seen = 0  # members whose scores were seen
        self.aim: tuple[list[Goal], int] | None = None
        """Final goals of the learner and its number of rounds, if they are known, as in hindsight; else None."""
        self._vectors, self._sums, self._owners = np.zeros((0, 0)), np.zeros((at.SUMS, 0)), np.zeros(0, np.int64)
        self._score_sums = np.zeros((len(self.kappas), at.SCORE_SUMS))
        self._cached: tuple[Any, MetricComparatorFacts] | None = None

    @property
    def members(self) -> int:
        """Members whose scores were seen; before the first row, the largest possible number."""
        return self._seen or len(self._score_sums if self._kept is None else self.kappas)

    @property
    def kept_all(self) -> bool:
        """Whether all rows are kept, so that u is the best in hindsight."""
        self.catch_up()
        return self._kept is not None

    def due(self, rounds: int) -> int:
        return rounds if self.frozen is None else min(max(self.frozen.next - self.rows, 0), rounds)

    def look(self, learner: HasOwnWeights) -> None:
        if self.frozen is not None and self.frozen.next <= self.rows:
            self.catch_up()
            self.frozen.freeze(learner, self.rows)

    def _read(
        self, x: Rows, y: NDArray[np.int8], played: NDArray[Any]
    ) -> tuple[Rows, NDArray[Any], NDArray[np.int64]]:  # fmt: skip
        scores = played.reshape(len(y), -1)[:, : len(self.kappas)]
        if self.margin >= 0.0:
            wrong = np.where(scores[:, 0] < 0.0, -1, 1) != y
            self.mistakes += int(np.count_nonzero(wrong))
            self.updates += int(np.count_nonzero(wrong | (y * scores[:, 0] < self.margin)))
        rows, scores, extra = super()._read(x, y, scores)
        if len(y):
            self._seen = self._seen or scores.shape[1]
            check_members(self._seen, scores)
        if self.frozen is not None:
            kappas = np.array(self.kappas[: scores.shape[1]])
            self.frozen.see(as_nonzeros(rows), y, scores, self.places, kappas)
        return rows, scores, extra

    def _overhead(self, y: NDArray[np.int8], scores: NDArray[Any]) -> NDArray[np.int64]:
        return np.full(len(y), 9 + 8 * scores.shape[1])

    def _no_scores(self) -> Vector:
        return np.zeros((0, len(self.kappas)))

    def _settle(self) -> None:
        rows, y, scores = self._together()
        self._score_sums = np.zeros((scores.shape[1], at.SCORE_SUMS))
        if self.aim is None and not self.fits:
            return
        if self.aim is None:
            found = list(candidates(rows, self.places, y, self.limit, self.margin >= 0.0).T)
            owners = [0] * len(found)
        else:
            found, owners = self._aimed(rows, y, scores)
        self._owners, self._vectors = in_lanes(owners, found)
        self._sums, self._fitted = np.zeros((at.SUMS, len(self._owners))), len(y)
        self._look_at(rows, y, scores)

    def _add(self, x: Rows, y: NDArray[np.int8], played: Vector) -> None:
        if self._fitted:
            self._look_at(as_nonzeros(x), y, played)

    def _look_at(self, rows: Any, y: NDArray[np.int8], scores: Vector) -> None:
        """Add the losses of the vectors on these rows."""
        if self.places > len(self._vectors):
            more = self.places - len(self._vectors) + min(len(self._vectors), 2**20)
            self._vectors = np.vstack([self._vectors, np.zeros((more, self._vectors.shape[1]))])
        check_members(len(self._score_sums), scores)
        see: Any = _loops.log_losses.see
        see(self._vectors, *rows, y, scores, np.array([self.kappas[: scores.shape[1]]]), self._owners, self.margin,
            self._sums, self._score_sums)  # fmt: skip

    def _aimed(self, rows: Any, y: NDArray[np.int8], scores: Vector) -> tuple[list[Vector], list[int]]:
        """Return vectors for each final goal of the learner, at several scales, and the member of each."""
        assert self.aim is not None
        goals, rounds = self.aim
        found, owners = [np.zeros(self.places)], [goals[0].member if goals else 0]
        for goal in goals:
            if goal.images is None:
                played, kappa = np.ascontiguousarray(scores[:, goal.member]), self.kappas[goal.member]
                for u in best_for(goal, rows, self.places, y, played, kappa, len(y) / rounds):
                    found += [scale * u for scale in FACTORS]
                    owners += [goal.member] * len(FACTORS)
        return found, owners

    def facts(self, learner: HasGoals[Goal]) -> MetricComparatorFacts:
        """Return the facts so far, with the learner's present metric."""
        return self.facts_for(learner.goals(), learner)

    def facts_for(self, goals: list[Goal], learner: object = None) -> MetricComparatorFacts:
        """Return the facts so far for these goals."""
        self.catch_up()
        key = (self.rows, [goal.promised for goal in goals])
        if self._cached is None or self._cached[0] != key:
            found = self._facts(goals)
            if self.frozen is not None:
                losses = found.losses or self.frozen.losses
                found = replace(found, losses=losses, frozen=self.frozen.facts(cast(HasOwnWeights, learner), self.rows))
            self._cached = (key, found)
        return self._cached[1]

    def _facts(self, goals: Sequence[Goal]) -> MetricComparatorFacts:
        found: list[MetricComparator] = []
        if self._kept is None:
            for goal in goals:
                columns, known = np.flatnonzero(self._owners == goal.member), self._vectors[: self.places]
                these = [self._comparator(goal, known[:, k], self._sums[:, k]) for k in columns]
                found += [u for u in these if u.square < math.inf]  # infinite: weights at unknown places
            score_sums = self._score_sums if self._fitted else np.zeros((0, at.SCORE_SUMS))
            return self._facts_of(goals if self._fitted else (), self._fitted, found, score_sums)
        see: Any = _loops.log_losses.see
        rows, y, scores = self._together()
        most = max((goal.member for goal in goals), default=0) if len(y) else 0
        require(most < max(scores.shape[1], 1), f"kept rows must have the scores of {most + 1:,} members", scores.shape)
        unexplained, score_sums = 0.0, np.zeros((scores.shape[1], at.SCORE_SUMS))
        best, least = math.inf, least_log_loss(rows, self.places, y) if len(goals) > 2 else 0.0
        for goal in goals:
            seen = rows if goal.images is None else goal.images(rows)
            places = max(int(seen.places.max(initial=0)) + 1, self.places if goal.images is None else 0)
            # A goal that cannot beat the best bound is only checked: one u without a pattern compares its sums.
            hopeless = bool(found) and goal.promised + (least if goal.images is None else 0.0) >= best
            played, kappa = np.ascontiguousarray(scores[:, goal.member]), self.kappas[goal.member]
            chosen = [generic(goal, places)] if hopeless else best_for(goal, seen, places, y, played, kappa)
            owners, vectors = in_lanes([0] * (1 + len(chosen)), [np.zeros(places), *chosen])
            sums, of_scores = np.zeros((at.SUMS, len(owners))), score_sums[goal.member : goal.member + 1]
            see(vectors, *seen, y, played[:, None], np.array([[kappa]]), owners, self.margin, sums, of_scores)
            these = [self._comparator(goal, vectors[:, k], sums[:, k]) for k in range(1 + len(chosen))]
            if hopeless:
                unexplained = max(unexplained, *(u.unexplained for u in these))
                continue
            found += these
            if goal.loss != "hinge":
                best = min(best, *(u.log_bound if goal.loss == "log" else u.parabola_bound for u in these))
        for c in set(range(scores.shape[1])) - {goal.member for goal in goals}:
            score_sums[c, at.LOSS] = np.logaddexp(0.0, -y * scores[:, c]).sum()
        return self._facts_of(goals, len(y), found, score_sums, unexplained)

    def _facts_of(
        self,
        goals: Sequence[Goal],
        fitted: int,
        found: list[MetricComparator],
        score_sums: Vector,
        unexplained: float = 0.0,
    ) -> MetricComparatorFacts:
        """Return the facts, without comparators that are not finite and so cannot be checked."""
        duals: dict[int, float] = {}
        for goal in goals if self.rows else ():
            sums = float(score_sums[goal.member, at.LINEAR]), float(score_sums[goal.member, at.LINEAR_SIZE])
            duals[goal.member] = max(duals.get(goal.member, -math.inf), dual_of(goal, *sums, self.rows))
            if goal.linear is not None:
                explained = (self.rows + 20) * 2.0 * U0 * float(score_sums[goal.member, at.LINEAR_SIZE])
                off = abs(goal.linear - float(score_sums[goal.member, at.LINEAR]))
                unexplained = max(unexplained, off / (4.0 * explained + 1e-300))
        found = [replace(u, promised=max(u.promised, duals.get(u.member, u.promised))) for u in found]
        checked = tuple(u for u in found if math.isfinite(u.unexplained) and not math.isnan(u.square + u.parabola))
        losses = tuple(score_sums[:, at.LOSS].tolist())
        return MetricComparatorFacts(self.rows, fitted, checked, losses, unexplained, updates=self.updates,
                                     mistakes=self.mistakes)  # fmt: skip

    def _comparator(self, goal: Goal, u: Vector, sums: Vector) -> MetricComparator:
        """Return u with its losses rounded up, after comparing the learner's sums along u with those of its scores."""
        factor = 1.0 + (self.rows + 20) * 2.0 * U0  # covers the rounding errors of a sum over all rounds
        log, hinge, parabola, doubt = (float(sums[k]) for k in (at.LOG, at.HINGE, at.PARABOLA, at.DOUBT))
        added, off = (part[: len(u)] for part in goal.added)
        known = u[: len(added)]
        slack = float(np.abs(known) @ off)
        explained = (self.rows + 20) * 2.0 * U0 * float(np.abs(known) @ np.abs(added)) + slack
        explained += float(sums[at.PULL_DOUBT]) + (self.rows + 20) * 4.0 * U0 * abs(float(sums[at.PULL]))
        unexplained = abs(float(known @ added) - float(sums[at.PULL])) / (4.0 * explained + 1e-300)
        if goal.matrix is not None:
            bent, off_by = goal.matrix.bent(u)
            explained = off_by + float(sums[at.BENT_DOUBT]) + (self.rows + 20) * 2.0 * U0 * float(sums[at.BENT])
            unexplained = max(unexplained, abs(bent - float(sums[at.BENT])) / (4.0 * explained + 1e-300))
        zero = not u.any()  # u = 0 is exact even if sums overflowed
        return MetricComparator(
            log_loss=log * factor + doubt * factor,
            hinge=hinge * factor + doubt * factor,
            parabola=parabola * factor + doubt * factor,
            square=0.0 if zero else goal.penalty.square(u),
            doubt=slack,
            unexplained=0.0 if zero else unexplained,
            promised=goal.promised,
            member=goal.member,
            weights=u,
        )

    @property
    def _columns(self) -> int:
        return len(self.kappas)

    @property
    def _known_vectors(self) -> Vector:
        """Vectors at the places seen."""
        return self._vectors[: self.places]

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        if self.frozen is not None:
            must = f"copies must have been made in its {self.rows:,} rounds"
            require(self.frozen.after <= self.rows, must, self.frozen.after)
        if self._kept is not None:
            _, y, scores = found["kept"]
            require(bool((np.abs(y) == 1).all()), "labels of kept rows must be -1 and +1", y)
            self._seen = scores.shape[1] if len(y) else 0
            return
        self._score_sums, known = found["told"], len(found["told"])
        require(known <= len(self.kappas), f"sums must have at most {len(self.kappas):,} members", known)
        lanes = Copies(found["owners"], found["vectors"], found["sums"])
        check_lanes(lanes, known, self.places)
        self._owners, self._vectors, self._sums = lanes
