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

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.formats.chunk_parser import Advance, Arrays, LineParser
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, LabelledLines, Parsed, Parser, number
from novikoff.data.formats.svmlight_line import Row
from novikoff.data.formats.vw_line import read_line


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
        source: Any,
        positive: Any = None,
        bits: int = 18,
        ignore_weights: bool = False,
        many: int | None = None,
        skip_bad: int = 0,
        threads: int | None = None,
        chunk: int = CHUNK_BYTES,
        outcomes: str = "labels",
    ) -> None:
        super().__init__(source, number(positive, "Vowpal Wabbit text"), many, bits, skip_bad, threads, chunk, outcomes)
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
