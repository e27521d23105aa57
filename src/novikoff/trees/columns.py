"""Table columns as trees use them: numbers with missing values, and numbered categories.

Rows reach a learner as features. A table's columns became features by its encoding (data/tables/encoding.py): one per
number, one per category, and one that is 1 where a number is missing. `Columns` undoes this. In its rows

    a number     is itself, NaN where it is missing
    a category   is its number, by first appearance; NaN where it is missing, -1 if it was never learned from
    a date       is four columns: days as a number; month, weekday and hour as categories, NaN where it is missing

Without an encoding every feature is a column of numbers, 0 where a sparse or named row has no such feature.

Features get their columns when a row with them is learned, never in a prediction. A column that is new had the same
value, `absent`, in all earlier rows, so it does not matter in which batch it appears.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.feature_places import Features, Row
from novikoff.core.state import Array, Coded, Stateful, Value, require
from novikoff.core.types import Example, Sparse, State
from novikoff.trees import _loops

if TYPE_CHECKING:
    from novikoff.data.tables.encoding import Encoding, Meaning

MOST_COLUMNS = 256
"""Largest number of columns."""
NUMBER, MISSING = -1, -2
"""Codes of features that hold a column's number, or mark it as missing; codes from 0 are categories."""
NEVER_SEEN = -1.0
"""Value of a category that was never learned from."""


class ColumnsError(InputError):
    """Rows have more columns than trees take, or their features are hashed."""


def _copied(lists: list[list[str]]) -> list[list[str]]:
    return [list(texts) for texts in lists]


class Columns(Stateful):
    """The columns of the rows learned so far, and the feature or features from which each is made.

    Attributes:
        column_of: (places,) column of each feature; -1 if it was never learned from.
        code_of: (places,) `NUMBER`, `MISSING`, or the category that the feature stands for.
        kinds: (columns,) 0 for numbers, 1 for categories.
        absent: (columns,) value where a row has no feature of the column.
        names: Name of each column of a table; "" for a feature that is a column by itself.
        categories: Categories of each column, by number.
    """

    described = "columns"
    fields = (
        Array("column_of", (None,), np.int32),
        Array("code_of", ("column_of.size",), np.int32),
        Array("kinds", (None,), np.int8, nonnegative=True, most=1),
        Array("absent", ("kinds.size",), finite=False),
        Value("names", list),
        Coded("categories", _copied, _copied, "lists of texts"),
    )

    def __init__(self) -> None:
        self.column_of, self.code_of = np.zeros((2, 0), dtype=np.int32)
        self.kinds, self.absent = np.zeros(0, dtype=np.int8), np.zeros(0)
        self.names: list[str] = []
        self.categories: list[list[str]] = []
        self._by_name: dict[str, int] = {}
        self._meanings: list[Meaning] = []

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(self.kinds)

    @staticmethod
    def refusal(encoding: Encoding | None) -> str:
        """Return why trees cannot use the features of a table; "" if they can."""
        if encoding is not None and encoding.bits is not None:
            return "trees need columns: the features of this table are hashed, because of a text column or on request"
        if encoding is not None and len(encoding.columns) > MOST_COLUMNS:
            return f"trees take at most {MOST_COLUMNS} columns: this table has {len(encoding.columns):,}"
        return ""

    def check(self, x: NDArray[np.generic] | Sparse, encoding: Encoding | None) -> None:
        """Raise `ColumnsError` if `learn` cannot give all features of these rows a column."""
        if (why := self.refusal(encoding)) != "":
            raise ColumnsError(f"{why}. Use auto, ftrl or perceptron.")
        if encoding is None:
            columns = x.shape[1] if isinstance(x, np.ndarray) else _last(x) + 1
        elif 4 * len(encoding.columns) <= MOST_COLUMNS:  # even if all were dates
            return
        else:
            columns = len({meaning.column for meaning in encoding.meanings()})
        if columns > MOST_COLUMNS:
            raise ColumnsError(
                f"trees take at most {MOST_COLUMNS} columns: got {columns:,}. Use auto, ftrl or perceptron."
            )

    def learn(
        self, x: NDArray[np.generic] | Sparse, encoding: Encoding | None, capped: bool = False
    ) -> NDArray[np.float64]:
        """Return the columns of validated rows; new features get a column.

        Args:
            x: Rows of features, (rows, places) or sparse.
            encoding: Encoding of the table; None if features are columns by themselves.
            capped: Whether to ignore features of columns beyond the first `MOST_COLUMNS`.

        Raises:
            ColumnsError: If there are more than `MOST_COLUMNS`, unless `capped`; nothing is changed then.
        """
        if not capped:
            self.check(x, encoding)
        if encoding is None:
            self._number(min(x.shape[1] if isinstance(x, np.ndarray) else _last(x) + 1, MOST_COLUMNS))
        elif isinstance(x, np.ndarray):
            self._register(range(len(self.column_of), x.shape[1]), encoding)
        else:
            row = -1
            while (row := _loops.columns.first_new(x.indptr, x.indices, self.column_of, row + 1)) >= 0:
                self._register(x.row(row)[0].tolist(), encoding)
        return self.rows(x)

    def stretches(
        self, x: NDArray[np.generic] | Sparse, encoding: Encoding | None
    ) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.int8]]]:
        """Learn validated rows in stretches within which columns and kinds do not change.

        Features of columns beyond `MOST_COLUMNS` are ignored.

        Yields:
            Rows of a stretch, their columns, and the kinds of these.
        """
        start = 0
        while start < len(x):
            self.learn(x[start : start + 1], encoding, capped=True)
            kinds, stop = self.kinds.copy(), len(x)
            if isinstance(x, Sparse):
                stop = start + self._unchanged(x[start:], encoding, kinds)
            yield slice(start, stop), np.ascontiguousarray(self.rows(x[start:stop])[:, : len(kinds)]), kinds
            start = stop

    def _unchanged(self, x: Sparse, encoding: Encoding | None, kinds: NDArray[np.int8]) -> int:
        """Return the number of leading rows that add no column and change no kind; register their features."""
        if encoding is None:
            beyond = np.flatnonzero(x.indices[x.entries] >= self.count)
            if not len(beyond) or self.count == MOST_COLUMNS:
                return len(x)
            return int(np.searchsorted(x.indptr - x.indptr[0], beyond[0], "right")) - 1
        row = 0
        while (row := _loops.columns.first_new(x.indptr, x.indices, self.column_of, row + 1)) >= 0:
            self._register(x.row(row)[0].tolist(), encoding)
            if not np.array_equal(self.kinds, kinds):
                return row
        return len(x)

    def learn_one(self, row: Row, encoding: Encoding | None, capped: bool = False) -> NDArray[np.float64]:
        """Return the columns (1, columns) of one row as `Features.row` returns it; new features get a column."""
        return self.learn(_as_rows(row), encoding, capped)

    def rows(self, x: NDArray[np.generic] | Sparse) -> NDArray[np.float64]:
        """Return the columns (rows, columns) of validated rows; features never learned from are ignored."""
        out = np.empty((len(x), self.count))
        if isinstance(x, Sparse):
            _loops.columns.fill_sparse(*x.arrays, self.column_of, self.code_of, self.absent, out)
        else:
            _loops.columns.fill_dense(x, self.column_of, self.code_of, self.absent, out)
        return out

    def row(self, row: Row) -> NDArray[np.float64]:
        """Return the columns (1, columns) of one row as `Features.row` returns it."""
        return self.rows(_as_rows(row))

    def to_predict(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows (rows, columns), changed in place: a category never learned from gets the number that is next."""
        following = np.array([len(some) for some in self.categories], dtype=np.float64)
        np.copyto(rows, following, where=(rows == NEVER_SEEN) & (self.kinds == 1))
        return rows

    def places(self) -> NDArray[np.int64]:
        """Return the first feature of each column (columns,)."""
        found = np.zeros(self.count, dtype=np.int64)
        known = np.flatnonzero(self.column_of >= 0)[::-1]  # the first one is written last
        found[self.column_of[known]] = known
        return found

    def examples(self, x: NDArray[np.float64], features: Features) -> NDArray[np.float64] | Sparse | list[Example]:
        """Return rows (rows, columns) as the features that they were made from.

        Args:
            x: Columns of rows that were learned.
            features: Features of the learner.
        """
        rows = np.zeros((len(x), max(features.count, len(self.column_of))))
        for place in np.flatnonzero(self.column_of >= 0).tolist():
            value, code = x[:, self.column_of[place]], int(self.code_of[place])
            if code == NUMBER:
                rows[:, place] = np.where(np.isnan(value), 0.0, value)
            else:
                rows[:, place] = np.isnan(value) if code == MISSING else value == code
        if features.kind == "array":
            return rows
        if features.kind == "numbers":
            return Sparse.of_dense(rows)
        names = list(features.names)
        return [{names[place]: float(row[place]) for place in np.flatnonzero(row).tolist()} for row in rows]

    def typical_row(self, x: NDArray[np.float64], features: Features) -> Row:
        """Return a typical row as features: the means of numbers, the most frequent categories."""
        row = np.full(self.count, math.nan)
        for column, values in enumerate(x.T[: self.count]):
            known = values[~np.isnan(values)]
            if len(known) and self.kinds[column] == 0:
                row[column] = float(np.mean(known))
            elif 2 * len(known) > len(values) and len(seen := known[known >= 0.0]):
                row[column] = float(np.bincount(seen.astype(np.int64)).argmax())
        found = self.examples(row[np.newaxis], features)
        return features.row(found[0] if isinstance(found, (np.ndarray, list)) else found.row(0), learn=False)

    def name(self, column: int, features: list[str] | None = None) -> str:
        """Return the name of a column; `features` are the names of the features."""
        place = int(np.argmax(self.column_of == column))
        return self.names[column] or (features[place] if features and place < len(features) else f"x{place}")

    def category(self, column: int, code: int) -> str:
        """Return a category by its number."""
        return self.categories[column][code]

    def _number(self, places: int) -> None:
        """Make each of the first `places` features a column of numbers."""
        had = len(self.column_of)
        if places <= had:
            return
        self._make_room(places)
        self.column_of[had:] = np.arange(had, places)
        for _ in range(had, places):
            self._add("", 0, 0.0)

    def _register(self, places: Any, encoding: Encoding) -> None:
        """Give features of a table their columns, in this order."""
        new = [place for place in places if place >= len(self.column_of) or self.column_of[place] < 0]
        if new and max(new) >= len(self._meanings):
            self._meanings += encoding.meanings(len(self._meanings))
        self._make_room(max(new, default=-1) + 1)
        for place in new:
            name, kind, category = self._meanings[place]
            if name not in self._by_name:
                if self.count == MOST_COLUMNS:
                    continue  # only with `capped`
                self._by_name[name] = self._add(name, 0, math.nan)
            column = self._by_name[name]
            self.column_of[place] = column
            self.code_of[place] = NUMBER if kind == "number" else MISSING
            if kind in ("category", "part"):
                self.code_of[place] = len(self.categories[column])
                self.categories[column].append(category)
                self.kinds[column] = 1
                # A missing category has its own feature; the parts of a missing date have none.
                self.absent[column] = NEVER_SEEN if kind == "category" else math.nan

    def _make_room(self, places: int) -> None:
        more = places - len(self.column_of)
        if more > 0:
            self.column_of = np.append(self.column_of, np.full(more, -1, dtype=np.int32))
            self.code_of = np.append(self.code_of, np.full(more, NUMBER, dtype=np.int32))

    def _add(self, name: str, kind: int, absent: float) -> int:
        """Add a column and return its number."""
        self.kinds, self.absent = np.append(self.kinds, np.int8(kind)), np.append(self.absent, absent)
        self.names.append(name)
        self.categories.append([])
        return len(self.kinds) - 1

    def after_restoring(self, found: State) -> None:
        count, columns, codes = self.count, self.column_of, self.code_of
        known = columns >= 0
        sound = count <= MOST_COLUMNS and len(self.names) == len(self.categories) == count
        sound = sound and all(type(name) is str for name in self.names)
        sound = sound and all(isinstance(some, list) for some in self.categories)
        sound = sound and all(type(one) is str for some in self.categories for one in some)
        sound = sound and bool((columns >= -1).all() and (columns < count).all() and (codes >= MISSING).all())
        sizes = np.array([len(some) for some in self.categories] or [0], dtype=np.int64)
        sound = sound and bool((codes[known] < np.maximum(sizes[columns[known]], 0)).all())
        sound = sound and bool((self.kinds == (sizes[:count] > 0)).all())
        require(sound, "columns must agree with their features", self.names)
        self._by_name = {name: column for column, name in enumerate(self.names) if name}


def _as_rows(row: Row) -> NDArray[np.float64] | Sparse:
    if isinstance(row, tuple):
        places, values = row
        return Sparse(np.array([0, len(places)], dtype=np.uint64), places, values, 2**32 - 1, checked=True)
    return row[np.newaxis]


def _last(x: Sparse) -> int:
    """Return the largest feature of some rows; -1 if they have none."""
    used = x.indices[x.entries]
    return int(used.max()) if len(used) else -1
