"""Chunks of labelled lines as arrays: by a kernel, and line by line by Python where the kernel stops.

A kernel takes what it is sure of; Python reads the line that it leaves, exactly, or says what is wrong with it, and the
kernel goes on behind it. Of a little text Python reads all: to compile a kernel takes seconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.types import Sparse
from novikoff.data.formats.buffer_pool import OwnArrays
from novikoff.data.formats.labelled_lines import Parsed
from novikoff.data.formats.lines import BadLineError, Row

Arrays = tuple[NDArray[Any], ...]
"""Labels, lines, indptr, indices and values, with room for all rows of a chunk."""

Advance = Callable[[NDArray[np.uint64]], object]
"""Parses on from `state`: byte, rows, entries, lines, and one number more; up to a line that it leaves."""


class LineParser(ABC):
    """Parses chunks, in any thread; each thread has its own arrays, used again and again.

    arrays   makes those for a chunk of so many bytes
    free     where texts go that are no longer needed
    little   says of a chunk's size whether Python reads all of it
    width    of the rows; None: one more than the largest index
    """

    def __init__(
        self, kernel: Any, arrays: Callable[[int], Arrays], skip_bad: int, free: deque[bytearray],
        little: Callable[[int], bool], width: int | None = None,
    ) -> None:  # fmt: skip
        self._kernel, self._skip_bad, self._width = kernel, skip_bad, width
        self._free, self._little = free, little
        self._own = OwnArrays(arrays)

    @abstractmethod
    def _begin(self, text: bytearray, data: NDArray[np.uint8], size: int, little: bool) -> tuple[Arrays, Advance]:
        """Room for the rows of a chunk, and who parses it; a little one is not parsed by it."""

    @abstractmethod
    def _line(self, line: bytes) -> Row | None:
        """The row that a line holds; None if there is none. Raises `BadLineError`."""

    def parse(self, text: bytearray, size: int, added: int) -> Parsed:
        """The first `size` bytes, of which the last `added` are not in the source."""
        little, data = self._little(size), np.frombuffer(text, dtype=np.uint8)
        (labels, lines, indptr, indices, values), advance = self._begin(text, data, size, little)
        state = np.zeros(5, dtype=np.uint64)
        indptr[0] = 0
        bad: list[tuple[int, BadLineError]] = []
        while True:
            if not little:
                advance(state)
            at, rows, entries, line, more = state.tolist()
            if at >= size:
                break
            stop = text.index(b"\n", at)
            try:
                row = self._line(bytes(memoryview(text)[at:stop]))
            except BadLineError as error:
                row = None
                bad.append((line, error))
                if len(bad) > self._skip_bad:
                    break
            if row is not None:
                labels[rows], own, one_more = row
                lines[rows] = line
                indices[entries : entries + len(own)] = list(own)
                values[entries : entries + len(own)] = list(own.values())
                entries += len(own)
                rows += 1
                indptr[rows] = entries
                more = max(more, one_more) if self._width is None else more + one_more
            state[:] = stop + 1, rows, entries, line + 1, more
        width, ignored = (more, 0) if self._width is None else (self._width, more)
        x = Sparse(indptr[: rows + 1], indices[:entries], values[:entries], width, checked=True)
        parsed = Parsed(labels[:rows], lines[:rows], x, line, size - added, bad, ignored)
        del data, advance
        self._free.append(text)
        return parsed
