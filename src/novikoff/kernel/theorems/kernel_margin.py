"""Kernel Perceptron mistakes on a stream that some function in the kernel's space separates with a margin.

Theorem (upper; tight on e_1 .. e_k, all labelled -1, with the linear kernel)
    If y f(x) >= 1 on every round, for an f = sum of beta_j K(z_j, .), and R^2 is the largest K(x,x), then
        M  <=  R^2 ||f||^2,
    R^2/margin^2 for the margin 1/||f||. Over several passes this bounds the total of all of them. If no x carries both
    labels and the matrix K of the distinct ones is nonsingular, there is such an f with ||f||^2 = y' K^-1 y.
Assumptions
    some f tracked has a margin (checked: that of the widest one, if all rows were held or in hindsight,
    kernel/comparators/separation.py); else as for kernel/theorems/kernel_hinge.py.
Proof
    M <= <f,w> <= ||f|| ||w|| <= ||f|| R sqrt M, w being the learner's function at the end. With floats R grows by the
    lambda of kernel/theorems/kernel_facts.py. The bound does not rely on the solver that found f: y f(x) and ||f|| are
    evaluated and rounded to the safe side.
Reference
    [novikoff1962]; [aizerman1964].
"""

from __future__ import annotations

import math

from novikoff.comparators.rounding import root
from novikoff.core.certificate import Bound, Words, has_comparators, seen, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import KernelFacts, growth2, needed_of_a_perceptron, why_void, witness_of
from novikoff.linear.theorems.perceptron_facts import SEPARATED, not_separated, proof, quantities, shortest


@theorem(
    "D",
    "novikoff1962",
    where=has_comparators,
    words=Words(
        covers="rows that a kernel classifier separates without exception",
        why=(
            "a kernel classifier separates these rows with margin {margin:down}, and no row is longer than {R:up} in "
            "the kernel's feature space"
        ),
    ),
)
def kernel_margin(run: Run[KernelFacts]) -> Bound:
    """Return the smallest R^2 ||f||^2 over the comparators with no hinge loss."""
    best, needed = shortest(run.tracked), needed_of_a_perceptron(run)
    reason = why_void(run, needed, "" if best else not_separated(run.tracked))
    if reason or best is None:
        return Bound(None, needed, {} if best else proof(run.tracked), void=reason)
    return Bound(
        math.floor(growth2(run, run.mistakes) * run.tracked.square * best.square),
        [*needed, seen(SEPARATED, holds=True)],
        {**quantities(run.tracked, best), "margin": float(1 / root(best.square))},
    )


@kernel_margin.witnessed
def witness(run: Run[KernelFacts]) -> dict[str, object] | None:
    """Return the function of least bound that separates."""
    square = growth2(run, run.mistakes) * run.tracked.square
    separating = [u for u in run.tracked.comparators if u.hinge == 0]
    return witness_of(run, separating, lambda u: math.floor(square * u.square), "")
