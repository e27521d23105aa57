"""A table in a text file as a stream: one label column, the other columns numbers.

Format
    Rows of cells between commas, tabs or semicolons (sniffed), quoted or not, in UTF-8; blank lines are skipped.
    .gz, .bz2, .xz and .zst files are unpacked as they are read. Standard input is copied to a temporary file first.
Header
    Sniffed: a feature column begins with a name and goes on with numbers. A first row that has both names and
    numbers in its feature columns could be either: then `header` must say.
    First columns that are the only ones without a name are an index, as pandas and R write it, and left out.
Features
    int64 if every feature cell of the file is written as a whole number, else float64; finite.
Labels
    Two values, the larger +1, numbers compared as numbers; `positive` overrides; `many` for 0 .. many-1.
Cost
    One or two passes when opened, to check every cell, and one for each `batches()`; memory of a few blocks.
    pyarrow reads; a fault is looked for again with Python's own reader, which knows lines and columns. So are
    zero bytes, and 0x in whole numbers, which pyarrow reads wrongly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import LabelError, SourceError, quoted
from novikoff.sources.arrays import against_others, alike, two_labels
from novikoff.sources.layout import NOT_UTF8, WHOLE, is_number, look, named, rows_of
from novikoff.sources.on_disk import OnDisk
from novikoff.sources.pandas_index import unnamed_first, unnamed_note
from novikoff.stream import Stream
from novikoff.types import Batch, Domain, Labels, Position

BLOCK_BYTES = 2**20
LARGEST_BLOCK = 2**28
PIECE_BYTES = 2**16
MOST_LABELS = 2**31
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
HEX = re.compile(rb'0"?[xX]')  # a quote may end between them


class CSV(Stream):
    """The rows of a comma, tab or semicolon separated file.

    source      a path, "-" for standard input, or a binary file object
    label       the label column: its name, or its number from 0 (from the end if negative). By default a column
                named label, y, class or target, else the last
    positive    the label value that is +1, against all others
    header      does the first row name the columns? None: sniff
    delimiter   what stands between cells. None: sniff
    columns     the feature columns, by name or number, in this order. By default all but the label
    many        how many labels there are, for a learner with many: whole numbers from 0 to many-1
    block       bytes read at a time; a row may be longer
    """

    rereadable = True
    rows: int

    def __init__(
        self,
        source: Any,
        label: str | int | None = None,
        positive: Any = None,
        header: bool | None = None,
        delimiter: str | None = None,
        columns: Sequence[str | int] | None = None,
        many: int | None = None,
        block: int = BLOCK_BYTES,
    ) -> None:
        self._file = source if isinstance(source, OnDisk) else OnDisk(source)
        self.name = self._file.name
        self.notes = self._file.notes()
        self._layout = look(self._file, label, header, delimiter, columns)
        index = unnamed_first(self._layout.names)
        if index and not {*range(index)} & {self._layout.label, *self._layout.used}:
            self.notes.append(unnamed_note(index, self.name))
        self._positive, self._many = positive, many
        self._block = max(4, block)  # pyarrow looks for a byte order mark in the first
        self._dtype: type[np.int64] | type[np.float64] = np.int64
        self._labels, self.rows = self._scan()
        self.labels = self._labels.settle(f"{self._layout.column(self._layout.label)} of {self.name}")
        used, names = self._layout.used, self._layout.names
        self.features = tuple(names[c] or f"x{j}" for j, c in enumerate(used)) if names else None
        self.domain = Domain("point" if self._dtype is np.int64 else "vector", len(used))

    def fingerprint(self) -> dict[str, Any]:
        """Size and time of change of the file; empty for other sources."""
        return self._file.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        dtype = np.int32 if self.labels is None else np.int8
        skipped = start["row"] if start else 0
        done = 0
        try:
            for x, texts, codes in self._blocks():
                labels = np.array([self._labels.code(text) for text in texts], dtype=dtype)
                fresh = max(skipped - done, 0)
                done += len(x)
                if fresh < len(x):
                    yield Batch(x[fresh:], labels[codes][fresh:], done - len(x) + fresh + 1, {"row": done})
        except (_UnreadableError, UnknownLabelError) as error:
            raise self._changed(str(error)) from None
        if done != self.rows:
            raise self._changed(f"{done:,} rows instead of {self.rows:,}")

    def _changed(self, how: str) -> SourceError:
        return SourceError(f"a source must stay as it is: {self.name} has changed ({how}). Open it again.")

    def _scan(self) -> tuple[LabelColumn, int]:
        """Read all of it: what the labels stand for, and how many rows. Finds the type and the block size too."""
        while True:
            labels, rows = LabelColumn(self._positive, self._many), 0
            try:
                for x, texts, _ in self._blocks():
                    rows += len(x)
                    if any(labels.learn(text) for text in texts):
                        raise self._explain("a label is not one")
                fault = self._fault() if self._suspect() else None
                if fault:
                    raise fault
                return labels, rows
            except _UnreadableError as error:
                too_long = str(error).startswith(("straddling", "Could not skip"))  # a row is longer than a block
                if too_long and self._block < LARGEST_BLOCK:
                    self._block *= 2
                elif self._dtype is np.int64:
                    self._dtype = np.float64
                else:
                    raise self._explain(str(error)) from None

    def _blocks(self) -> Iterator[tuple[NDArray[Any], list[str], NDArray[np.int32]]]:
        """Block by block: x, the distinct label cells, and which of them each row has."""
        import pyarrow as pa
        from pyarrow import csv as arrow

        layout = self._layout
        width = len(layout.used)
        names = [str(c) for c in range(layout.width)]
        kind = pa.int64() if self._dtype is np.int64 else pa.float64()
        types = {names[c]: kind for c in layout.used}
        types[names[layout.label]] = pa.dictionary(pa.int32(), pa.string())
        reading = arrow.ReadOptions(block_size=self._block, column_names=names, skip_rows=layout.header_ends)
        parsing = arrow.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
        converting = arrow.ConvertOptions(column_types=types, include_columns=list(types), null_values=[])
        try:
            with (
                self._file.unpacked() as raw,
                arrow.open_csv(raw, reading, parsing, converting) as table,
            ):
                for part in table:
                    if part.num_rows:
                        x = np.empty((part.num_rows, width), dtype=self._dtype)
                        for j in range(width):
                            x[:, j] = part.column(j).to_numpy()
                        if self._dtype is np.float64 and not np.all(np.isfinite(x)):
                            raise _UnreadableError("a number is not finite")
                        cells = part.column(width)
                        yield x, cells.dictionary.to_pylist(), cells.indices.to_numpy()
        except (pa.ArrowException, OSError, SourceError) as error:
            raise _UnreadableError(str(error)) from None

    def _suspect(self) -> bool:
        """Is there something in the text that pyarrow may have read wrongly?

        It takes 0xFF for a whole number (0xFFFFFFFFFFFFFFFF for -1), and behind a zero byte it may miss a quote, a
        delimiter or the end of a line.
        """
        seen = b""
        try:
            with self._file.unpacked() as raw:
                while piece := raw.read(PIECE_BYTES):
                    seen = seen[-2:] + piece
                    hex_matters = self._dtype is np.int64 and (b"x" in seen or b"X" in seen)
                    if b"\0" in seen or (hex_matters and HEX.search(seen)):
                        return True
        except OSError as error:
            raise self._changed(str(error)) from None
        return False

    def _explain(self, otherwise: str) -> SourceError:
        """The first fault of the file in reading order, and where it is."""
        return self._fault() or SourceError(
            f"a table must be readable: {self.name} is not ({otherwise}). Write it anew."
        )

    def _fault(self) -> SourceError | None:
        """The first fault that Python's own reader finds."""
        layout = self._layout
        used = {*layout.used, layout.label}
        labels = LabelColumn(self._positive, self._many)
        for number, (line, _, cells) in enumerate(rows_of(self._file, layout.delimiter)):
            header = number == 0 and bool(layout.names)
            if len(cells) != layout.width:
                must, do = f"every row must have {layout.width} cells, as the first has", "Complete or drop the row."
                return SourceError(must, f"has {len(cells)}", do, line=line, source=self.name)
            for c, cell in enumerate(cells):
                fault = _text_fault(cell, c in used)
                if not fault and c in used and not header:
                    fault = labels.learn(cell) if c == layout.label else _feature_fault(cell)
                if fault and not number and not layout.names:
                    fault.advise("If the line is a header, say so.")
                if fault:
                    return fault.at(line=line, column=named(layout.names, c), source=self.name)
        return None


class LabelColumn:
    """What label cells stand for, learned as they come: two values, one against the rest, or 0 .. many-1."""

    def __init__(self, positive: Any, many: int | None, booleans: bool = False) -> None:
        if many is not None and not 1 <= many <= MOST_LABELS:
            raise SourceError(f"labels must be from one to {MOST_LABELS:,}: got many={many}.")
        self._positive = None if positive is None else _value(str(positive))
        if booleans and positive is not None:
            self._positive = next((value for value in (False, True) if alike(value, positive)), positive)
        self._many = many if positive is None else None
        self._values: list[Any] = []
        self._labels: Labels | None = None

    def learn(self, text: str | bool) -> LabelError | None:
        """Take note of a cell, or of a boolean; the fault, if it has one."""
        value = _value(text)
        if value == "":
            return LabelError("labels must not be missing", "is empty", "Fill or drop the row.")
        if NOT_FINITE.fullmatch(str(value)):
            return LabelError("labels must be finite", f"has {quoted(text)}", "Clean or drop the row.")
        if isinstance(value, str) and ("\n" in value or "\r" in value):
            return LabelError("labels must be on one line", f"has {quoted(text)}", "Is a quote left open?")
        if self._many is not None:
            if isinstance(value, int) and 0 <= value < self._many:
                return None
            must = f"labels must be whole numbers from 0 to {self._many - 1}"
            return LabelError(must, f"has {quoted(text)}", "Number them from 0, or name the positive one.")
        if value in self._values:
            return None
        if self._positive is None and len(self._values) == 2:
            do = f"Name the positive one, {self._sorted()[1]} say, to treat every other value as -1."
            return LabelError("labels must take two values", f"has a third, {quoted(text)}", do)
        if self._positive is None or value == self._positive or len(self._values) < 3:
            self._values.append(value)
        return None

    def settle(self, where: str) -> Labels | None:
        """What the values seen stand for; None if there are many."""
        if self._many is not None:
            return None
        values = self._sorted()
        if self._positive is None:
            self._labels = two_labels(values)
            if self._labels is None:
                raise LabelError(
                    f"labels must take two values: every row in {where} has {quoted(values[0])}. "
                    "Name the positive one to go on."
                )
        elif self._positive in values:
            self._labels = against_others(values, values.index(self._positive))
        else:
            shown = ", ".join(quoted(value) for value in values)
            raise SourceError(
                f"the positive label must occur: {where} has no {quoted(self._positive)}, but {shown}. "
                "Name one that does."
            )
        return self._labels

    def code(self, text: str | bool) -> int:
        """The label of a cell: -1 or +1, or 0 .. many-1."""
        value = _value(text)
        if self._labels is None:
            if not (isinstance(value, int) and 0 <= value < (self._many or 0)):
                raise UnknownLabelError(f"a label {quoted(text)}")
            return int(value)
        if value == self._labels.positive:
            return 1
        if self._positive is None and value != self._labels.negative:
            raise UnknownLabelError(f"a label {quoted(text)}")
        return -1

    def _sorted(self) -> list[Any]:
        numbers = not any(isinstance(value, str) for value in self._values)
        return sorted(self._values, key=None if numbers else str)


class _UnreadableError(Exception):
    """pyarrow gave up, and why."""


class UnknownLabelError(Exception):
    """A label that was not there when the file was opened."""


def _value(text: str | bool) -> Any:
    """A label cell as a number if it is written as one, whole if it is whole; else the text. A boolean as it is."""
    if isinstance(text, bool):
        return text
    cell = text.strip(" \t")
    if WHOLE.fullmatch(cell):
        return int(cell)
    if not is_number(cell):
        return cell
    number = float(cell)
    return int(number) if number.is_integer() else number


def _text_fault(text: str, used: bool) -> SourceError | None:
    if "\0" in text:
        do = "Convert the file, or clean the row."
        return SourceError("text must be without zero bytes", f"has {text[:20]!r}", do)
    if text.isascii() or not used or not NOT_UTF8.search(text):
        return None
    was = f"has {text.encode('utf-8', 'surrogateescape')[:20]!r}"
    return SourceError("text must be UTF-8", was, "Convert the file first.")


def _feature_fault(text: str) -> SourceError | None:
    cell = text.strip(" \t")
    if not cell:
        return SourceError("features must be numbers", "is empty", "Fill or drop the row.")
    if NOT_FINITE.fullmatch(cell) or (is_number(cell) and not math.isfinite(float(cell))):
        return SourceError("features must be finite", f"has {quoted(cell)}", "Clean or drop the row.")
    if not is_number(cell):
        do = "Encode text first, or choose other columns."
        return SourceError("features must be numbers", f"has {quoted(cell)}", do)
    return None
