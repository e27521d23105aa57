"""Three directions, and what they saw of every round: hinge losses at many scales, margins, lengths.

What is summed
    A direction U stands for the comparators u = U/S at 129 thresholds S, eight to an octave: max(0, 1 - y<u,x~>) is
    max(0, S - m)/S with m = y<U,x~>. A margin m is counted once, in the class of the next threshold above it: how many,
    the sum of the distances to that threshold, the sum of their squares. From these the losses at every threshold
    follow by adding numbers that are not negative, so nothing cancels.
Whole numbers
    If all x~ are whole, U and S are chosen whole, with ||x~||^2 < 2^53 and (||x~|| ||U||)^2 <= 2^61. Every partial sum
    of a margin is then a whole number below 2^53, distances are below 2^31, and all sums are exact. From the first row
    on that breaks this, floats are used; what was summed before stays as it is (rounded up once).
Floats
    u = 2^-53; n non-zeros in a row, the bias included. A margin is computed with an error of at most
    n u/(1 - n u) ||x~|| ||U|| + n 2^-1075, the last term for products that underflow (a sum of doubles never does), in
    whatever order it is summed. Taken off is e = (n+4) 2u (l + 2^-500) U^, where l is the computed length of x~
    and U^ >= ||U||: squares that underflow are missing from l^2, at most n 2^-1075 in all, so l + 2^-500 is at least
    ||x~|| (1 - (n+2) u); and as U^ >= 1/2, e is far above n 2^-1075 even for a row of zeros. So e, about twice what is
    needed, also covers its own rounding and that of the subtraction while n < 2^32: m - e is at most the true margin.
    A sum of r terms that are not negative, each rounded k times, is at most its computed value / (1 - (r+k) u); squares
    of distances may underflow, r 2^-1074 in all.
    R^2 is at most the largest computed ||x~||^2 (1 + (n+4) 2u): squares that underflowed are n 2^-1075 at most, and R^2
    is at least 2^-900 or exactly 0. R must be within 2^-450 .. 2^450, else no product could be trusted: `flaw` says so.
Reference
    the error of a sum in any order: [higham2002], chapters 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.fit import fit
from novikoff.comparators.rounding import in_units, length_of, of_length, root, upward
from novikoff.types import Sparse, State

Rows = NDArray[Any] | Sparse

BLOCK = 8192
OCTAVES = 16
UNIT = Fraction(1, 2**53)
SLACK = 2.0**-52
LONGEST, SHORTEST = 2.0**900, 2.0**-900
LEAST = 2.0**-600
"""A margin below this is as good as none: it would bound nothing."""

LARGEST_PRODUCT = 2**61
FINEST, COARSEST = 24, 12
"""In whole numbers ||U|| is about 2^24, less for long rows; below 2^12 too much would be lost by rounding U."""

FINER = 64
"""Losses are summed in units so many bits below their last: to round a sum up to one adds less than 2^-127."""

ROOM = 28
MOST_TOLD = 2**20
MOST_WHOLE_ROWS = 2**31
ARRAYS = ("counts", "sums", "squares", "carries", "least", "longest")


@dataclass(frozen=True, slots=True)
class Comparator:
    """One u = U/S, all values rounded so that a bound computed from them is not too small.

    direction       which of the directions, from 1; 0 is u = 0
    scale           S
    square          at least ||u||^2
    hinge           at least the sum over rounds of max(0, 1 - y<u,x~>); 0 only if no margin is below 1
    squared_hinge   at least the sum of their squares
    start           at most <u, w_1>, w_1 being the learner's weights when the comparators began to ride
    """

    direction: int
    scale: float
    square: Fraction
    hinge: Fraction
    squared_hinge: Fraction
    start: Fraction


class Riders:
    """Directions U, their thresholds, and the sums so far."""

    def __init__(self, U: NDArray[np.float32], own: NDArray[np.float64], top: int, exact: bool) -> None:
        self.U, self.own = U, own  # (features + 1, 4), the last row and column zero; the weights of the bias
        self.top, self.exact = top, exact
        steps = np.arange(8 * OCTAVES + 1)
        edges = np.ldexp(1.0 + (steps % 8) / 8.0, top - OCTAVES + steps // 8)
        self.edges = np.append(edges, edges[-1])  # the last class has no upper edge
        kind: Any = np.int64 if exact else np.float64
        shape = (len(own), len(self.edges))
        self.counts, self.carries = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.sums: NDArray[Any] = np.zeros(shape, kind)
        self.squares: NDArray[Any] = np.zeros(shape, kind)
        self.least = np.full(len(own), np.inf)
        self.longest = np.zeros(1)  # the largest ||x~||^2 as computed; not a number if one was not
        self.rows = self.nonzeros = 0
        self.empty = True  # no value but zero was seen
        self._across = np.zeros((len(own), 0))  # U direction by direction, made when a dense row comes
        self._measure(exact)

    @classmethod
    def fitted(cls, x: Sparse, y: NDArray[np.int8], bias: float, normalize: bool) -> Self:
        """Directions fitted on these rows, which they have not yet seen."""
        from novikoff.kernels import descent, riding

        square = np.zeros(len(y))
        descent.lengths(x.indptr, x.values, bias, normalize, np.empty(len(y)), square)
        longest = float(np.max(square, initial=0.0))
        values = x.values[int(x.indptr[0]) : int(x.indptr[-1])]
        exact = not normalize and longest < 2.0**53 and bias.is_integer() and bool(riding.whole(values))
        if not SHORTEST <= longest <= LONGEST:
            return cls(np.zeros((1, riding.WIDE), np.float32), np.zeros(riding.RIDERS), 0, exact)
        octave = (math.frexp(longest)[1] + 1) // 2  # longest < 4^octave
        power = min(FINEST, ROOM - octave)
        exact = exact and power >= COARSEST
        if not exact:
            power = 1
        directions, owns = fit(x, y, bias, normalize)
        U, own = np.zeros((x.width + 1, riding.WIDE), np.float32), np.zeros(riding.RIDERS)
        for k in range(riding.RIDERS):
            scaled = of_length(np.append(directions[:, k], owns[k]), power)
            scaled = np.rint(scaled) if exact else np.where(np.abs(scaled) < 2.0**-100, 0.0, scaled)
            rounded = scaled.astype(np.float32)
            U[:-1, k], own[k] = rounded[:-1], rounded[-1]
        return cls(U, own, power + octave, exact)

    @property
    def settled(self) -> bool:
        """Are margins a function of the row alone, whatever rows came before? In whole numbers they are not."""
        return not self.exact

    def _measure(self, exact: bool) -> None:
        """||U||^2 from above: squares of float32 are exact in doubles; their sum too, if whole and below 2^53."""
        weights = np.concatenate([self.U[:, : len(self.own)].astype(np.float64), self.own[None, :]])
        sizes = np.sum(np.square(weights), axis=0).tolist()
        if exact and max(sizes) < 2.0**53:
            self._norms2 = [Fraction(size) for size in sizes]
        else:  # n positive terms in any order: an error of n 2^-53 of the sum at most
            self._norms2 = [Fraction(size) * (1 + (len(weights) + 4) * UNIT) for size in sizes]
        self._norms = np.array([math.sqrt(size) * (1.0 + 2.0**-50) for size in self._norms2])
        self._base = int(self.edges[:1].view(np.int64)[0] >> 49) - 1
        self._most = min(2**53 - 1, LARGEST_PRODUCT // max(1, *map(math.ceil, self._norms2)))

    def see(self, x: Rows, y: NDArray[np.int8], bias: float, normalize: bool) -> None:
        """Rows in order, x~ being x (each of length 1 if `normalize`) and then the bias, if it is not 0."""
        from novikoff.kernels import riding

        if isinstance(x, Sparse) and not self.exact and len(y):
            self._ride(x, y, bias, normalize)
            return
        for start in range(0, len(y), BLOCK):
            part, labels = x[start : start + BLOCK], y[start : start + BLOCK]
            margins = self.margins(part, labels, bias, normalize)
            if self.exact:
                fits = self._whole_rows(part, margins[:, riding.RIDERS])
                self.add(part, margins[:fits], bias)
                if fits == len(labels):
                    continue
                self._leave_whole_numbers()
                part, labels = part[fits:], labels[fits:]
                margins = self.margins(part, labels, bias, normalize)
            self.add(part, margins, bias)

    def _ride(self, x: Sparse, y: NDArray[np.int8], bias: float, normalize: bool) -> None:
        """Sparse rows in floats: margins and tally in one go."""
        from novikoff.kernels import riding

        rows = (x.indptr, x.indices, x.values, y, bias, normalize, x.width < len(self.U))
        sums = (self.edges, self._base, self.counts, self.sums, self.squares, self.least, self.longest)
        most = riding.ride(*rows, self.U, self.own, self._norms, SLACK, *sums)
        self.nonzeros = max(self.nonzeros, int(most) + (bias != 0.0))
        self.rows += len(y)
        self.empty = self.empty and bool(self.longest[0] < SHORTEST) and bias == 0.0 and not np.any(_values(x))

    def margins(self, x: Rows, y: NDArray[np.int8], bias: float, normalize: bool) -> NDArray[np.float64]:
        """For each row: at most its margin with each U, and its squared length as computed. Changes no sum."""
        from novikoff.kernels import riding

        out = np.empty((len(y), riding.WIDE))
        common = (self.own, self._norms, 0.0 if self.exact else SLACK, out)
        if isinstance(x, Sparse):
            inside = x.width < len(self.U)
            riding.sparse(x.indptr, x.indices, x.values, y, bias, normalize, inside, self.U, *common)
        else:
            riding.dense(x, y, bias, normalize, self._as_wide_as(x.shape[1]), *common)
        return out

    def _as_wide_as(self, width: int) -> NDArray[np.float64]:
        """U direction by direction, at least so wide. Two threads may ask."""
        across = self._across
        if across.shape[1] < width:
            across = np.zeros((len(self.own), width))
            seen = min(len(self.U), width)
            across[:, :seen] = self.U[:seen, : len(self.own)].T
            self._across = across
        return across

    def _whole_rows(self, x: Rows, squares: NDArray[np.float64]) -> int:
        """How many rows can be summed exactly before the first that cannot."""
        from novikoff.kernels import riding

        long = ~(squares <= self._most)  # also what is not a number
        fits = int(np.argmax(long)) if long.any() else len(squares)
        fits = min(fits, max(MOST_WHOLE_ROWS - self.rows, 0))
        if _values(x).dtype != np.int64 and not riding.whole(_values(x)):
            fits = min(fits, next(t for t, values in enumerate(_each(x)) if not riding.whole(values)))
        return fits

    def _leave_whole_numbers(self) -> None:
        """Go on in floats."""
        totals = [
            int(carry) * 2**62 + int(low) for carry, low in zip(self.carries.flat, self.squares.flat, strict=True)
        ]
        self.squares = np.array([upward(total) for total in totals]).reshape(self.squares.shape)
        self.sums = np.array([upward(int(total)) for total in self.sums.flat]).reshape(self.sums.shape)
        self.carries[:] = 0
        self._measure(exact=False)
        self.exact = False

    def add(self, x: Rows, margins: NDArray[np.float64], bias: float) -> None:
        """Tally the first rows of x, as many as there are margins."""
        from novikoff.kernels import riding

        if len(margins) == 0:
            return
        self.longest = np.maximum(self.longest, margins[:, riding.RIDERS].max())
        self.empty = (
            self.empty and bool(self.longest[0] < SHORTEST) and bias == 0.0 and not np.any(_values(x[: len(margins)]))
        )
        stored = int(np.diff(x.indptr[: len(margins) + 1]).max()) if isinstance(x, Sparse) else x.shape[1]
        self.nonzeros = max(self.nonzeros, stored + (bias != 0.0))
        table = (margins, margins.view(np.int64), self.edges, self._base, self.counts, self.sums, self.squares)
        if self.exact:
            riding.tally_whole(*table, self.carries, self.least)
        else:
            riding.tally(*table, self.least)
        self.rows += len(margins)

    @property
    def flaw(self) -> str:
        """Why nothing can be said of these rows; "" if something can."""
        longest = float(self.longest[0])
        if math.isnan(longest):
            return "a feature was not a number"
        if longest > LONGEST or (longest < SHORTEST and not self.empty):
            return "rescale the features: the longest row must have a length between 2^-450 and 2^450"
        return ""

    def square(self) -> Fraction:
        """At least R^2; exactly, if the numbers are whole."""
        longest = Fraction(float(self.longest[0]))
        return longest if self.exact else longest * (1 + (self.nonzeros + 4) * 2 * UNIT)

    def comparators(self, start: NDArray[np.float64] | None) -> Iterator[Comparator]:
        """Every u there is: u = 0, each direction at its least margin, and at each threshold."""
        rows = Fraction(self.rows)
        yield Comparator(0, 1.0, Fraction(0), rows, rows, Fraction(0))
        if self.flaw:
            return
        growth = Fraction(1) if self.exact else 1 / (1 - (self.rows + 4) * UNIT)
        square = self.square()
        for k, norm2 in enumerate(self._norms2):
            if norm2 == 0:
                continue
            dot = self._start(k, start)
            if LEAST < self.least[k] < math.inf:
                least = Fraction(float(self.least[k]))
                yield Comparator(k + 1, float(least), norm2 / least**2, Fraction(0), Fraction(0), dot / least)
            wide = norm2 * square
            for scale, unit, edge, hinge, squared in self._losses(k):
                if start is None and wide.numerator * unit**2 > self.rows * edge**2 * wide.denominator:
                    continue  # no bound could be below the number of rounds
                up, down = growth.numerator, growth.denominator * edge
                norm = norm2 * Fraction(unit**2, edge**2)
                yield Comparator(k + 1, scale, norm, Fraction(hinge * up, down), Fraction(squared * up, edge * down),
                                 dot / Fraction(scale))  # fmt: skip

    def _losses(self, k: int) -> Iterator[tuple[float, int, int, int, int]]:
        """For each threshold, from one to the next: S; a unit; then S and the sum of max(0, S - m) in 1/unit, the sum
        of its square in 1/unit^2, as whole numbers. Fractions would take four times as long.
        """
        edges, sums, squares = (a[:-1].tolist() for a in (self.edges, self.sums[k], self.squares[k]))
        fine = FINER + max(number.as_integer_ratio()[1] for number in (*edges, *sums, *squares)).bit_length() - 1
        # Squares that underflowed are 2^-1074 at most each; in units, they are rounded up to one.
        missing = 0 if self.exact else self.rows
        count, hinge, squared, before = 0, 0, -((-missing << 2 * fine) >> 1074), 0
        for j, scale in enumerate(edges):
            edge = in_units(scale, fine)
            step = edge - before
            squared += 2 * step * hinge + count * step**2
            hinge += count * step
            count += int(self.counts[k, j])
            hinge += in_units(sums[j], fine)
            squared += in_units(squares[j], 2 * fine) + (int(self.carries[k, j]) << 62 + 2 * fine)
            before = edge
            yield scale, 1 << fine, edge, hinge, squared

    def _start(self, k: int, start: NDArray[np.float64] | None) -> Fraction:
        """At most <U_k, w_1>; exactly, if both are whole and not too large."""
        if start is None:
            return Fraction(0)
        width = min(len(self.U), len(start) - 1)
        weights = self.U[:width, k].astype(np.float64)
        dot = float(np.sum(weights * start[:width])) + float(self.own[k]) * float(start[-1])
        square, exact = length_of(start)
        if self.exact and exact and square * self._norms2[k] <= 2**106:
            return Fraction(dot)
        error = (width + 5) * 2 * UNIT * (root(square) + Fraction(1, 2**500)) * Fraction(float(self._norms[k]))
        return Fraction(dot) - error

    def directions(self) -> tuple[NDArray[np.float64], ...]:
        """Each U, feature by feature, the weight of the bias last; none if there are millions of features."""
        if len(self.U) > MOST_TOLD:
            return ()
        weights = self.U[:-1, : len(self.own)].astype(np.float64)
        return tuple(np.append(weights[:, k], self.own[k]) for k in range(len(self.own)))

    def state(self) -> State:
        """As plain data."""
        arrays = {name: getattr(self, name).copy() for name in ("U", "own", *ARRAYS)}
        plain = {name: getattr(self, name) for name in ("top", "exact", "rows", "nonzeros", "empty")}
        return {**arrays, **plain}

    @classmethod
    def restore(cls, state: State) -> Self:
        """The riders whose `state` this is."""
        from novikoff.kernels import riding

        U, own = np.array(state["U"], np.float32, order="C"), np.array(state["own"], np.float64)
        if U.ndim != 2 or U.shape[1] != riding.WIDE or len(U) == 0 or own.shape != (riding.RIDERS,) or U[-1].any():
            raise ValueError(f"directions must be {riding.RIDERS} to a feature: got arrays {U.shape} and {own.shape}.")
        riders = cls(U, own, state["top"], state["exact"])
        for name in ARRAYS:
            fresh, saved = getattr(riders, name), state[name]
            if saved.shape != fresh.shape or saved.dtype != fresh.dtype:
                raise ValueError(f"{name} must be {fresh.dtype} of {fresh.shape}: got {saved.dtype} of {saved.shape}.")
            setattr(riders, name, np.array(saved, order="C"))
        riders.rows, riders.nonzeros, riders.empty = state["rows"], state["nonzeros"], state["empty"]
        return riders


def _values(x: Rows) -> NDArray[Any]:
    if isinstance(x, Sparse):
        return x.values[int(x.indptr[0]) : int(x.indptr[-1])]
    return x.reshape(-1)


def _each(x: Rows) -> Iterator[NDArray[Any]]:
    return (values for _, values in x.rows()) if isinstance(x, Sparse) else iter(x)
