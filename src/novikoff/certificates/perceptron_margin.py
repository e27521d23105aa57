"""Perceptron mistakes on a stream that some comparator separates with a margin.

Theorem (upper; tight on e_1 .. e_k, all labelled -1)
    If ||x~|| <= R and y<u,x~> >= margin > 0 on every round, for a unit vector u, then
        M  <=  R^2 / margin^2.
    Equivalently M <= R^2 ||u||^2 for a u with y<u,x~> >= 1. Over several passes this bounds the total of all of them.
Assumptions
    some comparator tracked has a margin (checked); the learner is the Perceptron, started at zero and changed
    on its mistakes only (checked); the comparators saw all of its rounds with its features (checked); x is finite
    (checked).
Proof
    M margin <= <u,w_end> <= ||w_end|| <= R sqrt M. With floats R grows by the lambda of
    certificates/perceptron_facts.py.
Reference
    [novikoff1962], [block1962].
"""

from __future__ import annotations

import math

from novikoff.certificate import Assumption, Certificate, judge, void
from novikoff.certificates.perceptron_facts import (
    REFERENCE,
    PerceptronFacts,
    assumptions,
    quantities,
    rounding_factor,
    void_certificate,
)
from novikoff.comparators.rounding import root
from novikoff.types import Run

NAME = "perceptron_margin"


def perceptron_margin(run: Run[PerceptronFacts]) -> Certificate | None:
    """The least R^2 ||u||^2 over the comparators with no hinge loss; None if none were tracked."""
    if run.tracked is None:
        return None
    nothing = void_certificate(run, NAME, needs_zero=True)
    if nothing is not None:
        return nothing
    tracked = run.tracked
    claim = "a comparator that was tried separates the labels"
    separating = [u for u in tracked.comparators if u.direction and u.hinge == 0]
    if not separating:
        reason = "no comparator that was tried separates the labels"
        needed = [*assumptions(run), Assumption(claim, "refuted")]
        return void(NAME, "D", reason, observed=run.mistakes, trivial=run.rounds, assumptions=needed,
                    reference=REFERENCE)  # fmt: skip
    best = min(separating, key=lambda u: u.square)
    return judge(
        NAME,
        "D",
        observed=run.mistakes,
        bound=math.floor(rounding_factor(run) ** 2 * tracked.square * best.square),
        trivial=run.rounds,
        assumptions=[*assumptions(run), Assumption(claim, "checked")],
        quantities={**quantities(run, best), "margin": float(1 / root(best.square))},
        reference=REFERENCE,
    )
