"""Ellipsoid mistakes on an integer grid, with a bound known before the game.

Theorem (upper)
    Let the examples and the target w* be vectors of k integers from -n to n. Without a constant feature, if
    y<w*,x> > 0 on every round,
        M  <=  k ln(1 + k n^2) / ln(1/kappa)  <=  2k(k+1) ln(1 + k n^2).
    With a constant feature of n, d = k + 1, also if y is the sign of <w*,x> and sign(0) = +1:
        M  <=  d ln(1 + 1/g) / ln(1/kappa)  <=  2d(d+1) ln(1 + 1/g),   1/g = 2n^2 sqrt(k+1) sqrt(k + 1/(4n^4)).
    For another constant, c n: 1/g = 2n^2 sqrt(k+c^2) sqrt(k + 1/(4n^4c^2)). A stream with ties and no constant feature
    has no such bound: nine points of a grid make more than 500 mistakes.
Assumptions
    a tracked comparator has the normalised margin g of such a target (checked; the proof needs no more);
    the learner is the Ellipsoid, started with the unit ball and changed on its mistakes only (checked); the comparators
    saw all of its rounds with its features (checked); its volume agrees with its cuts (checked); x is finite
    (checked).
Proof
    In units of n, y<w*,x> > 0 means >= 1/n^2, and ||w*||, ||x|| <= sqrt k: g >= 1/(k n^2). With the constant c, the
    target (w*, 1/(2n^2c)) has y<w,x> >= 1/(2n^2), ties included. Then linear/theorems/ellipsoid_margin.py.
Reference
    [khachiyan1979], [grotschel1988].
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

from novikoff.comparators.rounding import root
from novikoff.core.certificate import Bound, Words, has_comparators, theorem
from novikoff.core.types import Run
from novikoff.linear.theorems.ellipsoid_facts import EllipsoidFacts, least_bound, separators
from novikoff.linear.theorems.perceptron_facts import SEPARATED, not_separated


@theorem(
    "D",
    "grotschel1988",
    where=has_comparators,
    words=Words(
        covers="targets on the given grid",
        why=(
            "a linear classifier on the grid of {grid} separates these rows; each mistake shrinks an ellipsoid of "
            "{width} dimensions that contains it"
        ),
    ),
)
def ellipsoid_grid(run: Run[EllipsoidFacts]) -> Bound | None:
    """Return the bound for the given grid; None if no grid was given."""
    facts = run.after
    if facts.grid == 0 or facts.margin > 0.0:
        return None
    constant = Fraction(abs(facts.bias)) / facts.grid
    features = max(facts.width - (constant > 0.0), 1)
    g = grid_margin(features, facts.grid, constant)
    balls = [dataclasses.replace(ball, g=min(g, ball.g)) for ball in separators(run) if ball.g >= g * (1.0 - 1e-12)]
    with_margin = f" with the margin of a target on the grid of {facts.grid:,}"
    claim, none = f"{SEPARATED}{with_margin}", not_separated(run.tracked, with_margin)
    reported = (
        {"grid": facts.grid, "before": before_the_game(max(facts.width, 1), g)} if g > 0.0 else {"grid": facts.grid}
    )
    return least_bound(run, balls, claim, none, reported)


def grid_margin(k: int, n: int, constant: float | Fraction = 0.0) -> float:
    """Return the least normalised margin of a target on the grid; 0 if it underflows."""
    if constant == 0:
        return 1.0 / (k * n**2)
    c2 = Fraction(constant) ** 2
    return float(1 / (2 * n**2 * root((k + c2) * (k + 1 / (4 * n**4 * c2)))))


def before_the_game(d: int, g: float) -> float:
    """Return 2d(d+1) ln(1 + 1/g), the bound before the game."""
    return 2 * d * (d + 1) * (math.log1p(g) - math.log(g))
