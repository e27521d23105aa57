"""Supports: the examples that a learner keeps, their coefficients, and f(x) = sum of coefficient * K(z, x).

Learners hold one of these, play their rounds on it and bring the rule, twice: `sweep`, compiled (kernels/), plays rows
on the arrays of kernels/cache.py until there is no room, and says where to go on; `make_room` doubles what was too
small. `learn` takes one example, for a kernel function of the user's: K(z,x) comes from Python calls, all else is the
same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.kernel_facts import KernelFacts
from novikoff.encode import LARGEST_INDEX
from novikoff.errors import InputError, shown
from novikoff.learners.features import Features
from novikoff.similarity import Similarity
from novikoff.types import Batch, Example, Label, Sparse, check_label

Row = tuple[NDArray[np.uint32], NDArray[np.float64], int]  # places, numbers and width, as in kernels/cache.py
Sweep = Callable[..., int]
Learn = Callable[[Row, np.int8, float, float], None]  # row, label, f(x), K(x,x)

COUNT, UPDATES, EVICTIONS, FILLED = range(4)
SQUARES, SELFS, COEFFICIENTS, LABELS, BORN, FITS, VALUES, ROW, BASE = range(9)
OWN = 3
LARGEST_BUDGET = 2**31


class Supports:
    """At most `budget` examples with their coefficients; None for no limit."""

    def __init__(self, similarity: Similarity, budget: int | None = None) -> None:
        self.similarity, self.budget, self.features, self.rounds = similarity, budget, Features(), 0
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

    def told(self, **more: Any) -> KernelFacts:
        """What theorems need to know of any learner that keeps supports, and `more` of this one."""
        return KernelFacts(
            rounds=self.rounds,
            updates=self.updates,
            supports=self.updates - self.evictions,
            evictions=self.evictions,
            budget=self.budget,
            similarity=self.similarity,
            empty=self.count == 0,
            **more,
        )

    def score(self, x: Example) -> float:
        """f(x)."""
        row = self.features.row(x, learn=False)
        if self.count == 0:
            return 0.0
        if not isinstance(row, tuple) and self._bare(len(row)):
            row = np.arange(len(row), dtype=np.uint32), row
        rows = arrays().rows_of_one(row)
        if not self.own:
            return float(kernel().compare(self.cache, self.rule, *rows[1:], VALUES))
        self.compare(*rows[1:])
        return self.score_of()

    def score_of(self) -> float:
        """f(x), of the values that `compare` found."""
        return 0.0 if self.count == 0 else float(kernel().score_of(self.cache))

    def label_batch(self, batch: Batch) -> NDArray[np.int8]:
        """What f says of every row, learning nothing; compiled, but for a function of the user's."""
        rows = arrays().rows_of(batch.x)
        self.features.check("numbers" if rows[3] < 0 else "array", max(rows[3], 0))
        if self.count == 0:
            return np.ones(len(batch), dtype=np.int8)
        if self.own or (rows[3] >= 0 and self._bare(rows[3])):
            return np.array([-1 if self.score(x) < 0.0 else 1 for x, _ in batch.rows()], dtype=np.int8)
        said = np.empty(len(batch), dtype=np.int8)
        kernel().label_rows(self.cache, self.rule, rows, said)
        return said

    def play_one(self, x: Example, y: Label, sweep: Sweep, learn: Learn) -> Label:
        """Predict, then learn."""
        label = np.array([check_label(y, None)], dtype=np.int8)
        rows = arrays().rows_of_one(self.features.row(x, learn=not self.own))
        if not self.own:
            return int(self._play(rows, label, sweep)[0])
        own, score = self.compare(*rows[1:]), self.score_of()
        self.features.row(x, learn=True)  # only now: the function may have failed
        self._begin(rows)
        learn(rows[1:], label[0], score, own)
        self.rounds += 1
        return -1 if score < 0.0 else 1

    def sweep(self, batch: Batch, sweep: Sweep) -> NDArray[np.int8] | None:
        """Predict and learn every row; None, having done nothing, with a function of the user's, which may fail."""
        if self.own:
            return None
        rows = arrays().rows_of(batch.x)
        if isinstance(batch.x, Sparse):
            self.features.meet("numbers", batch.x.width)
        else:
            self.features.meet("array", rows[3])
        return self._play(rows, np.array(batch.y, dtype=np.int8), sweep)

    def _play(self, rows: Any, y: NDArray[np.int8], sweep: Sweep) -> NDArray[np.int8]:
        self._begin(rows)
        predictions, t = np.empty(len(y), dtype=np.int8), 0
        while (t := sweep(self.cache, self.rule, rows, y, t, predictions)) < len(y):
            self.make_room(rows[1][int(rows[0][t]) : int(rows[0][t + 1])] if rows[3] < 0 else rows[1], rows[3])
        self.rounds += len(y)
        return predictions

    def _begin(self, rows: Any) -> None:
        """Be ready for rows of this kind."""
        if self.cache is None:
            self.cache = arrays().empty(0, max(rows[3], 0), rows[3] < 0)
        elif self._bare(rows[3]):
            self._move(arrays().empty(self.cache.slots.shape[1], rows[3], sparse=False))

    def _bare(self, width: int) -> bool:
        """Arrays of that width come, after examples without features ({} or []), whose kind was not known."""
        return width >= 0 and (len(self.cache.ends) > 0 or self.cache.points.shape[1] != width)

    def reserve(self, slot: int, row: Row) -> None:
        """Room for the row at this slot."""
        while not kernel().room_for(self.cache, row[0], slot, row[2]):
            self.make_room(row[0], row[2])

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
            new.points[: len(old.points), : old.points.shape[1]] = old.points
        else:
            kernel().move_rows(old, new)
        self.cache = new

    def compare(self, places: NDArray[np.uint32], numbers: NDArray[np.float64], width: int) -> float:
        """The values K(z,x) of every support, and K(x,x): the user's function is asked."""
        reach = self._reach(width, places)
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
        reach = self._reach(width)
        x = self._spread_slot(slot, reach)
        for other in range(self.count):
            self.cache.slots[ROW, other] = self.similarity.value(self._spread_slot(other, reach), x)

    def own_value(self, slot: int) -> float:
        """K(z,z) of a slot."""
        return float(kernel().whole_self(self.rule, self.cache.slots[SELFS, slot]))

    def _reach(self, width: int, *rows: NDArray[np.uint32]) -> int:
        """How long arrays of the supports and of these rows must be."""
        if width >= 0:
            return width
        held = (self.cache.places[start:stop] for start, stop in self.cache.ends[: self.count]) if self.count else ()
        return max([1, *(int(places[-1]) + 1 for places in (*rows, *held) if len(places))])

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


def checked_budget(budget: Any) -> int:
    """A budget, or an error."""
    if not is_whole(budget) or not 1 <= budget <= LARGEST_BUDGET:
        raise InputError(f"a budget must be a whole number from 1 to {LARGEST_BUDGET:,}: got {shown(budget)}.")
    return int(budget)


def is_whole(value: Any) -> bool:
    """Is it a whole number, Python's or numpy's?"""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def checked_beta(beta: Any) -> float:
    """A margin to insert at, or an error."""
    if not isinstance(beta, (int, float, np.number)) or not 0.0 <= beta < math.inf:
        raise InputError(f"beta must be at least 0, and finite: got {shown(beta)}.")
    return float(beta)


def spread(places: NDArray[np.uint32], numbers: NDArray[np.float64], width: int, reach: int) -> NDArray[np.float64]:
    """A row as an array of `reach` numbers."""
    if width >= 0:
        return numbers
    array = np.zeros(reach)
    array[places] = numbers
    return array


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
