"""Vowpal Wabbit text as a stream: `label [importance [base]] ['tag]|namespace[:weight] name[:value] ... |...`.

Format
    One row a line; blank lines are skipped, `1 |` is a row without features. A word that touches the first bar or
    begins with a quote is a tag, and skipped: `1|f x` has no label. A value is 1 where none is written, and times the
    weight of its namespace. Numbers are the very doubles that Python's float reads, and finite. Packed files are
    unpacked. Not taken: text for a value (city:paris; write city=paris), and labels that are not one number.
Features
    The indices of Vowpal Wabbit with `-b bits`. A namespace has a base: 0 for the one without a name, n for a whole
    number n, else the MurmurHash3 of its name. A feature in it is base + n for a whole number n, base + k for the k-th
    without a name (k from 0), else the MurmurHash3 of its name with the base for a seed; all modulo 2^bits. So numbers
    in the namespace without a name stay as they are below 2^bits, and never collide within a namespace. Entries of one
    index in a row are added up.
Weights
    The theorems count every round once, from a score of the learner's own: an importance other than 1 or a base other
    than 0 is an error, or with `ignore_weights` left out, and noted.
Labels
    As in svmlight.py: two values, the larger +1; `positive` overrides; `many` for 0 .. many-1.
Cost
    One pass; a few chunks of memory (or of the longest line), whatever the size of the file.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, LabelError, Option
from novikoff.data.formats.chunk_parser import Advance, Arrays, LineParser
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, LabelledLines, Parsed, Parser, number
from novikoff.data.formats.lines import BadLineError, Row, finite
from novikoff.data.hashing import hashed


class VW(LabelledLines):
    """The rows of Vowpal Wabbit text, from a path, standard input ("-") or a binary file object.

    positive         the label value that is +1, against all others
    bits             an index is a number below 2^bits
    ignore_weights   leave out importance weights and bases, instead of refusing them
    many             how many labels there are, for a learner with many: whole numbers from 0 to many-1
    skip_bad         how many bad lines to skip (`skipped` lists them: line, message) before it is an error
    threads          how many parse at a time; None: as many as there are cores
    chunk            bytes parsed at a time; a line may be longer
    outcomes         "labels", or "numbers" to be predicted
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
    """All lines by one kernel, into arrays that are then copied: how many entries there will be is not known."""

    def __init__(
        self, kernel: Any, bits: int, ignore_weights: bool, skip_bad: int, free: deque[bytearray],
        little: Callable[[int], bool],
    ) -> None:  # fmt: skip
        super().__init__(kernel, partial(_arrays, kernel), skip_bad, free, little, 2**bits)
        self._bits, self._ignore_weights = bits, ignore_weights

    def parse(self, text: bytearray, size: int, added: int) -> Parsed:
        parsed = super().parse(text, size, added)
        return replace(parsed, labels=parsed.labels.copy(), row_lines=parsed.row_lines.copy(), x=parsed.x.copy())

    def _begin(self, text: bytearray, data: NDArray[np.uint8], size: int, little: bool) -> tuple[Arrays, Advance]:
        *rows, table = self._own(size)
        mask = np.uint64(2**self._bits - 1)

        def advance(state: NDArray[np.uint64]) -> None:
            table.fill(0)
            self._kernel.parse(data, np.uint64(size), mask, self._ignore_weights, state, *rows, table)

        return tuple(rows), advance

    def _line(self, line: bytes) -> Row | None:
        return read_line(line, self._bits, self._ignore_weights)


def _arrays(kernel: Any, size: int) -> Arrays:
    """Those of the rows of so many bytes, and a table for repeats."""
    rows, entries = size // 4 + 1, size // 2 + 1
    return (
        np.empty(rows), np.empty(rows, dtype=np.uint32), np.empty(rows + 1, dtype=np.uint64),
        np.empty(entries, dtype=np.uint32), np.empty(entries), np.empty(kernel.SLOTS, dtype=np.uint32),
    )  # fmt: skip


CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f]")
WORD = re.compile(rb"[^ \t]+")
CORRECT = "Correct the line"
NEUTRAL = ("an importance weight must be 1, as the theorems count every round once",
           "a base must be 0, as the theorems know no score but the learner's")  # fmt: skip


def read_line(line: bytes, bits: int, ignore_weights: bool = False) -> Row | None:
    """The row that a line without its new line holds; None if it is blank. Raises `BadLineError`.

    Slow, exact, and able to say what is wrong. Its number more: was an importance or a base left out?
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
            "a line must have a bar before its features", 1, line, "Is it Vowpal Wabbit text? Correct it"
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
                    raise BadLineError("a namespace must have a name", column, text, "Put a blank behind the bar")
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
    """What is before the first bar: the label, and whether an importance or a base was left out."""
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
