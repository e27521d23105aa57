"""`read`: open a path, "-" or demo:NAME as a stream, with the format detected from the content.

Detection, on the first 64 KB after decompression; the first rule that matches wins
    (registered)     by file suffix, if it is not one of SUFFIXES
    arrow, parquet   by the magic bytes
    jsonl            most lines start like a JSON object, `{"`
    svmlight         most lines are `number index:value ...`
    vw               most lines are `number ... |namespace feature ...`, or the same without a label
    text             most lines are `label<TAB>message`, the message in words
    csv              the suffix is .csv, .tsv or .tab, or the rows have cells with numbers
    (registered)     by the first bytes, if no built-in format matches
    Registered formats come from the program or an installed package (registry.py).
    Blank lines and comments (#) are ignored. The stream's `notes` record the decision.
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
"""File suffixes of built-in formats. For any other suffix, registered formats are tried first."""

FORMATS = {name: CATALOG[name].load for name in CATALOG if CATALOG[name].room == "format"}
"""Built-in formats: name to a function that imports the stream class."""

SNIFFED_BYTES = 2**16
NUMBER = rb"(?>[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)"  # atomic and possessive: no backtracking
SVMLIGHT = re.compile(rb"%b(?:[ \t]+qid:[0-9]+)?(?:[ \t]+[0-9]+:%b)*[ \t]*(?:#.*)?" % (NUMBER, NUMBER), re.DOTALL)
OBJECT = re.compile(rb'\{[ \t]*["}]')
BARS = rb"\|[^|]*+(?:\|[^ \t|][^|]*+)*+"  # further bars must start a named namespace: else it is a table
LABELLED = re.compile(rb"%b(?: +%b){0,2}(?: +[^ \t|]*+| +'[^ \t|]*+ *)%b" % (NUMBER, NUMBER, BARS), re.DOTALL)
UNLABELLED = re.compile(rb"(?:'[^ \t|]*+ *)?%b" % BARS, re.DOTALL)
ENTRY = re.compile(rb"[ \t][0-9]+:[+-.0-9]")
WORD = re.compile(rb"[A-Za-z\x80-\xff]")
WORDS = re.compile(rb"[0-9A-Za-z\x80-\xff]+[^0-9A-Za-z\x80-\xff]+[0-9A-Za-z\x80-\xff]")


def read(source: Any, format: str | None = None, labels: str | None = None, **options: Any) -> Stream:
    """Open a path, standard input, a binary file object or a demo as a stream.

    Args:
        source: A path, a URL (s3://, gs://, ...), a glob pattern for several files (day-*.svm), "-" for standard input,
            a binary file object, or "demo:NAME".
        format: arrow, csv, jsonl, parquet, svmlight, text, vw or a registered format; None detects it.
        labels: "multiclass" for more than two labels, of any type, numbered in order of first appearance; None for two.
        **options: Options of `Arrow`, `CSV`, `JSONL`, `Svmlight`, `Text` or `VW`; None counts as not given.
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
    stream.notes[:0] = [f"format: {found}", *notes]
    return stream


def check_options(make: Any, given: Iterable[str], format: str, name: str, without: Sequence[str] = ()) -> None:
    """Raise SourceError if an option is not a parameter of `make`, or is listed in `without`."""
    taken = [option for option in list(inspect.signature(make).parameters)[1:] if option not in without]
    for option in given:
        if option not in taken:
            raise SourceError(
                f"options must be those of the format: {format} takes {', '.join(taken) or 'nothing'}; got {option}, "
                f"for {name}. Leave it out, or name another format: {', '.join(FORMATS)}."
            )


def sniff(head: bytes) -> str | None:
    """Return the format of data with these first bytes; None for a table or an unknown format."""
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
    """Return whether the lines are `label<TAB>message`.

    A message contains a word and no numeric cell. Numeric labels are accepted only if there are at most two of them and
    most messages have several words and differ; otherwise the file is a table of numbers and names.
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
    """Return whether `test` holds for more than half of the lines."""
    return 2 * sum(bool(test(line)) for line in lines) > len(lines)


def _sniffed(source: object, delimiter: str | None) -> tuple[object, str, list[str]]:
    """Return what to read, its format, and notes.

    A source that can be read only once is returned with the inspected bytes still in it.
    """
    notes: list[str] = []
    name = Origin(source).name
    if (suffix := _suffix(name)) not in SUFFIXES and (found := _registered(suffix, None, notes)):
        return source, found, notes
    _, content, head, _ = look_at(source, 1, most=SNIFFED_BYTES)
    check_encoding(head, name)
    found = sniff(head)
    if not found and isinstance(content, Opened):  # a header alone does not identify a table
        head = first_bytes(content, 2, 2, most=SNIFFED_BYTES)
    if found is None and suffix not in TABLES and not _looks_like_a_table(head, delimiter):
        found = _registered(suffix, head, notes)
        if found is None:
            others = "".join(f", or {one}" for one, _ in formats())
            raise LabelError(f"the format of {name} was not recognised. Known formats: {READ_AS}{others}.")
    return content, found or "csv", notes


def _registered(suffix: str, head: bytes | None, notes: list[str]) -> str | None:
    """Return the registered format for this suffix or these first bytes; append load errors to `notes`."""
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
        return False  # a table drawn with bars, not data
    try:
        head = list(islice(rows_of(text, between, ""), SNIFFED_ROWS))
    except SourceError:
        return False
    if not head:
        return True  # empty file: the CSV reader raises the error
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
    """Return the name of the source for messages."""
    return os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else f"a {type(source).__name__}"


def _many(source: object, format: str | None, given: dict[str, Any]) -> Stream:
    """Open the source with multiclass labels."""
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
        raise SourceError(f"a demo takes no options: got {', '.join(asked)}. Leave them out.")
    return demo(name.removeprefix("demo:"))
