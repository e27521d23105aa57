"""Halving's mistakes on a stream that some hypothesis labels perfectly.

Theorem (upper; tight on all functions of k points, see adversaries/majority_flip.py)
    Let W be the prior weight of the surviving hypotheses (their number when all weigh the same). Then
        M  <=  floor( log2( W before / W after ) ).
    A priori W before is that of all of H and W after is at least pi(h*), so M <= floor(log2(W(H)/pi(h*))):
    log2|H| without a prior, the length of the shortest correct program for the prior 2^-length. On grids:
    thresholds floor(log2(n+2)), rectangles floor(log2((m(m+1)/2)^d + 1)), halfspaces floor(d log2(2n+1)),
    a cover C of the sphere floor(log2|C|).
Assumptions
    a hypothesis is left at the end (checked). Nothing else: with mistake-driven filtering too, with two labels
    or many, whatever the tie rule.
Proof
    If the label was not the one predicted, the hypotheses that voted for it weigh no more than those that voted
    for the prediction, so at most half of W stays. M mistakes leave W after <= W before / 2^M.
Reference
    [littlestone1988]; [barzdin1972].
"""

from __future__ import annotations

from novikoff.certificate import Assumption, Certificate, floor_log2, judge, not_realizable, void
from novikoff.hypotheses import VersionSpaceFacts
from novikoff.types import Run

REFERENCE = "littlestone1988"


def halving_mistakes(run: Run[VersionSpaceFacts]) -> Certificate:
    """M <= floor(log2(W before / W after)), in whole numbers."""
    before, after = run.before, run.after
    quantities = {"hypotheses": after.hypotheses, "survivors": after.survivors}
    if after.whole != after.hypotheses:  # there is a prior
        quantities |= {"weight_before": before.weight, "weight_after": after.weight}
    quantities["a_priori"] = floor_log2(after.whole, after.lightest)
    claim = "some hypothesis is consistent with every label it was filtered by"
    if reason := not_realizable(run):
        reason += f"; began again {after.restarts - before.restarts:,} times"
        return void("halving_mistakes", "D", reason, observed=run.mistakes, trivial=run.rounds,
                    assumptions=[Assumption(claim, "refuted")], reference=REFERENCE, quantities=quantities)  # fmt: skip
    return judge(
        "halving_mistakes",
        "D",
        observed=run.mistakes,
        bound=floor_log2(before.weight, after.weight),
        trivial=run.rounds,
        assumptions=[Assumption(claim, "checked")],
        quantities=quantities,
        reference=REFERENCE,
    )
