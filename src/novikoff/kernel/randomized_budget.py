"""Randomized Budget Perceptron: at most B supports; a full budget removes a random one.

Algorithm
    The kernel Perceptron with a list of at most `budget` supports. Predict +1 if f_t(x_t) >= 0, else -1. On a mistake
    with a full list a uniformly random support is removed; then the example becomes a support. The same example twice
    is two supports. Predictions are deterministic: the coins (numerics/coins.py, purpose "eviction", the number of the
    mistake) are used by removals only, so the same seed gives the same game. `kernel`, `normalize_kernel` and `bias` as
    in kernel_perceptron.py; linear unless a kernel is named. rbp:budget=B,scale=none plays as in the lecture notes.
Promise
    kernel/theorems/rbp_no_eviction.py: without a removal it is the kernel Perceptron, with its bounds.
    kernel/theorems/rbp_expected.py: on streams fixed in advance, for every u with rho = R ||u|| / sqrt(B) < 1,
    E[M] <= (D + rho B/4) / (1 - rho).
Cost
    `budget` values of K per round, plus O(1) on a mistake; O(budget) examples of memory.
Reference
    [cesabianchi2006b]; [cavallanti2007].
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument, require
from novikoff.core.types import State, Theorem
from novikoff.kernel import _loops
from novikoff.kernel.kernel_learner import KernelLearner, Played, Row
from novikoff.kernel.kernels import Function, Kernel
from novikoff.kernel.proofs import RandomizedBudgetProof
from novikoff.kernel.supports import checked_budget, is_integer
from novikoff.kernel.theorems.rbp_expected import rbp_expected
from novikoff.kernel.theorems.rbp_no_eviction import rbp_no_eviction
from novikoff.numerics.coins import start


class RandomizedBudgetPerceptron(KernelLearner):
    """Kernel Perceptron on a budget that removes a random support when it is full.

    Args:
        budget: Largest number of supports.
        kernel: "linear", "polynomial" or "rbf", or a function K(z, x) of two arrays, which is slow; None for "linear",
            or for the kernel that has the parameter given.
        gamma: Width parameter of the rbf kernel exp(-gamma ||x-z||^2); 1 if only the kernel is named.
        degree: Degree of the polynomial kernel (constant + <x,z>)^degree; 2 if only the kernel is named.
        constant: Constant of the polynomial kernel; 1 if only the kernel is named.
        normalize_kernel: Whether to divide K(x,z) by sqrt(K(x,x) K(z,z)).
        bias: Value c of a constant feature; adds c^2 to the kernel.
        seed: Seed of the removals.

    Guarantee:
        Without a removal, the bounds of the kernel Perceptron (`rbp_no_eviction`). On streams fixed in advance, for
        every u with rho = R ||u|| / sqrt(B) < 1 and total hinge loss D, E[M] <= (D + rho B/4) / (1 - rho)
        (`rbp_expected`).

    Example:
        >>> import novikoff as nk
        >>> xor = [([0.0, 0.0], -1), ([1.0, 0.0], 1), ([0.0, 1.0], 1), ([1.0, 1.0], -1)]
        >>> nk.play(nk.RandomizedBudgetPerceptron(budget=4, kernel="rbf"), xor * 5).mistakes
        4
    """

    seed: int

    promises: ClassVar[tuple[Theorem, ...]] = (rbp_no_eviction, rbp_expected)
    additive = True
    fields = (Argument("budget", int), Argument("seed", int), *KernelLearner.fields)

    def __init__(
        self, budget: int = 100, kernel: str | Function | None = None, gamma: float | None = None,
        degree: int | None = None, constant: float | None = None, normalize_kernel: bool = False, bias: float = 0.0,
        seed: int = 0,
    ) -> None:  # fmt: skip
        similarity = Kernel.named(kernel, gamma, degree, constant, normalize_kernel, bias)
        super().__init__(similarity, checked_budget(budget))
        if not is_integer(seed):
            raise InputError(f"a seed must be an integer: got {shown(seed)}.")
        self.seed = int(seed)
        self._coins: Any = np.uint64(start(self.seed, "eviction"))

    def after_restoring(self, found: State) -> None:
        held = self.supports
        require(
            held.evictions == 0 or held.count == held.most, "supports may be removed only from a full list", held.count
        )

    def proof(self) -> RandomizedBudgetProof:
        return RandomizedBudgetProof(self)

    def _learn_many(self, *rows: *Played) -> int:
        return _loops.randomized_budget.learn_many(*rows, self.supports.most, self._coins)

    def _insert(self, row: Row, y: int, self_value: float) -> None:
        held = self.supports
        while not _loops.randomized_budget.add(held.cache, *row, y, self_value, held.most, self._coins):
            held.make_room(row[0], row[2])
