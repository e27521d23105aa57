"""Matrix A = L + S and its inverse, for second-order learners, over the first 256 features seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.goal import added_doubt
from novikoff.comparators.metric import Full
from novikoff.core.encode import SHORT
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import up_to
from novikoff.core.state import array, require
from novikoff.core.types import State
from novikoff.linear import _loops
from novikoff.linear._loops import second_order_layout as at
from novikoff.numerics.sizes import LARGEST_SIZE, LEAST_SIZE

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

LEAST_RIDGE, LARGEST_RIDGE = 2.0**-46, 2.0**100
"""Range of the ridge. A feature adds at most v = x^2/(ridge M^2) to x'P x. An update divides P along x by 1 + v, with a
relative rounding error of about 2^-53 v. In tests, predictions of `vaw` were off by up to 0.005 at v = 2^46, and by 0.6
at 2^52."""


def taken_by(ridge: float, scale_free: bool, diagonal: bool = False) -> tuple[tuple[float, float], str]:
    """Return the range of |x| that a metric accepts for x other than 0, and advice for values outside it.

    In this range ridge M^2 and its inverse are doubles, and v is at most 2^46 per feature; a diagonal metric needs only
    the former.
    """
    # Sizes reach from 2^-500 to 2^500. A factor of 2^10 beyond that keeps ridge M^2 and its inverse below 2^1021.
    root = math.sqrt(ridge)
    if scale_free:
        sizes = max(LEAST_SIZE, LEAST_SIZE / (root * 2.0**10)), min(LARGEST_SIZE, LARGEST_SIZE * 2.0**10 / root)
        return sizes, f"Multiply the feature by a power of 2: ridge is {ridge:g}."
    most = LARGEST_SIZE if diagonal else min(LARGEST_SIZE, root / math.sqrt(LEAST_RIDGE))
    return (LEAST_SIZE, most), f"Leave out scale_free=false, or rescale the feature: ridge is {ridge:g} at any scale."


class Matrix:
    """Matrix A and its inverse in the layout of linear/_loops/second_order.py.

    Args:
        ridge: Regularisation: L = ridge * diag(M^2) if `scale_free`, else ridge * I.
        scale_free: Whether L follows M, the largest |x| of each feature so far.

    Attributes:
        slots: (places + 1,) row of the matrix for each place, -1 for none; the last entry serves features not seen.
        held: (HELD, room) numbers per feature (second_order_layout.py).
        inverse: (room, room) lower triangle of A^-1.
        sums: (room, room) lower triangle of S.
        totals: (TOTALS,) counts and sums over all rounds.
    """

    def __init__(self, ridge: float, scale_free: bool) -> None:
        if not LEAST_RIDGE <= ridge <= LARGEST_RIDGE:
            raise InputError(f"a ridge must be from 2^-46 to 2^100: got {shown(ridge)}.")
        self.ridge, self.scale_free = float(ridge), bool(scale_free)
        self.totals = np.zeros(at.TOTALS)
        self._hold(np.full(1, -1, dtype=np.int32), 0)

    def _hold(self, slots: NDArray[np.int32], room: int) -> None:
        self.slots = slots  # the last entry serves all features not seen
        self.held, self.inverse, self.sums = np.zeros((at.HELD, room)), np.zeros((room, room)), np.zeros((room, room))

    @property
    def records(self) -> tuple[at.Metric, at.MatrixArrays]:
        """Metric and arrays for the loops, as plain tuples: they are made for every row."""
        metric: Any = self.slots, self.ridge, self.scale_free
        arrays: Any = self.held, self.inverse, self.sums, self.totals
        return metric, arrays

    @property
    def count(self) -> int:
        """Number of features in the matrix."""
        return int(self.totals[at.COUNT])

    def make_room(self, places: int) -> None:
        """Make room for `places` places."""
        if places >= len(self.slots):
            spare = min(len(self.slots), 2**20)
            self.slots = np.append(self.slots, np.full(places + 1 - len(self.slots) + spare, -1, dtype=np.int32))
        need, room = min(places, at.LIMIT), self.held.shape[1]
        if need > room:
            new = min(max(need, 2 * room if room else need), at.LIMIT)
            count, old = self.count, (self.held, self.inverse, self.sums)
            self._hold(self.slots, new)
            for now, then in zip((self.held, self.inverse, self.sums), old, strict=True):
                now[: then.shape[0], :count] = then[:, :count]

    def of(self, row: int, places: int) -> NDArray[np.float64]:
        """Return a row of `held` by place; 0 for places without a slot."""
        slots, found = self.slots[:places], np.zeros(places)
        found[slots >= 0] = self.held[row, slots[slots >= 0]]
        return found

    def look(self, rows: Nonzeros) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x'w and v = x'A^-1 x of every row without learning; A includes the scales of the row itself."""
        count = len(rows.ends) - 1
        scores, spread = np.empty(count), np.empty(count)
        _loops.second_order.look(*self.to_read(rows), scores, spread)
        return scores, spread

    def to_read(self, rows: Nonzeros) -> tuple[at.Metric, at.MatrixArrays, Any]:
        """Return metric, arrays and rows for loops that only predict, copied if new features need room."""
        places, need = seen_places(self.slots, rows, self.count)
        metric: Any = self.slots, self.ridge, self.scale_free
        arrays: Any = *roomy(self.held, self.inverse, need), self.sums, self.totals
        return metric, arrays, (rows.ends, places, rows.values)

    def stretches(self, count: int) -> Iterator[slice]:
        """Yield slices of `count` rows; recompute the inverse from the matrix between them when it is due."""
        start = 0
        while start < count:
            stop = min(count, start + max(at.REFRESH - int(self.totals[at.SINCE]), 1))
            yield slice(start, stop)
            if self.totals[at.SINCE] >= at.REFRESH:
                _loops.second_order.refresh(self.held, self.inverse, self.sums, self.totals, self.ridge)
            start = stop

    def added(self, places: int, more: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return -b and its rounding error by place; no |coefficient| of an x in b exceeds `more`."""
        return -self.of(at.MOMENT, places), more * added_doubt(self.of(at.SEEN, places), self.of(at.SIZE, places))

    def deviations(self, places: int, bias: float, updates: float) -> NDArray[np.float64]:
        """Return the standard deviation of each feature over the rows in S, each with its weight h.

        Without a constant feature, the root mean square.

        Args:
            places: Number of places, that of the constant feature included.
            bias: Value of the constant feature.
            updates: Sum of the weights h, if there is no constant feature.
        """
        count, slots = self.count, self.slots[1:places]
        there, found, sums = np.flatnonzero((slots >= 0) & (slots < count)), np.zeros(places - 1), self.sums
        constant, own = int(self.slots[0]), slots[there]
        known = bias != 0.0 and 0 <= constant < count
        whole = sums[constant, constant] / (bias * bias) if known else updates
        if whole > 0.0:
            sides = sums[np.maximum(own, constant), np.minimum(own, constant)] if known else np.zeros(len(own))
            means = sides / (bias * whole) if known else sides
            found[there] = np.sqrt(np.maximum(sums[own, own] / whole - means * means, 0.0))
        return found

    def spread(self, places: int) -> NDArray[np.float64]:
        """Return A^-1 (places, places) by place; 0 for places without a slot."""
        count, slots, found = self.count, self.slots[:places], np.zeros((places, places))
        there = np.flatnonzero((slots >= 0) & (slots < count))
        lower = np.tril(self.inverse[:count, :count])
        whole = lower + np.tril(lower, -1).T
        found[np.ix_(there, there)] = whole[np.ix_(slots[there], slots[there])]
        return found

    def full(self) -> Full:
        """Return A for certificates."""
        return full_metric(self.slots, self.ridge, self.held, self.sums, self.totals)

    def state(self, places: int) -> State:
        self.make_room(places)
        n = self.count
        return {"slots": self.slots[:places].copy(), "held": self.held[:, :n].copy(), "totals": self.totals.copy(),
                "inverse": np.tril(self.inverse[:n, :n]), "sums": np.tril(self.sums[:n, :n])}  # fmt: skip

    def load(self, state: State, places: int) -> None:
        totals = array(state, "totals", (at.TOTALS,))
        count = float(totals[at.COUNT])
        require(count.is_integer() and 0 <= count <= min(at.LIMIT, places), "features must fit a matrix", count)
        counts = totals[[at.UPDATES, at.SINCE]]
        require(bool((counts >= 0.0).all() and (counts % 1.0 == 0.0).all()), "updates must be whole numbers", counts)
        n, slots = int(count), array(state, "slots", (places,), np.int32)
        used = np.sort(slots[slots >= 0])
        require(used.tolist() == list(range(n)), "each feature must have its own row of the matrix", used)
        held = array(state, "held", (at.HELD, n))
        require(bool((held[[at.LARGEST, at.SEEN]] >= 0.0).all()), "sizes and counts must not be negative", held)
        self.totals, self.slots = totals, np.append(slots, np.int32(-1))
        self.held, self.inverse, self.sums = held, array(state, "inverse", (n, n)), array(state, "sums", (n, n))
        self.make_room(places)  # the loops expect it: the next rows may have features that are not in the matrix yet


def check_shared(slots: NDArray[np.int32], totals: NDArray[np.float64], room: int) -> None:
    """Raise an error unless matrices that share `slots` hold at most `room` features, each with one slot."""
    check_counts(totals, 0, room)
    held = int(totals[..., at.COUNT].max(initial=0))
    used = np.sort(slots[slots != -1])
    require(used.tolist() == list(range(held)), "each feature must have its own row of the matrix", used)


def check_counts(totals: NDArray[np.float64], least: int, most: int) -> None:
    """Raise an error if a matrix holds fewer than `least` or more than `most` features."""
    counts = totals[..., at.COUNT]
    sound = bool(((counts >= least) & (counts <= most) & (counts % 1.0 == 0.0)).all())
    require(sound, f"a matrix must hold from {least} to {most} features", counts)


def seen_places(slots: NDArray[np.int32], rows: Nonzeros, count: int) -> tuple[NDArray[np.uint32], int]:
    """Return the places of rows to predict, capped at the last slot, and the number of features to make room for.

    Matrices that share `slots` hold at most `count` features. A feature with a slot has room in all of them, even in a
    matrix that has not seen it yet, so only features without a slot need more.
    """
    places = up_to(rows.places, len(slots) - 1)
    known = slots[places]
    # Python's min is faster for a short row, numpy's for a long one.
    if (min(known.tolist(), default=0) if len(known) <= SHORT else int(known.min())) >= 0:
        return places, count
    new = known < 0
    # New features per row, as differences of running totals; a matrix must have room for the row with the most.
    before = np.append(0, np.cumsum(new))
    return places, min(count + int(np.diff(before[rows.ends]).max(initial=0)), at.LIMIT)


def roomy(
    held: NDArray[np.float64], inverse: NDArray[np.float64], need: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both arrays with room for `need` features, copied if they have less."""
    more = need - held.shape[-1]
    if more <= 0:
        return held, inverse
    ahead = [(0, 0)] * (held.ndim - 2)
    return np.pad(held, [*ahead, (0, 0), (0, more)]), np.pad(inverse, [*ahead, (0, more), (0, more)])


def stretches(rounds: int, count: int) -> Iterator[slice]:
    """Yield slices of `count` rows, each ending where an inverse is due; the caller then calls `refresh`.

    This is for learners that update in every round, so that after `rounds` rounds the next due row is known.
    """
    start = 0
    while start < count:
        stop = min(count, start + at.REFRESH - (rounds + start) % at.REFRESH)
        yield slice(start, stop)
        start = stop


def refresh(parts: tuple[NDArray[np.float64], ...], ridge: Any) -> None:
    """Recompute the inverses that are due from their matrices.

    Args:
        parts: held, inverse, sums and totals, as in MatrixArrays, with one or more leading axes.
        ridge: Regularisation of each matrix, broadcast to the leading axes.
    """
    held, inverse, sums, totals = parts
    due = totals[..., at.SINCE] >= at.REFRESH
    if due.any():
        ridges = np.broadcast_to(ridge, due.shape)
        for m in map(tuple, np.argwhere(due)):
            _loops.second_order.refresh(held[m], inverse[m], sums[m], totals[m], float(ridges[m]))


def full_metric(
    slots: NDArray[np.int32], ridge: float, held: NDArray[np.float64], sums: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> Full:  # fmt: skip
    """Return A from the arrays of linear/_loops/second_order.py."""
    count = int(totals[at.COUNT])
    # Only the lower triangle of S is stored: mirror it, with rows in the order of the slots.
    places = np.flatnonzero((slots >= 0) & (slots < count))
    places, low, largest = places[np.argsort(slots[places])], np.tril(sums[:count, :count]), held[at.LARGEST, :count]
    return Full(places, ridge * largest * largest, low + np.tril(low, -1).T, int(totals[at.UPDATES]))
