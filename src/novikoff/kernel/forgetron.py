"""Forgetron: at most B supports; all coefficients shrink, and the oldest support is removed.

Algorithm
    f = sum of sigma_i y_i K(x_i, .) over a list, first in, first out. Predict +1 if f(x) >= 0, else -1. On a mistake
        (1) append the example with sigma = 1: f';  (2) multiply every sigma by phi in (0,1]: f'' = phi f';
        (3) if there are more than `budget` = B supports, remove the oldest, r.
    A removal costs Psi = lambda^2 K(r,r) + 2 lambda - 2 lambda mu, lambda being the sigma of r after shrinking and
    mu = y_r f''(x_r), in units where K(x,x) <= 1; Q is the sum so far. M counts the mistakes, this one included.
    Self-tuned: shrink only when a support is removed, by the largest phi in (0,1] that keeps Q <= (15/32) M.
    `basic`: shrink on every mistake, by phi = min((B+1)^(-1/(2(B+1))), U / ||f'||), U = sqrt((B+1) / ln(B+1)) / 4.
    ||f||^2 is updated in three steps: + 2 y f(x) + K(x,x), then * phi^2, then - 2 lambda mu + lambda^2 K(r,r).
    Shrinking depends on the scale of K, so K is divided by `radius`^2, which is fixed before the first round. It is
    known for the rbf and for normalised kernels: 1, or sqrt(1 + bias^2). Otherwise pass a radius that no example
    exceeds in the feature space, or forgetron_theorem is void.
    `kernel`, `normalize_kernel` and `bias` as in kernel_perceptron.py; linear unless a kernel is named.
Promise
    kernel/theorems/forgetron_pathwise.py: for every g in the feature space of K / radius^2, any budget,
    M <= ||g||^2 + 2 D + 2 ||g|| S1 + Q - S2, with sums S1, S2 over the run.
    kernel/theorems/forgetron_theorem.py: B >= 83 and ||g|| <= U, M <= 2 ||g||^2 + 4 D.
Cost
    `budget` values of K per round, twice that on a mistake; O(budget) examples of memory.
Reference
    [dekel2008].
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument, Array, require
from novikoff.core.types import State, Theorem
from novikoff.kernel import _loops
from novikoff.kernel.kernel_learner import KernelLearner, Played, Row
from novikoff.kernel.kernels import Function, Kernel
from novikoff.kernel.proofs import ForgetronProof
from novikoff.kernel.supports import checked_budget
from novikoff.kernel.theorems.forgetron_pathwise import forgetron_pathwise
from novikoff.kernel.theorems.forgetron_theorem import forgetron_theorem

SUMS = ("norm2", "S1", "S2", "P", "Lam", "Q", "largest")
"""Names of the stored sums, as in kernel/_loops/forgetron.py: ||f||^2 and the sums of the theorems."""


class Forgetron(KernelLearner):
    """Kernel Perceptron on a budget that shrinks its coefficients and removes the oldest support.

    Args:
        budget: Largest number of supports.
        kernel: "linear", "polynomial" or "rbf", or a function K(z, x) of two arrays, which is slow; None for "linear",
            or for the kernel that has the parameter given.
        gamma: Width parameter of the rbf kernel exp(-gamma ||x-z||^2); 1 if only the kernel is named.
        degree: Degree of the polynomial kernel (constant + <x,z>)^degree; 2 if only the kernel is named.
        constant: Constant of the polynomial kernel; 1 if only the kernel is named.
        normalize_kernel: Whether to divide K(x,z) by sqrt(K(x,x) K(z,z)).
        bias: Value c of a constant feature; adds c^2 to the kernel.
        radius: At least sqrt(K(x,x)) of every example; None where it is known (rbf and normalised kernels). With
            neither a kernel nor a radius the kernel is linear and normalised: examples of length 1.
        basic: Whether to shrink on every mistake by the fixed formula, instead of only when a support is removed.

    Guarantee:
        For every g in the kernel's feature space with total hinge loss D, at most
        ||g||^2 + 2 D + 2 ||g|| S1 + Q - S2 mistakes, with sums S1, S2, Q over the run (`forgetron_pathwise`); with a
        budget of at least 83 and a short g, at most 2 ||g||^2 + 4 D (`forgetron_theorem`).

    Example:
        >>> import novikoff as nk
        >>> xor = [([0.0, 0.0], -1), ([1.0, 0.0], 1), ([0.0, 1.0], 1), ([1.0, 1.0], -1)]
        >>> nk.play(nk.Forgetron(budget=4, kernel="rbf"), xor * 5).mistakes
        4
    """

    promises: ClassVar[tuple[Theorem, ...]] = (forgetron_pathwise, forgetron_theorem)
    fields = (
        Argument("budget", int),
        Argument("radius", float | None),
        Argument("basic", bool),
        *KernelLearner.fields,
        Array("sums", (len(SUMS),), finite=False, at="_sums"),
    )

    def __init__(
        self, budget: int = 100, kernel: str | Function | None = None, gamma: float | None = None,
        degree: int | None = None, constant: float | None = None, normalize_kernel: bool = False, bias: float = 0.0,
        radius: float | None = None, basic: bool = False,
    ) -> None:  # fmt: skip
        # Without a kernel and a radius the examples are divided by their length, as the lectures assume ||x|| = 1.
        unnamed = kernel is None and gamma is None and degree is None and constant is None and radius is None
        normalize_kernel = normalize_kernel or unnamed
        similarity = Kernel.named(kernel, gamma, degree, constant, normalize_kernel, bias)
        super().__init__(similarity, checked_budget(budget))
        self.radius2 = radius_squared(radius, similarity)
        self.radius, self.basic = None if radius is None else float(radius), bool(basic)
        slots = self.supports.most + 1
        least, bound = slots ** (-0.5 / slots), math.sqrt(slots / math.log(slots)) / 4.0
        self._params = (slots - 1, self.radius2, not self.basic, least, bound)
        self._sums = np.zeros(len(SUMS))

    @property
    def norm2(self) -> float:
        """||f||^2, in units of K."""
        return float(self._sums[SUMS.index("norm2")]) * self.radius2

    def proof(self) -> ForgetronProof:
        return ForgetronProof(self)

    def _learn_many(self, *rows: *Played) -> int:
        return _loops.forgetron.learn_many(*rows, self._params, self._sums)

    def _insert(self, row: Row, y: int, self_value: float) -> None:
        held = self.supports
        slot = _loops.forgetron.next_slot(held.cache, held.most)
        held.reserve(slot, row[0], row[2])
        if slot < held.count:
            held.compare_slot(slot)
        _loops.forgetron.add(held.cache, held.rule, *row, y, self_value, self._params, self._sums)

    def _more_facts(self) -> dict[str, Any]:
        sums = dict(zip(SUMS, self._sums.tolist(), strict=True))
        return {name: sums[name] for name in SUMS[1:]} | {"radius2": self.radius2, "tuned": not self.basic}

    def after_restoring(self, found: State) -> None:
        require(not bool(np.isnan(self._sums).any()), "sums must not be NaN", self._sums.tolist())


def radius_squared(radius: float | None, similarity: Kernel) -> float:
    """Return R^2 from the argument, or as known in advance for the kernel."""
    if radius is not None:
        if not isinstance(radius, (int, float, np.number)) or not radius > 0.0:
            raise InputError(f"a radius must be a number above 0: got {shown(radius)}.")
        square = float(radius) * float(radius)
        if not 0.0 < square < math.inf:
            raise InputError(f"a radius and its square must be finite and above 0: the square is {square}.")
        return square
    if similarity.limit is None:
        raise InputError(
            f"a {similarity.kind} kernel needs a radius: got none. Pass a number that no sqrt(K(x,x)) will exceed, "
            "or normalize_kernel=True."
        )
    return similarity.limit
