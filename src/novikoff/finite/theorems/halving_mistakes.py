"""Halving's mistakes on a stream that some hypothesis labels perfectly.

Theorem (upper; tight on all functions of k points, see adversaries/majority_flip.py)
    Let W be the prior weight of the surviving hypotheses (their number if all weights are 1). Then
        M  <=  floor( log2( W before / W after ) ).
    A priori W before is that of all of H and W after is at least pi(h*), so M <= floor(log2(W(H)/pi(h*))):
    log2|H| without a prior, the length of the shortest correct program for the prior 2^-length. On grids:
    thresholds floor(log2(n+2)), rectangles floor(log2((m(m+1)/2)^d + 1)), halfspaces floor(d log2(2n+1)),
    a cover C of the sphere floor(log2|C|).
Assumptions
    a hypothesis is left at the end (checked). Nothing else: it also holds with mistake-driven filtering, with
    two or more labels, and for every tie rule.
Proof
    If the label was not the one predicted, the hypotheses that voted for it have no more weight than those that voted
    for the prediction, so at most half of W is left. M mistakes leave W after <= W before / 2^M.
Reference
    [littlestone1988]; [barzdin1972].
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, floor_log2, not_realizable, seen, theorem
from novikoff.core.errors import counted
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.types import Run


@theorem(
    "D",
    "littlestone1988",
    words=Words(
        covers="labels with a consistent hypothesis",
        why=(
            "{survivors} of {hypotheses} hypotheses agree with all labels: a total weight of {weight_after} out of "
            "{weight_before}. Every mistake removes at least half of the weight left"
        ),
        otherwise=(
            "{survivors} of {hypotheses} hypotheses agree with all labels. Every mistake removes at least half of "
            "those left"
        ),
        before=(
            "at most {a_priori} mistakes on any stream whose labels a hypothesis fits (log2 of the prior weight of all "
            "hypotheses, {weight_all}, over the least weight, {weight_least})",
            "at most {a_priori} mistakes on any stream whose labels a hypothesis fits (log2 of {hypotheses} "
            "hypotheses)",
        ),
    ),
)
def halving_mistakes(run: Run[VersionSpaceFacts]) -> Bound:
    """Return M <= floor(log2(W before / W after)), in integers."""
    before, after = run.before, run.after
    quantities = {"hypotheses": after.hypotheses, "survivors": after.survivors}
    if after.whole != after.hypotheses:  # there is a prior
        quantities |= {"weight_before": before.weight, "weight_after": after.weight}
        quantities |= {"weight_all": after.whole, "weight_least": after.lightest}
    quantities["a_priori"] = floor_log2(after.whole, after.lightest)
    reason = not_realizable(run)
    needed = [seen("some hypothesis is consistent with every label that removed others", not reason)]
    if reason:
        again = f"{reason}; restarted {counted(after.restarts - before.restarts, 'time')}"
        return Bound(None, needed, quantities, void=again)
    return Bound(floor_log2(before.weight, after.weight), needed, quantities)


@halving_mistakes.witnessed
def witness(run: Run[VersionSpaceFacts]) -> dict[str, object]:
    """Return the prior weight of the hypotheses before and after the game."""
    return {"before": run.before.weight, "after": run.after.weight}
