"""Regret of exponential weights by the cost of mixing in each round of this run.

Theorem (upper; with equality for one expert, and in the limit where one expert has outrun the others)
    With h_t, m_t of experts/theorems/experts_facts.py and falling rates r_t, for every expert i and all losses
        sum of h_t  <=  L_i + ln(1/prior_i) / r_T + sum of (h_t - m_t),
    and h_t is the expected loss if an expert is drawn by the weights. A mixture loses at most that, as the loss is
    convex; the total difference, `saved`, is subtracted from both sides.
    If weights restart in epochs, 1 / r_T is the sum of 1 / r over the epochs.
    This is never more than the bounds of experts/theorems/fixed_rate_regret.py, anytime_regret.py or
    doubling_regret.py: h_t - m_t is the gap of round t, from 0 to r_t S^2 / 8, and almost 0 once the weights are on one
    expert or the experts agree.
    The reported bound is the least of the right sides over i, less the loss of the best expert. It may be below 0: it
    then proves that the mixture is better than every expert. `saved` is never negative: otherwise a loss above the sum
    of h_t would be added to both sides, and no way of playing could violate the bound.
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
from novikoff.experts.theorems.experts_facts import ExpertsFacts, regret_bound, the_rate_never_rose, witness_of


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
    saved = max(after.mixed - run.expected, 0.0) if after.play == "mean" else 0.0  # never negative, see above
    return regret_bound(
        run,
        0.0 if after.settled else after.detour + after.entrance + after.gaps - saved,
        [the_rate_never_rose(after)],
        {"comparator": after.comparator, "gaps": after.gaps, "saved": saved},
    )


@mixability_gaps.witnessed
def witness(run: Run[ExpertsFacts]) -> dict[str, object] | None:
    """Return the last rate and the sum of the gaps."""
    if run.after.rule == "doubling":
        return None
    return witness_of(run, rate=run.after.rate, gaps=run.after.gaps)
