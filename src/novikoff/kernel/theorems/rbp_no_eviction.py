"""Mistakes of the Randomized Budget Perceptron without a removal: those of the kernel Perceptron.

Theorem (upper; tight on e_1 .. e_k, all labelled -1, with k <= B)
    If no example was removed from the list, every bound of the kernel Perceptron holds, on every stream: for every
    f = sum of beta_j K(z_j, .) with hinge loss D and squared hinge loss Q, R^2 the largest K(x,x) and a = R ||f||,
        M  <=  D + a^2/2 + a sqrt(D + a^2/4),      M  <=  (a + sqrt Q)^2.
    The reported bound is the smallest over the f tracked, as an integer. A bound below B + 1 known in advance
    implies that no example will be removed.
Assumptions
    as for kernel/theorems/kernel_hinge.py: in particular no example was removed (else
    kernel/theorems/rbp_expected.py applies).
Proof
    The first coin is used at mistake B + 1. Before it the two learners are the same, for any coins.
Reference
    [freund1999]; [cavallanti2007].
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import KernelFacts, growth2, needed_of_a_perceptron, why_void, witness_of
from novikoff.kernel.theorems.kernel_hinge import least_root
from novikoff.kernel.theorems.kernel_squared_hinge import least_square
from novikoff.linear.theorems.perceptron_facts import quantities
from novikoff.linear.theorems.perceptron_hinge import largest_count


@theorem(
    "D",
    "freund1999",
    where=has_comparators,
    words=Words(
        covers="a budget that was never exceeded",
        why=(
            "a kernel classifier of norm {norm:up} has a total hinge loss of {hinge:up}; with a budget of {budget} no "
            "example was removed"
        ),
    ),
)
def rbp_no_eviction(run: Run[KernelFacts]) -> Bound | None:
    """Return the smallest bound of the kernel Perceptron; None if an example was removed."""
    if run.after.evictions:
        return None
    needed = needed_of_a_perceptron(run)
    if reason := why_void(run, needed):
        return Bound(None, needed, void=reason)
    bound, best = min(least_root(run), least_square(run), key=lambda found: found[0])
    return Bound(bound, needed, {**quantities(run.tracked, best), "budget": run.after.budget})


@rbp_no_eviction.witnessed
def witness(run: Run[KernelFacts]) -> dict[str, object] | None:
    """Return the function whose hinge loss gives the least bound."""
    square = growth2(run, run.mistakes) * run.tracked.square
    return witness_of(run, run.tracked.comparators, lambda u: largest_count(u.hinge, square * u.square), "hinge")
