"""Mistakes forced on any learner of all functions on k points.

Theorem (lower; tight: Halving on all 2^k functions makes no more, see finite/theorems/halving_mistakes.py)
    Against adversaries/majority_flip.py, which has j of its k points left to show, a deterministic learner makes
        M  >=  min( T, j ).
Assumptions
    the learner is deterministic (checked): the adversary sees the prediction, not only its probabilities.
Proof
    A point not shown before may have either label: some function on the k points agrees with all
    labels so far and with any label here. The adversary gives the one that was not predicted.
Reference
    [littlestone1988].
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, draws_nothing, theorem
from novikoff.core.errors import counted
from novikoff.core.types import Label, Run

MOST_POINTS = 64
"""Largest number of points for which a witness is printed in full; above, only its counts."""


@dataclass(frozen=True, slots=True)
class MajorityFlipFacts:
    """State of the adversary that the theorem needs.

    Attributes:
        k: Number of points.
        said: Labels of the points shown so far.
    """

    k: int
    said: tuple[Label, ...]


@theorem(
    "D",
    "littlestone1988",
    side="lower",
    words=Words(
        covers="deterministic learners",
        why="every labelling of its {points} points is allowed; {shown} of them were shown",
    ),
)
def majority_flip_forced(run: Run[MajorityFlipFacts]) -> Bound:
    """Return M >= min(T, points not shown before the game)."""
    before, after = run.before, run.after
    left = min(run.rounds, before.k - len(before.said))
    return Bound(
        left, [draws_nothing(run)], {"points": after.k, "shown": len(after.said), "witness": witness_text(after.said)}
    )


@majority_flip_forced.witnessed
def witness(run: Run[MajorityFlipFacts]) -> dict[str, object]:
    """Return the number of points."""
    return {"points": run.before.k}


def witness_text(said: tuple[Label, ...]) -> str:
    """Return a short text of the labels of the points shown."""
    if len(said) <= MOST_POINTS:
        return "".join("+" if label == 1 else "-" for label in said)
    return f"{counted(said.count(1), 'point')} +1, {counted(said.count(-1), 'point')} -1"
