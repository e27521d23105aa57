"""Kernel Perceptron mistakes against the hinge loss of any function in the kernel's space.

Theorem (upper; tight on e_1 .. e_k, all labelled -1, with the linear kernel)
    For every f = sum of beta_j K(z_j, .), with D = sum over ALL rounds of max(0, 1 - y f(x)), R^2 the largest K(x,x),
    ||f||^2 = sum of beta_i beta_j K(z_i, z_j) and a = R ||f||:
        M  <=  D + a^2/2 + a sqrt(D + a^2/4),
    the largest M with M <= D + a sqrt M. The reported bound is the smallest over the f tracked and f = 0 (which gives
    M <= rounds), as an integer. Over several passes D is the sum over all rounds of all passes.
Assumptions
    K is an inner product (checked; trusted for a user-defined function); the learner is the kernel Perceptron: it began
    with an empty list, inserted an example on every mistake and at no other time, and removed none (checked); the
    comparators were evaluated on all its rounds with its K (checked); x is finite (checked).
Proof
    As in linear/theorems/perceptron_hinge.py, with w(x) = sum over the list of y_k K(x_k, x) for <w,x>: a mistake adds
    y f(x) >= 1 - loss to <f,w>, so M - D <= <f,w> <= ||f|| ||w||; and as y w(x) <= 0 on a mistake, ||w||^2 <= R^2 M. A
    repeated example counts as often as it was inserted, also if its support is stored once with a larger coefficient.
    In floats a grows by the lambda of kernel/theorems/kernel_facts.py.
Reference
    [freund1999]; [aizerman1964].
"""

from __future__ import annotations

from novikoff.comparators.tally import Comparator
from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import KernelFacts, growth2, needed_of_a_perceptron, why_void, witness_of
from novikoff.linear.theorems.perceptron_facts import quantities
from novikoff.linear.theorems.perceptron_hinge import largest_count


@theorem(
    "D",
    "freund1999",
    where=has_comparators,
    words=Words(
        covers="the kernel Perceptron on any rows",
        why=(
            "a kernel classifier of norm {norm:up} has a total hinge loss of {hinge:up} on these rows, and no row is "
            "longer than {R:up} in the kernel's feature space"
        ),
    ),
)
def kernel_hinge(run: Run[KernelFacts]) -> Bound:
    """Return the smallest root over the comparators, exactly."""
    needed = needed_of_a_perceptron(run)
    if reason := why_void(run, needed):
        return Bound(None, needed, void=reason)
    bound, best = least_root(run)
    return Bound(bound, needed, quantities(run.tracked, best))


def least_root(run: Run[KernelFacts]) -> tuple[int, Comparator]:
    """Return the smallest bound and its comparator."""
    square = growth2(run, run.mistakes) * run.tracked.square
    bounds = [largest_count(u.hinge, square * u.square) for u in run.tracked.comparators]
    bound = min(bounds)
    return bound, run.tracked.comparators[bounds.index(bound)]


@kernel_hinge.witnessed
def witness(run: Run[KernelFacts]) -> dict[str, object] | None:
    """Return the function of least bound."""
    square = growth2(run, run.mistakes) * run.tracked.square
    return witness_of(run, run.tracked.comparators, lambda u: largest_count(u.hinge, square * u.square), "hinge")
