"""The Randomized Budget Perceptron: at most B supports; a random one makes room.

Algorithm
    The kernel Perceptron with a list of at most `budget` supports. Say +1 if f_t(x_t) >= 0, else -1. On a mistake with
    a full list a uniformly random support leaves, each with chance 1/B; then the example becomes a support. The same
    example twice is two supports. Predictions draw nothing: the coins (kernels/coins.py, purpose "eviction", the number
    of the mistake) are used by removals only, so with the same seed it is the same game.
    `kernel`, `normalize_kernel` and `bias` as in kernel_perceptron.py.
Promise
    certificates/rbp_no_eviction.py: while nothing had to leave, it is the kernel Perceptron, and so are its bounds.
    certificates/rbp_expected.py: on streams fixed in advance, for every u with rho = R ||u|| / sqrt(B) < 1,
    E[M] <= (D + rho B/4) / (1 - rho).
Cost
    `budget` values of K per round, O(1) besides on a mistake; O(budget) examples of memory.
Reference
    [cesabianchi2006b]; [cavallanti2007].
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.kernel_facts import KernelFacts
from novikoff.certificates.rbp_expected import rbp_expected
from novikoff.certificates.rbp_no_eviction import rbp_no_eviction
from novikoff.comparators.kernel_riding import KernelRiding
from novikoff.kernels.coins import MASK, mix, purpose_word
from novikoff.learners.features import Features
from novikoff.learners.restoring import whole_number
from novikoff.learners.supports import Supports, checked_budget
from novikoff.similarity import Function, Similarity
from novikoff.types import Batch, Domain, Example, Label, State, Theorem, check_label


class RandomizedBudgetPerceptron:
    """At most `budget` of the examples it got wrong.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or whole numbers to
    numbers (learners/features.py).
    """

    promises: ClassVar[tuple[Theorem, ...]] = (rbp_no_eviction, rbp_expected)
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
        seed: int = 0,
    ) -> None:
        self.domain = Domain("vector")
        self.similarity = Similarity.of(kernel, gamma, degree, constant, normalize_kernel, bias)
        self.features = Features()
        self.supports = Supports(self.similarity, checked_budget(budget))
        self.seed = int(seed)
        self._coins = np.uint64(mix((self.seed & MASK) ^ purpose_word("eviction")))
        self.rounds = 0

    @property
    def size(self) -> int:
        """Supports held."""
        return self.supports.count

    @property
    def updates(self) -> int:
        """Mistakes learned from."""
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
                held.cache, held.rule, rows, y, t, said, held.most, self._coins))  # fmt: skip
        self.rounds += len(y)
        return predictions

    def _play_own(self, rows: Any, y: NDArray[np.int8]) -> NDArray[np.int8]:
        """The same rule, with the values of the user's function."""
        held, predictions = self.supports, np.ones(len(y), dtype=np.int8)
        for t, row in enumerate(held.pieces(rows, len(y))):
            own = held.compare(*row)
            predictions[t] = -1 if held.score_of() < 0.0 else 1
            if predictions[t] != y[t]:
                while not kernel().add(held.cache, *row, y[t], own, held.most, self._coins):
                    held.make_room(row[0], row[2])
        return predictions

    def ride(self) -> KernelRiding:
        """Comparators to ride along with a game that begins now, in the same feature space."""
        return KernelRiding(self.similarity)

    def facts(self) -> KernelFacts:
        return KernelFacts(
            rounds=self.rounds,
            updates=self.updates,
            supports=self.size,
            evictions=self.supports.evictions,
            budget=self.supports.budget,
            similarity=self.similarity,
            empty=self.size == 0,
        )

    def state(self) -> State:
        return {
            "seed": self.seed,
            "rounds": self.rounds,
            "features": self.features.state(),
            "supports": self.supports.state(),
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        similarity = Similarity.restore(state["supports"]["similarity"])
        learner = cls(state["supports"]["budget"], **similarity.arguments(), seed=state["seed"])
        learner.rounds = whole_number(state, "rounds")
        learner.features.load(state["features"])
        learner.supports.load(state["supports"], learner.features)
        return learner


def kernel() -> Any:
    """The compiled rule and sweep, imported at their first use: numba takes its time."""
    global _kernel
    if _kernel is None:
        from novikoff.kernels import randomized_budget as _kernel
    return _kernel


_kernel: Any = None
