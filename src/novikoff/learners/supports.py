"""Supports: the examples that a learner keeps, their coefficients, and f(x) = sum of coefficient * K(z, x).

Learners hold one of these and change it by their own compiled rules (kernels/), which work on its arrays
(kernels/cache.py). A rule that finds no room stops, and `make_room` doubles what was too small.
With a kernel function of the user's the values come from Python calls, the rules are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.encode import LARGEST_INDEX
from novikoff.errors import InputError, shown
from novikoff.learners.features import Features, Row
from novikoff.learners.restoring import read, require, whole_number
from novikoff.similarity import Similarity
from novikoff.types import Batch, Sparse, State

COUNT, UPDATES, EVICTIONS, FILLED = range(4)
SQUARES, SELFS, COEFFICIENTS, LABELS, BORN, FITS, VALUES, ROW, BASE = range(9)
OWN = 3
LARGEST_BUDGET = 2**31


class Supports:
    """At most `budget` examples with their coefficients; None for no limit."""

    def __init__(self, similarity: Similarity, budget: int | None = None) -> None:
        self.similarity, self.budget = similarity, budget
        self.own = similarity.kind == "own"
        self.rule = (OWN, 0.0, 1, 0.0, False, 0.0) if self.own else similarity.rule  # its values come ready
        self.cache: Any = None  # made with the first example: only then is the width known, and numba needed

    @property
    def most(self) -> int:
        """The budget as a number."""
        return 2**62 if self.budget is None else self.budget

    @property
    def count(self) -> int:
        """How many there are."""
        return 0 if self.cache is None else int(self.cache.counts[COUNT])

    @property
    def updates(self) -> int:
        """How many were ever put in."""
        return 0 if self.cache is None else int(self.cache.counts[UPDATES])

    @property
    def evictions(self) -> int:
        """How many had to leave."""
        return 0 if self.cache is None else int(self.cache.counts[EVICTIONS])

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """With the sign of the label, by slot."""
        return self.facts(COEFFICIENTS)

    def facts(self, fact: int) -> NDArray[np.float64]:
        """What is known of every support: a row of the arrays' `slots`."""
        return np.zeros(0) if self.cache is None else self.cache.slots[fact, : self.count].copy()

    def norm2(self) -> float:
        """||f||^2, summed anew: O(count^2) values of K."""
        total = 0.0
        for slot in range(self.count):
            self.compare_slot(slot)
            total += self.cache.slots[COEFFICIENTS, slot] * float(
                self.coefficients @ self.cache.slots[ROW, : self.count]
            )
        return total

    def begin(self, rows: Any) -> None:
        """Be ready for rows of this kind."""
        if self.cache is None:
            self.cache = arrays().empty(0, max(rows[3], 0), rows[3] < 0)

    def one(self, row: Row) -> Any:
        """A checked row as kernels take it."""
        rows = arrays().rows_of_one(row)
        self.begin(rows)
        return rows

    def batch(self, batch: Batch, features: Features) -> Any:
        """The rows of a batch as kernels take them; `features` meet them."""
        rows = arrays().rows_of(batch.x)
        if isinstance(batch.x, Sparse):
            features.meet("numbers", batch.x.width)
        else:
            features.meet("array", rows[3])
        self.begin(rows)
        return rows

    def score(self, row: Row) -> float:
        """f(x)."""
        if self.count == 0:
            return 0.0
        rows = arrays().rows_of_one(row)
        if not self.own:
            return float(kernel().compare(self.cache, self.rule, *rows[1:], VALUES))
        self.compare(rows[1], rows[2], rows[3])
        return self.score_of()

    def score_of(self) -> float:
        """f(x), of the values that `compare` found."""
        return float(kernel().score_of(self.cache))

    def play(self, rows: Any, y: NDArray[Any], sweep: Callable[[int, Any], int]) -> NDArray[np.int8]:
        """The predictions of `sweep`, which plays rows from one on until there is no room, and says where to go on."""
        predictions, t = np.empty(len(y), dtype=np.int8), 0
        while (t := sweep(t, predictions)) < len(y):
            self.make_room(rows[1][int(rows[0][t]) : int(rows[0][t + 1])] if rows[3] < 0 else rows[1], rows[3])
        return predictions

    def pieces(self, rows: Any, count: int) -> Iterator[tuple[Any, Any, int]]:
        """Each row as (places, numbers, width)."""
        indptr, places, numbers, width = rows
        for t in range(count):
            if width >= 0:
                yield places, numbers[t * width : (t + 1) * width], width
            else:
                start, stop = int(indptr[t]), int(indptr[t + 1])
                yield places[start:stop], numbers[start:stop], width

    def has_room(self, slot: int, places: NDArray[np.uint32], width: int) -> bool:
        """Is there room at this slot?"""
        return bool(kernel().room_for(self.cache, places, slot, width))

    def make_room(self, places: NDArray[np.uint32], width: int) -> None:
        """Room for one more example with these features."""
        old = self.cache
        slots, live = old.slots.shape[1], int((old.ends[:, 1] - old.ends[:, 0]).sum())
        if self.count == slots and self.count < self.most:
            slots = min(2 * slots, -(-self.most // 16) * 16)
        if width >= 0:
            self._move(arrays().empty(slots, width, sparse=False))
            return
        known, reach = max(len(old.spread), old.points.shape[1]), int(places[-1]) + 1 if len(places) else 0
        if reach > known:
            known = min(max(reach, 2 * known, 16), max(LARGEST_INDEX + 1, reach))
        numbers = len(old.numbers)
        if int(old.counts[FILLED]) + len(places) > numbers:
            numbers = max(numbers, 2 * (live + len(places)), 64)  # what left is dropped, at least half is free
        self._move(arrays().empty(slots, known, sparse=True, numbers=numbers))

    def _move(self, new: Any) -> None:
        """Go on in larger arrays."""
        old, count = self.cache, self.count
        new.slots[:, :count] = old.slots[:, :count]
        new.counts[:FILLED] = old.counts[:FILLED]
        if len(new.ends) == 0:
            new.points[: len(old.points)] = old.points
        else:
            kernel().move_rows(old, new)
        self.cache = new

    def compare(self, places: NDArray[np.uint32], numbers: NDArray[np.float64], width: int) -> float:
        """The values K(z,x) of every support, and K(x,x): the user's function is asked."""
        reach = width if width >= 0 else max([1, *(int(p[-1]) + 1 for p in self._all_places(places) if len(p))])
        x = spread(places, numbers, width, reach)
        for slot in range(self.count):
            self.cache.slots[VALUES, slot] = self.similarity.value(self._spread_slot(slot, reach), x)
        return self.similarity.own_value(x)

    def compare_slot(self, slot: int) -> None:
        """The values K(z, z_slot) of every support."""
        width = -1 if len(self.cache.ends) else self.cache.points.shape[1]
        if not self.own:
            kernel().compare_slot(self.cache, self.rule, slot, width)
            return
        reach = width if width >= 0 else max([1, *(int(p[-1]) + 1 for p in self._all_places() if len(p))])
        x = self._spread_slot(slot, reach)
        for other in range(self.count):
            self.cache.slots[ROW, other] = self.similarity.value(self._spread_slot(other, reach), x)

    def _all_places(self, *more: NDArray[np.uint32]) -> Iterator[NDArray[np.uint32]]:
        yield from more
        for start, stop in self.cache.ends[: self.count]:
            yield self.cache.places[start:stop]

    def _spread_slot(self, slot: int, reach: int) -> NDArray[np.float64]:
        """The example of a slot as an array."""
        if len(self.cache.ends) == 0:
            return np.ascontiguousarray(self.cache.points[slot // 16, :, slot % 16])
        start, stop = self.cache.ends[slot]
        return spread(self.cache.places[start:stop], self.cache.numbers[start:stop], -1, reach)

    def examples(self) -> dict[str, NDArray[Any]]:
        """The examples themselves, in slot order: an array, or sparse rows."""
        if self.cache is None:
            return {}
        if len(self.cache.ends) == 0:
            return {"points": np.array([self._spread_slot(j, 0) for j in range(self.count)]).reshape(
                self.count, self.cache.points.shape[1])}  # fmt: skip
        spans = [slice(*ends) for ends in self.cache.ends[: self.count].tolist()]
        return {
            "indptr": np.cumsum([0, *(span.stop - span.start for span in spans)]).astype(np.uint64),
            "places": np.concatenate([np.zeros(0, np.uint32), *(self.cache.places[span] for span in spans)]),
            "numbers": np.concatenate([np.zeros(0), *(self.cache.numbers[span] for span in spans)]),
        }

    def state(self) -> State:
        """All of it, as plain data."""
        count = self.count
        slots = {} if self.cache is None else {
            "coefficients": self.coefficients,
            "labels": self.cache.slots[LABELS, :count].astype(np.int8),
            "born": self.cache.slots[BORN, :count].astype(np.int64),
        }  # fmt: skip
        return {
            "similarity": self.similarity.state(),
            "budget": self.budget,
            "updates": self.updates,
            "evictions": self.evictions,
            "examples": self.examples(),
            "slots": slots,
        }

    def load(self, state: State, features: Features) -> None:
        """Become the supports whose `state` this is."""
        examples, slots = state["examples"], state["slots"]
        if not examples:
            return
        rows = read(examples, lambda saved: _rows(saved, features), "supports must be rows of finite doubles")
        sparse = rows[3] < 0
        count = len(rows[0]) - 1 if sparse else len(examples["points"])
        require(count <= self.most, f"supports must be at most {self.most:,}", count)
        self.cache = arrays().empty(count, features.count, sparse, len(rows[2]) if sparse else 0)
        kernel().fill(self.cache, self.rule, rows, count)
        self.cache.counts[UPDATES] = whole_number(state, "updates", count)
        self.cache.counts[EVICTIONS] = whole_number(state, "evictions", 0, self.updates)
        kinds = {"coefficients": (COEFFICIENTS, np.float64), "labels": (LABELS, np.int8), "born": (BORN, np.int64)}
        for name, (fact, kind) in kinds.items():
            saved = read(slots[name], np.asarray, f"{name} must be an array")
            sound = saved.dtype == kind and saved.shape == (count,) and bool(np.all(np.isfinite(saved)))
            require(sound, f"{name} must be a number for each support", saved.shape)
            self.cache.slots[fact, :count] = saved
        sound = bool(np.all(np.abs(self.cache.slots[LABELS, :count]) == 1.0))
        require(sound, "labels of supports must be -1 or +1", slots["labels"].tolist())


def checked_budget(budget: Any) -> int:
    """A budget, or an error."""
    whole = isinstance(budget, (int, np.integer)) and not isinstance(budget, bool)
    if not whole or not 1 <= budget <= LARGEST_BUDGET:
        raise InputError(f"a budget must be a whole number from 1 to {LARGEST_BUDGET:,}: got {shown(budget)}.")
    return int(budget)


def checked_beta(beta: Any) -> float:
    """A margin to insert at, or an error."""
    if not 0.0 <= beta < math.inf:
        raise InputError(f"beta must be at least 0, and finite: got {shown(beta)}.")
    return float(beta)


def spread(places: NDArray[np.uint32], numbers: NDArray[np.float64], width: int, reach: int) -> NDArray[np.float64]:
    """A row as an array of `reach` numbers."""
    if width >= 0:
        return numbers
    array = np.zeros(reach)
    array[places] = numbers
    return array


def _rows(saved: State, features: Features) -> Any:
    """Saved examples as kernels take them."""
    if ("points" in saved) != (features.kind == "array"):
        raise ValueError("they are of another kind than the features")
    if "points" in saved:
        points = saved["points"]
        if points.dtype != np.float64 or points.ndim != 2 or points.shape[1] != features.count:
            raise ValueError(f"an array of {features.count} features a row is wanted")
        if not np.all(np.isfinite(points)):
            raise ValueError("not all are finite")
        return arrays().rows_of(points)
    indptr, places, numbers = saved["indptr"], saved["places"], saved["numbers"]
    if not (indptr.ndim == places.ndim == numbers.ndim == 1 and len(indptr)):
        raise ValueError("they do not fit together")
    kinds = (indptr.dtype, places.dtype, numbers.dtype) == (np.uint64, np.uint32, np.float64)
    ends = indptr.astype(np.int64)
    if not kinds or ends[0] != 0 or np.any(np.diff(ends) < 0) or not ends[-1] == len(places) == len(numbers):
        raise ValueError("they do not fit together")
    if not np.all(np.isfinite(numbers)) or (len(places) and int(places.max()) >= features.count):
        raise ValueError("not all are finite, or of the features")
    rows = indptr.copy(), places.copy(), numbers.copy(), -1
    arrays().tidy(*rows[:3])
    for start, stop in zip(rows[0][:-1].tolist(), rows[0][1:].tolist(), strict=True):
        row = rows[1][start:stop]
        if np.any(row[1:] == row[:-1]):
            raise ValueError("a feature is repeated in a row")
    return rows


def arrays() -> Any:
    """The arrays' module, imported at its first use: numba takes its time."""
    global _arrays
    if _arrays is None:
        from novikoff.kernels import cache as _arrays
    return _arrays


def kernel() -> Any:
    """The compiled comparisons, imported at their first use."""
    global _kernel
    if _kernel is None:
        from novikoff.kernels import supports as _kernel
    return _kernel


_arrays: Any = None
_kernel: Any = None
