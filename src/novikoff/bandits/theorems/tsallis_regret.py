"""Regret of Tsallis-INF, as it can be told in advance: in expectation.

Theorem (upper; kind E)
    On every table of losses in [0, 1] that was fixed in advance, for every T, the expected regret of Tsallis-INF on K
    arms with eta_t = 1/sqrt t is at most
        4 sqrt(K T) - 2 sqrt T.
    No learner has a smaller order: sqrt(K T) is forced by random tables. It speaks of losses that a bandit does not
    see: only where the whole table is known is the regret beside it. Told is the regret of the mean loss under the
    chances of each round, whose expectation is the same.
Assumptions
    the table was fixed in advance (checked for files, arrays and lists; else trusted); the learner began with nothing
    (checked); its probabilities sum to 1 (checked).
Proof
    Take expectations in tsallis_pathwise.py. The mean of E_i is L_i. The sum of sqrt p(i) is at most sqrt K, so the
    first sum is at most (2 sqrt K - 2) sqrt T. A term of the second is at most eta_t e^2 p(I)^(3/2) <=
    eta_t / sqrt p(I), whose mean is eta_t * the sum of sqrt p(i), at most sqrt(K / t); and these add up to
    2 sqrt(K T) at most. []
Reference
    [zimmert2021], theorem 1; [auer2002] for the lower bound.
"""

from __future__ import annotations

import math

from novikoff.bandits.theorems.bandit_facts import BanditFacts, common, game, own_books, regret, why_void
from novikoff.core.certificate import NO_LARGER, Bound, Words, fixed_in_advance, largest_regret, outward, seen, theorem
from novikoff.core.types import Run


@theorem(
    "E",
    "zimmert2021",
    quantity="regret",
    words=Words(
        covers="Tsallis-INF on a table that was fixed in advance",
        why="this bound is known in advance, for every table of losses",
    ),
)
def tsallis_regret(run: Run[BanditFacts]) -> Bound | None:
    """Return 4 sqrt(K T) - 2 sqrt T; None for other rules."""
    after = run.after
    if after.rule != "tsallis" or not run.rounds:
        return None
    observed, quantity = regret(run)
    return Bound(
        outward(in_advance(after.arms, run.rounds)),
        [*game(run), own_books(run), fixed_in_advance(run), seen("its probabilities sum to 1", after.off <= 1e-9)],
        common(after),
        observed=run.expected - after.best_loss if after.table else observed,
        trivial=largest_regret(run.rounds, 1.0, after.best_loss) if after.table else run.loss,
        quantity="expected regret" if after.table else quantity,
        why=NO_LARGER,
        void=why_void(run),
    )


def in_advance(arms: int, rounds: int) -> float:
    """Return 4 sqrt(K T) - 2 sqrt T, which is 2 sqrt T too much if there is nothing to choose."""
    return 4.0 * math.sqrt(arms * rounds) - 2.0 * math.sqrt(rounds)
