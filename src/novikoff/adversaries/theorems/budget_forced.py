"""Mistakes forced on a learner that stores at most B examples.

Theorem (lower; tight: no learner errs more than in every round, and the Perceptron makes B + 1 mistakes and no more)
    Against adversaries/budget_ruin.py, with j of its B + 1 vectors left to show, a deterministic learner makes
        M  >=  min( T, j ),
    and if its score is a combination of at most B of the vectors shown, and 0 predicts +1, it errs in every round:
        M  >=  T.
    All the while some u with ||u|| = sqrt(B + 1) has no hinge loss, and ||x|| = 1. So no learner with B examples has a
    bound that is finite for every such u: the condition ||u|| < sqrt B in kernel/theorems/rbp_expected.py is needed.
Assumptions
    the learner is deterministic (checked): the adversary sees the prediction, not only its probabilities. That it
    stores at most B examples shows in its predictions: it was never right on all B + 1 vectors at once. If it was, the
    first bound is reported.
Proof
    A vector not shown before gets the label that was not predicted. As long as the learner is wrong on some vector, the
    adversary shows such a one. A combination of at most B of the vectors is 0 on a vector that is not among them, and
    so predicts +1 there. If that vector was not shown before, its label is the opposite; if it was, it was not stored
    at that time either, so its label is -1. In both cases the learner errs. Whatever the labels y_i, u = sum y_i e_i
    has y_i <u, e_i> = 1 for every i.
Reference
    [dekel2008].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.adversaries.theorems.majority_flip_forced import witness_text
from novikoff.core.certificate import Bound, Words, draws_nothing, theorem
from novikoff.core.types import Label, Run


@dataclass(frozen=True, slots=True)
class BudgetRuinFacts:
    """State of the adversary that the theorem needs.

    Attributes:
        budget: B.
        said: Labels of the vectors shown so far.
        escapes: Rounds in which the learner was right on all B + 1 vectors.
    """

    budget: int
    said: tuple[Label, ...]
    escapes: int


@theorem(
    "D",
    "dekel2008",
    side="lower",
    words=Words(
        covers="deterministic learners",
        why=(
            "it shows {vectors} vectors, one more than the learner can store; one target, {witness}, agrees with all "
            "its labels"
        ),
    ),
)
def budget_forced(run: Run[BudgetRuinFacts]) -> Bound:
    """Return M >= T if the learner was never right on all vectors, else M >= min(T, vectors left to show)."""
    before, after = run.before, run.after
    escapes = after.escapes - before.escapes
    return Bound(
        min(run.rounds, before.budget + 1 - len(before.said)) if escapes else run.rounds,
        [draws_nothing(run)],
        {
            "budget": after.budget,
            "vectors": after.budget + 1,
            "escapes": escapes,
            "norm": math.sqrt(after.budget + 1),
            "witness": witness_text(after.said),
        },
    )


@budget_forced.witnessed
def witness(run: Run[BudgetRuinFacts]) -> dict[str, object] | None:
    """Return the budget, where it forces a mistake in every round."""
    played = run.before.said or run.after.escapes > run.before.escapes
    return None if played else {"points": run.before.budget + 1, "budget": run.before.budget}
