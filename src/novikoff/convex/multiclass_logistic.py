"""Multiclass second-order logistic regression: one learner per label against the rest, a Newton step per example.

Algorithm
    A binary learner (convex/logistic.py) per label learns whether its label was observed. With their scores z,
    P_j = e^z_j / sum of e^z; predict the label with the largest score, the smallest on ties. `ridge`, `radius`,
    `scale_free` and `bias` as there. The first 256 features seen have a weight, later ones are ignored; at most 256
    labels.
    If labels are not announced, one more learner stands for all new labels and has only seen negative rounds; it is
    copied in the first round of a label, so that every label has learned from every round. In round t a probability of
    1/t^2 is reserved for a new label.
Promise
    convex/theorems/multiclass_logistic_regret.py: for every U, L <= the sum over labels of the binary learners' bounds
    for u_j + the cost of new labels.
Cost
    O(k d^2) per round, d <= 256; two triangles of d^2/2 numbers for each label.
Reference
    [jezequel2020]; [rifkin2004].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.against_tracker import AgainstTracker
from novikoff.comparators.goal import Goal
from novikoff.convex import _loops
from novikoff.convex.logistic import Logistic, facts_of, goal_of
from novikoff.convex.theorems.multiclass_logistic_regret import MulticlassLogisticFacts, multiclass_logistic_regret
from novikoff.core.attribution import Coefficients
from novikoff.core.state import Argument, Array
from novikoff.core.types import StepResult, Theorem
from novikoff.linear._loops import multiclass_layout
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.matrix import Matrix, refresh, roomy, seen_places, stretches, taken_by
from novikoff.linear.multiclass import MulticlassProbabilistic
from novikoff.linear.one_vs_rest import Matrices, grown, matrices
from novikoff.linear.scale_free import ratio
from novikoff.numerics.records import astuple

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class MulticlassLogistic(MulticlassProbabilistic):
    """One-versus-rest logistic regression with a full second-order metric per label.

    Args:
        ridge: Regularisation of each metric.
        radius: Largest |<u,x>| of comparators for which the bound has no extra term; 0 to 100.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.
        labels: Number of labels, at most 256; None if new labels may appear.

    Guarantee:
        For every U, the log loss is at most the sum over labels of the bounds of the binary learners against u_j, plus
        the cost of new labels (`multiclass_logistic_regret`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        >>> nk.play(nk.MulticlassLogistic(labels=3), rows).mistakes
        1
    """

    promises: ClassVar[tuple[Theorem, ...]] = (multiclass_logistic_regret,)
    most = 256  # each label has a matrix
    fields = (
        Argument("ridge", float),
        Argument("radius", float),
        Argument("scale_free", bool),
        *MulticlassProbabilistic.fields,
        Array("slots", ("places",), np.int32, spare=-1, at="_slots"),
        Matrices("matrices", ("_learners",), "size", slots="_slots", at="_parts"),
        Array("totals", (multiclass_layout.TOTALS,), at="_totals"),
    )

    def __init__(
        self, ridge: float = 0.1, radius: float = 6.0, scale_free: bool = True, bias: float = 1.0,
        labels: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(bias, labels)
        binary = Logistic(ridge, radius, scale_free, bias)  # checks the arguments
        self.ridge, self.radius, self.scale_free = binary.ridge, binary.radius, binary.scale_free
        self._kappa = binary.kappa
        self._take_only(*taken_by(self.ridge, self.scale_free))
        self._slots = np.full(1, -1, dtype=np.int32)  # the last entry serves all features not seen
        self._parts: Any = matrices((self._learners,), 0, 0)
        self._totals = np.zeros(multiclass_layout.TOTALS)

    @property
    def _learners(self) -> int:
        """Number of binary learners: one per label, and one for new labels."""
        return self.labels + self.grows

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights, one row per label and one column per feature, without the constant one."""
        return self._weights()[:, 1:]

    @property
    def bias_weights(self) -> NDArray[np.float64]:
        """Weight of the constant feature for each label."""
        return self._weights()[:, 0]

    def _weights(self) -> NDArray[np.float64]:
        places = self.features.count + 1
        found = [self._against(j).of(at.WEIGHT, places) for j in range(self.labels)]
        return np.array(found).reshape(self.labels, places)

    def linear_weights(self) -> Coefficients:
        found = self._weights()
        sizes = [self._against(j).deviations(found.shape[1], self.bias, self.rounds) for j in range(self.labels)]
        mean = np.mean(sizes, axis=0) if sizes else None
        return Coefficients(found[:, 1:], self.bias * found[:, 0], mean, centred=self.bias != 0.0)

    def _shrinkage(
        self, rows: Nonzeros, score: NDArray[np.float64], linear: NDArray[np.float64]
    ) -> NDArray[np.float64] | float:
        return ratio(score, np.array([self._against(j).look(rows)[0].item(0) for j in range(self.labels)]))

    @property
    def size(self) -> int:
        """Number of features in the matrices."""
        return int(self._parts[3][:, at.COUNT].max(initial=0))

    def _against(self, j: int) -> Matrix:
        """Return the matrix of the learner of label j."""
        self._make_room(self.features.count + 1)
        matrix = Matrix(self.ridge, self.scale_free)
        matrix.slots, (matrix.held, matrix.inverse, matrix.sums, matrix.totals) = (
            self._slots,
            (part[j] for part in self._parts),
        )
        return matrix

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._make_room(width + 1)

    def _make_room(self, places: int, labels: int = 0) -> None:
        """Make room for `places` places and `labels` labels."""
        if places >= len(self._slots):
            more = places + 1 - len(self._slots) + min(len(self._slots), 2**20)
            self._slots = np.append(self._slots, np.full(more, -1, dtype=np.int32))
        had, room = self._parts[0].shape[0], self._parts[0].shape[2]
        need, learners = min(places, at.LIMIT), max(labels + self.grows, had)
        if need > room or learners > had:
            new = min(max(need, 2 * room), at.LIMIT) if need > room else room
            self._parts = grown(self._parts, matrices((learners,), new, 0))

    def _play(
        self,
        parts: object,
        rows: Nonzeros,
        y: NDArray[np.generic],
        learns: bool,
        known: int,
        rounds: int,
        *answers: NDArray[np.generic],
    ) -> None:
        play: Any = _loops.multiclass_logistic.play
        play(
            (self._slots, self.ridge, self.scale_free), parts, self._kappa, self._totals, (known, rounds, self.grows),
            astuple(rows), y, learns, *answers,
        )  # fmt: skip

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        labels = max(self.labels, int(y.max(initial=-1)) + 1)
        self._make_room(0, labels)
        scores = np.empty((len(y), labels + self.grows))
        predicted, chances = np.empty(len(y), dtype=np.int64), np.empty(len(y))
        for here in stretches(self.rounds, len(y)):
            known, rounds = self._known_before(y, here), self.rounds + here.start
            answers = scores[here], predicted[here], chances[here]
            self._play(self._parts, rows.part(here), y[here], True, known, rounds, *answers)
            refresh(self._parts, self.ridge)
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, probabilities=chances, scores=scores[:, np.newaxis])

    def _judged(self, played: StepResult, *rest: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        scores: Any = played.scores
        return super()._judged(played._replace(scores=scores[:, 0]), *rest)

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        scores = np.empty((len(rows.ends) - 1, self.labels))
        places, need = seen_places(self._slots, rows, self.size)
        held, inverse, *others = self._parts
        parts = *roomy(held, inverse, need), *others
        none, rows = np.zeros(0, dtype=np.int64), rows._replace(places=places)
        self._play(parts, rows, none, False, self.labels, self.rounds, scores, none, np.zeros(0))
        return scores

    def _shares(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return numerics.softmax.shares(scores)

    def tracker(self) -> AgainstTracker | None:
        """Return comparators for a game that starts now."""
        return AgainstTracker(self.bias, self._kappa, self.announced, at.LIMIT) if self.rounds == 0 else None

    def goals(self) -> list[list[Goal]]:
        """Return the objectives that comparators minimise, for each label."""
        places = self.features.count + 1
        return [[goal_of(self._against(j), places, self.rounds)] for j in range(self.labels)]

    def facts(self) -> MulticlassLogisticFacts:
        places = self.features.count + 1
        loss, novelty = float(self._totals[multiclass_layout.LOSS]), float(self._totals[multiclass_layout.NOVELTY])
        against = [facts_of(self._against(j), places, self.rounds) for j in range(self.labels)]
        parts = ([getattr(one, name) for one in against] for name in ("loss", "gained", "dual", "least"))
        return MulticlassLogisticFacts(self.rounds, self.labels, loss, novelty, self.entropy, *parts)
