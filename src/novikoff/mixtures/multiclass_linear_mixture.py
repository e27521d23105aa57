"""Multiclass linear mixture: the part of `auto` without trees. No parameter, no scaling, rows of any width.

Algorithm
    Members, each a separate learner that gives every label a probability:
        8 softmax regressions (convex/multiclass_ftrl.py): metrics sqrt and newton, rates 4, 1, 1/4 and 1/16
        2 second-order, one label versus the rest (linear/_loops/one_vs_rest.py): ridges 1 and 0.01
        4 of these on 256 random features of the standardised row (numerics/fourier.py), of four widths
        1 Bayesian linear discriminant analysis (mixtures/_loops/discriminant.py), if there are members on random
          features
    A stack: softmax regression on the members' scores of each label, clipped to -8 .. 8, with one weight per member
    and one Newton step per round. P is the Bayes mixture of members and stack: weights start equal and are multiplied
    by the probability that each gave to the label; predict the label with the largest P, on a tie the smallest label.
    Members with matrices rest and wake as in the binary case (mixtures/_loops/resting.py).
    The first row determines the members, as in the binary case (mixtures/linear_mixture.py); one-versus-rest members
    and the discriminant play while there are at most 32 labels. `fast`: two softmax members, of rate 1. `bias` c adds a
    constant feature of value c. `seed` draws the random features. New labels as in convex/multiclass_ftrl.py.
Promise
    mixtures/theorems/multiclass_linear_mixture_members.py: L <= L_j + ln(J+1) for every member j that never slept.
    mixtures/theorems/multiclass_linear_mixture_regret.py: so for every U, L is at most a member's bound against U +
    ln(J+1); the member is softmax sqrt 1 or a one-versus-rest member on x.
Cost
    O(8k non-zeros of x) per round and 8k + 12 numbers per feature for the softmax members; O(k 256^2) per round for
    each other member that is awake.
Reference
    [vovk1998] for the mixture; [geisser1964] for the discriminant; those of the members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.goal import Goal, added_doubt
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.metric_facts import steady
from novikoff.comparators.multiclass_facts import MulticlassGoal
from novikoff.comparators.tracker import Tracker
from novikoff.convex.logistic import curvature, facts_of, goal_of
from novikoff.convex.multiclass_ftrl import with_room
from novikoff.core.attribution import Importances, mean_importances, spreads
from novikoff.core.state import Argument, Array, Coded, Count
from novikoff.core.types import State, StepResult, Theorem
from novikoff.linear._loops import multiclass_layout as at
from novikoff.linear._loops import second_order_layout as matrix
from novikoff.linear.matrix import Matrix, refresh, roomy, seen_places, stretches
from novikoff.linear.multiclass import MulticlassProbabilistic
from novikoff.linear.one_vs_rest import Matrices, grown, matrices
from novikoff.mixtures import _loops
from novikoff.mixtures._loops import linear_mixture_layout as mix
from novikoff.mixtures.forecasters import RATES, RIDGES, WIDTHS, Forecasters, Standing, plan_of
from novikoff.mixtures.linear_mixture import RADIUS
from novikoff.mixtures.multiclass_linear_mixture_tracker import MulticlassLinearMixtureTracker
from novikoff.mixtures.theorems.multiclass_linear_mixture_members import multiclass_linear_mixture_members
from novikoff.mixtures.theorems.multiclass_linear_mixture_regret import (
    MulticlassLinearMixtureFacts,
    multiclass_linear_mixture_regret,
)
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import U0

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class MulticlassLinearMixture(Forecasters, MulticlassProbabilistic):
    """Multiclass classifier without parameters: a mixture of 15 learners and a stack on their scores.

    Args:
        fast: Whether to use two softmax members only.
        seed: Seed of the random features.
        bias: Value of a constant feature; 0 for none.
        labels: Number of labels, if known in advance.

    Guarantee:
        Log loss at most that of each of its J members plus ln(J + 1) and the cost of new labels
        (`multiclass_linear_mixture_members`), and so at most the bound of its best member against any weights plus
        these (`multiclass_linear_mixture_regret`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 1.0], 2)] * 4
        >>> nk.play(nk.MulticlassLinearMixture(), rows).mistakes
        3
    """

    promises: ClassVar[tuple[Theorem, ...]] = (multiclass_linear_mixture_regret, multiclass_linear_mixture_members)
    fields = (
        Argument("fast", bool),
        Argument("seed", int),
        *MulticlassProbabilistic.fields,
        Coded("plan", list, plan_of, "one of a linear mixture", optional=True, at="_plan"),
        Count("width", most=matrix.LIMIT, at="_width"),
        Standing("standing", at="_standing"),
        Array("scales", ("places", 4), spare=0.0, at="_scales"),
        Array("curves", ("places", "_lanes"), spare=0.0, at="_curves"),
        Array("sums", ("places", "_lanes", "labels"), spare=0.0, at="_sums"),
        Array("slots", ("places",), np.int32, spare=-1, at="_slots"),
        *(Array(name, at=f"_{name}") for name in ("totals", "moments", "stack", "moment", "matrix", "paid", "normal")),
        Array("means", at="_means"),
        Array("came", at="_came"),
        Matrices("matrices", ("_ridges.size", "_rows_against"), "_met", "_slots", at="_matrices", assigned=False),
        Matrices("waves", ("_widths.size", "_rows_against"), mix.WAVES, at="_waves"),
        Matrices("within", (), "_width", at="_within"),
    )

    def __init__(self, fast: bool = False, seed: int = 0, bias: float = 1.0, labels: int | None = None) -> None:
        super().__init__(bias, labels)
        self._seeded(seed)
        self.fast, self._plan = bool(fast), None
        self.mixes = np.zeros((0, 0))
        """P of the last rows played, of the labels known before each."""
        self._begin(self._planned(False), 0)

    def _begin(self, plan: tuple[int, int, int], width: int) -> None:
        """Create untrained members."""
        rates = RATES[: plan[0]] if plan[0] > 1 else (1.0,)
        lanes, labels = 2 * len(rates), self.labels
        self._roots, self._per_rate = np.repeat([True, False], len(rates)), np.tile(1.0 / np.array(rates), 2)
        self._shown = rates.index(1.0)
        self._scales, self._curves = np.zeros((1, 4)), np.zeros((1, lanes))
        self._sums, self._totals = np.zeros((1, lanes, labels)), np.zeros((at.TOTALS, lanes))
        self._slots, self._ridges = np.full(1, -1, dtype=np.int32), np.array(RIDGES[: plan[1]])
        self._widths = np.array(WIDTHS[: plan[2]])
        against = self._rows_against
        self._matrices = matrices((plan[1], against), 0, 0)
        self._waves = matrices((plan[2], against), mix.WAVES, mix.WAVES)
        self._draw(width, mix.WAVES - 1 if plan[2] else 0)
        self._normal = np.zeros((2, width))
        self._means, self._within = np.zeros((against, width)), matrices((), width, width)
        self._came = np.zeros(against)
        members = lanes + plan[1] + plan[2] + (plan[2] > 0)
        self._stack, self._moment, self._matrix = (
            np.full(members, 1 / members),
            np.full(members, 1 / members),
            np.eye(members),
        )
        self._standing, self._paid = np.zeros((mix.STANDING, members + 1)), np.zeros(at.TOTALS)
        self._standing[[mix.LOG_WEIGHT, mix.START]] = -np.log(members + 1.0)
        self._foresee()

    def _restart(self, width: int) -> None:
        if self._plan is not None:
            self._begin(self._plan, width)

    @property
    def _lanes(self) -> int:
        """Number of softmax members."""
        return len(self._roots)

    @property
    def _rows_against(self) -> int:
        """Number of one-versus-rest learners: one per label, up to a limit, and one for new labels."""
        return min(self.labels, at.MOST_AGAINST) + 1

    @property
    def _met(self) -> int:
        """Number of features in the matrices."""
        return int(self._matrices[3][:, :, matrix.COUNT].max(initial=0))

    @property
    def names(self) -> list[str]:
        """Names of the forecasters, in order."""
        return [*self._member_names, *(["discriminant"] if len(self._widths) else []), "stack"]

    def importances(self) -> Importances | None:
        """Return the mean of the weights of the softmax members, the largest over the labels."""
        if self._plan is None or not self.rounds:
            return None
        places, members = self.features.count + 1, []
        self._make_room(places)
        scales = self._scales[1:places]
        for j in range(self._lanes):
            root = np.sqrt(scales[:, 0] ** 2 + self._curves[1:places, j])
            metric = (scales[:, 3] if self._roots[j] else root) * root * self._per_rate[j]
            largest = np.abs(self._sums[1:places, j, : self.labels]).max(axis=1, initial=0.0)
            members.append(np.divide(largest, metric, out=np.zeros_like(metric), where=metric > 0.0))
        moments = self._moments if self._moments.shape[1] else None
        sizes, centred = spreads(scales[:, 1], self.rounds, moments)
        weights = self._mixing[: self._lanes]
        return mean_importances(weights / weights.sum(), members, sizes, centred)

    def _settle(self, rows: Nonzeros) -> None:
        """Choose the members by the first row."""
        if self._plan is not None or len(rows.ends) < 2:
            return
        width, small = self._first_row(rows)
        self._plan = self._planned(small and self.labels <= at.MOST_AGAINST)  # announced labels
        self._begin(self._plan, width if self._plan[2] else 0)

    def _make_room(self, places: int, labels: int = 0) -> None:
        parts = self._scales, self._curves, self._sums
        self._scales, self._curves, self._sums = with_room(*parts, places, labels, self.features.kind == "array")
        more = len(self._scales) - len(self._slots)
        self._slots = np.append(self._slots, np.full(more, -1, dtype=np.int32)) if more else self._slots
        against = min(max(labels, self.labels), at.MOST_AGAINST) + 1
        self._room(min(places, matrix.LIMIT), against)
        if against > self._waves[0].shape[1]:
            self._waves = grown(self._waves, matrices((len(self._widths), against), mix.WAVES, mix.WAVES))
            made = np.zeros((against, self._means.shape[1])), np.zeros(against)
            self._means, self._came = grown((self._means, self._came), made)

    def _room(self, need: int, against: int) -> None:
        """Grow the matrices to `need` features and `against` learners."""
        had, room = self._matrices[0].shape[1], self._matrices[0].shape[3]
        grows = len(self._ridges) > 0 and need > room
        if grows or against > had:
            new = min(max(need, 2 * room), matrix.LIMIT) if grows else room
            self._matrices = grown(self._matrices, matrices((len(self._ridges), max(against, had)), new, 0))

    def _play(
        self, parts: Any, rows: Nonzeros, y: NDArray[Any], learns: bool, known: int, rounds: int, *answers: Any
    ) -> None:
        play: Any = _loops.multiclass_linear_mixture.play
        play(
            (self._roots, self._per_rate, self._scales, self._curves, self._sums, self._totals),
            (self._slots, self._ridges, *parts),
            (self._turns, self._shifts, self._widths, self._moments, *self._waves),
            (self._normal, self._means, self._came, *self._within),
            (self._stack, self._moment, self._matrix, self._standing, self._paid),
            (curvature(RADIUS), self.features.kind != "array", self._shown),
            (known, rounds, self.grows), astuple(rows), y, learns, answers,
        )  # fmt: skip

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        self._settle(rows)
        labels = max(self.labels, int(y.max(initial=-1)) + 1)
        self._make_room(self.features.count + 1, labels)
        scores, predicted = np.empty((len(y), labels)), np.zeros(len(y), dtype=np.int64)
        rest = np.empty((len(y), len(self._ridges), labels + 1))
        chances, confidences, briers = np.empty((3, len(y)))
        self.mixes = np.zeros((len(y), labels))
        for here in stretches(self.rounds, len(y)):
            answers = (part[here] for part in (scores, rest, predicted, chances, confidences, briers, self.mixes))
            known, rounds = self._known_before(y, here), self.rounds + here.start
            self._play(self._matrices, rows.part(here), y[here], True, known, rounds, *answers)
            if (self.rounds + here.stop) % matrix.REFRESH == 0:
                refresh(self._matrices, self._ridges[:, np.newaxis])
                refresh(self._waves, 1.0)
        wrong, padded = (predicted != y).astype(np.float64), np.pad(scores, ((0, 0), (0, 1)), constant_values=-np.inf)
        scores = np.concatenate([padded[:, np.newaxis], rest], axis=1)
        return StepResult(
            predicted, wrong, wrong, probabilities=chances, scores=scores, confidences=confidences, briers=briers
        )

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        """Return P of each label."""
        scores = np.full((len(rows.ends) - 1, self.labels), 1.0 / max(self.labels, 1))
        if self._plan is None or not self.labels:
            return scores
        places, need = seen_places(self._slots, rows, self._met)
        held, inverse, *others = self._matrices
        parts = *roomy(held, inverse, need if len(self._ridges) else 0), *others
        none, unused, rest = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0, 0))
        rows, answers = rows._replace(places=places), (scores, rest, none, unused, unused, unused, scores)
        self._play(parts, rows, none, False, self.labels, self.rounds, *answers)
        return scores

    def _judged(self, played: StepResult, *_: object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return played.confidences, played.briers  # of the mixture: `played.scores` are those of members

    def _shares(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores

    def tracker(self) -> Tracker | None:
        """Return comparators of the softmax member sqrt 1 and one-versus-rest members, for a game that starts now."""
        return (
            MulticlassLinearMixtureTracker(self.bias, curvature(RADIUS), self.announced) if self.rounds == 0 else None
        )

    def _against(self, m: int) -> list[Matrix]:
        """Return the matrix of each label of a one-versus-rest member."""
        found = [Matrix(float(self._ridges[m]), True) for _ in range(self.labels)]
        for j, one in enumerate(found):
            one.slots, (one.held, one.inverse, one.sums, one.totals) = self._slots, (p[m, j] for p in self._matrices)
        return found

    def _compared(self) -> list[int]:
        """Return the one-versus-rest members on x that never slept, the best first."""
        lanes, standing = len(self._roots), self._standing
        awake = [m for m in range(len(self._ridges)) if standing[mix.SLEPT, lanes + m] == 0.0]
        return sorted(awake, key=lambda m: float(standing[mix.LOSS, lanes + m]))

    def goals_against(self) -> list[list[Goal]]:
        """Return the objectives of comparators of one-versus-rest members, for each label."""
        places, compared = self._places(), self._compared()
        by_member = [
            [goal_of(one, places, self.rounds)._replace(member=m) for one in self._against(m)] for m in compared
        ]
        return [list(goals) for goals in zip(*by_member, strict=True)]

    def _places(self) -> int:
        self._make_room(self.features.count + 1)
        return self.features.count + 1

    def _softmax(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return A, G and a bound on the error of G for the softmax member sqrt 1, per place."""
        places, m = self._places(), self._shown
        scales, gradients = self._scales[:places], self._sums[:places, m, : self.labels]
        metric = scales[:, 3] * np.sqrt(scales[:, 0] ** 2 + self._curves[:places, m]) * self._per_rate[m]
        return metric, gradients, np.repeat(added_doubt(scales[:, 2], scales[:, 0])[:, None], self.labels, axis=1)

    def goals(self) -> list[MulticlassGoal]:
        """Return the objective of a comparator."""
        metric, gradients, doubt = self._softmax()
        linear = float(self._totals[at.LINEAR, self._shown])
        return [MulticlassGoal(Diagonal(metric), self.facts().penalty, gradients, doubt, linear)]

    def facts(self) -> MulticlassLinearMixtureFacts:
        totals, paid = self._totals[:, self._shown], self._paid
        metric, gradients, doubt = self._softmax()
        low, high = Diagonal(np.repeat(metric, self.labels)).inverse_between(gradients.ravel(), doubt.ravel())
        off = (self.rounds * max(self.labels, 1) + 20) * 2.0 * U0 * float(totals[at.LINEAR_SIZE])
        linear, standing = float(totals[at.LINEAR]), self._standing
        return MulticlassLinearMixtureFacts(
            self.rounds, self.labels, self.rounds, 0, float(paid[at.LOSS]), float(paid[at.NOVELTY]), self.entropy,
            float(totals[at.GAINED]), linear + off + 0.5 * high, linear - off + 0.5 * low, self._shown, self.names,
            standing[mix.LOSS].tolist(), standing[mix.LOG_WEIGHT].tolist(), (standing[mix.SLEPT] > 0.0).tolist(),
            len(self._roots), self._steady(),
        )  # fmt: skip

    def _steady(self) -> bool:
        """Return whether no metric of the compared one-versus-rest members shrank."""
        places = self._places()
        found = (facts_of(one, places, self.rounds) for m in self._compared() for one in self._against(m))
        return all(steady(one.gained, one.least) for one in found)

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        self._require_plan()
        self._foresee()
        self._matrices = found["matrices"]  # with the room they had
