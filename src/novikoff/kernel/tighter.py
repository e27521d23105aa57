"""Tighter Perceptron: remove the support whose removal causes the fewest mistakes on the supports.

Algorithm
    f = sum of y_i K(x_i, .) over a list of supports. Predict +1 if f(x) >= 0, else -1. Insert the example on a mistake,
    or, with `beta` > 0, whenever y f(x) <= beta. With `budget` supports, first remove the j for which the fewest of all
    supports k, j included, have sign(f(x_k) - y_j K(x_j, x_k)) != y_k; on a tie the oldest. (Weston, Bordes and Bottou
    allow counting on examples that are not stored; here only supports are counted.)
    `kernel`, `normalize_kernel` and `bias` as in kernel_perceptron.py; linear unless a kernel is named.
Promise
    A heuristic: no mistake bound is known.
Cost
    `budget` values of K per round, O(budget^2) time per removal; O(budget) examples and O(budget^2) numbers.
Reference
    [weston2005].
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.state import Argument
from novikoff.core.types import State, Theorem
from novikoff.kernel import _loops
from novikoff.kernel.kernel_learner import KernelLearner, Played, Row
from novikoff.kernel.kernels import Function, Kernel
from novikoff.kernel.supports import checked_beta, checked_budget


class TighterPerceptron(KernelLearner):
    """Kernel Perceptron on a budget that removes the support whose removal causes the fewest mistakes.

    Args:
        budget: Largest number of supports.
        kernel: "linear", "polynomial" or "rbf", or a function K(z, x) of two arrays, which is slow; None for "linear",
            or for the kernel that has the parameter given.
        gamma: Width parameter of the rbf kernel exp(-gamma ||x-z||^2); 1 if only the kernel is named.
        degree: Degree of the polynomial kernel (constant + <x,z>)^degree; 2 if only the kernel is named.
        constant: Constant of the polynomial kernel; 1 if only the kernel is named.
        normalize_kernel: Whether to divide K(x,z) by sqrt(K(x,x) K(z,z)).
        bias: Value c of a constant feature; adds c^2 to the kernel.
        beta: Margin at or below which an example is inserted; 0 inserts on mistakes.

    Guarantee:
        None: a heuristic without a known mistake bound.

    Example:
        >>> import novikoff as nk
        >>> xor = [([0.0, 0.0], -1), ([1.0, 0.0], 1), ([0.0, 1.0], 1), ([1.0, 1.0], -1)]
        >>> nk.play(nk.TighterPerceptron(budget=4, kernel="rbf"), xor * 5).mistakes
        4
    """

    promises: ClassVar[tuple[Theorem, ...]] = ()
    fields = (Argument("budget", int), Argument("beta", float), *KernelLearner.fields)
    conservative = False

    def __init__(
        self, budget: int = 100, kernel: str | Function | None = None, gamma: float | None = None,
        degree: int | None = None, constant: float | None = None, normalize_kernel: bool = False, bias: float = 0.0,
        beta: float = 0.0,
    ) -> None:  # fmt: skip
        similarity = Kernel.named(kernel, gamma, degree, constant, normalize_kernel, bias)
        super().__init__(similarity, checked_budget(budget))
        self.beta = checked_beta(beta)
        self._gram = np.zeros((0, 0))  # K of every pair of slots

    def _learn_many(self, *rows: *Played) -> int:
        return _loops.tighter.learn_many(*rows, self.supports.most, self.beta, self._table())

    def _insert(self, row: Row, y: int, self_value: float) -> None:
        held = self.supports
        while not _loops.tighter.add(held.cache, held.rule, *row, y, self_value, held.most, self._table()):
            held.make_room(row[0], row[2])

    def _table(self) -> NDArray[np.float64]:
        """Return K of every pair of slots, with room for every slot."""
        old, slots = self._gram, self.supports.cache.slots.shape[1]
        if len(old) < slots:
            self._gram = np.zeros((slots, slots))
            self._gram[: len(old), : len(old)] = old
        return self._gram

    def _more_facts(self) -> dict[str, Any]:
        return {"margin": self.beta}

    def after_restoring(self, found: State) -> None:
        table, held = self._table(), self.supports
        for slot in range(held.count):
            table[slot, : held.count] = held.compare_slot(slot)
            table[slot, slot] = held.self_value(slot)  # as on insertion; K(z,x) at x = z may round differently
