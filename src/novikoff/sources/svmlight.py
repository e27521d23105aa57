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

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.sources.buffer_pool import BufferPool
from novikoff.sources.labelled_lines import CHUNK_BYTES, LabelledLines, Parsed, Parser, number
from novikoff.sources.svmlight_line import BadLineError, read_line
from novikoff.types import Sparse

FIRST_LINE_BYTES = 4096
"""The plain kernel leaves the first line of a chunk; Python reads it, if it ends before this."""


class Svmlight(LabelledLines):
    """The rows of svmlight text, from a path, standard input ("-") or a binary file object.

    positive   the label value that is +1, against all others
    many       how many labels there are, for a learner with many: whole numbers from 0 to many-1
    skip_bad   how many bad lines to skip (`skipped` lists them: line, message) before it is an error
    threads    how many parse at a time; None: as many as there are cores
    chunk      bytes parsed at a time; a line may be longer
    """

    def __init__(
        self,
        source: Any,
        positive: Any = None,
        many: int | None = None,
        skip_bad: int = 0,
        threads: int | None = None,
        chunk: int = CHUNK_BYTES,
    ) -> None:
        super().__init__(source, number(positive, "svmlight text"), many, None, skip_bad, threads, chunk)

    def _parser(self, free: deque[bytearray]) -> Parser:
        from novikoff.kernels import svmlight as kernel

        return ChunkParser(kernel, self._skip_bad, free, self._little).parse


class ChunkParser:
    """Parses chunks, in any thread; each thread has its own arrays, used again and again.

    little   says of a chunk's size whether Python reads all of it
    """

    def __init__(self, kernel: Any, skip_bad: int, free: deque[bytearray], little: Callable[[int], bool]) -> None:
        self._kernel = kernel
        self._skip_bad = skip_bad
        self._local = threading.local()
        self._buffers = BufferPool()
        self._free, self._little = free, little

    def parse(self, text: bytearray, size: int, added: int) -> Parsed:
        """The first `size` bytes, of which the last `added` are not in the source."""
        kernel, little = self._kernel, self._little(size)
        colons, blanks, line_colons, line_blanks, table, wrong = self._arrays(size)
        data = np.frombuffer(text, dtype=np.uint8)
        if little:
            count, room = text.count(b"\n", 0, size), text.count(b":", 0, size)
        else:
            count, room = map(int, kernel.places(data, np.uint64(size), colons, blanks, line_colons, line_blanks))
        room += kernel.WIDE
        values, labels, indptr, indices, lines = self._buffers.arrays(
            (room, np.float64), (count, np.float64), (count + 1, np.uint64), (room, np.uint32), (count, np.uint32)
        )
        state = np.zeros(5, dtype=np.uint64)
        indptr[0] = 0
        bad: list[tuple[int, BadLineError]] = []
        parse, more = kernel.parse, [wrong]
        while True:
            if not little:
                parse(
                    data, np.uint64(size), state, colons, blanks, line_colons, line_blanks, labels, lines, indptr,
                    indices, values, *more,
                )  # fmt: skip
            at, rows, entries, line, width = state.tolist()
            if at >= size:
                break
            stop = text.index(b"\n", at)
            if parse is kernel.parse and not little and (at >= kernel.SAFE or stop > FIRST_LINE_BYTES):
                parse, more = kernel.parse_all, [wrong, table]
                continue
            if not little:
                table.fill(0)  # a row that was not finished may have left something
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
        x = Sparse(indptr[: rows + 1], indices[:entries], values[:entries], width, checked=True)
        parsed = Parsed(labels[:rows], lines[:rows], x, line, size - added, bad)
        del data
        self._free.append(text)
        return parsed

    def _arrays(self, size: int) -> tuple[NDArray[Any], ...]:
        """Room for what is found in `size` bytes, if all were separators; memory that is not touched costs nothing."""
        if getattr(self._local, "size", -1) < size:
            self._local.size = size
            places = [np.empty(size + self._kernel.PADDING, dtype=np.uint32) for _ in range(4)]
            table, wrong = np.empty(self._kernel.SLOTS, dtype=np.uint32), np.zeros(self._kernel.WIDE, dtype=np.uint64)
            self._local.arrays = (*places, table, wrong)
        arrays: tuple[NDArray[Any], ...] = self._local.arrays
        return arrays
