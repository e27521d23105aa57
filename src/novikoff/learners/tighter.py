"""The tighter Perceptron: the support that the others can best do without makes room.

Algorithm
    f = sum of y_i K(x_i, .) over a list of supports. Say +1 if f(x) >= 0, else -1. Insert the example on a mistake, or,
    with `beta` > 0, whenever y f(x) <= beta. With `budget` supports, first that j leaves for which the fewest of all
    supports k, j too, have sign(f(x_k) - y_j K(x_j, x_k)) != y_k; of equal ones the oldest. (Weston, Bordes and Bottou
    may count on examples that are not kept; here it is on the supports.)
    `kernel`, `normalize_kernel` and `bias` as in kernel_perceptron.py.
Promise
    None: no bound on its mistakes is known.
Cost
    `budget` values of K per round, O(budget^2) time for each that leaves; O(budget) examples and O(budget^2) numbers.
Reference
    [weston2005].
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.kernel_facts import KernelFacts
from novikoff.learners.features import Features
from novikoff.learners.restoring import whole_number
from novikoff.learners.supports import ROW, Supports, checked_beta, checked_budget
from novikoff.similarity import Function, Similarity
from novikoff.types import Batch, Domain, Example, Label, State, Theorem, check_label


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
        self.features = Features()
        self.supports = Supports(self.similarity, checked_budget(budget))
        self.beta = checked_beta(beta)
        self._gram = np.zeros((0, 0))  # K of every two slots
        self.rounds = 0

    @property
    def size(self) -> int:
        """Supports held."""
        return self.supports.count

    @property
    def updates(self) -> int:
        """Examples ever inserted."""
        return self.supports.updates

    def predict_one(self, x: Example) -> Label:
        return -1 if self.score_one(x) < 0.0 else 1

    def score_one(self, x: Example) -> float:
        """f(x), the number whose sign is said."""
        return self.supports.score(self.features.row(x, learn=False))

    def learn_one(self, x: Example, y: Label) -> None:
        self.play_one(x, y)

    def play_one(self, x: Example, y: Label) -> Label:
        """Predict, then learn, looking at x once."""
        label = np.array([check_label(y, None)], dtype=np.int8)
        return int(self._play(self.supports.one(self.features.row(x, learn=True)), label)[0])

    def sweep(self, batch: Batch) -> NDArray[np.int8]:
        """Predict and learn every row in order, compiled."""
        rows = self.supports.batch(batch, self.features)
        return self._play(rows, np.array(batch.y, dtype=np.int8))

    def _play(self, rows: Any, y: NDArray[np.int8]) -> NDArray[np.int8]:
        held = self.supports
        if held.own:
            predictions = self._play_own(rows, y)
        else:
            predictions = held.play(rows, y, lambda t, said: kernel().sweep(
                held.cache, held.rule, rows, y, t, said, held.most, self.beta, self._table()))  # fmt: skip
        self.rounds += len(y)
        return predictions

    def _table(self) -> NDArray[np.float64]:
        """K of every two slots, with room for as many as there are."""
        old, slots = self._gram, self.supports.cache.slots.shape[1]
        if len(old) < slots:
            self._gram = np.zeros((slots, slots))
            self._gram[: len(old), : len(old)] = old
        return self._gram

    def _play_own(self, rows: Any, y: NDArray[np.int8]) -> NDArray[np.int8]:
        """The same rule, with the values of the user's function."""
        held, predictions = self.supports, np.ones(len(y), dtype=np.int8)
        for t, row in enumerate(held.pieces(rows, len(y))):
            own, score = held.compare(*row), held.score_of()
            predictions[t] = -1 if score < 0.0 else 1
            if kernel().inserts(score, y[t], self.beta):
                while not kernel().add(held.cache, held.rule, *row, y[t], own, held.most, self._table()):
                    held.make_room(row[0], row[2])
        return predictions

    def facts(self) -> KernelFacts:
        return KernelFacts(
            rounds=self.rounds,
            updates=self.updates,
            supports=self.size,
            evictions=self.supports.evictions,
            budget=self.supports.budget,
            similarity=self.similarity,
            empty=self.size == 0,
            margin=self.beta,
        )

    def state(self) -> State:
        return {
            "beta": self.beta,
            "rounds": self.rounds,
            "features": self.features.state(),
            "supports": self.supports.state(),
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        similarity = Similarity.restore(state["supports"]["similarity"])
        learner = cls(state["supports"]["budget"], **similarity.arguments(), beta=state["beta"])
        learner.rounds = whole_number(state, "rounds")
        learner.features.load(state["features"])
        learner.supports.load(state["supports"], learner.features)
        for slot in range(learner.size):
            learner.supports.compare_slot(slot)
            learner._table()[slot, : learner.size] = learner.supports.facts(ROW)
        return learner


def kernel() -> Any:
    """The compiled rule and sweep, imported at their first use: numba takes its time."""
    global _kernel
    if _kernel is None:
        from novikoff.kernels import tighter as _kernel
    return _kernel


_kernel: Any = None
