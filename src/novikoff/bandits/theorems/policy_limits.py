"""Loss of a policy, estimated from a log: lower and upper limits, at all times at once.

Theorem (upper; kind P, for all T simultaneously)
    In round t losses l_t(i) in [0, 1] are fixed, then arm I_t is drawn with known probabilities p_t(i). For N policies
    with probabilities q_t(i), fixed before the draw (always playing arm i is one), and a grid of C numbers gamma that
    was fixed before the first round, with probability at least 1 - delta, for all policies and all T at once, the loss
    of each policy is
        at least   max over gamma of  S(l) - ln(2 N C / delta) / (2 gamma),
        at most    T - max over gamma of  S(1 - l) - ln(2 N C / delta) / (2 gamma),
    where S(l) is the sum of q l / (p + gamma) over the rounds, q the policy's probability of the arm that was played.
    The reported bound is the upper limit of one policy, per round; the lower limit is the quantity `at_least`. The
    observed value is an estimate, S(l) / T with the smallest gamma, clipped to the limits.
Assumptions
    losses are in their range (checked); the losses of a round were fixed before its draw (trusted for a log); the
    probabilities are those of the draws (trusted, or refuted if impossible: bandits/off_policy.py); a log contains all
    arms (trusted, unless their number is given).
Proof
    As for bandits/theorems/observable_regret.py, once for the losses l and once for 1 - l, whose sum is T less the loss
    of the policy; 2 N C statements. []
Reference
    [neu2015] for one gamma and T fixed in advance; [ville1939].
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.bandits.theorems.bandit_facts import BanditFacts, at_least, draws, game
from novikoff.core.certificate import Bound, Words, theorem
from novikoff.core.types import Run

DOWN = 1.0 - 1e-12
"""Factor that exceeds the rounding of a division by T."""


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """One policy and a log.

    Attributes:
        log: The log, as a run.
        policies: Number N of policies for which the limits hold at once.
        losses: S(l) for each gamma.
        savings: S(1 - l) for each gamma.
    """

    log: Run[BanditFacts]
    policies: int
    losses: tuple[float, ...]
    savings: tuple[float, ...]


@theorem(
    "P",
    "neu2015",
    quantity="loss per round",
    words=Words(
        covers="policies on a log of arms that were drawn with known probabilities",
        why=(
            "from the losses observed in {rounds} rounds, the policy loses at least {at_least:down} per round, and at "
            "most the bound"
        ),
    ),
)
def policy_limits(facts: PolicyFacts) -> Bound:
    """Return the upper limit on the policy's loss per round, from 0 to 1."""
    run, log, statements = facts.log, facts.log.after, 2 * facts.policies
    assumptions = [*game(run), *draws(run)]
    if not log.rounds:
        return Bound(None, assumptions, observed=0.0, trivial=1, void="there were no rounds")
    low = max(at_least(log, facts.losses, statements), 0.0) / log.rounds * DOWN
    high = 1.0 - max(at_least(log, facts.savings, statements), 0.0) / log.rounds * DOWN
    finest = log.gammas.index(min(log.gammas))
    return Bound(
        high,
        assumptions,
        {"rounds": log.rounds, "at_least": low, "policies": facts.policies, "delta": log.delta,
         "when": "at all rounds at once"},
        observed=min(max(facts.losses[finest] / log.rounds, low), high),
        trivial=1.0,
        quantity="estimated loss per round",
        why="no loss is above 1",
    )  # fmt: skip
