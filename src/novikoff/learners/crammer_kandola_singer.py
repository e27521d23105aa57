"""Crammer, Kandola and Singer's Perceptron: the support that the others get most right makes room.

Algorithm
    f = sum of y_i K(x_i, .) over a list of supports. Say +1 if f(x) >= 0, else -1. Insert the example on a mistake, or,
    with `beta` > 0, whenever y f(x) <= beta. How right the others are about support j is
        m_j = y_j (f(x_j) - y_j K(x_j, x_j)).
    With `budget` supports, that with the largest m_j leaves first. `distill`: after an insertion, while some m_j is
    above beta, that with the largest leaves. (Not "at least beta": an example whose score was 0 would leave at once,
    and nothing would ever be learned.) Of equal ones the oldest leaves. `budget` none: no limit.
    `kernel`, `normalize_kernel` and `bias` as in kernel_perceptron.py.
Promise
    A heuristic: no mistake bound is known. With `distill`, at most (R^2 + beta)/margin^2 supports
    (certificates/cks_cache.py).
Cost
    A value of K for each support per round, twice that for each that leaves; O(supports) examples of memory.
Reference
    [crammer2004].
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.cks_cache import cks_cache
from novikoff.certificates.kernel_facts import KernelFacts
from novikoff.comparators.kernel_riding import KernelRiding
from novikoff.learners.restoring import flag, read, require
from novikoff.learners.saved_supports import arguments, load, state_of
from novikoff.learners.supports import FITS, Row, Supports, checked_beta, checked_budget
from novikoff.similarity import Function, Similarity
from novikoff.types import Batch, Domain, Example, Label, State, Theorem


class CrammerKandolaSinger:
    """Examples it got wrong, without those that the others get right.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or whole numbers to
    numbers (learners/features.py).
    """

    promises: ClassVar[tuple[Theorem, ...]] = (cks_cache,)
    labels: int | None = None

    def __init__(
        self,
        budget: int | None = 100,
        kernel: str | Function = "rbf",
        gamma: float = 1.0,
        degree: int = 2,
        constant: float = 1.0,
        normalize_kernel: bool = False,
        bias: float = 0.0,
        beta: float = 0.0,
        distill: bool = False,
    ) -> None:
        self.domain = Domain("vector")
        self.similarity = Similarity.of(kernel, gamma, degree, constant, normalize_kernel, bias)
        self.supports = Supports(self.similarity, None if budget is None else checked_budget(budget))
        self.features = self.supports.features
        self.beta, self.distill = checked_beta(beta), bool(distill)
        self._law = (self.supports.most, self.beta, self.distill)

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
        return int(kernel().sweep(*rows, self._law))

    def _learn(self, row: Row, y: np.int8, score: float, own: float) -> None:
        held = self.supports
        if kernel().inserts(score, y, self.beta):
            full = held.count >= held.most
            held.reserve(held.count - full, row)
            if full:
                self._leave(kernel().best(held.cache, held.rule), row[2])
            kernel().enter(held.cache, held.rule, *row, y, own)
            while self.distill and held.count > 1:
                slot = kernel().best(held.cache, held.rule)
                if not kernel().margin_without(held.cache, held.rule, slot) > self.beta:
                    break
                self._leave(slot, row[2])

    def _leave(self, slot: int, width: int) -> None:
        self.supports.compare_slot(slot)
        kernel().leave(self.supports.cache, slot, width)

    def ride(self) -> KernelRiding:
        """Comparators to ride along with a game that begins now, in the same feature space."""
        return KernelRiding(self.similarity)

    def facts(self) -> KernelFacts:
        return self.supports.told(margin=self.beta, distilled=self.distill)

    def state(self) -> State:
        return {
            "beta": self.beta,
            "distill": self.distill,
            "fits": self.supports.facts(FITS),
            **state_of(self.supports),
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(**arguments(state), beta=state["beta"], distill=flag(state, "distill"))
        load(learner.supports, state)
        fits = read(state["fits"], np.asarray, "fits must be an array")
        require(fits.dtype == np.float64 and fits.shape == (learner.size,), "fits must be a number each", fits.shape)
        if learner.size:
            learner.supports.cache.slots[FITS, : learner.size] = fits
        return learner


def kernel() -> Any:
    """The compiled rule and sweep, imported at their first use: numba takes its time."""
    global _kernel
    if _kernel is None:
        from novikoff.kernels import crammer_kandola_singer as _kernel
    return _kernel


_kernel: Any = None
