"""Mistakes that bisection of the circle forces on any learner of halfplanes.

Theorem (lower; tight: no learner can make more than one mistake per round)
    Let the arc of directions that fit the labels have V = b - a units before the game, 2^bits at the start. Against
    adversaries/plane_bisection.py a deterministic learner makes
        M  >=  min( T, floor(log2 V) ),
    though one halfplane through the origin separates everything that is shown.
Assumptions
    the learner is deterministic (checked): the adversary sees the prediction, not only its probabilities.
Proof
    <u(t), x> = (1 - t^2)(-2m) + 2t(1 - m^2) = 2 (t - m)(1 + t m), which has the sign of t - m for t, m in [0, 1]. The
    m shown is (a + b) // 2, so of V units the label leaves V - V//2 (on +1) or V//2 (on -1), at least floor(V/2).
    While V >= 2, m is strictly between a and b: both labels leave an arc, the one that was not predicted is given, and
    floor(log2 V) falls by at most one. x is exact in doubles, as m^2 has at most 52 bits: the learner saw that very x.
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from novikoff.core.certificate import Bound, Words, draws_nothing, floor_log2, theorem
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class PlaneBisectionFacts:
    """State of the adversary that the theorem needs.

    Attributes:
        bits: t is in units of 2^-bits.
        a: Lower end, in these units, of the interval in which every t fits every label.
        b: Upper end of that interval.
        rounds: Rounds answered.
        forced: Rounds in which both labels were still possible.
    """

    bits: int
    a: int
    b: int
    rounds: int
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
def plane_bisection_forced(run: Run[PlaneBisectionFacts]) -> Bound:
    """Return M >= min(T, floor(log2 V)), in integers."""
    before, after = run.before, run.after
    arc = before.b - before.a
    return Bound(
        min(run.rounds, floor_log2(arc, 1)),
        [draws_nothing(run)],
        {"arc_before": arc, "arc_after": after.b - after.a, "forced": after.forced - before.forced,
         "witness": witness_text(after)},
    )  # fmt: skip


def witness_text(facts: PlaneBisectionFacts) -> str:
    """Return a short text of the witness."""
    t = Fraction(facts.a + facts.b, 2 ** (facts.bits + 1))
    return f"{float(1 - t * t):.6g} x1 + {float(2 * t):.6g} x2 >= 0"
