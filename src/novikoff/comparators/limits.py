"""Lower limits on the bounds of all comparators: they hold for every u, and follow from any weights alpha >= 0 of rows.

Theorems (E passes, z = y x~, A = sum of alpha, B = ||sum of alpha_t z_t||)
    margin    no unit vector has a larger margin than B / A.
    hinge     alpha <= 1, G = E * (sum of alpha_t z_t), w_1 the weights at the start, and
              t = min(1, (R^2 E A - 2 <G, w_1>) / ||G||^2) >= 0: no u gives a mistake bound below t E A.
              For w_1 = 0 that is min(E A, (R A/B)^2).
    lengths   the same with E * (sum of alpha_t ||x_t||^2) in place of R^2 E A: no u and kappa give a bound
              sum of max(0, 1 + kappa ||x||^2 - y<u,x>) - <u,w_1> + kappa ||w_1||^2 + ||u||^2/(4 kappa) below t E A.
    squared   no u gives a bound below E^2 A^2 / max(E ||alpha||^2, E^2 B^2 / R^2).
    objective s alpha <= C: no u has (1/2)||u||^2 + C * (hinge loss) below s A - s^2 B^2/2; best at s = A/B^2.
Proofs
    The least margin is at most the mean of the <u, z_t> weighted by alpha, <u, sum>/A <= B/A.
    The bound of u is the largest M with M <= E D - <u,w_1> + ||u|| sqrt(||w_1||^2 + R^2 M). As D >= sum of
    t alpha_t (1 - <u,z_t>), the right side is at least t E A - <u, t G + w_1> + ||u|| sqrt(||w_1||^2 + R^2 M), which is
    t E A at least if ||t G + w_1||^2 <= ||w_1||^2 + R^2 M; with M = t E A that is the condition on t. So M = t E A
    satisfies the inequality.
    For lengths, N = E * (sum of alpha_t ||x_t||^2): the bound is at least t E A + t kappa N - <u, t G + w_1> +
    kappa ||w_1||^2 + ||u||^2/(4 kappa), for every u at least t E A + kappa (t N + ||w_1||^2 - ||t G + w_1||^2), and the
    bracket is t (N - t ||G||^2 - 2 <G,w_1>), not negative for that t.
    With alpha scaled to E ||alpha||^2 <= 1 and E B <= R, R ||u|| + sqrt(E Q) is at least
    E <u, sum> + E * sum of alpha_t (1 - <u,z_t>) = E A, by Cauchy-Schwarz twice.
    C * (hinge loss) is at least the sum of s alpha_t (1 - <u,z_t>), so the objective is at least
    s A + (1/2)||u||^2 - <u, s * sum>, which is least at u = s * sum. Zero rows have alpha = C. []
Rounding
    z is stored as z' = unit * z in single precision: the error is at most 2^-24 of it and sqrt(n) 2^-149. The sum of T
    products is off by (T+1) 2^-52 * A R' in length, R' = unit * R. So the true B is at most the computed one
    + A (R' (2^-23 + T 2^-51) + 2^-120). The rest is done in fractions. Rows that are not held have no weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blocks import Blocks
from novikoff.comparators.linear_tracker import LinearComparatorFacts
from novikoff.comparators.rounding import length_of, root
from novikoff.comparators.second_pass import placed

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bracket:
    """Interval that contains the optimum; both ends are rounded outward."""

    low: float
    high: float

    @property
    def gap(self) -> float:
        """Possible improvement of the optimum over the best value found, as a fraction of `high`."""
        return 1.0 - self.low / self.high if 0.0 < self.high < math.inf else 0.0 if self.high == 0.0 else 1.0


@dataclass(frozen=True, slots=True)
class Mixture:
    """Rows weighted by alpha, in the units of the stream.

    Attributes:
        total: At most the sum of alpha.
        most: At least the sum of alpha.
        largest: At least every alpha.
        spread: At least the sum of alpha^2.
        length: At least B.
        dot: At least <sum of alpha_t z_t, w_1>.
        lengths: At most the sum of alpha_t ||x_t||^2.
    """

    total: Fraction
    most: Fraction
    largest: Fraction
    spread: Fraction
    length: Fraction
    dot: Fraction
    lengths: Fraction

    @classmethod
    def of(cls, blocks: Blocks, alpha: Vector, square: Fraction, start: Vector | None = None) -> Mixture:
        """Return the mixture of the rows of `blocks`; square: at least R^2; start: w_1, the bias weight last."""
        mixed, alpha = blocks.combined(alpha)
        unit = Fraction(blocks.unit)
        total = Fraction(math.fsum(alpha.tolist()))
        most, least = total * (1 + Fraction(1, 2**50)), total * (1 - Fraction(1, 2**50))
        radius = root(square) * unit
        error = most * (radius * (Fraction(1, 2**23) + Fraction(blocks.rows, 2**51)) + Fraction(1, 2**120))
        length = root(length_of(mixed))
        dot = Fraction(0)
        if start is not None:
            weights = np.zeros(max(len(mixed), len(start)))
            weights[0], weights[1 : len(start)] = start[-1], start[:-1]
            slip = (error + length * Fraction(len(mixed) + 8, 2**52)) * root(length_of(weights))
            dot = (Fraction(float(np.dot(mixed, weights[: len(mixed)]))) + slip) / unit
        largest = Fraction(float(np.max(alpha, initial=0.0)))
        # Single precision: the relative error of a square is 2^-22, and terms that underflow are missing.
        lengths = Fraction(math.fsum((alpha * blocks.squares()).tolist())) * (1 - Fraction(1, 2**21)) / unit**2
        return cls(least, most, largest, length_of(alpha), (length + error) / unit, dot, lengths)


def margin_limit(mixture: Mixture) -> float:
    """Return a margin that no comparator exceeds."""
    return up(mixture.length / mixture.total) if mixture.total > 0 else math.inf


def hinge_limit(mixture: Mixture, cost: Fraction, facts: LinearComparatorFacts, passes: int, hopeless: int) -> float:
    """Return a mistake bound that no comparator beats by its hinge loss.

    Args:
        mixture: Rows weighted by alpha.
        cost: At least every alpha.
        facts: Facts of the last reading.
        passes: Number of passes.
        hopeless: Number of further zero rows labelled -1, with weight 1.
    """
    total = passes * (mixture.total / cost + hopeless)
    return _limit(mixture, cost, facts, passes, total, shortest(facts) * total)


def lengths_limit(
    mixture: Mixture, cost: Fraction, facts: LinearComparatorFacts, passes: int, hopeless: int
) -> float:  # fmt: skip
    """Return a bound that no comparator beats with targets that grow with the length, for any kappa."""
    total = passes * (mixture.total / cost + hopeless)
    return _limit(mixture, cost, facts, passes, total, passes * mixture.lengths / cost)


def _limit(
    mixture: Mixture, cost: Fraction, facts: LinearComparatorFacts, passes: int, total: Fraction, lengths: Fraction
) -> float:  # fmt: skip
    if total <= 0 or facts.square == 0:
        return down(max(total, Fraction(0)))
    factor = passes / cost
    square = (factor * mixture.length) ** 2
    dot = factor * mixture.dot
    if square == 0:
        return down(total)
    t = min(Fraction(1), (lengths - 2 * dot) / square)
    return down(max(t, Fraction(0)) * total)


def squared_limit(mixture: Mixture, cost: Fraction, facts: LinearComparatorFacts, passes: int, hopeless: int) -> float:
    """Return a bound that no comparator beats by its squared hinge loss; hopeless zero rows have weight 2 cost."""
    total = mixture.total + 2 * cost * hopeless
    most = passes * (mixture.spread + 4 * cost**2 * hopeless)
    if facts.square:
        most = max(most, (passes * mixture.length) ** 2 / shortest(facts))
    return down((passes * total) ** 2 / most) if most and total > 0 else 0.0


def objective(blocks: Blocks, u: Vector, alpha: Vector, cost: float) -> Bracket:
    """Bracket the least (1/2)||v||^2 + cost * (hinge loss of v) over all v, over every row of the stream.

    The upper end is the value of u, evaluated by reading all rows again; the lower end follows from alpha, at any
    precision of the rows. u and alpha are in the units of the blocks, as in a `Descent` with cost cost / unit^2.
    The bracket is 0 to infinity if the stream has changed or its rows are invalid.
    """
    c, reading = Fraction(cost), blocks.reading
    scorer = placed(blocks, [u])
    if blocks.show(scorer) != reading or scorer.invalid_reason:
        return Bracket(0.0, math.inf)
    high = min(v.square / 2 + c * v.hinge for v in scorer.comparators(np.zeros(2)))
    mixture, low = Mixture.of(blocks, alpha, scorer.square()), Fraction(0)
    if mixture.largest > 0:
        s = c / mixture.largest
        s = min(s, mixture.total / mixture.length**2) if mixture.length else s
        low = max(s * mixture.total - (s * mixture.length) ** 2 / 2, low)
    low += c * reading.hopeless
    return Bracket(down(low + c * reading.left_out), up(high + c * reading.left_out))


def shortest(facts: LinearComparatorFacts) -> Fraction:
    """Return a lower bound on R^2."""
    return facts.square * (1 - Fraction(facts.nonzeros + 8, 2**50))


def up(value: Fraction) -> float:
    """Return a double that is not below `value`."""
    near = _near(value)
    return near if near >= value else math.nextafter(near, math.inf)


def down(value: Fraction) -> float:
    """Return a double that is not above `value`."""
    near = _near(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def _near(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
