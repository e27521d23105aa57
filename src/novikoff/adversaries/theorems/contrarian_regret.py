"""Regret that the contrarian forces on any learner, against the better of two constants.

Theorem (lower; tight on a learner that predicts -1 and +1 in turn)
    Against adversaries/contrarian.py a deterministic learner errs in every round, while "always -1" and
    "always +1" share the rounds between them. With m the mistakes of the better one,
        M - m  >=  ceil(T / 2).
    So no such learner has M <= c m + o(T) with c < 2.
Assumptions
    the learner is deterministic (checked): the adversary sees the prediction, not only its probabilities. A randomised
    learner can do much better: regret of the order of sqrt(T).
Proof
    M = T, and each round is a mistake of exactly one of the constants, so m <= floor(T / 2).
Reference
    [shalevshwartz2014], chapter 21; [cesabianchi2006], chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, draws_nothing, theorem
from novikoff.core.types import Label, Run


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """Numbers of labels -1 and +1 given by an adversary: the mistakes of "always +1" and of "always -1"."""

    negatives: int
    positives: int


@theorem(
    "D",
    "shalevshwartz2014",
    quantity="regret",
    side="lower",
    words=Words(
        covers="deterministic learners",
        why="the best constant, {witness}, made {best_mistakes} mistakes",
    ),
)
def contrarian_regret(run: Run[AnswerCounts]) -> Bound:
    """Return M - m >= ceil(T/2), in integers."""
    label, fewest = better_constant(run.constants)
    return Bound(
        (run.rounds + 1) // 2,
        [draws_nothing(run)],
        {"mistakes": run.mistakes, "best_mistakes": fewest, "witness": f"always {label:+d}"},
        observed=run.mistakes - fewest,
    )


def better_constant(constants: tuple[int, int]) -> tuple[Label, int]:
    """Return the label and the mistakes of the better constant, given those of -1 and of +1; a tie gives +1."""
    always_negative, always_positive = constants
    return (1, always_positive) if always_positive <= always_negative else (-1, always_negative)


@contrarian_regret.witnessed
def witness(run: Run[AnswerCounts]) -> dict[str, object]:
    """Return nothing: the rounds are enough."""
    return {}
