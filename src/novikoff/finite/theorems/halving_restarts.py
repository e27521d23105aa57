"""Halving's mistakes on a stream that no hypothesis labels perfectly.

Theorem (upper)
    When no hypothesis is left, Halving restarts with all of H. With r restarts, w the smallest prior weight of a
    hypothesis and W the total prior weight of the survivors,
        M  <=  floor(log2(W before / w)) + 1  +  (r-1) (floor(log2(W(H) / w)) + 1)  +  floor(log2(W(H) / W after)).
    In every phase that ended with no hypothesis left each hypothesis erred, so r is at most the number m of mistakes of
    the best hypothesis: M <= (m+1) (floor(log2(W(H) / w)) + 1).
Assumptions
    none: r is counted on the run.
Proof
    Within a phase each mistake that leaves a survivor at least halves W (halving_mistakes), and a survivor has weight
    at least w. The round that leaves none is one more mistake: every survivor had voted for another label.
Reference
    [littlestone1988] for the phase; the sum is ours.
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, floor_log2, theorem
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.types import Run


@theorem(
    "D",
    "littlestone1988",
    words=Words(
        covers="a learner that restarts when no hypothesis is left",
        why="it restarted {restarts} times, and makes at most {mistakes_per_phase} mistakes between two restarts",
    ),
)
def halving_restarts(run: Run[VersionSpaceFacts]) -> Bound | None:
    """Return the sum of Halving's bound over the phases between restarts; None if there was no restart."""
    before, after = run.before, run.after
    restarts = after.restarts - before.restarts
    if restarts == 0:
        return None
    phase = floor_log2(after.whole, after.lightest) + 1
    bound = floor_log2(before.weight, after.lightest) + 1 + (restarts - 1) * phase
    bound += floor_log2(after.whole, after.weight)
    return Bound(bound, quantities={"restarts": restarts, "mistakes_per_phase": phase, "survivors": after.survivors})


@halving_restarts.witnessed
def witness(run: Run[VersionSpaceFacts]) -> dict[str, object]:
    """Return the restarts, and the weight of the hypotheses before and after the game."""
    before, after = run.before, run.after
    return {"restarts": after.restarts - before.restarts, "before": before.weight, "after": after.weight}
