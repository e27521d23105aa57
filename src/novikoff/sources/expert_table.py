"""A table of predictions as a stream: one column the outcome, every other column an expert; or a table of losses.

Format
    CSV and TSV (delimiter and header sniffed), JSON lines, Arrow, Parquet; text also packed, or from standard input.
Columns
    The outcome is the column asked for, else one called outcome, y, label, class or target, else the last. With the
    loss "table" there is none: every column holds an expert's losses. Columns can be left out.
Values
    Numbers, finite. With zero-one loss also text, compared as text (expert_cells.py). A missing prediction is an error,
    or NaN if experts may sleep; a missing outcome is an error. Ranges are the learner's matter.
Loss
    If none is named, one that the first 50 rows leave no doubt about (expert_losses.py); else it is asked for.
Cost
    One pass, in blocks, with one thread a core: 1.5 GB a second and core for cells such as 0.1234. No scan before it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from novikoff.errors import SourceError
from novikoff.sources.expert_cells import OUTCOME_NAMES, choose, column_number
from novikoff.sources.expert_columns import ExpertColumns
from novikoff.sources.expert_lines import Objects, as_cell, keys
from novikoff.sources.expert_losses import columns_of, suggested
from novikoff.sources.expert_text import Cells, ExpertText
from novikoff.sources.layout import SNIFFED_ROWS, Row, is_name, is_number, rows_of, sniff_delimiter, sniff_header
from novikoff.sources.opened import Opened, Origin
from novikoff.sources.pandas_index import unnamed_first, unnamed_note
from novikoff.sources.reader import sniff

LOSSES = ("zero-one", "absolute", "squared", "log", "table")
HEAD_BYTES, LONGEST_HEAD, HEAD_LINES = 2**16, 2**26, 4
BLANK = b"\xef\xbb\xbf \t\r\n"
PATIENCE, MOMENT = 1.0, 0.01  # seconds that a pipe may be silent in its first lines; between two looks

ExpertTable = ExpertText | ExpertColumns


def expert_table(
    source: Any,
    outcome: str | int | None = None,
    loss: str | None = None,
    sleeping: bool = False,
    without: Sequence[str | int] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    threads: int | None = None,
) -> ExpertTable:
    """The table in a file, standard input ("-") or a binary file object.

    outcome     the outcome column: its name, or its number from 0 (from the end if negative)
    loss        zero-one, absolute, squared, log, or table: the columns are losses. None: if the first rows are clear
    sleeping    may a prediction be missing?
    without     columns to leave out, by name or number
    header      does a CSV file begin with names? None: sniff
    delimiter   what stands between the cells of a CSV file. None: sniff
    threads     how many parse at a time; None: as many as there are cores
    """
    if loss is not None and loss not in LOSSES:
        raise SourceError(f"a loss must be one of {', '.join(LOSSES)}: got {loss!r}.")
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-" and not os.path.exists(source):
        raise SourceError(f"a table must be a file: there is no {os.fsdecode(source)}. Check the name.")
    without = [without] if isinstance(without, (str, int)) else list(without)
    _, content, head, whole = look_at(source)
    found = "jsonl" if head.lstrip(BLANK).startswith(b"{") else sniff(head)  # so that a bad line is told as one
    if found in ("arrow", "parquet"):
        return ExpertColumns(content, outcome, without, loss, sleeping)
    lines = head if whole else head[: head.rfind(b"\n") + 1]
    make = _from_objects if found == "jsonl" else _from_cells
    table = make(Origin(content), lines, outcome, loss, sleeping, without, header, delimiter, threads)
    table.notes.insert(0, f"read as {'JSON lines' if found == 'jsonl' else 'a table of cells'}")
    return table


def look_at(source: Any) -> tuple[Origin, Any, bytes, bool]:
    """Where it comes from, what is to be read from the beginning, its first bytes, and whether that is all."""
    origin = Origin(source)
    begin = source.tell() if origin.rereadable and not origin.independent else 0
    opened = origin.open()
    head, whole = _head(opened)
    if not origin.rereadable:
        return origin, opened, head, whole
    opened.close()
    if not origin.independent:
        source.seek(begin)
    return origin, source, head, whole


def _head(opened: Opened) -> tuple[bytes, bool]:
    """The first bytes, with a few lines at least; and whether that is all. Of a pipe that is slow, what has come."""
    wanted, silent = HEAD_BYTES, 0.0
    head = opened.peek(wanted)
    while head.count(b"\n") < HEAD_LINES and wanted < LONGEST_HEAD:
        if len(head) < wanted and not opened.live:
            return head, True
        if len(head) < wanted:
            if silent >= PATIENCE:
                return head, True
            time.sleep(MOMENT)
            silent += MOMENT
        else:
            wanted *= 2
        seen, head = head, opened.peek(wanted)
        silent = 0.0 if len(head) > len(seen) else silent
    return head, len(head) < wanted and not opened.live


def _from_cells(
    origin: Origin, lines: bytes, outcome: str | int | None, loss: str | None, sleeping: bool,
    without: Sequence[str | int], header: bool | None, delimiter: str | None, threads: int | None,
) -> ExpertText:  # fmt: skip
    name = origin.name
    between = sniff_delimiter(lines) if delimiter is None else delimiter
    if len(between) != 1 or not between.isascii() or between in '"\r\n':
        raise SourceError(f"a delimiter must be one character, not a quote or a new line: got {between!r}.")
    rows = list(islice(rows_of(lines, between, name), SNIFFED_ROWS))
    if not rows:
        raise SourceError(f"a source must not be empty: {name} has no rows.")
    line, last, first = rows[0]
    if b"\0" in lines[: 2**12] or (len(first) == 1 and not is_number(first[0]) and len(rows) > 1 and loss != "table"):
        raise SourceError(
            f"a table must have cells between commas, tabs or semicolons, or JSON lines, or be Arrow or Parquet: "
            f"{name} is none."
        )
    if header is None:
        header = _has_header(rows, outcome, without, name)
    if header and len(rows) == 1:
        raise SourceError(f"a source must not be empty: {name} has a header on line {line} and no rows.")
    columns = [cell.strip() for cell in first] if header else []
    chosen = choose(columns, len(first), outcome, without, loss == "table", name)
    notes = [unnamed_note(unnamed_first(columns), name)] if unnamed_first(columns) else []
    pair = None
    if loss is None:
        below = [cells for _, _, cells in rows[1 if header else 0 :]]
        loss, pair, more = suggested(columns_of(chosen, below), chosen, name)
        notes += more
    skipped = last if header else 0
    size = _bytes_of(lines, skipped)
    cells = Cells(chosen, len(first), between, sleeping, loss == "zero-one")
    table = ExpertText(origin, cells, (skipped, size), loss, sleeping, threads)
    table.notes += notes
    table.pair = pair
    return table


def _from_objects(
    origin: Origin, lines: bytes, outcome: str | int | None, loss: str | None, sleeping: bool,
    without: Sequence[str | int], header: bool | None, delimiter: str | None, threads: int | None,
) -> ExpertText:  # fmt: skip
    if header is not None or delimiter is not None:
        raise SourceError(f"JSON lines have neither a header nor a delimiter: {origin.name} is read as such.")
    head = [(number, line) for number, line in enumerate(lines.split(b"\n"), 1) if line.strip()]
    number, line = head[0]
    first = keys(line.removeprefix(b"\xef\xbb\xbf"), origin.name, number)
    chosen = choose(list(first), len(first), outcome, without, loss == "table", origin.name)
    notes: list[str] = []
    pair = None
    if loss is None:
        below = [keys(line.removeprefix(b"\xef\xbb\xbf"), origin.name, number) for number, line in head[:SNIFFED_ROWS]]
        plain = [[_as_plain_cell(one.get(key)) for key in chosen.columns] for one in below]
        loss, pair, notes = suggested(columns_of(chosen, plain), chosen, origin.name)
    table = ExpertText(origin, Objects(chosen), (0, 0), loss, sleeping, threads)
    table.notes += notes
    table.pair = pair
    return table


def _as_plain_cell(value: Any) -> str:
    """A value of an object as a cell; what is none counts as missing here, and is refused when its line comes."""
    return as_cell(value) if isinstance(value, (str, bool, int, float)) else ""


def _has_header(rows: list[Row], outcome: str | int | None, without: Sequence[str | int], name: str) -> bool:
    """Does the first row name the columns?"""
    first = [cell.strip() for cell in rows[0][2]]
    below = [cells for _, _, cells in rows[1:]]
    asked = [column for column in (outcome, *without) if column is not None]
    if any(isinstance(column, str) and column_number(column, len(first)) is None for column in asked):
        return True  # only a header can have a column of that name
    if any(cell.lower() in OUTCOME_NAMES for cell in first):
        return True
    left_out = {column_number(column, len(first)) for column in without}
    looked_at = [c for c in range(len(first)) if c not in left_out]
    if any(is_number(cells[c]) for cells in below for c in looked_at if c < len(cells)):
        return sniff_header(rows, looked_at, name)
    said = {cell.strip() for cells in below for cell in cells}
    names = [first[c] for c in looked_at]
    return bool(below) and all(map(is_name, names)) and len(set(names)) == len(names) and not said & set(names)


def _bytes_of(text: bytes, lines: int) -> int:
    """How many bytes the first lines take."""
    at = 0
    for _ in range(lines):
        at = text.find(b"\n", at) + 1 or len(text)
    return at
