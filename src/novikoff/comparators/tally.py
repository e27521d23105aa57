"""Margins of a few comparators, summed so that their losses at many scales follow.

What is summed
    A direction f stands for the comparators u = f/S at 129 thresholds S, eight to an octave: max(0, 1 - y u(x)) is
    max(0, S - m)/S with m = y f(x). A margin m is counted once, in the class of the next threshold above it: how many,
    the sum of the distances to that threshold, the sum of their squares. From these the losses at every threshold
    follow by adding numbers that are not negative, so nothing cancels.
    A penalty (f, kappa) stands for u = f/S with targets that grow with the length of x: max(0, 1 + k||x||^2 - y u(x))
    is max(0, S - m)/S with m = y f(x) - kappa ||x||^2 and k = kappa/S. Those margins are summed in the same way.
    Over the rounds that were mistakes the losses of each f are summed once more, and so are y f(x) and ||x||^2.
Rounding
    Margins come rounded down, lengths up. A sum of r terms that are not negative, each rounded at most 3 times, is at
    most its computed value / (1 - (r+8) 2^-53); squares of distances may underflow, r 2^-1074 in all. Losses and
    lengths are told with 100 bits, rounded up: exact ones would have thousands.
Cost
    129 classes a series; O(series) per row. The losses are added up in integer multiples of the smallest double.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.rounding import in_units
from novikoff.core.types import State

Matrix = NDArray[np.float64]

OCTAVES = 16
UNIT = Fraction(1, 2**53)
FINEST = 1074
"""Every double is a multiple of 2^-1074."""
BITS = 100
HARDLY_MORE = 1.05
LEAST = 2.0**-600
"""A margin below this is as good as none: it would bound nothing."""
LIGHTEST, HEAVIEST = 2.0**-400, 2.0**400
"""A kappa beyond these is left out: what underflows could no longer be neglected."""
ARRAYS = ("counts", "sums", "squares", "least", "added")


@dataclass(frozen=True, slots=True)
class Comparator:
    """One u = f/S, all values rounded so that a bound computed from them is not too small.

    direction       which of the directions, from 1; 0 is u = 0
    scale           S
    square          at least ||u||^2
    hinge           at least the sum over rounds of max(0, 1 - y u(x)); 0 only if no margin is below 1
    squared_hinge   at least the sum of their squares
    start           at most <u, w_1>, w_1 being the learner's weights when the tracking began
    """

    direction: int
    scale: float
    square: Fraction
    hinge: Fraction
    squared_hinge: Fraction
    start: Fraction


@dataclass(frozen=True, slots=True)
class PenalizedComparator:
    """One u = f/S with targets 1 + kappa ||x||^2; values are rounded as those of `Comparator`.

    kappa   of u, exactly; 0 for targets of 1
    loss    at least the sum of max(0, 1 + kappa ||x||^2 - y u(x))
    """

    direction: int
    scale: float
    square: Fraction
    kappa: Fraction
    loss: Fraction
    start: Fraction

    def bound(self, start_square: Fraction = Fraction(0), factor: Fraction = Fraction(1)) -> Fraction:
        """loss - <u,w_1> + kappa ||w_1||^2 + factor ||u||^2/(4 kappa)."""
        return self.loss - self.start + self.kappa * start_square + factor * self.square / (4 * self.kappa)


class Tally:
    """The sums so far of `directions` directions, with thresholds up to 2^top.

    penalties   (direction, kappa) pairs, directions from 0
    probes      vectors beside the directions whose margins are summed over the mistakes, and not otherwise
    """

    def __init__(self, directions: int, top: int, penalties: Sequence[tuple[int, float]] = (), probes: int = 0) -> None:
        self.top, self.directions, self.probes = top, directions, probes
        self.penalties = [(k, kappa) for k, kappa in penalties if LIGHTEST <= kappa <= HEAVIEST]
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
        """What the compiled tally works on."""
        directions = np.array([k for k, _ in self.penalties], np.int64)
        kappas = np.array([kappa for _, kappa in self.penalties], np.float64)
        return (self.edges, self.base, directions, kappas, self.counts, self.sums, self.squares, self.least, self.added)

    def add(self, margins: Matrix, wrong: NDArray[np.bool_]) -> None:
        """Rows of margins: a column a direction, at most the true one; probes; ||x||^2, at least the true one."""
        from novikoff.comparators._loops import margins as kernel

        if len(margins):
            kernel.tally(margins, wrong, *self.arrays())
        self.count(wrong)

    def count(self, wrong: NDArray[np.bool_]) -> None:
        """Rows that were tallied."""
        self.rows += len(wrong)
        self.mistakes += int(np.count_nonzero(wrong))

    def comparators(
        self, norms2: Sequence[Fraction], longest: Fraction | None = None, starts: Sequence[Fraction] = ()
    ) -> Iterator[Comparator]:
        """Every u there is: u = 0, each direction at its least margin, and at each threshold.

        norms2    at least ||f||^2, for each direction; 0 for one that is not to be used
        longest   longer u, with ||u||^2 beyond this, are left out
        starts    at most <f, w_1>, for each direction; none if w_1 = 0
        """
        rows = Fraction(self.rows)
        yield Comparator(0, 1.0, Fraction(0), rows, rows, Fraction(0))
        for k, norm2 in enumerate(norms2):
            if norm2 == 0:
                continue
            start = starts[k] if starts else Fraction(0)
            if LEAST < self.least[k] < math.inf:
                least = Fraction(float(self.least[k]))
                square = shortened(*(norm2 / least**2).as_integer_ratio())
                yield Comparator(k + 1, float(least), square, Fraction(0), Fraction(0), start / least)
            first = 0 if longest is None else self._first(norm2, longest)
            for edge, hinge, squared in self._losses(k, range(first, len(self.edges)), squares=True):
                scale = Fraction(edge)
                square = shortened(*(norm2 / scale**2).as_integer_ratio())
                yield Comparator(k + 1, edge, square, hinge, squared, start / scale)

    def penalized(
        self, norms2: Sequence[Fraction], starts: Sequence[Fraction] = (), passes: int = 1
    ) -> Iterator[PenalizedComparator]:
        """Every u with targets that grow with ||x||^2, at each threshold that may bound something.

        Where w_1 = 0 these are the best one of each kappa, and those that bound hardly more.
        passes: how often the rows were played
        """
        for p, (k, kappa) in enumerate(self.penalties):
            series, norm2 = self.directions + p, norms2[k]
            chosen = None if starts or norm2 == 0 else self._low(series, float(norm2) / (4.0 * kappa * passes))
            yield from self._of_series(series, k, Fraction(kappa), norm2, starts, chosen)

    def over_mistakes(
        self, norms2: Sequence[Fraction], starts: Sequence[Fraction] = (), scales: Collection[float] | None = None
    ) -> Iterator[PenalizedComparator]:
        """Every u, its losses summed over the mistakes alone; only those of some `scales`, if these are given."""
        chosen = None if scales is None else {j for j, edge in enumerate(self.edges.tolist()) if edge in scales}
        for k, norm2 in enumerate(norms2):
            series = len(self.counts) - self.directions + k
            yield from self._of_series(series, k, Fraction(0), norm2, starts, chosen)

    def _low(self, series: int, more: float) -> set[int]:
        """The thresholds S where (the loss of f + more)/S is least or hardly more, by a look in floats."""
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
        start = starts[k] if starts else Fraction(0)
        for edge, loss, _ in self._losses(series, chosen, squares=False):
            scale = Fraction(edge)
            square = shortened(*(norm2 / scale**2).as_integer_ratio())
            yield PenalizedComparator(k + 1, edge, square, kappa / scale, loss, start / scale)

    def losses(self, direction: int) -> Iterator[tuple[float, Fraction, Fraction]]:
        """(S, the hinge loss of f/S, the squared one) at each threshold S of which something is known, rounded up."""
        return self._losses(direction, None, squares=True)

    def _first(self, norm2: Fraction, longest: Fraction) -> int:
        """The first threshold that does not make f too long."""
        return bisect_left(self.edges[:-1].tolist(), True, key=lambda edge: norm2 <= longest * Fraction(edge) ** 2)

    def _losses(
        self, series: int, chosen: Container[int] | None, squares: bool
    ) -> Iterator[tuple[float, Fraction, Fraction]]:
        """(S, the hinge loss of f/S, the squared one) for the `chosen` thresholds S, or for all, rounded up."""
        low = self.top - OCTAVES - 3  # thresholds are multiples of 2^low
        fine = FINEST + max(-low, 0)  # products of a threshold and a double are of 2^-fine
        count = hinge = before = 0
        squared = self.rows << (fine - FINEST) if squares else 0  # those that underflowed
        kept = (1 << 53) - self.rows - 8  # what rounding may have lost is made up for by 2^53 / kept
        for j, edge in enumerate(self.edges[:-1].tolist()):
            square = float(self.squares[series, j]) if squares else 0.0
            if not math.isfinite(self.sums[series, j] + square):
                return  # nothing is known of this threshold, nor of those above
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
        """At least the sum of ||x||^2 over the mistakes."""
        total = sum(map(Fraction, self.added[-1].tolist()), Fraction(0))
        lost = Fraction(self.mistakes, 2**52) ** 2  # what rounding lost was summed too, and rounded
        return total * (1 + lost) + Fraction(self.mistakes, 2**1000)  # squares may have underflowed

    def state(self) -> State:
        plain = {"top": self.top, "probes": self.probes, "rows": self.rows, "mistakes": self.mistakes}
        plain["penalties"] = [list(pair) for pair in self.penalties]  # type: ignore[assignment]
        return {**plain, **{name: getattr(self, name).copy() for name in ARRAYS}}

    @classmethod
    def restore(cls, state: State) -> Self:
        directions = len(state["least"])
        penalties = [(int(k), float(kappa)) for k, kappa in state["penalties"]]
        if not all(0 <= k < directions for k, _ in penalties):
            raise ValueError(f"penalties must be of one of {directions} directions: got {penalties}.")
        tally = cls(directions, state["top"], penalties, state["probes"])
        if not (tally.edges[0] > 0.0 and math.isfinite(tally.edges[-1])):  # kernels find classes by their bits
            raise ValueError(f"thresholds must be numbers above 0: got 2^{state['top']!r}.")
        for name in ARRAYS:
            fresh, saved = getattr(tally, name), state[name]
            if saved.shape != fresh.shape or saved.dtype != fresh.dtype:
                raise ValueError(f"{name} must be {fresh.dtype} of {fresh.shape}: got {saved.dtype} of {saved.shape}.")
            if name in ("sums", "squares") and bool((saved[:, :-1] < 0.0).any()):  # of what margins lack to an edge
                raise ValueError(f"{name} must be from 0: got one that is not.")
            setattr(tally, name, np.array(saved, order="C"))
        tally.rows, tally.mistakes = int(state["rows"]), int(state["mistakes"])
        counted = [tally.rows] * (len(tally.counts) - directions) + [tally.mistakes] * directions
        if not 0 <= tally.mistakes <= tally.rows or tally.counts.sum(axis=1).tolist() != counted:
            raise ValueError(
                f"counts must add up to {tally.rows} rows, {tally.mistakes} of them mistakes: they do not."
            )
        return tally


def shortened(above: int, below: int) -> Fraction:
    """At least above / below, and hardly more, with BITS bits; 0 is 0."""
    shift = BITS - (above.bit_length() - below.bit_length())
    if shift >= 0:
        return Fraction(-((-above << shift) // below), 1 << shift)
    return Fraction(-(-above // (below << -shift)) << -shift)
