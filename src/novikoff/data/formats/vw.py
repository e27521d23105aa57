"""Vowpal Wabbit text as a stream: `label [importance [base]] ['tag]|namespace[:weight] name[:value] ... |...`.

Format
    One row per line; blank lines are skipped, `1 |` is a row without features. A word that touches the first bar or
    begins with a quote is a tag, and ignored: `1|f x` has no label. The default value is 1; values are multiplied by
    the weight of their namespace. Numbers are read exactly as by Python's float, and must be finite. Compressed files
    are decompressed. Not supported: text values (city:paris; write city=paris), and labels that are not one number.
Features
    The indices are those of Vowpal Wabbit with `-b bits`. A namespace has a base: 0 without a name, n if its name is an
    integer n, otherwise the MurmurHash3 of its name. The index of a feature is base + n if its name is an integer n,
    base + k for the k-th feature without a name (k from 0), otherwise the MurmurHash3 of its name with the base as
    seed; all modulo 2^bits. So numbers below 2^bits in the unnamed namespace stay as they are, and numbers never
    collide within a namespace. Entries with the same index in a row are summed.
Weights
    The theorems count every round once, from the learner's score alone: an importance other than 1 or a base other
    than 0 is an error, or with `ignore_weights` ignored, with a note.
Labels
    As in svmlight.py: two values, the larger +1; `positive` overrides; `multiclass` for 0 .. k-1.
Cost
    One pass; memory for a few chunks (or the longest line), independent of the file size.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, LabelError, Option
from novikoff.core.registry import Format
from novikoff.data.formats.chunk_parser import Advance, Arrays, LineParser
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, LabelledLines, Parsed, Parser, number
from novikoff.data.formats.lines import DECIMAL, BadLineError, Row, finite, first_lines, mostly
from novikoff.data.hashing import hashed


class VW(LabelledLines):
    r"""Stream over Vowpal Wabbit text.

    Args:
        source: Path, "-" for standard input, or binary file object.
        positive: Label for +1; every other label is -1.
        bits: Features are hashed into 2^bits indices.
        ignore_weights: Whether to ignore importance weights and bases, instead of an error.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        skip_bad: Number of bad lines to skip before an error; `skipped` lists them as (line, message).
        threads: Number of parsing threads; None for one per core.
        chunk: Bytes parsed at a time; a line may be longer.
        outcomes: "labels", or "numbers" for regression.

    Example:
        >>> import io
        >>> import novikoff as nk
        >>> batch = next(nk.VW(io.BytesIO(b"1 | 3:0.5 7\n-1 | 1\n")).batches())
        >>> batch.y, batch.x.indices
        (array([ 1, -1], dtype=int8), array([3, 7, 1], dtype=uint32))
    """

    predicts_numbers = True

    def __init__(
        self,
        source: object,
        positive: object = None,
        bits: int = 18,
        ignore_weights: bool = False,
        multiclass: int | None = None,
        skip_bad: int = 0,
        threads: int | None = None,
        chunk: int = CHUNK_BYTES,
        outcomes: str = "labels",
    ) -> None:
        super().__init__(
            source, number(positive, "Vowpal Wabbit text"), multiclass, bits, skip_bad, threads, chunk, outcomes
        )
        self._bits, self._ignore_weights = bits, ignore_weights

    def _parser(self, free: deque[bytearray]) -> Parser:
        from novikoff.data._loops import vw as kernel

        return ChunkParser(kernel, self._bits, self._ignore_weights, self._skip_bad, free, self._little).parse


class ChunkParser(LineParser):
    """Parser with one loop for all lines; its arrays are copied, since the number of entries is unknown beforehand."""

    def __init__(
        self, kernel: ModuleType, bits: int, ignore_weights: bool, skip_bad: int, free: deque[bytearray],
        little: Callable[[int], bool],
    ) -> None:  # fmt: skip
        super().__init__(kernel, partial(_arrays, kernel), skip_bad, free, little, 2**bits)
        self._bits, self._ignore_weights = bits, ignore_weights

    def parse(self, text: bytearray, size: int, added: int) -> Parsed:
        parsed = super().parse(text, size, added)
        return replace(parsed, labels=parsed.labels.copy(), row_lines=parsed.row_lines.copy(), x=parsed.x.copy())

    def _begin(self, text: bytearray, data: NDArray[np.uint8], size: int, little: bool) -> tuple[Arrays, Advance]:
        *rows, table = self._arrays(size)
        mask = np.uint64(2**self._bits - 1)

        def advance(state: NDArray[np.uint64]) -> None:
            table.fill(0)
            self._kernel.parse(data, np.uint64(size), mask, self._ignore_weights, state, *rows, table)

        return tuple(rows), advance

    def _line(self, line: bytes) -> Row | None:
        return read_line(line, self._bits, self._ignore_weights)


def _arrays(kernel: ModuleType, size: int) -> Arrays:
    """Return arrays for the rows in `size` bytes, and the hash table for repeats."""
    rows, entries = size // 4 + 1, size // 2 + 1
    return (
        np.empty(rows), np.empty(rows, dtype=np.uint32), np.empty(rows + 1, dtype=np.uint64),
        np.empty(entries, dtype=np.uint32), np.empty(entries), np.empty(kernel.SLOTS, dtype=np.uint32),
    )  # fmt: skip


CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f]")
WORD = re.compile(rb"[^ \t]+")
CORRECT = "Correct the line"
NEUTRAL = ("an importance weight must be 1, because the theorems count every round once",
           "a base must be 0, because the theorems know only the learner's score")  # fmt: skip
"""Requirements on the numbers after the label."""


def read_line(line: bytes, bits: int, ignore_weights: bool = False) -> Row | None:
    """Return the row of a line without its new line; None if it is blank. Raises `BadLineError`.

    This reader is slow and exact, and reports errors. The last item of the row is whether an importance or a base was
    ignored.
    """
    line = line.removesuffix(b"\r")
    if not line.strip(b" \t"):
        return None
    control = CONTROL.search(line)
    if control:
        raise BadLineError("a line must have no control characters", control.start() + 1, control.group(), CORRECT)
    head, bar, rest = line.partition(b"|")
    if not bar:
        raise BadLineError(
            "a line must have a bar before its features", 1, line, "Check the format, or correct the line"
        )
    label, ignored = _label(head, line, ignore_weights)
    entries: dict[int, float] = {}
    at = len(head) + 1
    for part in rest.split(b"|"):
        base, weight, nameless = 0, 1.0, 0
        for word in WORD.finditer(part):
            text, column = word.group(), at + word.start() + 1
            name, colon, number = text.partition(b":")
            what = "a value" if word.start() else "a weight"
            value = finite(number, column + len(name) + 1, what) if colon else 1.0
            if word.start() == 0:
                if not name:
                    raise BadLineError("a namespace must have a name", column, text, "Put a blank after the bar")
                base, weight = hashed(name, 0), value
                continue
            if not math.isfinite(value * weight):
                must = "a value times the weight of its namespace must be finite"
                raise BadLineError(must, column, text, "Scale the feature")
            i = (hashed(name, base) if name else base + nameless) & (2**bits - 1)
            nameless += not name
            x = value * weight + entries[i] if i in entries else value * weight
            if not math.isfinite(x):
                raise BadLineError("values of one index must have a finite sum", column, text, "Scale the feature")
            entries[i] = x
        at += len(part) + 1
    return label, entries, ignored


def _label(head: bytes, line: bytes, ignore_weights: bool) -> tuple[float, bool]:
    """Parse the part before the first bar; return the label and whether an importance or base was ignored."""
    if b"\t" in head:
        at = head.index(b"\t")
        raise BadLineError("words before the bar must have blanks between them", at + 1, head[at:], "Replace the tab")
    words = list(WORD.finditer(head))
    if words and (words[-1].end() == len(head) or words[-1].group().startswith(b"'")):
        words.pop()  # a tag
    if not words:
        raise BadLineError("a line must have a label", 1, line, "Put a label and a blank before the bar", LabelError)
    if len(words) > 3:
        must = "a label must be one number, with an importance and a base at most"
        raise BadLineError(must, words[3].start() + 1, words[3].group(), CORRECT, LabelError)
    label, *more = (
        finite(word.group(), word.start() + 1, what)
        for word, what in zip(words, ("a label", "an importance weight", "a base"), strict=False)
    )
    for word, value, neutral, must in zip(words[1:], more, (1.0, 0.0), NEUTRAL, strict=False):
        if value != neutral and not ignore_weights:
            do = Advice("Pass ", Option("ignore_weights", True), " to count every row once")
            raise BadLineError(must, word.start() + 1, word.group(), do)
    return label, more not in ([], [1.0], [1.0, 0.0])


BARS = rb"\|[^|]*+(?:\|[^ \t|][^|]*+)*+"  # further bars must start a named namespace: else it is a table
LABELLED = re.compile(rb"%b(?: +%b){0,2}(?: +[^ \t|]*+| +'[^ \t|]*+ *)%b" % (DECIMAL, DECIMAL, BARS), re.DOTALL)
UNLABELLED = re.compile(rb"(?:'[^ \t|]*+ *)?%b" % BARS, re.DOTALL)


def _recognises(head: bytes) -> bool:
    """Return whether most lines are `number ... |namespace feature ...`, or the same without a label."""
    return mostly(first_lines(head), lambda line: LABELLED.fullmatch(line) or UNLABELLED.fullmatch(line))


FORMATS = {
    "vw": Format(
        VW,
        recognises=_recognises,
        unlabelled=VW.without_labels,
        recognises_unlabelled=lambda lines: mostly(lines, UNLABELLED.fullmatch),
    )
}
