"""`unlabelled`: examples without labels, to be predicted. Every batch has a y of -1s that means nothing.

Formats, the first that fits the first lines
    arrow, parquet   a table (tables/formats.py)
    jsonl            objects without a label: a table, or features hashed as in jsonl.py
    svmlight         most lines are `index:value ...`
    vw               most lines are `|namespace feature ...`
    csv              named .csv, .tsv or .tab, or most rows have a cell that is a number: a table
    text             most lines have a word: each line is a message
    Numbers that are predicted (`numbers`) are learned from tables alone.
Lines
    A label is put before each line on its way to the reader of labelled ones; messages name the columns of the file.
    Blank lines, and comments of svmlight, are no examples; `notes` tells how many there were.
Refused
    What has labels by the look of it. A file of `convert` always has: it is read with them, and `notes` says so.
Cost
    One pass, memory of a few chunks; standard input and packed files as the readers take them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from novikoff.errors import Advice, Option, SourceError
from novikoff.sources.first_lines import BLANK, look_at
from novikoff.sources.jsonl import JSONL
from novikoff.sources.labelled_lines import BYTE_ORDER_MARK
from novikoff.sources.layout import LABEL_NAMES, SNIFFED_ROWS, is_number, rows_of, sniff_delimiter
from novikoff.sources.line_chunks import LONGEST_LINE
from novikoff.sources.opened import Opened, Origin
from novikoff.sources.reader import FORMATS, NUMBER, TABLES, UNLABELLED, WORD, _suffix, sniff
from novikoff.stream import Stream
from novikoff.types import Batch, Position

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
CHOSEN = ("columns", "drop", "number", "category", "text", "time")
TABLES_TOO = ("csv", "jsonl", "arrow", "parquet")
"""Formats of tables, which may have no label."""
TAKEN = {
    "svmlight": ("skip_bad", "threads"),
    "vw": ("bits", "ignore_weights", "skip_bad", "threads"),
    "jsonl": ("bits", "skip_bad", *CHOSEN),
    "text": ("bits", "skip_bad"),
    "csv": ("header", "delimiter", "threads", "bits", "skip_bad", *CHOSEN),
    "arrow": ("bits", *CHOSEN),
    "parquet": ("bits", *CHOSEN),
}
READ_AT_ONCE = 2**20


def unlabelled(source: Any, format: str | None = None, numbers: bool = False, **reading: Any) -> Stream:
    """The examples in a path, "-" for standard input, or a binary file object.

    format    one of those above; None: sniff
    numbers   what will be predicted is a number, so it must be a table
    reading   header, delimiter and threads for tables; bits, skip_bad, threads and ignore_weights as in the readers
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
    found = binary or objects or ("csv" if numbers else format) or _format(lines, origin.name)
    taken = TAKEN[found]
    for option in given:
        if option not in taken:
            raise SourceError(
                f"options must be those of the format: {found} without labels takes {', '.join(taken) or 'none'}; got "
                f"{option}, for {origin.name}. Leave it out, or name another format: {', '.join(FORMATS)}."
            )
    if found not in TABLES_TOO:
        return UnlabelledLines(content, found, given, lines)
    table: Stream = FORMATS[found]()(content, labelled=False, outcomes="numbers" if numbers else "labels", **given)
    if table.unlabelled and table.encoding is not None:
        table.notes.append("every column is a feature: there are no labels")
    return table


class UnlabelledLines(Stream):
    """Lines of svmlight, Vowpal Wabbit, JSON or text. A pass cannot begin in the middle."""

    unlabelled = True

    def __init__(self, content: Any, format: str, given: dict[str, Any], head: bytes) -> None:
        self._format = format
        self._bytes = Prefixed(Origin(content), format)
        own = {"label": KEY} if format == "jsonl" else {}
        make: Any = JSONL if format == "jsonl" else FORMATS[format]()
        self._reader = make(self._bytes, positive="1", **own, **given)
        self._reader.prefix = PREFIXES[format]
        self.name, self.rereadable, self.domain = self._bytes.name, self._bytes.seekable(), self._reader.domain
        self._told = [f"read as {format}, without labels"]
        keys = re.findall(rb'"(%b)"[ \t]*:' % "|".join(LABEL_NAMES).encode(), head.partition(b"\n")[0])
        if format == "jsonl" and keys:
            self._told.append(Advice(f'"{keys[0].decode()}" is read as a feature. ', IF_LABEL))

    @property
    def notes(self) -> list[str]:
        """What to tell the user: of lines that were left out, behind a pass."""
        read = [note for note in self._reader.notes if not note.startswith("no label of ")]
        left = self._bytes.left_out if self._format != "jsonl" else 0
        what = "blank or comments" if self._format == "svmlight" else "blank"
        return [*self._told, *read, *([f"{left:,} line(s) of {self.name} {what}: no prediction"] if left else [])]

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        if start is not None:
            raise SourceError(f"lines without labels must be read from the first on: {self.name} cannot be entered.")
        try:
            for batch in self._reader.batches():
                yield Batch(batch.x, _nothing(batch), batch.first)
        finally:
            self._bytes.close()


class Prefixed:
    """A binary file with a label put before each line of another; it can be read again if that one can."""

    def __init__(self, origin: Origin, format: str) -> None:
        self.name, self._origin = origin.name, origin
        self._start, self._prefix = STARTS.get(format, START), PREFIXES[format]
        self._by: bytes | Callable[[re.Match[bytes]], bytes]
        self._by = _with_label if format == "jsonl" else b"\n" + self._prefix
        self._opened: Opened | None = None
        self._forget()

    def _forget(self) -> None:
        self.close()
        self._rest: list[bytes] = []
        self._ready, self._at, self.left_out = b"", 0, 0
        self._begun = self._over = False

    def seekable(self) -> bool:
        """Can it be read again?"""
        return self._origin.rereadable

    def tell(self) -> int:
        """Its beginning: no other place has a number."""
        return 0

    def seek(self, place: int) -> int:
        """Back to the beginning."""
        self._forget()
        return place

    def read(self, count: int) -> bytes:
        """Some bytes, `count` at most; none at the end."""
        while self._at == len(self._ready) and not self._over:
            self._fill()
        piece = self._ready[self._at : self._at + count]
        self._at += len(piece)
        return piece

    read1 = read

    def close(self) -> None:
        """Close what is read."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _fill(self) -> None:
        """Read some lines, if they have come."""
        if self._opened is None:
            self._opened = self._origin.open()
        piece = self._opened.read(READ_AT_ONCE) or b""
        cut = piece.rfind(b"\n") + 1
        self._over = not piece
        if not cut and piece:
            self._rest.append(piece)
            if sum(map(len, self._rest)) > LONGEST_LINE:
                raise SourceError(f"a line must be shorter than {LONGEST_LINE:,} bytes: {self.name} has a longer one.")
            return
        text = b"".join((*self._rest, piece[:cut]))
        self._rest = [piece[cut:]] if piece[cut:] else []
        text = b"\n" + (text if self._begun else text.removeprefix(BYTE_ORDER_MARK))
        self._begun = True
        made, rows = self._start.subn(self._by, text)
        self.left_out += text.count(b"\n", 1) + (not text.endswith(b"\n")) - rows
        self._ready, self._at = made[1:], 0


def _with_label(start: re.Match[bytes]) -> bytes:
    """The beginning of an object, with a label in it."""
    return b"\n" + start[1] + OBJECT + (b"," if start[2] is None else start[2])


def _nothing(batch: Batch) -> Any:
    return np.full(len(batch), -1, dtype=np.int8)


def _format(head: bytes, name: str) -> str:
    """The format of lines that begin like this. Raises `SourceError` if they have labels."""
    if head.lstrip(BLANK).startswith(b"{"):
        return "jsonl"
    lines = [line.strip() for line in head.removeprefix(BYTE_ORDER_MARK).split(b"\n")]
    lines = [line for line in lines if line]
    code = [line for line in lines if not line.startswith(b"#")][:SNIFFED_ROWS]
    if code and _most(code, lambda line: FEATURES.fullmatch(line) is not None):
        return "svmlight"
    if code and _most(code, lambda line: UNLABELLED.fullmatch(line) is not None):
        return "vw"
    if _suffix(name) in TABLES:
        return "csv"
    found = sniff(head)
    if found == "text":
        do = Advice(LEAVE_OUT, " Or pass ", Option("format", "text"), ", if those are messages.")
        raise SourceError("messages without labels must have no TAB", f"{name} looks like label<TAB>message", do)
    if found is not None:
        must = "lines without labels must begin with features"
        raise SourceError(must, f"{name} has labels ({found})", LEAVE_OUT)
    if lines and not _has_numbers(head, name) and _most(lines[:SNIFFED_ROWS], lambda line: bool(WORD.search(line))):
        return "text"
    return "csv"


def _has_numbers(head: bytes, name: str) -> bool:
    """Have most rows a cell that is a number? The first may be a header."""
    try:
        rows = [cells for _, _, cells in islice(rows_of(head, sniff_delimiter(head), name), SNIFFED_ROWS)]
    except SourceError:  # a quote that is left open
        return False
    return _most(rows[1:] or rows, lambda cells: any(map(is_number, cells)))


def _most(items: list[Any], test: Callable[[Any], bool]) -> bool:
    return 2 * sum(map(test, items)) > len(items)
