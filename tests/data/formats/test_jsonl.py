from __future__ import annotations

import gzip
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

import novikoff as nk
from helpers import soon, typed
from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data import streaming_labels
from novikoff.data.formats import jsonl
from novikoff.data.formats.jsonl import JSONL
from novikoff.data.formats.vw import VW

BOTH = b'{"y": 1, "1": 1}\n{"y": -1, "1": 1}\n'


# an independent reader: slow, plain, the whole text at once, with its own JSON and scikit-learn's hash


class BadError(Exception):
    pass


def slow(data, bits=18, label=None):
    """The rows (line, label, {index: value}) and the numbers of bad lines, from 0."""
    rows, bad = [], []
    numbers = None
    for number, line in enumerate(data.split(b"\n")):
        if not line.strip(b" \t\r"):
            continue
        try:
            text = line.decode()
            pairs, end = slow_value(text, skip(text, 0))
            if skip(text, end) != len(text) or not isinstance(pairs, tuple):
                raise BadError
            if label is None and pairs:
                lower = [key.lower() for key, _ in pairs]
                found = [lower.index(name) for name in ("label", "target") if name in lower]
                edges = lower[0] in ("class", "y") and lower[-1] not in ("class", "y")
                label = pairs[found[0] if found else 0 if edges else -1][0]
            (given,) = (value for key, value in pairs if key == label)
            value = slow_label(given)
            if numbers is None:
                numbers = isinstance(value, float)
            if numbers != isinstance(value, float):
                raise BadError
            row = {}
            slow_features(tuple((key, value) for key, value in pairs if key != label), "", row, bits)
            rows.append((number, value, row))
        except (BadError, ValueError, RecursionError):
            bad.append(number)
    return rows, bad


def skip(text, at):
    return re.compile(r"[ \t\n\r]*").match(text, at).end()


def slow_value(text, at):
    """The value that begins there and where it ends: an object as a tuple of pairs, an array as a list."""
    number = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?").match(text, at)
    if number:
        return float(number.group()), number.end()
    for word, value in (("true", True), ("false", False), ("null", None), ("NaN", math.nan), ("Infinity", math.inf)):
        if text.startswith(word, at):
            return value, at + len(word)
    if text.startswith("-Infinity", at):
        return -math.inf, at + 9
    if text[at : at + 1] == '"':
        return slow_string(text, at)
    if text[at : at + 1] not in ("[", "{"):
        raise BadError
    close, items = ("]", []) if text[at] == "[" else ("}", [])
    at = skip(text, at + 1)
    if text[at : at + 1] == close:
        return (items if close == "]" else ()), at + 1
    while True:
        if close == "}":
            if text[at : at + 1] != '"':
                raise BadError
            key, at = slow_string(text, at)
            at = skip(text, at)
            if text[at : at + 1] != ":":
                raise BadError
            at = skip(text, at + 1)
        value, at = slow_value(text, at)
        items.append(value if close == "]" else (key, value))
        at = skip(text, at)
        if text[at : at + 1] == close:
            if close == "}" and len({key for key, _ in items}) < len(items):
                raise BadError
            return (items if close == "]" else tuple(items)), at + 1
        if text[at : at + 1] != ",":
            raise BadError
        at = skip(text, at + 1)


def slow_string(text, at):
    found = re.compile(r'"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"').match(text, at)
    if not found:
        raise BadError
    short = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

    def unescaped(match):
        code = match.group(1)
        return chr(int(code[1:], 16)) if code[0] == "u" else short.get(code, code)

    units = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", unescaped, found.group(1))
    joined = re.sub("[\ud800-\udbff][\udc00-\udfff]", pair, units)
    return joined, found.end()


def pair(match):
    high, low = match.group()
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + ord(low) - 0xDC00)


def slow_label(value):
    if isinstance(value, str) and re.fullmatch(r"[ \t]*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?[ \t]*", value):
        value = float(value)
    if not isinstance(value, (bool, float, str)) or (isinstance(value, float) and not -(2**53) < value < 2**53):
        raise BadError
    return value.strip() if isinstance(value, str) else float(value)


def slow_hash(name, seed):
    raw = name.encode("utf-8", "surrogatepass")
    if re.fullmatch(rb"[0-9]+", raw):
        return (int(raw) + seed) % 2**32
    return murmurhash3_32(raw, seed=seed, positive=True)


def slow_features(items, path, row, bits):
    seed = slow_hash(path, 0) if path else 0
    for key, value in items:
        within = f"{path}.{key}" if path else key
        if isinstance(value, tuple):
            slow_features(value, within, row, bits)
        elif isinstance(value, list):
            first = slow_hash(within, 0) if within else 0
            for k, item in enumerate(value):
                if not isinstance(item, (bool, float)):
                    raise BadError
                slow_entry(row, (first + k) % 2**bits, float(item))
        elif isinstance(value, str):
            slow_entry(row, slow_hash(f"{key}={value}", seed) % 2**bits, 1.0)
        elif value is None:
            raise BadError
        else:
            slow_entry(row, slow_hash(key, seed) % 2**bits, float(value))


def slow_entry(row, i, value):
    row[i] = row[i] + value if i in row else value
    if not math.isfinite(row[i]) or not math.isfinite(value):
        raise BadError


def read(data, **options):
    """Every row as (y, indices, values)."""
    stream = JSONL(io.BytesIO(data) if isinstance(data, bytes) else data, **options)
    return rows_of(list(stream.batches()), 2 ** options.get("bits", 18))


def rows_of(batches, width=2**18):
    rows = []
    for batch in batches:
        assert batch.first == len(rows) + 1
        assert batch.x.width == width
        assert (batch.x.indptr.dtype, batch.x.indices.dtype, batch.x.values.dtype) == (np.uint64, np.uint32, np.float64)
        rows += [(int(y), i.tolist(), v.tobytes()) for (i, v), y in batch.rows()]
        assert width > max((i for _, row, _ in rows for i in row), default=-1)
    return rows


def values(*numbers):
    return np.array(numbers, dtype=float).tobytes()


def fails(data, **options):
    with pytest.raises(SourceError) as caught:
        read(data, **options)
    return str(caught.value)


def lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


# what is read


def test_a_line_is_an_object_with_a_label_and_numbers():
    assert read(b'{"label": 1, "1": 0.5, "7": -2}\n{"3": 1e-3, "label": -1}\n') == [
        (1, [1, 7], values(0.5, -2)),
        (-1, [3], values(0.001)),
    ]


def index(path, name, bits=18):
    return slow_hash(name, slow_hash(path, 0) if path else 0) % 2**bits


@pytest.mark.parametrize(
    ("row", "indices", "numbers"),
    [
        ("", [], []),
        (', "a": 5', [index("", "a")], [5]),
        (', "a": true, "b": false', [index("", "a"), index("", "b")], [1, 0]),
        (', "city": "Rome"', [index("", "city=Rome")], [1]),
        (', "city": ""', [index("", "city=")], [1]),
        (', "a": {"b": 2, "c": {"d": 3}}', [index("a", "b"), index("a.c", "d")], [2, 3]),
        (', "a": {"b": "x"}', [index("a", "b=x")], [1]),
        (', "a": {}, "b": []', [], []),
        (', "x": [5, 0.5, true]', [index("x", "0"), index("x", "1"), index("x", "2")], [5, 0.5, 1]),
        (', "a": {"x": [5, 6]}', [index("a.x", "0"), index("a.x", "1")], [5, 6]),
        (', "x": [5], "x.y": [6], "x[0]": 7', [index("x", "0"), index("x.y", "0"), index("", "x[0]")], [5, 6, 7]),
        (', "7": 1, "007": 2, "262151": 4', [7], [7]),
        (', "": 3', [index("", "")], [3]),
        (', "é": 3, "\\u00e8": 4', [index("", "é"), index("", "è")], [3, 4]),
        (', "\\ud83d\\ude00": 3', [index("", "😀")], [3]),
        (', "\\ud800": 3', [index("", "\ud800")], [3]),
        (', "a": 0, "b": -0, "c": -0.0', [index("", c) for c in "abc"], [0.0, -0.0, -0.0]),
        (', "a": 123456789012345678901234567890', [index("", "a")], [1.2345678901234568e29]),
        (', "a": 0.1234567890123456789012345678901234567890', [index("", "a")], [0.12345678901234568]),
        (', "a": 1e-400, "b": 5e-324, "c": 9007199254740993', [index("", c) for c in "abc"], [0, 5e-324, 2**53]),
        (' , "a" :\t1 ', [index("", "a")], [1]),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_the_format_in_all_its_forms(row, indices, numbers, end):
    data = ('{"label": -1}\n{"label": 1' + row + "}" + end).encode()
    assert read(data) == [(-1, [], b""), (1, indices, values(*numbers))]


def test_an_object_with_features_and_a_label_simply_works():
    rows = lines({"features": {"a": 1, "b": 2.5}, "label": 1}, {"features": {"b": 3}, "label": 0})
    a, b = index("features", "a"), index("features", "b")
    assert read(rows) == [(1, [a, b], values(1, 2.5)), (-1, [b], values(3))]


def test_an_object_within_is_a_namespace_of_vowpal_wabbit_text():
    ours = lines({"label": 1, "f": {"9": 0.5, "hot": 1}, "7": 2, "x": [3, 4]}, {"label": -1, "f": {"a": 2}})
    theirs = b"1 |f 9:0.5 hot| 7:2 |x :3 :4\n-1 |f a:2\n"
    batches = [list(reader(io.BytesIO(text)).batches()) for reader, text in ((JSONL, ours), (VW, theirs))]
    assert rows_of(batches[0]) == rows_of(batches[1])


def test_keys_may_come_and_go():
    rows = read(lines({"y": 0, "a": 1}, {"y": 1}, {"y": 0, "b": 1, "c": "x"}, {"c": "y", "y": 1, "a": 2}))
    assert [y for y, _, _ in rows] == [-1, 1, -1, 1]
    assert rows[0][1] == rows[3][1][1:]
    assert len({i for _, indices, _ in rows for i in indices}) == 4


def test_items_of_an_array_do_not_collide():
    ((_, indices, _), _) = read(lines({"y": 1, "pixels": [1] * 5000}, {"y": 0}), bits=13)
    assert len(indices) == 5000


def test_repeats_are_added_in_their_order_at_the_place_of_the_first():
    row = {"y": 1, "7": 1e16, "3": 0.5, "07": 1.0, "03": 0.25, "007": -1e16}
    assert read(lines({"y": 0}, row))[1] == (1, [7, 3], values((1e16 + 1.0) - 1e16, 0.75))


def test_more_names_than_are_kept_are_hashed_all_the_same(monkeypatch):
    rng = random.Random(1)
    rows = lines(
        *({"y": k % 2, f"a{rng.randrange(50)}": {f"b{rng.randrange(50)}": k, "c": f"{k}"}} for k in range(300))
    )
    want = read(rows)
    monkeypatch.setattr(jsonl, "MOST_NAMES", 7)
    assert read(rows) == want


def test_blank_lines_are_no_rows_and_lines_are_still_counted():
    text = b'\n\n   \n\t\r\n\r\n{"y": 1}\n \t \n{"y": 0}\n\n{"y": }\n'
    assert "line 10, column 7 of" in fails(text)
    assert read(text, skip_bad=1) == [(1, [], b""), (-1, [], b"")]


def test_a_byte_order_mark_is_skipped():
    assert read(b'\xef\xbb\xbf{"y": 1}\n{"y": 0}') == [(1, [], b""), (-1, [], b"")]
    assert "line 2, column 1" in fails(b'{"y": 1}\n\xef\xbb\xbf{"y": 0}\n')


@pytest.mark.parametrize("bits", [1, 5, 31, 32])
def test_an_index_is_below_two_to_the_bits(bits):
    row = b'{"y": 1, "f": {"a": 1, "b": 1, "4294967295": 1}, "x": [1, 2], "4294967295": 1, "4294967296": 1, "99": 1}\n'
    ((_, _, want),), _ = slow(row, bits)
    assert read(b'{"y": 0}\n' + row, bits=bits)[1] == (1, list(want), values(*want.values()))


def test_the_stream_says_what_it_is(tmp_path):
    path = tmp_path / "mail.jsonl"
    path.write_bytes(BOTH)
    stream = JSONL(path, bits=10)
    assert (stream.name, stream.domain, stream.rereadable) == (str(path), Domain("vector", 2**10), True)
    assert stream.bits == 10
    fingerprint = stream.fingerprint()
    assert (fingerprint["size"], fingerprint["mtime_ns"]) == (len(BOTH), path.stat().st_mtime_ns)
    assert stream.labels is None
    (batch,) = stream.batches()
    assert stream.labels == Labels(-1, 1)
    assert batch.y.dtype == np.int8
    assert stream.notes == []
    assert batch.end["row"] == 2
    assert batch.end["byte"] == len(BOTH)
    assert json.loads(json.dumps(batch.end)) == batch.end


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
def test_the_last_end_is_the_size_of_the_source(end):
    data = b'{"y": 1}\n{"y": 0}' + end
    *_, last = JSONL(io.BytesIO(data), chunk=1).batches()
    assert (last.end["byte"], last.end["row"], last.end["line"]) == (len(data), 2, 2)
    assert list(JSONL(io.BytesIO(data)).batches(last.end)) == []


def test_numba_is_not_imported_to_read():
    code = (
        "import sys, io; from novikoff.data.formats.jsonl import JSONL;"
        's = JSONL(io.BytesIO(b\'{"y": 1}\\n{"y": 0}\'));'
        "assert len(list(s.batches())) == 1; assert not {'numba', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# labels


@pytest.mark.parametrize(
    ("key", "chosen"),
    [("label", "by its name"), ("y", "last column"), ("TARGET", "by its name"), ("outcome", "last column")],
)
def test_the_label_is_under_a_known_key_or_the_last_of_the_first_object(key, chosen):
    rows = lines({"a": 5, key: 1}, {key: 0, "a": 6}, {key: 1, "b": 7})
    stream = JSONL(io.BytesIO(rows))
    for _ in range(2):
        assert [y for y, _, _ in rows_of(stream.batches())] == [1, -1, 1]
        assert stream.target_column == (key, chosen)


def test_of_several_known_keys_label_comes_first():
    rows = lines({"target": 5, "y": 6, "label": 1}, {"target": 5, "y": 6, "label": 0})
    assert [y for y, _, _ in read(rows)] == [1, -1]
    assert [y for y, _, _ in read(rows + lines({"target": 6, "y": 6, "label": 1}), label="target")] == [-1, -1, 1]


def test_of_two_keys_that_differ_in_case_only_the_first_counts():
    for first, other in (("Label", "label"), ("label", "LABEL")):
        assert [y for y, _, _ in read(lines({first: 1, other: 5}, {first: 0, other: 5}))] == [1, -1]


def test_labels_of_two_values_the_larger_is_plus_one():
    for low, high in ((1, 2), (0, 1), (-1, 1), (False, True), ("ham", "spam"), ("9", "10"), (0.25, 0.5)):
        assert [y for y, _, _ in read(lines({"y": high}, {"y": low}, {"y": high}))] == [1, -1, 1]
    assert [y for y, _, _ in read(lines({"y": True}, {"y": 0}, {"y": "1"}))] == [1, -1, 1]


def test_text_labels_are_told_as_they_are():
    stream = JSONL(io.BytesIO(lines({"y": "spam"}, {"y": "ham"})))
    list(stream.batches())
    assert stream.labels == Labels("ham", "spam")


def test_a_third_label_is_an_error_that_names_the_line_whatever_the_chunk():
    for one, two, three in ((1, 2, 3), ("a", "b", "c")):
        text = lines({"y": one}) + b"\n" + lines({"y": two}) + b"\n" + lines({"y": three}, {"y": one})
        for chunk in (1, 10, 1000):
            stream = JSONL(io.BytesIO(text), chunk=chunk)
            got = []
            with pytest.raises(SourceError, match="line 5 of a BytesIO has a third, .* Pass positive="):
                got.extend(stream.batches())
            assert [y for y, _, _ in rows_of(got)] == [-1, 1]  # the rows before it


@pytest.mark.parametrize(
    ("rows", "positive", "signs", "labels"),
    [
        ([1, 2, 3], "2", [-1, 1, -1], Labels("not 2", 2)),
        (["a", "b", "c"], "b", [-1, 1, -1], Labels('not "b"', "b")),
        (["1", "2", "2.0"], 2, [-1, 1, 1], Labels(1, 2)),
        ([True, False], True, [1, -1], Labels(0, 1)),
    ],
)
def test_one_label_against_every_other(rows, positive, signs, labels):
    stream = JSONL(io.BytesIO(lines(*({"y": y} for y in rows))), positive=positive)
    assert [y for y, _, _ in rows_of(stream.batches())] == signs
    assert stream.labels == labels


def test_a_positive_label_that_is_not_there_is_noted():
    stream = JSONL(io.BytesIO(lines({"y": "a"}, {"y": "b"})), positive="c")
    for _ in range(2):
        assert [y for y, _, _ in rows_of(stream.batches())] == [-1, -1]
        assert stream.notes == ['no label of a BytesIO is "c", the positive one: all are -1.']


def test_a_positive_label_must_be_a_number_where_labels_are():
    assert "the positive label must be a number, not 'spam': line 1 of" in fails(BOTH, positive="spam")


def test_many_labels_stay_as_they_are():
    stream = JSONL(io.BytesIO(lines({"y": 0}, {"y": 2})), many=3)
    (batch,) = stream.batches()
    assert batch.y.tolist() == [0, 2]
    assert batch.y.dtype == np.int32
    assert stream.labels is None
    assert "line 2 of a BytesIO has 3" in fails(lines({"y": 0}, {"y": 3}), many=3)
    assert 'line 1 of a BytesIO has "a"' in fails(lines({"y": "a"}, {"y": "b"}), many=3)


def test_a_file_is_looked_through_for_its_second_label(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    path = tmp_path / "sorted.jsonl"
    for one, two in ((5, 3), ("spam", "ham")):
        text = lines({"y": one, "a": 1}) * 300 + b"x\n" + lines({"y": two}) * 300
        for packed in (text, gzip.compress(text)):
            path.write_bytes(packed)
            assert [y for y, _, _ in read(path, chunk=50, skip_bad=1)] == [1] * 300 + [-1] * 300


def test_what_cannot_be_looked_through_goes_by_the_first_label(monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    one = lines({"y": 1, "a": 1}) * 99
    assert [y for y, _, _ in read(one + lines({"y": 0}), chunk=50)] == [1] * 99 + [-1]
    said = fails(one + lines({"y": 2}), chunk=50)
    assert "line 100 of a BytesIO has 2, after rows of 1 alone, which was taken for +1. Pass positive=2." in said
    assert 'there is only "a"' in fails(lines({"y": "a"}) * 99, chunk=50)


# bad lines


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"x", 'a line must be one JSON object: line 3, column 1 of a BytesIO has "x". Correct the line'),
        (b"[1, 2]", 'a line must be one JSON object: line 3, column 1 of a BytesIO has "[1, 2]"'),
        (b"5", "a line must be one JSON object: line 3, column 1"),
        (b"null", "a line must be one JSON object: line 3, column 1"),
        (b'"a"', "a line must be one JSON object: line 3, column 1"),
        (b'{"y": 1} {"y": 1}', 'a line must be one JSON object: line 3, column 10 of a BytesIO has "{'),
        (b'{"y": 1', "a line must be one JSON object: line 3, column 8"),
        (b"{'y': 1}", "a line must be one JSON object: line 3, column 2"),
        (b'{"y": 01}', "a line must be one JSON object: line 3, column 8"),
        (b'{"y": +1}', "a line must be one JSON object: line 3, column 7"),
        (b'{"y": 1, "a": .5}', "a line must be one JSON object: line 3, column 15"),
        (b'{"y": 1, "a": "\x01"}', "a line must be one JSON object: line 3, column 16"),
        (b'{"y": 1, "a": "\xff"}', 'text must be UTF-8: line 3, column 16 of a BytesIO has "\\xff'),
        (b'{"y": 1, "a": nan}', "a line must be one JSON object: line 3, column 15"),
        (b"{}", 'an object must have its label: line 3, key "y" of a BytesIO has none. Add it, or pass label=KEY'),
        (b'{"Y": 1}', 'an object must have its label: line 3, key "y" of a BytesIO has none'),
        (b'{"y": null}', 'a label must be a number or text: line 3, key "y" of a BytesIO has null. Pass label=KEY'),
        (b'{"y": [1]}', 'a label must be a number or text: line 3, key "y" of a BytesIO has [1.0]'),
        (b'{"y": {"a": 1}}', 'a label must be a number or text: line 3, key "y" of a BytesIO has {"a": 1.0}'),
        (b'{"y": NaN}', 'a label must be below 2^53: line 3, key "y" of a BytesIO has NaN'),
        (b'{"y": 1e400}', 'a label must be below 2^53: line 3, key "y" of a BytesIO has Infinity'),
        (b'{"y": 9007199254740993}', 'a label must be below 2^53: line 3, key "y" of a BytesIO has 9007199254740992.0'),
        (b'{"y": "-1e400"}', 'a label must be below 2^53: line 3, key "y" of a BytesIO has "-1e400"'),
        (b'{"y": "spam"}', 'labels must be numbers, as the first is: line 3, key "y" of a BytesIO has "spam"'),
        (
            b'{"y": 1, "a": null}',
            'a feature must be a number or text: line 3, key "a" of a BytesIO has null. Fill it or',
        ),
        (b'{"y": 1, "a": {"b": null}}', 'a feature must be a number or text: line 3, key "a.b" of a BytesIO has null'),
        (
            b'{"y": 1, "a": NaN}',
            'a feature must be finite: line 3, key "a" of a BytesIO has NaN. Scale it, or leave it',
        ),
        (
            b'{"y": 1, "a": {"b": {"c": -Infinity}}}',
            'a feature must be finite: line 3, key "a.b.c" of a BytesIO has -I',
        ),
        (b'{"y": 1, "a": 1e999}', 'a feature must be finite: line 3, key "a" of a BytesIO has Infinity'),
        (b'{"y": 1, "a": ' + b"9" * 5000 + b"}", 'a feature must be finite: line 3, key "a" of a BytesIO has Infinity'),
        (b'{"y": 1, "a": [1, NaN]}', 'a feature must be finite: line 3, key "a[1]" of a BytesIO has NaN'),
        (b'{"y": 1, "a": [1, "b"]}', 'an array must be of numbers: line 3, key "a[1]" of a BytesIO has "b"'),
        (b'{"y": 1, "a": [null]}', 'an array must be of numbers: line 3, key "a[0]" of a BytesIO has null'),
        (b'{"y": 1, "a": {"b": [[1]]}}', 'an array must be of numbers: line 3, key "a.b[0]" of a BytesIO has [1.0]'),
        (b'{"y": 1, "a": [{"b": "' + b"x" * 99 + b'"}]}', 'key "a[0]" of a BytesIO has {"b": "xxxxxxxxxxxxxxxxxxxxxxx'),
        (b'{"y": 1, "a": 1, "a": 1}', 'a key must be in an object once: line 3, key "a" of a BytesIO has two values'),
        (b'{"y": 1, "b": {"y": 1, "y": 1}}', 'a key must be in an object once: line 3, key "y" of a BytesIO has two'),
        (b'{"y": 1, "a": 1, "\\u0061": 1}', 'a key must be in an object once: line 3, key "a" of a BytesIO has two'),
        (b'{"y": 1, "5": 1e308, "05": 1e308}', 'values of one index must have a finite sum: line 3, key "05" of'),
        (b'{"y": 1, "5": 1e308, "": {"05": 1e308}}', 'values of one index must have a finite sum: line 3, key "'),
        (b'{"y": 1, "a": ' * 5000, "must"),
        (b'{"y": ' + b"[" * 100_000, "an object must not be so deep: line 3, column 1"),
    ],
)
def test_a_bad_line_names_file_line_and_key_or_column(line, said):
    for end in (b"\n", b"\r\n"):
        message = fails(BOTH + line + end + BOTH)
        assert said in message
        assert "line 3, " in message
        assert message.endswith(", or pass skip_bad=N to skip up to N bad lines.")


@pytest.mark.parametrize("depth", [100, 500, 900, 1500, 5000])
def test_a_deep_object_is_read_or_refused_but_never_a_crash(depth):
    text = b'{"y": 1, "a": ' + b'{"b": ' * depth + b"1" + b"}" * (depth + 1) + b"\n"
    rows = read(BOTH + text, skip_bad=1)
    assert len(rows) in ((3,) if depth == 100 else (2, 3))
    assert len(rows) == 2 or rows[2] == (1, [index("a" + ".b" * (depth - 1), "b")], values(1))


def test_the_first_object_must_have_a_key():
    assert "an object must have a label: line 1, column 1 of a BytesIO has" in fails(b"{}\n" + BOTH)
    assert read(b"{}\n" + BOTH, skip_bad=1) == read(BOTH)
    assert 'key "lable" of a BytesIO has none' in fails(BOTH, label="lable")


def test_rows_before_a_bad_line_come_first_whatever_the_chunk():
    text = BOTH * 3 + b'{"y": 1, "a": null}\n' + BOTH
    for chunk in (1, 20, 1000):
        got = []
        with pytest.raises(SourceError, match='line 7, key "a" of'):
            got.extend(JSONL(io.BytesIO(text), chunk=chunk).batches())
        assert rows_of(got) == read(BOTH * 3)


@pytest.mark.parametrize("chunk", [1, 16, 1000])
def test_bad_lines_are_skipped_up_to_a_number_and_told(chunk):
    text = b'{"y": 1}\nx\n{"y": 0}\n{"y": 1, "a": null}\n{"y": 1}\nx'
    stream = JSONL(io.BytesIO(text), skip_bad=3, chunk=chunk)
    for _ in range(2):
        assert [y for y, _, _ in rows_of(list(stream.batches()))] == [1, -1, 1]
        assert [line for line, _ in stream.skipped] == [2, 4, 6]
        assert stream.skipped[1][1] == 'a feature must be a number or text: line 4, key "a" of a BytesIO has null'
        assert stream.notes == [f"3 bad lines of a BytesIO skipped, the first: {stream.skipped[0][1]}"]
    message = fails(text, skip_bad=2, chunk=chunk)
    assert 'line 6, column 1 of a BytesIO has "x" after 2 that were skipped. Correct the line' in message


@pytest.mark.parametrize("text", [b"", b"\n", b" \t\n\n", b"x\n"])
def test_a_source_must_not_be_empty(text):
    assert fails(text, skip_bad=1) == "a source must not be empty: a BytesIO has no rows."


@pytest.mark.parametrize(
    "wrong", [{"skip_bad": -1}, {"chunk": 0}, {"bits": 0}, {"bits": 33}, {"positive": 1, "many": 2}]
)
def test_options_must_make_sense(wrong):
    with pytest.raises(SourceError, match="must be"):
        JSONL(io.BytesIO(BOTH), **wrong)


# any chunk, any stop

KEYS = st.sampled_from(["a", "b", "7", "007", "a.b", "é", "", "x=y", "longer name", "\ud800"])
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6), st.floats(-1e300, 1e300), st.booleans(), st.integers(10**20, 10**40)
)  # fmt: skip
FEATURES = st.recursive(
    st.one_of(NUMBERS, st.text(max_size=5), st.lists(NUMBERS, max_size=4)),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def objects(draw):
    """Good lines."""
    row = draw(st.dictionaries(KEYS, FEATURES, max_size=4))
    place = draw(st.integers(0, len(row)))
    items = [*list(row.items())[:place], ("y", draw(st.sampled_from([1, -1, 1.0]))), *list(row.items())[place:]]
    text = json.dumps(dict(items), ensure_ascii=draw(st.booleans()) or "\ud800" in repr(items) or "\\u" in repr(items))
    return text.encode("utf-8", "replace") + draw(st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n"]))


@settings(max_examples=150)
@given(st.lists(objects(), max_size=20), st.integers(1, 400), st.integers(1, 32))
def test_rows_are_those_of_a_slow_reader_whatever_the_chunk(rows, chunk, bits):
    data = b'{"y": 1}\n{"y": -1}\n' + b"".join(rows)
    want, bad = slow(data, bits)
    got = read(data, chunk=chunk, bits=bits, skip_bad=len(bad))
    assert got == [(1 if y == 1 else -1, list(row), values(*row.values())) for _, y, row in want]


def some_lines(rng, count):
    def value(depth):
        kind = rng.randrange(6 if depth else 4)
        if kind < 2:
            return rng.choice([rng.randrange(-9, 9), rng.random(), rng.random() * 10 ** rng.randint(-9, 9), True])
        if kind == 2:
            return rng.choice(["red", "green", ""])
        if kind == 3:
            return [rng.random() for _ in range(rng.randrange(4))]
        return {rng.choice("abcd"): value(depth - 1) for _ in range(rng.randrange(3))}

    return lines(*({"y": rng.choice([1, -1]), **{k: value(2) for k in rng.sample("abcdef7", 3)}} for _ in range(count)))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("key", ["y", "outcome"])
def test_going_on_from_any_end_is_the_same_as_no_stop(packed, key, tmp_path):
    rng = random.Random(5)
    data = lines({"a": 1, "y": 1}) * 20 + lines({"y": -1}) + b"x\n" + some_lines(rng, 100) + b'\n{"y": }\n{"y": 1}\n'
    data = data.replace(b'"y"', f'"{key}"'.encode())
    path = tmp_path / "t.jsonl"
    path.write_bytes(gzip.compress(data) if packed else data)
    whole = list(JSONL(path, chunk=300, skip_bad=2).batches())
    rows = rows_of(whole)
    assert len(whole) > 20
    for stop in whole:
        stream = JSONL(path, chunk=700, skip_bad=2)
        rest = list(stream.batches(json.loads(json.dumps(stop.end))))
        got = [(int(y), i.tolist(), v.tobytes()) for b in rest for (i, v), y in b.rows()]
        assert got == rows[stop.end["row"] :]
        assert not rest or rest[0].first == stop.end["row"] + 1
        assert not rest or rest[-1].end == whole[-1].end
        assert [line for line, _ in stream.skipped] == [n for n in (22, data.count(b"\n") - 1) if n > stop.end["line"]]


def test_going_on_counts_lines_and_labels_from_the_start():
    data = lines({"y": "a"}, {"y": "b"}) * 10 + b"x\n"
    first = next(JSONL(io.BytesIO(data), chunk=24).batches())
    stream = JSONL(io.BytesIO(data), chunk=24)
    with pytest.raises(SourceError, match="line 21, column 1"):
        list(stream.batches(first.end))
    assert stream.labels == Labels("a", "b")


def test_a_line_may_be_longer_than_the_chunk():
    long = lines({"y": 1, "x": list(range(3000))})
    data = BOTH + long + BOTH + long * 2
    assert read(data, chunk=64) == read(data)


def test_a_stream_can_be_left_in_the_middle(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(BOTH * 3000)
    before = set(threading.enumerate())
    for batch in JSONL(path, chunk=100).batches():
        if batch.first > 20:
            break
    del batch
    assert soon(lambda: set(threading.enumerate()) <= before)  # those of other tests may end meanwhile


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "t.jsonl"

    def peak(copies):
        path.write_bytes((BOTH + b'{"y": 1, "a": {"b": 0.25}, "c": "red"}\n') * copies)
        tracemalloc.start()
        rows = sum(len(batch) for batch in JSONL(path, chunk=2**13).batches())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert rows == 3 * copies
        return most

    peak(100)
    assert peak(20_000) < 1.5 * peak(2_000) + 2**18


def test_memory_does_not_grow_with_the_names(monkeypatch):
    monkeypatch.setattr(jsonl, "MOST_NAMES", 100)
    stream = JSONL(io.BytesIO(lines(*({"y": k % 2, f"a{k}": {f"b{k}": 1, "c": f"{k}"}} for k in range(1000)))))
    rows_of(stream.batches())
    assert sum(1 + len(indices) for _, indices in stream._names._known.values()) <= 100


# pipes


def test_a_pipe_gives_the_same_rows_as_the_file():
    data = BOTH + some_lines(random.Random(7), 500)
    for sent in (data, gzip.compress(data)):
        with typed(sent):
            stream = JSONL("-", chunk=5000)
            assert not stream.rereadable
            assert (stream.name, stream.fingerprint()) == ("standard input", {})
            found = [(int(y), i.tolist(), v.tobytes()) for b in stream.batches() for (i, v), y in b.rows()]
        assert found == read(data)
        assert str(stream.labels) == "-1 is -1, 1 is +1"


def test_a_silent_pipe_holds_back_no_row(monkeypatch):
    """Every row is answered before the next is sent, so nothing may wait for a full chunk."""
    monkeypatch.setattr(streaming_labels, "LABEL_SECONDS", 0.05)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as file:
        stream = JSONL(file)
        os.write(writer, b'{"y": 1}\n{"y": ')
        batches = stream.batches()
        assert len(next(batches)) == 1
        for text in (b"1}\n", b'{"y": 0}\n', b'\n{"y": 1}\n'):
            os.write(writer, text)
            assert len(next(batches)) == 1
        assert stream.labels == Labels(0, 1)
        os.write(writer, b'{"y": 1}')
        os.close(writer)
        assert [len(batch) for batch in batches] == [1]


def test_a_pipe_that_comes_in_pieces_is_put_together():
    reader, writer = os.pipe()

    def send():
        for k in range(0, len(BOTH) * 20, 7):
            os.write(writer, (BOTH * 20)[k : k + 7])
            time.sleep(0.001)
        os.close(writer)

    thread = threading.Thread(target=send)
    thread.start()
    with os.fdopen(reader, "rb") as file:
        assert read(file) == read(BOTH * 20)
    thread.join()


# fuzz: never a crash, never a silently wrong row

ALPHABET = b'0123456789.-+eE \t\r\n{}[]":,\\ualbnrtfsNI\x00\x7f\x80\xff'
SEEDS = (
    b'{"y": 1, "a": 0.5, "b": {"c": 1e-3, "d": [1, 2.5]}}', b'{"label": -1, "a": "red", "b": true, "c": false}',
    b'{"a": 1, "a": 2, "y": 1}', b'{"x": [1, null, "a"], "y": 0}', b'{"y": "spam", "a": {}}\n{"y": "ham", "b": []}',
    b'{"y": 1, "a": NaN, "b": -Infinity}', b'{"y": 1, "5": 1e308, "05": 1e308}',
    b'{"y": 1, "\\u00e9\\n": 1, "\xc3\xa9": 2}',
    b'{"y": 1, "\\ud83d\\ude00": 1, "\\ud800": 2, "\\ude00\\ud83d": 3}', b'{"a": 1, "outcome": 2}\r\n{"outcome": 1}',
    b'{"y": "1.5", "a": 123456789012345678901234567890, "b": 1E+2, "c": -0}', b'[{"y": 1}]', b"\n\n{}",
)  # fmt: skip


def mutated(rng):
    """A line that was good, or random bytes, or characters that lines are made of."""
    kind = rng.randrange(10)
    if kind == 0:
        return rng.randbytes(rng.randrange(40))
    if kind == 1:
        return bytes(rng.choices(ALPHABET, k=rng.randrange(40)))
    data = bytearray(rng.choice(SEEDS))
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(4)
        if how == 0:
            data[at:at] = bytes([rng.choice(ALPHABET)])
        elif how == 1:
            del data[at : at + rng.randrange(1, 4)]
        elif how == 2:
            data[at : at + 1] = bytes([rng.choice(ALPHABET)])
        else:
            data[at:at] = data[rng.randrange(len(data) + 1) :][: rng.randrange(12)]
    return bytes(data)


def fuzz(seed, count, pieces=1):
    """Compare what is taken and what is refused, bit for bit; how many inputs had a bad line."""
    rng = random.Random(seed)
    refused = 0
    for _ in range(count):
        data = b"\n".join(mutated(rng) for _ in range(pieces)) + b"\n"
        bits = rng.choice([2, 18, 32])
        stream = JSONL(io.BytesIO(b""), bits=bits, skip_bad=10**9)
        parsed = stream._parser([])(bytearray(data), len(data), 0)
        rows = zip(parsed.row_lines.tolist(), parsed.labels.tolist(), parsed.x.rows(), strict=True)
        got = [(line, label, i.tolist(), v.tobytes()) for line, label, (i, v) in rows], [k for k, _ in parsed.bad]
        want, bad = slow(data, bits)
        assert got == ([(n, y, list(row), values(*row.values())) for n, y, row in want], bad), (data, bits)
        for _, error in parsed.bad:
            assert ": line 7, " in str(error.error(b"").at(line=7, source="a file"))
        refused += bool(bad)
    return refused


def test_malformed_inputs_are_refused_and_the_others_right():
    assert 2_000 < fuzz(1, 5_000) < 4_900


def test_malformed_lines_leave_their_neighbours_right():
    fuzz(2, 100, pieces=50)


@pytest.mark.slow
def test_malformed_inputs_are_refused_and_the_others_right_100_000_times():
    assert fuzz(3, 100_000) > 40_000


@settings(max_examples=200)
@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_at_all_are_rows_or_errors_of_ours(data, chunk):
    want, bad = slow(data.removeprefix(b"\xef\xbb\xbf"))
    if data[:2] == b"\x1f\x8b" or data[:3] == b"BZh" or not want:
        with pytest.raises(SourceError):
            read(data, positive=1, chunk=chunk, skip_bad=len(bad))
    else:
        got = read(data, positive=1, chunk=chunk, skip_bad=len(bad))
        assert got == [(1 if y == 1 else -1, list(row), values(*row.values())) for _, y, row in want]


# played


def test_a_game_on_json_lines_is_that_on_the_same_vw_text(tmp_path):
    rng = random.Random(12)
    rows = [
        {"label": rng.choice([1, -1]), "f": {f"w{rng.randrange(50)}": rng.random() for _ in range(5)}}
        for _ in range(400)
    ]
    (tmp_path / "a.jsonl").write_bytes(lines(*rows))
    text = "".join(f"{r['label']} |f {' '.join(f'{k}:{v!r}' for k, v in r['f'].items())}\n" for r in rows)
    (tmp_path / "a.vw").write_text(text)
    ours, theirs = (nk.play(nk.Perceptron(), nk.read(tmp_path / name)) for name in ("a.jsonl", "a.vw"))
    assert ours.mistakes == theirs.mistakes > 50
    assert np.array_equal(ours.learner.weights, theirs.learner.weights)
