"""Regret of experts that may sleep, against each expert over the rounds it was awake.

Theorem (upper)
    In round t the experts A_t are awake (any set, chosen as the game goes; if none is, the round is skipped). With
    R_i = 0 at first, priors that sum to at most 1, and falling rates r_t, an expert that is awake has weight
    proportional to prior_i exp(r_t R_i); h_t and m_t are the mean and the mix loss of the awake ones; then R_i grows by
    m_t - l_{t,i} for those awake. Whatever the losses are, for every expert i
        sum over its awake rounds of (h_t - l_{t,i})  <=  ln(1/prior_i) / r_T + sum over these of (h_t - m_t),
    and a gap h_t - m_t is at most r_t S^2 / 8 for losses in [0, S]. With r_t = 2 sqrt(ln N / t) / S and no prior that
    is at most S sqrt(T ln N), for every i and T; priors 1/(i(i+1)) let experts join at any time.
    The reported bound is that of the expert with the least difference between the two sides.
Assumptions
    losses of awake experts lie in [0, S] (checked); the learner began with its prior (checked).
Proof
    The sum of prior_i exp(r R_i) starts at 1 or less. A round with rate r does not change it: sleeping terms do not
    move, and the awake ones are multiplied on average by exp(r m_t) * (mean of exp(-r l)) = 1. A lower rate r' changes
    it to at most its power r'/r (power mean, as the priors sum to at most 1). So it never exceeds 1,
    R_i <= ln(1/prior_i)/r_T, and R_i is the sum of m_t - l_{t,i} over the awake rounds; add the gaps. []
    All awake: experts/theorems/anytime_regret.py.
Reference
    [freund1997b]; [derooij2014] for the gaps.
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, largest_regret, rule, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, regret_bound


@theorem(
    "D",
    "freund1997b",
    quantity="regret while awake",
    where=rule("sleeping"),
    words=Words(
        covers="experts that may abstain",
        why="only the {awake} rounds in which the expert was active count",
    ),
)
def sleeping_regret(run: Run[ExpertsFacts]) -> Bound:
    """Return ln(1/prior)/r_T + the gaps while awake, for the expert nearest to its bound."""
    after = run.after
    none = after.sleeper < 0 or after.experts == 1
    entrance = 0.0 if none or not after.eta else after.unit * after.sleeper_price / after.eta
    a_priori = entrance + after.sleeper_rates / after.unit * after.top * after.top / 8.0
    return regret_bound(
        run,
        entrance + after.sleeper_gaps,
        quantities={"expert": after.sleeper, "awake": after.sleeper_rounds, "gaps": after.sleeper_gaps,
                    "a_priori": a_priori},
        observed=after.sleeper_regret,
        trivial=largest_regret(after.sleeper_rounds, after.top, after.sleeper_loss),
    )  # fmt: skip
