"""Perceptron mistakes against the squared hinge loss of any linear comparator.

Theorem (upper; tight on e_1 .. e_k, all labelled -1)
    For every u, with Q = sum over all rounds of max(0, 1 - y<u,x~>)^2 and a = R ||u||:
        M  <=  (a + sqrt Q)^2.
    The bound is the smallest over the tracked comparators, rounded down to an integer. Over several passes Q is the sum
    over all rounds of all passes.
Assumptions
    the learner is the Perceptron, started at zero and changed on its mistakes only (checked); the comparators saw all
    of its rounds with its features (checked); x is finite (checked).
Proof
    M <= (sum of losses on mistakes) + a sqrt M, as for the hinge loss, and the sum of M losses is at most
    sqrt(M Q). Divide by sqrt M. With floats a grows by the lambda of linear/theorems/perceptron_facts.py.
Reference
    [freund1999].
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.comparators.tally import Comparator
from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.linear.theorems.perceptron_facts import (
    PerceptronFacts,
    assumptions,
    quantities,
    rounding_factor,
    shortlist,
    why_void,
    witness_of,
)


@theorem(
    "D",
    "freund1999",
    where=has_comparators,
    words=Words(
        covers="the Perceptron on any rows",
        why=(
            "a linear classifier of norm {norm:up} has a total squared hinge loss of {squared_hinge:up} on these rows, "
            "and no row is longer than {R:up}"
        ),
    ),
)
def perceptron_squared_hinge(run: Run[PerceptronFacts]) -> Bound:
    """Return the least (a + sqrt Q)^2 over the comparators, in exact arithmetic."""
    needed = assumptions(run)
    if reason := why_void(run, needs_zero=True):
        return Bound(None, needed, void=reason)
    bound, u = least(run)
    return Bound(bound, needed, {**quantities(run.tracked, u), "squared_hinge": float(u.squared_hinge)})


def least(run: Run[PerceptronFacts]) -> tuple[int, Comparator]:
    """Return the least bound and its comparator."""
    tracked, factor = run.tracked, rounding_factor(run) ** 2
    radius2 = float(tracked.square)
    tried = shortlist(
        tracked.comparators, lambda square, _, squared: (math.sqrt(radius2 * square) + math.sqrt(squared)) ** 2
    )
    bounds = [square_of_sum(factor * tracked.square * u.square, u.squared_hinge) for u in tried]
    return min(bounds), tried[bounds.index(min(bounds))]


@perceptron_squared_hinge.witnessed
def witness(run: Run[PerceptronFacts]) -> dict[str, object] | None:
    """Return the comparator of the least bound."""
    _, u = least(run)
    return witness_of(run, u, u.squared_hinge)


def square_of_sum(a2: Fraction, q: Fraction) -> int:
    """Return floor((sqrt a2 + sqrt q)^2) in exact arithmetic."""
    unit = math.lcm(a2.denominator, q.denominator)
    a, b = int(a2 * unit), int(q * unit)
    return (a + b + math.isqrt(4 * a * b)) // unit
