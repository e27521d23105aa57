"""The Forgetron: at most B supports; all shrink, and the oldest is forgotten.

Algorithm
    f = sum of sigma_i y_i K(x_i, .) over a list, first in, first out. Say +1 if f(x) >= 0, else -1. On a mistake
        (1) append the example with sigma = 1: f';  (2) multiply every sigma by phi in (0,1]: f'' = phi f';
        (3) if there are more than `budget` = B supports, remove the oldest, r.
    A removal costs Psi = lambda^2 K(r,r) + 2 lambda - 2 lambda mu, lambda being the sigma of r after shrinking and
    mu = y_r f''(x_r), in units where K(x,x) <= 1; Q is the sum so far. M counts the mistakes, this one included.
    Self-tuned: shrink only when one has to leave, by the largest phi in (0,1] that keeps Q <= (15/32) M.
    `basic`: shrink on every mistake, by phi = min((B+1)^(-1/(2(B+1))), U / ||f'||), U = sqrt((B+1) / ln(B+1)) / 4.
    ||f||^2 is kept: + 2 y f(x) + K(x,x), * phi^2, - 2 lambda mu + lambda^2 K(r,r).
    The shrinking depends on the scale of K: K is divided by `radius`^2, fixed before the first round. It is known for
    the rbf and for normalised kernels (1, or sqrt(1 + bias^2)); else it must be given: at least the length of every
    example in the feature space, or forgetron_theorem is void.
    `kernel`, `normalize_kernel` and `bias` as in kernel_perceptron.py.
Promise
    certificates/forgetron_pathwise.py: for every g in the feature space of K / radius^2, any budget,
    M <= ||g||^2 + 2 D + 2 ||g|| S1 + Q - S2, with sums S1, S2 over the run.
    certificates/forgetron_theorem.py: B >= 83 and ||g|| <= U, M <= 2 ||g||^2 + 4 D.
Cost
    `budget` values of K per round, twice that on a mistake; O(budget) examples of memory.
Reference
    [dekel2008].
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.forgetron_pathwise import forgetron_pathwise
from novikoff.certificates.forgetron_theorem import forgetron_theorem
from novikoff.certificates.kernel_facts import KernelFacts
from novikoff.comparators.kernel_riding import KernelRiding
from novikoff.errors import InputError, shown
from novikoff.learners.restoring import flag, read, require
from novikoff.learners.saved_supports import arguments, load, state_of
from novikoff.learners.supports import Row, Supports, checked_budget
from novikoff.similarity import Function, Similarity
from novikoff.types import Batch, Domain, Example, Label, State, Theorem


class Forgetron:
    """At most `budget` of the examples it got wrong, the older the lighter.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or whole numbers to
    numbers (learners/features.py).
    """

    promises: ClassVar[tuple[Theorem, ...]] = (forgetron_pathwise, forgetron_theorem)
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
        radius: float | None = None,
        basic: bool = False,
    ) -> None:
        self.domain = Domain("vector")
        self.similarity = Similarity.of(kernel, gamma, degree, constant, normalize_kernel, bias)
        self.supports = Supports(self.similarity, checked_budget(budget))
        self.features = self.supports.features
        self.basic = bool(basic)
        self._fix(radius_squared(radius, self.similarity))
        self._sums = np.zeros(7)  # of kernels/forgetron.py

    def _fix(self, radius2: float) -> None:
        """The constants of the rule."""
        if not 0.0 < radius2 < math.inf:
            raise InputError(f"a radius must be above 0 and finite, its square too: the square is {radius2}.")
        self.radius2 = radius2
        room = self.supports.most + 1
        least, bound = room ** (-0.5 / room), math.sqrt(room / math.log(room)) / 4.0
        self._law = (room - 1, radius2, not self.basic, least, bound)

    @property
    def norm2(self) -> float:
        """||f||^2, in units of K."""
        return float(self._sums[0]) * self.radius2

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
        return int(kernel().sweep(*rows, self._law, self._sums))

    def _learn(self, row: Row, y: np.int8, score: float, own: float) -> None:
        held = self.supports
        if (score < 0.0) == (y > 0):
            slot = kernel().next_slot(held.cache, held.most)
            held.reserve(slot, row)
            if slot < held.count:
                held.compare_slot(slot)
            kernel().add(held.cache, held.rule, *row, y, own, self._law, self._sums)

    def ride(self) -> KernelRiding:
        """Comparators to ride along with a game that begins now, in the same feature space."""
        return KernelRiding(self.similarity)

    def facts(self) -> KernelFacts:
        _, S1, S2, P, Lam, Q, largest = self._sums.tolist()
        return self.supports.told(
            radius2=self.radius2, S1=S1, S2=S2, P=P, Lam=Lam, Q=Q, largest=largest, tuned=not self.basic
        )

    def state(self) -> State:
        return {
            "radius2": self.radius2,
            "basic": self.basic,
            "sums": self._sums.copy(),
            **state_of(self.supports),
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(**arguments(state), radius=1.0, basic=flag(state, "basic"))
        learner._fix(read(state["radius2"], float, "radius2 must be a number"))
        load(learner.supports, state)
        sums = read(state["sums"], np.asarray, "sums must be an array")
        sound = sums.dtype == np.float64 and sums.shape == (7,) and not bool(np.any(np.isnan(sums)))
        require(sound, "sums must be seven numbers", sums.shape)
        learner._sums = sums.copy()
        return learner


def radius_squared(radius: float | None, similarity: Similarity) -> float:
    """R^2 as given, or as known in advance."""
    if radius is not None:
        if not isinstance(radius, (int, float, np.number)) or not radius > 0.0:
            raise InputError(f"a radius must be a number above 0: got {shown(radius)}.")
        return float(radius) * float(radius)
    if similarity.limit is None:
        raise InputError(
            f"a radius must be given for a kernel that is {similarity.kind}: got none. Pass at least sqrt(K(x,x)) of "
            "every example to come, or normalize_kernel=True."
        )
    return similarity.limit


def kernel() -> Any:
    """The compiled rule and sweep, imported at their first use: numba takes its time."""
    global _kernel
    if _kernel is None:
        from novikoff.kernels import forgetron as _kernel
    return _kernel


_kernel: Any = None
