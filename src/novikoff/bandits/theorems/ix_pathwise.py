"""Loss of exponential weights with implicit exploration, against its estimates: on every stream.

Theorem (upper)
    N policies (the arms, or experts) give arm i the probability q_j(i); weights w_j are proportional to
    exp(-eta_t E_j), arm i is drawn with probability p(i), the sum of w_j q_j(i), and its loss l in [0, 1] is observed.
    With any gamma_t >= 0
        e_t  =  l / (p(I) + gamma_t),        E_j  +=  q_j(I) e_t.
    For all losses and all draws, if eta_t never rises,
        S  <=  the least E_j  +  ln N / eta_T  +  the sum of (eta_t/2 + gamma_t) e_t.
    A bandit that explores draws with probabilities p(i) = (1 - eps_t) a(i) + eps_t/K, a(i) the sum of w_j q_j(i): the
    last sum is then that of (eta_t a(I)/(2 p(I)) + gamma_t + max(p(I) - a(I), 0)) e_t.
    Every number in it was observed. The bound is relative to the estimates; ix_regret.py and observable_regret.py bound
    the distance of E_j from the loss of policy j, which is not observed.
Assumptions
    losses are in [0, 1] (checked); the learner started untrained (checked); it learned from the recorded losses
    (checked).
Proof
    The estimates q_j(I) e_t are nonnegative losses of N experts, and exp(-x) <= 1 - x + x^2/2 for x >= 0. As in
    fixed_rate_regret.py, because -(1/eta) ln(mean of exp(-eta E)) decreases in eta,
        sum over t, j of w_j q_j(I) e_t  <=  the least E_j + ln N / eta_T + sum of (eta_t/2) w_j (q_j(I) e_t)^2.
    The left side is p(I) e_t = l - gamma_t e_t per round; the right side, as q <= 1, at most (eta_t/2) p(I) e_t^2, and
    p(I) e_t <= l <= 1. With exploration the left side is a(I) e_t = l - (gamma_t + p(I) - a(I)) e_t, and the right side
    at most (eta_t/2) a(I) e_t^2 <= (eta_t/2) (a(I)/p(I)) e_t. []
Reference
    [neu2015]; [auer2002] for gamma = 0.
"""

from __future__ import annotations

import math

from novikoff.bandits.theorems.bandit_facts import BanditFacts, common, game, rounding, same_losses, why_void
from novikoff.core.certificate import Bound, Words, outward, rule, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "neu2015",
    quantity="loss",
    where=rule("ix"),
    words=Words(
        covers="exponential weights over estimated losses",
        why="the smallest estimated loss is {least_estimate:up}; the cost of estimating was summed over the rounds",
    ),
)
def ix_pathwise(run: Run[BanditFacts]) -> Bound:
    """Return the least estimate + ln N / eta + the sum over the rounds."""
    after = run.after
    entrance = math.log(after.policies) / after.eta if after.policies > 1 and after.eta else 0.0
    limit = outward(after.least + entrance + after.spent + rounding(after))
    return Bound(
        limit,
        [*game(run), *(() if run.loss > limit else (same_losses(run),))],
        {**common(after), "eta": after.eta, "least_estimate": after.least, "spent": after.spent},
        observed=run.loss,
        trivial=run.rounds,
        why="no loss is above 1",
        void=why_void(run),
    )
