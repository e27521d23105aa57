"""`read`: a source from what was typed, a path, "-" or demo:NAME. The format is known by what is in it.

Formats, the first that fits the first 64 KB, unpacked
    (registered)     by the end of the name, if that is none of ours (SUFFIXES)
    arrow, parquet   by the magic bytes
    jsonl            most lines begin as an object does, `{"`
    svmlight         most lines are `number index:value ...`
    vw               most lines are `number ... |namespace feature ...`, or have no label
    text             most lines are `label<TAB>message`, the message in words
    csv              named .csv, .tsv or .tab, or rows of cells with numbers
    (registered)     by the first bytes, where none of ours fits
    Registered are the formats that a program or an installed package brings (registry.py).
    Lines without a word on them and comments (#) do not count. What was decided is told in the stream's `notes`.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any

from novikoff.core.errors import Advice, LabelError, Option, SourceError
from novikoff.core.registry import CATALOG, entry, formats, names
from novikoff.core.stream import Stream
from novikoff.data.formats.byte_reader import Opened
from novikoff.data.formats.files import Files, named_by
from novikoff.data.formats.lines import first_bytes, look_at
from novikoff.data.formats.origin import PACKED, Origin
from novikoff.data.layout import NOT_UTF8, SNIFFED_ROWS, check_encoding, find_delimiter, is_number, rows_of

READ_AS = (
    "tables with commas, tabs or semicolons (csv), svmlight, Vowpal Wabbit text (vw), JSON lines (jsonl), labelled "
    "text (label<TAB>message), arrow, parquet, all but the last two also packed as .gz, .bz2, .xz or .zst; and "
    "demo:NAME"
)
TABLES = (".csv", ".tsv", ".tab")
SUFFIXES = (
    "", *TABLES, ".arrow", ".feather", ".parquet", ".jsonl", ".ndjson", ".json", ".svm", ".svmlight", ".libsvm", ".vw",
    ".txt", ".text", ".dat", ".data", ".train", ".test",
)  # fmt: skip
"""How names of our own formats end, as a rule: for no other are registered formats looked at first."""

FORMATS = {name: CATALOG[name].load for name in CATALOG if CATALOG[name].room == "format"}
"""Our own formats: each a function that imports its stream."""

SNIFFED_BYTES = 2**16
NUMBER = rb"(?>[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)"  # atomic: no trying again
SVMLIGHT = re.compile(rb"%b(?:[ \t]+qid:[0-9]+)?(?:[ \t]+[0-9]+:%b)*[ \t]*(?:#.*)?" % (NUMBER, NUMBER), re.DOTALL)
OBJECT = re.compile(rb'\{[ \t]*["}]')
BARS = rb"\|[^|]*+(?:\|[^ \t|][^|]*+)*+"  # of more than one, each begins a named namespace: else it is a table
LABELLED = re.compile(rb"%b(?: +%b){0,2}(?: +[^ \t|]*+| +'[^ \t|]*+ *)%b" % (NUMBER, NUMBER, BARS), re.DOTALL)
UNLABELLED = re.compile(rb"(?:'[^ \t|]*+ *)?%b" % BARS, re.DOTALL)
ENTRY = re.compile(rb"[ \t][0-9]+:[+-.0-9]")
WORD = re.compile(rb"[A-Za-z\x80-\xff]")
WORDS = re.compile(rb"[0-9A-Za-z\x80-\xff]+[^0-9A-Za-z\x80-\xff]+[0-9A-Za-z\x80-\xff]")


def read(source: Any, format: str | None = None, labels: str | None = None, **options: Any) -> Stream:
    """The stream that `source` names: a path, "-" for standard input, a binary file object or "demo:iris".

    A path may be a URL (s3://, gs://, ...; data/formats/origin.py), and a pattern of several files: day-*.svm.

    format    arrow, csv, jsonl, parquet, svmlight, text, vw, or one that was registered; None: sniff
    labels    "multiclass" if there are more than two, or may be: of any kind, numbered in the order in which they
    first come options   those of `Arrow`, `CSV`, `JSONL`, `Svmlight`, `Text` or `VW`; None is as good as nothing
    """
    given = {option: value for option, value in options.items() if value is not None}
    if labels == "multiclass":
        return _many(source, format, given)
    if labels is not None:
        raise SourceError(f'labels must be None or "multiclass": got {labels!r}. Leave it out for two labels.')
    if isinstance(source, str) and source.startswith("demo:"):
        return _demo(source, format, given)
    if (paths := named_by(source)) is not None:
        return Files(os.fspath(source), paths, lambda path: read(path, format, **given))
    if not isinstance(source, (str, os.PathLike)) and not hasattr(source, "read"):
        raise SourceError(f"a source must be a path or demo:NAME: got {type(source).__name__}. Play arrays as (X, y).")
    if format is not None and format not in FORMATS and format not in names("format"):
        raise SourceError(f"a format must be one of {', '.join(names('format'))}: got {format!r}.")
    content, found, notes = _sniffed(source, given.get("delimiter")) if format is None else (source, format, [])
    make = entry(found, "format").load()
    check_options(make, given, f"{found} ({'asked for' if format else 'recognised'})", _named(source))
    stream: Stream = make(content, **given)
    stream.notes[:0] = [f"read as {found}", *notes]
    return stream


def check_options(make: Any, given: Iterable[str], format: str, name: str, without: Sequence[str] = ()) -> None:
    """Refuse options that a format, made by `make`, does not take, or that are of no use here."""
    taken = [option for option in list(inspect.signature(make).parameters)[1:] if option not in without]
    for option in given:
        if option not in taken:
            raise SourceError(
                f"options must be those of the format: {format} takes {', '.join(taken) or 'nothing'}; got {option}, "
                f"for {name}. Leave it out, or name another format: {', '.join(FORMATS)}."
            )


def sniff(head: bytes) -> str | None:
    """The format of what begins with these bytes; None if it is a table or none that is known."""
    if head.startswith(b"ARROW1"):
        return "arrow"
    if head.startswith(b"PAR1"):
        return "parquet"
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(lines) > 1:
        lines.pop()  # cut off, or empty
    elif len(head) >= SNIFFED_BYTES:
        lines = lines[0].rsplit(maxsplit=1)[:1]  # the last field may be cut off
    lines = [line.strip() for line in lines]
    lines = [line for line in lines if line and not line.startswith(b"#")][:SNIFFED_ROWS]
    if any(b"\0" in line for line in lines):
        return None
    if mostly(lines, OBJECT.match):
        return "jsonl"
    if mostly(lines, SVMLIGHT.fullmatch) and any(ENTRY.search(line) for line in lines):
        return "svmlight"
    if mostly(lines, lambda line: LABELLED.fullmatch(line) or UNLABELLED.fullmatch(line)):
        return "vw"
    return "text" if _is_text(lines) else None


def _is_text(lines: list[bytes]) -> bool:
    """Are these labels and messages?

    A message has a word, and no cell that is a number. Labels may be numbers only if they are two, and most messages
    are of several words and differ: else it is a table of a number and a name.
    """
    labelled = [line.partition(b"\t")[::2] for line in lines if b"\t" in line]
    worded = [(label, message) for label, message in labelled if WORD.search(message) and not _has_number(message)]
    if 2 * len(worded) <= len(lines):
        return False
    labels = {label.strip() for label, _ in worded}
    if not any(re.fullmatch(NUMBER, label) for label in labels):
        return True
    messages = [message for _, message in worded]
    return len(labels) <= 2 and mostly(messages, WORDS.search) and len(set(messages)) > len(messages) // 2


def _has_number(message: bytes) -> bool:
    return b"\t" in message and any(re.fullmatch(NUMBER, cell.strip()) for cell in message.split(b"\t"))


def mostly(lines: Sequence[object], test: Callable[[Any], object]) -> bool:
    """Is it so for most of them?"""
    return 2 * sum(bool(test(line)) for line in lines) > len(lines)


def _sniffed(source: object, delimiter: str | None) -> tuple[object, str, list[str]]:
    """What to read, its format, and notes. Of what comes only once, nothing that was looked at is lost."""
    notes: list[str] = []
    name = Origin(source).name
    if (suffix := _suffix(name)) not in SUFFIXES and (found := _registered(suffix, None, notes)):
        return source, found, notes
    _, content, head, _ = look_at(source, 1, most=SNIFFED_BYTES)
    check_encoding(head, name)
    found = sniff(head)
    if not found and isinstance(content, Opened):  # names alone do not tell a table
        head = first_bytes(content, 2, 2, most=SNIFFED_BYTES)
    if found is None and suffix not in TABLES and not _looks_like_a_table(head, delimiter):
        found = _registered(suffix, head, notes)
        if found is None:
            others = "".join(f", or {one}" for one, _ in formats())
            raise LabelError(
                f"a source must be of a format that is read: {name} is none. These are: {READ_AS}{others}."
            )
    return content, found or "csv", notes


def _registered(suffix: str, head: bytes | None, notes: list[str]) -> str | None:
    """The registered format of names that end so, or of these first bytes; `notes` tells of one that is broken."""
    for name, format in formats():
        if isinstance(format, Exception):
            notes += [] if str(format) in notes else [str(format)]
        elif suffix in format.suffixes if head is None else format.recognises and format.recognises(head):
            return name
    return None


def _looks_like_a_table(text: bytes, delimiter: str | None) -> bool:
    text = text[: text.rfind(b"\n") + 1] or text  # the last row may be cut off
    between = find_delimiter(text, delimiter)
    if between == "|" and delimiter is None:
        return False  # as people draw tables
    try:
        head = list(islice(rows_of(text, between, ""), SNIFFED_ROWS))
    except SourceError:
        return False
    if not head:
        return True  # an empty file has no format: CSV says that it is empty
    rows = [cells for _, _, cells in head]
    if rows[0][0].startswith(("{", "[", "<")) or any(NOT_UTF8.search(c) or "\0" in c for cells in rows for c in cells):
        return False
    return len(rows[0]) > 1 and any(is_number(cell) for cells in rows for cell in cells)


def _suffix(name: str) -> str:
    path = PurePath(name)
    if path.suffix.lower() in PACKED:
        path = path.with_suffix("")
    return path.suffix.lower()


def _named(source: object) -> str:
    """The source as it is called in a message."""
    return os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else f"a {type(source).__name__}"


def _many(source: object, format: str | None, given: dict[str, Any]) -> Stream:
    """The stream with labels that are many."""
    if "positive" in given:
        raise SourceError(
            "labels must be two or many", f"got {given['positive']!r} as the positive one, and many",
            Advice("Leave out ", Option("positive"), " or ", Option("labels"), "."),
        )  # fmt: skip
    stream = read(source, format, **given)
    stream.show_many()
    return stream


def _demo(name: str, format: str | None, given: dict[str, object]) -> Stream:
    from novikoff.data.demo import demo

    asked = [*given, *(["format"] if format is not None else [])]
    if asked:
        raise SourceError(f"a demo must be read as it is: got {', '.join(asked)}. Leave the options out.")
    return demo(name.removeprefix("demo:"))
