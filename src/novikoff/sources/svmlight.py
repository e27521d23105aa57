"""svmlight (libsvm) text as a stream: `label [qid:N] index:value index:value ... [# comment]`.

Format
    One row a line; blank lines and comments are skipped, a label alone is a row without features. Indices are whole
    numbers from 0 to 2^32-2 and stay as they are, in any order; entries of one index in a row are added up. Numbers
    are the very doubles that Python's float reads, and finite. qid is skipped. Packed files are unpacked.
Labels
    Two values, the larger +1; `positive` overrides; `many` for 0 .. many-1. Decided from the first 16 MB; if these
    show one value only, a file is looked through for the other, and a pipe goes by streaming_labels.py.
Order
    The text is cut behind a new line into chunks, which threads parse; batches come in the order of the text, and
    neither the size of the chunks nor the number of threads changes a row.
Cost
    One pass; a few chunks of memory (or of the longest line), whatever the size of the file. Rows of a pipe are held
    back for a tenth of a second at most; for a second at the start, while only one label has come.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import SourceError
from novikoff.sources.lent import Lent
from novikoff.sources.line_chunks import whole_lines
from novikoff.sources.opened import Opened, Origin
from novikoff.sources.streaming_labels import LabelError, StreamingLabels, shown
from novikoff.sources.svmlight_line import BadLineError, read_line
from novikoff.types import Batch, Domain, Labels, Position, Sparse

CHUNK_BYTES = 2**21
LOOK_AHEAD_BYTES = 2**24
LABEL_SECONDS = 1.0  # how long a pipe may take to show both labels
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A chunk as arrays. `row_lines` are lines of the chunk from 0, and so are those of `bad`."""

    labels: NDArray[np.float64]
    row_lines: NDArray[np.uint32]
    x: Sparse
    lines: int
    size: int
    bad: list[tuple[int, BadLineError]]

    def head(self, rows: int) -> Parsed:
        """The first rows."""
        x = self.x[:rows]
        width = int(x.indices[: int(x.indptr[-1])].max(initial=0)) + 1 if x.indptr[-1] else 0
        return replace(self, labels=self.labels[:rows], row_lines=self.row_lines[:rows], x=replace(x, width=width))


class Svmlight:
    """The rows of svmlight text, from a path, standard input ("-") or a binary file object.

    positive   the label value that is +1, against all others
    many       how many labels there are, for a learner with many: whole numbers from 0 to many-1
    skip_bad   how many bad lines to skip (`skipped` lists them: line, message) before it is an error
    threads    how many parse at a time; None: as many as there are cores
    chunk      bytes parsed at a time; a line may be longer
    """

    domain = Domain("vector", None)
    lasting = True

    def __init__(
        self,
        source: Any,
        positive: Any = None,
        many: int | None = None,
        skip_bad: int = 0,
        threads: int | None = None,
        chunk: int = CHUNK_BYTES,
    ) -> None:
        if skip_bad < 0 or chunk < 1 or (threads is not None and threads < 1):
            raise SourceError(
                "skip_bad must be at least 0, threads and chunk at least 1: "
                f"got skip_bad={skip_bad}, threads={threads}, chunk={chunk}."
            )
        self._origin = Origin(source)
        self._positive, self._many = _number(positive), many
        self._labels = StreamingLabels(self._positive, many)
        self._skip_bad = skip_bad
        self._threads = threads or _cores()
        self._chunk = chunk
        self._bad_before = 0
        self.name = self._origin.name
        self.rereadable = self._origin.rereadable
        self.notes: list[str] = []
        self.skipped: list[tuple[int, str]] = []
        self._said: list[str] = []

    @property
    def labels(self) -> Labels | None:
        """What stands for -1 and +1; None before it is known, and with `many`."""
        return self._labels.labels

    def fingerprint(self) -> dict[str, int]:
        """Size and time of change of the file; empty for other sources."""
        return self._origin.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        here = dict(start or {"row": 0, "line": 0, "byte": 0, "width": 0, "bad": 0})
        self._labels = StreamingLabels(self._positive, self._many)
        if start:
            self._labels.load(start["labels"])
        self._bad_before = here["bad"]
        self.skipped.clear()
        try:
            with self._origin.open(here["byte"]) as opened:
                for parsed in self._settled(opened, here):
                    yield from self._batch(parsed, here)
            if here["row"] == 0:
                raise SourceError(f"a source must not be empty: {self.name} has no rows.")
        finally:
            self._say()

    def _settled(self, opened: Opened, here: Position) -> Iterator[Parsed]:
        """The chunks, held back at first until both labels have come, or for as long as may be."""
        held: deque[Parsed] = deque()
        deadline = 0.0
        for parsed in self._parsed(opened, here["byte"] == 0):
            held.append(parsed)
            if self._labels.labels is None and not self._labels.settled:
                deadline = deadline or time.monotonic() + LABEL_SECONDS
                self._labels.look(parsed.labels)
                size, bad = sum(piece.size for piece in held), sum(len(piece.bad) for piece in held)
                stuck = self._bad_before + bad > self._skip_bad
                if not self._labels.settled and not stuck:
                    if size < LOOK_AHEAD_BYTES and opened.ready(max(0.0, deadline - time.monotonic())):
                        continue
                    self._look_further(here["byte"] + size)
            while held:
                yield held.popleft()
        yield from held

    def _batch(self, parsed: Parsed, here: Position) -> Iterator[Batch]:
        """The rows of a chunk, up to one that is not to be skipped; then what is wrong with it. Moves `here` on."""

        def where(row: int) -> str:
            return f"line {here['line'] + int(parsed.row_lines[row]) + 1} of {self.name}"

        error: SourceError | None = None
        for line, bad in parsed.bad:
            message = bad.message(here["line"] + line + 1, self.name)
            if self._bad_before + len(self.skipped) >= self._skip_bad:
                already = f" after {self._skip_bad} that were skipped" if self._skip_bad else ""
                hint = f"{bad.do}, or pass --skip-bad N to skip up to N bad lines."
                error = SourceError(f"{message}{already}. {hint}")
                parsed = parsed.head(int(np.searchsorted(parsed.row_lines, np.uint32(line))))
                break
            self.skipped.append((here["line"] + line + 1, message))
        try:
            y = self._labels.encode(parsed.labels, where)
        except LabelError as wrong:
            error = wrong
            parsed = parsed.head(wrong.row)
            y = self._labels.encode(parsed.labels, where)
        first = here["row"] + 1
        here["width"] = max(here["width"], parsed.x.width)
        here["row"] += len(y)
        here["line"] += parsed.lines
        here["byte"] += parsed.size
        here["bad"] = self._bad_before + len(self.skipped)
        if len(y):
            end = None if error else {**here, "labels": self._labels.state()}
            yield Batch(replace(parsed.x, width=here["width"]), y, first, end)
        if error:
            raise error

    def _parsed(self, opened: Opened, at_start: bool) -> Iterator[Parsed]:
        """The chunks, parsed by threads, in order; none waits here for a pipe that is silent."""
        from novikoff.kernels import svmlight as kernel

        parser = ChunkParser(kernel, self._skip_bad)
        waiting: deque[Future[Parsed]] = deque()
        with ThreadPoolExecutor(self._threads, "svmlight") as threads:
            try:
                for text, size, added in whole_lines(opened, self._chunk, kernel.PADDING, parser.free):
                    if at_start and text.startswith(BYTE_ORDER_MARK):
                        text[:3] = b"   "
                    at_start = False
                    waiting.append(threads.submit(parser.parse, text, size, added))
                    while len(waiting) > self._threads + 1 or (waiting and not opened.ready()):
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _look_further(self, byte: int) -> None:
        """Look for the second label in what is left of a file."""
        if not self._origin.independent:
            return
        with self._origin.open(byte) as opened:
            for parsed in self._parsed(opened, False):
                self._labels.look(parsed.labels)
                if self._labels.settled:
                    return

    def _say(self) -> None:
        """Put in the notes what there is to say of this pass, instead of what was said of an earlier one."""
        self.notes[:] = [note for note in self.notes if note not in self._said]
        self._said = []
        if self.skipped:
            lines = f"{len(self.skipped)} bad lines" if len(self.skipped) > 1 else "1 bad line"
            self._said.append(f"{lines} of {self.name} skipped, the first: {self.skipped[0][1]}")
        if self._labels.absent:
            self._said.append(f"no label of {self.name} is {shown(self._positive)}, the positive one: all are -1.")
        self.notes += self._said


class ChunkParser:
    """Parses chunks, in any thread; each thread has its own arrays, used again and again."""

    def __init__(self, kernel: Any, skip_bad: int) -> None:
        self._kernel = kernel
        self._skip_bad = skip_bad
        self._own = threading.local()
        self._lent = Lent()
        self.free: deque[bytearray] = deque()  # texts to be used again

    def parse(self, text: bytearray, size: int, added: int) -> Parsed:
        """The first `size` bytes, of which the last `added` are not in the source."""
        kernel = self._kernel
        colons, blanks, line_colons, line_blanks, table, wrong = self._arrays(size)
        data = np.frombuffer(text, dtype=np.uint8)
        count, room = map(int, kernel.places(data, np.uint64(size), colons, blanks, line_colons, line_blanks))
        room += kernel.WIDE
        values, labels, indptr, indices, lines = self._lent.arrays(
            (room, np.float64), (count, np.float64), (count + 1, np.uint64), (room, np.uint32), (count, np.uint32)
        )
        state = np.zeros(5, dtype=np.uint64)
        table.fill(0)
        indptr[0] = 0
        bad: list[tuple[int, BadLineError]] = []
        while True:
            kernel.parse(
                data, np.uint64(size), state, colons, blanks, line_colons, line_blanks, labels, lines, indptr, indices,
                values, table, wrong,
            )  # fmt: skip
            at, rows, entries, line, width = state.tolist()
            if at >= size:
                break
            stop = text.index(b"\n", at)
            try:
                row = read_line(bytes(memoryview(text)[at:stop]))
            except BadLineError as error:
                row = None
                bad.append((line, error))
                if len(bad) > self._skip_bad:
                    break
            if row is not None:
                labels[rows], own, reals = row
                lines[rows] = line
                indices[entries : entries + len(own)] = own
                values[entries : entries + len(own)] = reals
                entries += len(own)
                rows += 1
                indptr[rows] = entries
                width = max(width, max(own, default=-1) + 1)
            state[:] = stop + 1, rows, entries, line + 1, width
        x = Sparse(indptr[: rows + 1], indices[:entries], values[:entries], width)
        parsed = Parsed(labels[:rows], lines[:rows], x, line, size - added, bad)
        del data
        self.free.append(text)
        return parsed

    def _arrays(self, size: int) -> tuple[NDArray[Any], ...]:
        """Room for what is found in `size` bytes, if all were separators; memory that is not touched costs nothing."""
        if getattr(self._own, "size", -1) < size:
            self._own.size = size
            places = [np.empty(size + self._kernel.PADDING, dtype=np.uint32) for _ in range(4)]
            table, wrong = np.empty(self._kernel.SLOTS, dtype=np.uint32), np.zeros(self._kernel.WIDE, dtype=np.uint64)
            self._own.arrays = (*places, table, wrong)
        arrays: tuple[NDArray[Any], ...] = self._own.arrays
        return arrays


def _number(positive: Any) -> float | None:
    """The positive label as a number."""
    if positive is None:
        return None
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        if math.isfinite(float(positive)):
            return float(positive)
    raise SourceError(f"the positive label must be a number, as labels of svmlight text are: got {positive!r}.")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
