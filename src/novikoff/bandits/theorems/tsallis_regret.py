"""Expected regret of Tsallis-INF, by a bound known in advance.

Theorem (upper; kind E)
    On every table of losses in [0, 1] that was fixed in advance, for every T, the expected regret of Tsallis-INF on K
    arms with eta_t = 1/sqrt t is at most
        4 sqrt(K T) - 2 sqrt T.
    No learner has a smaller order: random tables force sqrt(K T). The regret depends on losses that a bandit does not
    observe: it is reported only if the whole table is known. It is that of the mean loss under the probabilities of
    each round, which has the same expectation.
Assumptions
    the table was fixed in advance (checked for files, arrays and lists; else trusted); the learner started untrained
    (checked); its probabilities sum to 1 (checked).
Proof
    Take expectations in tsallis_pathwise.py. The mean of E_i is L_i. The sum of sqrt p(i) is at most sqrt K, so the
    first sum is at most (2 sqrt K - 2) sqrt T. A term of the second is at most eta_t e^2 p(I)^(3/2) <=
    eta_t / sqrt p(I), whose mean is eta_t * the sum of sqrt p(i), at most sqrt(K / t); and these sum to at most
    2 sqrt(K T). []
Reference
    [zimmert2021], theorem 1; [auer2002] for the lower bound.
"""

from __future__ import annotations

import math

from novikoff.bandits.theorems.bandit_facts import BanditFacts, common, game, regret, same_losses, why_void
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
        [*game(run), same_losses(run), fixed_in_advance(run), seen("its probabilities sum to 1", after.off <= 1e-9)],
        common(after),
        observed=run.expected - after.best_loss if after.table else observed,
        trivial=largest_regret(run.rounds, 1.0, after.best_loss) if after.table else run.loss,
        quantity="expected regret" if after.table else quantity,
        why=NO_LARGER,
        void=why_void(run),
    )


def in_advance(arms: int, rounds: int) -> float:
    """Return 4 sqrt(K T) - 2 sqrt T; with a single arm, where the regret is 0, that is 2 sqrt T."""
    return 4.0 * math.sqrt(arms * rounds) - 2.0 * math.sqrt(rounds)
