"""Risk of one of several hypotheses, from its errors on held-out examples.

Theorem (upper; kind P)
    Let H_1, .., H_c not depend on m held-out examples, E_j the errors of H_j on them, and U_j Clopper and Pearson's
    upper limit at level delta/c: the p at which at most E_j of m have probability delta/c (1 if E_j = m). With
    probability at least 1 - delta
        RISK(H_j)  <=  U_j   for all j together,
    so also for the j with the fewest errors.
Assumptions
    The held-out examples are independent draws from one distribution (trusted); the hypotheses were made without them,
    and their maximum number was fixed in advance (both by construction: checked).
Proof
    Given everything else H_j is fixed and E_j is binomial (m, RISK(H_j)); the limit is below the risk with probability
    at most its level (online_to_batch/theorems/best_risk.py). Add up the c levels. []
Reference
    [clopper1934].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, seen, theorem
from novikoff.online_to_batch.risk import clopper_pearson
from novikoff.online_to_batch.theorems.risk_facts import HeldFacts, independent, risk_bound


@theorem(
    "P",
    "clopper1934",
    quantity="risk",
    words=Words(
        covers="independent examples from one distribution",
        why="of at most {candidates} hypotheses, it made the fewest errors on {trials} held-out examples: {errors}",
    ),
)
def held_risk(facts: HeldFacts) -> Bound:
    """RISK(H_j) <= U_j; observed is the error rate of H_j."""
    assumptions = [
        independent(facts),
        seen("no more hypotheses were compared than planned", 1 <= facts.compared <= facts.candidates),
    ]
    quantities = {"candidates": facts.candidates, "errors": facts.errors, "trials": facts.trials, "delta": facts.delta}
    if not facts.trials:
        return risk_bound(None, 0, 0, assumptions, quantities)
    return risk_bound(limit(facts), facts.errors, facts.trials, assumptions, quantities)


def limit(facts: HeldFacts) -> float:
    """Return U_j."""
    level = math.nextafter(facts.delta / facts.candidates, 0.0)
    return clopper_pearson(facts.errors, facts.trials, level) if level else 1.0
