"""False alarms of a drift test: its wealth stays small on exchangeable examples, at every time at once.

Theorem (upper; kind P, for all rounds simultaneously)
    At rounds fixed in advance the hypothesis h is frozen. In the block up to the next such round let e_i = 1 if h errs
    on its example i, k errors before it, u_i a fresh coin in [0, 1):
        p_i = u_i (k + 1) / i  if e_i = 1,  else  (k + u_i (i - k)) / i.
    Wealth 1 is bet on these p: a third each on "fewer errors", on nothing, and on "more errors", which are multiplied
    by 1 + g, 1 and 1 - g, g = p - 1/2; before example number i of all, a share min(0.01, 1/i) of the capital is pooled
    and divided equally among the three. This is done three times, with g = p - 1/2, (p - 1/2)/4 and (p - 1/2)/16, a
    third of the wealth in each. If the examples are exchangeable (independent draws of one distribution are), then with
    probability at least 1 - alpha the wealth never reaches 1/alpha: the probability of ever raising an alarm is at most
    alpha. After n examples the wealth is at most 1.5^n on any stream: while that is less than 1/alpha the bound is
    trivial.
Assumptions
    the examples are exchangeable, i.e. every order of them is equally likely (trusted; an alarm refutes it); h stays
    frozen in its block (trusted; `DriftWatch` of drift/monitor.py freezes it); blocks end at rounds fixed in advance,
    independently of the data (checked: the test refuses others). No such test is possible on the mistakes of a learner
    that keeps learning: on independent examples these can be any sequence.
Proof
    Given the past at the freezing, h is fixed and the examples of the block are exchangeable, so e_1, .., e_b are.
    Given the number of errors among e_1, .., e_i and everything after i, e_i is a uniform draw from them, so p_i is
    uniform on [0, 1] and independent of p_{i+1}, .., p_b, which are functions of the given quantities. So the p are
    independent and uniform given the past at the freezing. The mean of 1 + g and of 1 - g is then 1, and redistribution
    conserves capital: the wealth is a martingale with respect to the past at the freezing and the p so far, and these
    sigma-algebras grow from block to block. Apply Ville's inequality. []
    Each bet rounds by less than 8 * 2^-53 of the wealth, which an alarm must exceed.
Reference
    [vovk2021] for the bets, [vovk2005] for the p-values, [ville1939].
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Assumption, Bound, Words, theorem
from novikoff.drift.theorems.wealth_facts import alarm, refutable, wealth_bound

STAKE = 1.0
"""Total capital."""
MOST = 1.5
"""Largest factor of one bet: 1 + g, g = p - 1/2 <= 1/2."""


@dataclass(frozen=True, slots=True)
class DriftFacts:
    """State of a drift test.

    Attributes:
        seen: Number of examples bet on.
        largest: Largest wealth so far.
        alpha: Probability that it ever raises a false alarm.
    """

    seen: int
    largest: float
    alpha: float

    @property
    def alarm(self) -> bool:
        """Whether the wealth ever reached 1/alpha."""
        return alarm(self.largest, self.alpha, self.seen, STAKE)


@theorem(
    "P",
    "vovk2021",
    quantity="largest wealth",
    words=Words(
        covers="exchangeable examples",
        why="if every order of the {examples} examples is equally likely, the bets are fair, and they started with 1",
    ),
)
def drift_alarm(facts: DriftFacts) -> Bound:
    """Bound the largest wealth so far by 1/alpha."""
    assumptions = [
        refutable("every order of the examples was equally likely", facts.alarm, facts.largest),
        Assumption("the errors of a block are those of one hypothesis that was fixed before it", "trusted"),
        Assumption("blocks end at rounds fixed in advance", "checked"),
    ]
    return wealth_bound(facts.largest, facts.alpha, facts.seen, STAKE, MOST, assumptions, {})
