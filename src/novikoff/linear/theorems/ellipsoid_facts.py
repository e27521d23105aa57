"""Facts shared by the Ellipsoid's theorems, and the effect of rounding.

Volumes
    A cut of depth alpha >= 0 multiplies the volume by exactly kappa (1-alpha^2)^((d-1)/2) (1-alpha), where
    kappa = (d/(d+1)) (d^2/(d^2-1))^((d-1)/2), and 1/2 for d = 1. With M cuts, and `depth` the sum of
    -((d-1)/2) ln(1-alpha^2) - ln(1-alpha), this makes ln|det J| = -M ln(1/kappa) - depth.
The run in floats
    Let a ball of radius r around c be given, and q the largest ||J^-1 (v-w)|| of a v in it, for the stored w and J.
    The ball lies in the stored ellipsoid scaled by q, so r^d <= q^d |det J| despite all earlier rounding, and
        M ln(1/kappa)  <=  d ln(1/r) + d ln max(1, q) + |ln|det J| + M ln(1/kappa) + depth| - depth.
    The third term is the self-check, which must be at most 1e-3; without rounding, q would be at most 1.
    q is computed from the singular values s of J and the coordinates a of J^-1 (c-w): by Lagrange, q^2 is at most
        f(l) = l (1 + sum of a_i^2/(l - m_i)),   m_i = r^2/s_i^2,
    for every l above the largest m_i, with equality at the minimum.
    Every value computed from J has a relative error of about e = cond(J) d 2^-53: d ln q is increased by 2 d e, and
    the theorems are void if e > 1e-3.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.linear_tracker import LinearComparatorFacts
from novikoff.comparators.rounding import root
from novikoff.core.certificate import Assumption, Bound, refutations, seen
from novikoff.core.types import Run
from novikoff.linear.theorems.perceptron_facts import proof

Vector = NDArray[np.float64]

CLOSE = 1e-3
"""Largest difference between ln|det J| and the value that the cuts imply."""

LOST = 1.1
"""Largest q that rounding can explain."""

ROUNDED = 2.0**-50
"""Reduction of a margin for rounding: comparators see x/||x|| with each feature rounded, the learner sees x."""


@dataclass(frozen=True, slots=True, eq=False)
class EllipsoidFacts:
    """State of an Ellipsoid, for its theorems.

    Attributes:
        rounds: Rounds so far.
        updates: Updates so far; the learner changes on mistakes only.
        width: Dimension d, the bias included; 0 before the first example.
        depth: Total depth of the cuts; 0 if all went through the centre.
        margin: Level of the cuts.
        grid: n if target and examples are integer vectors up to n; else 0.
        bias: Value of the constant feature that comparators must use.
        normalize: Whether comparators must normalise x; always true without a bias.
        flaw: Reason why the theorems are void; "" if there is none.
        centre: w; empty before the first update.
        factor: J; empty before the first update.
    """

    rounds: int
    updates: int
    width: int
    depth: float
    margin: float
    grid: int
    bias: float
    normalize: bool
    flaw: str
    centre: Vector
    factor: NDArray[np.float64]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EllipsoidFacts):
            return NotImplemented
        pairs = ((getattr(self, part.name), getattr(other, part.name)) for part in dataclasses.fields(self))
        return all(np.array_equal(one, two) for one, two in pairs)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Ball:
    """Ball around a multiple of u, inside the unit ball, in which every v has y<v,x~> >= level ||x~|| on all rounds.

    Attributes:
        g: Lower bound on the normalised margin of u: y<u,x~> >= g ||x~||.
        u: Unit vector.
        level: Level of the cuts.
        centre: The multiple of u: (1 + level)/(1 + g).
        radius: (g - level)/(1 + g).
    """

    g: float
    u: Vector
    level: float = 0.0

    @property
    def centre(self) -> float:
        return (1.0 + self.level) / (1.0 + self.g)

    @property
    def radius(self) -> float:
        return (self.g - self.level) / (1.0 + self.g)


def log_shrink(d: int) -> float:
    """Return ln(1/kappa), the decrease of the log volume by a cut through the centre in d dimensions."""
    if d == 1:
        return math.log(2.0)
    return math.log1p(1.0 / d) - (d - 1) / 2 * math.log1p(1.0 / (d * d - 1))


def separators(run: Run[EllipsoidFacts], level: float = 0.0) -> list[Ball]:
    """Return a ball for each tracked direction whose normalised margin is above the level."""
    tracked: Any = run.tracked
    facts, found = run.after, []
    best: dict[int, Fraction] = {}
    for u in tracked.comparators:
        if 0 < u.direction <= len(tracked.directions) and u.hinge == 0 and facts.width:
            best[u.direction] = min(u.square, best.get(u.direction, u.square))
    for number, square in best.items():
        g = min(1.0, float(1 / root(tracked.square * square)) * (1.0 - ROUNDED)) - ROUNDED
        if g > level:
            found.append(Ball(g, unit(tracked.directions[number - 1], facts), level))
    return found


def unit(direction: NDArray[np.generic], facts: EllipsoidFacts) -> Vector:
    """Return the unit vector of a comparator (features first, bias last) in the learner's coordinates."""
    u = np.zeros(facts.width)
    features = facts.width - (facts.bias != 0.0)
    met = min(features, len(direction) - 1)  # features that the comparators never met have weight 0
    u[:met] = direction[:met]
    if facts.bias != 0.0:
        u[-1] = direction[-1]
    u /= np.max(np.abs(u))
    return u / math.sqrt(float(np.dot(u, u)))


@dataclass(frozen=True, slots=True)
class Body:
    """Final ellipsoid in its principal axes.

    Attributes:
        values: Singular values of J, in descending order.
        axes: Matrix that maps v - w to coordinates along the axes.
        centre: w.
    """

    values: Vector
    axes: NDArray[np.float64]
    centre: Vector

    @classmethod
    def of(cls, facts: EllipsoidFacts) -> Body | None:
        """Return the ellipsoid of these facts; None if it is degenerate."""
        if facts.updates == 0:
            return cls(np.ones(facts.width), np.eye(facts.width), np.zeros(facts.width))
        if not (np.all(np.isfinite(facts.factor)) and np.all(np.isfinite(facts.centre))):
            return None
        try:
            axes, values, _ = np.linalg.svd(facts.factor)
        except np.linalg.LinAlgError:
            return None
        return cls(values, axes.T, facts.centre) if values[-1] > 0.0 else None

    @property
    def error(self) -> float:
        """Approximate relative error of values computed from J."""
        return float(self.values[0] / self.values[-1]) * len(self.values) * 2.0**-53

    @property
    def log_volume(self) -> float:
        """ln|det J|."""
        return math.fsum(np.log(self.values).tolist())

    def reach(self, ball: Ball) -> float:
        """Return the factor q by which the ellipsoid must grow to contain the ball."""
        inner = (ball.radius / self.values) ** 2
        along = (np.matmul(self.axes, ball.centre * ball.u - self.centre) / self.values) ** 2
        top = float(inner[-1])
        low, high = top, top + math.sqrt(math.fsum((along * inner).tolist()))
        for _ in range(100):  # the derivative of f, 1 - sum of a^2 m/(l-m)^2, increases, and is not negative at `high`
            middle = (low + high) / 2.0
            if not low < middle < high:
                break
            with np.errstate(all="ignore"):  # any l gives a bound
                falls = float(np.sum(along * inner / (middle - inner) ** 2)) > 1.0
            low, high = (middle, high) if falls else (low, middle)
        at = along > 0.0
        apart = math.sqrt(math.fsum(along.tolist())) + ball.radius / float(self.values[-1])  # triangle inequality
        if not np.all(high > inner[at]):
            return apart
        with np.errstate(over="ignore"):
            return min(apart, math.sqrt(high * (1.0 + float(np.sum(along[at] / (high - inner[at]))))))


def assumptions(run: Run[EllipsoidFacts]) -> list[Assumption]:
    """Return the assumptions of all Ellipsoid theorems, with the result of each check."""
    tracked: LinearComparatorFacts = run.tracked
    before, after = run.before, run.after
    whole_game = tracked.rows == run.rounds == after.rounds - before.rounds
    claims = {
        "every x is finite, with a length that does not overflow": not tracked.invalid_reason,
        "the comparators used the learner's features": (after.bias, after.normalize)
        == (tracked.bias, tracked.normalize),
        "the comparators were evaluated on every round it learned from": whole_game,
        "it started with the unit ball": before.updates == 0 and before.flaw == "",
        "it changed only on its mistakes": after.updates - before.updates <= run.mistakes,
        "its volume agrees with its cuts": after.flaw == "",
    }
    return [seen(claim, holds) for claim, holds in claims.items()]


def least_bound(run: Run[EllipsoidFacts], balls: list[Ball], claim: str, none: str, reported: dict[str, Any]) -> Bound:
    """Return the least bound over the balls; void for the reason `none` without a ball, or if rounding is too large."""
    facts, needed = run.after, assumptions(run)
    reason = run.tracked.invalid_reason or facts.flaw or refutations(needed)
    if not reason and not balls:
        needed.append(Assumption(claim, "refuted"))
        reason = none
    body = None if reason else Body.of(facts)
    if not reason:
        reason = _unreliable(facts, body)
    if reason or body is None:
        return Bound(None, needed, {} if balls else proof(run.tracked), void=reason)
    reaches = [body.reach(ball) for ball in balls]
    heights = [bound(facts, ball, reach, body.error) for ball, reach in zip(balls, reaches, strict=True)]
    best = heights.index(min(heights))
    if not reaches[best] <= LOST:
        reason = f"the ellipsoid misses the comparator by a factor of {reaches[best]:.3g}: more than rounding explains"
        return Bound(None, needed, void=reason)
    return Bound(
        math.floor(heights[best] * (1.0 + 1e-12) + 1e-9),
        [*needed, Assumption(claim, "checked")],
        {"width": facts.width, "margin": balls[best].g, "reach": reaches[best], "depth": facts.depth,
         "condition": float(body.values[0] / body.values[-1]), **reported},
    )  # fmt: skip


def bound(facts: EllipsoidFacts, ball: Ball, reach: float = 1.0, error: float = 0.0) -> float:
    """Return the bound on M for a ball that the ellipsoid scaled by `reach` contains."""
    if not math.isfinite(reach):
        return math.inf
    grown = math.log(max(1.0, reach)) + 2.0 * error
    room = facts.width * (grown - math.log(ball.radius)) + CLOSE
    return (room - facts.depth) / log_shrink(facts.width)


def _unreliable(facts: EllipsoidFacts, body: Body | None) -> str:
    """Return why rounding makes the bound unreliable; "" if it does not."""
    if body is None or not body.error <= CLOSE:
        return "the ellipsoid became too thin for double precision"
    expected = -facts.updates * log_shrink(facts.width) - facts.depth
    return "" if abs(body.log_volume - expected) <= CLOSE else "the check of the volume failed: too much rounding"
