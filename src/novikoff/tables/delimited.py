"""Rows of cells between commas, tabs or semicolons (CSV, TSV), read as they come.

Format
    Delimiter and header are recognised from the first rows, or given. Cells may be quoted, with delimiters, doubled
    quotes and new lines in them; UTF-8; blank lines are skipped. .gz, .bz2, .xz and .zst are unpacked as they are read.
Header
    The first row names the columns if a column that goes on with numbers, dates or booleans begins with a name; where
    all columns are words, if its cells differ and none of them comes again below. One with both names and numbers where
    numbers follow could be either: then `header` must say.
Cost
    One pass, a few chunks of memory. The text is cut behind rows into chunks, which threads parse: plain ones by
    kernels (plain_cells.py), others by pyarrow; neither the chunks nor the threads change a cell. A chunk with a fault
    is read again by Python, which knows the line.
"""

from __future__ import annotations

import csv
import io
import re
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any

import numpy as np

from novikoff.errors import HEADER, Option, SourceError, Where, quoted
from novikoff.sources.labelled_lines import BYTE_ORDER_MARK, PADDING, cores
from novikoff.sources.layout import LABEL_NAMES, NOT_UTF8, check_encoding
from novikoff.sources.opened import Opened, Origin
from novikoff.sources.pandas_index import unnamed_first, unnamed_note
from novikoff.sources.workers import workers
from novikoff.tables.cells import bad_cell, category_instead, missing
from novikoff.tables.column import INFINITE, MISSING, NUMBER, WHOLE, Column, Kind, is_missing, names_apart, recognise
from novikoff.tables.piece import RECOGNISED_ROWS, Piece
from novikoff.tables.plain_cells import PlainCells
from novikoff.types import Position

CSV_CHUNK_BYTES = 2**21
DELIMITERS = ("\t", ";", ",", "|")
HEAD_BYTES, LONGEST_HEAD = 2**18, 2**24
PATIENCE, MOMENT = 1.0, 0.01
LONGEST_ROW = 2**28
SPELLED = sorted({how(word) for word in MISSING for how in (str.lower, str.upper, str.title, str)} | {"NaN", "N/a"})
LINE_END = re.compile(rb"\r\n|\r|\n")
HEX = re.compile(rb'0"?[xX]')  # a quote may end between them
SKIP = ("Or pass ", Option("skip_bad", letter="N"), " to skip up to N bad rows.")


class Delimited:
    """The rows of a table in text, from a path, "-" or a binary file object."""

    levels: Sequence[str] = ()
    rows: int | None = None
    needed: str | None = None

    def __init__(
        self, source: Any, header: bool | None = None, delimiter: str | None = None, asked: Sequence[Any] = (),
        skip_bad: int = 0, threads: int | None = None, chunk: int = CSV_CHUNK_BYTES,
    ) -> None:  # fmt: skip
        origin = Origin(source)
        self._origin, self._opened = origin, origin.open()
        self.name, self.rereadable, self.fixed = origin.name, origin.rereadable, origin.fixed
        self.independent = origin.independent
        self.notes: list[str] = []
        self.skipped: list[tuple[int, str]] = []
        self._skip_bad, self._threads, self._chunk = skip_bad, cores() if threads is None else threads, chunk
        try:
            self._look(header, delimiter, asked)
        except BaseException:
            self._opened.close()
            raise
        if self.rereadable:
            self._opened.close()

    def _look(self, header: bool | None, delimiter: str | None, asked: Sequence[Any]) -> None:
        """Delimiter, header and columns, from the first rows."""
        text = first_bytes(self._opened)
        check_encoding(text, self.name)
        if b"\0" in text:
            raise SourceError(f"text must be without zero bytes: {self.name} has some. Is it of another format?")
        whole = text.count(b"\n") < 2 or (not self._opened.live and len(self._opened.peek(len(text) + 1)) == len(text))
        self._between = _delimiter(text, delimiter, whole)
        rows = list(islice(cells_of(text, self._between, self.name, whole), RECOGNISED_ROWS + 1))
        if not rows:
            raise SourceError(f"a source must not be empty: {self.name} has no rows. Check the file, or what wrote it.")
        line, last, first = rows[0]
        for c, cell in enumerate(first):
            if NOT_UTF8.search(cell):
                raise SourceError(
                    f"text must be UTF-8: line {line}, column {c} (from 0) of {self.name} is not. Convert it."
                )
        self.named = _has_header(rows, asked, self.name) if header is None else header
        if self.named and len(rows) == 1:
            was = f"{self.name} has a header on line {line} and no rows"
            raise SourceError("a source must not be empty", was, "Check what wrote it.")
        self.names: Sequence[str] = names_apart(cell.strip() if self.named else "" for cell in first)
        self.index = unnamed_first([cell.strip() for cell in first]) if self.named else 0
        if self.index:
            self.notes.append(unnamed_note(self.index, self.name))
        self._begin = (last, _bytes_of(text, last)) if self.named else (0, 0)
        self._head = rows[1 if self.named else 0 :][:RECOGNISED_ROWS]

    def fingerprint(self) -> dict[str, Any]:
        return self._origin.fingerprint()

    def ready(self, wait: float) -> bool:
        return self._opened.closed or self._opened.ready(wait)

    def head(self) -> Mapping[str, list[Any]]:
        cells = [row for _, _, row in self._head if len(row) == len(self.names)]
        return {name: [row[c] for row in cells] for c, name in enumerate(self.names)}

    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        here = dict(start or {"row": 0, "line": self._begin[0], "byte": self._begin[1], "bad": 0})
        self.skipped.clear()
        self._opened = again(self._origin, self._opened, here["byte"])
        whole = {
            name
            for name, cells in self.head().items()
            if all(is_missing(c) or WHOLE.fullmatch(c.strip()) for c in cells)
        }
        plain = PlainCells(self.names, self._between, wanted, whole, self.needed)
        waiting: deque[tuple[bytearray, int, Future[Any]]] = deque()
        with self._opened, workers(self._threads, "csv") as threads:

            def parsed() -> Piece:
                text, size, future = waiting.popleft()
                return self._piece(text, size, future, here, wanted)

            def cells(text: bytearray, size: int) -> tuple[int, dict[str, Any]]:
                return plain.arrays(text, size) or self._parse(bytes(memoryview(text)[:size]), wanted, whole)

            try:
                for text, size in self._chunks(self._opened):
                    waiting.append((text, size, threads.submit(cells, text, size)))
                    while len(waiting) > self._threads + 1 or (waiting and not self._opened.ready()):
                        yield parsed()
                while waiting:
                    yield parsed()
            finally:
                for *_, future in waiting:
                    future.cancel()

    def _chunks(self, opened: Opened) -> Iterator[tuple[bytearray, int]]:
        """The text, cut behind rows, and its size; the last row has its new line, and PADDING bytes are behind."""
        from novikoff.kernels.quotes import last_row_end

        rest, size, over = b"", self._chunk, False
        while not over:
            text, length = bytearray(size + 1 + PADDING), len(rest)
            text[:length] = rest
            while length < size:
                got = opened.readinto(memoryview(text)[length:size])
                length += got
                over = got == 0
                if over or (opened.live and text.find(b"\n", length - got, length) >= 0 and not opened.ready(0.1)):
                    break
            if over and length and text[length - 1] != ord("\n"):
                text[length] = ord("\n")
                length += 1
            cut = text.rfind(b"\n", 0, length) + 1
            if text.find(b'"', 0, length) >= 0:
                mark = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
                cut = int(last_row_end(np.frombuffer(text, np.uint8, length)[mark:], ord(self._between)))
                cut += mark if cut else 0
            if over and cut < length:
                raise SourceError(f"a row must be readable: the last of {self.name} is not. Is a quote left open?")
            if cut == 0 and not over:
                size *= 2
                if size > LONGEST_ROW:
                    raise SourceError(
                        f"a row must be shorter than {LONGEST_ROW:,} bytes: {self.name} has a longer one."
                    )
                rest = bytes(memoryview(text)[:length])
                continue
            rest, size = bytes(memoryview(text)[cut:length]), self._chunk
            if cut:
                yield text, cut

    def _parse(self, text: bytes, wanted: Mapping[str, Kind], whole: set[str]) -> tuple[int, dict[str, Any]]:
        """How many rows the chunk has, and the array of each column: by pyarrow, called in any thread."""
        import pyarrow as pa
        from pyarrow import compute
        from pyarrow import csv as arrow

        numbers = [name for name, kind in wanted.items() if kind == "number"]
        if b"\0" in text:
            raise pa.ArrowInvalid("a zero byte")
        types: dict[str, Any] = {name: pa.dictionary(pa.int32(), pa.string()) for name in wanted}
        types |= {name: pa.string() for name, kind in wanted.items() if kind == "text"}
        types |= {name: pa.int64() if name in whole else pa.float64() for name in numbers}
        reading = arrow.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=list(self.names))
        parsing = arrow.ParseOptions(delimiter=self._between, newlines_in_values=b'"' in text)
        converting = arrow.ConvertOptions(
            column_types=types, include_columns=list(wanted), null_values=SPELLED, strings_can_be_null=True
        )
        try:
            if whole & {*numbers} and HEX.search(text):  # which pyarrow would read as a whole number
                written = {name: pa.string() for name in whole & {*numbers}}
                as_text = arrow.ConvertOptions(column_types=written, include_columns=list(written))
                for column in arrow.read_csv(pa.BufferReader(text), reading, parsing, as_text).columns:
                    if any(HEX.search(cell.encode()) for cell in column.unique().to_pylist()):
                        raise pa.ArrowInvalid("a hexadecimal number")
            table = arrow.read_csv(pa.BufferReader(text), reading, parsing, converting)
            for column in (table.column(name) for name in numbers if name not in whole):
                if compute.any(compute.is_nan(column)).as_py():  # -nan, which pyarrow takes for a number
                    raise pa.ArrowInvalid("not a number")
            if self.needed in wanted and any(map(is_missing, table.column(self.needed).unique().to_pylist())):
                raise pa.ArrowInvalid("a label is missing")
            return table.num_rows, {name: table.column(name) for name in wanted}
        except pa.ArrowInvalid:
            if not whole & {*numbers}:
                raise
            return self._parse(text, wanted, set())

    def _piece(
        self, text: bytearray, size: int, future: Future[Any], here: Position, wanted: Mapping[str, Kind]
    ) -> Piece:
        """The rows of a chunk; moves `here` on."""
        import pyarrow as pa

        line, error = here["line"], None
        try:
            rows, arrays = future.result()
        except pa.ArrowException as reason:
            good, error = self._mended(bytes(memoryview(text)[:size]), line, wanted, here)
            try:
                rows, arrays = self._parse(good, wanted, set()) if good else (0, {})
            except pa.ArrowException:
                raise SourceError(
                    f"a table must be readable: {self.name} is not, from line {line + 1} on ({reason}). Write it anew."
                ) from None
        lines = int(np.count_nonzero(np.frombuffer(text, np.uint8, size) == ord("\n")))
        here.update(row=here["row"] + rows, line=line + lines, byte=here["byte"] + size)

        def where(row: int) -> Where:
            found = next(islice(cells_of(bytes(text[:size]), self._between, self.name), row, None), (0, 0, []))
            return {"line": line + found[0]}

        return Piece(arrays, rows, size, dict(here), where, error)

    def _mended(
        self, text: bytes, line: int, wanted: Mapping[str, Kind], here: Position
    ) -> tuple[bytes, SourceError | None]:
        """The rows of a chunk that are good, up to one that may not be skipped; and what is wrong with that."""
        kept = io.StringIO()
        writer = csv.writer(kept, delimiter=self._between, lineterminator="\r\n")  # so cells with either are quoted
        for first, _, cells in cells_of(text, self._between, self.name):
            fault = self._fault(cells, wanted)
            if fault is None:
                both = zip(self.names, cells, strict=True)
                writer.writerow(["" if wanted.get(n) == "number" and is_missing(cell) else cell for n, cell in both])
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
        """What is wrong with a row; None if nothing is."""
        if len(cells) != len(self.names):
            must = f"every row must have {len(self.names)} cells, as the first has"
            return SourceError(must, f"has {len(cells)}", "Complete or drop the row.")
        for name, cell in zip(self.names, cells, strict=True):
            if name not in wanted:
                continue
            if name == self.needed and is_missing(cell):
                return missing(0, name)
            if "\0" in cell:
                return bad_cell(0, name, "text must be without zero bytes", "has some")
            if NOT_UTF8.search(cell):
                return bad_cell(0, name, "text must be UTF-8", "is not", "Convert the file first.")
            if wanted[name] == "number" and not is_missing(cell) and not NUMBER.fullmatch(cell.strip(" \t")):
                if INFINITE.fullmatch(cell.strip()):
                    return bad_cell(0, name, "numbers must be finite", f"has {quoted(cell)}")
                do = category_instead(Column(name, "number"))
                return bad_cell(0, name, "numbers must be numbers", f"has {quoted(cell.strip())}", do)
        return None


def _encoded(text: io.StringIO) -> bytes:
    """Bytes as they came: a column that is left out need not be UTF-8."""
    return text.getvalue().encode("utf-8", "surrogateescape")


def again(origin: Origin, opened: Opened, byte: int) -> Opened:
    """The bytes from there on: of what comes once, those that were opened, if none is taken yet."""
    if origin.rereadable or opened.closed:
        return origin.open(byte)
    opened.skip(byte)
    return opened


def first_bytes(opened: Opened) -> bytes:
    """The first rows of a text, without taking them: a thousand, or of a slow pipe those that came, two at least."""
    wanted, silent = HEAD_BYTES, 0.0
    text = opened.peek(wanted)
    while text.count(b"\n") <= RECOGNISED_ROWS and wanted < LONGEST_HEAD:
        if len(text) >= wanted:
            wanted *= 2
        elif opened.live and opened.tells and text.count(b"\n") >= 2:
            if silent >= PATIENCE:
                break
            time.sleep(MOMENT)
            silent += MOMENT
        seen, text = text, opened.peek(wanted, wait=not (opened.tells and text.count(b"\n") >= 2))
        if len(text) > len(seen):
            silent = 0.0
        elif not opened.live or opened.ready():
            break  # it is over
    return text


def cells_of(text: bytes, delimiter: str, name: str, whole: bool = True) -> Iterator[tuple[int, int, list[str]]]:
    """The rows of a text, read by Python: the first and the last line of each, from 1, and its cells.

    whole   is the text whole? Else the last row may be cut off, and is left out
    """
    if not whole and not text.endswith(b"\n"):
        cut = text.rfind(b"\n") + 1
        text = text[:cut] if cut else text
    content = io.StringIO(text.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "surrogateescape"), newline="")
    line, reader = 0, csv.reader(content, delimiter=delimiter)
    try:
        for cells in reader:
            if cells:
                yield line + 1, reader.line_num, cells
            line = reader.line_num
    except csv.Error as error:
        if whole:
            raise SourceError(
                f"a row must be readable: after line {line} of {name} it is not ({error}). Is a quote left open?"
            ) from None


def _delimiter(text: bytes, asked: str | None, whole: bool) -> str:
    if asked is not None:
        if len(asked) != 1 or not asked.isascii() or asked in '"\r\n':
            raise SourceError(f"a delimiter must be one character, not a quote or a new line: got {asked!r}.")
        return asked

    def score(delimiter: str) -> tuple[bool, int, int]:
        rows = [cells for _, _, cells in islice(cells_of(text, delimiter, "", whole), 50)]
        width = len(rows[0]) if rows else 0
        alike = sum(len(cells) == width for cells in rows)
        return (
            width > 1 and 2 * alike > len(rows),
            sum(bool(NUMBER.fullmatch(c.strip())) for cells in rows for c in cells),
            width,
        )

    return max(DELIMITERS, key=score)


def _has_header(rows: Sequence[tuple[int, int, list[str]]], asked: Sequence[Any], name: str) -> bool:
    """Does the first row name the columns?"""
    line, _, cells = rows[0]
    first = [cell.strip() for cell in cells]
    named = [column for column in asked if isinstance(column, str)]
    if any(not WHOLE.fullmatch(column) or not -len(first) <= int(column) < len(first) for column in named):
        return True  # only a header can have a column of that name
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


def _bytes_of(text: bytes, lines: int) -> int:
    """How many bytes the first lines take."""
    return next((end.end() for end in islice(LINE_END.finditer(text), lines - 1, None)), len(text))
