"""Regret of exponential weights, by what happened: the cost of mixing in each round.

Theorem (upper; with equality for one expert, and in the limit where one expert has outrun the others)
    With h_t, m_t of experts/theorems/experts_facts.py and falling rates r_t, for every expert i and all losses
        sum of h_t  <=  L_i + ln(1/prior_i) / r_T + sum of (h_t - m_t),
    and h_t is the expected loss where an expert is drawn by the weights. A mixture loses at most that, as the loss is
    convex; what it `saved` in all is taken from both sides.
    Where weights begin anew in epochs, 1 / r_T is the sum of 1 / r over the epochs.
    Never more than experts/theorems/fixed_rate_regret.py, anytime_regret.py or doubling_regret.py say: h_t - m_t is the
    gap of round t, from 0 to r_t S^2 / 8, and next to nothing once the weights are on one expert or the experts agree.
    Reported is the least of the right sides over i, less the loss of the best expert. It may be below 0: a mixture can
    be better than every expert, and then it is known to be. What was lost beyond the sum of h_t is never `saved`: else
    it would stand on both sides, and no way to play could break the promise.
Assumptions
    every loss is in [0, S] (checked); the learner began with its prior (checked); it played by its weights (checked by
    the sum of h_t).
Proof
    The sum of m_t is at most L_i + ln(1/prior_i) / r_T: see experts/theorems/anytime_regret.py, and for epochs add. Add
    h_t - m_t on both sides. []
Reference
    [derooij2014]; [cesabianchi2006], chapter 3.
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, rule, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, regret_bound, the_rate_never_rose


@theorem(
    "D",
    "derooij2014",
    quantity="regret",
    where=rule("fixed", "anytime", "doubling"),
    words=Words(
        covers="exponential weights with a learning rate that never increases",
        why="the cost of mixing was summed over the rounds",
    ),
)
def mixability_gaps(run: Run[ExpertsFacts]) -> Bound:
    """Return ln(1/prior)/r + the sum of (paid - mix loss), for the comparator that minimises it."""
    after = run.after
    saved = max(after.mixed - run.expected, 0.0) if after.play == "mean" else 0.0  # to pay more than h_t saves nothing
    return regret_bound(
        run,
        0.0 if after.settled else after.detour + after.entrance + after.gaps - saved,
        [the_rate_never_rose(after)],
        {"comparator": after.comparator, "gaps": after.gaps, "saved": saved},
    )
