"""svmlight (libsvm) text as a stream: `label [qid:N] index:value index:value ... [# comment]`.

Format
    One row per line; blank lines and comments are skipped, a label alone is a row without features. Indices are
    integers from 0 to 2^32-2, kept as they are, in any order; entries with the same index in a row are summed. Numbers
    are read exactly as by Python's float, and must be finite. qid is ignored. Compressed files are decompressed.
Labels
    Two values, the larger +1; `positive` overrides; `multiclass` for 0 .. k-1. Determined from the first 16 MB; if
    these have one value only, a file is searched for the other, and a pipe follows the rule of streaming_labels.py.
Order, cost
    As in labelled_lines.py: threads parse chunks without changing the result; memory for a few chunks.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable
from functools import partial
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from novikoff.core.registry import Format
from novikoff.data.formats.buffer_pool import BufferPool
from novikoff.data.formats.chunk_parser import Advance, Arrays, LineParser
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, LabelledLines, Parser, number
from novikoff.data.formats.lines import DECIMAL, BadLineError, Row, finite, first_lines, mostly
from novikoff.data.layout import LARGEST_FILE_INDEX
from novikoff.numerics.records import astuple

FIRST_LINE_BYTES = 4096
"""Maximum length of a first line that Python reads after the plain loop has rejected it; a longer one needs the general
loop, which takes longer to compile."""


class Svmlight(LabelledLines):
    r"""Stream over svmlight (libsvm) text.

    Args:
        source: Path, "-" for standard input, or binary file object.
        positive: Label for +1; every other label is -1.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        skip_bad: Number of bad lines to skip before an error; `skipped` lists them as (line, message).
        threads: Number of parsing threads; None for one per core.
        chunk: Bytes parsed at a time; a line may be longer.
        outcomes: "labels", or "numbers" for regression.

    Example:
        >>> import io
        >>> import novikoff as nk
        >>> batch = next(nk.Svmlight(io.BytesIO(b"+1 3:0.5 7:2\n-1 1:1\n")).batches())
        >>> batch.y, batch.x.indices
        (array([ 1, -1], dtype=int8), array([3, 7, 1], dtype=uint32))
    """

    no_rows = "blank or comments"
    line_start = re.compile(rb"\n(?=[ \t]*+[^ \t\r\n#])")
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
    """Parser that starts with the loop for plain lines and switches to the general loop at the first other line."""

    def __init__(
        self, kernel: ModuleType, skip_bad: int, free: deque[bytearray], little: Callable[[int], bool]
    ) -> None:
        super().__init__(kernel, partial(_arrays, kernel), skip_bad, free, little)
        self._buffers = BufferPool()

    def _begin(self, text: bytearray, data: NDArray[np.uint8], size: int, little: bool) -> tuple[Arrays, Advance]:
        kernel = self._kernel
        colons, blanks, line_colons, line_blanks, table, wrong = self._arrays(size)
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
                table.fill(0)  # a row that was not finished may have left entries
                kernel.parse_all(data, np.uint64(size), state, found, out, wrong, table)

        return rows, advance

    def _line(self, line: bytes) -> Row | None:
        return read_line(line)


def _arrays(kernel: ModuleType, size: int) -> Arrays:
    """Return arrays for the positions of separators, the hash table for repeats, and the error flags."""
    places = [np.empty(size + kernel.PADDING, dtype=np.uint32) for _ in range(4)]
    return *places, np.empty(kernel.SLOTS, dtype=np.uint32), np.zeros(kernel.WIDE, dtype=np.uint64)


FIELD = re.compile(rb"[^ \t]+")
WHOLE = re.compile(rb"[0-9]+")


def read_line(line: bytes) -> Row | None:
    """Return the row of a line without its new line; None if it is blank or a comment. Raises `BadLineError`.

    This reader is slow and exact, and reports errors. Entries with the same index are summed in order, at the position
    of the first.
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
                raise BadLineError("qid must be an integer", column, text, "Correct the line")
            continue
        if not colon:
            raise BadLineError("a feature must be index:value", column, text, "Correct the line")
        if not WHOLE.fullmatch(index):
            raise BadLineError("an index must be an integer from 0", column, text, "Correct the line")
        digits = index.lstrip(b"0") or b"0"
        if len(digits) > 10 or int(digits) > LARGEST_FILE_INDEX:
            raise BadLineError(f"an index must be at most {LARGEST_FILE_INDEX}", column, text, "Renumber the features")
        i, x = int(digits), finite(value, column + len(index) + 1, "a value")
        if i in entries:
            x += entries[i]
            if not math.isfinite(x):
                raise BadLineError("values of one index must have a finite sum", column, text, "Scale the feature")
        entries[i] = x
    return None if label is None else (label, entries, max(entries, default=-1) + 1)


LINE = re.compile(rb"%b(?:[ \t]+qid:[0-9]+)?(?:[ \t]+[0-9]+:%b)*[ \t]*(?:#.*)?" % (DECIMAL, DECIMAL), re.DOTALL)
ENTRY = re.compile(rb"[ \t][0-9]+:[+-.0-9]")
UNLABELLED = re.compile(rb"(?:qid:[0-9]+[ \t]+)?(?:[0-9]+:%b)(?:[ \t]+[0-9]+:%b)*[ \t]*(?:#.*)?" % (DECIMAL, DECIMAL))


def _recognises(head: bytes) -> bool:
    """Return whether most lines are `number index:value ...`."""
    lines = first_lines(head)
    return mostly(lines, LINE.fullmatch) and any(ENTRY.search(line) for line in lines)


FORMATS = {
    "svmlight": Format(
        Svmlight,
        recognises=_recognises,
        unlabelled=Svmlight.without_labels,
        recognises_unlabelled=lambda lines: mostly(lines, UNLABELLED.fullmatch),
    )
}
