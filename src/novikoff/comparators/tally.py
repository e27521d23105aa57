"""Sums of the margins of a few comparators, from which their losses at many scales follow.

Sums
    A direction f stands for the comparators u = f/S at 129 thresholds S, eight to an octave: max(0, 1 - y u(x)) is
    max(0, S - m)/S with m = y f(x). A margin m is counted once, in the class of the next threshold above it: the
    number, the sum of the distances to that threshold, the sum of their squares. From these the losses at every
    threshold follow by adding numbers that are not negative, so nothing cancels. The first class also has every
    margin that is not positive: its number bounds the mistakes of f.
    A penalty (f, kappa) stands for u = f/S with targets that grow with the length of x: max(0, 1 + k||x||^2 - y u(x))
    is max(0, S - m)/S with m = y f(x) - kappa ||x||^2 and k = kappa/S. Those margins are summed in the same way.
    Over the mistakes alone the losses of each f are summed separately, and so are y f(x) and ||x||^2.
Rounding
    Margins are rounded down, lengths up. A sum of r terms that are not negative, each rounded at most 3 times, is at
    most its computed value / (1 - (r+8) 2^-53); squares of distances may underflow, r 2^-1074 in all. Losses and
    lengths are returned with 100 bits, rounded up: exact ones would have thousands.
Cost
    129 classes per series; O(series) per row. The losses are added up in integer multiples of the smallest double.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.rounding import in_units
from novikoff.core.state import Array, Count, Stateful, Tuples, array, require
from novikoff.core.types import State

Matrix = NDArray[np.float64]

OCTAVES = 16
"""Number of octaves of thresholds."""
UNIT = Fraction(1, 2**53)
"""Unit roundoff of doubles."""
FINEST = 1074
"""Exponent of the unit of all doubles, 2^-1074."""
BITS = 100
"""Bits of returned losses and lengths."""
HARDLY_MORE = 1.05
"""Factor of the least bound up to which thresholds are evaluated exactly."""
LEAST = 2.0**-600
"""Smallest margin that can give a bound."""
LIGHTEST, HEAVIEST = 2.0**-400, 2.0**400
"""Smallest and largest kappa: beyond them underflow could not be neglected."""
LARGEST_TOP = 1000
"""Largest exponent of a threshold, up or down: the classes of margins are found by the bits of normal numbers."""
MOST_PROBES = 8
"""Largest number of probes."""


@dataclass(frozen=True, slots=True)
class Comparator:
    """One u = f/S, with all values rounded so that a bound computed from them is not too small.

    Attributes:
        direction: Number of the direction, from 1; 0 is u = 0.
        scale: S.
        square: At least ||u||^2.
        hinge: At least the sum over rounds of max(0, 1 - y u(x)); 0 only if no margin is below 1.
        squared_hinge: At least the sum of their squares.
        start: At most <u, w_1>, w_1 being the learner's weights when the tracking began.
        mistakes: At least the number of rounds with y u(x) <= 0; None if they were not counted.
    """

    direction: int
    scale: float
    square: Fraction
    hinge: Fraction
    squared_hinge: Fraction
    start: Fraction
    mistakes: int | None = None


@dataclass(frozen=True, slots=True)
class PenalizedComparator:
    """One u = f/S with targets 1 + kappa ||x||^2; values are rounded as those of `Comparator`.

    Attributes:
        direction: Number of the direction, from 1.
        scale: S.
        square: At least ||u||^2.
        kappa: kappa of u, exactly; 0 for targets of 1.
        loss: At least the sum of max(0, 1 + kappa ||x||^2 - y u(x)).
        start: At most <u, w_1>.
        mistakes: At least the number of rounds with y u(x) <= 0; None if they were not counted.
    """

    direction: int
    scale: float
    square: Fraction
    kappa: Fraction
    loss: Fraction
    start: Fraction
    mistakes: int | None = None

    def bound(self, start_square: Fraction = Fraction(0), factor: Fraction = Fraction(1)) -> Fraction:
        """Return loss - <u,w_1> + kappa ||w_1||^2 + factor ||u||^2/(4 kappa)."""
        return self.loss - self.start + self.kappa * start_square + factor * self.square / (4 * self.kappa)


class Tally(Stateful):
    """Sums of the margins of some directions so far.

    Args:
        directions: Number of directions.
        top: Exponent of the largest threshold, 2^top.
        penalties: Pairs (direction, kappa); directions are counted from 0.
        probes: Number of further vectors whose margins are summed over the mistakes only.
    """

    fields = (
        Count("top", -LARGEST_TOP, LARGEST_TOP, argument=True),
        Count("probes", most=MOST_PROBES, argument=True),
        Count("rows"),
        Count("mistakes", most="rows"),
        Tuples("penalties", (int, float), argument=True),
        Array("counts", dtype=np.int64, nonnegative=True),
        *(Array(name, finite=False) for name in ("sums", "squares", "least", "added")),
    )
    described = "comparators"

    def __init__(self, directions: int, top: int, penalties: Sequence[tuple[int, float]] = (), probes: int = 0) -> None:
        self.top, self.directions, self.probes = top, directions, probes
        self.penalties = [(k, kappa) for k, kappa in penalties if LIGHTEST <= kappa <= HEAVIEST]
        sound = all(0 <= k < directions for k, _ in self.penalties)
        require(sound, f"penalties of comparators must refer to the {directions} directions", self.penalties)
        steps = np.arange(8 * OCTAVES + 1)
        edges = np.ldexp(1.0 + (steps % 8) / 8.0, top - OCTAVES + steps // 8)
        self.edges = np.append(edges, edges[-1])  # the last class has no upper edge
        self.base = int(edges[:1].view(np.int64)[0] >> 49) - 1
        series = 2 * directions + len(self.penalties)
        self.counts = np.zeros((series, len(self.edges)), np.int64)
        self.sums = np.zeros((series, len(self.edges)))
        self.squares = np.zeros((directions, len(self.edges)))
        self.least = np.full(directions, np.inf)
        self.added = np.zeros((directions + probes + 1, 2))  # over mistakes: margins, squared lengths last
        self.rows = self.mistakes = 0

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays that the compiled tally changes."""
        directions = np.array([k for k, _ in self.penalties], np.int64)
        kappas = np.array([kappa for _, kappa in self.penalties], np.float64)
        return (self.edges, self.base, directions, kappas, self.counts, self.sums, self.squares, self.least, self.added)

    def add(self, margins: Matrix, wrong: NDArray[np.bool_]) -> None:
        """Add rows of margins: one lower bound per direction, the probes, and an upper bound on ||x||^2."""
        from novikoff.comparators._loops import margins as kernel

        if len(margins):
            kernel.tally(margins, wrong, *self.arrays())
        self.count(wrong)

    def count(self, wrong: NDArray[np.bool_]) -> None:
        """Count rows that were tallied."""
        self.rows += len(wrong)
        self.mistakes += int(np.count_nonzero(wrong))

    def comparators(
        self, norms2: Sequence[Fraction], longest: Fraction | None = None, starts: Sequence[Fraction] = ()
    ) -> Iterator[Comparator]:
        """Yield every u: u = 0, and each direction at its least margin and at each threshold.

        Args:
            norms2: At least ||f||^2 of each direction; 0 for a direction that is not used.
            longest: Largest ||u||^2 to include; None for all.
            starts: At most <f, w_1> of each direction; empty if w_1 = 0.
        """
        rows = Fraction(self.rows)
        yield Comparator(0, 1.0, Fraction(0), rows, rows, Fraction(0), self.rows)
        for k, norm2 in enumerate(norms2):
            if norm2 == 0:
                continue
            start = starts[k] if starts else Fraction(0)
            if LEAST < self.least[k] < math.inf:
                least = Fraction(float(self.least[k]))
                square = shortened(*(norm2 / least**2).as_integer_ratio())
                yield Comparator(k + 1, float(least), square, Fraction(0), Fraction(0), start / least, 0)
            first, wrong = 0 if longest is None else self._first(norm2, longest), self.wrong(k)
            for edge, hinge, squared in self._losses(k, range(first, len(self.edges)), squares=True):
                scale = Fraction(edge)
                square = shortened(*(norm2 / scale**2).as_integer_ratio())
                yield Comparator(k + 1, edge, square, hinge, squared, start / scale, wrong)

    def penalized(
        self, norms2: Sequence[Fraction], starts: Sequence[Fraction] = (), passes: int = 1
    ) -> Iterator[PenalizedComparator]:
        """Yield every u with targets that grow with ||x||^2, at each threshold that may give a bound.

        If w_1 = 0 these are the best one of each kappa, and those whose bounds are hardly larger.

        Args:
            norms2: At least ||f||^2 of each direction.
            starts: At most <f, w_1> of each direction; empty if w_1 = 0.
            passes: Number of times that the rows were played.
        """
        for p, (k, kappa) in enumerate(self.penalties):
            series, norm2 = self.directions + p, norms2[k]
            chosen = None if starts or norm2 == 0 else self._low(series, float(norm2) / (4.0 * kappa * passes))
            yield from self._of_series(series, k, Fraction(kappa), norm2, starts, chosen)

    def over_mistakes(
        self, norms2: Sequence[Fraction], starts: Sequence[Fraction] = (), scales: Collection[float] | None = None
    ) -> Iterator[PenalizedComparator]:
        """Yield every u, or those of some `scales`, with losses summed over the mistakes alone."""
        chosen = None if scales is None else {j for j, edge in enumerate(self.edges.tolist()) if edge in scales}
        for k, norm2 in enumerate(norms2):
            series = len(self.counts) - self.directions + k
            yield from self._of_series(series, k, Fraction(0), norm2, starts, chosen)

    def _low(self, series: int, more: float) -> set[int]:
        """Return the thresholds S where (the loss of f + more)/S is about least, evaluated in floats."""
        edges, counts, sums = self.edges[:-1], self.counts[series, :-1], self.sums[series, :-1]
        with np.errstate(over="ignore", invalid="ignore"):
            between = np.cumsum(counts)[:-1] * np.diff(edges)
            bounds = (np.cumsum(sums) + np.cumsum(np.append(0.0, between)) + more) / edges
        finite = bounds[np.isfinite(bounds)]
        return set(np.flatnonzero(bounds <= HARDLY_MORE * np.min(finite) + 1.0).tolist()) if len(finite) else set()

    def _of_series(
        self, series: int, k: int, kappa: Fraction, norm2: Fraction, starts: Sequence[Fraction],
        chosen: set[int] | None,
    ) -> Iterator[PenalizedComparator]:  # fmt: skip
        if norm2 == 0:
            return
        start, wrong = starts[k] if starts else Fraction(0), self.wrong(k)
        for edge, loss, _ in self._losses(series, chosen, squares=False):
            scale = Fraction(edge)
            square = shortened(*(norm2 / scale**2).as_integer_ratio())
            yield PenalizedComparator(k + 1, edge, square, kappa / scale, loss, start / scale, wrong)

    def wrong(self, direction: int) -> int:
        """Return an upper bound on the number of rounds that this direction misclassifies, in all rounds.

        Margins in the first class are below the smallest threshold: those that are not positive, and tiny ones.
        """
        return 0 if self.least[direction] > 0.0 else int(self.counts[direction, 0])

    def losses(self, direction: int) -> Iterator[tuple[float, Fraction, Fraction]]:
        """Yield (S, hinge loss of f/S, squared hinge loss) at each threshold S with finite sums, rounded up."""
        return self._losses(direction, None, squares=True)

    def _first(self, norm2: Fraction, longest: Fraction) -> int:
        """Return the first threshold at which f is not too long."""
        return bisect_left(self.edges[:-1].tolist(), True, key=lambda edge: norm2 <= longest * Fraction(edge) ** 2)

    def _losses(
        self, series: int, chosen: Container[int] | None, squares: bool
    ) -> Iterator[tuple[float, Fraction, Fraction]]:
        """Yield (S, hinge loss of f/S, squared hinge loss) for the `chosen` thresholds S, or for all, rounded up."""
        low = self.top - OCTAVES - 3  # thresholds are multiples of 2^low
        fine = FINEST + max(-low, 0)  # products of a threshold and a double are of 2^-fine
        count = hinge = before = 0
        squared = self.rows << (fine - FINEST) if squares else 0  # covers squares that underflowed
        kept = (1 << 53) - self.rows - 8  # the factor 2^53 / kept covers rounding errors
        for j, edge in enumerate(self.edges[:-1].tolist()):
            square = float(self.squares[series, j]) if squares else 0.0
            if not math.isfinite(self.sums[series, j] + square):
                return  # the sums overflowed here, and so at all thresholds above
            here = in_units(edge, FINEST)
            step = here - before
            if squares:
                squared += (2 * step * hinge + count * step * step) >> (2 * FINEST - fine)  # exactly
                squared += in_units(square, fine)
            hinge += count * step + in_units(float(self.sums[series, j]), FINEST)
            count += int(self.counts[series, j])
            before = here
            if chosen is None or j in chosen:
                bottom = kept * here
                yield (
                    edge,
                    shortened(hinge << 53, bottom),
                    shortened(squared << (53 + 2 * FINEST - fine), bottom * here) if squares else Fraction(0),
                )

    def mistakes_square(self) -> Fraction:
        """Return an upper bound on the sum of ||x||^2 over the mistakes."""
        total = sum(map(Fraction, self.added[-1].tolist()), Fraction(0))
        lost = Fraction(self.mistakes, 2**52) ** 2  # the compensation term is itself rounded
        return total * (1 + lost) + Fraction(self.mistakes, 2**1000)  # squares may have underflowed

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        return {"directions": len(array(state, "least", (None,), finite=False, of=cls.described)),
                **super().arguments(state)}  # fmt: skip

    def after_restoring(self, found: State) -> None:
        for name in ("sums", "squares"):  # distances to an edge; the last class has none
            require(not (found[name][:, :-1] < 0.0).any(), f"{name} of {self.described} must not be negative", name)
        counted = [self.rows] * (len(self.counts) - self.directions) + [self.mistakes] * self.directions
        must = f"counts of {self.described} must add up to {self.rows:,} rows and {self.mistakes:,} mistakes"
        sums = self.counts.sum(axis=1).tolist()
        require(sums == counted, must, sums)


def shortened(above: int, below: int) -> Fraction:
    """Return an upper bound on above / below with BITS bits, slightly rounded up; 0 for 0."""
    shift = BITS - (above.bit_length() - below.bit_length())
    if shift >= 0:
        return Fraction(-((-above << shift) // below), 1 << shift)
    return Fraction(-(-above // (below << -shift)) << -shift)
