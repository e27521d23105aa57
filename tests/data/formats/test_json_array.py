"""JSON arrays of objects, read as one object per line."""

from __future__ import annotations

import io
import json
import random

import pytest

from novikoff.core.errors import SourceError
from novikoff.data.formats.byte_reader import OBJECTS, Opened
from novikoff.data.reader import read


def lines_of(text: bytes) -> bytes:
    return Opened(io.BytesIO(text), "rows.json", encoding=OBJECTS).read() or b""


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_array_gives_the_rows_of_its_lines(tmp_path, indent):
    rng = random.Random(2)
    rows = [
        {"a": rng.random(), "town": rng.choice(["Nîmes", 'a "b"', "c\\d", "[1, {", "x\ny"]), "y": k % 2}
        for k in range(4_000)
    ]
    array, lines = tmp_path / "rows.json", tmp_path / "rows.jsonl"
    array.write_text(json.dumps(rows, indent=indent))
    lines.write_text("\n".join(map(json.dumps, rows)))
    one, same = read(array), read(lines)
    assert one.describe() == same.describe()
    for left, right in zip(one.batches(), same.batches(), strict=False):
        assert left.y[: len(right)].tolist() == right.y[: len(left)].tolist()
    assert [json.loads(line) for line in lines_of(array.read_bytes()).splitlines()] == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [(b'[{"a": 1}', "is not closed"), (b'[{"a": 1}, {"a": ', "must be a JSON array: it is not"),
     (b'[{"a": 1}] {"a": 2}', "there is more behind it")],
)  # fmt: skip
def test_damaged_array_is_an_error(text, message):
    with pytest.raises(SourceError, match=message):
        lines_of(text)


def test_array_in_utf16_and_behind_a_byte_order_mark():
    rows = [{"a": k, "town": "Nîmes"} for k in range(50)]
    for code in ("utf-16", "utf-8-sig"):
        assert [
            json.loads(line) for line in lines_of(json.dumps(rows, ensure_ascii=False).encode(code)).splitlines()
        ] == rows


def test_time_grows_linearly_with_the_array():
    """An element is decoded again only after the text has doubled."""
    large = json.dumps([{"a": "x" * 1_000_000, "b": k} for k in range(3)]).encode()
    assert [json.loads(line)["b"] for line in lines_of(large).splitlines()] == [0, 1, 2]
