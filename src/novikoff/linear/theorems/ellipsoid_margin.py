"""Ellipsoid mistakes on a stream that some comparator separates with a normalised margin.

Theorem (upper; tight for d = 1)
    If y<u,x~> >= g ||x~|| with g > 0 on every round, for a unit vector u in d dimensions, then
        M  <=  d ln(1 + 1/g) / ln(1/kappa)  <=  2d(d+1) ln(1 + 1/g),
    kappa = (d/(d+1)) (d^2/(d^2-1))^((d-1)/2), 1/2 for d = 1. With deep cuts, the decrease of the log volume beyond
    kappa is subtracted from the numerator: linear/theorems/ellipsoid_facts.py, `depth`.
    Only directions matter: g is at least margin/R, and every x~ may be rescaled. Over several passes the bound holds
    for the total of all passes.
Assumptions
    a tracked comparator separates the rows (checked, comparators/separation.py; else the certificate has the proof that
    none does, or states that none was found); the learner is the Ellipsoid, started with the unit ball and
    changed on its mistakes only (checked); the comparators saw all of its rounds with its features (checked); its
    volume agrees with its cuts (checked); x is finite (checked).
Proof
    The ball of radius r = g/(1+g) around u/(1+g) lies in the unit ball, and in every half-space y<v,x~> >= 0, as
    y<v,x~> >= ||x~|| (g/(1+g) - r). On a mistake y<w,x~> <= 0, so each cut keeps that half-space's part of the
    ellipsoid, and the ball with it. Compare volumes: r^d <= kappa^M. With floats: linear/theorems/ellipsoid_facts.py.
    Zero rows labelled +1, without a constant feature, need no margin: they are predicted +1 and change nothing.
Reference
    [khachiyan1979], [grotschel1988].
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.linear.theorems.ellipsoid_facts import EllipsoidFacts, least_bound, separators
from novikoff.linear.theorems.perceptron_facts import SEPARATED, not_separated


@theorem(
    "D",
    "grotschel1988",
    where=has_comparators,
    words=Words(
        covers="rows that a linear classifier separates without exception",
        why=(
            "a linear classifier separates these rows with margin {margin:down} relative to their lengths; each "
            "mistake shrinks an ellipsoid of {width} dimensions that contains it"
        ),
    ),
)
def ellipsoid_margin(run: Run[EllipsoidFacts]) -> Bound | None:
    """Return the least bound over the comparators that separate; None if a margin was given."""
    if run.after.margin > 0.0:
        return None
    return least_bound(run, separators(run), SEPARATED, not_separated(run.tracked), {})
