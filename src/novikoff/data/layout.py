"""Where things are in a table, from its first rows and what was asked for: its delimiter, its header, its columns."""

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
SNIFFED_ROWS = 50
MOST_SHOWN = 20
"""Columns that an error lists."""
SURE_NAMES = ("label", "target")
"""Names of the column to predict, wherever it stands."""
EDGE_NAMES = ("class", "y")
"""Names of the column to predict if it is the first or the last: elsewhere they often name a feature."""
LABEL_NAMES = (*SURE_NAMES, *EDGE_NAMES)
BOOLEANS = {"true": True, "false": False}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
LINE_END = re.compile(rb"\r\n|\r|\n")
NOT_UTF8 = re.compile("[\udc80-\udcff]")  # what `surrogateescape` makes of bytes that are not UTF-8

Row = tuple[int, int, list[str]]
"""The first and the last line of a row, from 1, and its cells."""


def runs(columns: Sequence[int]) -> NDArray[np.uint64]:
    """Columns that follow each other: the first of each run, and how many they are."""
    found: list[list[int]] = []
    for column in columns:
        if found and column == sum(found[-1]):
            found[-1][1] += 1
        else:
            found.append([column, 1])
    return np.array(found, dtype=np.uint64).reshape(-1, 2)


def named(names: Sequence[str], c: int) -> str | int:
    """Column c by its name, or by its number if it has none."""
    return names[c] if names and names[c] else c


def column_name(names: Sequence[str], c: int) -> str:
    """Column c as it is called in a message."""
    return place({"column": named(names, c)})


def rows_of(text: bytes, delimiter: str, name: str, whole: bool = True) -> Iterator[Row]:
    """The rows of a table, read slowly by Python; blank lines are skipped.

    whole   is the text whole? Else the last row may be cut off, and is left out
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
    """Is it written as a number? NaN and infinity are not."""
    return NUMBER.fullmatch(cell.strip(" \t")) is not None


def find_delimiter(text: bytes, asked: str | None = None) -> str:
    """The delimiter asked for; or the one that makes most rows as wide as the first, and the most numbers."""
    if asked is not None:
        if len(asked) != 1 or not asked.isascii() or asked in '"\r\n':
            raise SourceError(f"a delimiter must be one character, not a quote or a new line: got {asked!r}.")
        return asked

    def score(delimiter: str) -> tuple[bool, int, int]:
        rows: list[list[str]] = []
        with suppress(SourceError):  # the last may be cut off within quotes
            rows += (cells for _, _, cells in islice(rows_of(text, delimiter, ""), SNIFFED_ROWS))
        width = len(rows[0]) if rows else 0
        alike = sum(len(cells) == width for cells in rows)
        return width > 1 and 2 * alike > len(rows), sum(is_number(cell) for cells in rows for cell in cells), width

    return max(DELIMITERS, key=score)


def bytes_of(text: bytes, lines: int) -> int:
    """How many bytes the first lines take."""
    return next((end.end() for end in islice(LINE_END.finditer(text), lines - 1, None)), len(text)) if lines else 0


def column_number(column: str | int, width: int) -> int | None:
    """A column asked for by its number, from 0, or from the end if negative; None if it is no number of a column."""
    if isinstance(column, str) and not WHOLE.fullmatch(column):
        return None
    return int(column) % width if -width <= int(column) < width else None


def check_encoding(head: bytes, source: object) -> None:
    """Refuse text of two bytes a character, as spreadsheets save it: by its mark, or by zeros in every other byte."""
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if marked or (len(head) > 3 and any(not any(head[k:64:2]) and all(head[1 - k : 64 : 2]) for k in (0, 1))):
        raise SourceError(
            f"text must be UTF-8: {source} is UTF-16. Save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8."
        )


def find_column(
    column: str | int, names: Sequence[str], width: int, what: str, source: object, shown: bool = True
) -> int:  # fmt: skip
    """A column asked for by its name, or else by its number.

    shown   does the error list the names? Else the numbers
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
        why, do = "not there", f"Did you mean {quoted(close[0])}?" if close else "Choose another."
        if column in names:
            why, do = "there more than once", f"Choose by number: {' or '.join(map(str, called))}."
        raise SourceError(f"{what} must be one of {there}{more}: {column!r} is {why}, in {source}. {do}")
    return found


def target_column(names: Sequence[str], first: bool = True) -> tuple[int, str]:
    """The column to predict where none was asked for, and how it was chosen, in words.

    first   is the first of these the first column of the source, with no index before it?
    """
    lower = [name.lower() for name in names]
    for name in SURE_NAMES:
        if name in lower:
            return lower.index(name), "by its name"
    if first and lower[0] in EDGE_NAMES and lower[-1] not in EDGE_NAMES:
        return 0, "first column, by its name"
    return len(names) - 1, "last column"


def columns_called(column: str | int, names: Sequence[str]) -> list[int]:
    """The columns of this name: where it came again, its number was written behind it (data/tables/column.py)."""
    once_more = f"{column} (column "
    return [c for c, name in enumerate(names) if name == column or name.startswith(once_more)]
