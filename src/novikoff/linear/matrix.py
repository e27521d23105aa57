"""A matrix A = L + S and its inverse, for learners of the second order: the first 256 features seen have a row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

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

LEAST_RIDGE, LARGEST_RIDGE = 2.0**-46, 2.0**100
"""Range of a ridge. A feature adds at most v = x^2/(ridge M^2) to x'P x, and an update leaves 1/(1+v) of P along x: of
that, rounding takes about 2^-53 v. Predictions of `vaw` were off by up to 0.005 at v = 2^46, and by 0.6 at 2^52."""


def taken_by(ridge: float, scale_free: bool, diagonal: bool = False) -> tuple[tuple[float, float], str]:
    """Least and largest |x|, but for 0, that a metric takes, and what to do about others.

    ridge M^2 and its inverse are doubles, and v is at most 2^46 for each feature, which a diagonal does not need.
    """
    root = math.sqrt(ridge)
    if scale_free:
        sizes = max(LEAST_SIZE, LEAST_SIZE / (root * 2.0**10)), min(LARGEST_SIZE, LARGEST_SIZE * 2.0**10 / root)
        return sizes, f"Multiply the feature by a power of 2: ridge is {ridge:g}."
    most = LARGEST_SIZE if diagonal else min(LARGEST_SIZE, root / math.sqrt(LEAST_RIDGE))
    return (LEAST_SIZE, most), f"Leave out scale_free=false, or scale the feature: its ridge is {ridge:g} at any scale."


class Matrix:
    """What linear/_loops/second_order.py works on. ridge: L = ridge * diag(M^2), or ridge * I where it is not
    scale_free.
    """

    def __init__(self, ridge: float, scale_free: bool) -> None:
        if not LEAST_RIDGE <= ridge <= LARGEST_RIDGE:
            raise InputError(f"a ridge must be from 2^-46 to 2^100: got {shown(ridge)}.")
        self.ridge, self.scale_free = float(ridge), bool(scale_free)
        self.totals = np.zeros(at.TOTALS)
        self._hold(np.full(1, -1, dtype=np.int32), 0)

    def _hold(self, slots: NDArray[np.int32], room: int) -> None:
        self.slots = slots  # the last is that of all features not seen
        self.held, self.inverse, self.sums = np.zeros((at.HELD, room)), np.zeros((room, room)), np.zeros((room, room))

    @property
    def records(self) -> tuple[at.Metric, at.MatrixArrays]:
        """The metric and the arrays, for loops; plain tuples, since every row asks for them."""
        metric: Any = self.slots, self.ridge, self.scale_free
        arrays: Any = self.held, self.inverse, self.sums, self.totals
        return metric, arrays

    @property
    def count(self) -> int:
        """Features in the matrix."""
        return int(self.totals[at.COUNT])

    def make_room(self, places: int) -> None:
        """For features at so many places."""
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
        """A row of `held`, place by place; 0 where the matrix has none."""
        slots, found = self.slots[:places], np.zeros(places)
        found[slots >= 0] = self.held[row, slots[slots >= 0]]
        return found

    def look(self, rows: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x'w and v = x'A^-1 x of every row, A with what x itself says of scales; nothing is changed."""
        count = len(rows.ends) - 1
        scores, spread = np.empty(count), np.empty(count)
        _loops.second_order.look(*self.to_read(rows), scores, spread)
        return scores, spread

    def to_read(self, rows: Any) -> tuple[at.Metric, at.MatrixArrays, Any]:
        """The records for loops that learn nothing, and the rows; copies where new features of a row need room."""
        places, need = seen_places(self.slots, rows, self.count)
        metric: Any = self.slots, self.ridge, self.scale_free
        arrays: Any = *roomy(self.held, self.inverse, need), self.sums, self.totals
        return metric, arrays, (rows.ends, places, rows.values)

    def stretches(self, count: int) -> Iterator[slice]:
        """Stretches of so many rows; between them the inverse is found again from the matrix, where it is time."""
        start = 0
        while start < count:
            stop = min(count, start + max(at.REFRESH - int(self.totals[at.SINCE]), 1))
            yield slice(start, stop)
            if self.totals[at.SINCE] >= at.REFRESH:
                _loops.second_order.refresh(self.held, self.inverse, self.sums, self.totals, self.ridge)
            start = stop

    def added(self, places: int, more: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """-b, and what it may be off by, place by place; each x was added at most `more` times."""
        return -self.of(at.MOMENT, places), more * added_doubt(self.of(at.SEEN, places), self.of(at.SIZE, places))

    def full(self) -> Full:
        """A, for certificates."""
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
        require(bool((counts >= 0.0).all() and (counts % 1.0 == 0.0).all()), "updates must be counted", counts)
        n, slots = int(count), array(state, "slots", (places,), np.int32)
        used = np.sort(slots[slots >= 0])
        require(used.tolist() == list(range(n)), "features must each have a row of the matrix", used)
        held = array(state, "held", (at.HELD, n))
        require(bool((held[[at.LARGEST, at.SEEN]] >= 0.0).all()), "sizes and counts must not be negative", held)
        self.totals, self.slots = totals, np.append(slots, np.int32(-1))
        self.held, self.inverse, self.sums = held, array(state, "inverse", (n, n)), array(state, "sums", (n, n))
        self.make_room(places)  # as before it was saved: rows may bring features that the matrix has not seen yet


def check_shared(slots: NDArray[np.int32], totals: NDArray[np.float64], room: int) -> None:
    """Refuse matrices that share `slots` unless they hold `room` features at most, and those with a slot are held."""
    check_counts(totals, 0, room)
    held = int(totals[..., at.COUNT].max(initial=0))
    used = np.sort(slots[slots != -1])
    require(used.tolist() == list(range(held)), "features must each have a row of the matrix", used)


def check_counts(totals: NDArray[np.float64], least: int, most: int) -> None:
    """Refuse totals of matrices that hold fewer features than `least` or more than `most`."""
    counts = totals[..., at.COUNT]
    sound = bool(((counts >= least) & (counts <= most) & (counts % 1.0 == 0.0)).all())
    require(sound, f"a matrix must hold from {least} to {most} features", counts)


def seen_places(slots: NDArray[np.int32], rows: Any, count: int) -> tuple[NDArray[np.uint32], int]:
    """The places of rows to predict, those beyond `slots` as its last; and how many features need room.

    Matrices that share `slots` hold `count` features at most. A feature with a slot that one of them has not met takes
    no more room than in the others, so that only features without a slot are added.
    """
    places = up_to(rows.places, len(slots) - 1)
    known = slots[places]
    if (min(known.tolist(), default=0) if len(known) <= SHORT else int(known.min())) >= 0:
        return places, count
    new = known < 0
    before = np.append(0, np.cumsum(new))
    return places, min(count + int(np.diff(before[rows.ends]).max(initial=0)), at.LIMIT)


def roomy(
    held: NDArray[np.float64], inverse: NDArray[np.float64], need: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both with room for `need` features; copies if they have less."""
    more = need - held.shape[-1]
    if more <= 0:
        return held, inverse
    ahead = [(0, 0)] * (held.ndim - 2)
    return np.pad(held, [*ahead, (0, 0), (0, more)]), np.pad(inverse, [*ahead, (0, more), (0, more)])


def stretches(rounds: int, count: int) -> Iterator[slice]:
    """The same where every row is an update, after so many rounds; who plays them calls `refresh` after each."""
    start = 0
    while start < count:
        stop = min(count, start + at.REFRESH - (rounds + start) % at.REFRESH)
        yield slice(start, stop)
        start = stop


def refresh(parts: tuple[NDArray[np.float64], ...], ridge: Any) -> None:
    """Find inverses again from their matrices, where it is time; the parts have one more dimension, or some more."""
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
    """A of the arrays that linear/_loops/second_order.py works on."""
    count = int(totals[at.COUNT])
    places = np.flatnonzero((slots >= 0) & (slots < count))
    places, low, largest = places[np.argsort(slots[places])], np.tril(sums[:count, :count]), held[at.LARGEST, :count]
    return Full(places, ridge * largest * largest, low + np.tril(low, -1).T, int(totals[at.UPDATES]))
