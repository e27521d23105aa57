"""Groups of examples by the values of a column or a function of x. Beyond MOST groups, all others form one.

With several columns groups overlap: a row is in one group per column. The numbers are then those of cells, which are
combinations of groups and disjoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, ModelFileError, shown
from novikoff.core.types import Batch, Example, Sparse

if TYPE_CHECKING:
    from novikoff.data.tables.encoding import Encoding

MOST = 1000
"""Largest number of groups with a name; further ones share the group OTHERS."""
ALL, OTHERS = "all", "others"
"""Name of the only group if there is one, and of the group of all beyond MOST."""
AND = " & "
"""Separator between the groups of a cell."""


class Groups:
    """Groups seen so far, in order of appearance.

    Args:
        by: None for one group, a column (number or name), a list of columns, or a function of x.
    """

    def __init__(self, by: object = None) -> None:
        self.by: Any = by
        self.names: dict[str, int] = {}
        self.each: list[Groups] = []
        if isinstance(by, list):
            if len(by) < 2 or len({*map(str, by)}) < len(by) or not all(isinstance(one, (int, str)) for one in by):
                raise InputError(f"overlapping groups need several distinct columns: got {shown(by)}.")
            self.each = [Groups(one) for one in by]
            return
        sound = by is None or callable(by) or (isinstance(by, (int, str)) and not isinstance(by, bool))
        if not sound or (isinstance(by, int) and by < 0):
            raise InputError(f"groups must be the number or name of a column, or a function of x: got {shown(by)}.")
        if by is None:
            self.names[ALL] = 0

    def key(self, encoding: Encoding | None, x: Example) -> str:
        """Return the group of one example; `encoding` is that of its table, or None."""
        if self.each:
            return AND.join(_part(one.by, one.key(encoding, x)) for one in self.each)
        if self.by is None:
            return ALL
        if callable(self.by):
            return _text(self.by(x))
        if isinstance(x, Mapping):
            return _text(x.get(self.by, 0))
        if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], np.ndarray):
            row: Any = Sparse(np.array([0, len(x[0])], dtype=np.uint64), x[0], x[1], int(x[0].max(initial=0)) + 1)
        else:
            try:
                row = np.atleast_2d(np.asarray(x, dtype=np.float64))
            except (TypeError, ValueError):
                raise InputError(f"x must be an array with the column of its group: got {shown(x)}.") from None
        return self.keys(encoding, Batch(row, np.zeros(1), 1))[0]

    def keys(self, encoding: Encoding | None, batch: Batch) -> list[str]:
        """Return the groups of the rows of a batch; empty if there is only one group."""
        if self.each:
            columns = [[_part(one.by, key) for key in one.keys(encoding, batch)] for one in self.each]
            return [AND.join(parts) for parts in zip(*columns, strict=True)]
        if self.by is None:
            return []
        if callable(self.by):
            return [_text(self.by(x)) for x, _ in batch.rows()]
        if isinstance(batch.x, list):
            return [self.key(encoding, x) for x in batch.x]
        places, names = self._columns(encoding)
        x: Any = batch.x
        if isinstance(x, Sparse):
            first, end = int(x.indptr[0]), int(x.indptr[-1])  # a slice of a batch keeps the indices of the whole
            here = first + np.flatnonzero(np.isin(x.indices[first:end], places))
            rows = np.searchsorted(x.indptr, here, side="right") - 1
            if names is not None:
                found = ["is missing"] * len(batch)
                for row, k in zip(rows.tolist(), here.tolist(), strict=True):
                    found[row] = names[int(x.indices[k])]
                return found
            values = np.zeros(len(batch))
            values[rows] = x.values[here]
        else:
            table = x if x.ndim == 2 else x[:, None]
            if places[0] >= table.shape[1]:
                raise InputError(f"groups must be a column from 0 to {table.shape[1] - 1}: got {self.by}.")
            values = table[:, places[0]]
        return [_text(value) for value in values.tolist()]

    def _columns(self, encoding: Encoding | None) -> tuple[list[int], dict[int, str] | None]:
        """Return the features that determine the group and, for a category, their names."""
        if isinstance(self.by, int):
            return [self.by], None
        known: Mapping[str, int] = {} if encoding is None or encoding.bits is not None else encoding.places
        if self.by in known:
            return [known[self.by]], None
        begin = f"{self.by}="
        found = {place: name.removeprefix(begin) for name, place in known.items() if name.startswith(begin)}
        if not found:
            raise InputError(
                f"groups must be a feature of the table: {shown(self.by)} is not. Pass the name or number of a "
                "feature, or a function of x."
            )
        return list(found), found

    def places(self, keys: Sequence[str], rows: int = 1) -> NDArray[np.int64]:
        """Return the numbers of groups, numbering new ones."""
        if self.by is None:
            return np.zeros(rows, dtype=np.int64)
        found = np.empty(len(keys), dtype=np.int64)
        for t, key in enumerate(keys):
            if key not in self.names:
                key = key if len(self.names) < MOST else OTHERS
                self.names.setdefault(key, len(self.names))
            found[t] = self.names[key]
        return found

    def ask(self, encoding: Encoding | None, x: Example) -> int:
        """Return the number of the group of x; -1 if not yet seen."""
        key = self.key(encoding, x)
        return self.names.get(key, self.names.get(OTHERS, -1))

    def overlapping(self) -> dict[str, list[int]]:
        """Return the cells of each group, where groups overlap; otherwise an empty dict."""
        found: dict[str, list[int]] = {}
        for name, place in self.names.items() if self.each else ():
            for part in name.split(AND):
                found.setdefault(part, []).append(place)
        return found

    def load(self, names: Any) -> None:
        """Load saved groups."""
        sound = isinstance(names, list) and all(type(name) is str for name in names) and len({*names}) == len(names)
        if not sound or (self.by is None and names != [ALL]):
            raise ModelFileError(f"saved groups must be distinct strings: got {shown(names)}.")
        self.names = {name: place for place, name in enumerate(names)}


def _part(column: object, value: str) -> str:
    """Return a column's group escaped for the name of a cell, which is split at AND."""
    return f"{column}={value}".replace(AND.rstrip(), " and")


def _text(value: object) -> str:
    """Return a value as the name of a group."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)
