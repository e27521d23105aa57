"""Hedge's expected mistakes against the promise of its best learner, on any stream.

Theorem (upper)
    Let learner i make M_i mistakes on this stream, and have a certificate M_i <= B_i that holds on every stream. A rule
    on losses that follows learner i with chance w_i is, whatever the learners do, at most c_i worse than learner i in
    the sum of its chances to err, h_t = the sum of w_i over those that err. So for every i
        sum of h_t  <=  B_i + c_i:
    of K learners with equal weights at first, and T rounds, c_i is at most
        ln K / eta + eta T / 8                  for a fixed rate: sqrt(T ln K / 2) for the best one,
        sqrt(T ln K)                            for the rate 2 sqrt(ln K / t) in round t,
    and less, ln K / eta and what mixing has cost, by the gaps of the run. For a fixed rate, also
        sum of h_t  <=  (eta B_i + ln K) / (1 - exp(-eta)),
    which is less where a learner has few mistakes. AdaHedge and Fixed Share have their own c_i
    (experts/theorems/ada_hedge_regret.py; experts/theorems/fixed_share_regret.py for a path without a switch).
    Reported is the least over learners and forms. The sum of h_t is what Hedge errs on average over its own coins,
    given what the learners drew.
Assumptions
    a learner's certificate holds (checked; what it trusts is trusted here: void or violated ones are left out); the
    learners' mistakes do not depend on whom Hedge follows in that round: its coins are no learner's (checked by their
    seeds; trusted of a learner that draws without one); the team was seen from its first round (checked).
Proof
    The table of the learners' mistakes is a table of losses in {0, 1}. experts/theorems/fixed_rate_regret.py and its
    kin hold for every such table, however it came about and whatever it reacts to: sum of h_t <= M_i + c_i. And M_i <=
    B_i; the second form grows with M_i. [] M_i counts the mistakes learner i made here. Where the environment answers
    back these need not be those it would have made had it been followed alone: there is no guarantee on those.
Reference
    [freund1997]; [littlestone1994].
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Certificate, Words, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.hedge_facts import passed_on


@theorem(
    "D",
    "freund1997",
    quantity="expected mistakes",
    words=Words(
        covers="a team with a learner that has a bound of its own",
        why=(
            "a learner of the team guarantees at most {its_bound:up} ({its_theorem}); finding the best learner adds "
            "the rest"
        ),
    ),
)
def hedge_mistakes(run: Run[ExpertsFacts]) -> Bound | None:
    """Return the least of B_i + c_i over certificates of kind D; None if no learner has one."""
    return passed_on(run, on_every_stream, in_advance=False)


def on_every_stream(one: Certificate) -> bool:
    """Return whether a certificate bounds the mistakes of a learner on every stream."""
    return one.kind == "D" and one.quantity == "mistakes"
