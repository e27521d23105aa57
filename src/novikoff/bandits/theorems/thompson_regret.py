"""Expected pseudo-regret of Thompson sampling, if the means are draws of its prior.

Theorem (upper; kind E)
    Let the mean losses of K arms be independent draws of the uniform distribution on [0, 1] and, given them, the rows
    of losses in [0, 1] independent draws with these means. The pseudo-regret is the sum of the gaps of the arms played.
    For every T, that of Thompson sampling has an expectation, over the means, the losses and the samples, of at most
        sqrt(K T ln K / 2).
    For fixed means, however chosen, it is no theorem; the mean over games with random means is what it bounds.
Assumptions
    the means are draws of the uniform prior (checked in a simulation by this library; refuted in one with given means;
    else trusted); given the means, rows are independent (checked in a simulation; refuted against an adversary; else
    trusted); the learner started untrained (checked); it learned from the recorded losses (checked).
Proof
    A loss that counts as one with its own value as probability is a coin with the arm's mean, so the posterior given
    these coins is Beta(1 + ones, 1 + zeros), and the plays depend on the past only through them. Let A be the best arm,
    p(a) = P(A = a) given the past, which is also the probability that a is played, independently of A; Y_a the coin of
    arm a in this round; d(a, b) = E[Y_a] - E[Y_a | A = b], given the past. The expected regret of the round is
        the sum over a of p(a) d(a, a)  <=  sqrt(K * the sum of p(a)^2 d(a, a)^2)
                                        <=  sqrt(K * the sum over a, b of p(a) p(b) d(a, b)^2),
    and Pinsker's inequality bounds d(a, b)^2 by half the divergence of Y_a given A = b from Y_a. The sum of p(a) p(b)
    times that divergence is the information I_t of the round on A. So the regret of the round is at most
    sqrt(K I_t / 2), that of T rounds at most sqrt(K T * the sum of E I_t / 2), and the information of all rounds is at
    most the entropy of A: ln K, as all arms are equally likely to be the best. []
Reference
    [russo2016], propositions 1 and 3.
"""

from __future__ import annotations

import math

from novikoff.bandits.theorems.bandit_facts import BanditFacts, in_expectation
from novikoff.core.certificate import Assumption, Bound, Standing, Words, rule, theorem
from novikoff.core.types import Run

STANDINGS: dict[str, Standing] = {"": "trusted", "prior": "checked", "means": "refuted"}
"""Standing of the prior, by the source of the means."""


@theorem(
    "E",
    "russo2016",
    quantity="pseudo-regret",
    where=rule("thompson"),
    words=Words(
        covers="Thompson sampling on independent losses whose means are draws of its prior",
        why="what the rounds can tell about the best of {arms} arms is at most ln {arms}",
    ),
)
def thompson_regret(run: Run[BanditFacts]) -> Bound:
    """Return sqrt(K T ln K / 2)."""
    after = run.after
    prior = Assumption("the mean losses are independent draws of the uniform prior", STANDINGS[after.source])
    return in_expectation(run, in_advance(after.arms, run.rounds), [prior])


def in_advance(arms: int, rounds: int) -> float:
    """Return sqrt(K T ln K / 2)."""
    return math.sqrt(0.5 * arms * rounds * math.log(arms))
