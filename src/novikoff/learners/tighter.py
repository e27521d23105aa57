"""The tighter Perceptron: the support that the others can best do without makes room.

Algorithm
    f = sum of y_i K(x_i, .) over a list of supports. Say +1 if f(x) >= 0, else -1. Insert the example on a mistake, or,
    with `beta` > 0, whenever y f(x) <= beta. With `budget` supports, first that j leaves for which the fewest of all
    supports k, j too, have sign(f(x_k) - y_j K(x_j, x_k)) != y_k; of equal ones the oldest. (Weston, Bordes and Bottou
    may count on examples that are not kept; here it is on the supports.)
    `kernel`, `normalize_kernel` and `bias` as in kernel_perceptron.py.
Promise
    A heuristic: no mistake bound is known.
Cost
    `budget` values of K per round, O(budget^2) time for each that leaves; O(budget) examples and O(budget^2) numbers.
Reference
    [weston2005].
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.kernel_facts import KernelFacts
from novikoff.learners.saved_supports import arguments, load, state_of
from novikoff.learners.supports import ROW, Row, Supports, checked_beta, checked_budget
from novikoff.similarity import Function, Similarity
from novikoff.types import Batch, Domain, Example, Label, State, Theorem


class TighterPerceptron:
    """At most `budget` of the examples it got wrong, those that are needed most.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or whole numbers to
    numbers (learners/features.py).
    """

    promises: ClassVar[tuple[Theorem, ...]] = ()
    labels: int | None = None

    def __init__(
        self,
        budget: int = 100,
        kernel: str | Function = "rbf",
        gamma: float = 1.0,
        degree: int = 2,
        constant: float = 1.0,
        normalize_kernel: bool = False,
        bias: float = 0.0,
        beta: float = 0.0,
    ) -> None:
        self.domain = Domain("vector")
        self.similarity = Similarity.of(kernel, gamma, degree, constant, normalize_kernel, bias)
        self.supports = Supports(self.similarity, checked_budget(budget))
        self.features = self.supports.features
        self.beta = checked_beta(beta)
        self._gram = np.zeros((0, 0))  # K of every two slots

    size = property(attrgetter("supports.count"), doc="Supports held.")
    updates = property(attrgetter("supports.updates"), doc="Examples ever inserted.")
    rounds = property(attrgetter("supports.rounds"), doc="Rounds played.")

    def predict_one(self, x: Example) -> Label:
        return -1 if self.score_one(x) < 0.0 else 1

    def score_one(self, x: Example) -> float:
        """f(x), the number whose sign is said."""
        return self.supports.score(x)

    def label_batch(self, batch: Batch) -> NDArray[np.int8]:
        """What it says of every row, learning nothing."""
        return self.supports.label_batch(batch)

    def learn_one(self, x: Example, y: Label) -> None:
        self.play_one(x, y)

    def play_one(self, x: Example, y: Label) -> Label:
        """Predict, then learn, looking at x once."""
        return self.supports.play_one(x, y, self._sweep, self._learn)

    def sweep(self, batch: Batch) -> NDArray[np.int8] | None:
        """Predict and learn every row in order, compiled; None, having done nothing, with a function of the user's."""
        return self.supports.sweep(batch, self._sweep)

    def _sweep(self, *rows: Any) -> int:
        return int(kernel().sweep(*rows, self.supports.most, self.beta, self._table()))

    def _learn(self, row: Row, y: np.int8, score: float, own: float) -> None:
        held = self.supports
        if kernel().inserts(score, y, self.beta):
            while not kernel().add(held.cache, held.rule, *row, y, own, held.most, self._table()):
                held.make_room(row[0], row[2])

    def _table(self) -> NDArray[np.float64]:
        """K of every two slots, with room for as many as there are."""
        old, slots = self._gram, self.supports.cache.slots.shape[1]
        if len(old) < slots:
            self._gram = np.zeros((slots, slots))
            self._gram[: len(old), : len(old)] = old
        return self._gram

    def facts(self) -> KernelFacts:
        return self.supports.told(margin=self.beta)

    def state(self) -> State:
        return {"beta": self.beta, **state_of(self.supports)}

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(**arguments(state), beta=state["beta"])
        load(learner.supports, state)
        for slot in range(learner.size):
            learner.supports.compare_slot(slot)
            learner._table()[slot, : learner.size] = learner.supports.facts(ROW)
            learner._table()[slot, slot] = learner.supports.own_value(slot)  # as it was put in, not rounded as a K(z,x)
        return learner


def kernel() -> Any:
    """The compiled rule and sweep, imported at their first use: numba takes its time."""
    global _kernel
    if _kernel is None:
        from novikoff.kernels import tighter as _kernel
    return _kernel


_kernel: Any = None
