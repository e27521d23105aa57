"""Regret of any learner on labels that are fair coins, against the better of two constants.

Theorem (lower, with equality; kind E, over the adversary's coins and the learner's)
    Against adversaries/coin_flip.py, with m the mistakes of the better of "always -1" and "always +1", S_T the sum
    of T fair signs, and k = ceil(T / 2),
        E[M - m]  =  E|S_T| / 2  =  k C(2k, k) / 4^k  >=  sqrt(k / pi) exp(-1 / (8k)),
    about sqrt(T / (2 pi)): no learner, randomised or not, has regret of a smaller order on every stream.
Assumptions
    the coin is shown after the prediction (checked: the game was played against the adversary).
Proof
    Every prediction errs with probability 1/2, so E[M] = T/2; and m = (T - |S_T|)/2.
    For T = 2k, E|S_T| = T C(T, k)/2^T. From T = 2k - 1 to 2k the mean of |S| does not change, as S is odd, so not 0.
    Let r_k = sqrt(pi k) C(2k, k)/4^k exp(1/(8k)). Then r_{k+1}/r_k = sqrt(1 + 1/(4k(k+1))) exp(-1/(8k(k+1))) < 1,
    and r_k tends to 1 (Wallis), so r_k > 1.
Observed
    M - m; for a randomised learner, the sum of its probabilities of a mistake in place of M: the same mean over its
    coins, without their noise.
Reference
    [cesabianchi2006], chapter 3.
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.adversaries.theorems.contrarian_regret import AnswerCounts, better_constant
from novikoff.core.certificate import Bound, Words, seen, theorem
from novikoff.core.types import Run

LARGEST_EXACT = 10_000
"""Most rounds for which the binomial coefficient is computed; above, the lower bound is within 1e-13 of it."""


@theorem(
    "E",
    "cesabianchi2006",
    quantity="regret",
    side="lower",
    words=Words(
        covers="labels that are fair coin flips",
        why="the best constant, {witness}, made {best_mistakes} mistakes",
    ),
)
def coin_flip_regret(run: Run[AnswerCounts]) -> Bound:
    """Return E[M - m] = E|S_T|/2, rounded down."""
    label, fewest = better_constant(run.constants)
    return Bound(
        half_mean_distance(run.rounds),
        [seen("the coin is shown after the prediction", run.adaptive)],
        {"realised_mistakes": run.mistakes, "best_mistakes": fewest, "witness": f"always {label:+d}"},
        observed=(run.mistakes if run.deterministic else run.expected) - fewest,
    )


def half_mean_distance(rounds: int) -> float:
    """Return E|S_T|/2 for the sum S_T of T fair signs: never more than the true value, and within 2e-12 of it."""
    k = (rounds + 1) // 2
    if rounds > LARGEST_EXACT:
        return math.sqrt(k / math.pi) * math.exp(-1 / (8 * k)) * (1 - 1e-12)
    exact = Fraction(k * math.comb(2 * k, k), 4**k)
    nearest = float(exact)
    return math.nextafter(nearest, 0.0) if Fraction(nearest) > exact else nearest
