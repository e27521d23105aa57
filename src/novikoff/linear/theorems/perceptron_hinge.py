"""Perceptron mistakes against the hinge loss of any linear comparator.

Theorem (upper; tight on e_1 .. e_k, all labelled -1)
    For every u, with D = sum over ALL rounds of max(0, 1 - y<u,x~>), a = R ||u|| and R the largest ||x~||:
        M  <=  D + a^2/2 + a sqrt(D + a^2/4),
    the largest M with M <= D + a sqrt M. For a learner whose weights were w_1 when the game started, with
    D' = D - <u,w_1> and b = ||u|| ||w_1||:
        M  <=  D' + a^2/2 + sqrt(a^2 D' + a^4/4 + b^2).
    The bound is the smallest of these over the tracked comparators and u = 0 (which gives M <= rounds), rounded down
    to an integer. Over several passes D is the sum over all rounds of all passes.
Assumptions
    the learner is the Perceptron, changed on its mistakes only (checked); the comparators saw all of its rounds with
    its features (checked); x is finite (checked).
Proof
    Each mistake adds y<u,x> >= 1 - loss to <u,w>, so <u,w_end> - <u,w_1> >= M - D. As y<w,x> <= 0 on a mistake,
    ||w_end||^2 <= ||w_1||^2 + R^2 M. Now <u,w_end> <= ||u|| ||w_end||; solve for M. D' >= -b, so the radicand is at
    least (b - a^2/2)^2. With floats a and b grow by the lambda of linear/theorems/perceptron_facts.py.
Reference
    [gentile1999], [freund1999]; [novikoff1962] for D = 0.
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
    starts_at_zero,
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
            "a linear classifier of norm {norm:up} has a total hinge loss of {hinge:up} on these rows, and no row is "
            "longer than {R:up}"
        ),
    ),
)
def perceptron_hinge(run: Run[PerceptronFacts]) -> Bound:
    """Return the least bound over the comparators, in exact arithmetic."""
    needed = assumptions(run)
    if reason := why_void(run, needs_zero=False):
        return Bound(None, needed, void=reason)
    bound, u = least(run)
    return Bound(bound, needed, quantities(run.tracked, u))


def least(run: Run[PerceptronFacts]) -> tuple[int, Comparator]:
    """Return the least bound and its comparator."""
    tracked, factor = run.tracked, rounding_factor(run) ** 2
    weight = Fraction(0) if starts_at_zero(run) else tracked.start_square
    radius2, weight2 = float(tracked.square), float(weight)

    def rough(square: float, loss: float, squared: float) -> float:
        a2 = radius2 * square
        return loss + a2 / 2 + math.sqrt(max(a2 * loss + a2 * a2 / 4 + square * weight2, 0.0))

    tried = shortlist(tracked.comparators, rough)
    bounds = [
        largest_count(u.hinge - u.start, factor * tracked.square * u.square, factor * u.square * weight) for u in tried
    ]
    return min(bounds), tried[bounds.index(min(bounds))]


@perceptron_hinge.witnessed
def witness(run: Run[PerceptronFacts]) -> dict[str, object] | None:
    """Return the comparator of the least bound."""
    _, u = least(run)
    return witness_of(run, u, u.hinge)


def largest_count(loss: Fraction, a2: Fraction, b2: Fraction = Fraction(0)) -> int:
    """Return the largest integer M <= loss + sqrt(b2 + a2 M): floor of loss + a2/2 + sqrt(a2 loss + a2^2/4 + b2)."""
    unit = math.lcm(loss.denominator, a2.denominator, b2.denominator)
    d, a, b = (int(value * unit) for value in (loss, a2, b2))
    return (2 * d + a + math.isqrt(4 * a * d + a * a + 4 * b * unit)) // (2 * unit)
