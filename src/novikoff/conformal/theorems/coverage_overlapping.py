"""Deviation of the fraction of misses from its target in each of several overlapping groups.

Theorem (upper; 68 % of it is reached if all rows of one group are missed, each of them in another group too)
    Scores, sets and misses as in coverage_deviation, B = 1. A row is in m groups, or only in the group "all others".
    Each group g has w_g = b_g + step (misses_g - alpha T_g) over its rows so far, b_g = start/m (start for "all
    others"), and the threshold of a row is the sum of w_g over its groups. With M misses in T rounds and G groups, for
    every group
        |misses_g/T_g - alpha|  <=  (sqrt(W) + start) / (step T_g),
        W = (1 + G/m^2) start^2 + 2 step (1 - alpha) M + step^2 m ((1 - alpha)^2 M + alpha^2 (T - M)).
Assumptions
    the ledger recorded every round of the learner, and counted the same misses; each threshold agrees with the misses
    of its groups, an equality (checked).
Proof
    A round moves w of its groups by d = step (miss - alpha) each, and their sum is q: the sum of all w^2 grows by at
    most 2 d q + m d^2. A miss has q < B = 1, so d q <= step (1 - alpha); without a miss q >= 0, because an empty set
    always misses, and d q <= 0. At first the sum is at most (1 + G/m^2) start^2. So it is at most W, each |w_g| is at
    most sqrt(W), and misses_g - alpha T_g = (w_g - b_g)/step. [] Rounding: q is computed from integers, within r, a few
    units of 2^-53 of its size; that adds at most 2 step r T to W.
Reference
    [gibbs2021] for the equality; [zinkevich2003]: this is online gradient descent on the pinball loss.
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.conformal.theorems.coverage_facts import CoverageFacts
from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "gibbs2021",
    "deviation of coverage",
    words=Words(
        covers="thresholds that move with every group a row belongs to",
        why="the excess misses of the {groups} groups together grow little after a miss and shrink after a hit",
    ),
)
def coverage_overlapping(run: Run[object]) -> Bound | None:
    """Bound the deviation of the group farthest from its target; None where groups do not overlap."""
    facts = run.coverage
    if facts is None or not facts.overlapping or not run.rounds:
        return None
    assert isinstance(facts, CoverageFacts)
    ahead = {name: sum((facts.ahead(cell) for cell in cells), Fraction()) for name, cells in facts.overlapping}
    rounds = {name: sum(facts.rounds[cell] for cell in cells) for name, cells in facts.overlapping}
    worst = max((name for name in rounds if rounds[name]), key=lambda name: abs(ahead[name]))
    alpha, step, first = facts.alpha, facts.step, (1.0 + len(rounds) / facts.columns**2) * facts.start**2
    misses, played = sum(facts.misses), sum(facts.rounds)
    off = float(Fraction(8, 2**53) * (2 + Fraction(step) * facts.columns * (2 * played + 1)))
    squares = (1.0 - alpha) ** 2 * misses + alpha**2 * (played - misses)
    whole = first + 2.0 * step * (1.0 - alpha) * misses + step**2 * facts.columns * squares
    most = math.sqrt(whole + 2.0 * step * off * played) * (1.0 + 2.0**-50) + facts.start
    excess = {cell: sum((ahead[name] for name, cells in facts.overlapping if cell in cells), Fraction())
            for cell in range(len(facts.groups))}  # fmt: skip
    follows = all(abs(Fraction(facts.after[cell]) - Fraction(facts.start) - Fraction(step) * more) <= 2 * off
                  for cell, more in excess.items())  # fmt: skip
    same = (facts.played, facts.missed) == (facts.rounds, facts.misses)
    return Bound(
        outward(most / (step * rounds[worst])),
        [seen("the ledger and the thresholds counted the same rounds and misses", same),
         seen("each threshold agrees with the misses of its groups", follows)],
        {"alpha": alpha, "step": step, "misses": misses, "group": worst, "groups": len(rounds)},
        observed=float(abs(ahead[worst]) / rounds[worst]),
        trivial=max(alpha, 1.0 - alpha),
    )  # fmt: skip
