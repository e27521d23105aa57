"""Mistakes that bisection forces on any learner of thresholds on a grid.

Theorem (lower; tight: ThresholdHalving makes no more, see finite/theorems/halving_mistakes.py)
    Let V be the number of thresholds that fit the labels before the game, n + 2 at the start. Against
    adversaries/grid_bisection.py a deterministic learner makes
        M  >=  min( T, floor(log2 V) ).
Assumptions
    the learner is deterministic (checked): the adversary sees the prediction, not only its probabilities.
Proof
    The x shown splits V into floor(V/2) thresholds that label it +1 and ceil(V/2) that label it -1, so while V >= 2 the
    label that was not predicted leaves at least floor(V/2) >= 1, and floor(log2 V) falls by at most one.
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import MOST_BITS, Bound, Words, draws_nothing, floor_log2, theorem
from novikoff.core.errors import brief
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class GridBisectionFacts:
    """State of the adversary that the theorem needs.

    Attributes:
        n: Last point of the grid 0 .. n.
        lo: Smallest threshold k that fits every label.
        hi: Largest threshold k that fits every label.
        forced: Rounds in which both labels were still possible.
    """

    n: int
    lo: int
    hi: int
    forced: int


@theorem(
    "D",
    "littlestone1988",
    side="lower",
    words=Words(
        covers="deterministic learners",
        why="one target, {witness}, agrees with all its labels, so no learner can guarantee fewer",
    ),
)
def grid_bisection_forced(run: Run[GridBisectionFacts]) -> Bound:
    """Return M >= min(T, floor(log2 V)), in integers."""
    before, after = run.before, run.after
    fit = before.hi - before.lo + 1
    return Bound(
        min(run.rounds, floor_log2(fit, 1)),
        [draws_nothing(run)],
        {
            "thresholds_before": fit,
            "thresholds_after": after.hi - after.lo + 1,
            "forced": after.forced - before.forced,
            "witness": witness_text(after),
        },
    )


def witness_text(facts: GridBisectionFacts) -> str:
    """Return a short text of the witness; a very long number is described by its length."""
    return "always -1" if facts.hi > facts.n else f"x >= {brief(facts.hi, MOST_BITS)}"


@grid_bisection_forced.witnessed
def witness(run: Run[GridBisectionFacts]) -> dict[str, object] | None:
    """Return the grid, and the number of thresholds that fit in the end."""
    new = run.before.lo == 0 and run.before.hi == run.before.n + 1
    return {"n": run.before.n, "after": run.after.hi - run.after.lo + 1} if new else None
