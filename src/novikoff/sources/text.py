"""Labelled messages as a stream: each line a label, a TAB and some text; the features are hashed words.

Format
    `spam<TAB>WINNER!! Call now`. The first TAB counts; CRLF, a missing last new line, blank lines and a byte order
    mark are no trouble. .gz, .bz2, .xz and .zst are unpacked as they are read.
Features
    A word is a run of letters and digits (ASCII letters made small; every byte beyond ASCII is a letter). Its index
    is its MurmurHash3 cut to `bits`, its value how often it occurs in the message; kernels/words.py.
Labels
    Two values, the larger +1, compared as numbers if the first is one; `positive` overrides; `many` for 0 .. many-1.
Cost
    One pass; a few chunks of memory, whatever the size of the file (and the longest line). Rows wait until both
    labels have come, for 16 MB at most; then a file is looked through for the other, and a pipe goes by
    streaming_labels.py.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import POSITIVE, LabelError, Option, SourceError, counted, quoted
from novikoff.sources.layout import WHOLE, is_number
from novikoff.sources.opened import Opened, Origin
from novikoff.sources.streaming_labels import StreamingLabels
from novikoff.stream import Stream
from novikoff.types import Batch, Domain, Labels, Position, Sparse

CHUNK_BYTES = 2**20
LONGEST_LINE = 2**28
LABELS_PER_CALL = 256
BAD_PER_CALL = 256
LOOK_AHEAD_BYTES = 2**24
LIVE_SECONDS = 0.1  # how long a pipe may be silent before its rows are shown
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FAULTS = ("has no TAB", "has nothing before its TAB")  # as in kernels/words.py


class Text(Stream):
    """The lines of a file of `label<TAB>message`.

    source     a path, "-" for standard input, or a binary file object
    positive   the label value that is +1, against all others
    bits       an index is a number below 2^bits
    many       how many labels there are, for a learner with many: whole numbers from 0 to many-1
    skip_bad   how many bad lines to skip (`skipped` lists them: line, message) before it is an error
    chunk      bytes read at a time; a line may be longer
    """

    def __init__(
        self,
        source: Any,
        positive: Any = None,
        bits: int = 18,
        many: int | None = None,
        skip_bad: int = 0,
        chunk: int = CHUNK_BYTES,
    ) -> None:
        if not 1 <= bits <= 32 or skip_bad < 0 or chunk < 1:
            raise SourceError(
                "bits must be from 1 to 32, skip_bad at least 0 and chunk at least 1: "
                f"got bits={bits}, skip_bad={skip_bad}, chunk={chunk}."
            )
        self._origin = Origin(source)
        self._positive = None if positive is None else _canonical(str(positive))
        self._labels = StreamingLabels(self._positive, many)
        self._numbers: bool | None = None  # are the labels numbers?
        self._skip_bad = skip_bad
        self._chunk = chunk
        self.name = self._origin.name
        self.rereadable, self.fixed = self._origin.rereadable, self._origin.fixed
        self.bits: int = bits
        self.domain = Domain("vector", 2**bits)
        self._told: list[str] = []  # of the notes, those of the last pass
        self.skipped: list[tuple[int, str]] = []

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """What stands for -1 and +1; None before it is known, and with `many`."""
        return self._labels.labels

    def fingerprint(self) -> dict[str, Any]:
        """Size and time of change of the file; empty for other sources."""
        return self._origin.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        here = dict(start or {"row": 0, "line": 0, "byte": 0, "bad": 0})
        self._labels.expected = self.expected
        if start:
            self._labels.load(start["labels"])
            self._numbers = start["numbers"]
        before = here["bad"]
        self.skipped.clear()
        with self._origin.open(here["byte"]) as opened:
            held: deque[Part] = deque()
            for part in self._parts(opened, here["byte"], here["line"]):
                held.append(part)
                self._labels.look(part.labels)
                if not self._labels.settled and part.byte - here["byte"] < LOOK_AHEAD_BYTES and opened.ready():
                    continue
                self._look_further(part)
                self._refuse_bad(held, before)
                while held:
                    yield from self._batch(held.popleft(), here, before)
            self._refuse_bad(held, before)
            while held:
                yield from self._batch(held.popleft(), here, before)
        self._note_end()
        if here["row"] == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rows.")

    def _batch(self, part: Part, here: Position, before: int) -> Iterator[Batch]:
        """The rows of a part, up to one that is not to be skipped; then what is wrong with it. Moves `here` on."""
        error: SourceError | None = None
        for line, fault in part.bad:
            error = self._skip(line, fault, before)
            if error:
                part = part.head(int(np.searchsorted(part.lines, line)))
                break
        try:
            y = self._labels.encode(part.labels)
        except LabelError as wrong:
            row = wrong.where.pop("row")
            error = wrong.at(line=int(part.lines[row]), source=self.name)
            self.skipped[:] = [bad for bad in self.skipped if bad[0] < part.lines[row]]
            part = part.head(row)
            y = self._labels.encode(part.labels)
        error = error or part.wrong
        first = here["row"] + 1
        here.update(row=here["row"] + len(y), line=part.line, byte=part.byte, bad=before + len(self.skipped))
        if len(y):
            yield Batch(part.x, y, first, None if error else self._position(here))
        if error:
            raise error

    def _skip(self, line: int, fault: str, before: int) -> SourceError | None:
        """Skip a bad line; or what is wrong with it, if there were too many."""
        error = LabelError("a line must be a label, a TAB and a message", fault, line=line, source=self.name)
        if before + len(self.skipped) < self._skip_bad:
            self.skipped.append((line, error.told()))
            return None
        many = f"{self._skip_bad} bad lines were skipped before. " if self._skip_bad else ""
        go_on = Option("skip_bad", letter="N")
        return error.advise(many, "Correct it, or pass ", go_on, " to go on after up to N of them.")

    def _refuse_bad(self, held: Iterable[Part], before: int) -> None:
        """Where one label is alone, raise what is wrong with a line instead: the other may be on that."""
        if not self._labels.lone:
            return
        known = list(self.skipped)
        for part in held:
            for line, fault in part.bad:
                if error := self._skip(line, fault, before):
                    raise error
            if part.wrong:
                raise part.wrong
        self.skipped[:] = known

    def _look_further(self, part: Part) -> None:
        """Look for the second label in what is left of a file behind the part."""
        known = self._labels.settled or self._labels.labels is not None
        if known or not self._origin.independent:
            return
        with self._origin.open(part.byte) as opened:
            for later in self._parts(opened, part.byte, part.line):
                self._labels.look(later.labels)
                if self._labels.settled:
                    return

    def _position(self, here: Position) -> Position:
        return {**here, "numbers": self._numbers, "labels": self._labels.state()}

    def _note_end(self) -> None:
        """Say at the end of a pass what was skipped, once."""
        told = []
        if self.skipped:
            _, message = self.skipped[0]
            told.append(f"{counted(len(self.skipped), 'bad line')} of {self.name} skipped, the first: {message}")
        if self._labels.absent:
            told.append(f"no label of {self.name} was {quoted(self._positive)}, the positive one: all are -1.")
        self.notes[:] = [*(note for note in self.notes if note not in self._told), *told]
        self._told = told

    def _parts(self, opened: Opened, byte: int, line: int) -> Iterator[Part]:
        """The rows, a chunk at a time, from a place that is `byte` bytes and `line` lines from the start."""
        table = Table()
        for data in self._chunks(opened):
            at = len(BYTE_ORDER_MARK) if byte == 0 and data.startswith(BYTE_ORDER_MARK) else 0
            while at < len(data):
                part = self._read(data, at, line, table)
                at += part.byte
                line = part.line
                yield replace(part, byte=byte + at)
                if part.wrong:  # what is behind it means nothing: not even a second label
                    return
            byte += len(data)

    def _chunks(self, opened: Opened) -> Iterator[bytes]:
        """Whole lines, a chunk or more if a line is longer; the last may be without its new line."""
        rest, over = b"", False
        while not over:
            pieces, length, whole = [rest], len(rest), False
            while not whole or (length < self._chunk and (not opened.live or opened.ready(LIVE_SECONDS))):
                piece = opened.read(max(self._chunk - length, length // 2, 1))
                if not piece:
                    over = True
                    break
                pieces.append(piece)
                length += len(piece)
                whole = whole or b"\n" in piece
                if length > LONGEST_LINE and not whole:
                    raise SourceError(
                        f"a line must be shorter than {LONGEST_LINE:,} bytes: {self.name} has a longer one. Is it text?"
                    )
            data = b"".join(pieces)
            cut = len(data) if over else data.rfind(b"\n") + 1
            rest = data[cut:]
            if cut:
                yield data[:cut]

    def _read(self, data: bytes, at: int, line: int, table: Table) -> Part:
        """The rows of the lines from `at` on, or some of them; `byte` is how far they go."""
        from novikoff.kernels.words import read_lines

        text = np.frombuffer(data, dtype=np.uint8)[at:]
        most = data.count(b"\n", at) + 1
        indptr = np.empty(most + 1, dtype=np.uint64)
        indices = np.empty(len(text) // 2 + 1, dtype=np.uint32)
        values = np.empty(len(text) // 2 + 1, dtype=np.float64)
        codes, lines = np.empty((2, most), dtype=np.int64)
        spans = np.empty((LABELS_PER_CALL, 2), dtype=np.int64)
        bad = np.empty((BAD_PER_CALL, 2), dtype=np.int64)
        counts = np.zeros(5, dtype=np.int64)
        mask = np.uint64(2**self.bits - 1)
        positions = table.room(len(text))
        read_lines(text, mask, positions, table.past, indptr, indices, values, codes, lines, spans, bad, counts)
        rows, known, bads, done, taken = counts.tolist()
        entries = int(indptr[rows])
        table.past += entries
        lines = lines[:rows] + (line + 1)
        words = [data[at + begin : at + end] for begin, end in spans[:known].tolist()]
        x = Sparse(indptr[: rows + 1], indices, values, 2**self.bits, checked=True).copy()
        labels, wrong = self._values(words, codes[:rows], lines)
        faults = [(line + 1 + number, FAULTS[fault]) for number, fault in bad[:bads].tolist()]
        part = Part(x, labels, lines, faults, None, line + done, taken)
        if not wrong:
            return part
        before = [(number, fault) for number, fault in faults if number < lines[len(labels)]]
        return replace(part.head(len(labels)), bad=before, wrong=wrong)

    def _values(
        self, words: list[bytes], codes: NDArray[np.int64], lines: NDArray[np.int64]
    ) -> tuple[NDArray[Any], LabelError | None]:
        """The label of each row, up to one that cannot be; and what is wrong with that."""
        values: list[Any] = []
        for code, word in enumerate(words):
            row = int(np.argmax(codes == code))
            try:
                if 0 in word:  # UTF-16, or no text; and numpy takes "u" and "u\0" for the same
                    raise UnicodeError("a zero byte")
                values.append(self._value(word.decode()))
            except UnicodeError:
                must, do = "a label must be UTF-8 without zero bytes", "Convert the file first."
            except ValueError:
                must = "labels must be finite numbers, whole ones exact as doubles, as the first is one"
                do = POSITIVE
            else:
                continue
            was = f"has {quoted(repr(word)[2:-1])}"
            wrong = LabelError(must, was, do, line=int(lines[row]), source=self.name)
            return self._column(values)[codes[:row]], wrong
        return self._column(values)[codes], None

    def _value(self, word: str) -> Any:
        """A label as text; as a number if the first one of the stream was, and none is named as positive."""
        if self._positive is not None:
            return _canonical(word)
        if self._numbers is None:
            self._numbers = is_number(word)
        if not self._numbers:
            return word
        if not is_number(word) or math.isinf(float(word)):
            raise ValueError(word)
        if WHOLE.fullmatch(word) and int(word) != float(word):  # else two labels could become one
            raise ValueError(word)
        return float(word)

    def _column(self, values: list[Any]) -> NDArray[Any]:
        column = np.empty(len(values), dtype=np.float64 if self._numbers else object)
        column[:] = values
        return column


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some rows, as read.

    labels, lines   of each row; lines from 1
    bad             the lines that are no rows, and why
    wrong           what is wrong with the row behind the last, if anything
    line, byte      how many of both are behind it
    """

    x: Sparse
    labels: NDArray[Any]
    lines: NDArray[np.int64]
    bad: list[tuple[int, str]]
    wrong: LabelError | None
    line: int
    byte: int

    def head(self, rows: int) -> Part:
        """The first rows."""
        return replace(self, x=self.x[:rows], labels=self.labels[:rows], lines=self.lines[:rows], wrong=None)


class Table:
    """Where the kernel finds the words of a row again, and how many entries it has written so far."""

    def __init__(self) -> None:
        self._positions = np.full(1, -1, dtype=np.int64)
        self.past = 0

    def room(self, size: int) -> NDArray[np.int64]:
        """Room for a line of `size` bytes."""
        room = 1 << (size + 1).bit_length()
        if len(self._positions) < room:
            self._positions = np.full(room, -1, dtype=np.int64)
        return self._positions


def _canonical(word: str) -> str:
    """The same text for +1, 1 and 1.0; a word as it is."""
    if WHOLE.fullmatch(word):
        return str(int(word))
    number = float(word) if is_number(word) else math.inf
    if math.isinf(number):
        return word.strip(" ")
    return str(int(number)) if number.is_integer() else repr(number)
