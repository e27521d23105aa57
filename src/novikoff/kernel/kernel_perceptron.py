"""The kernel Perceptron: keep the examples you got wrong.

Algorithm
    f_1 = 0.  Say +1 if f_t(x_t) >= 0, else -1.  On a mistake, f_{t+1} = f_t + y_t K(x_t, .): the example becomes a
    support. The same example with the same label, wrong again, counts once more in its support's coefficient; so the
    coefficients are whole numbers, and their sizes add up to the mistakes. A score beyond the doubles, infinite minus
    infinite, says +1.
    `kernel`: linear, polynomial (constant + <x,z>)^degree, rbf exp(-gamma ||x-z||^2), or a function of two arrays,
    which is slow. `normalize_kernel` divides by sqrt(K(x,x) K(z,z)), then `bias` c adds c^2 (similarity.py).
Promise
    The Perceptron's theorems in the feature space of K. kernel/theorems/kernel_hinge.py: for every u in it,
    M <= D + a^2/2 + a sqrt(D + a^2/4), D its hinge loss and a = R ||u||. kernel/theorems/kernel_margin.py:
    M <= R^2/margin^2 where some u separates. kernel/theorems/kernel_squared_hinge.py: M <= (a + sqrt Q)^2.
Cost
    A value of K for each support per round: time and memory grow with the mistakes. Learners with a budget do not:
    randomized_budget.py, forgetron.py.
Reference
    [aizerman1964]; [freund1999].
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.core.types import Theorem
from novikoff.kernel import _loops
from novikoff.kernel.kernel_learner import KernelLearner, Played, Row
from novikoff.kernel.kernels import Function, Kernel
from novikoff.kernel.theorems.kernel_hinge import kernel_hinge
from novikoff.kernel.theorems.kernel_lengths import kernel_lengths
from novikoff.kernel.theorems.kernel_margin import kernel_margin
from novikoff.kernel.theorems.kernel_squared_hinge import kernel_squared_hinge


class KernelPerceptron(KernelLearner):
    """A support for each example it got wrong."""

    promises: ClassVar[tuple[Theorem, ...]] = (kernel_lengths, kernel_hinge, kernel_margin, kernel_squared_hinge)
    additive = True

    def __init__(
        self, kernel: str | Function = "rbf", gamma: float = 1.0, degree: int = 2, constant: float = 1.0,
        normalize_kernel: bool = False, bias: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(Kernel.of(kernel, gamma, degree, constant, normalize_kernel, bias))

    def _learn_many(self, *rows: *Played) -> int:
        return _loops.kernel_perceptron.learn_many(*rows)

    def _insert(self, row: Row, y: int, self_value: float) -> None:
        while not _loops.kernel_perceptron.add(self.supports.cache, *row, y, self_value):
            self.supports.make_room(row[0], row[2])
