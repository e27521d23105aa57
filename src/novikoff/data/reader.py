"""`read`: open a path, "-" or demo:NAME as a stream, with the format detected from the content.

Detection, on the first 64 KB after decompression; the first rule that matches wins
    (registered)     by file suffix, if it is not one of SUFFIXES
    (built-in)       `recognises` of each format, in the order of the catalog (registry.py)
    csv              the suffix is .csv, .tsv or .tab, or the rows have cells with numbers
    (registered)     by the first bytes, if no built-in format matches
    Registered formats come from the program or an installed package (registry.py).
    Blank lines and comments (#) are ignored. The stream's `notes` record the decision.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any

from novikoff.core.errors import Advice, LabelError, Option, SourceError, counted
from novikoff.core.registry import CATALOG, entry, format_of, formats, names
from novikoff.core.stream import Stream
from novikoff.data.formats.byte_reader import ARRAY, Opened, detected_encoding
from novikoff.data.formats.files import Files, is_paths, named_by, paths_of
from novikoff.data.formats.lines import SNIFFED_BYTES, first_bytes, look_at
from novikoff.data.formats.origin import PACKED, Origin
from novikoff.data.layout import NOT_UTF8, SNIFFED_ROWS, find_delimiter, is_number, rows_of

READ_AS = (
    "tables with commas, tabs or semicolons (csv), svmlight, Vowpal Wabbit text (vw), JSON lines (jsonl), Weka's "
    "ARFF (arff), labelled text (label<TAB>message), NumPy archives (npz), arrow, parquet, all but the last "
    "three also compressed as .gz, .bz2, .xz, .zst or .zip; and demo:NAME"
)
"""Built-in formats in words, for errors."""
BUILT_IN = {name: entry for name, entry in CATALOG.items() if entry.room == "format"}
"""Built-in formats, in the order in which they are tried."""
TABLES = BUILT_IN["csv"].suffixes
SUFFIXES = ("", ".dat", ".data", ".train", ".test", *(suffix for one in BUILT_IN.values() for suffix in one.suffixes))
"""File suffixes of built-in formats. For any other suffix, registered formats are tried first."""


def read(source: Any, format: str | None = None, labels: str | None = None, **options: Any) -> Stream:
    """Open a path, standard input, a binary file object or a demo as a stream.

    Args:
        source: A path, a URL (s3://, gs://, ...), a glob pattern for several files (day-*.svm), a list of
            paths, "-" for standard input, a binary file object, or "demo:NAME".
        format: Name of a format, as in `novikoff list`: csv, svmlight, ...; None detects it.
        labels: "multiclass" for more than two labels, of any type, numbered in order of first appearance; None for two.
        **options: Options of `ARFF`, `Arrow`, `CSV`, `JSONL`, `NPZ`, `Svmlight`, `Text` or `VW`; None counts as not
            given.
    """
    given = {option: value for option, value in options.items() if value is not None}
    if labels == "multiclass":
        return _many(source, format, given)
    if labels is not None:
        raise SourceError(f'labels must be None or "multiclass": got {labels!r}. Leave it out for two labels.')
    if isinstance(source, str) and source.startswith("demo:"):
        return _demo(source, format, given)
    if is_paths(source):
        listed = paths_of(source)
        name = listed[0] if len(listed) == 1 else f"{listed[0]} and {counted(len(listed) - 1, 'other file')}"
        return Files(name, listed, lambda path: read(path, format, **given))
    if (paths := named_by(source)) is not None:
        return Files(os.fspath(source), paths, lambda path: read(path, format, **given))
    if not isinstance(source, (str, os.PathLike)) and not hasattr(source, "read"):
        raise SourceError(f"a source must be a path or demo:NAME: got {type(source).__name__}. Pass arrays as (X, y).")
    if format is None and isinstance(source, (str, os.PathLike)) and _suffix(os.fsdecode(source)) == ".npz":
        format = "npz"  # by its name: its first bytes are those of a zip archive
    if format is not None and format not in BUILT_IN and format not in names("format"):
        raise SourceError(f"a format must be one of {', '.join(names('format'))}: got {format!r}.")
    content, found, notes = _sniffed(source, given.get("delimiter")) if format is None else (source, format, [])
    make = entry(found, "format").load()
    check_options(make, given, f"{found} ({'requested' if format else 'detected'})", _named(source))
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
                f"for {name}. Leave it out, or name another format: {', '.join(sorted(BUILT_IN))}."
            )


def sniff(head: bytes) -> str | None:
    """Return the format of data with these first bytes; None for a table or an unknown format."""
    for name, one in BUILT_IN.items():
        if one.mark in head and (recognises := format_of(name).recognises) is not None and recognises(head):
            return name
    return None


def _sniffed(source: object, delimiter: str | None) -> tuple[object, str, list[str]]:
    """Return the source, its format, and notes.

    A source that can be read only once is returned with the inspected bytes still unread.
    """
    notes: list[str] = []
    name = Origin(source).name
    if (suffix := _suffix(name)) not in SUFFIXES and (found := _registered(suffix, None, notes)):
        return source, found, notes
    _, content, head, _ = look_at(source, 1, most=SNIFFED_BYTES)
    encoding = detected_encoding(head)
    if encoding is not None:
        head = head.decode(encoding, "ignore").encode()  # the last character may be cut off
    found = "jsonl" if ARRAY.match(head) else sniff(head)
    if found not in (None, "jsonl") and (encoding or "").startswith("utf-16"):
        raise SourceError(f"lines must be UTF-8: {name} ({found}) is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8.")
    if not found and isinstance(content, Opened):  # a header alone does not identify a table
        head = first_bytes(content, 2, 2, most=SNIFFED_BYTES)
    if found is None and suffix not in TABLES and not _looks_like_a_table(head, delimiter):
        found = _registered(suffix, head, notes)
        if found is None:
            more = [*(one for one in BUILT_IN if one not in READ_AS), *(one for one, _ in formats())]
            others = "".join(f", or {one}" for one in more)
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
            "labels are binary or multiclass", f"got the positive label {given['positive']!r} and multiclass",
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
