"""The kernel Perceptron: keep the examples you got wrong.

Algorithm
    f_1 = 0.  Say +1 if f_t(x_t) >= 0, else -1.  On a mistake, f_{t+1} = f_t + y_t K(x_t, .): the example becomes a
    support. The same example with the same label, wrong again, counts once more in its support's coefficient; so the
    coefficients are whole numbers, and their sizes add up to the mistakes. A score beyond the doubles, infinite minus
    infinite, says +1.
    `kernel`: linear, polynomial (constant + <x,z>)^degree, rbf exp(-gamma ||x-z||^2), or a function of two arrays,
    which is slow. `normalize_kernel` divides by sqrt(K(x,x) K(z,z)), then `bias` c adds c^2 (similarity.py).
Promise
    The Perceptron's theorems in the feature space of K. certificates/kernel_hinge.py: for every u in it,
    M <= D + a^2/2 + a sqrt(D + a^2/4), D its hinge loss and a = R ||u||. certificates/kernel_margin.py:
    M <= R^2/margin^2 where some u separates. certificates/kernel_squared_hinge.py: M <= (a + sqrt Q)^2.
Cost
    A value of K for each support per round: time and memory grow with the mistakes. Learners with a budget do not:
    randomized_budget.py, forgetron.py.
Reference
    [aizerman1964]; [freund1999].
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.kernel_facts import KernelFacts
from novikoff.certificates.kernel_hinge import kernel_hinge
from novikoff.certificates.kernel_margin import kernel_margin
from novikoff.certificates.kernel_squared_hinge import kernel_squared_hinge
from novikoff.comparators.kernel_riding import KernelRiding
from novikoff.learners.saved_supports import load, state_of
from novikoff.learners.supports import Row, Supports
from novikoff.similarity import Function, Similarity
from novikoff.types import Batch, Domain, Example, Label, State, Theorem


class KernelPerceptron:
    """A support for each example it got wrong.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or whole numbers to
    numbers (learners/features.py).
    """

    promises: ClassVar[tuple[Theorem, ...]] = (kernel_hinge, kernel_margin, kernel_squared_hinge)
    labels: int | None = None
    conservative = True

    def __init__(
        self,
        kernel: str | Function = "rbf",
        gamma: float = 1.0,
        degree: int = 2,
        constant: float = 1.0,
        normalize_kernel: bool = False,
        bias: float = 0.0,
    ) -> None:
        self.domain = Domain("vector")
        self.similarity = Similarity.of(kernel, gamma, degree, constant, normalize_kernel, bias)
        self.supports = Supports(self.similarity)
        self.features = self.supports.features

    size = property(attrgetter("supports.count"), doc="Supports held.")
    updates = property(attrgetter("supports.updates"), doc="Mistakes learned from.")
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
        return int(kernel().sweep(*rows))

    def _learn(self, row: Row, y: np.int8, score: float, own: float) -> None:
        if (score < 0.0) == (y > 0):
            while not kernel().add(self.supports.cache, *row, y, own):
                self.supports.make_room(row[0], row[2])

    def ride(self) -> KernelRiding:
        """Comparators to ride along with a game that begins now, in the same feature space."""
        return KernelRiding(self.similarity)

    def facts(self) -> KernelFacts:
        return self.supports.told()

    def state(self) -> State:
        return state_of(self.supports)

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(**Similarity.restore(state["supports"]["similarity"]).arguments())
        load(learner.supports, state)
        return learner


def kernel() -> Any:
    """The compiled rule and sweep, imported at their first use: numba takes its time."""
    global _kernel
    if _kernel is None:
        from novikoff.kernels import kernel_perceptron as _kernel
    return _kernel


_kernel: Any = None
