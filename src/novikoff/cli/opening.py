"""Sources of the command line: open them, and print their notes on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from novikoff.cli.output import flag
from novikoff.core.errors import InputError, with_options
from novikoff.core.stream import Stream
from novikoff.core.types import Labels
from novikoff.game import specs

if TYPE_CHECKING:
    from novikoff.data.tables.table import Table


NAMED = 12
"""Largest number of labels to print."""


def open_source(source: str, options: dict[str, Any], numbers: bool = False) -> Stream:
    """Open a file, standard input, demo:NAME or stream:NAME:arguments.

    Args:
        source: Source, as on the command line.
        options: Options of the reader; None values are left out.
        numbers: Whether the learner is a regressor, so that outcomes are read as numbers.
    """
    given = {key: value for key, value in options.items() if value is not None}
    if source.startswith("stream:"):
        if given:
            raise InputError(f"a generated stream takes no reading options: got {', '.join(given)}.")
        stream: Stream = specs.make(source.removeprefix("stream:"), "stream")
        return stream
    from novikoff.data.reader import read

    if numbers and "labels" not in given:
        given["outcomes"] = "numbers"
    return read(source, **given)


def notes(stream: Any) -> list[str]:
    """Return the notes of a source, with options as flags."""
    return [with_options(note, flag) for note in stream.notes]


def print_notes(stream: Stream, silent: bool, printed: list[str] | None = None) -> list[str]:
    """Print the notes of a source on standard error: format and labels before a pass, skipped lines after it.

    Args:
        stream: Source.
        silent: Print nothing.
        printed: Notes printed before; None before the first pass.

    Returns:
        All notes so far.
    """
    found = notes(stream)
    if silent:
        return found
    for note in found:
        if note not in (printed or ()):
            print(note, file=sys.stderr)
    if printed is None and stream.labels not in (None, Labels()):
        print(f"labels: {stream.labels}", file=sys.stderr)
    if printed is None and stream.multiclass and stream.label_values:
        shown, more = stream.label_values[:NAMED], len(stream.label_values) - NAMED
        print(f"labels: {', '.join(map(str, shown))}" + (f" and {more:,} more" if more > 0 else ""), file=sys.stderr)
    return found


def print_target(stream: Stream, silent: bool) -> None:
    """Print the target column, and how it was chosen, on standard error."""
    if not silent and stream.target_column is not None:
        print(f"target: {stream.target_column}", file=sys.stderr)


def opened_table(stream: Stream) -> Table:
    """Return the stream if it is a table; raise otherwise."""
    from novikoff.data.tables.table import Table

    if not isinstance(stream, Table):
        raise InputError(f"a table is needed: {stream.name} is not one.")
    return stream


def print_columns(stream: Stream, silent: bool) -> None:
    """Print how the columns of a table are interpreted on standard error, if one of them is not a number."""
    if silent or stream.encoding is None or stream.encoding.dense:
        return
    for line in opened_table(stream).describe():
        print(line, file=sys.stderr)


def size_of(source: str) -> int | None:
    """Return the size of a file in bytes, or None if it is not a file."""
    try:
        return os.stat(source).st_size
    except OSError:
        return None
