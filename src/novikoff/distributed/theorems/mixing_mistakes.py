"""Mistakes of the Perceptron that is mixed after every epoch, against the hinge loss of any linear comparator.

Theorem (upper; tight where every shard is e_1 .. e_k, all labelled -1)
    In epoch n every shard i begins with w^(n-1), plays the Perceptron once over its rows, makes k_in mistakes and ends
    with w_in; then w^(n) = sum_i mu_in w_in, mu_in >= 0, sum_i mu_in = 1, and w^(0) = 0. Let K = sum mu_in k_in, and
    D = sum mu_in D_i, D_i the sum over all rounds of shard i of max(0, 1 - y<u,x~>). For every u, with a = R ||u||,
        K  <=  D + a sqrt K,     so     K  <=  D + a^2/2 + a sqrt(D + a^2/4).
    With equal weights S shards together make S K mistakes. With mu_in proportional to k_in an epoch with a mistake
    adds at least 1 to K. K counts the mistakes of shards, not those of the mixed weights.
    The certificate reports the smallest over the comparators and u = 0. K is a multiple of 1 over the common
    denominator of the mu; if that is not large, the bound is rounded down to such a multiple.
Assumptions
    every shard is the Perceptron, changed on its mistakes only, by y x~ (checked); each epoch read the same rows
    (checked); the initial weights were zero (checked); x is finite (checked). The mixing is ours by construction: no
    assumption.
Proof
    A mistake adds y<u,x~> >= 1 - loss to <u,w>, so <u,w_in> >= <u,w^(n-1)> + k_in - D_i, and mixed <u,w^(n)> >=
    <u,w^(n-1)> + sum_i mu_in (k_in - D_i): together <u,w^(N)> >= K - D. As y<w,x~> <= 0 on a mistake, ||w_in||^2 <=
    ||w^(n-1)||^2 + R^2 k_in; the square is convex, so ||w^(n)||^2 <= ||w^(n-1)||^2 + R^2 sum_i mu_in k_in: together
    ||w^(N)|| <= R sqrt K. []
The run in floats
    Let u = 2^-53, g that of linear/theorems/perceptron_facts.py, p the most mistakes of a shard in an epoch, N epochs,
    S shards. Mixed is fl(fl(sum of c_i w_i) / C), c_i whole numbers and C their sum: S products, S - 1 sums and a
    division round, so the error is at most h sum_i mu_i ||w_i||, h = (S+2) u/(1 - (S+2) u), and 2^-1059 where the
    division underflows. (A whole number times a double does not.) With F = (1 + h)(1 + u)^p, by induction over epochs
        ||w^(n)||  <=  F^n R (sqrt K_n + g K_n):
    given a = ||w^(n-1)||, perceptron_facts.py has ||w_in|| <= (1+u)^k (sqrt(a^2 + R^2 k) + g R k), k = k_in <= p. The
    root is concave: with kappa = sum_i mu_i k_in, sum_i mu_i ||w_in|| <= (1+u)^p (sqrt(a^2 + R^2 kappa) + g R kappa).
    Put in a; as (R sqrt K' + g R K', R sqrt kappa) is the sum of (R sqrt K', R sqrt kappa) and (g R K', 0), the root is
    at most F^(n-1) (R sqrt(K' + kappa) + g R K').
    Rounding decreases <v,w> as follows: each update by at most u ||v|| times the length of the new weights, no more
    than F^(N+1) R (sqrt(K+p) + g (K+p)), in all K times that, weighted; each mixing by at most
    h ||v|| F^N R (sqrt K + g K).
    So K - D <= lambda ||v|| R sqrt K, with s >= sqrt K a whole number and sqrt(K^2 + K p) <= K + p/2,
        lambda  =  F^N (1 + N h)(1 + g s + u)  +  u F^(N+1) (K + p/2 + g s (K + p)).
    The + u is for underflow: K is 0, and then all weights of positive mu are, or at least 1/C; C < 2^64 and R >=
    2^-450, so N 2^-1059 < u R sqrt K. (1+u)^q <= 1/(1 - q u) and (1+h)^q <= 1/(1 - q h): lambda is a fraction,
    and all that follows is exact.
Reference
    [mcdonald2010] for rows that are separated; [freund1999] for the hinge loss.
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.comparators.limits import up
from novikoff.comparators.rounding import root
from novikoff.core.certificate import Bound, Words, seen, theorem
from novikoff.distributed.theorems.mixing_facts import MixingFacts
from novikoff.linear.theorems.perceptron_facts import near, shortlist

UNIT = Fraction(1, 2**53)
"""Unit roundoff of doubles."""
LARGEST = 2**62
"""Largest common denominator of the mu to which the bound is rounded."""


@theorem(
    "D",
    "mcdonald2010",
    quantity="weighted sum of mistakes",
    words=Words(
        covers="the Perceptron on shards, averaged after every epoch",
        why=(
            "a linear classifier of norm {norm:up} has a hinge loss of {hinge:up} over all epochs, with the weights of "
            "the shards, and no row is longer than {R:up}"
        ),
    ),
)
def mixing_mistakes(facts: MixingFacts) -> Bound:
    """Bound K by the least root over the comparators, exactly."""
    K, rounds = facts.weighted, facts.rounds
    needed = [
        seen("every x is finite, with a length that does not overflow", not facts.invalid_reason),
        seen("every epoch read the same rows", facts.same_rows),
        seen("every shard changed only on its mistakes", facts.own_mistakes),
        seen("each mistake added y x to the weights, and nothing else changed them", facts.unexplained <= 1.0),
        seen("the initial weights were zero", facts.started),
    ]
    observed, trivial = near(K), up(rounds)
    if facts.invalid_reason or not sum(facts.rows):
        reason = facts.invalid_reason or "there were no rows"
        return Bound(None, needed, observed=observed, trivial=trivial, void=reason)
    factor = rounding_factor(facts) ** 2
    radius2 = near(facts.square)

    def rough(square: float, loss: float, squared: float) -> float:
        a2 = radius2 * square
        return loss + a2 / 2 + math.sqrt(a2 * loss + a2 * a2 / 4)

    tried = shortlist(facts.comparators, rough)
    bounds = [largest(u.hinge, factor * facts.square * u.square) for u in tried]
    best = min(bounds)
    u = tried[bounds.index(best)]
    unit = math.lcm(*(sum(mix) for mix in facts.parts))
    if unit < LARGEST:
        best = Fraction(math.floor(best * unit), unit)
    total = sum(sum(epoch) for epoch in facts.mistakes)
    found = {"shards": len(facts.rows), "epochs": len(facts.parts), "mistakes": total, "R": float(root(facts.square)),
            "norm": float(root(u.square)), "scale": u.scale, "hinge": float(u.hinge),
            "comparators": len(facts.comparators)}  # fmt: skip
    if all(len(set(mix)) == 1 for mix in facts.parts):
        found["total"] = math.floor(best * len(facts.rows))
    return Bound(up(best), needed, found, observed, trivial)


def rounding_factor(facts: MixingFacts) -> Fraction:
    """Return the lambda of this run."""
    K, p, N, S = facts.weighted, facts.most, len(facts.parts), len(facts.rows)
    g = facts.nonzeros * UNIT / (1 - facts.nonzeros * UNIT)
    h = (S + 2) * UNIT / (1 - (S + 2) * UNIT)
    s = math.isqrt(math.ceil(K)) + 1

    def grown(epochs: int) -> Fraction:
        return 1 / ((1 - epochs * p * UNIT) * (1 - epochs * h))

    return grown(N) * (1 + N * h) * (1 + g * s + UNIT) + UNIT * grown(N + 1) * (K + Fraction(p, 2) + g * s * (K + p))


def largest(loss: Fraction, a2: Fraction) -> Fraction:
    """Return an upper bound, slightly rounded up, on the largest K with K <= loss + sqrt(a2 K)."""
    return loss + a2 / 2 + root(a2 * loss + a2 * a2 / 4)
