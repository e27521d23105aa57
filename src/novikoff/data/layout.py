"""Layout of a table, detected from its first rows and the caller's options: delimiter, header, columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import SourceError, place, quoted

DELIMITERS = ("\t", ";", ",", "|")
"""Delimiters that are detected; in a tie the first one."""
SNIFFED_ROWS = 50
"""Number of first rows by which a layout is detected."""
MOST_SHOWN = 20
"""Maximum number of columns listed in an error."""
SURE_NAMES = ("label", "target")
"""Names of the label column at any position."""
EDGE_NAMES = ("class", "y")
"""Names of the label column if it is first or last; elsewhere they often name a feature."""
LABEL_NAMES = (*SURE_NAMES, *EDGE_NAMES)
BOOLEANS = {"true": True, "false": False}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
LINE_END = re.compile(rb"\r\n|\r|\n")
NOT_UTF8 = re.compile("[\udc80-\udcff]")  # `surrogateescape` maps bytes that are not UTF-8 to these
MUST_BE_UTF8 = ("text must be UTF-8", "is not", "Convert the file first.")
"""Error for text that is not UTF-8: what is expected, what was found, and what to do."""
LARGEST_FILE_INDEX = 2**32 - 2
"""Largest index of a feature in a file."""

Row = tuple[int, int, list[str]]
"""First line and last line of a row (from 1), and its cells."""


def runs(columns: Sequence[int]) -> NDArray[np.uint64]:
    """Return runs of consecutive columns as an array (runs, 2): first column and length of each."""
    found: list[list[int]] = []
    for column in columns:
        if found and column == sum(found[-1]):
            found[-1][1] += 1
        else:
            found.append([column, 1])
    return np.array(found, dtype=np.uint64).reshape(-1, 2)


def named(names: Sequence[str], c: int) -> str | int:
    """Return the name of column c, or c if it has none."""
    return names[c] if names and names[c] else c


def column_name(names: Sequence[str], c: int) -> str:
    """Return the name of column c for messages."""
    return place({"column": named(names, c)})


def rows_of(text: bytes, delimiter: str, name: str, whole: bool = True) -> Iterator[Row]:
    """Yield the rows of a table with Python's csv module, without blank lines.

    Args:
        text: Bytes of the table.
        delimiter: Cell separator.
        name: Name of the source for messages.
        whole: Whether the text is complete; if not, a last line without a line end is skipped.
    """
    if not whole and not text.endswith(b"\n"):
        text = text[: text.rfind(b"\n") + 1] or text
    content = io.StringIO(text.decode("utf-8-sig", "surrogateescape"), newline="")
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


def is_number(cell: str) -> bool:
    """Return whether a cell is written as a finite number."""
    return NUMBER.fullmatch(cell.strip(" \t")) is not None


def find_delimiter(text: bytes, asked: str | None = None) -> str:
    """Return the requested delimiter, or the one that fits the text best.

    The best one gives most rows the width of the first row and, among these, the most numeric cells.
    """
    if asked is not None:
        if len(asked) != 1 or not asked.isascii() or asked in '"\r\n':
            raise SourceError(f"a delimiter must be one character, not a quote or a new line: got {asked!r}.")
        return asked

    def score(delimiter: str) -> tuple[bool, int, int]:
        rows: list[list[str]] = []
        with suppress(SourceError):  # the last row may be cut off inside quotes
            rows += (cells for _, _, cells in islice(rows_of(text, delimiter, ""), SNIFFED_ROWS))
        width = len(rows[0]) if rows else 0
        alike = sum(len(cells) == width for cells in rows)
        return width > 1 and 2 * alike > len(rows), sum(is_number(cell) for cells in rows for cell in cells), width

    return max(DELIMITERS, key=score)


def bytes_of(text: bytes, lines: int) -> int:
    """Return the number of bytes in the first `lines` lines."""
    return next((end.end() for end in islice(LINE_END.finditer(text), lines - 1, None)), len(text)) if lines else 0


def column_number(column: str | int, width: int) -> int | None:
    """Return a column given by number (negative: from the end) as an index from 0; None if there is no such column."""
    if isinstance(column, str) and not WHOLE.fullmatch(column):
        return None
    return int(column) % width if -width <= int(column) < width else None


def find_column(
    column: str | int, names: Sequence[str], width: int, what: str, source: object, shown: bool = True
) -> int:  # fmt: skip
    """Return the index of a column given by name or by number.

    Args:
        column: Name, or number from 0 (negative: from the end).
        names: Names of all columns; may be empty.
        width: Number of columns.
        what: Purpose of the column, for the error.
        source: Name of the source, for the error.
        shown: Whether the error lists the names; otherwise it lists the numbers.
    """
    called = columns_called(column, names)
    if column in names and len(called) == 1:
        return called[0]
    found = None if column in names else column_number(column, width)
    if found is None:
        there = ", ".join(quoted(name)[1:-1] for name in names[:MOST_SHOWN]) if names and shown else f"0 to {width - 1}"
        more = f" and {len(names) - MOST_SHOWN:,} more" if shown and len(names) > MOST_SHOWN else ""
        close = [name for name in names if name.lower() == str(column).strip().lower()] if shown else []
        close = close or (get_close_matches(str(column), names, 1) if shown else [])
        why, do = "not a column", f"Did you mean {quoted(close[0])}?" if close else "Choose another."
        if column in names:
            why, do = "the name of several columns", f"Choose by number: {' or '.join(map(str, called))}."
        raise SourceError(f"{what} must be one of {there}{more}: {column!r} is {why} of {source}. {do}")
    return found


def target_column(names: Sequence[str], first: bool = True) -> tuple[int, str]:
    """Return the default label column and the reason for the choice, in words.

    Args:
        names: Names of the columns.
        first: Whether names[0] is the first column of the source, with no index column before it.
    """
    lower = [name.lower() for name in names]
    for name in SURE_NAMES:
        if name in lower:
            return lower.index(name), "by its name"
    if first and lower[0] in EDGE_NAMES and lower[-1] not in EDGE_NAMES:
        return 0, "first column, by its name"
    return len(names) - 1, "last column"


def columns_called(column: str | int, names: Sequence[str]) -> list[int]:
    """Return the columns with this name.

    A repeated name carries its column number as a suffix (data/tables/column.py).
    """
    once_more = f"{column} (column "
    return [c for c, name in enumerate(names) if name == column or name.startswith(once_more)]
