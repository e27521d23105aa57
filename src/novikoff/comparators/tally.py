"""Margins of a few directions, summed so that the losses at many scales follow.

What is summed
    A direction f stands for the comparators u = f/S at 129 thresholds S, eight to an octave: max(0, 1 - y u(x)) is
    max(0, S - m)/S with m = y f(x). A margin m is counted once, in the class of the next threshold above it: how many,
    the sum of the distances to that threshold, the sum of their squares. From these the losses at every threshold
    follow by adding numbers that are not negative, so nothing cancels.
Rounding
    Margins come rounded down. A sum of r terms that are not negative, each rounded at most 3 times, is at most its
    computed value / (1 - (r+8) 2^-53); squares of distances may underflow, r 2^-1074 in all.
Cost
    129 classes a direction; O(directions) per row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.riders import Comparator
from novikoff.types import State

OCTAVES = 16
UNIT = Fraction(1, 2**53)
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
        growth = 1 / (1 - (self.rows + 8) * UNIT)
        for k, norm2 in enumerate(norms2):
            if norm2 == 0:
                continue
            if LEAST < self.least[k] < math.inf:
                least = Fraction(float(self.least[k]))
                yield Comparator(k + 1, float(least), norm2 / least**2, Fraction(0), Fraction(0), Fraction(0))
            for edge, hinge, squared in self._losses(k):
                if norm2 <= most * edge**2:
                    yield Comparator(k + 1, float(edge), norm2 / edge**2, hinge * growth / edge,
                                     squared * growth / edge**2, Fraction(0))  # fmt: skip

    def _losses(self, k: int) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
        """(S, sum of max(0, S - m), sum of its square) for each threshold S: from one to the next."""
        count, hinge, before = 0, Fraction(0), Fraction(0)
        squared = Fraction(self.rows, 2**1074)  # those that underflowed
        for j, edge in enumerate(map(Fraction, self.edges.tolist())):
            if not math.isfinite(self.sums[k, j] + self.squares[k, j]):
                return  # nothing is known of this threshold, nor of those above
            step = edge - before
            squared += 2 * step * hinge + count * step**2
            hinge += count * step
            count += int(self.counts[k, j])
            hinge += Fraction(float(self.sums[k, j]))
            squared += Fraction(float(self.squares[k, j]))
            before = edge
            yield edge, hinge, squared

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
