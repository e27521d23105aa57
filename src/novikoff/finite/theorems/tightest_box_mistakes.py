"""Mistakes of the tightest box on a grid.

Theorem (upper; tight on a walk from corner to opposite corner in unit steps, all labelled +1)
    Let s_i be the side high_i - low_i of the box on axis i (0 when there is no box). On the grid {0 .. m-1}^dim,
        M  <=  [no box before, one after]  +  sum_i (s_i after - s_i before)  <=  1 + dim (m-1).
Assumptions
    coordinates are on the grid (checked): over the reals sides can grow by arbitrarily little, and no bound exists; see
    adversaries/rectangle_bisection.py.
    no -1 inside the box of the earlier positives (checked); this holds on every stream that some box labels perfectly.
Proof
    The learner predicts +1 exactly inside the box, so a mistake is a -1 inside, which is excluded, or a +1 outside. The
    first +1 creates the box, with sides 0. Any other +1 outside lies beyond the box on some axis, by at least 1 since
    coordinates are integers, and the box grows to contain it: that side by at least 1. No side ever shrinks, or exceeds
    m-1.
Reference
    [blumer1989] for the tightest box; [maass1994] for boxes on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, seen, theorem
from novikoff.core.errors import counted
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class TightestBoxFacts:
    """State of the learner that the theorem needs.

    Attributes:
        m: Values per axis of the grid; None over the reals.
        dim: Number of axes.
        boxes: 1 once a positive was observed, else 0.
        sides: Sum of the box's sides, in steps of the grid; 0 over the reals.
        contradictions: Rounds labelled -1 inside the box.
        contradicted_at: Round of the first contradiction; 0 if there was none.
        rounds: Rounds so far.
    """

    m: int | None
    dim: int
    boxes: int
    sides: int
    contradictions: int = 0
    contradicted_at: int = 0
    rounds: int = 0


@theorem(
    "D",
    "maass1994",
    words=Words(
        covers="labels of a box on a grid",
        why="each mistake creates the box ({created}) or moves one of its sides ({grown} steps)",
        before=("at most {a_priori} mistakes on any stream whose labels a box on the grid fits (1 + d (m - 1))",),
    ),
)
def tightest_box_mistakes(run: Run[TightestBoxFacts]) -> Bound:
    """Return M <= the box created plus the growth of its sides, in integers."""
    before, after = run.before, run.after
    contradictions = after.contradictions - before.contradictions
    needed = [
        seen("x is on a grid", after.m is not None),
        seen("no negative inside the box of earlier positives", not contradictions),
    ]
    if after.m is None:
        return Bound(None, needed, void="over the reals no bound exists (adversaries/rectangle_bisection.py)")
    created, grown, reason = after.boxes - before.boxes, after.sides - before.sides, ""
    if contradictions:
        first = "" if before.contradictions else f", first round {after.contradicted_at - before.rounds:,}"
        reason = (
            f"not realizable: {counted(contradictions, 'round')} labelled -1 inside the box of earlier positives{first}"
        )
    a_priori = 1 + after.dim * (after.m - 1)
    reported = {"created": created, "grown": grown, "contradictions": contradictions, "a_priori": a_priori}
    return Bound(created + grown, needed, reported, void=reason)


@tightest_box_mistakes.witnessed
def witness(run: Run[TightestBoxFacts]) -> dict[str, object]:
    """Return the growth of the box."""
    before, after = run.before, run.after
    return {"created": after.boxes - before.boxes, "grown": after.sides - before.sides}
