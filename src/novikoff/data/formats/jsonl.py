"""JSON lines as a stream: one object per line, `{"label": 1, "age": 31, "city": "Rome", "pixels": [0, 0.5]}`.

Format
    UTF-8; blank lines, CRLF, a missing last new line, a byte order mark and compressed files are accepted.
    Numbers are read exactly as by Python's float, and must be finite; true is 1 and false 0. Errors, with line and
    key: null, NaN, Infinity, a repeated key, arrays of anything but numbers.
Features
    Keys may vary between lines, so features are hashed, not numbered: a saved learner recognises them in any other
    file, and memory stays bounded. A nested object is a namespace of data/formats/vw.py, named by its path
    ("user.home"), an array one with the features 0, 1, 2, ...; a text is the feature "key=text" with value 1. So
    `{"label": 1, "f": {"9": 0.5, "hot": 1}}` is `1 |f 9:0.5 hot`, index for index. The items of an array never collide
    with each other; two keys collide with probability 1/2^bits. Entries with the same index in a row are summed.
Labels
    Under the key `label`; by default a key of the first object named label, y, class or target, otherwise its last key.
    Two values, the larger +1, numbers (also as text) or text; `positive` overrides; `multiclass` for 0 .. k-1.
    If all labels are true or false, predictions are too.
Cost
    One pass with Python's json in one thread; memory for a few chunks (or the longest line).
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from novikoff.core.errors import Advice, LabelError, Option
from novikoff.core.stream import Target
from novikoff.core.types import Batch, Labels, Position, Sparse
from novikoff.data.formats.labelled_lines import CHUNK_BYTES, LabelledLines, Parsed, Parser
from novikoff.data.formats.lines import BadLineError, BadValueError
from novikoff.data.hashing import hashed
from novikoff.data.layout import is_number, target_column

MOST_NAMES = 2**17
"""Maximum number of cached hashes."""
EXACT = 2.0**53
"""Limit below which every integer is a double."""
MUST = "a line must be one JSON object"
CORRECT = "Correct the line"
NO_LABEL = "no label"
"""Key of the dummy label that is inserted into objects without a label."""


def _with_label(start: re.Match[bytes]) -> bytes:
    """Return the start of an object with the dummy label inserted."""
    return b'\n%b"%b":-1%b' % (start[1], NO_LABEL.encode(), b"," if start[2] is None else start[2])


class JSONL(LabelledLines):
    """Stream over JSON lines with nested or varying objects, whose features are hashed.

    Args:
        source: Path, "-" for standard input, or binary file object.
        label: Key of the label; by default label, y, class or target, otherwise the last key of the first object.
        positive: Label for +1; every other label is -1.
        bits: Features are hashed into 2^bits indices.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        skip_bad: Number of bad lines to skip before an error; `skipped` lists them as (line, message).
        chunk: Bytes parsed at a time; a line may be longer.
    """

    dummy_label = b'"%b":-1,' % NO_LABEL.encode()
    line_start = re.compile(rb"\n([ \t]*+\{)([ \t]*+\})?")
    put_label = staticmethod(_with_label)

    def __init__(
        self,
        source: object,
        label: str | None = None,
        positive: object = None,
        bits: int = 18,
        multiclass: int | None = None,
        skip_bad: int = 0,
        chunk: int = CHUNK_BYTES,
    ) -> None:
        super().__init__(source, _label(positive), multiclass, bits, skip_bad, 1, chunk)
        self._asked = label
        self._key = label
        self.target_column = None if label is None else Target(label, "as asked")
        self._booleans = True  # whether all labels so far are booleans
        self._names = Names(bits)

    @classmethod
    def without_labels(cls, source: object, numbers: bool = False, **options: object) -> Self:
        """Open lines without labels, for prediction; the arguments are those of `LabelledLines.without_labels`."""
        return super().without_labels(source, numbers, label=NO_LABEL, **options)

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """Values for -1 and +1; None before they are known, and for multiclass. true and false stay booleans."""
        found = super().labels
        if found is None or not self._booleans or found.negative not in (-1, 0, 1) or found.positive not in (0, 1):
            return found
        return Labels(found.negative == 1, found.positive == 1)

    @property
    def label_values(self) -> list[object] | None:  # type: ignore[override]
        """Values of the numbered labels so far. true and false stay booleans."""
        found = super().label_values
        return [value == 1 for value in found] if found and self._booleans else found

    def _first_labels(self, head: bytes) -> set[str]:
        text = bytearray(head + b"\n")
        return set(map(str, self._parser(deque())(text, len(text), 1).labels.tolist()))

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        known = start or self._begin
        key = known.get("key", self._asked)
        self._key, self._booleans = key if isinstance(key, str) else None, bool(known.get("booleans", True))
        yield from super().batches(start)

    def _remembered(self) -> Position:
        return {"key": self._key, "booleans": self._booleans}

    def _parser(self, free: deque[bytearray]) -> Parser:
        decoder = json.JSONDecoder(object_pairs_hook=unrepeated, parse_int=float)

        def parse(text: bytearray, size: int, added: int) -> Parsed:
            lines = bytes(memoryview(text)[: size - 1]).split(b"\n")
            free.append(text)
            labels: list[object] = []
            row_lines: list[int] = []
            rows: list[dict[int, float]] = []
            bad: list[tuple[int, BadLineError]] = []
            for number, line in enumerate(lines):
                if not line.strip(b" \t\r"):
                    continue
                try:
                    label, row = self._row(line, decoder)
                except BadLineError as error:
                    bad.append((number, error))
                    if len(bad) > self._skip_bad:
                        break
                    continue
                labels.append(label)
                row_lines.append(number)
                rows.append(row)
            kind = float if self._numbers else object
            lengths = np.fromiter(map(len, rows), np.uint64, len(rows))
            indptr = np.zeros(len(rows) + 1, dtype=np.uint64)
            np.cumsum(lengths, out=indptr[1:])
            entries = int(indptr[-1])
            indices = np.fromiter((i for row in rows for i in row), np.uint32, entries)
            values = np.fromiter((x for row in rows for x in row.values()), np.float64, entries)
            x = Sparse(indptr, indices, values, self.domain.width or 0, checked=True)
            where = np.array(row_lines, dtype=np.uint32)
            return Parsed(np.array(labels, dtype=kind), where, x, len(lines), size - added, bad)

        return parse

    def _row(self, line: bytes, decoder: json.JSONDecoder) -> tuple[Any, dict[int, float]]:
        """Return the label and the values by index. Raises `BadLineError`."""
        line = line.removesuffix(b"\r")
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise BadLineError("text must be UTF-8", error.start + 1, line[error.start :], "Convert it") from None
        try:
            row = decoder.decode(text)
            if not isinstance(row, dict):
                raise BadLineError(MUST, 1, line, CORRECT)
            label = self._take_label(row, line)
            entries: dict[int, float] = {}
            self._names.add(entries, row, "")
            return label, entries
        except json.JSONDecodeError as error:
            raise BadLineError(MUST, error.pos + 1, text[error.pos :].encode(), CORRECT) from None
        except RecursionError:
            raise BadLineError("an object is nested too deeply", 1, line, "Flatten it") from None

    def _take_label(self, row: dict[str, object], line: bytes) -> object:
        """Remove and return the label of a row: a number, or text if the first label of the stream was text."""
        if self._key is None:
            if not row:
                raise BadLineError("an object must have a label", 1, line, CORRECT, LabelError)
            place, chosen = target_column([*row])
            self._key = [*row][place]
            self.target_column = Target(self._key, chosen)
        if self._key not in row:
            do = Advice("Add it, or pass ", Option("label", letter="KEY"))
            raise BadValueError("an object must have its label", "none", do, LabelError, key=self._key)
        given = row.pop(self._key)
        self._booleans &= isinstance(given, bool)
        value = _label(given)
        if not isinstance(value, (float, str)):
            do = Advice("Pass ", Option("label", letter="KEY"))
            raise BadValueError("a label must be a number or text", _shown(given), do, LabelError, key=self._key)
        if isinstance(value, float) and not abs(value) < EXACT:  # two distinct labels must not round to the same double
            raise BadValueError("a label must be below 2^53", _shown(given), CORRECT, LabelError, key=self._key)
        if self._numbers is None:
            self._numbers = isinstance(value, float)
        if self._numbers != isinstance(value, float):
            all_of = "numbers" if self._numbers else "text"
            must = f"labels must be {all_of}, as the first is"
            raise BadValueError(must, _shown(given), CORRECT, LabelError, key=self._key)
        return value


class Names:
    """Hashed indices of features by namespace and name, with a cache, because hashing in Python is slow."""

    def __init__(self, bits: int) -> None:
        self._mask = 2**bits - 1
        self._known: dict[str, tuple[int, dict[str, int]]] = {}
        self._count = 0

    def add(self, entries: dict[int, float], items: dict[str, Any], path: str) -> None:
        """Add the values of an object at that path to the entries."""
        base, indices = self._namespace(path)
        for key, value in items.items():
            kind = type(value)
            if kind is float or kind is int:
                name, x = key, float(value)
            elif kind is str:
                name, x = f"{key}={value}", 1.0
            elif kind is bool:
                name, x = key, float(value)
            elif kind is dict:
                self.add(entries, value, f"{path}.{key}" if path else key)
                continue
            elif kind is list:
                self._add_array(entries, value, f"{path}.{key}" if path else key)
                continue
            else:
                raise BadValueError(
                    "a feature must be a number or text", "null", "Fill it or leave it out", key=_path(path, key)
                )
            i = indices.get(name)
            if i is None:
                i = self._index(name, base, indices)
            x = entries[i] + x if i in entries else x
            if not math.isfinite(x):
                raise BadValueError(_must(value), _shown(value), "Scale it, or leave it out", key=_path(path, key))
            entries[i] = x

    def known(self) -> dict[int, str]:
        """Return the cached names by index; names that share an index are joined."""
        found: dict[int, str] = {}
        for path, (_, indices) in self._known.items():
            for name, index in indices.items():
                name = f"{path}.{name}" if path else name
                found[index] = f"{found[index]} + {name}" if index in found else name
        return found

    def _add_array(self, entries: dict[int, float], items: list[Any], path: str) -> None:
        base, _ = self._namespace(path)
        for k, value in enumerate(items):
            if type(value) not in (float, int, bool):
                raise BadValueError("an array must be of numbers", _shown(value), CORRECT, key=f"{path}[{k}]")
            i = (base + k) & self._mask
            x = entries[i] + value if i in entries else float(value)
            if not math.isfinite(x):
                raise BadValueError(_must(value), _shown(value), "Scale it, or leave it out", key=f"{path}[{k}]")
            entries[i] = x

    def _namespace(self, path: str) -> tuple[int, dict[str, int]]:
        """Return the hash of a namespace, and the cached indices in it."""
        if path not in self._known:
            self._keep()
            self._known[path] = (hashed(_bytes(path), 0) if path else 0, {})
        return self._known[path]

    def _index(self, name: str, base: int, indices: dict[str, int]) -> int:
        self._keep()
        indices[name] = hashed(_bytes(name), base) & self._mask
        return indices[name]

    def _keep(self) -> None:
        """Count one more cached name; clear the cache when it is full."""
        self._count += 1
        if self._count > MOST_NAMES:
            self._count = 1
            self._known.clear()


def unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object as a dict; raise BadValueError for a repeated key."""
    items = dict(pairs)
    if len(items) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise BadValueError("a key must not be repeated in an object", "two values", CORRECT, key=twice)
    return items


def _label(value: object) -> object:
    """Return a label as float if it is or is written as a number; otherwise text without surrounding spaces."""
    if isinstance(value, (bool, int, float)) or (isinstance(value, str) and is_number(value)):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return value.strip() if isinstance(value, str) else value


def _must(value: Any) -> str:
    finite = isinstance(value, (bool, str)) or math.isfinite(value)
    return "values of one index must have a finite sum" if finite else "a feature must be finite"


def _path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _shown(value: object) -> str:
    """Return a value for a message, shortened: null, "spam", [1.0, nul..."""
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
