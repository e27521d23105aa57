"""Regret of exponential weights restarted in epochs of 1, 2, 4, ... rounds.

Theorem (upper; the sum is approached arbitrarily closely with N = 2: in each epoch the experts alternate first, then
one leads)
    Losses lie in [0, S]. In epoch k = 0, 1, ..., of 2^k rounds, exponential weights restart with the prior and a
    rate r_k; n_k of its rounds have been played. For all losses, every expert i and every T
        sum of h_t  <=  L_i + sum over epochs of ( ln(1/prior_i) / r_k + r_k n_k S^2 / 8 ).
    The reported bound is the least of the right sides over i, less the loss of the best expert. With r_k = sqrt(8 ln N
    / 2^k) / S and no prior it is at most
        sqrt(2)/(sqrt(2) - 1) * S sqrt(T ln N / 2)  =  3.4143 S sqrt(T ln N / 2).
Assumptions
    losses lie in [0, S] (checked); the number of epochs started is that of T rounds (checked); the learner started with
    its prior (checked); a mixture is played only for a convex loss (checked).
Proof
    Apply experts/theorems/fixed_rate_regret.py to each epoch, against the same expert, and sum. With the rates above an
    epoch costs at most S sqrt(2^k ln N / 2); K epochs cost S sqrt(ln N / 2) (sqrt(2)^K - 1)/(sqrt(2) - 1), and
    2^K <= 2T, because the last epoch has started: 2^(K-1) - 1 rounds were played before it. []
Reference
    [cesabianchi2006], section 2.3; [cesabianchi1997].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, rule, seen, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, regret_bound


@theorem(
    "D",
    "cesabianchi1997",
    quantity="regret",
    where=rule("doubling"),
    words=Words(
        covers="exponential weights with a learning rate that decreases whenever the rounds have doubled",
        why="the bounds of {epochs} epochs were added",
    ),
)
def doubling_regret(run: Run[ExpertsFacts]) -> Bound:
    """Return the sum of the bounds of the epochs, for the comparator that minimises it."""
    after = run.after
    epochs = after.rounds.bit_length()  # K epochs have 2^0 + ... + 2^(K-1) = 2^K - 1 rounds if the last is complete
    closed = after.top * math.sqrt(after.rounds * math.log(after.experts) / 2.0) * math.sqrt(2.0) / (math.sqrt(2.0) - 1)
    return regret_bound(
        run,
        0.0 if after.settled else after.detour + after.entrance + after.variation,
        [seen("the number of epochs agrees with the number of rounds", after.settled or after.epochs == epochs)],
        {"comparator": after.comparator, "epochs": after.epochs, "closed_form": closed},
    )
