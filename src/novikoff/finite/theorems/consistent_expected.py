"""Expected mistakes of the learner that follows a fresh random consistent hypothesis each round.

Theorem (upper)
    Let p_t be the probability of a mistake at round t given the past, and H(k) = 1 + 1/2 + ... + 1/k. Then
        sum of p_t  <=  H(|V before|) - H(|V after|)  <=  ln(|V before| / |V after|)  <=  ln|H|.
    This holds on every stream, adaptive or not (kind D for the sum of p_t). If the stream does not depend on
    the draws (a file), the left side is E[M].
Assumptions
    a hypothesis is left at the end (checked); the filter is applied on every round (by construction; with
    mistake-driven filtering the theorem would be false).
Proof
    p_t = 1 - |V_{t+1}|/|V_t|, which is at most the sum of 1/k over k = |V_{t+1}|+1 .. |V_t|. Telescope.
Reference
    [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, not_realizable, outward, seen, theorem
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.types import Run


@theorem(
    "D",
    "shalevshwartz2014",
    quantity="expected mistakes",
    words=Words(
        covers="labels with a consistent hypothesis",
        why=(
            "{survivors} of {hypotheses} hypotheses agree with all labels; in each round the learner follows a random "
            "one of those left"
        ),
        before=(
            "at most {a_priori:up} expected mistakes on any stream whose labels a hypothesis fits (natural logarithm "
            "of {hypotheses} hypotheses)",
        ),
    ),
)
def consistent_expected(run: Run[VersionSpaceFacts]) -> Bound | None:
    """Return sum of p_t <= H(|V before|) - H(|V after|); None for a deterministic learner."""
    if run.deterministic:
        return None
    before, after = run.before, run.after
    reason = not_realizable(run)
    return Bound(
        outward(harmonic_difference(before.survivors, after.survivors)),
        [seen("some hypothesis is consistent with every label", not reason)],
        {"hypotheses": after.hypotheses, "survivors": after.survivors, "realised_mistakes": run.mistakes,
         "a_priori": math.log(after.hypotheses)},
        void=reason,
    )  # fmt: skip


def harmonic_difference(more: int, fewer: int) -> float:
    """Return 1/(fewer+1) + ... + 1/more."""
    if more - fewer <= 100_000:
        return math.fsum(1.0 / k for k in range(fewer + 1, more + 1))
    return harmonic(more) - harmonic(fewer)


def harmonic(k: int) -> float:
    """Return H(k) to the last few bits: summed for small k, else by Euler-Maclaurin (error below 1/(252 k^6))."""
    if k < 256:
        return math.fsum(1.0 / j for j in range(1, k + 1))
    euler = 0.57721566490153286061
    return math.log(k) + euler + 1 / (2 * k) - 1 / (12 * k * k) + 1 / (120 * k**4)
