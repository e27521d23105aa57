"""Hedge's expected mistakes against the bounds of randomised learners.

Theorem (upper, in expectation over all coins)
    Let the stream be fixed in advance, and learner i have a bound on its expected mistakes, E[M_i] <= B_i. For a rule
    with equal initial weights whose regret against the best learner is always at most c, c known in advance
    (experts/theorems/hedge_mistakes.py: sqrt(T ln K / 2) with the best fixed rate, sqrt(T ln K) without a horizon;
    AdaHedge: sqrt(T ln K) + 4/3 ln K + 2),
        E[ mistakes of Hedge ]  =  E[ sum of h_t ]  <=  E[ min over i of M_i ] + c  <=  min over i of B_i + c,
    and for a fixed rate also E[ sum of h_t ] <= (eta min over i of B_i + ln K) / (1 - exp(-eta)).
    The reported bound is the least over learners and forms; an expectation is not rounded to an integer.
Assumptions
    the stream does not depend on the coins (refuted against an adversary); Hedge's coins are independent of the
    learners', which may share theirs (checked: no learner has the seed of the rule; trusted for a learner that draws
    without a seed); a learner's certificate holds (checked); the team was observed from its first round (checked).
Proof
    Given the learners' coins, their mistakes are a fixed table, on which Hedge errs in round t with probability h_t:
    this requires that its coins are independent. For each such table the sum of h_t is at most min M_i + c
    (experts/theorems/fixed_rate_regret.py). Now average over the learners' coins: E min <= min E. []
    With shared coins it is false: two learners that predict +1 or -1 by the coin by which Hedge draws err in 774 of
    1,000 rounds, where the bound would be 506.
Reference
    [freund1997]; [cesabianchi2006], chapter 4, for environments and coins.
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Certificate, Words, fixed_in_advance, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.hedge_facts import passed_on

EXPECTED = ("expected mistakes", "expected loss")


@theorem(
    "E",
    "freund1997",
    quantity="expected mistakes",
    words=Words(
        covers="a team with a learner that has a bound in expectation",
        why=(
            "a learner of the team guarantees at most {its_bound:up} ({its_theorem}); finding the best learner adds "
            "the rest"
        ),
    ),
)
def hedge_expected(run: Run[ExpertsFacts]) -> Bound | None:
    """Return the least of B_i + c over bounds on expected mistakes; None if no learner has one."""
    return passed_on(run, in_expectation, in_advance=True, also=[fixed_in_advance(run)])


def in_expectation(one: Certificate) -> bool:
    """Return whether a certificate bounds the expected mistakes of a learner."""
    return (one.kind == "E" and one.quantity in ("mistakes", *EXPECTED)) or (
        one.kind == "D" and one.quantity in EXPECTED
    )
