"""Mistakes of the learner that follows the first consistent hypothesis.

Theorem (upper; tight on thresholds taken in increasing order, shown 0, 1, ..., n all labelled -1)
        M  <=  |V before| - |V after|  <=  |H| - 1,
    where V is the set of hypotheses consistent with every round so far.
Assumptions
    a hypothesis is left at the end (checked); the prediction is that of one surviving hypothesis (by construction).
Proof
    A mistake removes at least the hypothesis that was followed.
Reference
    [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from novikoff.certificate import Assumption, Certificate, judge, not_realizable, void
from novikoff.hypotheses import VersionSpaceFacts
from novikoff.types import Run

REFERENCE = "shalevshwartz2014"


def consistent_mistakes(run: Run[VersionSpaceFacts]) -> Certificate | None:
    """M <= |V before| - |V after|; None for the learner that draws its hypothesis."""
    if not run.deterministic:
        return None
    before, after = run.before, run.after
    claim = "some hypothesis is consistent with every label"
    quantities = {
        "hypotheses": after.hypotheses,
        "survivors": after.survivors,
        "a_priori": after.hypotheses - 1,
    }
    if reason := not_realizable(run):
        return void("consistent_mistakes", "D", reason, observed=run.mistakes, trivial=run.rounds,
                    assumptions=[Assumption(claim, "refuted")], reference=REFERENCE, quantities=quantities)  # fmt: skip
    return judge(
        "consistent_mistakes",
        "D",
        observed=run.mistakes,
        bound=before.survivors - after.survivors,
        trivial=run.rounds,
        assumptions=[Assumption(claim, "checked")],
        quantities=quantities,
        reference=REFERENCE,
    )
