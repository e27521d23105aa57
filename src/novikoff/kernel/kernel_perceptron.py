"""Kernel Perceptron: each mistake becomes a support.

Algorithm
    f_1 = 0.  Predict +1 if f_t(x_t) >= 0, else -1.  On a mistake, f_{t+1} = f_t + y_t K(x_t, .): the example becomes a
    support. A repeated mistake on the same example and label adds to the coefficient of its support; so the
    coefficients are integers, and their absolute values sum to the number of mistakes. A score that is NaN (infinity
    minus infinity) predicts +1.
    `kernel`: linear, polynomial (constant + <x,z>)^degree, rbf exp(-gamma ||x-z||^2), or a function of two arrays,
    which is slow. `normalize_kernel` divides by sqrt(K(x,x) K(z,z)), then `bias` c adds c^2 (kernels.py).
Promise
    The Perceptron's theorems in the feature space of K. kernel/theorems/kernel_hinge.py: for every u in it,
    M <= D + a^2/2 + a sqrt(D + a^2/4), D its hinge loss and a = R ||u||. kernel/theorems/kernel_margin.py:
    M <= R^2/margin^2 where some u separates. kernel/theorems/kernel_squared_hinge.py: M <= (a + sqrt Q)^2.
Cost
    One value of K per support and round: time and memory grow with the mistakes. randomized_budget.py and forgetron.py
    bound both by a budget.
Reference
    [aizerman1964]; [freund1999].
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.core.types import Theorem
from novikoff.kernel import _loops
from novikoff.kernel.kernel_learner import KernelLearner, Played, Row
from novikoff.kernel.kernels import Function, Kernel
from novikoff.kernel.proofs import KernelPerceptronProof
from novikoff.kernel.theorems.kernel_hinge import kernel_hinge
from novikoff.kernel.theorems.kernel_lengths import kernel_lengths
from novikoff.kernel.theorems.kernel_margin import kernel_margin
from novikoff.kernel.theorems.kernel_squared_hinge import kernel_squared_hinge


class KernelPerceptron(KernelLearner):
    """Perceptron in the feature space of a kernel, with one support per mistake.

    Args:
        kernel: "linear", "polynomial" or "rbf", or a function K(z, x) of two arrays, which is slow.
        gamma: Width parameter of the rbf kernel exp(-gamma ||x-z||^2).
        degree: Degree of the polynomial kernel (constant + <x,z>)^degree.
        constant: Constant of the polynomial kernel.
        normalize_kernel: Whether to divide K(x,z) by sqrt(K(x,x) K(z,z)).
        bias: Value c of a constant feature; adds c^2 to the kernel.

    Guarantee:
        For every u in the kernel's feature space with total hinge loss D on the stream, at most
        D + a^2/2 + a sqrt(D + a^2/4) mistakes, where a = R ||u|| and R^2 is the largest K(x,x) (`kernel_hinge`).

    Example:
        >>> import novikoff as nk
        >>> xor = [([0.0, 0.0], -1), ([1.0, 0.0], 1), ([0.0, 1.0], 1), ([1.0, 1.0], -1)]
        >>> nk.play(nk.KernelPerceptron(), xor * 5).mistakes
        4
    """

    promises: ClassVar[tuple[Theorem, ...]] = (kernel_lengths, kernel_hinge, kernel_margin, kernel_squared_hinge)
    additive = True

    def __init__(
        self, kernel: str | Function = "rbf", gamma: float = 1.0, degree: int = 2, constant: float = 1.0,
        normalize_kernel: bool = False, bias: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(Kernel.of(kernel, gamma, degree, constant, normalize_kernel, bias))

    def proof(self) -> KernelPerceptronProof:
        return KernelPerceptronProof(self)

    def _learn_many(self, *rows: *Played) -> int:
        return _loops.kernel_perceptron.learn_many(*rows)

    def _insert(self, row: Row, y: int, self_value: float) -> None:
        while not _loops.kernel_perceptron.add(self.supports.cache, *row, y, self_value):
            self.supports.make_room(row[0], row[2])
