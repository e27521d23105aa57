"""Risk of the majority vote of all hypotheses of a run, from its mistakes.

Theorem (upper; kind P, n fixed in advance, or for all n simultaneously)
    Let the vote predict the most frequent of H_0(x), .. , H_{n-1}(x), with any rule for ties; a hypothesis that
    predicted c examples has c votes (the one on which it erred included). With probability at least 1 - delta
        RISK(vote)  <=  2 rbar  <=  2 U,
    U the limit of online_to_batch/theorems/ensemble_risk_fixed.py if n was fixed in advance, else that of
    ensemble_risk.py. This holds with more than two labels too.
Assumptions
    Those of U. All hypotheses of the first pass vote. If only some vote, each drawn at random, 2 U bounds the risk on
    average over the draws. The sign of the mean of their weights is not covered.
Proof
    If the vote errs on (x, y), then y had no more votes than some other label: at least half of the votes were wrong.
    So RISK(vote) <= P(wrong share >= 1/2) <= 2 E[wrong share] = 2 rbar, by Markov's inequality. The event rbar <= U has
    probability 1 - delta, and the two certificates, on rbar and on the vote, hold together. The mean share over random
    draws is rbar as well. []
Reference
    [freund1999] for the voted Perceptron; [cesabianchi2008].
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.online_to_batch.theorems import ensemble_risk, ensemble_risk_fixed
from novikoff.online_to_batch.theorems.risk_facts import (
    MEAN,
    EnsembleFacts,
    ensemble_limit,
    in_advance,
    independent,
    quantities_of,
    risk_bound,
)


@theorem(
    "P",
    "freund1999",
    quantity="risk",
    words=Words(
        covers="independent examples from one distribution",
        why=(
            "a majority vote is wrong at most twice as often as its voters, which made {mistakes} mistakes on {rounds} "
            "new examples"
        ),
    ),
)
def voted_risk(facts: EnsembleFacts) -> Bound:
    """RISK(vote) <= 2 U, or its mean over the draw; observed is the mistake rate of the run."""
    assumptions = [independent(facts), *([in_advance(facts)] if facts.horizon else [])]
    quantities = quantities_of(facts, ensemble_risk_fixed.WHEN if facts.horizon else ensemble_risk.WHEN)
    bound = 2.0 * ensemble_limit(facts) if facts.rounds else None
    return risk_bound(bound, facts.mistakes, facts.rounds, assumptions, quantities, MEAN if facts.drawn else "")
