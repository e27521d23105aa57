"""`unlabelled`: examples without labels, for prediction; y of every batch is -1.

Detection, on the first lines; the first rule that matches wins
    arrow, parquet   by the magic bytes: a table (data/tables/table_formats.py)
    jsonl            objects without a label: a table, or features hashed as in jsonl.py
    (others)         `recognises_unlabelled` of each format: svmlight, vw
    csv              the suffix is .csv, .tsv or .tab, or most rows have a numeric cell: a table
    text             most lines have a word: each line is a message
    Regression (`numbers`) excludes text, and objects that are not a table.
Lines
    A dummy label is inserted before each line for the reader of labelled lines; error positions refer to the
    original file. Blank lines and svmlight comments are skipped; `notes` counts them.
Errors
    A source that appears to have labels is an error. A file of `convert` always has labels: it is read with them, with
    a note.
Cost
    One pass, memory for a few chunks; standard input and compressed files as in the labelled readers.
"""

from __future__ import annotations

import inspect
from itertools import islice

from novikoff.core.errors import Advice, Option, SourceError
from novikoff.core.registry import format_of, names
from novikoff.core.stream import Stream
from novikoff.data.formats.labelled_lines import BYTE_ORDER_MARK, LabelledLines
from novikoff.data.formats.labelled_text import WORD
from novikoff.data.formats.lines import BLANK, look_at, mostly
from novikoff.data.layout import SNIFFED_ROWS, find_delimiter, is_number, rows_of
from novikoff.data.reader import BUILT_IN, TABLES, _suffix, check_options, sniff

LEAVE_OUT = Advice("Leave out ", Option("unlabelled"), ".")
"""Advice for a source that has labels."""
LABELS = ("label", "positive", "multiclass", "weight", "label_weights", "outcomes", "labelled", "chunk")
"""Options without meaning for unlabelled examples."""


def unlabelled(source: object, format: str | None = None, numbers: bool = False, **reading: object) -> Stream:
    """Open a path, "-" for standard input, or a binary file object as a stream without labels.

    Args:
        source: Path, "-" or binary file object.
        format: One of the formats above; None detects it.
        numbers: Whether the task is regression, which excludes text.
        **reading: header, delimiter and threads for tables; bits, skip_bad, threads and ignore_weights as in the
            readers.
    """
    given = {option: value for option, value in reading.items() if value is not None}
    if isinstance(source, str) and source.startswith(("demo:", "stream:")):
        raise SourceError("examples without labels must be in a file", f"{source} has labels", LEAVE_OUT)
    if format is not None and format not in BUILT_IN and format not in names("format"):
        raise SourceError(f"a format must be one of {', '.join(names('format'))}: got {format!r}.")
    origin, content, head, whole = look_at(source)
    lines = head if whole else head[: head.rfind(b"\n") + 1] or head
    found = sniff(head) if b"\0" in head else None  # binary
    if numbers and not found:
        objects = "jsonl" if head.lstrip(BLANK).startswith(b"{") else None
        asked = format if format is not None and _has_lines_of_numbers(format) else None
        found = objects or asked or _of_features(lines) or _alike(sniff(head)) or "csv"
    found = found or format or _format(lines, origin.name)
    read_as = format_of(found)
    check_options(read_as.open, given, f"{found} without labels", origin.name, LABELS)
    if read_as.unlabelled is None:
        raise SourceError(f"examples of the format {found} must have labels", f"got {origin.name}", LEAVE_OUT)
    stream: Stream = read_as.unlabelled(content, numbers, **given)
    note = f"format: {found}, without labels"
    if isinstance(stream, LabelledLines) and note not in stream.notes:
        stream.notes.append(note)
    return stream


def _alike(format: str | None) -> str | None:
    """Return the format if its files look the same with labels and without; otherwise None."""
    return format if format is not None and format_of(format).recognises_unlabelled is None else None


def _has_lines_of_numbers(format: str) -> bool:
    """Return whether lines of the format may have regression outcomes."""
    return _alike(format) is None and "outcomes" in inspect.signature(format_of(format).open).parameters


def _format(head: bytes, name: str) -> str:
    """Return the format of lines with this beginning. Raises `SourceError` if they have labels."""
    if head.lstrip(BLANK).startswith(b"{"):
        return "jsonl"
    if features := _of_features(head):
        return features
    if _suffix(name) in TABLES:
        return "csv"
    found = sniff(head)
    if found == "text":
        do = Advice(LEAVE_OUT, " Or pass ", Option("format", "text"), ", if those are messages.")
        raise SourceError("messages without labels must have no TAB", f"{name} looks like label<TAB>message", do)
    if found is not None and _alike(found):
        return found
    if found is not None:
        must = "lines without labels must begin with features"
        raise SourceError(must, f"{name} has labels ({found})", LEAVE_OUT)
    lines = _lines(head)
    if lines and not _has_numbers(head, name) and mostly(lines[:SNIFFED_ROWS], WORD.search):
        return "text"
    return "csv"


def _lines(head: bytes) -> list[bytes]:
    """Return the lines that are not blank, stripped."""
    lines = (line.strip() for line in head.removeprefix(BYTE_ORDER_MARK).split(b"\n"))
    return [line for line in lines if line]


def _of_features(head: bytes) -> str | None:
    """Return the format of which most lines hold only features; None if there is none."""
    code = [line for line in _lines(head) if not line.startswith(b"#")][:SNIFFED_ROWS]
    for name, one in BUILT_IN.items():
        if one.mark in head and (recognises := format_of(name).recognises_unlabelled) is not None and recognises(code):
            return name
    return None


def _has_numbers(head: bytes, name: str) -> bool:
    """Return whether most rows, apart from a possible header, have a numeric cell."""
    try:
        rows = [cells for _, _, cells in islice(rows_of(head, find_delimiter(head), name), SNIFFED_ROWS)]
    except SourceError:  # unclosed quote
        return False
    return mostly(rows[1:] or rows, lambda cells: any(map(is_number, cells)))
