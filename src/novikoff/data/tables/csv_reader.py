"""Reader of delimited text (CSV, TSV): rows of cells between commas, tabs or semicolons.

Format
    Delimiter and header are detected from the first rows, or given. Cells may be quoted, with delimiters, doubled
    quotes and new lines inside; UTF-8; blank lines are skipped. .gz, .bz2, .xz and .zst are decompressed on the fly.
Header
    The first row is a header if a column of numbers, dates or booleans starts with a name; if all columns are words, a
    header needs distinct cells that do not repeat below. A first row with both names and numbers above numbers is
    ambiguous: then `header` must be given.
Cost
    One pass, memory for a few chunks. The text is split at row ends into chunks, which threads parse: plain ones by
    compiled loops (`PlainCells`), others by pyarrow; neither the chunks nor the threads change a cell. A chunk with an
    error is read again by Python, to find the line.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import HEADER, Advice, Option, SourceError, Where, quoted
from novikoff.core.executors import cores
from novikoff.core.types import Position, counts_at
from novikoff.data.formats.buffer_pool import ThreadArrays
from novikoff.data.formats.labelled_lines import BYTE_ORDER_MARK, PADDING, in_order
from novikoff.data.formats.lines import Little
from novikoff.data.formats.pandas_index import unnamed_first, unnamed_note
from novikoff.data.layout import LABEL_NAMES, NOT_UTF8, NUMBER, bytes_of, find_delimiter, rows_of, runs
from novikoff.data.tables.cells import LABELS_INSTEAD, WEIGHTS_INSTEAD, bad_cell, category_instead
from novikoff.data.tables.column import (
    INFINITE,
    MISSING,
    NO_NUMBER,
    WHOLE,
    Column,
    Kind,
    is_missing,
    names_apart,
    recognise,
)
from novikoff.data.tables.table_reader import RECOGNISED_ROWS, SKIP, Piece, TextReader
from novikoff.numerics.records import astuple

if TYPE_CHECKING:
    import pyarrow as pa

CSV_CHUNK_BYTES = 2**21
"""Default size of a chunk in bytes."""
SPELLED, SPELLED_IN_NUMBERS = (
    sorted({how(word) for word in words for how in (str.lower, str.upper, str.title, str)} | {"NaN", "N/a"})
    for words in (MISSING, NO_NUMBER)
)
"""Spellings of missing values for pyarrow, which compares case: in any column, and in columns of numbers."""
SPLIT = re.compile(rb'"[\x80-\xbf]')
"""Pattern of a continuation byte after a quote, which is not UTF-8."""
SEPARATOR = re.compile(rb'"?sep=([^\r\n"])"?\r?\n', re.IGNORECASE)
"""Pattern of the first line of some spreadsheets, which names the delimiter."""
HEX = re.compile(rb'0"?[xX]')
"""Pattern of the start of a hexadecimal number; there may be a quote between the two characters."""


OTHER_ENCODING = Advice("Pass ", Option("encoding", "cp1252"), ", or convert the file.")
"""Advice for text that is not UTF-8."""
Chunk = tuple[bytearray, int, int, Any]
"""Text, its size, its number of bytes in the source, and its rows and arrays or the error."""


class Delimited(TextReader):
    """Reader of a table in delimited text.

    Args:
        source: Path, "-" for standard input, or binary file object.
        header: Whether the first row is a header; None detects it.
        delimiter: Cell separator; None detects it.
        asked: Requested columns, which help to detect a header.
        skip_bad: Number of bad rows to skip before an error.
        threads: Number of parsing threads; None for one per core.
        chunk: Bytes parsed at a time.
        encoding: Encoding of the text; None detects it.
    """

    def __init__(
        self, source: object, header: bool | None = None, delimiter: str | None = None, asked: Sequence[object] = (),
        skip_bad: int = 0, threads: int | None = None, chunk: int = CSV_CHUNK_BYTES, encoding: str | None = None,
    ) -> None:  # fmt: skip
        self._header, self._delimiter, self._asked = header, delimiter, asked
        self.most_bad = skip_bad
        self._skip_bad, self._threads, self._chunk = skip_bad, cores() if threads is None else threads, chunk
        super().__init__(source, encoding)

    def _look(self, text: bytes) -> None:
        """Detect delimiter, header and columns."""
        if b"\0" in text:
            raise SourceError(f"text must be without zero bytes: {self.name} has some. Check the format.")
        whole = text.count(b"\n") < 2 or (not self._opened.live and len(self._opened.peek(len(text) + 1)) == len(text))
        self._check_rows(text)
        above = self._preamble(text)
        skipped = bytes_of(text, above)
        text = text[skipped:]
        self._between = find_delimiter(text, self._delimiter)
        found = islice(rows_of(text, self._between, self.name, whole), RECOGNISED_ROWS + 1)
        rows = [(above + line, above + last, cells) for line, last, cells in found]
        if not rows:
            raise SourceError(
                f"a source must not be empty: {self.name} has no rows. Check the file, or the program that wrote it."
            )
        line, last, first = rows[0]
        for c, cell in enumerate(first):
            if NOT_UTF8.search(cell):
                raise SourceError(
                    f"text must be UTF-8: line {line}, column {c} (from 0) of {self.name} is not. Convert it."
                )
        self.named = has_header(rows, self._asked, self.name) if self._header is None else self._header
        if self.named and len(rows) == 1:
            was = f"{self.name} has a header on line {line} and no rows"
            raise SourceError("a source must not be empty", was, "Check the program that wrote it.")
        self.names = names_apart(cell.strip() if self.named else "" for cell in first)
        self.spare = [name for name, cell in zip(self.names, first, strict=True) if not cell.strip()]
        self.index = unnamed_first([cell.strip() for cell in first]) if self.named else 0
        if self.index:
            self.notes.append(unnamed_note(self.index, self.name))
        self._begin = (last, skipped + bytes_of(text, last - above)) if self.named else (above, skipped)
        self._head = rows[1 if self.named else 0 :][:RECOGNISED_ROWS]

    def _check_rows(self, text: bytes) -> None:
        """Raise SourceError for an HTML or XML page."""
        start = text.removeprefix(BYTE_ORDER_MARK).lstrip()
        if start[:15].lower().startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
            do = "Save the file itself, not the page that shows it."
            raise SourceError("a table must consist of rows and columns", f"{self.name} is an HTML or XML page", do)

    def _preamble(self, text: bytes) -> int:
        """Return the number of lines above the table: comments (#), and `sep=;`, which sets the delimiter."""
        lines = text.removeprefix(BYTE_ORDER_MARK).splitlines(keepends=True)
        if (separator := SEPARATOR.match(lines[0]) if lines else None) is not None:
            self._delimiter = self._delimiter or separator[1].decode()
            return 1
        below = next((k for k, line in enumerate(lines) if not line.startswith(b"#") and line.strip()), len(lines))
        if below == len(lines) or not any(line.startswith(b"#") for line in lines[:below]):
            return 0
        delimiter = find_delimiter(b"".join(lines[below:]), self._delimiter).encode()
        cells = lines[below].count(delimiter)
        while below and lines[below - 1].count(delimiter) == cells:  # a header that begins with #
            below -= 1
        if below:
            self.notes.append(f"comments above the table are skipped: {below} of the first lines of {self.name}")
        return below

    def head(self) -> Mapping[str, list[Any]]:
        cells = [row for _, _, row in self._head if len(row) == len(self.names)]
        return {name: [row[c] for row in cells] for c, name in enumerate(self.names)}

    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        line, byte = self._begin if self.first <= self._begin[1] else (0, self.first)
        here = counts_at(start) if start else {"row": 0, "line": line, "byte": byte, "bad": 0}
        whole = {
            name
            for name, cells in self.head().items()
            if all(is_missing(c, NO_NUMBER) or WHOLE.fullmatch(c.strip()) for c in cells)
        }
        plain = PlainCells(self.names, self._between, wanted, whole)

        def parse(text: bytearray, size: int, added: int) -> Chunk:
            import pyarrow as pa

            found: Any
            try:
                found = plain.arrays(text, size) or self._parse(bytes(memoryview(text)[:size]), wanted, whole)
            except pa.ArrowException as reason:
                found = reason
            return text, size, size - added, found

        if self.last is not None and here["byte"] >= self.last:
            return
        free: deque[bytearray] = deque()
        with self._from(here["byte"]) as opened:
            for chunk in in_order(opened, self._chunk, False, free, parse, self._threads, "csv", self._rows_end):
                yield self._piece(chunk, here, wanted)

    def _rows_end(self, text: bytearray, size: int) -> int:
        """Return the end of the last row in the first `size` bytes."""
        from novikoff.data._loops.quotes import last_row_end

        if text.find(b'"', 0, size) < 0:
            return size
        if self.cut:
            raise SourceError(
                f"only a table without quotes can be split: {self.name} has some, so a row may span several lines. "
                "Convert it first: novikoff convert."
            )
        mark = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
        end = int(last_row_end(np.frombuffer(text, np.uint8, size)[mark:], ord(self._between)))
        return end + mark if end else 0

    def _parse(
        self, text: bytes, wanted: Mapping[str, Kind], whole: set[str], mended: bool = False
    ) -> tuple[int, dict[str, Any]]:
        """Return the number of rows of a chunk and the array of each column, parsed by pyarrow; thread-safe.

        Args:
            text: Whole rows.
            wanted: Kind of each wanted column.
            whole: Columns of integers.
            mended: Whether the rows were already checked one by one.
        """
        import pyarrow as pa
        from pyarrow import compute
        from pyarrow import csv as arrow

        numbers = [name for name, kind in wanted.items() if kind == "number"]
        if b"\0" in text:
            raise pa.ArrowInvalid("a zero byte")
        if not mended and not text.isascii() and SPLIT.search(text):
            raise pa.ArrowInvalid("a quote within a character, which would be joined again")
        types: dict[str, Any] = {name: pa.dictionary(pa.int32(), pa.string()) for name in wanted}
        types |= {name: pa.string() for name, kind in wanted.items() if kind == "text"}
        types |= {name: pa.int64() if name in whole else pa.float64() for name in numbers}
        reading = arrow.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=list(self.names))
        parsing = arrow.ParseOptions(delimiter=self._between, newlines_in_values=b'"' in text)

        def read(names: Sequence[str], nulls: Sequence[str]) -> pa.Table:
            converting = arrow.ConvertOptions(
                column_types=types, include_columns=names, null_values=nulls, strings_can_be_null=True
            )
            return arrow.read_csv(pa.BufferReader(text), reading, parsing, converting)

        try:
            if whole & {*numbers} and HEX.search(text):  # pyarrow would read hexadecimal as an integer
                written = {name: pa.string() for name in whole & {*numbers}}
                as_text = arrow.ConvertOptions(column_types=written, include_columns=list(written))
                for column in arrow.read_csv(pa.BufferReader(text), reading, parsing, as_text).columns:
                    if any(HEX.search(cell.encode()) for cell in column.unique().to_pylist()):
                        raise pa.ArrowInvalid("a hexadecimal number")
            try:
                table = read(list(wanted), SPELLED)
            except pa.ArrowInvalid:  # a dash may mark a missing number
                if not numbers:
                    raise
                others = [name for name in wanted if name not in numbers]
                table = read(numbers, SPELLED_IN_NUMBERS)
                for name, column in zip(others, read(others, SPELLED).columns if others else (), strict=True):
                    table = table.append_column(name, column)
            for column in (table.column(name) for name in numbers if name not in whole):
                if compute.any(compute.is_nan(column)).as_py():  # pyarrow accepts -nan as a number
                    raise pa.ArrowInvalid("not a number")
            return table.num_rows, {name: table.column(name) for name in wanted}
        except pa.ArrowInvalid:
            if not whole & {*numbers}:
                raise
            return self._parse(text, wanted, set(), mended)

    def _piece(self, chunk: Chunk, here: dict[str, int], wanted: Mapping[str, Kind]) -> Piece:
        """Return the rows of a chunk as a piece; advances `here`."""
        import pyarrow as pa

        (text, size, taken, found), line, error = chunk, here["line"], None
        if isinstance(found, pa.ArrowException):
            good, error = self._mended(bytes(memoryview(text)[:size]), line, wanted, here)
            try:
                rows, arrays = self._parse(good, wanted, set(), mended=True) if good else (0, {})
            except pa.ArrowException:
                raise SourceError(
                    f"a table must be readable: {self.name} is not, from line {line + 1} on ({found}). Write it again."
                ) from None
        else:
            rows, arrays = found
        lines = int(np.count_nonzero(np.frombuffer(text, np.uint8, size) == ord("\n")))
        here.update(row=here["row"] + rows, line=line + lines, byte=here["byte"] + taken)

        def where(row: int) -> Where:
            found = next(islice(rows_of(bytes(text[:size]), self._between, self.name), row, None), (0, 0, []))
            return {"line": line + found[0]}

        return Piece(arrays, rows, size, dict(here), where, error)

    def _mended(
        self, text: bytes, line: int, wanted: Mapping[str, Kind], here: dict[str, int]
    ) -> tuple[bytes, SourceError | None]:
        """Return the good rows of a chunk up to one that may not be skipped, and the error of that row."""
        kept = io.StringIO()
        writer = csv.writer(
            kept, delimiter=self._between, lineterminator="\r\n"
        )  # so that cells with \r or \n are quoted
        for first, _, cells in rows_of(text, self._between, self.name):
            fault = self._fault(cells, wanted)
            if fault is None:
                both = zip(self.names, cells, strict=True)
                writer.writerow(
                    ["" if wanted.get(n) == "number" and is_missing(cell, NO_NUMBER) else cell for n, cell in both]
                )
                continue
            fault.where.pop("row", None)
            fault.at(line=line + first, source=self.name)
            if not self.named and line + first == self._head[0][0]:
                fault.advise("If the line is a header, pass ", Option("header", True), ".")
            if here["bad"] >= self._skip_bad:
                return _encoded(kept), fault.advise(*SKIP)
            here["bad"] += 1
            self.skipped.append((line + first, fault.what))
        return _encoded(kept), None

    def _fault(self, cells: list[str], wanted: Mapping[str, Kind]) -> SourceError | None:
        """Return the error of a row; None if it is valid."""
        if len(cells) != len(self.names):
            must = f"every row must have {len(self.names)} cells, as the first has"
            return SourceError(must, f"has {len(cells)}", "Complete or drop the row.")
        for name, cell in zip(self.names, cells, strict=True):
            if name not in wanted:
                continue
            if "\0" in cell:
                return bad_cell(0, name, "text must be without zero bytes", "has some")
            if NOT_UTF8.search(cell):
                return bad_cell(0, name, "text must be UTF-8", "is not", OTHER_ENCODING)
            if wanted[name] == "number" and not is_missing(cell, NO_NUMBER) and not NUMBER.fullmatch(cell.strip(" \t")):
                if INFINITE.fullmatch(cell.strip()):
                    return bad_cell(0, name, "numbers must be finite", f"has {quoted(cell)}")
                do = LABELS_INSTEAD if name == self.label else category_instead(Column(name, "number"))
                must = "a numeric column must contain numbers"
                if name == self.weight:
                    must, do = "weights must be numbers", WEIGHTS_INSTEAD
                return bad_cell(0, name, must, f"has {quoted(cell.strip())}", do)
        return None


def _encoded(text: io.StringIO) -> bytes:
    """Return the original bytes: a column that is not used need not be UTF-8."""
    return text.getvalue().encode("utf-8", "surrogateescape")


def has_header(rows: Sequence[tuple[int, int, list[str]]], asked: Sequence[object], name: str) -> bool:
    """Return whether the first row is a header."""
    line, _, cells = rows[0]
    first = [cell.strip() for cell in cells]
    named = [column for column in asked if isinstance(column, str)]
    if any(not WHOLE.fullmatch(column) or not -len(first) <= int(column) < len(first) for column in named):
        return True  # a column requested by name needs a header
    below = [row for _, _, row in rows[1:] if len(row) == len(first)]
    called = [c for c, cell in enumerate(first) if cell and not is_missing(cell) and not NUMBER.fullmatch(cell)]
    kinds = [recognise("", [row[c] for row in below]).kind for c in range(len(first))]
    typed = [
        c for c in called if kinds[c] in ("number", "boolean", "time") and recognise("", [first[c]]).kind != kinds[c]
    ]
    if typed:
        numbered = [c for c, cell in enumerate(first) if NUMBER.fullmatch(cell) and kinds[c] == "number"]
        if numbered:
            raise SourceError(
                "the first row must be all names or all numbers",
                f"has {quoted(first[typed[0]])} and {quoted(first[numbered[0]])}", HEADER, line=line, source=name,
            )  # fmt: skip
        return True
    if len(rows) == 1:
        return len(called) == len(first) > 1 and len(set(first)) == len(first)
    if not below or len(called) < len([cell for cell in first if cell]) or len(set(first)) < len(first):
        return False
    again = any(first[c] == row[c].strip() for row in below for c in called)
    return not again and (
        any(cell.lower() in LABEL_NAMES for cell in first) or len({row[-1] for row in below}) < len(below)
    )


ARROW = 64
"""Speed of pyarrow relative to the Python reader: 4 MB in about 0.05 s, the time to load the compiled loops."""


class PlainCells:
    """Parser of chunks without quotes by compiled loops.

    Most tables are plain. A chunk that is not, or has an invalid cell among numbers, is left to the general reader. The
    results of both are the same, bit for bit.

    Args:
        names: Names of all columns.
        delimiter: Cell separator.
        wanted: Kind of each wanted column.
        whole: Columns of integers, according to the first rows.
    """

    def __init__(self, names: Sequence[str], delimiter: str, wanted: Mapping[str, Kind], whole: set[str]) -> None:
        self._width, self._delimiter, self._whole = len(names), delimiter, whole
        self._numbers = [c for c, name in enumerate(names) if wanted.get(name) == "number"]
        self._words = [c for c, name in enumerate(names) if name in wanted and c not in self._numbers]
        self._names, self._runs = names, runs(self._numbers)
        self._known = "text" not in wanted.values()
        self._little = Little(ARROW)
        self._places = ThreadArrays(lambda size: [np.empty(size + PADDING, np.uint32) for _ in range(2)])

    def arrays(self, text: bytearray, size: int) -> tuple[int, dict[str, Any]] | None:
        """Return the number of rows and the array of each column; None if the chunk is not plain. Thread-safe.

        Args:
            text: Whole lines, with PADDING more bytes after them.
            size: Number of bytes, the last a new line.
        """
        if self._little(size) or not self._known or not self._is_plain(text, size):
            return None
        from novikoff.data._loops import cells as kernel

        data, width, count = np.frombuffer(text, np.uint8), np.uint64(self._width), len(self._numbers)
        ends, line_ends = self._places(size)
        lines = int(kernel.places(data, np.uint64(size), np.uint64(ord(self._delimiter)), ends, line_ends))
        x, y = np.empty(lines * count + kernel.WIDE), np.empty(kernel.WIDE)
        row_lines, odd = np.empty(lines, np.uint32), np.empty(lines, np.uint32)
        rows, odds = map(int, kernel.parse(
            data, np.uint64(lines), width, self._runs, width, True, ends, line_ends,
            astuple(kernel.Parsed(x, y, row_lines, odd)),
            np.zeros(4, np.uint64),
        ))  # fmt: skip
        if odds or not rows:
            return None
        cells = (ends, line_ends, row_lines)
        columns = np.empty((count, rows))
        kernel.transposed(x[: rows * count].reshape(rows, count), columns)
        found: dict[str, Any] = {}
        for column, values in zip(self._numbers, columns, strict=True):
            gaps = bool(np.isnan(values).any())
            if (name := self._names[column]) in self._whole:
                if not kernel.whole(data, np.uint64(rows), np.uint64(column), *cells):
                    return None
                values = values + 0.0 if gaps else values.astype(np.int64)  # turns -0.0 into 0.0
            found[name] = _array(values)
        for column in self._words:
            known = np.full(2 ** (2 * rows).bit_length(), -1, dtype=np.int32)
            codes, places = np.empty(rows, np.int32), np.empty((rows, 2), np.uint32)
            values_found = int(kernel.coded(data, np.uint64(rows), np.uint64(column), *cells, known, codes, places))
            try:
                words = [text[begin:end].decode() for begin, end in places[:values_found].tolist()]
            except UnicodeDecodeError:
                return None
            found[self._names[column]] = _dictionary(codes, words)
        return rows, found

    def _is_plain(self, text: bytearray, size: int) -> bool:
        """Return whether the text has no quotes, zero bytes, lone carriage returns or byte order mark."""
        if text.startswith(BYTE_ORDER_MARK) or any(text.find(byte, 0, size) >= 0 for byte in (b'"', b"\0")):
            return False
        if text.find(b"\r", 0, size) < 0:
            return True
        data = np.frombuffer(text, np.uint8)
        return bool((data[np.flatnonzero(data[:size] == ord("\r")) + 1] == ord("\n")).all())


def _array(values: NDArray[np.number]) -> pa.Array:
    import pyarrow as pa

    kind = pa.float64() if values.dtype.kind == "f" else pa.int64()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _dictionary(codes: NDArray[np.int32], values: list[str]) -> pa.DictionaryArray:
    import pyarrow as pa

    indices = pa.Array.from_buffers(pa.int32(), len(codes), [None, pa.py_buffer(codes)])
    return pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string()))
