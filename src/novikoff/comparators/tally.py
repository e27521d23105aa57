"""Margins of a few directions, summed so that the losses at many scales follow.

What is summed
    A direction f stands for the comparators u = f/S at 129 thresholds S, eight to an octave: max(0, 1 - y u(x)) is
    max(0, S - m)/S with m = y f(x). A margin m is counted once, in the class of the next threshold above it: how many,
    the sum of the distances to that threshold, the sum of their squares. From these the losses at every threshold
    follow by adding numbers that are not negative, so nothing cancels.
Rounding
    Margins come rounded down. A sum of r terms that are not negative, each rounded at most 3 times, is at most its
    computed value / (1 - (r+8) 2^-53); squares of distances may underflow, r 2^-1074 in all. Losses and lengths are
    told with 100 bits, rounded up: exact ones would have thousands.
Cost
    129 classes a direction; O(directions) per row. The losses are added up in whole numbers of the smallest double.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.riders import Comparator
from novikoff.comparators.rounding import in_units
from novikoff.types import State

OCTAVES = 16
UNIT = Fraction(1, 2**53)
FINEST = 1074
"""Every double is a whole number of 2^-1074."""
BITS = 100
LEAST = 2.0**-600
"""A margin below this is as good as none: it would bound nothing."""
ARRAYS = ("counts", "sums", "squares", "least")


class Tally:
    """The sums so far of `directions` directions, with thresholds up to 2^top."""

    def __init__(self, directions: int, top: int) -> None:
        self.top = top
        steps = np.arange(8 * OCTAVES + 1)
        self.edges = np.ldexp(1.0 + (steps % 8) / 8.0, top - OCTAVES + steps // 8)
        shape = (directions, len(self.edges) + 1)  # the last class has no upper edge
        self.counts = np.zeros(shape, np.int64)
        self.sums, self.squares = np.zeros(shape), np.zeros(shape)
        self.least = np.full(directions, np.inf)
        self.rows = 0
        self._next = np.append(self.edges, np.inf)

    def add(self, margins: NDArray[np.float64]) -> None:
        """Rows of margins, one column a direction, each at most the true one."""
        self.rows += len(margins)
        if margins.size == 0:
            return
        self.least = np.minimum(self.least, margins.min(axis=0))
        directions, classes = self.counts.shape
        places = np.searchsorted(self.edges, margins, side="right")
        below = np.where(places < classes - 1, self._next[places] - margins, 0.0).reshape(-1)
        places = (places + np.arange(directions) * classes).reshape(-1)
        every = directions * classes
        self.counts += np.bincount(places, minlength=every).reshape(self.counts.shape)
        with np.errstate(over="ignore"):
            self.sums += np.bincount(places, below, every).reshape(self.counts.shape)
            self.squares += np.bincount(places, below * below, every).reshape(self.counts.shape)

    def comparators(self, norms2: Sequence[Fraction], most: Fraction) -> Iterator[Comparator]:
        """Every u there is: u = 0, each direction at its least margin, and at each threshold.

        norms2   at least ||f||^2, for each direction; 0 for one that is not to be used
        most     longer u, with ||u||^2 beyond this, are left out
        """
        rows = Fraction(self.rows)
        yield Comparator(0, 1.0, Fraction(0), rows, rows, Fraction(0))
        for k, norm2 in enumerate(norms2):
            if norm2 == 0:
                continue
            if LEAST < self.least[k] < math.inf:
                square = shortened(*(norm2 / Fraction(float(self.least[k])) ** 2).as_integer_ratio())
                yield Comparator(k + 1, float(self.least[k]), square, Fraction(0), Fraction(0), Fraction(0))
            first = self._first(norm2, most)
            for edge, hinge, squared in self._losses(k, first):
                square = shortened(*(norm2 / Fraction(edge) ** 2).as_integer_ratio())
                yield Comparator(k + 1, edge, square, hinge, squared, Fraction(0))

    def _first(self, norm2: Fraction, most: Fraction) -> int:
        """The first threshold that does not make f too long."""
        return bisect_left(self.edges.tolist(), True, key=lambda edge: norm2 <= most * Fraction(edge) ** 2)

    def _losses(self, k: int, first: int) -> Iterator[tuple[float, Fraction, Fraction]]:
        """(S, the hinge loss of f/S, the squared one) for the thresholds S from `first` on, rounded up."""
        low = self.top - OCTAVES - 3  # thresholds are whole numbers of 2^low
        fine = FINEST + max(-low, 0)  # products of a threshold and a double are of 2^-fine
        count = hinge = before = 0
        squared = self.rows << (fine - FINEST)  # those that underflowed
        kept = (1 << 53) - self.rows - 8  # growth is 2^53 / kept
        for j, edge in enumerate(self.edges.tolist()):
            if not math.isfinite(self.sums[k, j] + self.squares[k, j]):
                return  # nothing is known of this threshold, nor of those above
            here = in_units(edge, FINEST)
            step = here - before
            squared += (2 * step * hinge + count * step * step) >> (2 * FINEST - fine)  # exactly
            hinge += count * step + in_units(float(self.sums[k, j]), FINEST)
            squared += in_units(float(self.squares[k, j]), fine)
            count += int(self.counts[k, j])
            before = here
            if j >= first:
                bottom = kept * here
                yield (
                    edge,
                    shortened(hinge << 53, bottom),
                    shortened(squared << (53 + 2 * FINEST - fine), bottom * here),
                )

    def copy(self) -> Tally:
        """Another with the same sums."""
        return Tally.restore(self.state())

    def state(self) -> State:
        """As plain data."""
        return {"top": self.top, "rows": self.rows, **{name: getattr(self, name).copy() for name in ARRAYS}}

    @classmethod
    def restore(cls, state: State) -> Self:
        """The tally whose `state` this is."""
        tally = cls(len(state["least"]), state["top"])
        for name in ARRAYS:
            fresh, saved = getattr(tally, name), state[name]
            if saved.shape != fresh.shape or saved.dtype != fresh.dtype:
                raise ValueError(f"{name} must be {fresh.dtype} of {fresh.shape}: got {saved.dtype} of {saved.shape}.")
            setattr(tally, name, np.array(saved, order="C"))
        tally.rows = state["rows"]
        return tally


def shortened(above: int, below: int) -> Fraction:
    """At least above / below, and hardly more, with BITS bits; 0 is 0."""
    shift = BITS - (above.bit_length() - below.bit_length())
    if shift >= 0:
        return Fraction(-((-above << shift) // below), 1 << shift)
    return Fraction(-(-above // (below << -shift)) << -shift)
