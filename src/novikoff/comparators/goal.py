"""Goals: the bound of a theorem on a learner in a metric, as a function of a comparator u."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.metric import Full, Metric
from novikoff.numerics.sizes import U0

if TYPE_CHECKING:
    from novikoff.comparators.random_features import Images

Vector = NDArray[np.float64]


class Goal(NamedTuple):
    """Bound of a learner's theorem for a comparator u: the loss of u plus a penalty.

    Attributes:
        loss: "log", "hinge", or "parabola": the larger of the log loss and of a second-order learner's approximation of
            it.
        penalty: Metric of which square(u)/2 is paid, or sqrt(square(u) * gained) for the hinge loss.
        promised: Remaining part of the bound: a factor of u'Au for the hinge loss, a summand for other losses. It is
            the learner's claim; the tracker raises it to at least `dual_of` the goal.
        added: The learner's sum of g x, of (g - hz) x, or of -y x, by place, and its possible error; it is compared
            with the scores that were played, if the tracker has them.
        member: Number of the member's scores, for a learner with members.
        images: Function from all rows to the member's rows, such as random features; None if they are the same.
        matrix: The learner's sum of h x x', which is checked in the same way.
        linear: The learner's sum of g z - h z^2/2, which is checked too; None if it has none.
        on_scores: Whether it is the goal of a stack, whose rows are the clipped scores of the members before it.
    """

    loss: str
    penalty: Metric
    promised: float
    added: tuple[Vector, Vector]
    member: int = 0
    images: Callable[[Any], Any] | None = None
    matrix: Full | None = None
    linear: float | None = None
    on_scores: bool = False


def dual_of(goal: Goal, linear: float, size: float, rounds: int) -> float:
    """Return an upper bound on the theorem's sum, computed from the goal's sums; `promised` must be no less.

    With b = `added` it is b'A^-1 b for the hinge loss, otherwise the sum of g z - h z^2/2, plus half of b'A^-1 b.

    Args:
        goal: Goal with the learner's sums.
        linear: Sum of g z - h z^2/2 over the scores that were played.
        size: Sum of the sizes of its terms.
        rounds: Number of rounds.
    """
    metric, (added, off) = goal.matrix or goal.penalty, goal.added
    if goal.loss == "hinge":
        return metric.inverse_between(added, off)[1]
    off = np.zeros(len(added)) if goal.loss == "log" else off  # for the log loss the bound of each u includes it
    return linear + (rounds + 20) * 2.0 * U0 * size + 0.5 * metric.inverse_between(added, off)[1]


G = TypeVar("G")
"""Kind of goal: `Goal`, `MulticlassGoal`, or one list of goals for each label."""


class HasGoals(Protocol[G]):
    """A learner whose theorems have goals for comparators."""

    def goals(self) -> list[G]:
        """Return the goals with the present metric."""
        ...


class HasOwnWeights(Protocol):
    """A learner whose weights are copied as comparators."""

    def own_weights(self) -> list[Own]:
        """Return the weights of each member."""
        ...

    def images_from_here(self, members: list[int]) -> Images:
        """Return the random features of the next rows as these members compute them."""
        ...


class Own(NamedTuple):
    """Weights of a learner, or of one of its members, and its goal, whose `promised` is the learner's sum."""

    goal: Goal
    weights: Vector


def added_doubt(counts: Vector, sizes: Vector) -> Vector:
    """Return the possible error of a sum of n numbers g x with |g| <= 1 and |x| <= M, per feature: u0 n (n+20) M."""
    return U0 * counts * (counts + 20.0) * sizes
