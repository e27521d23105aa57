"""A table of predictions as a stream: one column the outcome, every other column an expert; or a table of losses.

Format
    CSV and TSV (delimiter and header sniffed), JSON lines, Arrow, Parquet, data frames; text also packed, or from
    standard input.
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
from collections.abc import Sequence
from itertools import islice
from typing import Any

from novikoff.core.errors import SourceError
from novikoff.data.formats.first_lines import BLANK, look_at
from novikoff.data.formats.labelled_lines import CHUNK_BYTES
from novikoff.data.formats.origin import Origin
from novikoff.data.formats.pandas_index import check_asked, unnamed_first, unnamed_note
from novikoff.data.frames import is_frame
from novikoff.data.layout import SNIFFED_ROWS, bytes_of, find_delimiter, is_number, rows_of
from novikoff.data.reader import sniff
from novikoff.data.tables.columnar import ArrowTable, Columnar, FrameTable
from novikoff.data.tables.delimited import has_header
from novikoff.data.tables.expert_cells import OUTCOME_NAMES, choose
from novikoff.data.tables.expert_losses import columns_of, suggested
from novikoff.data.tables.expert_stream import Columns, ExpertTable, as_cell
from novikoff.data.tables.expert_text import Cells
from novikoff.data.tables.objects import Objects
from novikoff.data.tables.piece import Reader

LOSSES = ("zero-one", "absolute", "squared", "log", "table")
CELLS_AT_ONCE = 2**20
"""Numbers in a batch of columns, about."""


def expert_table(
    source: Any,
    outcome: str | int | None = None,
    loss: str | None = None,
    sleeping: bool = False,
    without: Sequence[str | int] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    threads: int | None = None,
    chunk: int = CHUNK_BYTES,
) -> ExpertTable:
    """The table in a file, standard input ("-"), a binary file object or a data frame.

    outcome     the outcome column: its name, or its number from 0 (from the end if negative)
    loss        zero-one, absolute, squared, log, or table: the columns are losses. None: if the first rows are clear
    sleeping    may a prediction be missing?
    without     columns to leave out, by name or number
    header      does a CSV file begin with names? None: sniff
    delimiter   what stands between the cells of a CSV file. None: sniff
    threads     how many parse at a time; None: as many as there are cores
    chunk       bytes of text parsed at a time; a row may be longer
    """
    if loss is not None and loss not in LOSSES:
        raise SourceError(f"a loss must be one of {', '.join(LOSSES)}: got {loss!r}.")
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-" and not os.path.exists(source):
        raise SourceError(f"a table must be a file: there is no {os.fsdecode(source)}. Check the name.")
    without = [without] if isinstance(without, (str, int)) else list(without)
    if is_frame(source):
        return _from_columns(FrameTable(source), outcome, loss, sleeping, without)
    _, content, head, whole = look_at(source)
    found = "jsonl" if head.lstrip(BLANK).startswith(b"{") else sniff(head)  # so that a bad line is told as one
    if found in ("arrow", "parquet"):
        return _from_columns(ArrowTable(content), outcome, loss, sleeping, without)
    if found != "jsonl":
        lines = head if whole else head[: head.rfind(b"\n") + 1]
        origin = Origin(content)
        return _from_cells(origin, lines, outcome, loss, sleeping, without, header, delimiter, threads, chunk)
    objects = Objects(content, None, chunk, first_alone=True)
    if header is not None or delimiter is not None:
        raise SourceError(f"JSON lines have neither a header nor a delimiter: {objects.name} is read as such.")
    table = _from_columns(objects, outcome, loss, sleeping, without)
    table.notes.insert(0, "read as JSON lines")
    return table


def _from_cells(
    origin: Origin, lines: bytes, outcome: str | int | None, loss: str | None, sleeping: bool,
    without: Sequence[str | int], header: bool | None, delimiter: str | None, threads: int | None, chunk: int,
) -> ExpertTable:  # fmt: skip
    name = origin.name
    between = find_delimiter(lines, delimiter)
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
        called = any(cell.strip().lower() in OUTCOME_NAMES for cell in first)
        header = called or has_header(rows, [outcome, *without], name)
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
    size = bytes_of(lines, skipped)
    begin, text = (skipped, size), loss == "zero-one"
    cells = Cells(origin, chosen, begin, len(first), between, sleeping, text, threads, chunk)
    table = ExpertTable(cells, chosen, loss, sleeping, pair)
    table.notes += ["read as a table of cells", *notes]
    return table


def _from_columns(
    reader: Reader, outcome: str | int | None, loss: str | None, sleeping: bool,
    without: Sequence[str | int],
) -> ExpertTable:  # fmt: skip
    known = () if loss == "table" else OUTCOME_NAMES
    check_asked(reader.levels, reader.names, outcome, known, None, reader.name)
    without = [column for column in without if column not in reader.levels]  # it is
    chosen = choose(reader.names, len(reader.names), outcome, without, loss == "table", reader.name)
    if isinstance(reader, Columnar):
        reader.at_once = max(CELLS_AT_ONCE // len(chosen.used), 64)
    notes, pair = list(reader.notes), None
    if loss is None:
        head = list(reader.head().values())
        first = {c: [as_cell(value) for value in head[c][:SNIFFED_ROWS]] for c in chosen.wanted}
        loss, pair, more = suggested(first, chosen, reader.name)
        notes += more
    table = ExpertTable(Columns(reader, chosen), chosen, loss, sleeping, pair)
    table.notes += notes
    return table
