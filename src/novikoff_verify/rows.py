"""Rows of the data that a proof names.

The canonical text of a row is one line. SHA-256 of all lines, in order, names the data.

    vectors   label, then place:value of every value that is not 0, by place from 0; values as hexadecimal floats:
              "-1 0:0x1.8000000000000p+0 7:-0x1.0000000000000p-2"
    points    label, then whole numbers: "1 5" or "-1 3,4"
    losses    one hexadecimal float per expert: "0x0.0p+0 0x1.0000000000000p-1"
    forecasts the same: the log loss of each forecaster in the round and, last, of the forecast played
    numbers   the same: the outcome, the forecast of each forecaster and, last, the forecast played
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from novikoff_verify.exact import NotCoveredError, RefutedError, count, require

KINDS = ("vectors", "points", "losses", "forecasts", "numbers")
UNLABELLED = ("losses", "forecasts", "numbers")


class Row(NamedTuple):
    """A row: its label (0 if it has none), and x: pairs (place, value), whole numbers, or losses."""

    y: int
    x: list[Any]


def canonical(kind: str, row: Row) -> str:
    """Return the canonical text of a row."""
    if kind in UNLABELLED:
        return " ".join(value.hex() for value in row.x)
    if kind == "points":
        return f"{row.y} {','.join(map(str, row.x))}"
    return " ".join([str(row.y), *(f"{place}:{value.hex()}" for place, value in row.x if value)])


def rows_of(path: str, data: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of a file; raise `RefutedError` at its end if they are not those that the proof names."""
    kind, total = data.get("kind"), count(data.get("rows"), "rows")
    if kind not in KINDS:
        raise NotCoveredError(f"rows of kind {kind!r}")
    digest, seen = hashlib.sha256(), 0
    for row in _read(Path(path), kind, data):
        digest.update(canonical(kind, row).encode() + b"\n")
        seen += 1
        require(seen <= total, f"the data has more than {total:,} rows")
        yield row
    require(seen == total, f"the data has {seen:,} rows, the proof is about {total:,}")
    require(digest.hexdigest() == data.get("sha256"), "the data is not what the proof names: another SHA-256")


def mistakes(proof: dict[str, Any]) -> bytes:
    """Return a byte per round, 1 where the prediction was wrong."""
    rounds, packed = count(proof["data"]["rows"], "rows"), proof.get("wrong")
    if packed is None:
        raise NotCoveredError("the rounds of the mistakes are not in the proof")
    try:
        bits = zlib.decompress(base64.b64decode(packed, validate=True), bufsize=rounds // 8 + 1)
    except (ValueError, TypeError, zlib.error):
        raise RefutedError("the list of mistakes cannot be read") from None
    require(len(bits) == -(-rounds // 8), "the list of mistakes has another length than the game")
    flags = bytes(bits[t >> 3] >> (t & 7) & 1 for t in range(rounds))
    require(sum(byte.bit_count() for byte in bits) == sum(flags), "the list of mistakes goes on after the last round")
    return flags


def _read(path: Path, kind: str, data: dict[str, Any]) -> Iterator[Row]:
    """Yield rows in the format that the end of the name says: .rows (canonical text), .csv, .jsonl, else svmlight."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if path.suffix == ".rows":
                yield from (_parsed(line, kind) for line in file)
            elif path.suffix in (".csv", ".tsv"):
                yield from _table(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","), kind, data)
            elif path.suffix == ".jsonl":
                yield from _table((json.loads(line) for line in file if line.strip()), kind, data)
            elif kind == "vectors":
                yield from (_sparse(line, data) for line in file if line.partition("#")[0].strip())
            else:
                raise NotCoveredError(f"{kind} in a file that ends with {path.suffix!r}: write one with --proof-rows")
    except OSError as error:
        raise NotCoveredError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RefutedError(f"a row cannot be read: {error!r}") from None


def _parsed(line: str, kind: str) -> Row:
    """Return a row from its canonical text."""
    words = line.split()
    if kind in UNLABELLED:
        return Row(0, [float.fromhex(word) for word in words])
    if kind == "points":
        return Row(int(words[0]), [int(word) for word in words[1].split(",")])
    pairs = (word.split(":") for word in words[1:])
    return Row(int(words[0]), [(int(place), float.fromhex(value)) for place, value in pairs])


def _sparse(line: str, data: dict[str, Any]) -> Row:
    """Return a row of an svmlight file."""
    label, *words = line.partition("#")[0].split()
    found = [(int(place) - data.get("first_place", 0), float(value)) for place, value in (w.split(":") for w in words)]
    return Row(_label(label, data), sorted((place, value) for place, value in found if value))


def _table(lines: Any, kind: str, data: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of a table whose columns are numbers."""
    columns = data.get("columns")
    if not columns:
        raise NotCoveredError(
            "a table whose columns are not all numbers, or were scaled: write the rows with --proof-rows"
        )
    for line in lines:
        values = [float(line[name]) for name in columns]
        if kind in UNLABELLED:
            yield Row(0, values)
        elif kind == "points":
            yield Row(_label(line[data["label"]], data), [int(value) for value in values])
        else:
            yield Row(_label(line[data["label"]], data), [(k, value) for k, value in enumerate(values) if value])


def _label(text: Any, data: dict[str, Any]) -> int:
    """Return the number of a label: that of the same text, or of an equal number."""
    names: dict[str, int] = data.get("labels", {})
    if str(text).strip() in names:
        return names[str(text).strip()]
    equal = [number for name, number in names.items() if _same(name, text)]
    return equal[0] if equal else int(text)


def _same(name: str, text: Any) -> bool:
    """Return whether two texts are equal numbers."""
    try:
        return float(name) == float(text)
    except ValueError:
        return False
