"""Labelled messages as a stream: a label, a TAB and a text per line; the features are hashed words.

Format
    `spam<TAB>WINNER!! Call now`. The first TAB counts; CRLF, a missing last new line, blank lines and a byte order
    mark are accepted. .gz, .bz2, .xz and .zst are decompressed while they are read.
Features
    A word is a run of letters and digits (ASCII letters in lower case; every non-ASCII byte is a letter). Its index is
    its MurmurHash3 cut to `bits`, its value the number of occurrences in the message, or 1 with `presence`;
    data/_loops/words.py.
Labels
    Two values, the larger +1, compared as numbers if the first is one; `positive` overrides; `multiclass` for
    0 .. k-1, or for any labels.
Order, cost
    As in labelled_lines.py, with one thread.
"""

from __future__ import annotations

import math
import re
from collections import deque

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, LabelError, Option, quoted
from novikoff.core.registry import Format
from novikoff.core.types import Json, Sparse
from novikoff.data.formats.labelled_lines import LabelledLines, Parsed, Parser
from novikoff.data.formats.lines import DECIMAL, BadValueError, first_lines, mostly
from novikoff.data.layout import WHOLE, is_number

CHUNK_BYTES = 2**20
"""Default size of a chunk in bytes."""
MUST = "a line must be a label, a TAB and a message"
LABELS_PER_CALL = 256
"""Number of distinct labels after which the compiled loop returns."""
BAD_PER_CALL = 256
"""Number of bad lines after which the compiled loop returns."""
FAULTS = ("no TAB", "nothing before its TAB")
"""Descriptions of the fault codes of data/_loops/words.py."""


class Text(LabelledLines):
    r"""Stream over lines of `label<TAB>message`, with word counts as features.

    Args:
        source: Path, "-" for standard input, or binary file object.
        positive: Label for +1; every other label is -1.
        bits: Words are hashed into 2^bits indices.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        skip_bad: Number of bad lines to skip before an error; `skipped` lists them as (line, message).
        chunk: Bytes read at a time; a line may be longer.
        presence: Whether a word counts once, however often it occurs: features are 1 (present) or 0 (absent).

    Example:
        >>> import io
        >>> import novikoff as nk
        >>> stream = nk.Text(io.BytesIO(b"spam\tcall now, call\nham\tsee you at six\n"))
        >>> next(stream.batches()).x.values
        array([2., 1., 1., 1., 1., 1.])
    """

    bits: int
    label_word = re.compile(rb"^([^\t\r\n]+)\t", re.MULTILINE)
    dummy_label = b"0\t"

    def __init__(
        self, source: object, positive: object = None, bits: int = 18, multiclass: int | None = None, skip_bad: int = 0,
        chunk: int = CHUNK_BYTES, presence: bool = False,
    ) -> None:  # fmt: skip
        self.presence = bool(presence)
        super().__init__(
            source, None if positive is None else _canonical(str(positive)), multiclass, bits, skip_bad, 1, chunk
        )

    def _parser(self, free: deque[bytearray]) -> Parser:
        table = Table()

        def parse(text: bytearray, size: int, added: int) -> Parsed:
            at = line = 0
            parts: list[Parsed] = []
            while at < size or not parts:
                part = self._read(text, at, size, line, table)
                at, line = at + part.size, line + part.lines
                parts.append(part)
            free.append(text)
            labels = np.concatenate([part.labels for part in parts])
            row_lines = np.concatenate([part.row_lines for part in parts])
            bad = [fault for part in parts for fault in part.bad]
            x = parts[0].x if len(parts) == 1 else Sparse.concatenated([part.x for part in parts])
            return Parsed(labels, row_lines, x, line, size - added, bad)

        return parse

    def _read(self, data: bytearray, at: int, stop: int, line: int, table: Table) -> Parsed:
        """Return the rows of the lines from `at` on, or some of them; `line` lines precede them."""
        from novikoff.data._loops.words import read_lines

        text = np.frombuffer(data, dtype=np.uint8)[at:stop]
        most = data.count(b"\n", at, stop) + 1
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
        table.past += int(indptr[rows])
        if self.presence:
            values[: int(indptr[rows])] = 1.0
        codes, row_lines = codes[:rows], (lines[:rows] + line).astype(np.uint32)
        faults = [
            (line + number, BadValueError(MUST, FAULTS[fault], "Correct it", LabelError))
            for number, fault in bad[:bads].tolist()
        ]
        column = np.empty(known, dtype=object)
        x = Sparse(indptr[: rows + 1], indices, values, 2**self.bits, checked=True)
        good = np.ones(rows, dtype=np.bool_)
        for code, (begin, end) in enumerate(spans[:known].tolist()):
            try:
                column[code] = self._value(bytes(data[at + begin : at + end]))
            except BadValueError as error:
                there, error.__traceback__ = codes == code, None  # a traceback would keep the text alive
                faults += [(int(number), error) for number in row_lines[there]]
                good &= ~there
        x = x.copy() if good.all() else x.take(good)
        labels = column[codes[good]].astype(np.float64 if self._numbers else object)
        return Parsed(labels, row_lines[good], x, done, taken, sorted(faults, key=lambda fault: fault[0]))

    def fingerprint(self) -> dict[str, Json]:
        """Return the fingerprint of the file, and whether words count once."""
        return {**super().fingerprint(), "presence": self.presence}

    def _value(self, written: bytes) -> object:
        """Return a label as text, or as a number if the first label of the stream was one and `positive` is None."""
        was = quoted(repr(written)[2:-1])
        try:
            word = written.decode()
        except UnicodeError:
            word = "\0"
        if "\0" in word:  # UTF-16 or binary; and numpy treats "u" and "u\0" as equal
            raise BadValueError("a label must be UTF-8 without zero bytes", was, "Convert the file first", LabelError)
        if self._positive is not None:
            return _canonical(word)
        if self._numbers is None:
            self._numbers = is_number(word)
        if not self._numbers:
            return word
        exact = is_number(word) and not math.isinf(float(word))
        if not exact or (WHOLE.fullmatch(word) and int(word) != float(word)):  # two labels must not round to one double
            must = "labels must be finite numbers, integers exact as doubles, because the first is a number"
            raise BadValueError(must, was, Advice("Pass ", Option("positive", letter="VALUE")), LabelError)
        return float(word)


class Table:
    """Hash table in which the compiled loop looks up the words of a row.

    Attributes:
        past: Number of entries written so far, over all chunks.
    """

    def __init__(self) -> None:
        self._positions = np.full(1, -1, dtype=np.int64)
        self.past = 0

    def room(self, size: int) -> NDArray[np.int64]:
        """Return a table for a line of `size` bytes."""
        room = 1 << (size + 1).bit_length()
        if len(self._positions) < room:
            self._positions = np.full(room, -1, dtype=np.int64)
        return self._positions


def _canonical(word: str) -> str:
    """Return one spelling of a number, such as 1 for +1 and 1.0; a word is unchanged."""
    if WHOLE.fullmatch(word):
        return str(int(word))
    number = float(word) if is_number(word) else math.inf
    if math.isinf(number):
        return word.strip(" ")
    return str(int(number)) if number.is_integer() else repr(number)


WORD = re.compile(rb"[A-Za-z\x80-\xff]")
WORDS = re.compile(rb"[0-9A-Za-z\x80-\xff]+[^0-9A-Za-z\x80-\xff]+[0-9A-Za-z\x80-\xff]")


def _recognises(head: bytes) -> bool:
    """Return whether most lines are `label<TAB>message`.

    A message contains a word and no numeric cell. Numeric labels are accepted only if there are at most two of them and
    most messages have several words and differ; otherwise the file is a table of numbers and names.
    """
    lines = first_lines(head)
    labelled = [line.partition(b"\t")[::2] for line in lines if b"\t" in line]
    worded = [(label, message) for label, message in labelled if WORD.search(message) and not _has_number(message)]
    if 2 * len(worded) <= len(lines):
        return False
    labels = {label.strip() for label, _ in worded}
    if not any(re.fullmatch(DECIMAL, label) for label in labels):
        return True
    messages = [message for _, message in worded]
    return len(labels) <= 2 and mostly(messages, WORDS.search) and len(set(messages)) > len(messages) // 2


def _has_number(message: bytes) -> bool:
    return b"\t" in message and any(re.fullmatch(DECIMAL, cell.strip()) for cell in message.split(b"\t"))


FORMATS = {
    "text": Format(
        Text,
        recognises=_recognises,
        unlabelled=Text.without_labels,
        recognises_unlabelled=lambda lines: False,  # words of any kind: read so if no other format matches
    )
}
