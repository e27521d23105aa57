"""False alarms of a monitor: its wealth stays small while the certified limit on the risk holds, at every time at once.

Theorem (upper; kind P, for all rounds simultaneously)
    A classifier is frozen whose risk was certified to be at most U with probability 1 - delta. On its error e on each
    example since, wealth is multiplied by 1 + (e - U) 2^-k / U, in eight equal parts, k = 1 .. 8. Fresh capital comes
    in before examples number 1024 j, j = 0, 1, ..: 2/((j+1)(j+2)), which is 1 at first and 2 in all.
    If the examples are independent draws of a distribution on which the risk is at most U, then with probability at
    least 1 - alpha the wealth never reaches 2/alpha. So if they are draws of the distribution that the certificate
    speaks of, and were not used for it, an alarm is ever raised with chance at most delta + alpha.
    After n examples the wealth is at most 2 ((1 + U) / (2 U))^n, whatever they are: where that is less than 2/alpha the
    bound says nothing.
Assumptions
    the examples are independent draws that were not used for the certificate, and its limit on the risk holds for them
    (trusted; an alarm refutes one or the other); the classifier stays frozen (trusted). An alarm says nothing of a
    mistake bound, which needs neither.
Proof
    If the risk is at most U, the mean of each factor given the past is at most 1. So the wealth and what is still to
    come in are together a supermartingale that begins at 2: Ville's inequality. The certificate fails with chance at
    most delta. []
    Each bet rounds by less than 8 * 2^-53 of the wealth, which an alarm must exceed.
Reference
    [ville1939]; [vovk2021] for bets against a hypothesis that is still to be refuted.
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Assumption, Bound, Words, number, theorem
from novikoff.drift.theorems.wealth_facts import alarm, refutable, wealth_bound

STAKE = 2.0
"""Total capital that is ever put in."""


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
