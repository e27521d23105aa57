"""svmlight (libsvm) text as a stream: `label [qid:N] index:value index:value ... [# comment]`.

Format
    One row a line; blank lines and comments are skipped, a label alone is a row without features. Indices are whole
    numbers from 0 to 2^32-2 and stay as they are, in any order; entries of one index in a row are added up. Numbers
    are the very doubles that Python's float reads, and finite. qid is skipped. Packed files are unpacked.
Labels
    Two values, the larger +1; `positive` overrides; `many` for 0 .. many-1. Decided from the first 16 MB; if these
    show one value only, a file is looked through for the other, and a pipe goes by streaming_labels.py.
Order, cost
    As in labelled_lines.py: threads parse chunks, and change nothing; a few chunks of memory.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.formats.buffer_pool import BufferPool
from novikoff.data.formats.chunk_parser import Advance, Arrays, LineParser
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, LabelledLines, Parser, number
from novikoff.data.formats.lines import BadLineError, Row, finite
from novikoff.numerics.records import astuple

FIRST_LINE_BYTES = 4096
"""The plain loop leaves the first line of a chunk; Python reads it, if it ends before this."""


class Svmlight(LabelledLines):
    """The rows of svmlight text, from a path, standard input ("-") or a binary file object.

    positive   the label value that is +1, against all others
    many       how many labels there are, for a learner with many: whole numbers from 0 to many-1
    skip_bad   how many bad lines to skip (`skipped` lists them: line, message) before it is an error
    threads    how many parse at a time; None: as many as there are cores
    chunk      bytes parsed at a time; a line may be longer
    outcomes   "labels", or "numbers" to be predicted
    """

    no_rows = "blank or comments"
    predicts_numbers = True

    def __init__(
        self,
        source: object,
        positive: object = None,
        multiclass: int | None = None,
        skip_bad: int = 0,
        threads: int | None = None,
        chunk: int = CHUNK_BYTES,
        outcomes: str = "labels",
    ) -> None:
        super().__init__(
            source, number(positive, "svmlight text"), multiclass, None, skip_bad, threads, chunk, outcomes
        )

    def _parser(self, free: deque[bytearray]) -> Parser:
        from novikoff.data._loops import svmlight as kernel

        return ChunkParser(kernel, self._skip_bad, free, self._little).parse


class ChunkParser(LineParser):
    """Plain lines by the plain loop; the others, and what follows, by the one that knows them all."""

    def __init__(self, kernel: Any, skip_bad: int, free: deque[bytearray], little: Callable[[int], bool]) -> None:
        super().__init__(kernel, partial(_arrays, kernel), skip_bad, free, little)
        self._buffers = BufferPool()

    def _begin(self, text: bytearray, data: NDArray[np.uint8], size: int, little: bool) -> tuple[Arrays, Advance]:
        kernel = self._kernel
        colons, blanks, line_colons, line_blanks, table, wrong = self._own(size)
        places = kernel.Separators(colons, blanks, line_colons, line_blanks)
        if little:
            count, room = text.count(b"\n", 0, size), text.count(b":", 0, size)
        else:
            count, room = map(int, kernel.places(data, np.uint64(size), *places))
        room += kernel.WIDE
        values, labels, indptr, indices, lines = self._buffers.arrays(
            (room, np.float64), (count, np.float64), (count + 1, np.uint64), (room, np.uint32), (count, np.uint32)
        )
        rows = labels, lines, indptr, indices, values
        found, out = astuple(places), astuple(kernel.Parsed(*rows))
        plain = True

        def advance(state: NDArray[np.uint64]) -> None:
            nonlocal plain
            if plain:
                kernel.parse(data, np.uint64(size), state, found, out, wrong)
                at = int(state[0])
                plain = at >= size or (at < kernel.SAFE and text.index(b"\n", at) <= FIRST_LINE_BYTES)
            if not plain:
                table.fill(0)  # a row that was not finished may have left something
                kernel.parse_all(data, np.uint64(size), state, found, out, wrong, table)

        return rows, advance

    def _line(self, line: bytes) -> Row | None:
        return read_line(line)


def _arrays(kernel: Any, size: int) -> Arrays:
    """The places of separators, a table for repeats, and what was wrong."""
    places = [np.empty(size + kernel.PADDING, dtype=np.uint32) for _ in range(4)]
    return *places, np.empty(kernel.SLOTS, dtype=np.uint32), np.zeros(kernel.WIDE, dtype=np.uint64)


LARGEST_INDEX = 2**32 - 2
FIELD = re.compile(rb"[^ \t]+")
WHOLE = re.compile(rb"[0-9]+")


def read_line(line: bytes) -> Row | None:
    """The row that a line without its new line holds; None if it is blank or a comment. Raises `BadLineError`.

    Slow, exact, and able to say what is wrong. Entries of one index are added up in their order, at the place of the
    first.
    """
    fields = FIELD.finditer(line.removesuffix(b"\r").partition(b"#")[0])
    entries: dict[int, float] = {}
    label = None
    for place, field in enumerate(fields):
        text, column = field.group(), field.start() + 1
        if label is None:
            label = finite(text, column, "a label")
            continue
        index, colon, value = text.partition(b":")
        if index == b"qid" and place == 1:
            if not WHOLE.fullmatch(value):
                raise BadLineError("qid must be a whole number", column, text, "Correct the line")
            continue
        if not colon:
            raise BadLineError("a feature must be index:value", column, text, "Correct the line")
        if not WHOLE.fullmatch(index):
            raise BadLineError("an index must be a whole number from 0", column, text, "Correct the line")
        digits = index.lstrip(b"0") or b"0"
        if len(digits) > 10 or int(digits) > LARGEST_INDEX:
            raise BadLineError(f"an index must be at most {LARGEST_INDEX}", column, text, "Number the features anew")
        i, x = int(digits), finite(value, column + len(index) + 1, "a value")
        if i in entries:
            x += entries[i]
            if not math.isfinite(x):
                raise BadLineError("values of one index must have a finite sum", column, text, "Scale the feature")
        entries[i] = x
    return None if label is None else (label, entries, max(entries, default=-1) + 1)
