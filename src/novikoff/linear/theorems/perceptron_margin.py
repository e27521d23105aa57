"""Perceptron mistakes on a stream that some comparator separates with a margin.

Theorem (upper; tight on e_1 .. e_k, all labelled -1)
    If ||x~|| <= R and y<u,x~> >= margin > 0 on every round, for a unit vector u, then
        M  <=  R^2 / margin^2.
    Equivalently M <= R^2 ||u||^2 for a u with y<u,x~> >= 1. Over several passes the bound holds for the total.
Assumptions
    a tracked comparator has a positive margin (checked: that of the widest one, if all rows were kept or in hindsight,
    comparators/separation.py; else the certificate has the proof that none has one, or states that none was found);
    the learner is the Perceptron, started at zero and changed on
    its mistakes only (checked); the comparators saw all of its rounds with its features (checked); x is finite
    (checked).
Proof
    A mistake adds y x~ to w. So <u,w> grows by y<u,x~> >= margin: <u,w_end> >= M margin. And ||w||^2 grows by
    2 y<w,x~> + ||x~||^2 <= R^2, as y<w,x~> <= 0 on a mistake: ||w_end||^2 <= M R^2. By Cauchy-Schwarz
    M margin <= <u,w_end> <= ||w_end|| <= R sqrt M. With floats R grows by the lambda of
    linear/theorems/perceptron_facts.py. Zero rows labelled +1, without a constant feature, need no margin if they are
    no mistakes: their score is 0, the prediction +1, and they change nothing. A learner from outside that predicts -1
    on one of them has no separator.
Reference
    [novikoff1962], [block1962].
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.comparators.rounding import root
from novikoff.core.certificate import Bound, Words, has_comparators, seen, theorem
from novikoff.core.types import Run
from novikoff.linear.theorems.perceptron_facts import (
    SEPARATED,
    PerceptronFacts,
    assumptions,
    not_separated,
    proof,
    quantities,
    rounding_factor,
    shortest,
    why_void,
    witness_of,
)


@theorem(
    "D",
    "novikoff1962",
    where=has_comparators,
    words=Words(
        covers="rows that a linear classifier separates without exception",
        why="a linear classifier separates these rows with margin {margin:down}, and no row is longer than {R:up}",
    ),
)
def perceptron_margin(run: Run[PerceptronFacts]) -> Bound:
    """Return the least R^2 ||u||^2 over the comparators with no hinge loss."""
    needed = assumptions(run)
    if reason := why_void(run, needs_zero=True):
        return Bound(None, needed, void=reason)
    best = shortest(run.tracked)
    needed.append(seen(SEPARATED, best is not None))
    if best is None:
        return Bound(None, needed, proof(run.tracked), void=not_separated(run.tracked))
    return Bound(
        math.floor(rounding_factor(run) ** 2 * run.tracked.square * best.square),
        needed,
        {**quantities(run.tracked, best), "margin": float(1 / root(best.square))},
    )


@perceptron_margin.witnessed
def witness(run: Run[PerceptronFacts]) -> dict[str, object] | None:
    """Return the widest separator."""
    return witness_of(run, shortest(run.tracked), Fraction(0))
