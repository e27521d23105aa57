"""False alarms of a monitor: its wealth stays small while the certified limit on the risk holds, at every time at once.

Theorem (upper; kind P, for all rounds simultaneously)
    A frozen classifier has a risk certified to be at most U with probability 1 - delta. Its error e on each further
    example multiplies the wealth, in eight equal parts, by 1 + (e - U) 2^-k / U, k = 1 .. 8. Fresh capital is added
    before examples number 1024 j, j = 0, 1, ..: 2/((j+1)(j+2)), which is 1 at first and 2 in all.
    If the examples are independent draws of a distribution on which the risk is at most U, then with probability at
    least 1 - alpha the wealth never reaches 2/alpha. So if they are draws of the distribution of the certificate, and
    were not used for it, the probability of ever raising an alarm is at most delta + alpha.
    After n examples the wealth is at most 2 ((1 + U) / (2 U))^n on any stream: while that is less than 2/alpha the
    bound is trivial.
Assumptions
    the examples are independent draws that were not used for the certificate, and its limit on the risk holds for them
    (trusted; an alarm refutes one or the other); the classifier stays frozen (trusted). An alarm does not affect a
    mistake bound, which needs neither.
Proof
    If the risk is at most U, the mean of each factor given the past is at most 1. So the wealth plus the capital still
    to be added is a supermartingale that starts at 2: apply Ville's inequality. The certificate fails with probability
    at most delta. []
    Each bet rounds by less than 8 * 2^-53 of the wealth, which an alarm must exceed.
Reference
    [ville1939]; [vovk2021] for betting against a hypothesis.
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Assumption, Bound, Words, number, theorem
from novikoff.drift.theorems.wealth_facts import alarm, refutable, wealth_bound

STAKE = 2.0
"""Total capital that is ever added."""


@dataclass(frozen=True, slots=True)
class MonitorFacts:
    """State of a monitor.

    Attributes:
        seen: Number of examples bet on.
        errors: Errors of the classifier on them.
        largest: Largest wealth so far.
        limit: Certified limit U on the risk.
        alpha: Probability that it ever raises a false alarm while the limit holds.
    """

    seen: int
    errors: int
    largest: float
    limit: float
    alpha: float

    @property
    def alarm(self) -> bool:
        """Whether the wealth ever reached 2/alpha."""
        return alarm(self.largest, self.alpha, self.seen, STAKE)


@theorem(
    "P",
    "ville1939",
    quantity="largest wealth",
    words=Words(
        covers="a classifier whose risk is at most its limit",
        why=(
            "it made {errors} errors on {examples} examples; bets that its error rate is above {limit:up} do not pay "
            "if it is not"
        ),
    ),
)
def monitor_alarm(facts: MonitorFacts) -> Bound:
    """Bound the largest wealth so far by 2/alpha."""
    share = number(facts.limit)
    claim = f"the examples are independent draws and the classifier's error rate is at most {share}"
    assumptions = [
        refutable(claim, facts.alarm, facts.largest),
        Assumption("the classifier did not change", "trusted"),
    ]
    gain = (1.0 + facts.limit) / (2.0 * facts.limit)
    quantities = {"errors": facts.errors, "limit": facts.limit}
    return wealth_bound(facts.largest, facts.alpha, facts.seen, STAKE, gain, assumptions, quantities)
