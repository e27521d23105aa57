"""Rows of the data that a proof names.

The canonical text of a row is one line. SHA-256 of all lines, in order, names the data.

    vectors   label, then place:value of every value that is not 0, by place from 0; values as hexadecimal floats:
              "-1 0:0x1.8000000000000p+0 7:-0x1.0000000000000p-2"
    points    label, then whole numbers: "1 5" or "-1 3,4"
    outcomes  the same with a number for the label: "0x1.8000000000000p+0 0:0x1.0000000000000p+0"
    losses    one hexadecimal float per expert: "0x0.0p+0 0x1.0000000000000p-1"
    forecasts as losses: the log loss of each forecaster in the round and, last, of the forecast played
    numbers   as losses: the outcome, the forecast of each forecaster and, last, the forecast played
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from novikoff_verify.exact import NotCoveredError, RefutedError, count, require, unique

KINDS = ("vectors", "outcomes", "points", "losses", "forecasts", "numbers")
UNLABELLED = ("losses", "forecasts", "numbers")
MOST = 10**9
"""Largest number of rounds."""
WHOLE = 2.0**53
"""Size up to which a double that is a whole number is the number that was written."""


class Row(NamedTuple):
    """A row: its label, or outcome (0 if it has none), and x: pairs (place, value), whole numbers, or losses."""

    y: Any
    x: list[Any]


def canonical(kind: str, row: Row) -> str:
    """Return the canonical text of a row."""
    if kind in UNLABELLED:
        return " ".join(value.hex() for value in row.x)
    if kind == "points":
        return f"{row.y} {','.join(map(str, row.x))}"
    y = row.y.hex() if kind == "outcomes" else str(row.y)
    return " ".join([y, *(f"{place}:{value.hex()}" for place, value in row.x if value)])


def rows_of(path: str, data: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of a file; raise `RefutedError` at its end if they are not those that the proof names."""
    kind, total, names = data["kind"], data["rows"], data.get("labels", {})
    if kind not in KINDS:
        raise NotCoveredError(f"rows of kind {kind!r:.40}")
    if data.get("sha256") is None:
        raise NotCoveredError("the proof does not name its data")
    sound = isinstance(names, dict) and all(type(number) is int for number in names.values())
    require(sound and len(set(names.values())) == len(names), "labels must have whole numbers, which differ")
    digest, seen = hashlib.sha256(), 0
    try:
        for row in _read(Path(path), kind, data):
            digest.update(canonical(kind, row).encode() + b"\n")
            seen += 1
            require(seen <= total, f"the data has more than {total:,} rows")
            if kind in ("vectors", "outcomes"):
                last = -1
                for place, _ in row.x:
                    require(place > last, "the places of a row must increase from 0")
                    last = place
            yield row
    except OSError as error:
        raise NotCoveredError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, csv.Error) as error:
        raise RefutedError(f"row {seen + 1:,} cannot be read: {error!r:.200}") from None
    require(seen == total, f"the data has {seen:,} rows, the proof is about {total:,}")
    require(digest.hexdigest() == data.get("sha256"), "the data is not what the proof names: another SHA-256")


def flags(proof: dict[str, Any], name: str) -> Callable[[int], bool]:
    """Return a function that tells of a round, from 0, whether its bit is set: `wrong`, `missed` or `group`."""
    rounds, packed = count(proof["data"]["rows"], "rows", MOST), proof.get(name)
    if packed is None:
        raise NotCoveredError(f"{name}: rounds that are not in the proof")
    size = -(-rounds // 8)
    try:
        unpacking = zlib.decompressobj()
        bits = unpacking.decompress(base64.b64decode(packed, validate=True), size + 1)
    except (ValueError, TypeError, zlib.error):
        raise RefutedError(f"the rounds that are {name} cannot be read") from None
    whole = len(bits) == size and unpacking.eof and not unpacking.unused_data
    require(whole, f"the list of rounds that are {name} has another length than the game")
    require(not rounds % 8 or bits[-1] >> rounds % 8 == 0, f"rounds after the last one are {name}")
    return lambda t: bool(bits[t >> 3] >> (t & 7) & 1)


def _read(path: Path, kind: str, data: dict[str, Any]) -> Iterator[Row]:
    """Yield rows in the format that the end of the name says: .rows (canonical text), .csv, .jsonl, else svmlight."""
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".rows":
            yield from (_parsed(line, kind) for line in file)
        elif path.suffix in (".csv", ".tsv"):
            yield from _table(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","), kind, data)
        elif path.suffix == ".jsonl":
            yield from _table((json.loads(line, object_pairs_hook=unique) for line in file if line.strip()), kind, data)
        elif kind in ("vectors", "outcomes"):
            yield from (_sparse(line, kind, data) for line in file if line.partition("#")[0].strip())
        else:
            raise NotCoveredError(f"{kind} in a file that ends with {path.suffix!r}: write one with --proof-rows")


def _parsed(line: str, kind: str) -> Row:
    """Return a row from its canonical text."""
    words = line.split()
    if kind in UNLABELLED:
        return Row(0, [float.fromhex(word) for word in words])
    if kind == "points":
        return Row(int(words[0]), [int(word) for word in words[1].split(",")])
    pairs = (word.split(":") for word in words[1:])
    y = float.fromhex(words[0]) if kind == "outcomes" else int(words[0])
    return Row(y, [(int(place), float.fromhex(value)) for place, value in pairs])


def _sparse(line: str, kind: str, data: dict[str, Any]) -> Row:
    """Return a row of an svmlight file."""
    label, *words = line.partition("#")[0].split()
    first = count(data.get("first_place", 0), "first_place", 1)
    found = [(int(place) - first, float(value)) for place, value in (w.split(":") for w in words)]
    return Row(_label(label, kind, data), sorted((place, value) for place, value in found if value))


def _table(lines: Any, kind: str, data: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of a table whose columns are numbers."""
    columns, label = data.get("columns"), data.get("label")
    if not columns:
        raise NotCoveredError(
            "a table whose columns are not all numbers, or were scaled: write the rows with --proof-rows"
        )
    require(len(set(columns)) == len(columns) and label not in columns, "a column is used twice")
    for line in lines:
        if others := set(line) - {*columns} - ({label} if label is not None else set()):
            raise NotCoveredError(f"a table with columns that the proof leaves out: {sorted(map(str, others))!r:.100}")
        values = [float(line[name]) for name in columns]
        if kind in UNLABELLED:
            yield Row(0, values)
        elif kind == "points":
            whole = all(value.is_integer() and abs(value) < WHOLE for value in values)
            require(whole, "a point must have whole numbers")
            yield Row(_label(line[label], kind, data), [int(value) for value in values])
        else:
            yield Row(_label(line[label], kind, data), [(k, value) for k, value in enumerate(values) if value])


def _label(text: Any, kind: str, data: dict[str, Any]) -> Any:
    """Return the number of a label: that of the same text, or of an equal number."""
    if kind == "outcomes":
        return float(text)
    names: dict[str, int] = data.get("labels", {})
    if str(text).strip() in names:
        return names[str(text).strip()]
    equal = [number for name, number in names.items() if _same(name, text)]
    require(bool(equal) or not names, f"a label that the proof does not name: {text!r:.80}")
    return equal[0] if equal else int(text)


def _same(name: str, text: Any) -> bool:
    """Return whether two texts are equal numbers."""
    try:
        return float(name) == float(text)
    except ValueError:
        return False
