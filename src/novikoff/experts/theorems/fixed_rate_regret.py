"""Regret of exponential weights with one rate for all rounds.

Theorem (upper; approached arbitrarily closely with N = 2: the experts alternate first, then one leads)
    Losses lie in [0, S], weights are proportional to prior * exp(-r L), r > 0. For all losses, also if they react to
    the learner, and every expert i
        sum of h_t  <=  L_i + ln(1/prior_i) / r + r T S^2 / 8,
    so the regret against the best expert is at most ln N / r + r T S^2 / 8 without a prior. The reported bound is the
    least of the right sides over i, less the loss of the best expert. The rate r = sqrt(8 ln N / T) / S makes it
    S sqrt(T ln N / 2), and the constant cannot be improved (data/random_losses.py).
    If an expert is drawn, the observed value is the sum of h_t, its expected loss on every stream. If the mixture of
    the predictions is played, it is the loss of the mixture, at most h_t per round, as the loss is convex.
Assumptions
    losses lie in [0, S] (checked); the learning rate was constant (checked); the learner began with its prior
    (checked); a mixture is played of a convex loss only (checked).
Proof
    Let W_t be the sum of prior_i exp(-r L_i) over the rounds before t, so W_1 <= 1. The mean of exp(-r l) under the
    weights of round t is W_{t+1}/W_t, and by Hoeffding's lemma it is at most exp(-r h_t + r^2 S^2 / 8). Multiply:
        prior_i exp(-r L_i)  <=  W_{T+1}  <=  exp(-r sum of h_t + r^2 S^2 T / 8),
    and take logarithms. []
The square root
    Some lecture notes use r = 8 ln N / T. Then the two terms are T/8 and ln N, and two experts with losses (0, 1) in
    each of 1,000 rounds indeed give a regret of 124.5, where sqrt(T ln N) is 26.3 and the right rate gives 9.6.
Reference
    [cesabianchi2006], theorem 2.2; [freund1997].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, rule, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, one_rate, regret_bound, witness_of


@theorem(
    "D",
    "cesabianchi2006",
    quantity="regret",
    where=rule("fixed"),
    words=Words(covers="exponential weights with a constant learning rate"),
)
def fixed_rate_regret(run: Run[ExpertsFacts]) -> Bound:
    """Return ln(1/prior)/r + r T S^2/8 for the comparator that minimises it."""
    after = run.after
    tuned = after.top * math.sqrt(after.rounds * math.log(after.experts) / 2.0)
    return regret_bound(
        run,
        0.0 if after.settled else after.detour + after.entrance + after.variation,
        [one_rate(after)],
        {"comparator": after.comparator, "horizon": after.horizon, "tuned": tuned},
    )


@fixed_rate_regret.witnessed
def witness(run: Run[ExpertsFacts]) -> dict[str, object] | None:
    """Return the rates."""
    return witness_of(run, rate=run.after.rate, rates=run.after.rates / run.after.unit)
