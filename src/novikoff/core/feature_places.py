"""Assignment of features to weights, for learners with one weight per feature.

Examples are arrays of one width; pairs (indices, values) or mappings from integers, of any width; or mappings from
names, numbered by first appearance. All examples of a stream are of one of the three kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, counted
from novikoff.core.state import integer, require
from novikoff.core.types import Batch, CheckedRow, Example, Sparse, State

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

Row = NDArray[np.float64] | CheckedRow
Kind = Literal["array", "numbers", "names"]
Weights = NDArray[np.float64]

MOST = 2**32 - 1
"""Maximum number of features: readers number them up to 2^32 - 2."""


@dataclass(slots=True)
class Mapped:
    """A mapping whose features all have places, and its sparse row; the arrays are never modified.

    Attributes:
        keys: Keys in order.
        kind: Kind of the keys.
        count: Number of features that these keys need: one more than the largest place.
        row: Indices and values.
        rows: The row as the learner computes with it; None if it has not been made yet.
    """

    keys: list[object]
    kind: Kind
    count: int
    row: CheckedRow
    rows: Nonzeros | None = None


class Features:
    """The features seen so far: their number, and the place of each name."""

    def __init__(self) -> None:
        self.kind: Kind | None = None
        self.count = 0
        self.names: dict[str, int] = {}
        self.seen: Row | None = None
        """Last learned row, so that other users of x in the same round need not encode it again."""
        self.mapped: Mapped | None = None
        """Last mapping, cached because x is encoded twice, for predicting and for learning, and because the next x
        usually has the same keys."""

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes to pickle, without cached rows."""
        return {**self.__dict__, "seen": None, "mapped": None}

    def row(self, x: Example, learn: bool) -> Row:
        """Return x, validated, as an array or as (indices, values); new features get a place only if `learn`."""
        if type(x) is CheckedRow:
            self._keep_to("numbers")
            row = x
            self.kind = "numbers" if learn else self.kind
        elif isinstance(x, (dict, Mapping)):
            return self._mapping(x, learn)
        elif isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], np.ndarray):
            self._keep_to("numbers")
            row = encode.pair(*x)
            self.kind = "numbers" if learn else self.kind
        else:
            self._keep_to("array")
            array = encode.vector(x, self.count if self.kind == "array" and self.count else np.asarray(x).size)
            if learn:
                self.kind, self.count, self.seen = "array", len(array), array
            return array
        if learn:
            self.seen = row
            if len(row[0]):
                self.count = max(self.count, int(row[0].max()) + 1)
        return row

    def _mapping(self, x: Mapping[object, object], learn: bool) -> CheckedRow:
        """Return the row of a mapping, reusing the last arrays if keys and values are the same to the bit.

        The last mapping is read once and replaced as a whole, because several threads may predict.
        """
        keys, mapped = list(x), self.mapped
        if mapped is None or keys != mapped.keys or (mapped.kind == "numbers" and set(map(type, keys)) != {int}):
            return self._new_mapping(x, keys, learn)
        self._keep_to(mapped.kind)
        row, values = mapped.row, encode.mapped_values(x)
        if values.tobytes() != row[1].tobytes():  # bit patterns, because 0.0 == -0.0
            encode.check_finite(values)
            row = CheckedRow((row[0], values))
            self.mapped = Mapped(keys, mapped.kind, mapped.count, row)
        if learn:
            self.seen, self.kind, self.count = row, mapped.kind, max(self.count, mapped.count)
        return row

    def _new_mapping(self, x: Mapping[object, object], keys: list[object], learn: bool) -> CheckedRow:
        """Return the row of a mapping whose keys differ from the last one's."""
        named = isinstance(keys[0], str) if keys else self.kind == "names"  # an empty mapping fits both kinds
        kind: Kind = "names" if named else "numbers"
        self._keep_to(kind)
        row = encode.mapping(x, self.names, learn)
        if learn:
            self.seen = row
        if keys:
            count = int(row[0].max()) + 1
            if not named or count <= len(self.names):  # else there are new names without places
                self.mapped = Mapped(keys, kind, count, row)
            if learn:
                self.kind, self.count = kind, max(self.count, count)
        return row

    def seen_row(self, x: Example, later: bool = False) -> Row | dict[str, float]:
        """Return x of the round just played, encoded; if `later`, a dict that is not encoded yet is only copied."""
        row, self.seen = self.seen, None
        if row is not None:
            return row
        return x.copy() if later and type(x) is dict else self.row(x, learn=False)

    @property
    def dense(self) -> bool:
        """Whether examples are arrays."""
        return self.kind == "array"

    def met(self) -> tuple[Kind | None, int, int]:
        """Return a snapshot of the known features, for `forget`."""
        return self.kind, self.count, len(self.names)

    def forget(self, met: tuple[Kind | None, int, int]) -> None:
        """Return to a snapshot made by `met`, because the examples since then were rejected."""
        self.kind, self.count, names = met
        self.mapped = None
        while len(self.names) > names:
            self.names.popitem()

    def rows(self, batch: Batch, learn: bool) -> NDArray[Any] | Sparse:
        """Return the rows of a batch, validated; register their features if `learn`."""
        x = batch.x if isinstance(batch.x, Sparse) else batch.table()
        kind: Kind = "numbers" if isinstance(x, Sparse) else "array"
        (self.meet if learn else self.check)(kind, x.width if isinstance(x, Sparse) else x.shape[1])
        return x

    def meet(self, kind: Kind, width: int) -> None:
        """Register the features of a batch of that width."""
        self.check(kind, width)
        self.kind = kind
        self.count = max(self.count, width)

    def widen(self, width: int) -> bool:
        """Grow arrays to `width` columns, the new ones being 0 in all earlier rows; return whether they grew."""
        if self.kind != "array" or width <= self.count:
            return False
        self.count = width
        return True

    def check(self, kind: Kind, width: int) -> None:
        """Raise `InputError` if a batch is not of this kind and width."""
        self._keep_to(kind)
        if kind == "array" and self.kind == "array" and self.count not in (0, width):
            raise InputError(f"x must have {counted(self.count, 'feature')}, as before: got {width}.")

    def _keep_to(self, kind: Kind) -> None:
        if self.kind not in (None, kind):
            raise InputError(f"all examples must have one form: got {_WORDS[kind]} after {_WORDS[self.kind]}.")

    def state(self) -> State:
        return {"kind": self.kind, "count": self.count, "names": list(self.names)}

    def load(self, state: State) -> None:
        names = state["names"]
        require(state["kind"] in _WORDS or state["kind"] is None, "features must be of a known kind", state["kind"])
        self.kind, self.count = state["kind"], integer(state, "count", 0, MOST)
        self.names = {name: place for place, name in enumerate(names)}
        self.mapped = None
        require(self.kind is not None or not self.count, "features must have a kind", self.count)
        sound = all(type(name) is str for name in names) and len(self.names) == len(names)
        require(sound and len(names) in (0, self.count), "names must be distinct strings, one per feature", len(names))


def never_seen(weights: Weights, indices: NDArray[np.uint32]) -> tuple[Weights, NDArray[np.uint32]]:
    """Return weights and indices in which features that were never seen share the last weight, which is 0."""
    weights = weights if len(weights) else np.zeros(1)
    return weights, up_to(indices, len(weights) - 1)


def up_to(places: NDArray[np.uint32], last: int) -> NDArray[np.uint32]:
    """Return min(place, last) of every place; a short array is returned as it is if none is above `last`."""
    if len(places) <= encode.SHORT and max(places.tolist(), default=0) <= last:
        return places
    return np.minimum(places, np.uint32(last))


def rows_never_seen(weights: Weights, x: Sparse) -> tuple[Weights, Sparse]:
    """Apply `never_seen` to sparse rows, ignoring other rows that their arrays may hold."""
    if len(weights) and x.width <= len(weights):
        return weights, x
    x = x.alone()
    weights, indices = never_seen(weights, x.indices)
    return weights, replace(x, indices=indices)


_WORDS: Mapping[str | None, str] = {"array": "an array", "numbers": "numbered features", "names": "named features"}
