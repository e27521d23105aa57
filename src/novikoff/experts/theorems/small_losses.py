"""Expected loss of exponential weights with a fixed rate: small, if some expert loses little.

Theorem (upper; with equality for one expert)
    Losses lie in [0, S], weights are proportional to prior * exp(-r L), r > 0. Whatever the losses are, for every
    expert i
        sum of h_t  <=  S (r L_i + ln(1/prior_i)) / (1 - exp(-r S)).
    The certificate reports the least over i. For Randomized Weighted Majority, exp(-r) = beta and S = 1, it is the
    bound (m ln(1/beta) + ln N) / (1 - beta) on its expected mistakes: 1.39 m + 2 ln N for beta = 1/2. With an expert
    that never loses and a large rate it tends to S ln N.
    If an expert is drawn, the sum of h_t is the expected loss, on every stream, given all earlier draws; its bound is
    of kind D. If the mixture is played its loss is no larger, as the loss is convex.
Assumptions
    losses lie in [0, S] (checked); the learning rate was constant (checked), and every round is learned from
    (checked); the learner began with its prior (checked); a mixture is played of a convex loss only (checked).
Proof
    exp(-r x) is convex, so on [0, S] it is at most 1 - (1 - exp(-r S)) x / S. So the mean of exp(-r l) under the
    weights of round t is at most 1 - c h_t <= exp(-c h_t), c = (1 - exp(-r S)) / S. The product of these means is at
    least prior_i exp(-r L_i) (experts/theorems/fixed_rate_regret.py); take logarithms. []
Reference
    [littlestone1994]; [cesabianchi2006], section 2.4.
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, rule, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, one_rate, regret_bound


@theorem(
    "D",
    "littlestone1994",
    quantity="loss",
    where=rule("fixed"),
    words=Words(
        covers="exponential weights with a constant learning rate",
        why=(
            "the comparator lost {comparator_loss:up}; the learner loses at most {factor:up} times that, plus a cost "
            "of finding it"
        ),
    ),
)
def small_losses(run: Run[ExpertsFacts]) -> Bound:
    """Return S (r L + ln(1/prior)) / (1 - exp(-r S)) for the comparator that minimises it."""
    after = run.after
    power = after.rate * after.top
    factor = 1.0 if after.settled else power / -math.expm1(-power) if power > 0.0 else math.inf  # at least 1
    return regret_bound(
        run,
        factor * (after.comparator_loss + after.entrance + after.rounding) - after.rounding,
        [one_rate(after)],
        {"comparator": after.comparator, "comparator_loss": after.comparator_loss, "factor": factor},
        observed=run.expected,
        trivial=run.rounds * after.top,
        why="",
    )
