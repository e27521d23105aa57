"""Chunks of a table in text without quotes, read by kernels: numbers, and words as codes of their values.

Most tables are plain. A chunk that is not, or has a cell that is no number where numbers are, is left to the reader,
which knows what to do with every cell. What is read here is what it would read, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from novikoff.data.formats.buffer_pool import OwnArrays
from novikoff.data.formats.labelled_lines import BYTE_ORDER_MARK, PADDING
from novikoff.data.formats.line_chunks import Little
from novikoff.data.layout import runs
from novikoff.data.tables.column import Kind, is_missing

ARROW = 64
"""How much quicker than Python pyarrow reads: 4 MB in a twentieth of a second, about as long as it takes here."""


class PlainCells:
    """The cells of columns that are wanted, of these kinds.

    whole    the columns of whole numbers, as they are in the first rows
    needed   the column in which no cell may be missing
    """

    def __init__(
        self, names: Sequence[str], delimiter: str, wanted: Mapping[str, Kind], whole: set[str], needed: str | None
    ) -> None:
        self._width, self._delimiter, self._needed, self._whole = len(names), delimiter, needed, whole
        self._numbers = [c for c, name in enumerate(names) if wanted.get(name) == "number"]
        self._words = [c for c, name in enumerate(names) if name in wanted and c not in self._numbers]
        self._names, self._runs = names, runs(self._numbers)
        self._known = "text" not in wanted.values()
        self._little = Little(ARROW)
        self._places = OwnArrays(lambda size: [np.empty(size + PADDING, np.uint32) for _ in range(2)])

    def arrays(self, text: bytearray, size: int) -> tuple[int, dict[str, Any]] | None:
        """How many rows there are, and the array of each column; None if the chunk is not plain. For any thread.

        text   of `size` bytes, the last a new line, with PADDING more behind them
        """
        if self._little(size) or not self._known or not self._is_plain(text, size):
            return None
        from novikoff.data._loops import cells as kernel

        data, width, own = np.frombuffer(text, np.uint8), np.uint64(self._width), len(self._numbers)
        ends, line_ends = self._places(size)
        lines = int(kernel.places(data, np.uint64(size), np.uint64(ord(self._delimiter)), ends, line_ends))
        x, y = np.empty(lines * own + kernel.WIDE), np.empty(kernel.WIDE)
        row_lines, odd = np.empty(lines, np.uint32), np.empty(lines, np.uint32)
        rows, odds = map(int, kernel.parse(
            data, np.uint64(lines), width, self._runs, width, True, ends, line_ends, x, y, row_lines, odd,
            np.zeros(4, np.uint64),
        ))  # fmt: skip
        if odds or not rows:
            return None
        cells = (ends, line_ends, row_lines)
        columns = np.empty((own, rows))
        kernel.transposed(x[: rows * own].reshape(rows, own), columns)
        found: dict[str, Any] = {}
        for column, values in zip(self._numbers, columns, strict=True):
            gaps = bool(np.isnan(values).any())
            if gaps and self._names[column] == self._needed:
                return None
            if (name := self._names[column]) in self._whole:
                if not kernel.whole(data, np.uint64(rows), np.uint64(column), *cells):
                    return None
                values = values + 0.0 if gaps else values.astype(np.int64)  # no -0
            found[name] = _array(values)
        for column in self._words:
            known = np.full(2 ** (2 * rows).bit_length(), -1, dtype=np.int32)
            codes, places = np.empty(rows, np.int32), np.empty((rows, 2), np.uint32)
            count = int(kernel.coded(data, np.uint64(rows), np.uint64(column), *cells, known, codes, places))
            try:
                words = [text[begin:end].decode() for begin, end in places[:count].tolist()]
            except UnicodeDecodeError:
                return None
            if self._names[column] == self._needed and any(map(is_missing, words)):
                return None
            found[self._names[column]] = _dictionary(codes, words)
        return rows, found

    def _is_plain(self, text: bytearray, size: int) -> bool:
        """Has it no quotes, zero bytes, new lines of other kinds, and no mark before the first byte?"""
        if text.startswith(BYTE_ORDER_MARK) or any(text.find(byte, 0, size) >= 0 for byte in (b'"', b"\0")):
            return False
        if text.find(b"\r", 0, size) < 0:
            return True
        data = np.frombuffer(text, np.uint8)
        return bool((data[np.flatnonzero(data[:size] == ord("\r")) + 1] == ord("\n")).all())


def _array(values: Any) -> Any:
    import pyarrow as pa

    kind = pa.float64() if values.dtype.kind == "f" else pa.int64()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _dictionary(codes: Any, values: list[str]) -> Any:
    import pyarrow as pa

    indices = pa.Array.from_buffers(pa.int32(), len(codes), [None, pa.py_buffer(codes)])
    return pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string()))
