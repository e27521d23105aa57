"""Proof that no vector separates some labelled rows: a few of them, with weights, whose signed sum is zero.

Theorem
    If sum of w_i y_i x~_i = 0 for weights w > 0, no u has y_i <u,x~_i> > 0 on all of these rows: the weighted sum of
    these margins is <u, 0> = 0. Conversely such weights exist whenever no u has these margins (Gordan).
Exactness
    The weights are integers, and the sum is evaluated in integers: a double is an integer times a power of two. They
    are found by solving a linear system modulo powers of a prime, for rows that a search proposes; then verified.
    A row may be multiplied by any positive number, so rows that a learner divides by their norms are taken as they are
    if there is no constant feature; with one, only if the norms are rational.
Reference
    [gordan1873]; the linear system: [dixon1982].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Row = tuple[NDArray[np.integer], NDArray[np.floating]]
"""A row as (indices, values)."""

LARGEST_SHOWN = 999
"""Largest weight that is printed in full."""
MOST_SHOWN = 6
"""Maximum number of rows that are printed."""
MOST_DIGITS = 100
"""Maximum number of digits of a weight that is stored; longer ones are stored as shares of their sum."""
PRIME = 2**26 - 5
"""Modulus of the elimination: sums of 512 products of two residues fit in 63 bits."""
LIMB, MASK = 26, 2**26 - 1
"""Bits of the parts into which integers are split for products with residues."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Rows with weights whose signed sum is zero.

    Attributes:
        rows: Number of each row, counted from 1.
        labels: Label of each row, -1 or +1.
        weights: Positive weight of each row, exactly; x~ has its value before any division by its norm. Empty if a
            weight has more than MOST_DIGITS digits: it was verified, and can be recomputed from the rows.
        shares: Weight of each row as a share of their sum, about.
        balanced: Whether the weights of both labels have the same sum, so that a constant feature changes nothing.
    """

    rows: tuple[int, ...]
    labels: tuple[int, ...]
    weights: tuple[int, ...]
    shares: tuple[float, ...]
    balanced: bool

    @classmethod
    def of(cls, numbers: Sequence[int], labels: Sequence[int], weights: Sequence[int]) -> Self:
        """Return a verified witness; rows of weight 0 are left out, and numbers are counted from 0."""
        used = [j for j, weight in enumerate(weights) if weight]
        common = math.gcd(*(weights[j] for j in used))
        exact = tuple(weights[j] // common for j in used)
        sides, total = tuple(int(labels[j]) for j in used), sum(exact)
        balanced = sum(side * weight for side, weight in zip(sides, exact, strict=True)) == 0
        shares = tuple(float(Fraction(weight, total)) for weight in exact)
        short = max(exact) < 10**MOST_DIGITS
        return cls(tuple(numbers[j] + 1 for j in used), sides, exact if short else (), shares, balanced)

    def text(self, space: str = "") -> str:
        """Return the proof in one clause.

        Args:
            space: Feature space in which the sum is zero, if it is not that of the examples: " in the ..".
        """
        rows = [f"{row:,}" for row in self.rows]
        if len(rows) == 1:
            return f"round {rows[0]} has a zero example labelled {self.labels[0]:+d}"
        if len(rows) == 2 and self.labels[0] != self.labels[1]:
            equal = bool(self.weights) and self.weights[0] == self.weights[1]
            same = "the same example" if equal else "examples of the same direction"
            return f"rounds {rows[0]} and {rows[1]} have {same}{space} with opposite labels"
        if len(rows) > MOST_SHOWN:
            named = f"{len(rows)} rounds ({', '.join(rows[:MOST_SHOWN])}, ...)"
        else:
            named = f"rounds {', '.join(rows[:-1])} and {rows[-1]}"
        if self.weights and max(self.weights) <= LARGEST_SHOWN and len(rows) <= MOST_SHOWN:
            named += f" with weights {', '.join(map(str, self.weights))}"
        else:
            named += " with positive weights"
        return f"label times example{space}, summed over {named}, is zero"

    def plain(self) -> dict[str, object]:
        """Return the proof as plain data, the weights as text because they may be long."""
        return {"rows": list(self.rows), "labels": list(self.labels), "weights": [str(one) for one in self.weights],
                "shares": list(self.shares), "balanced": self.balanced}  # fmt: skip

    @classmethod
    def of_plain(cls, saved: Any) -> Self:
        """Return the proof with these plain data; raise ValueError, TypeError or KeyError if they are none."""
        rows, labels, weights = (tuple(map(int, saved[name])) for name in ("rows", "labels", "weights"))
        shares, balanced = tuple(map(float, saved["shares"])), saved["balanced"]
        sound = 0 < len(rows) == len(labels) == len(shares) and len(weights) in (0, len(rows)) and len(saved) == 5
        if not (sound and min(shares) >= 0.0 and set(labels) <= {-1, 1} and isinstance(balanced, bool)):
            raise ValueError("a witness needs a label and a positive weight for each row.")
        return cls(rows, labels, weights, shares, balanced)


def linear_witness(
    numbers: Sequence[int], rows: Sequence[Row], labels: Sequence[int], hints: Sequence[float], bias: float,
    normalize: bool,
) -> Witness | None:  # fmt: skip
    """Return a witness among these rows; None if the elimination finds none.

    Args:
        numbers: Number of each row, counted from 0.
        rows: Rows as (indices, values), before any division by their norms.
        labels: Labels -1 and +1.
        hints: Approximate weights, used where the solution is not unique.
        bias: Value of the constant feature.
        normalize: Whether the learner divides each x by its norm.
    """
    columns, powers = [], []
    for (indices, values), label in zip(rows, labels, strict=True):
        entries = {int(i) + 1: Fraction(float(v)) for i, v in zip(indices, values, strict=True) if v != 0.0}
        if bias != 0.0:
            constant = Fraction(bias)
            if normalize and entries:
                norm = _rational_root(sum((v * v for v in entries.values()), Fraction(0)))
                if norm is None:
                    return None
                constant *= norm  # the row times its norm
            entries[0] = constant
        below = math.lcm(*(v.denominator for v in entries.values())) if entries else 1
        columns.append({place: label * int(value * below) for place, value in entries.items()})
        powers.append(below)
    found = _positive_kernel(columns, hints)
    if found is None:
        return None
    return Witness.of(numbers, labels, [weight * power for weight, power in zip(found, powers, strict=True)])


def gram_witness(
    numbers: Sequence[int], labels: Sequence[int], gram: Sequence[Sequence[Fraction]], hints: Sequence[float]
) -> Witness | None:
    """Return a witness from exact inner products <z_i,z_j> of signed rows: G w = 0 means that the sum has length 0."""
    below = math.lcm(*(value.denominator for line in gram for value in line)) if gram else 1
    columns = [{i: int(gram[i][j] * below) for i in range(len(gram)) if gram[i][j]} for j in range(len(gram))]
    found = _positive_kernel(columns, hints)
    if found is None:
        return None
    return Witness.of(numbers, labels, found)


def _positive_kernel(columns: Sequence[dict[int, int]], hints: Sequence[float]) -> list[int] | None:
    """Return weights >= 0, not all 0, with which the columns sum to zero; None if there are none near the hints."""
    count = len(columns)
    places = sorted({place for column in columns for place in column})
    matrix = [[column.get(place, 0) for column in columns] for place in places]
    lines, pivots = _independent(matrix, count)
    free = [j for j in range(count) if j not in set(pivots)]
    if not free:
        return None
    # Free weights near their hints; the others follow. With one free weight, the usual case, its size is arbitrary.
    given = [1 if len(free) == 1 else max(round(float(hints[j]) * 2**16), 0) for j in free]
    solved = [1], 1
    if pivots:
        inner = [[matrix[i][j] for j in pivots] for i in lines]
        right = [-sum(matrix[i][j] * weight for j, weight in zip(free, given, strict=True)) for i in lines]
        solved = _solved(inner, right)
    numerators, denominator = solved
    whole = [0] * count
    for j, weight in zip(free, given, strict=True):
        whole[j] = weight * denominator
    for j, weight in zip(pivots, numerators, strict=False):
        whole[j] = weight
    if any(weight < 0 for weight in whole) or not any(whole):
        return None
    for line in matrix:  # the proof itself: everything above is only a search
        if sum(value * weight for value, weight in zip(line, whole, strict=True) if value):
            return None
    return whole


def _independent(matrix: list[list[int]], count: int) -> tuple[list[int], list[int]]:
    """Return the lines and columns of a largest submatrix that is invertible modulo PRIME."""
    left = np.array([[value % PRIME for value in line] for line in matrix], dtype=np.int64).reshape(-1, count)
    order = list(range(len(left)))
    lines: list[int] = []
    pivots: list[int] = []
    for j in range(count):
        done = len(pivots)
        usable = np.flatnonzero(left[done:, j])
        if not len(usable):
            continue
        at = int(usable[0]) + done
        left[[done, at]] = left[[at, done]]
        order[done], order[at] = order[at], order[done]
        left[done] = left[done] * pow(int(left[done, j]), -1, PRIME) % PRIME
        left[done + 1 :] = (left[done + 1 :] - left[done + 1 :, j : j + 1] * left[done]) % PRIME
        pivots.append(j)
        lines.append(order[done])
    return lines, pivots


def _solved(inner: list[list[int]], right: list[int]) -> tuple[list[int], int]:
    """Return numerators and the common denominator of the solution of a square system, by lifting modulo PRIME.

    The result is right if the bounds of Hadamard hold for it, as they do; the caller verifies it.
    """
    size = len(inner)
    inverse = _inverse_modulo(np.array([[value % PRIME for value in line] for line in inner], dtype=np.int64))
    # The determinant and those of Cramer's rule are at most the product of the lengths of the columns.
    lengths = [sum(line[j] ** 2 for line in inner).bit_length() // 2 + 1 for j in range(size)]
    last = sum(value**2 for value in right).bit_length() // 2 + 1
    below, above = sum(lengths), sum(lengths) - min(lengths) + last
    limbs = _limbs(inner)
    rest, result, modulus = right, [0] * size, 1
    while modulus.bit_length() <= above + below + 2:
        digits = inverse @ np.array([value % PRIME for value in rest], dtype=np.int64) % PRIME
        result = [known + modulus * digit for known, digit in zip(result, digits.tolist(), strict=True)]
        modulus *= PRIME
        products = [0] * size
        for k, limb in enumerate(limbs):
            products = [
                known + (more << (LIMB * k)) for known, more in zip(products, (limb @ digits).tolist(), strict=True)
            ]
        rest = [(value - product) // PRIME for value, product in zip(rest, products, strict=True)]
    denominator = 1
    for value in result:
        if abs(_centred(value * denominator, modulus)).bit_length() > above:
            denominator *= _denominator(value * denominator % modulus, modulus, above)
    return [_centred(value * denominator, modulus) for value in result], denominator


def _limbs(matrix: list[list[int]]) -> list[NDArray[np.int64]]:
    """Return matrices of small integers whose sum, each times 2^LIMB to the power of its number, is the matrix."""
    limbs, rest = [], matrix
    while any(value for line in rest for value in line):
        limbs.append(np.array([[(abs(v) & MASK) * (1 if v > 0 else -1) for v in line] for line in rest], np.int64))
        rest = [[(abs(v) >> LIMB) * (1 if v > 0 else -1) for v in line] for line in rest]
    return limbs


def _inverse_modulo(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the inverse modulo PRIME of an invertible matrix."""
    size = len(matrix)
    both = np.concatenate([matrix, np.eye(size, dtype=np.int64)], axis=1)
    for j in range(size):
        at = int(np.flatnonzero(both[j:, j])[0]) + j
        both[[j, at]] = both[[at, j]]
        both[j] = both[j] * pow(int(both[j, j]), -1, PRIME) % PRIME
        factors = both[:, j].copy()
        factors[j] = 0
        both = (both - factors[:, None] * both[j]) % PRIME
    return both[:, size:]


def _centred(value: int, modulus: int) -> int:
    """Return the representative nearest to 0."""
    value %= modulus
    return value - modulus if 2 * value > modulus else value


def _denominator(value: int, modulus: int, above: int) -> int:
    """Return d for a fraction n/d equal to `value` modulo `modulus`, with n of at most `above` bits."""
    one, two, first, second = modulus, value, 0, 1
    while two.bit_length() > above:
        quotient = one // two
        one, two, first, second = two, one - quotient * two, second, first - quotient * second
    return abs(second)


def _rational_root(square: Fraction) -> Fraction | None:
    """Return the square root if it is rational."""
    above, below = math.isqrt(square.numerator), math.isqrt(square.denominator)
    return Fraction(above, below) if above**2 == square.numerator and below**2 == square.denominator else None
