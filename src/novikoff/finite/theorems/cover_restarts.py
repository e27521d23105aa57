"""Mistakes of Halving on finer and finer covers of the sphere.

Theorem (upper)
    Covers C_0, C_1, ... are played in turn, the next one when no hypothesis of the last is left. With C_K the last
    cover and V its survivors,
        M  <=  sum over k < K of (floor(log2|C_k|) + 1)  +  floor(log2(|C_K| / |V|)).
    C_k covers the unit sphere to epsilon_k = 2^-(k+1). If some unit vector u has y <u, x> >= margin and ||x|| <= R on
    every round, then K <= floor(log2(R / margin)), so at most floor(log2(R / margin)) + 1 covers are played. (Tight:
    two examples with margin 0.3 R on the circle use both covers that the bound allows.)
    Corollary, known before the game: with a margin above R 2^-(k+1), M <= sum over j < k of (floor(log2|C_j|) + 1) +
    floor(log2|C_k|), as C_k is never emptied (`a_priori`, for the last cover played).
    For a ledger opened in the middle of a game, the number of survivors at that time replaces |C_k| of the cover that
    was being played.
Assumptions
    no example x = 0 is labelled -1 (checked); the finest cover allowed was never emptied (checked): otherwise no
    margin is known to exist, and the certificate is void.
Proof
    Within a cover each mistake that leaves a survivor at least halves their number (halving_mistakes); the round that
    leaves none is one more mistake, as every survivor had voted for the other label. If epsilon_k < margin / R, the w
    of C_k nearest to u has y <w, x> >= margin - epsilon_k R > 0 on every round, so C_k is never emptied; this holds for
    every k with k + 1 > log2(R / margin).
Reference
    [littlestone1988] for one cover; the sum is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, floor_log2, seen, theorem
from novikoff.core.hypotheses import check_part
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class CoverFacts:
    """State of the learner that the theorem needs.

    Attributes:
        level: k; the cover in play has epsilon 2^-(k+1), and the margin is guessed to be R 2^-k.
        hypotheses: |C_k|.
        survivors: Hypotheses of C_k that are left.
        spent: Sum over the covers emptied so far of floor(log2|C|) + 1.
        capped: Number of times the finest cover allowed was emptied.
        zeros: Number of times x = 0 was labelled -1.
        rounds: Rounds so far.
    """

    level: int
    hypotheses: int
    survivors: int
    spent: int = 0
    capped: int = 0
    zeros: int = 0
    rounds: int = 0

    def __post_init__(self) -> None:
        check_part("survivors", self.survivors, self.hypotheses)


@theorem(
    "D",
    "littlestone1988",
    words=Words(
        covers="rows that a linear classifier separates with a margin",
        why=(
            "in cover {covers}, {survivors} of {hypotheses} directions agree with all labels, and every mistake "
            "removes at least half of those left"
        ),
        before=(
            "at most {a_priori} mistakes on any stream separated with a margin above {margin_above} R, R being the "
            "length of the longest row (log2 of {hypotheses} directions, and the bounds of the coarser covers)",
        ),
    ),
)
def cover_restarts(run: Run[CoverFacts]) -> Bound:
    """Return the sum of Halving's bound over the covers played, in integers."""
    before, after = run.before, run.after
    zeros, capped = after.zeros - before.zeros, after.capped - before.capped
    assumptions = [
        seen("no example x = 0 is labelled -1", not zeros),
        seen("the finest allowed cover was not emptied", not capped),
    ]
    quantities = {
        "covers": after.level + 1,
        "margin_guess": 2.0**-after.level,
        "hypotheses": after.hypotheses,
        "survivors": after.survivors,
    }
    if zeros or capped:
        reason = "not separable: x = 0 was labelled -1"
        if not zeros:
            reason = (
                f"no margin above {2.0 ** -(after.level + 1):g} R: the finest cover allowed, of "
                f"{after.hypotheses:,} points, was emptied (times: {capped:,})"
            )
        return Bound(None, assumptions, quantities, void=reason)
    if not after.capped:  # the sum over whole covers, from the first one on
        quantities["margin_above"] = 2.0 ** -(after.level + 1)
        quantities["a_priori"] = after.spent + floor_log2(after.hypotheses, 1)
    if after.level == before.level:
        bound = floor_log2(before.survivors, after.survivors)
    else:
        bound = after.spent - before.spent + floor_log2(after.hypotheses, after.survivors)
        bound -= floor_log2(before.hypotheses, 1) - floor_log2(before.survivors, 1)
    return Bound(bound, assumptions, quantities)
