"""Ellipsoid mistakes when the cuts keep a given margin.

Theorem (upper)
    The learner cuts at y<v,x~> >= m ||x~||, m > 0 given in advance. If y<u,x~> >= g ||x~|| with g > m on every round,
    for a unit vector u in d dimensions, then
        M  <=  d ln((1 + g)/(g - m)) / ln(1/kappa),
    minus the decrease of the log volume beyond kappa: linear/theorems/ellipsoid_facts.py, `depth`. It is void for
    g <= m: the cuts may have cut u off.
Assumptions
    some comparator tracked has a normalised margin above m (checked); the learner is the Ellipsoid, started
    with the unit ball and changed on its mistakes only (checked); the comparators saw all of its rounds with its
    features (checked); its volume agrees with its cuts (checked); x is finite (checked).
Proof
    The ball of radius r = (g-m)/(1+g) around u (1+m)/(1+g) lies in the unit ball, and in every half-space
    y<v,x~> >= m ||x~||, as g (1+m)/(1+g) - r = m. So it lies in every ellipsoid; compare volumes: r^d <= kappa^M, as
    cuts beyond the centre remove more. With floats: linear/theorems/ellipsoid_facts.py.
Reference
    [grotschel1988] for deep cuts.
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
        covers="rows that a linear classifier separates without exception, with at least the given margin",
        why=(
            "a linear classifier separates these rows with margin {margin:down}, more than the given {level:up}; each "
            "mistake shrinks an ellipsoid of {width} dimensions that contains it"
        ),
    ),
)
def ellipsoid_given_margin(run: Run[EllipsoidFacts]) -> Bound | None:
    """Return the least bound over the comparators; None if no margin was given."""
    level = run.after.margin
    if level == 0.0:
        return None
    with_margin = f" with a normalised margin above {level:g}"
    claim, none = f"{SEPARATED}{with_margin}", not_separated(run.tracked, with_margin)
    return least_bound(run, separators(run, level), claim, none, {"level": level})
