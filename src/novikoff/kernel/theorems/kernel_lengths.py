"""Kernel Perceptron mistakes against any function in the kernel's space, where the values K(x,x) differ.

Theorem (upper; tight on e_1 .. e_k, all labelled -1, with the linear kernel)
    For every f = sum of beta_j K(z_j, .) and every kappa > 0:
        M  <=  sum over ALL rounds of max(0, 1 + kappa K(x,x) - y f(x))  +  ||f||^2 / (4 kappa).
    The reported bound is the smallest over the f and kappas that were tracked, and M <= rounds, as an integer. With the
    rbf or a normalised kernel all K(x,x) are 1, and it is the bound of kernel/theorems/kernel_hinge.py.
Assumptions
    those of kernel/theorems/kernel_hinge.py.
Proof
    That of linear/theorems/perceptron_lengths.py with K(x,x) for ||x||^2. With floats: y w(x) <= M e R^2 on a mistake
    (kernel/theorems/kernel_facts.py), so ||w||^2 <= (sum over mistakes of K(x,x)) + 2 M^2 e R^2, and the bound grows by
    kappa 2 M^2 e R^2.
Reference
    [freund1999]; [aizerman1964].
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import KernelFacts, needed_of_a_perceptron, score_error, why_void, witness_of
from novikoff.linear.theorems.perceptron_lengths import least_bound


@theorem(
    "D",
    "freund1999",
    where=has_comparators,
    words=Words(
        covers="the kernel Perceptron on any rows",
        why=(
            "a kernel classifier of norm {norm:up} has a total hinge loss of {hinge:up} on these rows (with a length "
            "penalty)"
        ),
    ),
)
def kernel_lengths(run: Run[KernelFacts]) -> Bound:
    """Return the smallest bound over comparators and kappas, exactly."""
    needed = needed_of_a_perceptron(run)
    if reason := why_void(run, needed):
        return Bound(None, needed, void=reason)
    more = 2 * run.mistakes**2 * score_error(run, run.mistakes) * run.tracked.square
    bound, reported = least_bound(run.tracked, run.rounds, more, Fraction(1))
    return Bound(bound, needed, reported)


@kernel_lengths.witnessed
def witness(run: Run[KernelFacts]) -> dict[str, object] | None:
    """Return the function of least bound."""
    more = 2 * run.mistakes**2 * score_error(run, run.mistakes) * run.tracked.square
    return witness_of(run, run.tracked.penalized, lambda u: math.floor(u.bound(more)), "loss")
