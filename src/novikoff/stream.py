"""Stream: what a game is played on. This file, and no other, asks what a stream can do.

Every source of ours inherits `Stream`, which has what stands in for all that it need not say. Anything else with a
method `batches`, a name and a domain can be played too: `adapted` makes a stream of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from novikoff.types import Batch, Domain, Labels, Position


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
    encoding     how the columns of a table become features (tables/encoding.py); None if it is no table
    table        its features are the columns of a table, each of a size of its own: learners scale them by default
    expected     what -1 and +1 stood for where its reader learned: of these, one may come alone
    """

    name: str
    domain: Domain
    labels: Labels | None = None
    many: bool = False
    label_values: list[Any] | None = None
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
    expected: Labels | None = None

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

    def count(self) -> int | None:
        """How many rows there are, even if they must be read for that; None if only playing them tells."""
        return self.rows

    def fingerprint(self) -> dict[str, Any] | None:
        """What a game that goes on must find again, such as the size of a file and when it changed; None: nothing."""
        return None


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
    many: Any = _Asked()
    label_values: Any = _Asked()
    rereadable: Any = _Asked()
    features: Any = _Asked()
    experts: Any = _Asked()
    outcomes: Any = _Asked()
    loss: Any = _Asked()
    bits: Any = _Asked()
    unlabelled: Any = _Asked()
    table: Any = _Asked()

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


def is_stream(value: Any) -> bool:
    """Is it a stream, or can it be made one by `adapted`?"""
    return hasattr(value, "batches")


def adapted(stream: Any) -> Stream:
    """A stream as it is; anything else that has `batches` as one."""
    return stream if isinstance(stream, Stream) else Foreign(stream)


def there_before(stream: Stream) -> bool:
    """Is it known to be fixed in advance: a file or something in memory, with no code but ours behind its rows?"""
    ours = type(stream).__module__.startswith("novikoff.") and "batches" not in vars(stream)
    return ours and stream.rereadable and stream.fixed
