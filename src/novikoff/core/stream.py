"""Stream: what a game is played on. This file, and no other, asks what a stream can do.

Every source of ours inherits `Stream`, which has what stands in for all that it need not say. Anything else with a
method `batches`, a name and a domain can be played too: `adapted` makes a stream of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from novikoff.core.errors import SourceError
from novikoff.core.types import Batch, Domain, Labels, Position


class Target(NamedTuple):
    """The column that is predicted.

    chosen   how it was chosen: "last column", "by its name", "as asked"
    """

    name: str
    chosen: str

    def __str__(self) -> str:
        return f"{self.name} ({self.chosen})"


class Stream(ABC):
    """A source of examples.

    name         what messages call it
    domain       what x may be
    labels       which two values stand for -1 and +1; None before that is known, where there are many, and for numbers
    many         its labels are numbers 0, 1, 2, ..., in the order in which they first come
    label_values what these stand for, so far; None if they are what the source has
    several      do its first rows show three labels or more?
    rereadable   can it be read again?
    fixed        False if somebody's code makes the rows as they are asked for
    features     the names of the columns; None if they have none
    experts      the names of the experts, where there are any
    rows         how many there are; None if only reading tells
    outcomes     "labels", or "numbers" for regression
    numeric      do its labels look like numbers to be predicted?
    loss         what the predictions of experts are to be judged by; None if that is not known
    bits         features are hashed into 2^bits; None if they are not
    unlabelled   its labels mean nothing
    encoding     how the columns of a table become features (data/tables/encoding.py); None if it is no table
    table        its features are the columns of a table
    scaled_by_default   its rows are columns of numbers or a table, each column in its own unit: a learner made from a
                 spec scales them unless the spec decides (catalog.with_scale)
    target_column   the column that is predicted, and how it was chosen; None if the labels have no column
    expected     what -1 and +1 stood for where its reader learned: of these, one may come alone
    skipped      the bad rows of the last pass that were skipped, as asked: line, message
    most_bad     how many may be skipped
    """

    name: str
    domain: Domain
    labels: Labels | None = None
    multiclass: bool = False
    label_values: list[object] | None = None
    several: bool = False
    rereadable: bool = False
    fixed: bool = True
    features: tuple[str, ...] | None = None
    experts: tuple[str, ...] = ()
    rows: int | None = None
    outcomes: str = "labels"
    numeric: bool = False
    loss: str | None = None
    bits: int | None = None
    unlabelled: bool = False
    encoding: Any = None
    table: bool = False
    scaled_by_default: bool = False
    target_column: Target | None = None
    expected: Labels | None = None
    skipped: Sequence[tuple[int, str]] = ()
    most_bad: int = 0

    @abstractmethod
    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        """A fresh pass, batch by batch; from `start` on, the `end` of an earlier batch."""

    def __len__(self) -> int:
        if self.rows is None:
            raise TypeError(f"the length of a stream must be known: {self.name} must be read for that.")
        return self.rows

    def __bool__(self) -> bool:
        return True

    @cached_property
    def notes(self) -> list[str]:
        """Lines to tell the user: the format that was recognised, rows that were skipped."""
        return []

    def show_many(self) -> None:  # noqa: B027
        """Let labels be many, of any kind: numbered in the order in which they first come, in passes that begin now.

        A stream that has two, and no others, shows them as before.
        """

    def show_numbers(self) -> None:
        """Let outcomes be numbers to be predicted, in passes that begin now; where `numeric` says that they may be."""
        self.outcomes = "numbers"

    def count(self) -> int | None:
        """How many rows there are, even if they must be read for that; None if only playing them tells."""
        return self.rows

    def fingerprint(self) -> dict[str, Any] | None:
        """What a game that goes on must find again, such as the size of a file and when it changed; None: nothing."""
        return None

    def extent(self) -> int:
        """How far it can be cut into parts: its rows, or the bytes of a text."""
        rows = self.count() if self.rereadable else None
        if rows is None:
            raise SourceError(f"a source must be rereadable, of a known length, to be cut: {self.name} is not.")
        return rows

    def borders(self) -> Sequence[int]:
        """Where parts had better begin, such as the row groups of a file; none if anywhere will do."""
        return ()

    def part(self, first: int, last: int) -> Stream:
        """The rows that begin from `first` on and before `last`, of `extent()`: rows, or bytes of a text.

        Parts that follow each other are the whole: each row is in one of them, with the label and the features that it
        has there. A part may have no rows.
        """
        return Part(self, *self._within(first, last))

    def parts(self, count: int) -> list[Stream]:
        """So many parts that are the whole, of about one size."""
        return [self.part(first, last) for first, last in pairwise(self.cuts(count))]

    def cuts(self, count: int) -> list[int]:
        """Where so many parts of about one size begin, and the last one ends; at `borders`, if these are enough."""
        if count < 1:
            raise SourceError(f"parts must be at least one: got {count}.")
        extent = self.extent()
        even = [extent * k // count for k in range(count + 1)]
        good = sorted({0, extent, *self.borders()})
        return even if len(good) <= count else [_nearest(good, cut) for cut in even]

    def read_as(self, other: Stream) -> None:
        """Let labels and columns be what they are in another file of the same kind, in passes that begin now."""
        if self.labels != other.labels or self.features != other.features:
            raise SourceError(f"files must have one kind of labels and columns: {self.name} differs from {other.name}.")

    def position_at(self, row: int) -> Position | None:
        """Where row `row`, from 0, is reached without reading those before it; None if it is not."""
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
    """The rows of a stream from row `first`, counted from 0, to before `last`. It cannot be left in between."""

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
            raise SourceError(f"a source must stay as it is: {self._whole.name} has {done:,} rows, not {last:,}.")

    def fingerprint(self) -> dict[str, Any] | None:
        return self._whole.fingerprint()


class _Asked:
    """What the stream behind says, or what `Stream` has for it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, stream: Foreign, owner: type) -> Any:
        otherwise = [getattr(Stream, self._name)] if hasattr(Stream, self._name) else []
        return getattr(stream.behind, self._name, *otherwise)


class Foreign(Stream):
    """A stream that is none of `Stream`. Somebody's code makes its rows, so they are not known to be fixed."""

    fixed = False
    name: Any = _Asked()
    domain: Any = _Asked()
    labels: Any = _Asked()
    multiclass: Any = _Asked()
    label_values: Any = _Asked()
    rereadable: Any = _Asked()
    features: Any = _Asked()
    experts: Any = _Asked()
    outcomes: Any = _Asked()
    loss: Any = _Asked()
    bits: Any = _Asked()
    unlabelled: Any = _Asked()
    table: Any = _Asked()
    scaled_by_default: Any = _Asked()

    def __init__(self, behind: Any) -> None:
        self.behind = behind
        self.rows = len(behind) if hasattr(behind, "__len__") else None
        self._notes: list[str] = []

    @property
    def notes(self) -> list[str]:
        """Its own, or a list of ours."""
        notes: list[str] = getattr(self.behind, "notes", self._notes)
        return notes

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        batches: Iterator[Batch] = self.behind.batches(start)
        return batches

    def fingerprint(self) -> dict[str, Any] | None:
        known: dict[str, Any] | None = self.behind.fingerprint() if hasattr(self.behind, "fingerprint") else None
        return known


def is_stream(value: object) -> bool:
    """Is it a stream, or can it be made one by `adapted`?"""
    return hasattr(value, "batches")


def adapted(stream: object) -> Stream:
    """A stream as it is; anything else that has `batches` as one."""
    return stream if isinstance(stream, Stream) else Foreign(stream)


def there_before(stream: Stream) -> bool:
    """Is it known to be fixed in advance: a file or something in memory, with no code but ours behind its rows?"""
    ours = type(stream).__module__.startswith("novikoff.") and "batches" not in vars(stream)
    return ours and stream.rereadable and stream.fixed
