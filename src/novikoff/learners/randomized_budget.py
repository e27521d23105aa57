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

from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.kernel_facts import KernelFacts
from novikoff.certificates.rbp_expected import rbp_expected
from novikoff.certificates.rbp_no_eviction import rbp_no_eviction
from novikoff.comparators.kernel_riding import KernelRiding
from novikoff.errors import InputError, shown
from novikoff.kernels.coins import MASK, mix, purpose_word
from novikoff.learners.saved_supports import arguments, load, state_of
from novikoff.learners.supports import Row, Supports, checked_budget, is_whole
from novikoff.similarity import Function, Similarity
from novikoff.types import Batch, Domain, Example, Label, State, Theorem


class RandomizedBudgetPerceptron:
    """At most `budget` of the examples it got wrong.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or whole numbers to
    numbers (learners/features.py).
    """

    promises: ClassVar[tuple[Theorem, ...]] = (rbp_no_eviction, rbp_expected)
    labels: int | None = None
    conservative = True

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
        self.supports = Supports(self.similarity, checked_budget(budget))
        self.features = self.supports.features
        if not is_whole(seed):
            raise InputError(f"a seed must be a whole number: got {shown(seed)}.")
        self.seed = int(seed)
        self._coins = np.uint64(mix((self.seed & MASK) ^ purpose_word("eviction")))

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
        return int(kernel().sweep(*rows, self.supports.most, self._coins))

    def _learn(self, row: Row, y: np.int8, score: float, own: float) -> None:
        if (score < 0.0) == (y > 0):
            while not kernel().add(self.supports.cache, *row, y, own, self.supports.most, self._coins):
                self.supports.make_room(row[0], row[2])

    def ride(self) -> KernelRiding:
        """Comparators to ride along with a game that begins now, in the same feature space."""
        return KernelRiding(self.similarity)

    def facts(self) -> KernelFacts:
        return self.supports.told()

    def state(self) -> State:
        return {"seed": self.seed, **state_of(self.supports)}

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(**arguments(state), seed=state["seed"])
        load(learner.supports, state)
        return learner


def kernel() -> Any:
    """The compiled rule and sweep, imported at their first use: numba takes its time."""
    global _kernel
    if _kernel is None:
        from novikoff.kernels import randomized_budget as _kernel
    return _kernel


_kernel: Any = None
