"""Margins of a few comparators, summed exactly: parts of a stream, added in any order, equal the whole to the bit.

Sums
    A direction f stands for the comparators u = f/S at nine thresholds S, powers of two. A margin m = y f(x) is counted
    in the class of the next threshold above it: the number, the sum of m, and the sum of m^2, each rounded up. Over the
    classes below S the loss is sum (S - m)/S = (n S - sum m)/S, the squared one (n S^2 - 2 S sum m + sum m^2)/S^2.
Exactness
    A double is an integer multiple of 2^-1074. m = h 2^(e-53) with an integer h, and sums of h over equal e are sums of
    integers below 2^53, in two halves; the sums of each e are added as Python integers. So neither the order nor the
    split into parts changes a sum. (comparators/tally.py has sixteen times as many thresholds, is ten times as fast,
    and rounds its sums.)
Rounding
    Margins are rounded down, so losses are at least the true ones. m^2 is rounded up to the next double but one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.tally import LEAST, Comparator, shortened

Matrix = NDArray[np.float64]

OCTAVES = range(-4, 5)
"""Thresholds S, in octaves above the requested length."""
HALF = 26
"""Bits of the lower half of h."""
EXPONENTS = 2_200
"""Number of exponents: frexp's e is from -1073 to 1024."""
LOWEST = 1_074
"""Offset that makes every exponent positive."""
FINE = LOWEST + 53
"""Exponent of the unit of all sums: h 2^(e-53) is an integer multiple of 2^-FINE."""


class ExactTally:
    """Sums of directions so far.

    Args:
        scales: S of the requested comparator of each direction.
    """

    def __init__(self, scales: Sequence[float]) -> None:
        self.directions = len(scales)
        self.edges = np.array([[math.ldexp(scale, octave) for octave in OCTAVES] for scale in scales])
        classes = len(OCTAVES) + 1
        self.counts = np.zeros((self.directions, classes), np.int64)
        self.sums = [[0] * classes for _ in scales]
        self.squares = [[0] * classes for _ in scales]
        self.least = np.full(self.directions, np.inf)
        self.rows = self.mistakes = 0
        self.finite = True

    def add(self, margins: Matrix, wrong: NDArray[np.bool_]) -> None:
        """Add rows of margins, one column per direction, each at most the true one."""
        self.rows += len(wrong)
        self.mistakes += int(np.count_nonzero(wrong))
        if not len(margins) or not self.finite:
            return
        self.finite = bool(np.all(np.isfinite(margins[:, : self.directions])))
        for k in range(self.directions if self.finite else 0):
            m = np.ascontiguousarray(margins[:, k])
            places = np.searchsorted(self.edges[k], m, side="right")
            self.counts[k] += np.bincount(places, minlength=self.counts.shape[1])
            with np.errstate(over="ignore"):
                squares = np.nextafter(np.square(m), np.inf)
            self.finite &= bool(np.all(np.isfinite(squares)))
            if not self.finite:
                return
            for total, values in ((self.sums[k], m), (self.squares[k], squares)):
                for place, more in exact_sums(values, places):
                    total[place] += more
            self.least[k] = min(self.least[k], m.min())

    def merge(self, other: ExactTally) -> None:
        """Add the sums of another part for the same directions."""
        if not np.array_equal(self.edges, other.edges):
            raise ValueError("only sums of the same comparators can be added: these have different thresholds.")
        self.counts += other.counts
        for mine, theirs in ((self.sums, other.sums), (self.squares, other.squares)):
            for k, more in enumerate(theirs):
                mine[k] = [a + b for a, b in zip(mine[k], more, strict=True)]
        self.least = np.minimum(self.least, other.least)
        self.rows, self.mistakes = self.rows + other.rows, self.mistakes + other.mistakes
        self.finite &= other.finite

    def comparators(
        self, norms2: Sequence[Fraction], longest: Fraction | None = None, starts: Sequence[Fraction] = ()
    ) -> Iterator[Comparator]:
        """Yield u = 0, and each direction at its least margin, if positive, and at each threshold; w_1 must be 0."""
        rows, none = Fraction(self.rows), Fraction(0)
        yield Comparator(0, 1.0, none, rows, rows, none)
        for k, norm2 in enumerate(norms2[: self.directions] if self.finite else ()):
            if norm2 == 0 or not self.rows:
                continue
            if LEAST < self.least[k] < math.inf:
                least = Fraction(float(self.least[k]))
                yield Comparator(k + 1, float(least), _up(norm2 / least**2), none, none, none)
            n = total = squares = 0
            for j, edge in enumerate(self.edges[k].tolist()):
                n, total = n + int(self.counts[k, j]), total + self.sums[k][j]
                squares += self.squares[k][j]
                S, m, m2 = Fraction(edge), Fraction(total, 2**FINE), Fraction(squares, 2**FINE)
                hinge, squared = (n * S - m) / S, (n * S * S - 2 * S * m + m2) / S**2
                yield Comparator(k + 1, edge, _up(norm2 / S**2), _up(hinge), _up(squared), none)


def exact_sums(values: Matrix, places: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Yield pairs (place, part of the sum of its values in units of 2^-FINE); at most 2^26 values."""
    m, e = np.frexp(values)
    whole = np.ldexp(m, 53).astype(np.int64)
    bins = places * EXPONENTS + (e + LOWEST)
    found: Any = np.unique(bins)
    at = np.searchsorted(found, bins)
    high = np.bincount(at, weights=(whole >> HALF).astype(np.float64))
    low = np.bincount(at, weights=(whole & ((1 << HALF) - 1)).astype(np.float64))
    for bin, above, below in zip(found.tolist(), high.tolist(), low.tolist(), strict=True):
        yield bin // EXPONENTS, ((int(above) << HALF) + int(below)) << (bin % EXPONENTS)


def _up(value: Fraction) -> Fraction:
    return shortened(*value.as_integer_ratio())
