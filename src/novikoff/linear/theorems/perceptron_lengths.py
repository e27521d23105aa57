"""Perceptron mistakes against any linear comparator, for examples of different lengths.

Theorem (upper; tight on e_1 .. e_k, all labelled -1, with u = -2 (1, .., 1) and kappa = 1)
    For every u and every kappa > 0, with w_1 the weights when the game started:
        M  <=  sum over ALL rounds of max(0, 1 + kappa ||x~||^2 - y<u,x~>)  -  <u,w_1>  +  kappa ||w_1||^2
               +  ||u||^2 / (4 kappa).
    The bound is the smallest over the tracked comparators and kappas, and M <= rounds (u = 0, kappa -> 0), rounded down
    to an integer; zero rows labelled +1 do not count as rounds if they were left out (comparators/rereading.py). At the
    best kappa it is never above that of linear/theorems/perceptron_hinge.py: equal if all lengths are equal, far below
    if a few examples are long. Over several passes the sum is over all rounds of all passes.
Assumptions
    the learner is the Perceptron: it changed only on its mistakes, and by y x~ (checked, perceptron_facts.py); the
    comparators saw all of its rounds with its features (checked); x is finite (checked).
Proof
    With S the mistakes, sum over S of y<u,x~> = <u,w_end> - <u,w_1>. As y<w,x~> <= 0 on S, ||w_end||^2 <= ||w_1||^2 +
    sum over S of ||x~||^2, so <u,w_end> <= kappa (||w_1||^2 + sum over S of ||x~||^2) + ||u||^2/(4 kappa), by
    2 a b <= a^2 + b^2. Hence M = sum over S of 1 is at most the sum over S of 1 + kappa ||x~||^2 - y<u,x~>, plus the
    other terms above; each summand is at most its positive part, which is summed over all rounds. With floats ||u||^2
    grows by lambda^2 (linear/theorems/perceptron_facts.py). []
About this run
    The same proof without kappa: M <= sum over S of max(0, 1 - y<u,x~>) - <u,w_1> + ||u|| sqrt(||w_1||^2 + sum over S
    of ||x~||^2). The mistakes are on both sides (u = 0 gives M <= M), so this is not a guarantee: for the best u that
    was tracked during the game it is reported as the quantity `from_the_mistakes`.
Reference
    [novikoff1962] and [freund1999] for equal lengths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from novikoff.comparators.rounding import root
from novikoff.comparators.tally import PenalizedComparator
from novikoff.comparators.tracker import ComparatorFacts
from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.linear.theorems.perceptron_facts import (
    PerceptronFacts,
    assumptions,
    misclassified,
    near,
    rounding_factor,
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
            "a linear classifier of norm {norm:up} has a total hinge loss of {hinge:up} on these rows (with a length "
            "penalty), and no row is longer than {R:up}"
        ),
    ),
)
def perceptron_lengths(run: Run[PerceptronFacts]) -> Bound:
    """Return the least bound over comparators and kappas, in exact arithmetic."""
    needed = assumptions(run)
    if reason := why_void(run, needs_zero=False):
        return Bound(None, needed, void=reason)
    weight = Fraction(0) if starts_at_zero(run) else run.tracked.start_square
    bound, reported = least_bound(run.tracked, run.rounds, weight, rounding_factor(run) ** 2)
    return Bound(bound, needed, reported)


def least_bound(
    facts: ComparatorFacts, rounds: int, start_square: Fraction, factor: Fraction
) -> tuple[int, dict[str, Any]]:
    """Return the bound and the reported quantities of its comparator; `factor` is lambda^2."""
    reported: dict[str, object] = {"comparators": len(facts.penalized), "R": float(root(facts.square))}
    tried = shortlist_penalized(facts.penalized, start_square)
    bounds = [math.floor(u.bound(start_square, factor)) for u in tried]
    nothing = min([Fraction(rounds), *(u.hinge for u in facts.comparators if u.direction == 0)])
    bound = min([math.floor(nothing), *bounds])
    if bound < nothing:
        best = tried[bounds.index(bound)]
        reported |= {"norm": float(root(best.square)), "kappa": float(best.kappa), "scale": best.scale,
                 "hinge": float(best.loss), **misclassified(best)}  # fmt: skip
    return bound, reported | from_the_mistakes(facts, start_square, factor)


@perceptron_lengths.witnessed
def witness(run: Run[PerceptronFacts]) -> dict[str, object] | None:
    """Return the comparator of the least bound."""
    factor = rounding_factor(run) ** 2
    tried = shortlist_penalized(run.tracked.penalized, Fraction(0))
    u = min(tried, key=lambda u: u.bound(factor=factor), default=None)
    found = None if u is None else witness_of(run, u, u.loss, kappa=u.kappa)
    # The certificate may be M <= rounds, which needs no comparator: the claim is that of the comparator.
    return None if u is None or found is None else {**found, "bound": math.floor(u.bound(factor=factor))}


def shortlist_penalized(
    comparators: Sequence[PenalizedComparator], start_square: Fraction
) -> list[PenalizedComparator]:
    """Return the comparators that may give the least bound, in floats, to save exact arithmetic on the others."""
    weight = near(start_square)
    rough = [
        near(u.loss) - near(u.start) + near(u.kappa) * weight + near(u.square) / (4.0 * near(u.kappa))
        for u in comparators
    ]
    least = min((value for value in rough if not math.isnan(value)), default=math.inf)
    return [u for u, value in zip(comparators, rough, strict=True) if value <= least + 1e-6 * abs(least) + 1e-6]


def from_the_mistakes(facts: ComparatorFacts, start_square: Fraction, factor: Fraction) -> dict[str, int]:
    """Return the bound with the mistakes on both sides, for the best comparator tracked during the game, if any."""
    watched = {(u.direction, u.scale): u for u in facts.over_mistakes}
    tried = shortlist_penalized([u for u in facts.penalized if (u.direction, u.scale) in watched], start_square)
    if not tried:
        return {}
    u = watched[tried[0].direction, tried[0].scale]
    length = start_square + facts.mistakes_square
    return {"from_the_mistakes": math.floor(u.loss - u.start + root(factor * u.square * length))}
