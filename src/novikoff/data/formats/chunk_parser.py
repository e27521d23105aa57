"""Parsing of chunks of labelled lines to arrays: by a compiled loop, and by Python for lines the loop rejects.

The compiled loop stops at a line it cannot read; Python reads that line exactly or reports the error, and the loop
continues after it. Small texts are read by Python alone, because loading a compiled loop takes longer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.types import Sparse
from novikoff.data.formats.buffer_pool import ThreadArrays
from novikoff.data.formats.labelled_lines import Parsed
from novikoff.data.formats.lines import BadLineError, Row

Arrays = tuple[NDArray[Any], ...]
"""Labels, line numbers, indptr, indices and values, with room for all rows of a chunk."""

Advance = Callable[[NDArray[np.uint64]], object]
"""Function that parses from `state` (byte, rows, entries, lines, one more number) up to a line it rejects."""


class LineParser(ABC):
    """Parser of chunks that any thread may call; each thread reuses its own arrays.

    Args:
        kernel: Module of the compiled loop.
        arrays: Function from the size of a chunk in bytes to its arrays.
        skip_bad: Number of bad lines to skip before an error.
        free: Buffers for reuse; a text is appended when it has been parsed.
        little: Function that returns whether Python alone should read a chunk of this size.
        width: Width of the rows; None for the largest index + 1.
    """

    def __init__(
        self, kernel: ModuleType, arrays: Callable[[int], Arrays], skip_bad: int, free: deque[bytearray],
        little: Callable[[int], bool], width: int | None = None,
    ) -> None:  # fmt: skip
        self._kernel, self._skip_bad, self._width = kernel, skip_bad, width
        self._free, self._little = free, little
        self._arrays = ThreadArrays(arrays)

    @abstractmethod
    def _begin(self, text: bytearray, data: NDArray[np.uint8], size: int, little: bool) -> tuple[Arrays, Advance]:
        """Return the arrays for the rows of a chunk, and the function that parses it (unused if `little`)."""

    @abstractmethod
    def _line(self, line: bytes) -> Row | None:
        """Return the row of a line; None if it has none. Raises `BadLineError`."""

    def parse(self, text: bytearray, size: int, added: int) -> Parsed:
        """Parse the first `size` bytes, the last `added` of which are not in the source."""
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
                labels[rows], items, one_more = row
                lines[rows] = line
                indices[entries : entries + len(items)] = list(items)
                values[entries : entries + len(items)] = list(items.values())
                entries += len(items)
                rows += 1
                indptr[rows] = entries
                more = max(more, one_more) if self._width is None else more + one_more
            state[:] = stop + 1, rows, entries, line + 1, more
        # `more` is the largest index + 1 if features are numbered, else the number of rows with an ignored weight.
        width, ignored = (more, 0) if self._width is None else (self._width, more)
        x = Sparse(indptr[: rows + 1], indices[:entries], values[:entries], width, checked=True)
        parsed = Parsed(labels[:rows], lines[:rows], x, line, size - added, bad, ignored)
        del data, advance
        self._free.append(text)
        return parsed
