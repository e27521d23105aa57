"""Regret of online gradient descent, FTRL and mirror descent on any convex losses in a convex set.

Theorem (upper; tight on one linear loss, played from the corner opposite to its minimum)
    K is a convex set of diameter D, l_t is convex on K, w_t in K is played and g_t is a subgradient of l_t at w_t. For
    every u in K
        sum of l_t(w_t) - l_t(u)  <=  sum of <g_t, w_t - u>  <=  B,
    gradient        w_{t+1} is the point of K nearest to w_t - r_t g_t, rates r_1 >= r_2 >= ... > 0, and
                    B = D^2/(2 r_T) + the sum of r_t |g_t|^2 / 2.
    ftrl            w_t minimises <g_1 + .. + g_{t-1}, w> + |w - w_1|^2/(2 r_t) over K, r_t never increases (it may be
                    infinite at first: then w_t = w_1), and
                    B = D^2/(2 r_T) + the sum of min(r_t |g_t|^2 / 2, D |g_t|).
    mirror descent  K is the simplex of sum z, w_1 its middle; w_t minimises <g_1 + .. + g_{t-1}, w> + z KL(w, w_1)/r_t,
                    so its coordinates are proportional to exp(-r_t * the sum of z g). With h_t half the largest
                    coordinate of z g_t less the least,
                    B = ln d / r_T + the sum of min(r_t h_t^2 / 2, 2 h_t),   for losses and rates of w/z.
    The bound holds for every u; the certificate is about the one that was compared with. Rates fixed in advance, or
    r_t = D / sqrt(2 (|g_1|^2 + .. + |g_t|^2)) (gradient; up to t-1 for ftrl) and sqrt(ln d / (h_1^2 + .. + h_{t-1}^2)):
    for gradient B is then at most sqrt 2 D sqrt(sum of |g_t|^2), of order sqrt T for bounded gradients.
Assumptions
    every loss is convex along the line from w_t to u, and g_t its subgradient: l_t(w_t) - l_t(u) <= <g_t, w_t - u>
    (checked in every round; where it fails the certificate is void and names the round); u is in the set (checked for
    a ball, a box and the simplex; else that its projection is u); projection and diameter are right (checked for these
    sets; else trusted, and refuted where a distance in this run exceeds the diameter); rates never rose (checked).
Proof
    Gradient: the nearest point of K to v is no further from u than v: |w_{t+1} - u|^2 <= |w_t - u|^2 - 2 r_t
    <g_t, w_t - u> + r_t^2 |g_t|^2. Divide by 2 r_t and sum: the distances are at most D, and 1/r_t telescopes.
    FTRL: let psi_t be the regulariser, G_t = g_1 + .. + g_t, V_t = the least psi_t(w) + <G_{t-1}, w>, attained at w_t,
    U_t = the least f(w) = psi_t(w) + <G_t, w>, attained at some w'. As psi_{t+1} >= psi_t, V_{t+1} >= U_t, so
    <g_t, w_t> = f(w_t) - V_t <= (f(w_t) - U_t) + V_{t+1} - V_t; in round T, U_T <= psi_T(u) + <G_T, u>. With V_1 = 0,
        sum of <g_t, w_t - u>  <=  psi_T(u) + the sum of f(w_t) - f(w').
    w_t minimises f - <g_t, .>, so f(w_t) - f(w') <= <g_t, w_t - w'> <= D |g_t|; if psi_t is strongly convex with 1/r_t,
    also <= <g_t, w_t - w'> - |w_t - w'|^2/(2 r_t) <= r_t |g_t|^2 / 2.
    Mirror descent is FTRL with psi_t = KL/r_t on probabilities p = w/z, strongly convex with 1/r_t in the norm |.|_1
    (Pinsker's inequality); a constant added to all coordinates of g_t changes no difference, so h_t is its dual norm,
    |p - p'|_1 is at most 2, and KL(p, uniform) at most ln d.
    Rounding: each term is rounded by at most 2^-50 of its size, and the points by 1e-9 of the diameter. []
Reference
    [zinkevich2003] for gradient, [mcmahan2017] for ftrl, [orabona2018] for the rates without a known gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Assumption as Assumed
from novikoff.core.certificate import Bound, Standing, Words, seen, theorem


@dataclass(frozen=True, slots=True)
class OnlineConvexFacts:
    """A run of online convex optimisation, and the comparator.

    Attributes:
        method: "gradient", "ftrl" or "mirror descent".
        rounds: Number of rounds.
        lost: Sum of l_t(w_t).
        comparator_loss: Sum of l_t(u).
        linear: Sum of <g_t, w_t - u>.
        promised: B.
        slack: Allowance for rounding in `linear` and `promised`.
        largest: Largest possible regret by the gradients: the sum of the largest <g_t, w_t - v> over the set, or of
            D |g_t|.
        not_convex: Description of the first round that is not convex towards u; "" if there is none.
        outside: Whether u is not in the set.
        known: Whether projection and diameter are this library's.
        wide: Whether a distance in this run exceeds the diameter.
        rose: Whether a rate rose.
        comparator: How u was found: "best fixed point found", or "given point".
        gap: Upper bound on the loss of u less that of the best point; None if unknown.
    """

    method: str
    rounds: int
    lost: float
    comparator_loss: float
    linear: float
    promised: float
    slack: float
    largest: float
    not_convex: str = ""
    outside: bool = False
    known: bool = True
    wide: bool = False
    rose: bool = False
    comparator: str = "best fixed point found"
    gap: float | None = None


@theorem(
    "D",
    "zinkevich2003",
    quantity="regret",
    words=Words(
        covers="convex losses in a convex set",
        why="each loss is above its tangent, whose sum is bounded by the rates and gradients of the run",
    ),
)
def online_convex_regret(facts: OnlineConvexFacts) -> Bound:
    """Return B, next to the regret against the comparator."""
    geometry: Standing = "refuted" if facts.wide else "checked" if facts.known else "trusted"
    convex = facts.not_convex or "every loss is convex towards the comparator, with the given gradient"
    return Bound(
        facts.promised + facts.slack,
        [
            seen(convex, not facts.not_convex),
            seen("the comparator is in the set", not facts.outside),
            Assumed("projection and diameter of the set are right", geometry),
            seen("the rate never rose", not facts.rose),
        ],
        {
            "method": facts.method,
            "comparator": facts.comparator,
            "comparator_loss": facts.comparator_loss,
            "linear_regret": facts.linear,
            **({} if facts.gap is None else {"comparator_gap": facts.gap}),
        },
        observed=facts.lost - facts.comparator_loss,
        trivial=facts.largest,
        why="no larger regret is possible with these gradients",
        quantity=f"regret against the {facts.comparator}",
        broken=_broken(facts),
        void="" if facts.rounds and math.isfinite(facts.promised) else "no round was played",
    )


def _broken(facts: OnlineConvexFacts) -> str:
    """Return what contradicts the theorem in the middle sum; "" for nothing."""
    if facts.linear <= facts.promised + facts.slack:
        return ""
    return f"the linear regret {facts.linear:.6g} exceeds the bound: this is a bug, please report it"
