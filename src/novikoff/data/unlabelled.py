"""`unlabelled`: examples without labels, for prediction; y of every batch is a dummy of -1s.

Detection, on the first lines; the first rule that matches wins
    arrow, parquet   a table (data/tables/table_formats.py)
    jsonl            objects without a label: a table, or features hashed as in jsonl.py
    svmlight         most lines are `index:value ...`
    vw               most lines are `|namespace feature ...`
    csv              the suffix is .csv, .tsv or .tab, or most rows have a numeric cell: a table
    text             most lines have a word: each line is a message
    Regression (`numbers`) excludes text, and objects that are not a table.
Lines
    A dummy label is inserted before each line for the reader of labelled lines; error positions refer to the
    original file. Blank lines and svmlight comments are skipped; `notes` counts them.
Refused
    Sources that appear to have labels. A file of `convert` always has labels: it is read with them, with a note.
Cost
    One pass, memory for a few chunks; standard input and compressed files as in the labelled readers.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from novikoff.core.errors import Advice, Option, SourceError
from novikoff.core.stream import Stream
from novikoff.data.formats.jsonl import JSONL
from novikoff.data.formats.labelled_lines import BYTE_ORDER_MARK, LabelledLines
from novikoff.data.formats.lines import BLANK, look_at
from novikoff.data.layout import LABEL_NAMES, SNIFFED_ROWS, find_delimiter, is_number, rows_of
from novikoff.data.reader import FORMATS, NUMBER, TABLES, UNLABELLED, WORD, _suffix, check_options, mostly, sniff

IF_LABEL = Advice("If it is the label, leave out ", Option("unlabelled"))
LEAVE_OUT = Advice("Leave out ", Option("unlabelled"), ".")
KEY = "no label"
OBJECT = b'"%b":-1' % KEY.encode()
FEATURES = re.compile(rb"(?:qid:[0-9]+[ \t]+)?(?:[0-9]+:%b)(?:[ \t]+[0-9]+:%b)*[ \t]*(?:#.*)?" % (NUMBER, NUMBER))
PREFIXES = {"svmlight": b"-1 ", "vw": b"-1 ", "text": b"0\t", "jsonl": OBJECT + b","}
STARTS = {
    "svmlight": re.compile(rb"\n(?=[ \t]*+[^ \t\r\n#])"),
    "jsonl": re.compile(rb"\n([ \t]*+\{)([ \t]*+\})?"),
}
START = re.compile(rb"\n(?=[ \t]*+[^ \t\r\n])")
TABLES_TOO = ("csv", "jsonl", "arrow", "parquet")
"""Table formats; the label column may be absent."""
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
    if format is not None and format not in FORMATS:
        raise SourceError(f"a format must be one of {', '.join(FORMATS)}: got {format!r}.")
    origin, content, head, whole = look_at(source)
    lines = head if whole else head[: head.rfind(b"\n") + 1] or head
    binary = "arrow" if head.startswith(b"ARROW1") else "parquet" if head.startswith(b"PAR1") else None
    objects = "jsonl" if numbers and head.lstrip(BLANK).startswith(b"{") else None
    if numbers:
        format = format if format in ("svmlight", "vw") else _of_features(lines) or "csv"
    found = binary or objects or format or _format(lines, origin.name)
    check_options(FORMATS[found](), given, f"{found} without labels", origin.name, LABELS)
    if found not in TABLES_TOO:
        return unlabelled_lines(content, found, given, lines, numbers)
    table: Stream = FORMATS[found]()(content, labelled=False, outcomes="numbers" if numbers else "labels", **given)
    if table.unlabelled and table.encoding is not None:
        table.notes.append("every column is a feature: there are no labels")
    return table


def unlabelled_lines(
    content: object, format: str, given: dict[str, object], head: bytes, numbers: bool = False
) -> Stream:  # fmt: skip
    """Return a stream over unlabelled lines of svmlight, Vowpal Wabbit, JSON or text."""
    make: Any = JSONL if format == "jsonl" else FORMATS[format]()
    own: dict[str, Any] = {"outcomes": "numbers"} if numbers else {"positive": "1"}
    stream: LabelledLines = make(content, **own, **({"label": KEY} if format == "jsonl" else {}), **given)
    start, prefix = STARTS.get(format, START), PREFIXES[format]
    by: Any = _with_label if format == "jsonl" else b"\n" + prefix
    stream.unlabelled, stream.prefix = True, prefix
    stream.put_labels = lambda text: start.sub(by, b"\n" + text)[1:]
    stream.notes.append(f"format: {format}, without labels")
    keys = re.findall(rb'"(%b)"[ \t]*:' % "|".join(LABEL_NAMES).encode(), head.partition(b"\n")[0])
    if format == "jsonl" and keys:
        stream.notes.append(Advice(f'"{keys[0].decode()}" is read as a feature. ', IF_LABEL))
    return stream


def _with_label(start: re.Match[bytes]) -> bytes:
    """Return the start of a JSON object with a dummy label inserted."""
    return b"\n" + start[1] + OBJECT + (b"," if start[2] is None else start[2])


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
    """Return svmlight or vw if most lines hold only features in that format; otherwise None."""
    code = [line for line in _lines(head) if not line.startswith(b"#")][:SNIFFED_ROWS]
    if mostly(code, FEATURES.fullmatch):
        return "svmlight"
    return "vw" if mostly(code, UNLABELLED.fullmatch) else None


def _has_numbers(head: bytes, name: str) -> bool:
    """Return whether most rows, apart from a possible header, have a numeric cell."""
    try:
        rows = [cells for _, _, cells in islice(rows_of(head, find_delimiter(head), name), SNIFFED_ROWS)]
    except SourceError:  # unclosed quote
        return False
    return mostly(rows[1:] or rows, lambda cells: any(map(is_number, cells)))
