"""Mistakes of the learner that follows the first consistent hypothesis.

Theorem (upper; tight for thresholds in increasing order, on the stream 0, 1, ..., n, all labelled -1)
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

from novikoff.core.certificate import Bound, Words, not_realizable, seen, theorem
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.types import Run


@theorem(
    "D",
    "shalevshwartz2014",
    words=Words(
        covers="labels with a consistent hypothesis",
        why="{survivors} of {hypotheses} hypotheses agree with all labels, and every mistake removes at least one",
        before=(
            "at most {a_priori} mistakes on any stream whose labels a hypothesis fits (one less than the {hypotheses} "
            "hypotheses)",
        ),
    ),
)
def consistent_mistakes(run: Run[VersionSpaceFacts]) -> Bound | None:
    """Return M <= |V before| - |V after|; None for a randomised learner."""
    if not run.deterministic:
        return None
    before, after = run.before, run.after
    reason = not_realizable(run)
    return Bound(
        before.survivors - after.survivors,
        [seen("some hypothesis is consistent with every label", not reason)],
        {"hypotheses": after.hypotheses, "survivors": after.survivors, "a_priori": after.hypotheses - 1},
        void=reason,
    )


@consistent_mistakes.witnessed
def witness(run: Run[VersionSpaceFacts]) -> dict[str, object]:
    """Return the number of hypotheses before and after the game."""
    return {"before": run.before.survivors, "after": run.after.survivors}
