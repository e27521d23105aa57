"""Mistakes that bisection forces on any learner of thresholds (or boxes) over the reals.

Theorem (lower; tight: no learner can make more than one mistake per round)
    Against adversaries/bisection.py and adversaries/rectangle_bisection.py a deterministic learner errs in
    every round, though some threshold (box) fits every label:
        M  >=  T.
    Played in doubles, as on vectors, or on a grid, T counts only the rounds before the interval had no number left
    inside.
Assumptions
    the learner is deterministic (checked): the adversary sees the prediction, not only its probabilities.
Proof
    All thresholds in (a, b] fit the labels so far and x lies strictly between a and b, so both labels of x leave
    an interval that is not empty. The adversary gives the one that was not predicted. theta = b fits them all.
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from novikoff.core.certificate import MOST_BITS, Bound, Words, draws_nothing, theorem
from novikoff.core.errors import brief
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class BisectionFacts:
    """State of the adversary that the theorem needs.

    Attributes:
        rounds: Rounds answered.
        exhausted_at: First round in which no number was left inside the interval; 0 if there was none.
        theta: A threshold that fits every label.
        axes: Number of axes of the box that the threshold is a side of; 0 on the line.
    """

    rounds: int
    exhausted_at: int
    theta: Fraction | float
    axes: int = 0


@theorem(
    "D",
    "littlestone1988",
    side="lower",
    words=Words(
        covers="deterministic learners",
        why="one target, {witness}, agrees with all its labels, so no learner can guarantee fewer",
    ),
)
def bisection_forced(run: Run[BisectionFacts]) -> Bound:
    """Return M >= the rounds in which the interval could still be cut."""
    before, after = run.before, run.after
    left = after.exhausted_at - 1 - before.rounds if after.exhausted_at else run.rounds
    forced = min(max(left, 0), run.rounds)
    exhausted = {"exhausted_at": after.exhausted_at} if after.exhausted_at else {}
    return Bound(forced, [draws_nothing(run)], {"forced": forced, **exhausted, "witness": witness_text(after)})


def witness_text(facts: BisectionFacts) -> str:
    """Return a short text of the witness; a very long Fraction is described by its length."""
    threshold = f"theta = {brief(facts.theta, MOST_BITS)}"
    if facts.axes == 0:
        return threshold
    return f"[theta, 2] x [-1, 1]^{facts.axes - 1}, {threshold}" if facts.axes > 1 else f"[theta, 2], {threshold}"


@bisection_forced.witnessed
def witness(run: Run[BisectionFacts]) -> dict[str, object] | None:
    """Return nothing, as the rounds are enough; None for boxes, and for a game that goes on."""
    return None if run.after.axes or run.before.rounds else {}
