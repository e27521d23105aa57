"""Log loss of follow the regularised leader, against its earlier weights, with no fitted comparator.

Theorem (upper)
    As in convex/theorems/ftrl_regret.py; after round s the weights are w = -A_s^-1 G_s. For every u, summed over t > s,
        sum of l(z)  <=  sum of l(<u,x>) + (u-w)'A_s(u-w)/2 + u'(A - A_s)u/2 + sum of Delta,
    A the metric at the end. With u = w:  log loss since s <= that of w since s + w'(A - A_s)w/2 + sum of Delta since s.
    Whatever z is, and for every u, the same holds with (sum of g z since s) + G'A^-1 G/2 + <G_s,u> + u'Au/2 in place of
    the last two terms. The bound uses the larger of the two. Copies of the weights are made after 2, 4, 8 ... rounds,
    and the theorem is applied from each copy to the next: the comparator in each round is the last copy. The reported
    bound is the one with the least regret since a copy made in the first quarter of the rounds.
Assumptions
    its rounds are those of the ledger, and the comparators saw them all; its sums agree with its scores; its metric
    never shrank (all checked). It may have learned before the game started.
Proof
    Phi_t = G_t'A_t^-1 G_t/2. As in convex/theorems/ftrl_regret.py, g z + Phi_t - Phi_{t-1} <= Delta: the sum of g z
    since s is at most Phi_s - Phi + sum of Delta. Convexity: the regret since s is at most (sum of g z) - <G - G_s, u>,
    and -<G,u> <= u'Au/2 + Phi: that is the second form. With the first, it is at most Phi_s + <G_s,u> + u'Au/2 + sum of
    Delta, and as G_s = -A_s w this is the claim. [] Rounding: as there.
Reference
    [mcmahan2017].
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import SLACK, MetricFacts, steady
from novikoff.core.certificate import Bound, Words, has_comparators, outward, seen, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "mcmahan2017",
    "log loss",
    where=has_comparators,
    words=Words(
        covers="follow the regularised leader from any round on",
        why=(
            "the weights after round {after}, copied again whenever the number of rounds had doubled, would have lost "
            "{comparator_loss:up} in the rounds since"
        ),
    ),
)
def ftrl_suffix(run: Run[MetricFacts]) -> Bound | None:
    """Return the bound with the least regret over the copies of the weights; None if no copy is early enough."""
    if run.log_loss is None:
        return None
    tracked, paid = run.tracked, run.log_loss
    early = [u for u in tracked.frozen if 4 * u.after <= tracked.rows]
    if not early:
        return None
    played = run.after.loss - run.before.loss
    needed = [
        seen("it learned from exactly the recorded rounds",
             run.after.rounds - run.before.rounds == run.rounds),
        seen("the comparators were evaluated on every round", tracked.rows == run.rounds),
        seen("its total agrees with the ledger's", abs(played - paid) <= SLACK * (1.0 + run.after.loss)),
        seen("its sums agree with its scores", all(u.unexplained <= 1.0 for u in early)),
        seen("its metric never shrank (no drift by rounding)", all(steady(u.gained, u.least) for u in early)),
    ]  # fmt: skip
    u = min(early, key=lambda u: u.bound - u.paid)
    quantities = {"after": u.after, "comparator_loss": u.log_loss, "delta": max(u.gained, u.dual)}
    bound, trivial = outward(u.bound + run.rounds * 2.0**-50), (run.rounds - u.after) * math.log(2.0)
    return Bound(bound, needed, quantities, u.paid, trivial, f"log loss after round {u.after:,}")
