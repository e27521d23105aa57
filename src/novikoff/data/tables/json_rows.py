"""JSON lines whose objects are rows of a table: `{"age": 31, "city": "Rome", "label": "yes"}`, with plain values.

A key is a column; null and an absent key are missing values. A key that first appears later is an error. Nested
objects, lists, and varying keys are read by data/formats/jsonl.py.
Cost: Python's json, in one thread; memory for a few chunks.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from novikoff.core.errors import SourceError, quoted
from novikoff.core.types import Position, counts_at
from novikoff.data.formats.byte_reader import OBJECTS
from novikoff.data.formats.labelled_lines import BYTE_ORDER_MARK, CHUNK_BYTES
from novikoff.data.formats.lines import whole_lines
from novikoff.data.tables.cells import array
from novikoff.data.tables.column import Kind
from novikoff.data.tables.table_reader import RECOGNISED_ROWS, SKIP, Piece, TextReader

CORRECT = "Correct the line."
SURROGATE = re.compile(r"[\ud800-\udfff]")


class Objects(TextReader):
    """Reader of JSON lines as a table.

    Args:
        source: Path, "-" for standard input, or binary file object.
        skip_bad: Number of bad lines to skip; None if the caller has no such option.
        chunk: Bytes parsed at a time.
        first_alone: Whether the columns are the keys of the first line alone, not of the first thousand lines.
        encoding: Encoding of the text; None detects it.
    """

    contents = OBJECTS

    def __init__(
        self, source: object, skip_bad: int | None = 0, chunk: int = CHUNK_BYTES, first_alone: bool = False,
        encoding: str | None = None,
    ) -> None:  # fmt: skip
        self.most_bad = skip_bad or 0
        self._skip_bad, self._chunk, self._first_alone = skip_bad, chunk, first_alone
        super().__init__(source, encoding)

    def _look(self, text: bytes) -> None:
        self._first = first_objects(text, self.name)
        first = self._first[:1] if self._first_alone else self._first
        self.names = list(dict.fromkeys(key for row in first for key in row))

    def head(self) -> Mapping[str, list[Any]]:
        return {name: [row.get(name) for row in self._first] for name in self.names}

    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        here = counts_at(start) if start else {"row": 0, "line": 0, "byte": self.first, "bad": 0}
        known = {*self.names}
        free: deque[bytearray] = deque()
        with self._from(here["byte"]) as opened:
            for text, size, added in whole_lines(opened, self._chunk, 0, free):
                lines = bytes(memoryview(text)[: size - 1]).split(b"\n")
                free.append(text)
                if here["byte"] == 0:
                    lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
                yield self._piece(lines, size - added, here, wanted, known)

    def _piece(
        self, lines: list[bytes], size: int, here: dict[str, int], wanted: Mapping[str, Kind], known: set[str]
    ) -> Piece:  # fmt: skip
        rows: list[dict[str, object]] = []
        numbers: list[int] = []
        error = None
        for number, line in enumerate(lines, here["line"] + 1):
            if not line.strip(b" \t\r"):
                continue
            try:
                row = _row(line, known)
                rows.append(row)
                numbers.append(number)
            except SourceError as fault:
                fault.where.pop("row", None)
                fault.at(line=number, source=self.name)
                if here["bad"] >= (self._skip_bad or 0):
                    error = fault if self._skip_bad is None else fault.advise(*SKIP)
                    break
                here["bad"] += 1
                self.skipped.append((number, fault.what))
        here.update(row=here["row"] + len(rows), line=here["line"] + len(lines), byte=here["byte"] + size)
        arrays = {name: array([row.get(name) for row in rows], kind) for name, kind in wanted.items()}
        return Piece(arrays, len(rows), size, dict(here), lambda row: {"line": numbers[row]}, error)


def _row(line: bytes, known: set[str]) -> dict[str, Any]:
    """Return the object on a line; raise SourceError unless it is a row of the table."""
    try:
        row = json.loads(line, parse_constant=_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise SourceError("a line must be one JSON object", f"is not ({error})", CORRECT) from None
    if not isinstance(row, dict):
        raise SourceError("a line must be one JSON object", "is not", CORRECT)
    if not row.keys() <= known:
        new = next(key for key in row if key not in known)
        do = "Add it to the first line, with the value null if there is none."
        raise SourceError("an object must have the keys of the first ones", f"has a new key, {quoted(new)}", do)
    if b"\\u" in line and SURROGATE.search("".join(value for value in row.values() if isinstance(value, str))):
        raise SourceError("text must be Unicode", "has half a surrogate pair, such as \\ud800", CORRECT)
    nested = next((key for key, value in row.items() if isinstance(value, (dict, list))), None)
    if nested is not None:
        must, was = "values must be plain, as in the first lines", f"has {quoted(json.dumps(row[nested]))}"
        raise SourceError(must, was, CORRECT, column=nested)
    return row


def _constant(name: str) -> float | None:
    if name == "NaN":
        return None  # missing
    raise ValueError(f"numbers must be finite: got {name}")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key occurs twice")
    return row


def first_objects(text: bytes, name: str) -> list[dict[str, object]]:
    """Return the first objects of a text. Raises SourceError if they are not JSON objects."""
    lines = text.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    rows = []
    for line in lines[: RECOGNISED_ROWS if len(lines) > 1 else 1]:
        if line.strip(b" \t\r"):
            try:
                rows.append(json.loads(line, parse_constant=_constant))
            except ValueError:
                break
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise SourceError(f"a line must be one JSON object: the first of {name} is not. Check the format.")
    return rows


def is_table(text: bytes) -> bool:
    """Return whether the lines are rows of a table: plain values, and nearly the same keys in all."""
    try:
        rows = first_objects(text, "")
    except SourceError:
        return False
    keys = {key for row in rows for key in row}
    plain = not any(isinstance(value, (dict, list)) for row in rows for value in row.values())
    return plain and sum(map(len, rows)) > 0.7 * len(keys) * len(rows)
