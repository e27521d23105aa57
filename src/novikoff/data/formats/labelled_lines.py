"""Base class of line formats with a label and features per line: chunks, threads, labels, bad lines, positions.

Order
    The text is split at new lines into chunks, which threads parse; batches keep the order of the text, and neither
    the chunk size nor the number of threads changes a row.
Labels
    Rows are held back until both labels are known, for at most 16 MB or one second; then a file is searched for the
    second label, and a pipe follows the rule of streaming_labels.py.
Cost
    One pass; memory for a few chunks (or the longest line), independent of the file size. Rows of a pipe are delayed by
    at most a tenth of a second; by one second at the start, while only one label is known.
Threads
    A generator does not wait for its threads on exit. After an error the garbage collector may close it in any thread,
    even in one that is being started and holds an internal lock of Python: waiting for other threads could deadlock.
"""

from __future__ import annotations

import contextlib
import copy
import math
import re
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, LabelError, Option, SourceError, counted
from novikoff.core.executors import cores
from novikoff.core.labels import are_numbers
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Json, Labels, Position, Sparse, counts_at
from novikoff.data.formats.byte_reader import Opened
from novikoff.data.formats.lines import LITTLE, BadLineError, Little, whole_lines
from novikoff.data.formats.origin import Origin
from novikoff.data.layout import is_number
from novikoff.data.streaming_labels import Outcomes, StreamingLabels, held_back, shown

CHUNK_BYTES = 2**22
"""Default size of a chunk in bytes."""
PADDING = 80
"""Number of readable bytes after a text, which compiled loops may load."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

P = TypeVar("P")


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """Parsed chunk as arrays.

    Attributes:
        labels: (rows,) label of each row.
        row_lines: (rows,) line of each row in the chunk, from 0.
        x: Features of the rows.
        lines: Number of lines in the chunk.
        size: Number of bytes in the source.
        bad: Line in the chunk, from 0, and error of each bad line.
        ignored: Number of rows with an importance or a base that was ignored.
    """

    labels: NDArray[Any]
    row_lines: NDArray[np.uint32]
    x: Sparse
    lines: int
    size: int
    bad: list[tuple[int, BadLineError]]
    ignored: int = 0

    def head(self, rows: int) -> Parsed:
        """Return the first rows."""
        return replace(self, labels=self.labels[:rows], row_lines=self.row_lines[:rows], x=self.x[:rows])

    def before(self, line: int) -> Parsed:
        """Return the rows before that line."""
        return self.head(int(np.searchsorted(self.row_lines, np.uint32(line))))


Parser = Callable[[bytearray, int, int], Parsed]
"""Function that parses the first bytes of a text; its third argument counts trailing bytes not in the source."""


class LabelledLines(Stream):
    """Stream over text with a label and features per line; subclasses parse one chunk.

    Features are hashed into 2^bits; if `bits` is None, the source numbers them, and rows grow wider. Lines without
    labels get a dummy label from `put_labels`, which inserts `prefix` before each line: errors hide it, and y is -1.
    """

    prefix = b""
    dummy_label = b"-1 "
    """Dummy label, inserted before lines without a label."""
    line_start = re.compile(rb"\n(?=[ \t]*+[^ \t\r\n])")
    """Start of a line that is an example."""
    put_label: Callable[[re.Match[bytes]], bytes] | None = None
    """Function from the start of a line to the same with the dummy label; None to insert it in front."""
    put_labels: Callable[[bytes], bytes] | None = None
    no_rows = "blank"
    """Description of lines that are not rows."""
    label_word = re.compile(rb"^[ \t]*([+-]?\.?[0-9][^\s#|']*)", re.MULTILINE)
    """Pattern of the label in plain lines."""
    predicts_numbers = False
    """Whether the labels may be regression outcomes."""

    def __init__(
        self, source: object, positive: object, multiclass: int | None, bits: int | None, skip_bad: int,
        threads: int | None, chunk: int, outcomes: str = "labels",
    ) -> None:  # fmt: skip
        threads = cores() if threads is None else threads
        if bits is not None and not 1 <= bits <= 32:
            raise SourceError(f"bits must be from 1 to 32: got {bits}.")
        if skip_bad < 0 or threads < 1 or chunk < 1:
            raise SourceError(
                "skip_bad must be at least 0, threads and chunk at least 1: "
                f"got skip_bad={skip_bad}, threads={threads}, chunk={chunk}."
            )
        self._origin = Origin(source)
        self._positive, self._many, self.outcomes = positive, multiclass, outcomes
        self._labels = self._fresh()
        self._skip_bad, self._threads, self._chunk = skip_bad, threads, chunk
        self._bad_before = self._ignored = self._left_out = 0
        self._numbers: bool | None = None  # whether the labels are numbers, for formats where they may be text
        self._little = Little()
        self.name = self._origin.name
        self.rereadable, self.fixed = self._origin.rereadable, self._origin.fixed
        self.bits = bits
        self.domain = Domain("vector", None if bits is None else 2**bits)
        self.skipped: list[tuple[int, str]] = []
        self._pass_notes: list[str] = []
        self._begin: Position = {"row": 0, "line": 0, "byte": 0, "width": 0, "bad": 0}
        self._whole = True

    @classmethod
    def without_labels(cls, source: object, numbers: bool = False, **options: Any) -> Self:
        """Open lines without labels, for prediction.

        Args:
            source: See the constructor.
            numbers: Whether the task is regression.
            **options: Further arguments of the constructor.
        """
        options |= {"outcomes": "numbers"} if numbers else {"positive": "1"}
        stream = cls(source, **options)
        stream.unlabelled, stream.prefix = True, cls.dummy_label
        by = cls.put_label or b"\n" + cls.dummy_label
        stream.put_labels = lambda text: cls.line_start.sub(by, b"\n" + text)[1:]
        return stream

    @abstractmethod
    def _parser(self, free: deque[bytearray]) -> Parser:
        """Return the function that parses a chunk in any thread and appends the text to `free` when done."""

    def _fresh(self) -> StreamingLabels | Outcomes:
        """Return a new label encoder for a pass."""
        return Outcomes() if self.outcomes == "numbers" else StreamingLabels(self._positive, self._many)

    def _remembered(self) -> Position:
        """Return the further fields of a position."""
        return {}

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """Values for -1 and +1; None before they are known, and for multiclass."""
        return None if self.unlabelled else self._labels.labels

    @property
    def multiclass(self) -> bool:  # type: ignore[override]
        """Whether labels are numbered in order of first appearance."""
        return self._many is True

    @property
    def label_values(self) -> list[object] | None:  # type: ignore[override]
        """Values of the numbered labels so far; None if labels are not numbered."""
        return self._labels.label_values

    @cached_property
    def several(self) -> bool:  # type: ignore[override]
        """Whether the first lines have three or more labels that are not regression outcomes."""
        return len(self._first) > 2 and not self._as_numbers

    @property
    def numeric(self) -> bool:  # type: ignore[override]
        """Whether the first lines have regression outcomes, in a format that supports them."""
        return self.predicts_numbers and self._as_numbers

    @property
    def _as_numbers(self) -> bool:
        return all(isinstance(one, float) for one in self._first) and are_numbers(self._first)

    @cached_property
    def _first(self) -> set[Any]:
        """Labels of the first lines, as numbers if all are; empty if the options determine the labels."""
        if self._positive is not None or self._many is not None or self.unlabelled:
            return set()
        head = self._origin.peek(LITTLE)
        lines = head[: head.rfind(b"\n") + 1] if len(head) == LITTLE else head
        words = self._first_labels(lines.removeprefix(BYTE_ORDER_MARK))
        return {float(word) for word in words} if all(map(is_number, words)) else set(words)

    def _first_labels(self, head: bytes) -> set[str]:
        """Return the labels of the first lines as written."""
        return {word.decode("utf-8", "replace").strip() for word in self.label_word.findall(head)}

    @property
    def most_bad(self) -> int:  # type: ignore[override]
        """Number of bad lines that may be skipped."""
        return self._skip_bad

    def show_many(self) -> None:
        if self._positive is None:
            self._many = True
            self._labels = StreamingLabels(None, True)

    def fingerprint(self) -> dict[str, Json]:
        """Return size and modification time of the file; empty for other sources."""
        return self._origin.fingerprint()

    def extent(self) -> int:
        """Return the size of the text in bytes."""
        return self._origin.size()

    def part(self, first: int, last: int) -> Self:
        """Return the lines that start from byte `first` on and before `last`."""
        self._within(first, last)
        begin, end = map(self._origin.line_from, (first, last))
        part = copy.copy(self)
        part.read_as(self)
        part._begin |= {"byte": begin}
        part._origin, part._threads, part._little, part._whole = self._origin.until(end), 1, Little(), False
        part.name = f"{self.name}, from byte {begin:,}"
        return part

    def read_as(self, other: Stream) -> None:
        """Use the label values of another stream, in passes that start from now on."""
        known = other._label_state() if isinstance(other, LabelledLines) else {}
        self.__dict__.pop("notes", None)
        self._begin, self.skipped, self._pass_notes = {**self._begin, **known}, [], []

    def _label_state(self) -> Position:
        """Return the label values found in the first rows."""
        if self.multiclass:
            raise SourceError(f"only binary labels can be read in parts: those of {self.name} are multiclass.")
        if self.labels is None or not self._labels.settled:
            next(iter(self.batches()), None)
        return {"labels": self._labels.state(), "numbers": self._numbers, **self._remembered()}

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        known = start or self._begin
        here = counts_at(known)
        self._labels = self._fresh()
        self._labels.expected, self._numbers = self.expected, None
        labels, numbers = known.get("labels"), known.get("numbers")
        if isinstance(labels, dict):
            self._labels.load(labels)
            self._numbers = numbers if isinstance(numbers, bool) else None
        self._bad_before, self._ignored, self._left_out = here["bad"], 0, 0
        self.skipped.clear()
        try:
            with self._origin.open(here["byte"]) as opened:
                for parsed in self._settled(opened, here):
                    yield from self._batch(parsed, here)
            if here["row"] == 0 and self._whole:
                raise SourceError(f"a source must not be empty: {self.name} has no rows.")
        finally:
            self._update_notes()

    def _settled(self, opened: Opened, here: dict[str, int]) -> Iterator[Parsed]:
        """Yield the chunks, after holding back the first ones until both labels are known or a limit is reached."""

        def look(held: Sequence[Parsed]) -> bool:
            parsed, spare = held[-1], self._skip_bad - self._bad_before - sum(len(piece.bad) for piece in held)
            stuck = spare < 0
            self._labels.look(parsed.before(parsed.bad[spare][0]).labels if stuck and parsed.bad else parsed.labels)
            if stuck and self._labels.lone:  # not a label error: the second label may be on the bad line
                self._refuse_bad(held, here["line"])
            return stuck

        def look_further(held: Sequence[Parsed]) -> None:
            if self._origin.independent:
                with self._origin.open(here["byte"] + sum(piece.size for piece in held)) as rest:
                    for parsed in self._parsed(rest, False):
                        self._labels.look(parsed.labels)
                        if self._labels.settled:
                            return

        return held_back(self._parsed(opened, here["byte"] == 0), self._labels, look, opened.ready, look_further)

    def _batch(self, parsed: Parsed, here: dict[str, int]) -> Iterator[Batch]:
        """Yield the rows of a chunk up to an error that is not skipped, then raise it. Advances `here`."""
        error: SourceError | None = None
        for line, bad in parsed.bad:
            error = self._skip(here["line"] + line + 1, bad)
            if error:
                parsed = parsed.before(line)
                break
        try:
            y = self._labels.encode(parsed.labels)
        except LabelError as wrong:
            row = wrong.where.pop("row")
            last = here["line"] + int(parsed.row_lines[row])
            error = wrong.at(line=last + 1, source=self.name)
            if self.numeric:
                error.do = "These look like numbers to predict: choose a regression learner, such as auto-regression."
            self.skipped[:] = [bad for bad in self.skipped if bad[0] <= last]
            parsed = parsed.head(row)
            y = self._labels.encode(parsed.labels) if row else np.empty(0, dtype=np.int8)
        first, x = here["row"] + 1, parsed.x
        if self.bits is None:
            there = x.indices[: int(x.indptr[-1])]
            width = x.width if error is None else int(there.max()) + 1 if len(there) else 0
            here["width"] = max(here["width"], width)
            x = replace(x, width=here["width"])
        here["row"] += len(y)
        here["line"] += parsed.lines
        here["byte"] += parsed.size
        here["bad"] = self._bad_before + len(self.skipped)
        self._ignored += parsed.ignored
        self._left_out += parsed.lines - len(parsed.row_lines) - len(parsed.bad)
        if len(y):
            yield Batch(x, y, first, None if error else self._position(here), "owned")
        if error:
            raise error

    def _skip(self, line: int, bad: BadLineError) -> SourceError | None:
        """Record a bad line as skipped; return its error if too many were skipped."""
        error = bad.error(self.prefix).at(line=line, source=self.name)
        if self._bad_before + len(self.skipped) < self._skip_bad:
            self.skipped.append((line, error.what))
            return None
        error.got += f" after {self._skip_bad} that were skipped" if self._skip_bad else ""
        error.do = Advice(bad.do, ", or pass ", Option("skip_bad", letter="N"), " to skip up to N bad lines.")
        return error

    def _refuse_bad(self, held: Iterable[Parsed], line: int) -> None:
        """Raise the error of the first bad line that may not be skipped; `line` lines precede the chunks."""
        for parsed in held:
            for number, bad in parsed.bad:
                if error := self._skip(line + number + 1, bad):
                    raise error
            line += parsed.lines

    def _position(self, here: dict[str, int]) -> Position:
        return {**here, "labels": self._labels.state(), "numbers": self._numbers, **self._remembered()}

    def _parsed(self, opened: Opened, at_start: bool) -> Iterator[Parsed]:
        """Yield the chunks, parsed by threads, in order, without waiting for an idle pipe."""
        free: deque[bytearray] = deque()
        parse, put = self._parser(free), self.put_labels

        def labelled(text: bytearray, size: int, added: int) -> Parsed:
            if put is None:
                return parse(text, size, added)
            made = bytearray(put(bytes(memoryview(text)[:size])) + bytes(PADDING))
            free.append(text)
            return replace(parse(made, len(made) - PADDING, 0), size=size - added)

        return in_order(opened, self._chunk, at_start, free, labelled, self._threads, type(self).__name__)

    def _new_notes(self) -> Iterator[str]:
        """Yield the notes of this pass."""
        if self.skipped:
            yield f"{counted(len(self.skipped), 'bad line')} of {self.name} skipped, the first: {self.skipped[0][1]}"
        if self._ignored:
            rows = counted(self._ignored, "row")
            yield f"importance weights and bases of {rows} of {self.name} ignored: each row counts once."
        if self.unlabelled and self._left_out:
            yield f"{self._left_out:,} line(s) of {self.name} {self.no_rows}: no prediction"
        if self._labels.absent and not self.unlabelled:
            yield f"no label of {self.name} is {shown(self._labels.positive)}, the positive label: all are -1."

    def _update_notes(self) -> None:
        """Replace the notes of an earlier pass by those of this one."""
        self.notes[:] = [note for note in self.notes if note not in self._pass_notes]
        self._pass_notes = list(self._new_notes())
        self.notes += self._pass_notes


def number(positive: Any, what: str) -> float | None:
    """Return the positive label as a number, for formats with numeric labels."""
    if positive is None:
        return None
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        if math.isfinite(float(positive)):
            return float(positive)
    raise SourceError(f"the positive label must be a number, as labels of {what} are: got {positive!r}.")


def in_order(
    opened: Opened, chunk: int, at_start: bool, free: deque[bytearray], parse: Callable[[bytearray, int, Any], P],
    count: int, name: str, rows_end: Callable[[bytearray, int], int] | None = None,
) -> Iterator[P]:  # fmt: skip
    """Yield the parsed chunks of a text in order, without waiting for an idle pipe.

    Args:
        opened: Bytes of the text.
        chunk: Chunk size in bytes.
        at_start: Whether reading starts at the beginning, where a byte order mark may be.
        free: Buffers for reuse.
        parse: Parses a text, given its size and the number of added bytes.
        count: Number of threads.
        name: Prefix of the thread names.
        rows_end: Finds the end of the last row, as in `whole_lines`.
    """
    waiting: deque[Future[P]] = deque()
    with workers(count, name) as threads:
        try:
            for text, size, added in whole_lines(opened, chunk, PADDING, free, rows_end):
                if at_start and text.startswith(BYTE_ORDER_MARK):
                    text[:3] = b"   "
                at_start = False
                waiting.append(threads.submit(parse, text, size, added))
                while len(waiting) > count + 1 or (waiting and not opened.ready()):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def workers(count: int, name: str) -> Iterator[ThreadPoolExecutor]:
    """Provide `count` threads; on exit, tasks that have not started are cancelled."""
    threads = ThreadPoolExecutor(count, name)
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
