"""Crammer, Kandola and Singer's Perceptron: remove the support that the others classify with the largest margin.

Algorithm
    f = sum of y_i K(x_i, .) over a list of supports. Predict +1 if f(x) >= 0, else -1. Insert the example on a mistake,
    or, with `beta` > 0, whenever y f(x) <= beta. The margin of support j under the others is
        m_j = y_j (f(x_j) - y_j K(x_j, x_j)).
    If there are `budget` supports already, the one with the largest m_j is removed first. With `distill`, after an
    insertion, the support with the largest m_j is removed as long as that is above beta. (Not "at least beta": an
    example whose score was 0 would be removed at once, and nothing would ever be learned.) On a tie the oldest is
    removed. A `budget` of None is no limit.
    `kernel`, `normalize_kernel` and `bias` as in kernel_perceptron.py; linear unless a kernel is named.
Promise
    A heuristic: no mistake bound is known. With `distill`, at most (R^2 + beta)/margin^2 supports
    (kernel/theorems/cks_cache.py).
Cost
    One value of K per support and round, twice that per removal; O(supports) examples of memory.
Reference
    [crammer2004].
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.state import Argument, Array
from novikoff.core.types import State, Theorem
from novikoff.kernel import _loops
from novikoff.kernel._loops.cache import FITS
from novikoff.kernel.kernel_learner import KernelLearner, Played, Row
from novikoff.kernel.kernels import Function, Kernel
from novikoff.kernel.supports import checked_beta, checked_budget
from novikoff.kernel.theorems.cks_cache import cks_cache


class CrammerKandolaSinger(KernelLearner):
    """Kernel Perceptron that removes the supports which the others classify with the largest margin.

    Args:
        budget: Largest number of supports; None for no limit.
        kernel: "linear", "polynomial" or "rbf", or a function K(z, x) of two arrays, which is slow; None for "linear",
            or for the kernel that has the parameter given.
        gamma: Width parameter of the rbf kernel exp(-gamma ||x-z||^2); 1 if only the kernel is named.
        degree: Degree of the polynomial kernel (constant + <x,z>)^degree; 2 if only the kernel is named.
        constant: Constant of the polynomial kernel; 1 if only the kernel is named.
        normalize_kernel: Whether to divide K(x,z) by sqrt(K(x,x) K(z,z)).
        bias: Value c of a constant feature; adds c^2 to the kernel.
        beta: Margin at or below which an example is inserted; 0 inserts on mistakes.
        distill: Whether to remove, after each insertion, all supports with a margin above beta under the others.

    Guarantee:
        A heuristic without a mistake bound. With `distill`, at most (R^2 + beta)/margin^2 supports (`cks_cache`).

    Example:
        >>> import novikoff as nk
        >>> xor = [([0.0, 0.0], -1), ([1.0, 0.0], 1), ([0.0, 1.0], 1), ([1.0, 1.0], -1)]
        >>> nk.play(nk.CrammerKandolaSinger(budget=4, kernel="rbf"), xor * 5).mistakes
        4
    """

    promises: ClassVar[tuple[Theorem, ...]] = (cks_cache,)
    fields = (
        Argument("budget", int | None),
        Argument("beta", float),
        Argument("distill", bool),
        *KernelLearner.fields,
        Array("fits", ("size",), finite=False, assigned=False),
    )
    conservative = False

    def __init__(
        self, budget: int | None = 100, kernel: str | Function | None = None, gamma: float | None = None,
        degree: int | None = None, constant: float | None = None, normalize_kernel: bool = False, bias: float = 0.0,
        beta: float = 0.0, distill: bool = False,
    ) -> None:  # fmt: skip
        similarity = Kernel.named(kernel, gamma, degree, constant, normalize_kernel, bias)
        super().__init__(similarity, None if budget is None else checked_budget(budget))
        self.beta, self.distill = checked_beta(beta), bool(distill)

    def _learn_many(self, *rows: *Played) -> int:
        return _loops.crammer_kandola_singer.learn_many(*rows, (self.supports.most, self.beta, self.distill))

    def _insert(self, row: Row, y: int, self_value: float) -> None:
        held, rule, full = self.supports, _loops.crammer_kandola_singer, self.size >= self.supports.most
        held.reserve(held.count - full, row[0], row[2])
        if full:
            self._leave(rule.best(held.cache, held.rule), row[2])
        rule.enter(held.cache, held.rule, *row, y, self_value)
        while self.distill and held.count > 1:
            slot = rule.best(held.cache, held.rule)
            if not rule.margin_without(held.cache, held.rule, slot) > self.beta:
                break
            self._leave(slot, row[2])

    def _leave(self, slot: int, width: int) -> None:
        self.supports.compare_slot(slot)
        _loops.crammer_kandola_singer.leave(self.supports.cache, slot, width)

    def _more_facts(self) -> dict[str, Any]:
        return {"margin": self.beta, "distilled": self.distill}

    @property
    def fits(self) -> NDArray[np.float64]:
        """Score f(z) of each support z."""
        return self.supports.facts(FITS)

    def after_restoring(self, found: State) -> None:
        self.supports.cache.slots[FITS, : self.size] = found["fits"]
