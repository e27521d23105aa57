"""Kernel Perceptron mistakes against the squared hinge loss of any function in the kernel's space.

Theorem (upper; tight on e_1 .. e_k, all labelled -1, with the linear kernel)
    For every f = sum of beta_j K(z_j, .), with Q = sum over all rounds of max(0, 1 - y f(x))^2, R^2 the largest K(x,x)
    and a = R ||f||:
        M  <=  (a + sqrt Q)^2.
    The reported bound is the smallest over the f tracked, as an integer. Over several passes Q is the sum over all
    rounds of all passes.
Assumptions
    as for kernel/theorems/kernel_hinge.py.
Proof
    M <= (sum of losses on mistakes) + a sqrt M, as there, and the sum of M losses is at most sqrt(M Q). Divide by
    sqrt M. With floats a grows by the lambda of kernel/theorems/kernel_facts.py.
Reference
    [freund1999].
"""

from __future__ import annotations

from novikoff.comparators.tally import Comparator
from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import KernelFacts, growth2, needed_of_a_perceptron, why_void, witness_of
from novikoff.linear.theorems.perceptron_facts import quantities
from novikoff.linear.theorems.perceptron_squared_hinge import square_of_sum


@theorem(
    "D",
    "freund1999",
    where=has_comparators,
    words=Words(
        covers="the kernel Perceptron on any rows",
        why="a kernel classifier of norm {norm:up} has a total squared hinge loss of {squared_hinge:up} on these rows",
    ),
)
def kernel_squared_hinge(run: Run[KernelFacts]) -> Bound:
    """Return the smallest (a + sqrt Q)^2 over the comparators, exactly."""
    needed = needed_of_a_perceptron(run)
    if reason := why_void(run, needed):
        return Bound(None, needed, void=reason)
    bound, best = least_square(run)
    return Bound(bound, needed, {**quantities(run.tracked, best), "squared_hinge": float(best.squared_hinge)})


def least_square(run: Run[KernelFacts]) -> tuple[int, Comparator]:
    """Return the smallest bound and its comparator."""
    square = growth2(run, run.mistakes) * run.tracked.square
    bounds = [square_of_sum(square * u.square, u.squared_hinge) for u in run.tracked.comparators]
    bound = min(bounds)
    return bound, run.tracked.comparators[bounds.index(bound)]


@kernel_squared_hinge.witnessed
def witness(run: Run[KernelFacts]) -> dict[str, object] | None:
    """Return the function of least bound."""
    square = growth2(run, run.mistakes) * run.tracked.square

    def bound(u: Comparator) -> int:
        return square_of_sum(square * u.square, u.squared_hinge)

    return witness_of(run, run.tracked.comparators, bound, "squared_hinge")
