"""Mistakes forced by orthogonal vectors, which a large margin separates.

Theorem (lower; tight: the Perceptron makes no more, see linear/theorems/perceptron_margin.py)
    Against adversaries/orthogonal.py, which has j of its k vectors left to show, a deterministic learner makes
        M  >=  min( T, j ).
    With all k left and T >= k rounds, M >= k = R^2/margin^2, the most that Novikoff's theorem allows the Perceptron.
Assumptions
    the learner is deterministic (checked): the adversary sees the prediction, not only its probabilities.
Proof
    A vector not shown before gets the label that was not predicted. Whatever the labels y_i, u = sum y_i e_i has
    y_i <u, e_i> = 1 for every i and ||u|| = sqrt(k), so the margin is 1/sqrt(k); and R = 1.
Reference
    [novikoff1962].
"""

from __future__ import annotations

import math

from novikoff.adversaries.theorems.majority_flip_forced import MajorityFlipFacts, witness_text
from novikoff.core.certificate import Bound, Words, draws_nothing, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "novikoff1962",
    side="lower",
    words=Words(
        covers="deterministic learners",
        why="its {vectors} vectors are orthogonal, so a linear classifier fits any labels",
    ),
)
def orthogonal_forced(run: Run[MajorityFlipFacts]) -> Bound:
    """Return M >= min(T, vectors not shown before the game)."""
    before, after = run.before, run.after
    return Bound(
        min(run.rounds, before.k - len(before.said)),
        [draws_nothing(run)],
        {
            "vectors": after.k,
            "shown": len(after.said),
            "margin": 1.0 / math.sqrt(after.k),
            "witness": witness_text(after.said),
        },
    )


@orthogonal_forced.witnessed
def witness(run: Run[MajorityFlipFacts]) -> dict[str, object]:
    """Return the number of points."""
    return {"points": run.before.k}
