"""Regret of online gradient descent in a ball, against every u in it.

Theorem (upper; tight on e_1 .. e_T with outcomes out of reach, and on one such example repeated)
    Losses convex in w; w_1 = 0; w_{t+1} is the point of the ball ||w|| <= W nearest to w_t - r_t g_t, with rates
    r_1 >= r_2 >= ... > 0 and g_t a subgradient at w_t. For every u in the ball and every T
        sum of l_t(w_t) - l_t(u)  <=  sum of <g_t, w_t - u>
                                  <=  W^2/(2 r_1) + 2 W^2 (1/r_T - 1/r_1) + (1/2) sum of r_t ||g_t||^2.
    For a fixed rate W/(G sqrt T) that is at most W G sqrt T; for D/(G sqrt t), at most 1.5 D G sqrt T with D = 2W, for
    every T; for D / sqrt(2 (||g_1||^2 + .. + ||g_t||^2)), at most sqrt 2 D sqrt(sum of ||g_t||^2).
    The bound holds for every u. The observed value is the regret against the best u in the ball if that is known
    (squared loss, not too many features). Otherwise, and whenever it is above the bound, it is the largest of the
    middle sums over all u in the ball, an upper bound on the regret. If the range of outcomes was learned, all of this
    is about the scaled outcomes and the predictions of w and u for them, not about the loss in the original scale.
Assumptions
    the loss is convex (checked); the learner started with zero weights (checked: its rounds are the ledger's); the rate
    never increased (checked for its first and last value).
Proof
    The nearest point of a ball is no further from u: ||w_{t+1} - u||^2 <= ||w_t - u||^2 - 2 r_t <g_t, w_t - u> +
    r_t^2 ||g_t||^2. Divide by 2 r_t and add up: the distances leave ||w_1 - u||^2/(2 r_1), at most W^2/(2 r_1), and
    ||w_t - u||^2 (1/(2 r_t) - 1/(2 r_{t-1})), at most 4W^2 times the bracket; their sum telescopes. Rounds without a
    gradient change nothing. For the rates: the sum of 1/sqrt t is at most 2 sqrt T, and the sum of
    a_t / sqrt(a_1 + .. + a_t) at most 2 sqrt(a_1 + .. + a_T). Rounding: convex/theorems/online_gradient_facts.py. []
Reference
    [zinkevich2003]; [streeter2010] for the rate that adapts.
"""

from __future__ import annotations

import math

from novikoff.convex.theorems.online_gradient_facts import OnlineGradientFacts, convex, why_void
from novikoff.core.certificate import NO_LARGER, Bound, Words, largest_regret, outward, seen, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "zinkevich2003",
    quantity="regret",
    words=Words(
        covers="online gradient descent on a convex loss",
        why="no weights of norm {radius:up} or less are better by more than this",
    ),
)
def online_gradient_regret(run: Run[OnlineGradientFacts]) -> Bound:
    """Return the bound for all u, with the regret against the best known u as observed value."""
    after = run.after
    bound = outward(after.promise + after.rounding)
    exact = after.comparator != "zero weights" and after.linear_regret <= bound and not after.scaled
    against = f"the {after.comparator}" if exact else "all weights in the ball, at most"
    return Bound(
        bound,
        [convex(after), seen("the learning rate never increased", after.rate <= after.first_rate)],
        {
            "comparator": after.comparator,
            "comparator_loss": after.comparator_loss,
            "against_all": after.linear_regret,
            "rate": after.rate,
            "a_priori": a_priori(after.rule, after.radius, after.steepest, after.rounds, after.horizon),
            "radius": after.radius,
            "rounding": after.rounding,
        },
        observed=run.loss - after.comparator_loss if exact else after.linear_regret,
        trivial=largest_regret(run.rounds, after.top, after.comparator_loss if exact else 0.0),
        quantity=f"regret {'on scaled outcomes ' if after.scaled else ''}against {against}",
        why=NO_LARGER,
        void=why_void(run),
    )


def a_priori(rule: str, radius: float, steepest: float, rounds: int, horizon: int = 0) -> float:
    """Return the bound known before the first of `rounds` rounds."""
    if rule == "fixed":
        root = math.sqrt(horizon)
        return radius * steepest * (root + rounds / root) / 2.0
    constant = 1.5 if rule == "anytime" else math.sqrt(2.0)
    return constant * 2.0 * radius * steepest * math.sqrt(rounds)
