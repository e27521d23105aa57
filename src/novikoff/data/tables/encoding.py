"""Encoding of table columns as features: the index of each feature, saved with the learner.

Indices
    Features are numbered: numeric columns first, in order, then the others in order of appearance, row by row:
    `colour=red`, `age is missing`. So the numbering does not depend on batch sizes or on the source. With `bits`,
    features are hashed instead, and nothing is stored; tables with a text column are always hashed.
    If a column has the name of another column's feature, `colour=red`, these features get a mark: `colour'=red`.
    An open encoding, that of rows which arrive one by one (data/tables/records.py), also takes columns that appear
    later: they are numbered in the order of their first values.
Rows
    Dense while all columns are numeric; the first missing value of a column adds a feature: from the first row on if
    it is among the rows used for detection, otherwise from its row on, where rows grow wider.
    Otherwise sparse: one entry per column. In a hashed row, features with the same index are summed.
At prediction
    Columns are matched by name. An unseen category is an unseen feature: its index is after all others, with weight 0;
    dense rows keep their width and omit it. A missing number in a column without missing values in training is
    replaced by the mean of the column's first rows. `Surprises` counts both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, ModelFileError, SourceError
from novikoff.core.state import Argument, Coded, Count, Stateful, Value, Values, is_of, require, words
from novikoff.core.types import CheckedRow, Sparse, State
from novikoff.data.hashing import murmur, words_of
from novikoff.data.tables import cells
from novikoff.data.tables.column import DAY, KINDS, NO_FEATURE, NO_NUMBER, Column, is_missing
from novikoff.data.tables.lags import Lags
from novikoff.numerics.total import Total

TEXT_BITS = 18
"""Bits of the hash of tables with a text column, by default."""
MEAN_ROWS = 1000
"""Number of first numbers of a column in its mean, in an open encoding; as many as tables look at."""
MOST_TEXTS = 1000
"""Largest number of unseen categories per column that are compared with those of training."""
EXACT = 2**53
"""Bound of integers that are doubles."""
MARK = re.compile("=|: | is missing")
"""Separators between the column name and the rest of a feature name."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Meaning(NamedTuple):
    """Relation of one feature to its table column.

    Attributes:
        column: Name of the column; parts of a date are columns too: `day: month`, `day: weekday` and `day: hour`.
        kind: "number" if the feature has the value of the column, or the days of a date; "missing" if it is 1 where
            that is missing; "category" if it is 1 where the column has this category; "part" if it is 1 where the part
            of a date has this value.
        category: The category; "" for numbers and missing values.
    """

    column: str
    kind: Literal["number", "missing", "category", "part"]
    category: str = ""


class Entry(NamedTuple):
    """One feature of a hashed row.

    Attributes:
        column: Name of the column.
        word: The word of a text; "" for anything else.
        place: Index of the feature.
    """

    column: str
    word: str
    place: int


class Slot:
    """One entry per row: codes of features (-1: none) and values; a scalar holds for every row.

    Args:
        names: Feature name of each code.
        codes: (rows,) code of each row.
        values: (rows,) value of each row.
    """

    def __init__(
        self, names: Sequence[str], codes: NDArray[np.int64] | int, values: NDArray[np.float64] | float = 1.0
    ) -> None:
        self.names, self.codes, self.values = names, codes, values


class Surprises:
    """Unseen values in rows to be predicted, by column.

    Args:
        live: Whether rows are learned from after their prediction: a number that is missing for the first time is then
            encoded as in learning, and not replaced by the mean.

    Attributes:
        categories: Number of rows with an unseen category, and the first such category, by column.
        numbers: Number of missing values in columns without missing values in training.
        gaps: Number of other missing values, by column.
        texts: The first distinct unseen categories, by column.
        rows: Number of rows.
    """

    def __init__(self, live: bool = False) -> None:
        self.live = live
        self.categories: dict[str, tuple[int, str]] = {}
        self.numbers: dict[str, int] = {}
        self.gaps: dict[str, int] = {}
        self.texts: dict[str, set[str]] = {}
        self.rows = 0

    def note_category(self, column: str, rows: int, first: str, all: Sequence[str] = ()) -> None:
        before, shown = self.categories.get(column, (0, first))
        self.categories[column] = before + rows, shown
        texts = self.texts.setdefault(column, set())
        texts.update(islice(all or [first], max(MOST_TEXTS - len(texts), 0)))

    def alike(self, column: str, encoding: Encoding) -> tuple[str, str] | None:
        """Return an unseen category and one of training that differ only in spelling: case, spaces, zeros; or None."""
        texts = {alike(text): text for text in sorted(self.texts.get(column, ()), reverse=True)}
        stem = f"{encoding._stem(Column(column, 'category'))}="
        for feature in encoding.places:
            if feature.startswith(stem) and (found := texts.get(alike(feature[len(stem) :]))) is not None:
                return found, feature[len(stem) :]
        return None

    def note_number(self, column: str, rows: int) -> None:
        self.numbers[column] = self.numbers.get(column, 0) + rows

    def note_gap(self, column: str, rows: int) -> None:
        if rows:
            self.gaps[column] = self.gaps.get(column, 0) + rows


def alike(category: str) -> str:
    """Return a category without differences of spelling: upper case, spaces, and the form of a number."""
    text = " ".join(category.casefold().replace("_", " ").replace("-", " ").split())
    with suppress(ValueError):
        return repr(float(text))
    return text


class Encoding(Stateful):
    """Feature columns of a table and the indices of their features.

    Args:
        columns: Columns of the table.
        bits: Features are hashed into 2^bits; None numbers them.
        named: Whether the columns have names; otherwise tables are matched by position.
        label: Label column, if any; in another table its position may differ.
        left_out: Columns that are not learned from, and ignored in other tables too.
        weight: Column of row weights, not needed for prediction.
        label_weights: Weight of rows by label.
        open: Whether columns may be added; rows are then sparse even if all columns are numeric.
        missing: Further texts that mean a missing value, in lower case.
        presence: Whether each word of a text counts once.
        balanced: Whether rows are weighted by how often their label occurred.
        lags: Columns with the cells of earlier rows; None if there are none.

    Attributes:
        dense: Whether all columns were numeric from the start.
        places: Index of each feature.
        begins: First time of each column of dates.
        means: Mean of the first rows of each numeric column: the value of a number missing only at prediction.
        gaps: Numeric columns with missing values, if features are hashed.
        missed: Fraction of missing values among the first rows of each column; empty if the encoding is open.
        sums: Sum, its compensation and count of the first numbers of each column, if the encoding is open.
    """

    fields = (
        Argument("named", bool),
        Argument("label", str | None),
        Values("left_out", str, argument=True, default=list),
        Argument("weight", str | None, default=lambda: None),
        Coded("label_weights", dict, lambda saved: _by_name(float)(saved), "weights by label", argument=True,
              default=dict),
        Value("dense", bool, assigned=False),
        Coded("columns", lambda columns: [one.state() for one in columns], lambda saved: _columns(saved),
              "columns of known kinds", argument=True),
        Count("bits", 1, 32, optional=True, argument=True),
        Values("places", str, assigned=False),
        Coded("begins", dict, lambda saved: _by_name(float)(saved), "times by column"),
        Coded("means", dict, lambda saved: _by_name(float)(saved), "means by column", default=dict),
        Values("gaps", str, at="_hashed_gaps", default=list, assigned=False),
        Argument("open", bool, default=lambda: False),
        Values("missing", str, argument=True, default=list),
        Argument("presence", bool, default=lambda: False),
        Argument("balanced", bool, default=lambda: False),
        Coded("sums", lambda sums: {name: list(one) for name, one in sums.items()}, lambda saved: _sums(saved),
              "sums by column", default=dict),
        Coded("missed", dict, lambda saved: _by_name(float)(saved), "shares by column", default=dict),
        Coded("lags", lambda lags: lags.state(), lambda saved: Lags.restore(saved), "lags", argument=True,
              optional=True, default=lambda: None),
    )  # fmt: skip
    described = "a table"

    def __init__(
        self, columns: Iterable[Column], bits: int | None = None, named: bool = True, label: str | None = None,
        left_out: Iterable[str] = (), weight: str | None = None, label_weights: Mapping[str, float] | None = None,
        open: bool = False, missing: Iterable[str] = (), presence: bool = False, balanced: bool = False,
        lags: Lags | None = None,
    ) -> None:  # fmt: skip
        self.lags = lags
        self.columns = [column for column in columns if column.kind != "ignored"]
        if bits is None and any(column.kind == "text" for column in self.columns):
            bits = TEXT_BITS
        self.bits, self.named, self.label, self.left_out, self.weight = bits, named, label, list(left_out), weight
        self.label_weights = dict(label_weights or {})
        self.open, self.missing, self.presence = open, list(missing), bool(presence)
        self.balanced = bool(balanced)
        numeric = all(column.kind in ("number", "boolean") for column in self.columns)
        self.dense = bits is None and numeric and not open
        self._stems = _stems([column.name for column in self.columns])
        self.places: dict[str, int] = {}
        self.begins: dict[str, float] = {}  # first time of each column of dates
        self.means: dict[str, float] = {}
        self.gaps: set[str] = set()
        self.missed: dict[str, float] = {}
        self.sums: dict[str, tuple[float, float, int]] = {}
        if bits is None:
            for column in self.columns:
                if column.kind in ("number", "boolean"):
                    self.places[column.name] = len(self.places)

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.places) if self.bits is None else 2**self.bits

    @property
    def features(self) -> tuple[str, ...] | None:
        """Feature names by index; None if they are hashed."""
        return tuple(self.places) if self.bits is None else None

    def usable(self, found: Column) -> Column:
        """Return a column detected after the first row as it can be used: text needs hashing, or is a category."""
        return Column(found.name, "category") if found.kind == "text" and self.bits is None else found

    def settle(self, column: Column, found: Column) -> Column:
        """Replace a column of unknown kind by the detected kind, and return it."""
        known = self.usable(found)
        self.columns[self.columns.index(column)] = known
        return known

    def admit(self, column: Column) -> None:
        """Add a column to an open encoding, after all others.

        Raises:
            InputError: If its name is that of a feature of another column, such as `colour=red` next to `colour`.
        """
        column = self.usable(column)
        stems = _stems([*(one.name for one in self.columns), column.name])
        if any(stems.get(one.name, one.name) != self._stem(one) for one in self.columns):
            raise InputError(
                "a new column must not be named like a value of another one",
                f"got {column.name!r}",
                "Rename it, or send it from the first row on.",
            )
        self.columns.append(column)
        self._stems = stems

    def kept(self) -> tuple[object, ...]:
        """Return what a row may change, for `forget`."""
        return (
            list(self.columns), len(self.places), dict(self.begins), set(self.gaps), dict(self.sums), dict(self.means),
        )  # fmt: skip

    def forget(self, kept: tuple[Any, ...]) -> None:
        """Return to the result of `kept`, because the row since then was rejected."""
        self.columns, places, self.begins, self.gaps, self.sums, self.means = kept
        self._stems = _stems([column.name for column in self.columns])
        while len(self.places) > places:
            self.places.popitem()

    def add_to_means(self, first: Mapping[str, object]) -> None:
        """Add the numbers of one row to the means of an open encoding, as `average` does with the first rows."""
        for column in self.columns:
            value = first.get(column.name)
            if column.kind in ("number", "boolean") and isinstance(value, (int, float)) and value == value:
                total, lost, count = self.sums.get(column.name, (0.0, 0.0, 0))
                if count < MEAN_ROWS:
                    sum = Total(total, lost)
                    sum.add(float(value))
                    self.sums[column.name] = sum.sum, sum.lost, count + 1
                    if math.isfinite(mean := float(sum) / (count + 1)):
                        self.means[column.name] = mean

    def average(self, first: Mapping[str, Sequence[object]]) -> None:
        """Store the means of the numeric columns, and how often cells are missing, from the first cells."""
        for column in self.columns:
            tokens = NO_FEATURE if column.kind == "category" else NO_NUMBER
            lost = sum(is_missing(cell, tokens) or cell != cell for cell in first[column.name])
            self.missed[column.name] = lost / max(len(first[column.name]), 1)
            if column.kind in ("number", "boolean"):
                with suppress(SourceError, ValueError):  # raised when its row is read
                    values = cells.numbers(cells.array(list(first[column.name]), column.kind), column)
                    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
                    if len(known):
                        total = Total()
                        total.add_all(known.astype(np.float64))
                        mean = float(total) / len(known)
                        self.means[column.name] = mean if math.isfinite(mean) else float(np.sum(known / len(known)))

    def rows(
        self, arrays: Mapping[str, Any], count: int, learn: bool = True, surprises: Surprises | None = None
    ) -> NDArray[Any] | Sparse:
        """Return the features of `count` rows.

        Args:
            arrays: Array of each column.
            count: Number of rows.
            learn: Whether new features get an index.
            surprises: Counter of unseen values, used if not `learn`.
        """
        surprises = surprises or Surprises()
        if self.dense:
            numbers = [cells.numbers(arrays[column.name], column) for column in self.columns]
            return self._dense(numbers, count, learn, surprises)
        slots, texts = [], []
        for column in self.columns:
            array = arrays[column.name]
            if column.kind == "text":
                texts.append((column, cells.text(array)))
                slots.append(Slot([gone(self._stem(column))], np.where(texts[-1][1][2], 0, -1)))
            else:
                slots += list(self._slots(column, array, learn, surprises))
        return self._entries(slots, count, learn) if self.bits is None else self._hashed(slots, texts, count)

    def _dense(self, columns: list[NDArray[Any]], count: int, learn: bool, surprises: Surprises) -> NDArray[Any]:
        gaps = [np.isnan(values) if values.dtype.kind == "f" else None for values in columns]
        gaps = [gap if gap is not None and gap.any() else None for gap in gaps]
        firsts = [(int(np.argmax(gap)), j) for j, gap in enumerate(gaps) if gap is not None]
        new = [gone(self._stem(self.columns[j])) for _, j in sorted(firsts)]
        places = self._placed([name for name in new if name not in self.places], True) if learn else self.places
        whole = all(values.dtype.kind == "i" for values in columns)
        x = np.zeros((count, len(places)), dtype=np.int64 if whole else np.float64)
        for j, (values, gap) in enumerate(zip(columns, gaps, strict=True)):
            if gap is None:
                x[:, j] = values
                continue
            column = self.columns[j]
            place = places.get(gone(self._stem(column)))
            if place is not None and not learn:
                surprises.note_gap(column.name, int(np.count_nonzero(gap)))
            x[:, j] = np.where(gap, self._mean(column, gap, surprises) if place is None else 0.0, values)
            if place is not None:
                x[:, place] = gap
        return x

    def _mean(self, column: Column, missing: NDArray[np.bool_], surprises: Surprises) -> float:
        """Count missing numbers in a column without any in training, and return their substitute, the mean."""
        surprises.note_number(column.name, int(np.count_nonzero(missing)))
        return self.means.get(column.name, 0.0)

    def expect_missing(self, cells: Mapping[str, Sequence[object]]) -> None:
        """Add the missing-value features of columns with missing values among these cells, for dense rows."""
        new = []
        for j, column in enumerate(self.columns):
            gaps = (row for row, cell in enumerate(cells[column.name]) if is_missing(cell, NO_NUMBER) or cell != cell)
            new += [(row, j) for row in islice(gaps, 1)]
        self._placed([gone(self._stem(self.columns[j])) for _, j in sorted(new)], True)

    def row(
        self, values: Mapping[str, object], learn: bool = True, surprises: Surprises | None = None,
        columns: Sequence[Column] | None = None,
    ) -> CheckedRow:  # fmt: skip
        """Return the features of one sparse row, as `rows` does, from Python values.

        Args:
            values: Value of each column; None where it is missing.
            learn: Whether new features get an index.
            surprises: Counter of unseen values, used if not `learn`.
            columns: Columns of the row, if they are not those of the encoding: some may be new.
        """
        surprises = surprises or Surprises()
        if self.bits is not None:
            arrays = {one.name: cells.array([values.get(one.name)], one.kind) for one in self.columns}
            found = self.rows(arrays, 1, learn, surprises)
            assert isinstance(found, Sparse)
            return CheckedRow(next(iter(found.rows())))
        entries: list[tuple[str, float]] = []
        for column in self.columns if columns is None else columns:
            value = values.get(column.name)
            simple = column.kind == "number" and type(value) in (int, float) and abs(value) < EXACT  # type: ignore[arg-type]
            if simple:
                entries.append((column.name, float(value)))  # type: ignore[arg-type]
            elif column.kind == "category" and type(value) is str and not is_missing(value, NO_FEATURE):
                name = f"{self._stem(column)}={cells.spelled(value.strip())}"
                if not learn and name not in self.places:
                    surprises.note_category(column.name, 1, value.strip())
                entries.append((name, 1.0))
            else:
                for slot in self._slots(column, cells.array([value], column.kind), learn, surprises):
                    code = slot.codes if isinstance(slot.codes, int) else int(slot.codes[0])
                    if code >= 0:
                        amount = slot.values if isinstance(slot.values, float) else float(slot.values[0])
                        entries.append((slot.names[code], amount))
        places = self._placed([name for name, _ in entries if name not in self.places], learn)
        indices = np.fromiter((places[name] for name, _ in entries), np.uint32, len(entries))
        return CheckedRow((indices, np.array([value for _, value in entries], dtype=np.float64)))

    def _slots(self, column: Column, array: object, learn: bool, surprises: Surprises) -> Iterable[Slot]:
        """Yield the entries of a column."""
        name = self._stem(column)
        if column.kind == "unknown":
            yield Slot([gone(name)], 0)
        elif column.kind == "category":
            values, codes = cells.distinct(array, NO_FEATURE)
            names = [f"{name}={cells.spelled(value)}" for value in values]
            if not learn and self.bits is None:
                new = np.array([one not in self.places for one in names] + [False])
                if rows := int(np.count_nonzero(new[codes])):
                    unseen = [value for value, fresh in zip(values, new.tolist(), strict=False) if fresh]
                    surprises.note_category(column.name, rows, unseen[0], unseen)
            if not learn:
                surprises.note_gap(column.name, int(np.count_nonzero(codes < 0)))
            yield Slot([*names, gone(name)], np.where(codes < 0, len(names), codes))
        elif column.kind == "time":
            seconds = cells.moments(array, column)
            if not learn:
                surprises.note_gap(column.name, int(np.count_nonzero(np.isnan(seconds))))
            yield from self._time_slots(column, seconds, learn)
        else:
            numbers = cells.numbers(array, column).astype(np.float64, copy=False)
            missing = np.isnan(numbers)
            if learn and missing.any():
                self.gaps.add(column.name)
            known = column.name in self.gaps if self.bits is not None else gone(name) in self.places
            if missing.any() and not learn and not known and not surprises.live:
                yield Slot([column.name], 0, np.where(missing, self._mean(column, missing, surprises), numbers))
            elif missing.any():
                if not learn:
                    surprises.note_gap(column.name, int(np.count_nonzero(missing)))
                yield Slot([column.name, gone(name)], missing.astype(np.int64), np.where(missing, 1.0, numbers))
            else:
                yield Slot([column.name], 0, numbers)

    def _time_slots(self, column: Column, seconds: NDArray[np.float64], learn: bool) -> Iterable[Slot]:
        name, missing = self._stem(column), np.isnan(seconds)
        begin = self.begins.get(column.name, 0.0 if missing.all() else float(seconds[np.argmin(missing)]))
        if learn and not missing.all():
            self.begins[column.name] = begin
        whole = np.where(missing, 0.0, np.floor(seconds)).astype(np.int64)
        since = np.where(missing, 1.0, (seconds - begin) / DAY)
        yield Slot([f"{name}: days", gone(name)], missing.astype(np.int64), since)
        days = whole // int(DAY)
        parts = [
            ("month", MONTHS, whole.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64) % 12),
            ("weekday", WEEKDAYS, (days + 3) % 7),
        ]
        if column.timed:
            parts.append(("hour", tuple(map(str, range(24))), whole // 3600 % 24))
        for part, values, codes in parts:
            yield Slot([f"{name}: {part}={value}" for value in values], np.where(missing, -1, codes))

    def _entries(self, slots: list[Slot], count: int, learn: bool) -> Sparse:
        """Return rows of numbered features; new ones are numbered in order of appearance."""
        new: list[tuple[int, int, str]] = []
        for order, slot in enumerate(slots):
            unknown = np.array([name not in self.places for name in slot.names] + [False])
            if unknown.any():
                which, rows = np.unique(slot.codes, return_index=True)
                seen = zip(which.tolist(), rows.tolist(), strict=True)
                new += [(row, order, slot.names[code]) for code, row in seen if code >= 0 and unknown[code]]
        places = self._placed([name for _, _, name in sorted(new)], learn)
        found = [np.array([places.get(name, 0) for name in slot.names] + [0]) for slot in slots]
        width = max([len(self.places), *(place + 1 for place in places.values())]) if not learn else len(self.places)
        return _sparse(slots, found, count, width)

    def _hashed(self, slots: list[Slot], texts: list[Any], count: int) -> Sparse:
        """Return rows of hashed features, words included."""
        assert self.bits is not None
        mask = 2**self.bits - 1
        found = [np.array([murmur(name.encode(), 0) & mask for name in slot.names] + [0]) for slot in slots]
        rows = _sparse(slots, found, count, self.width)
        for column, (data, ends, missing) in texts:
            stops = np.where(missing, ends[:-1], ends[1:])
            occurring = counted(data, ends[:-1], stops, murmur(column.name.encode(), 0), self.bits)
            if self.presence:
                occurring.values[:] = 1.0
            rows = joined_rows(rows, occurring)
        return merged(rows)

    def _stem(self, column: Column) -> str:
        """Return the start of the names of a column's features."""
        return self._stems.get(column.name, column.name)

    def _placed(self, new: Sequence[str], learn: bool) -> dict[str, int]:
        """Return the indices of all features, new ones at the end; store them if `learn`."""
        fresh = {name: len(self.places) + k for k, name in enumerate(dict.fromkeys(new))}
        if learn:
            self.places |= fresh
            return self.places
        return {**self.places, **fresh} if fresh else self.places

    def meanings(self, start: int = 0) -> list[Meaning]:
        """Return the meaning of each feature from index `start` on, for learners that use columns as they are.

        Features must be numbered, not hashed. The days of a date and its missing values belong to one column, which
        has the name of the date.
        """
        stems = {self._stem(column): column for column in self.columns}
        names = {column.name for column in self.columns if column.kind in ("number", "boolean")}
        return [self._meaning(feature, names, stems) for feature in islice(self.places, start, None)]

    def _meaning(self, feature: str, numbers: set[str], stems: Mapping[str, Column]) -> Meaning:
        if feature in numbers:
            return Meaning(feature, "number")
        column, mark = self._split(feature, stems)
        rest = feature[mark.end() :]
        if mark.group() == "=":
            return Meaning(column.name, "category", rest)
        if mark.group() != ": ":
            return Meaning(column.name, "missing")
        value = rest.partition("=")[2]
        return Meaning(feature[: -len(value) - 1], "part", value) if value else Meaning(column.name, "number")

    def _split(self, feature: str, stems: Mapping[str, Column]) -> tuple[Column, re.Match[str]]:
        """Return the column of a feature and the mark after its stem."""
        for mark in MARK.finditer(feature):  # stems are unambiguous: at most one of these is a column's
            if (column := stems.get(feature[: mark.start()])) is not None:
                return column, mark
        raise ModelFileError(f"every feature of a table must belong to a column: {feature!r} does not.")

    def sources(self) -> list[str]:
        """Return the table column of each feature, by index; the parts of a date belong to its column.

        Features must be numbered, not hashed.
        """
        stems = {self._stem(column): column for column in self.columns}
        numbers = {column.name for column in self.columns if column.kind in ("number", "boolean")}
        return [feature if feature in numbers else self._split(feature, stems)[0].name for feature in self.places]

    def entries(self, arrays: Mapping[str, Any]) -> list[Entry]:
        """Return the entries of the first row of these arrays, with the words of texts, if features are hashed."""
        assert self.bits is not None
        mask, found = 2**self.bits - 1, []
        for column in self.columns:
            array = arrays[column.name].slice(0, 1)
            if column.kind == "text":
                data, ends, missing = cells.text(array)
                seed, cell = murmur(column.name.encode(), 0), b"" if missing[0] else data[ends[0] : ends[1]].tobytes()
                found += [Entry(column.name, word.decode(errors="replace"), murmur(word, seed) & mask)
                          for word in words_of(cell)]  # fmt: skip
                slots = [Slot([gone(self._stem(column))], np.where(missing, 0, -1))]
            else:
                slots = list(self._slots(column, array, False, Surprises()))
            for slot in slots:
                code = slot.codes if isinstance(slot.codes, int) else int(slot.codes[0])
                if code >= 0:
                    found.append(Entry(column.name, "", murmur(slot.names[code].encode(), 0) & mask))
        return found

    def known(self) -> list[int]:
        """Return the numbers of known features, of first times, and of columns of known kind."""
        return [len(self.places), len(self.begins), sum(column.kind != "unknown" for column in self.columns)]

    def knows_less(self, known: Sequence[int]) -> bool:
        """Return whether one of the numbers of `known` is smaller than in `known`, the result of another encoding."""
        return any(now < then for now, then in zip(self.known(), known, strict=True))

    def agrees(self, other: Encoding) -> bool:
        """Return whether all features known to both have the same index; one may know more."""
        if self is other:
            return True
        grown = self.open and other.open
        if (self.bits, self.presence) != (other.bits, other.presence) or (
            len(self.columns) != len(other.columns) and not grown
        ):
            return False
        columns = zip(self.columns, other.columns, strict=False)
        same = all(
            a == b or (a.name == b.name and "unknown" in (a.kind, b.kind)) for a, b in columns
        )  # an unknown column gets its kind from its first value
        same &= all(self.begins[name] == other.begins[name] for name in self.begins.keys() & other.begins.keys())
        return same and all(a == b for a, b in zip(self.places, other.places, strict=False))

    @property
    def _hashed_gaps(self) -> list[str]:
        """Numeric columns with missing values, if features are hashed."""
        return sorted(self.gaps) if self.bits is not None else []

    def after_restoring(self, found: State) -> None:
        self.dense &= found["dense"]
        self.places = {name: place for place, name in enumerate(found["places"])}
        self.gaps = set(found["gaps"])
        require(len(self.places) == len(found["places"]), "features of a table must be distinct", found["places"])


def _by_name(kind: type) -> Callable[[Any], dict[str, object]]:
    """Return a function that checks a saved mapping from names to values of one type."""

    def read(saved: object) -> dict[str, Any]:
        if not isinstance(saved, dict) or not all(isinstance(name, str) and is_of(saved[name], kind) for name in saved):
            raise TypeError(f"not {words(kind)} for each name")
        return {name: kind(value) for name, value in saved.items()}

    return read


def _sums(saved: Any) -> dict[str, tuple[float, float, int]]:
    """Return the saved sums of columns."""
    found = {name: (float(sum), float(lost), int(count)) for name, (sum, lost, count) in saved.items()}
    if not all(isinstance(name, str) and 0 < one[2] <= MEAN_ROWS for name, one in found.items()):
        raise ValueError("not a sum and a count for each name")
    return found


def _columns(saved: Any) -> list[Column]:
    """Return the saved columns."""
    found = [Column(*one) for one in saved]
    for one in found:
        if not isinstance(one.name, str) or one.kind not in KINDS or not is_of(one.form, str | None):
            raise ValueError(f"{one.kind!r} is not a kind")
    return found


def _stems(names: Sequence[str]) -> dict[str, str]:
    """Return unambiguous stems for columns whose feature names could be those of another: `a` next to `a=b`."""
    before = {name[: mark.start()] for name in names for mark in MARK.finditer(name)}
    stems, taken = {}, before.union(names)
    for name in names:
        if name in before:
            stem = name + "'"
            while stem in taken:
                stem += "'"
            stems[name] = stem
            taken.add(stem)
    return stems


def gone(name: str) -> str:
    """Return the name of the missing-value feature."""
    return f"{name} is missing"


def _sparse(slots: Sequence[Slot], places: Sequence[NDArray[np.int64]], count: int, width: int) -> Sparse:
    """Return the rows with one entry per slot, at the index of its code; none for code -1.

    Args:
        slots: Entries of the rows.
        places: Feature index of each code, per slot.
        count: Number of rows.
        width: Number of features.
    """
    indices, values = np.empty((count, len(slots)), dtype=np.uint32), np.empty((count, len(slots)))
    for j, (slot, place) in enumerate(zip(slots, places, strict=True)):
        indices[:, j], values[:, j] = place.astype(np.uint32)[slot.codes], slot.values
    gaps = [j for j, slot in enumerate(slots) if np.min(slot.codes, initial=0) < 0]
    if not gaps:
        ends = np.arange(count + 1, dtype=np.uint64) * np.uint64(len(slots))
        return Sparse(ends, indices.ravel(), values.ravel(), width, checked=True)
    there = np.ones(indices.shape, dtype=np.bool_)
    for j in gaps:
        there[:, j] = slots[j].codes >= 0
    ends = np.zeros(count + 1, dtype=np.uint64)
    np.cumsum(there.sum(axis=1), out=ends[1:])
    return Sparse(ends, indices[there], values[there], width, checked=True)


def counted(
    data: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], seed: int, bits: int
) -> Sparse:  # fmt: skip
    """Return word counts of the messages data[start:stop], hashed with that seed."""
    from novikoff.data._loops.words import count_messages

    lengths = stops - starts
    room = int(lengths.sum()) // 2 + len(starts) + 1
    longest = int(lengths.max(initial=0))
    table = np.full(1 << (longest + 1).bit_length(), -1, dtype=np.int64)
    ends, indices, values = np.empty(len(starts) + 1, np.uint64), np.empty(room, np.uint32), np.empty(room)
    count_messages(data, starts, stops, np.uint64(seed), np.uint64(2**bits - 1), table, ends, indices, values)
    entries = int(ends[-1])
    return Sparse(ends, indices[:entries], values[:entries], 2**bits, checked=True)


def joined_rows(left: Sparse, right: Sparse) -> Sparse:
    """Return rows with the entries of both: those of `left`, then those of `right`."""
    ends = left.indptr + right.indptr
    indices, values = np.empty(int(ends[-1]), np.uint32), np.empty(int(ends[-1]))
    for part, shift in ((left, right.indptr[:-1]), (right, left.indptr[1:])):
        entries = int(part.indptr[-1])
        at = np.arange(entries) + np.repeat(shift.astype(np.int64), np.diff(part.indptr).astype(np.int64))
        indices[at], values[at] = part.indices[:entries], part.values[:entries]
    return Sparse(ends, indices, values, left.width, checked=True)


def merged(rows: Sparse) -> Sparse:
    """Return the rows with entries of the same index summed."""
    from novikoff.data._loops.words import merge_rows

    longest = int(np.diff(rows.indptr).max(initial=0))
    table = np.full(1 << (2 * longest + 1).bit_length(), -1, dtype=np.int64)
    ends, indices, values = rows.indptr.copy(), rows.indices.copy(), rows.values.copy()
    merge_rows(ends, indices, values, table)
    entries = int(ends[-1])
    return Sparse(ends, indices[:entries], values[:entries], rows.width, checked=True)
