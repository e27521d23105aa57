"""Regret of the mixture for log loss and squared loss: a constant, for any number of rounds.

Theorem (upper; nearly with equality for log loss, when one expert is left)
    If exp(-r loss(p, y)) is concave in p for every y, the weights are proportional to prior * exp(-r L), and the
    mixture of the predictions is played, then whatever the outcomes are, for every expert i
        loss of the mixture  <=  L_i + ln(1/prior_i) / r.
    Log loss of p in [0, 1], y in {0, 1}: r <= 1, so the regret is at most ln N without a prior. Squared loss, p and y
    in [0, 1]: r <= 1/2, so 2 ln N. The bound depends neither on T nor on the range of the losses.
    The reported bound is the least right side over i, less the loss of the best expert.
    Log loss: predictions are clipped to [eps, 1 - eps] before they are mixed, and the regret is against the clipped
    experts. Against the original experts it is at most T ln(1/(1 - eps)) more: `unclipped`.
Assumptions
    the mixture is played, of log or squared loss (checked); the learning rate was constant (checked), and no
    larger than 1 or 1/2 on the loss itself (checked); the learner began with its prior (checked).
Proof
    By concavity exp(-r loss(mixture, y)) >= the mean of exp(-r loss(p_i, y)) under the weights: the loss paid is at
    most the mix loss m_t, and the sum of m_t is at most L_i + ln(1/prior_i)/r (experts/theorems/mixability_gaps.py).
    Log loss, r <= 1: p^r is concave. Squared: (exp(-r z^2))'' = (4 r^2 z^2 - 2r) exp(-r z^2) <= 0 where z^2 <= 1/(2r),
    and z^2 <= 1. Clipping p to [eps, 1 - eps] raises the log loss only if the outcome had probability above 1 - eps: by
    at most ln(1/(1 - eps)). []
Never clip losses
    min(C, -ln p) is not convex: with C = 1 the mixture of (0.6, 0) and (0, 0.6), in turn, loses more than any bound.
Reference
    [cesabianchi2006], section 3.3; [vovk1998].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, one_rate, regret_bound

LARGEST_RATE = {"log": 1.0, "squared": 0.5}
"""Largest rate on the loss itself at which exp(-rate * loss) is concave in the prediction."""


@theorem(
    "D",
    "cesabianchi2006",
    quantity="regret",
    words=Words(covers="averaged forecasts under an exp-concave loss"),
)
def exp_concave_regret(run: Run[ExpertsFacts]) -> Bound | None:
    """Return ln(1/prior)/r for the comparator that minimises it; None for other rules, losses or larger rates."""
    after = run.after
    largest = LARGEST_RATE.get(after.loss)
    if after.rule != "fixed" or after.play != "mean" or largest is None or after.rate > largest:
        return None
    bound = 0.0 if after.settled else after.detour + after.entrance
    quantities = {"comparator": after.comparator, "rate": after.rate}
    if after.loss == "log":
        quantities["unclipped"] = bound + after.rounds * -math.log1p(-after.clip)
    return regret_bound(run, bound, [one_rate(after)], quantities)
