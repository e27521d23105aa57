"""Streams: the sources of examples for a game.

Sources of this package inherit `Stream`, which has a default for every optional attribute. Any other object with a
method `batches`, a name and a domain can be played too: `adapt_stream` wraps it (core/adapt.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from novikoff.core.errors import SourceError, counted
from novikoff.core.types import Batch, Domain, Labels, Position

if TYPE_CHECKING:
    from novikoff.data.tables.encoding import Encoding


class Target(NamedTuple):
    """The column to predict.

    Attributes:
        name: Name of the column.
        chosen: Reason for the choice: "last column", "by its name", "as asked".
    """

    name: str
    chosen: str

    def __str__(self) -> str:
        return f"{self.name} ({self.chosen})"


class Stream(ABC):
    """A source of examples.

    Attributes:
        name: Name in messages.
        domain: Domain of x.
        labels: Values that stand for -1 and +1; None before they are known, for multiclass labels and for numbers.
        multiclass: Whether labels are numbered 0, 1, 2, ... in the order of their first appearance.
        label_values: Values of the numbered labels so far; None if the numbers are the source's values.
        several: Whether the first rows have three labels or more.
        opened_here: Whether it was opened for this game, without a choice between labels and numbers.
        rereadable: Whether it can be read again.
        fixed: False if third-party code generates the rows on demand.
        features: Names of the columns; None if they have none.
        experts: Names of the experts; empty if there are none.
        rows: Number of rows; None if it is unknown before reading.
        outcomes: "labels", or "numbers" for regression.
        numeric: Whether the labels look like numbers to predict.
        counts: Whether the numbers must be whole and not negative.
        loss: Loss of the experts' predictions; None if unknown.
        bits: Logarithm of the number of columns, 2^bits, into which features are hashed; None if they are not hashed.
        unlabelled: Whether the source has no labels, and those of its batches are placeholders.
        encoding: How columns of a table become features (data/tables/encoding.py); None if the source is not a table.
        table: Whether the features are the columns of a table.
        scaled_by_default: Whether columns have different units, so that a learner made from a spec scales them unless
            the spec decides (catalog.with_scale).
        target_column: The column to predict and how it was chosen; None if the labels have no column.
        expected: Values of -1 and +1 in the data that was learned before; new data may contain only one of them.
        skipped: Line and message of every bad row skipped in the last pass.
        most_bad: Maximum number of skipped rows.

    Example:
        >>> import novikoff as nk
        >>> import numpy as np
        >>> stream = nk.Arrays(np.eye(3), [-1, -1, 1])
        >>> isinstance(stream, nk.Stream), len(stream), [len(batch) for batch in stream.batches()]
        (True, 3, [3])
    """

    name: str
    domain: Domain
    labels: Labels | None = None
    multiclass: bool = False
    label_values: list[object] | None = None
    several: bool = False
    opened_here: bool = False
    rereadable: bool = False
    fixed: bool = True
    features: tuple[str, ...] | None = None
    experts: tuple[str, ...] = ()
    rows: int | None = None
    outcomes: str = "labels"
    numeric: bool = False
    counts: bool = False
    loss: str | None = None
    bits: int | None = None
    unlabelled: bool = False
    encoding: Encoding | None = None
    table: bool = False
    scaled_by_default: bool = False
    target_column: Target | None = None
    expected: Labels | None = None
    skipped: Sequence[tuple[int, str]] = ()
    most_bad: int = 0

    def __repr__(self) -> str:
        # Only attributes that are known without reading: the stream may be a pipe.
        rows = "" if self.rows is None else f", {counted(self.rows, 'row')}"
        numbers = ", regression" if self.outcomes == "numbers" else ""
        return f"<{type(self).__name__} {self.name}{rows}{numbers}>"

    @abstractmethod
    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        """Yield the batches of a new pass.

        Args:
            start: `end` of an earlier batch, to resume after it; None for the beginning.
        """

    def __len__(self) -> int:
        if self.rows is None:
            raise TypeError(f"the length of a stream must be known: {self.name} must be read for that.")
        return self.rows

    def __bool__(self) -> bool:
        return True

    @cached_property
    def notes(self) -> list[str]:
        """Lines for the user: the detected format, skipped rows."""
        return []

    def played(self, rounds: int | None) -> None:  # noqa: B027
        """Note that the first `rounds` rounds of the pass were played; None for all that were read."""

    def begin_again(self) -> None:  # noqa: B027
        """Note that the next pass begins with the source again, within which a game was interrupted."""

    def show_many(self) -> None:  # noqa: B027
        """Switch to multiclass labels, numbered in the order of their first appearance, from the next pass on.

        A stream that has exactly two labels keeps them.
        """

    def show_numbers(self) -> None:
        """Switch to numbers as outcomes from the next pass on."""
        self.outcomes = "numbers"

    def count(self) -> int | None:
        """Return the number of rows, reading them if needed; None if only a game can count them."""
        return self.rows

    def fingerprint(self) -> dict[str, Any] | None:
        """Return properties that a resumed game must find unchanged, such as a file's size and date; None for none."""
        return None

    def extent(self) -> int:
        """Return the length in the units of `part`: rows, or bytes of a text."""
        rows = self.count() if self.rereadable else None
        if rows is None:
            raise SourceError(f"only a rereadable source of known length can be split: {self.name} is not one.")
        return rows

    def borders(self) -> Sequence[int]:
        """Return preferred borders of parts, such as those of the row groups of a file; empty if any will do."""
        return ()

    def part(self, first: int, last: int) -> Stream:
        """Return the rows that begin from `first` to before `last`, in units of `extent()`: rows, or bytes of a text.

        Consecutive parts make up the whole: each row is in exactly one part, with the label and features that it has in
        the whole. A part may be empty.
        """
        return Part(self, *self._within(first, last))

    def parts(self, count: int) -> list[Stream]:
        """Return `count` parts of about equal size that make up the whole."""
        return [self.part(first, last) for first, last in pairwise(self.cuts(count))]

    def cuts(self, count: int) -> list[int]:
        """Return the `count` + 1 borders of parts of about equal size; at `borders`, if there are enough of them."""
        if count < 1:
            raise SourceError(f"the number of parts must be at least 1: got {count}.")
        extent = self.extent()
        even = [extent * k // count for k in range(count + 1)]
        good = sorted({0, extent, *self.borders()})
        return even if len(good) <= count else [_nearest(good, cut) for cut in even]

    def read_as(self, other: Stream) -> None:
        """Use the labels and columns of another file of the same kind from the next pass on."""
        if self.labels != other.labels or self.features != other.features:
            raise SourceError(f"files must have the same labels and columns: {self.name} differs from {other.name}.")

    def position_at(self, row: int) -> Position | None:
        """Return the position of row `row`, from 0, if it can be reached without reading earlier rows; else None."""
        return None

    def _within(self, first: int, last: int) -> tuple[int, int]:
        extent = self.extent()
        if not 0 <= first <= last <= extent:
            raise SourceError(
                f"a part must lie within 0 and {extent:,}, the extent of {self.name}: got {first}, {last}."
            )
        return first, last


def _nearest(good: Sequence[int], cut: int) -> int:
    at = bisect_left(good, cut)
    return min(good[max(at - 1, 0) : at + 1], key=lambda one: abs(one - cut))


class Part(Stream):
    """Rows `first` to `last` - 1 of a stream, counted from 0; a pass over it cannot be resumed."""

    rereadable = True
    rows: int

    def __init__(self, whole: Stream, first: int, last: int) -> None:
        self._whole, self._first, self.rows = whole, first, last - first
        self.name = f"rows {first + 1:,} to {last:,} of {whole.name}"
        for name in (
            "domain",
            "labels",
            "multiclass",
            "label_values",
            "fixed",
            "features",
            "outcomes",
            "bits",
            "table",
        ):
            setattr(self, name, getattr(whole, name))
        self.unlabelled, self.encoding = whole.unlabelled, whole.encoding
        self.scaled_by_default, self.target_column = whole.scaled_by_default, whole.target_column

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        here = self._whole.position_at(self._first)
        done, last = (0 if here is None else self._first), self._first + self.rows
        for batch in self._whole.batches(here) if self.rows else ():
            begin, end = max(self._first - done, 0), min(last - done, len(batch))
            if begin < end:
                first = done + begin - self._first + 1
                yield replace(batch.part(begin, end), first=first, end=None)
            done += len(batch)
            if done >= last:
                break
        if done < last:
            raise SourceError(
                f"a source must not change while it is read: {self._whole.name} has {done:,} rows, not {last:,}."
            )

    def fingerprint(self) -> dict[str, Any] | None:
        return self._whole.fingerprint()


def there_before(stream: Stream) -> bool:
    """Return whether the rows are known to be fixed in advance: a file or memory that only this package reads."""
    ours = type(stream).__module__.startswith("novikoff.") and "batches" not in vars(stream)
    return ours and stream.rereadable and stream.fixed
