"""Halfspaces through the origin with weights on a grid.

Hypotheses
    h_w(x) = +1 if <w, x> >= 0, else -1, for every w in {-n, ..., n}^dim (in units of 1/n): (2n+1)^dim hypotheses. x is
    `dim` integers, also in units of 1/n if desired: only the sign of the score counts, not the scale of w and x.
    `bias` adds one weight, for a constant feature 1 (which is n in units of 1/n): dim + 1 weights in all.
    Parallel weights are the same function: 2w votes like w. With `distinct` only the primitive w (greatest common
    divisor 1) and w = 0 vote: every function of x once. (With a bias x no longer takes every direction, so a few of
    these may still agree.) The bound must count votes, not functions: three functions with 4, 2 and 1 votes can cost
    2 mistakes, more than log2(3).
Number of hypotheses
    With P(n) primitive w in {-n, ..., n}^dim, every w != 0 is k times a primitive one:
        (2n+1)^dim - 1 = P(n) + P(floor(n/2)) + ... + P(floor(n/n)),
    solved for P(n); by Moebius inversion P(n) = sum over k of mu(k) ((2 floor(n/k) + 1)^dim - 1).
Cost
    O(survivors) per round while they are dense, O(dim) per survivor when they are few. No weights in memory: the number
    of a hypothesis, in base 2n+1, encodes its weights. `distinct` stores one 32-bit number per hypothesis.
    Exact: a score is at most dim * n * 2^31 + n^2 in size, far below 2^63 for any class that fits in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError
from novikoff.core.sizes import integer, length
from novikoff.core.types import Domain, Example, State
from novikoff.finite.classes.survivors import LARGEST, Survivors, refuse_if_too_large

LONGEST_TABLE = 4096
"""Largest table of scores of the last weights. It is computed every round, also when few hypotheses are left."""

MOST_DIMENSIONS = 400
"""Largest number of dimensions; a larger class could not be stored, nor its size be printed."""


class Halfspaces:
    """All halfspaces with integer weights in {-n, ..., n}.

    Args:
        n: Largest weight.
        dim: Number of features.
        distinct: Whether parallel weights vote only once.
        bias: Whether to add a weight for a constant feature.

    Example:
        >>> import novikoff as nk
        >>> len(nk.classes.halfspaces(1, 2))
        9
    """

    labels: int | None = None

    def __init__(self, n: int, dim: int, distinct: bool = False, bias: bool = False) -> None:
        must = "weights need a grid -n .. n with n an integer from 1 to 2^31 - 1"
        self.n = integer(n, "n", must, 1, encode.LARGEST_COORDINATE)
        must = f"halfspaces need 1 to {MOST_DIMENSIONS} dimensions, an integer"
        self.dim = integer(dim, "dim", must, 1, MOST_DIMENSIONS)
        self.distinct, self.bias = bool(distinct), bool(bias)
        self.name = f"halfspaces:n={n},dim={dim}" + ",distinct=true" * self.distinct + ",bias=true" * self.bias
        self.domain = Domain("point", self.dim)
        self._weights = self.dim + self.bias  # weights of a hypothesis
        # With one weight the primitive ones are -1 and +1 for any n: the grid -1 .. 1 has them all.
        self._reach = 1 if self.distinct and self._weights == 1 else self.n
        self._base = 2 * self._reach + 1
        # Number of last weights whose scores are tabulated (`low_scores`); the others are computed row by row.
        self._ending = max(j for j in range(self._weights + 1) if self._base**j <= LONGEST_TABLE)

    @cached_property
    def size(self) -> int:
        """Exact number of hypotheses; len() stops at 2^63 - 1."""
        return count_distinct(self._reach, self._weights) if self.distinct else self._base**self._weights

    def __len__(self) -> int:
        return length(self.size)

    def space(self, prior: object = None) -> Survivors:
        survivors = Survivors(self, prior, self._alternative())
        _ = self._numbers  # computed now, so that a class that is too large fails here and not in the first round
        return survivors

    def _alternative(self) -> str:
        """Return advice for a class that is too large; with several weights `distinct` keeps 0.6 or more of them."""
        helps = not self.distinct and (
            self._weights == 1 or (self.size <= 2 * LARGEST and count_distinct(self.n, self._weights) <= LARGEST)
        )
        return f"Take a smaller n or fewer dimensions{', or distinct=True' if helps else ''}."

    @cached_property
    def _numbers(self) -> NDArray[np.int32] | None:
        """Number on the grid of each voting hypothesis; None if all vote."""
        if not self.distinct:
            return None
        refuse_if_too_large(self.name, self.size, self._alternative())
        return _primitive_numbers(self._reach, self._weights, self.size)

    def encode(self, x: Example) -> NDArray[np.int64]:
        values = encode.point(x, self.dim, -encode.LARGEST_COORDINATE, encode.LARGEST_COORDINATE)
        return np.append(values, np.int64(self.n)) if self.bias else values

    def labels_of(self, x: NDArray[np.int64], members: NDArray[np.int64] | None) -> NDArray[np.int8]:
        from novikoff.finite._loops import linear as kernel

        low = np.empty(self._base**self._ending, dtype=np.int64)
        kernel.low_scores(x, self._reach, low)
        leading = self._weights - self._ending
        labels = np.empty(self.size if members is None else len(members), dtype=np.int8)
        if self._numbers is not None:
            members = self._numbers if members is None else self._numbers[members]  # type: ignore[assignment]
        if members is None:
            kernel.label_grid(x, self._reach, leading, low, labels)
        else:
            kernel.label_numbers(x, self._reach, leading, low, members, labels)
        return labels

    def weights(self, index: int) -> tuple[int, ...]:
        """Return the weights of hypothesis number `index`, that of the bias last."""
        if not 0 <= index < self.size:
            raise InputError(f"a hypothesis of {self.name} must be numbered 0 to {self.size - 1:,}: got {index}.")
        number = int(index if self._numbers is None else self._numbers[index])
        digits = [number // self._base**i % self._base for i in reversed(range(self._weights))]
        return tuple(digit - self._reach for digit in digits)

    def describe(self, index: int) -> str:
        weights = self.weights(index)
        return inequality(weights[: self.dim], weights[-1] * self.n if self.bias else 0)

    def state(self) -> State:
        return {"class": "halfspaces", "n": self.n, "dim": self.dim, "distinct": self.distinct, "bias": self.bias}


def inequality(weights: Sequence[float], constant: int = 0) -> str:
    """Return the region where h is +1 as text: "2*x[0] - 1*x[2] >= 0"."""
    terms = [(weight, f"{abs(weight):.6g}*x[{i}]") for i, weight in enumerate(weights) if weight]
    if constant:
        terms.append((constant, str(abs(constant))))
    if not terms:
        return "always +1"
    text = " ".join(f"{'-' if weight < 0 else '+'} {term}" for weight, term in terms)
    return ("-" if text[0] == "-" else "") + text[2:] + " >= 0"


def count_distinct(n: int, weights: int) -> int:
    """Return the exact number of w in {-n, ..., n}^weights that are primitive or 0, in O(n^(3/4)) steps."""
    known: dict[int, int] = {0: 0}

    def primitive(m: int) -> int:
        if m not in known:
            total = (2 * m + 1) ** weights - 1
            k = 2
            while k <= m:
                last = m // (m // k)  # floor(m/k) is the same up to here
                total -= (last - k + 1) * primitive(m // k)
                k = last + 1
            known[m] = total
        return known[m]

    return primitive(n) + 1


def _primitive_numbers(n: int, weights: int, size: int) -> NDArray[np.int32]:
    """Return the grid numbers of the primitive w and of w = 0, in order.

    w is primitive if the divisors of its leading and of its last weights are coprime.
    """
    first, last = _divisors(n, weights // 2), _divisors(n, weights - weights // 2)
    numbers = np.empty(size, dtype=np.int32)
    filled = 0
    for row, divisor in enumerate(first.tolist()):
        votes = np.gcd(divisor, np.arange(n + 1)) == 1
        votes[0] |= divisor == 0  # w = 0
        found = np.flatnonzero(votes[last])
        numbers[filled : filled + len(found)] = found + row * len(last)
        filled += len(found)
    assert filled == size
    return numbers


def _divisors(n: int, weights: int) -> NDArray[np.int64]:
    """Return the greatest common divisor of each w in {-n, ..., n}^weights, in order; that of 0 is 0."""
    divisors = np.zeros(1, dtype=np.int64)
    for _ in range(weights):
        divisors = np.gcd(divisors[:, None], np.abs(np.arange(-n, n + 1))).reshape(-1)
    return divisors
