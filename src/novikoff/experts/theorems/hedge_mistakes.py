"""Hedge's expected mistakes against the bound of its best learner, on any stream.

Theorem (upper)
    Let learner i make M_i mistakes on this stream, and have a certificate M_i <= B_i that holds on every stream. A rule
    on losses follows learner i with probability w_i, so it errs in round t with probability h_t, the sum of w_i over
    the learners that err. The sum of h_t exceeds the mistakes of learner i by at most c_i, for any learners. So for
    every i
        sum of h_t  <=  B_i + c_i,
    and with K learners, equal initial weights and T rounds, c_i is at most
        ln K / eta + eta T / 8                  for a fixed rate: sqrt(T ln K / 2) for the best one,
        sqrt(T ln K)                            for the rate 2 sqrt(ln K / t) in round t,
    and less by the gaps of the run: ln K / eta + the cost of mixing. For a fixed rate, also
        sum of h_t  <=  (eta B_i + ln K) / (1 - exp(-eta)),
    which is less where a learner has few mistakes. AdaHedge and Fixed Share have their own c_i
    (experts/theorems/ada_hedge_regret.py; experts/theorems/fixed_share_regret.py for a path without a switch).
    The reported bound is the least over learners and forms. The sum of h_t is the expected number of mistakes of Hedge
    over its coins, given the learners' draws.
Assumptions
    a learner's certificate holds (checked; its trusted assumptions are trusted here; void or violated certificates are
    left out); the learners' mistakes do not depend on which learner Hedge follows in that round: no learner has its
    coins (checked by their seeds; trusted for a learner that draws without one); the team was observed from its first
    round (checked).
Proof
    The table of the learners' mistakes is a table of losses in {0, 1}. experts/theorems/fixed_rate_regret.py and the
    related theorems hold for every such table, also one that reacts to the draws: sum of h_t <= M_i + c_i. And
    M_i <= B_i; the second form grows with M_i. [] M_i counts the mistakes that learner i made here. In an environment
    that reacts, these need not be those it would have made had it been followed alone: there is no bound on the latter.
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
        covers="a team in which a learner has a bound",
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
