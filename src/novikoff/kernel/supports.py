"""Supports: the stored examples of a learner, their coefficients, and f(x) = sum of coefficient * K(z, x).

They are stored in the arrays of kernel/_loops/cache.py, which the compiled rules fill; `make_room` doubles arrays that
are full. With a user-defined kernel the values K(z,x) are computed by Python calls; everything else is the same.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from novikoff.core.encode import LARGEST_INDEX
from novikoff.core.errors import InputError, shown
from novikoff.core.state import Field, array, integer, lookup, read, require
from novikoff.core.types import Sparse, State
from novikoff.kernel import _loops
from novikoff.kernel._loops import cache as at
from novikoff.kernel._loops.cache import Cache, Places, Rows, Rule, Vector, empty
from novikoff.kernel.kernels import Kernel
from novikoff.numerics.aligned import aligned

ROWS = "supports must be rows of finite doubles"
"""Error text for saved examples of another form."""
LARGEST_BUDGET = 2**31
"""Largest budget."""

SAVED = {"coefficients": (at.COEFFICIENTS, np.float64), "labels": (at.LABELS, np.int8), "born": (at.BORN, np.int64)}
"""Saved facts of every support, by name: row of `slots` and dtype."""


class Readers(threading.local):
    """Per-thread copies of the arrays of supports, each with separate scratch memory."""

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[Supports, tuple[Cache, Cache]] = WeakKeyDictionary()


READERS = Readers()


class Supports:
    """Stored examples with their coefficients.

    Args:
        similarity: The kernel K.
        budget: Largest number of supports; None for no limit.
    """

    def __init__(self, similarity: Kernel, budget: int | None = None) -> None:
        self.similarity, self.budget = similarity, budget
        self.most = 2**62 if budget is None else budget
        self.user_kernel = similarity.kind == "own"
        self.rule: Rule = (at.OWN, 0.0, 1, 0.0, False, 0.0) if self.user_kernel else similarity.rule
        self.cache: Cache = empty(0, 0, sparse=True)

    @property
    def count(self) -> int:
        """Number of supports."""
        return int(self.cache.counts[at.COUNT])

    @property
    def updates(self) -> int:
        """Number of insertions so far."""
        return int(self.cache.counts[at.UPDATES])

    @property
    def evictions(self) -> int:
        """Number of removals so far."""
        return int(self.cache.counts[at.EVICTIONS])

    @property
    def coefficients(self) -> Vector:
        """Coefficients by slot, with the sign of the label."""
        return self.facts(at.COEFFICIENTS)

    def facts(self, fact: int) -> Vector:
        """Return one fact of every support: a row of `slots`."""
        return self.cache.slots[fact, : self.count].copy()

    def norm2(self) -> float:
        """Return ||f||^2, computed from O(count^2) values of K."""
        total = 0.0
        for slot in range(self.count):
            total += self.cache.slots[at.COEFFICIENTS, slot] * float(self.coefficients @ self.compare_slot(slot))
        return total

    def begin(self, width: int) -> None:
        """Prepare the arrays for rows of this width, -1 for sparse rows."""
        if self.wrong_width(width):
            self._move(empty(self.cache.slots.shape[1], width, sparse=False))

    def wrong_width(self, width: int) -> bool:
        """Return whether dense rows of this width need new arrays: at the start, or if earlier rows had no features."""
        return width >= 0 and (len(self.cache.ends) > 0 or self.cache.points.shape[1] != width)

    def reserve(self, slot: int, places: Places, width: int) -> None:
        """Grow the arrays until a row fits into this slot."""
        while not _loops.supports.room_for(self.cache, places, slot, width):
            self.make_room(places, width)

    def make_room(self, places: Places, width: int) -> None:
        """Grow the arrays for one more example with these features."""
        old = self.cache
        slots, live = old.slots.shape[1], int((old.ends[:, 1] - old.ends[:, 0]).sum())
        if self.count == slots and self.count < self.most:
            slots = min(2 * slots, -(-self.most // at.BLOCK) * at.BLOCK)
        if width >= 0:
            self._move(empty(slots, width, sparse=False))
            return
        known, reach = max(len(old.spread), old.points.shape[1]), int(places[-1]) + 1 if len(places) else 0
        if reach > known:
            known = min(max(reach, 2 * known, 16), max(LARGEST_INDEX + 1, reach))
        numbers = len(old.numbers)
        if int(old.counts[at.FILLED]) + len(places) > numbers:
            numbers = max(numbers, 2 * (live + len(places)), 64)  # moving drops removed rows, so at least half is free
        self._move(empty(slots, known, sparse=True, numbers=numbers))

    def _move(self, new: Cache) -> None:
        """Move the supports into larger arrays."""
        old, count = self.cache, self.count
        new.slots[:, :count], new.scratch[:, :count] = old.slots[:, :count], old.scratch[:, :count]
        new.counts[: at.FILLED] = old.counts[: at.FILLED]
        if len(new.ends) == 0:
            new.points[: len(old.points), : old.points.shape[1]] = old.points
        else:
            _loops.supports.move_rows(old, new)
        self.cache = new

    def to_read(self) -> Cache:
        """Return the arrays with scratch memory of the calling thread, so that threads can predict concurrently."""
        source, copy = READERS.of.get(self, (None, self.cache))
        if source is not self.cache:  # the arrays have been replaced since this thread's copy was made
            copy = self.cache._replace(
                scratch=aligned(self.cache.scratch.shape), spread=np.zeros(len(self.cache.spread))
            )
            READERS.of[self] = self.cache, copy
        return copy

    def score(self, places: Places, numbers: Vector, width: int) -> float:
        """Return f(x) without learning."""
        cache = self.to_read()
        if not self.user_kernel:
            return _loops.supports.compare(cache, self.rule, places, numbers, width, at.VALUES)
        self._call(cache, places, numbers, width)
        return 0.0 if self.count == 0 else _loops.supports.score_of(cache)

    def call(self, places: Places, numbers: Vector, width: int) -> float:
        """Compute K(z,x) of every support z by the user-defined kernel, and return K(x,x)."""
        return self.similarity.own_value(self._call(self.cache, places, numbers, width))

    def _call(self, cache: Cache, places: Places, numbers: Vector, width: int) -> Vector:
        """Fill the values K(z,x) of the cache's scratch by the user-defined kernel; return x as an array."""
        reach = self._reach(width, places)
        x = spread(places, numbers, width, reach)
        values = [self.similarity.value(self._spread_slot(slot, reach), x) for slot in range(self.count)]
        cache.scratch[at.VALUES, : self.count] = values
        return x

    def score_called(self) -> float:
        """Return f(x) from the values that `call` computed."""
        return 0.0 if self.count == 0 else _loops.supports.score_of(self.cache)

    def compare_slot(self, slot: int) -> Vector:
        """Return the values K(z, z_slot) of every support."""
        width = -1 if len(self.cache.ends) else self.cache.points.shape[1]
        if not self.user_kernel:
            _loops.supports.compare_slot(self.cache, self.rule, slot, width)
        else:
            reach = self._reach(width)
            x = self._spread_slot(slot, reach)
            for other in range(self.count):
                self.cache.scratch[at.ROW, other] = self.similarity.value(self._spread_slot(other, reach), x)
        return self.cache.scratch[at.ROW, : self.count].copy()

    def self_value(self, slot: int) -> float:
        """Return K(z,z) of a slot."""
        return _loops.supports.whole_self(self.rule, self.cache.slots[at.SELFS, slot])

    def _reach(self, width: int, *rows: Places) -> int:
        """Return the length of dense arrays that hold the supports and these rows."""
        if width >= 0:
            return width
        held = (self.cache.places[start:stop] for start, stop in self.cache.ends[: self.count]) if self.count else ()
        return max([1, *(int(places[-1]) + 1 for places in (*rows, *held) if len(places))])

    def _spread_slot(self, slot: int, reach: int) -> Vector:
        """Return the example of a slot as a dense array."""
        if len(self.cache.ends) == 0:
            return np.ascontiguousarray(self.cache.points[slot // at.BLOCK, :, slot % at.BLOCK])
        start, stop = self.cache.ends[slot]
        return spread(self.cache.places[start:stop], self.cache.numbers[start:stop], -1, reach)

    def examples(self) -> dict[str, NDArray[Any]]:
        """Return the examples in slot order, as an array or as sparse rows."""
        if len(self.cache.ends) == 0:
            points = [self._spread_slot(slot, 0) for slot in range(self.count)]
            return {"points": np.array(points).reshape(self.count, self.cache.points.shape[1])}
        spans = [slice(*ends) for ends in self.cache.ends[: self.count].tolist()]
        return {
            "indptr": np.cumsum([0, *(span.stop - span.start for span in spans)]).astype(np.uint64),
            "places": np.concatenate([np.zeros(0, np.uint32), *(self.cache.places[span] for span in spans)]),
            "numbers": np.concatenate([np.zeros(0), *(self.cache.numbers[span] for span in spans)]),
        }

    def expansion(self) -> tuple[NDArray[np.float64] | Sparse, NDArray[np.float64]]:
        """Return the examples as rows, and their coefficients: f is the sum of coefficient * K(example, .)."""
        examples = self.examples()
        if "points" in examples:
            return examples["points"], self.coefficients
        width = int(examples["places"].max(initial=0)) + 1
        rows = Sparse(examples["indptr"], examples["places"], examples["numbers"], width, checked=True)
        return rows, self.coefficients

    def state(self) -> State:
        return {
            "similarity": self.similarity.state(),
            "updates": self.updates,
            "evictions": self.evictions,
            "examples": self.examples(),
            "slots": {name: self.facts(fact).astype(kind) for name, (fact, kind) in SAVED.items()},
        }

    def load(self, state: State, dense: bool, features: int) -> None:
        """Restore the supports from their `state`; their examples are dense or sparse, with `features` features."""
        saved = state["examples"]
        require(("points" in saved) == dense, "supports and features must both be dense or both be sparse", list(saved))
        rows = read(saved, lambda saved: (dense_rows if dense else sparse_rows)(saved, features), ROWS)
        count = len(saved["points"]) if dense else len(saved["indptr"]) - 1
        require(count <= self.most, f"supports must be at most {self.most:,}", count)
        self.cache = empty(count, features, not dense, 0 if dense or rows is None else len(rows[2]))
        if rows is not None:
            _loops.supports.fill(self.cache, self.rule, rows, count)
        self.cache.counts[at.UPDATES] = integer(state, "updates", count)
        self.cache.counts[at.EVICTIONS] = integer(state, "evictions", 0, self.updates - count)
        for name, (fact, kind) in SAVED.items():
            self.cache.slots[fact, :count] = array(state["slots"], name, (count,), kind)
        sound = bool(np.all(np.abs(self.facts(at.LABELS)) == 1.0))
        require(sound, "labels of supports must be -1 or +1", state["slots"]["labels"].tolist())


@dataclass(frozen=True)
class Examples(Field):
    """State field of the supports that the constructor creates, with their examples.

    Attributes:
        features: Path of the number of features.
        dense: Path of a value that is true if examples are arrays; "" if they are sparse.
    """

    features: str
    dense: str = ""

    def pack(self, value: Any, owner: object) -> object:
        return value.state()

    def unpack(self, state: State, owner: object, of: str) -> object:
        supports: Supports = lookup(owner, self.path)
        supports.load(state[self.name], bool(self.dense and lookup(owner, self.dense)), lookup(owner, self.features))
        return supports


def dense_rows(saved: State, features: int) -> Rows | None:
    """Return saved examples as the compiled loops take them; None if there are none."""
    points = saved["points"]
    if points.dtype != np.float64 or points.ndim != 2 or points.shape[1] != features:
        raise ValueError(f"expected an array with {features} features per row")
    if not np.all(np.isfinite(points)):
        raise ValueError("some are not finite")
    return _loops.rows.rows_of(points) if len(points) else None


def sparse_rows(saved: State, features: int) -> Rows | None:
    """Return saved sparse rows after checking that every feature is known and none is repeated in a row."""
    indptr, places, numbers = saved["indptr"], saved["places"], saved["numbers"]
    kinds = (indptr.dtype, places.dtype, numbers.dtype) == (np.uint64, np.uint32, np.float64)
    ends = indptr.astype(np.int64)
    if not kinds or not indptr.ndim == places.ndim == numbers.ndim == 1 or len(ends) == 0 or ends[0] != 0:
        raise ValueError("lengths of indptr, indices and values do not match")
    if np.any(np.diff(ends) < 0) or not ends[-1] == len(places) == len(numbers):
        raise ValueError("lengths of indptr, indices and values do not match")
    if not np.all(np.isfinite(numbers)) or (len(places) and int(places.max()) >= features):
        raise ValueError("some are not finite, or have an unknown feature")
    if len(ends) == 1:
        return None
    rows = _loops.rows.rows_of(Sparse(indptr, places, numbers, features))
    for start, stop in pairwise(rows[0].tolist()):
        row = rows[1][start:stop]
        if np.any(row[1:] == row[:-1]):
            raise ValueError("a feature is repeated in a row")
    return rows


def spread(places: Places, numbers: Vector, width: int, reach: int) -> Vector:
    """Return a row as an array of `reach` numbers."""
    if width >= 0:
        return numbers
    array = np.zeros(reach)
    array[places] = numbers
    return array


def checked_budget(budget: Any) -> int:
    """Return a valid budget, or raise InputError."""
    if not is_integer(budget) or not 1 <= budget <= LARGEST_BUDGET:
        raise InputError(f"a budget must be an integer from 1 to {LARGEST_BUDGET:,}: got {shown(budget)}.")
    return int(budget)


def is_integer(value: object) -> bool:
    """Return whether a value is an integer of Python or numpy, and not a bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def checked_beta(beta: object) -> float:
    """Return a valid insertion margin, or raise InputError."""
    if not isinstance(beta, (int, float, np.number)) or not 0.0 <= beta < math.inf:
        raise InputError(f"beta must be finite and at least 0: got {shown(beta)}.")
    return float(beta)
