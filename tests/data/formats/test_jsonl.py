"""JSON lines: what no other format has. The rest is in test_text_formats.py."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
import samples
from helpers import tries
from novikoff.core.errors import SourceError
from novikoff.core.types import Labels
from novikoff.data import streaming_labels
from novikoff.data.formats import jsonl
from novikoff.data.formats.jsonl import JSONL
from novikoff.data.formats.vw import VW
from text_formats import JSON_LINES as FORM
from text_formats import assert_bad_line, json_lines, slow_hash, values

FILES = {
    "jsonl": (samples.lines(lambda x, y: json.dumps({"a": x[0], "b": x[1] / 4, "y": y})), {"chunk": 200, "label": "y"})
}
"""Sample for tests/data/test_every_stream.py."""

BOTH = b'{"y": 1, "1": 1}\n{"y": -1, "1": 1}\n'


def labelled(*labels):
    """A row without features per label."""
    return json_lines(*({"y": label} for label in labels))


def signs(data, **options):
    return [y for y, _, _ in FORM.read(data, **options)]


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
    assert FORM.read(data) == [(-1, [], b""), (1, indices, values(*numbers))]


def test_an_object_with_features_and_a_label_simply_works():
    rows = json_lines({"features": {"a": 1, "b": 2.5}, "label": 1}, {"features": {"b": 3}, "label": 0})
    a, b = index("features", "a"), index("features", "b")
    assert FORM.read(rows) == [(1, [a, b], values(1, 2.5)), (-1, [b], values(3))]


def test_an_object_within_is_a_namespace_of_vowpal_wabbit_text():
    ours = json_lines({"label": 1, "f": {"9": 0.5, "hot": 1}, "7": 2, "x": [3, 4]}, {"label": -1, "f": {"a": 2}})
    theirs = b"1 |f 9:0.5 hot| 7:2 |x :3 :4\n-1 |f a:2\n"
    batches = [list(reader(io.BytesIO(text)).batches()) for reader, text in ((JSONL, ours), (VW, theirs))]
    assert FORM.rows_of(batches[0]) == FORM.rows_of(batches[1])


def test_keys_may_come_and_go():
    rows = FORM.read(json_lines({"y": 0, "a": 1}, {"y": 1}, {"y": 0, "b": 1, "c": "x"}, {"c": "y", "y": 1, "a": 2}))
    assert [y for y, _, _ in rows] == [-1, 1, -1, 1]
    assert rows[0][1] == rows[3][1][1:]
    assert len({i for _, indices, _ in rows for i in indices}) == 4


def test_items_of_an_array_do_not_collide():
    ((_, indices, _), _) = FORM.read(json_lines({"y": 1, "pixels": [1] * 5000}, {"y": 0}), bits=13)
    assert len(indices) == 5000


def test_more_names_than_are_kept_are_hashed_all_the_same(monkeypatch):
    rng = random.Random(1)
    rows = json_lines(
        *({"y": k % 2, f"a{rng.randrange(50)}": {f"b{rng.randrange(50)}": k, "c": f"{k}"}} for k in range(300))
    )
    want = FORM.read(rows)
    monkeypatch.setattr(jsonl, "MOST_NAMES", 7)
    assert FORM.read(rows) == want


@pytest.mark.parametrize("bits", [1, 5, 31, 32])
def test_an_index_is_below_two_to_the_bits(bits):
    row = b'{"y": 1, "f": {"a": 1, "b": 1, "4294967295": 1}, "x": [1, 2], "4294967295": 1, "4294967296": 1, "99": 1}\n'
    ((_, _, want),), _ = FORM.slow(row, bits)
    assert FORM.read(b'{"y": 0}\n' + row, bits=bits)[1] == (1, list(want), values(*want.values()))


def test_numba_is_not_imported_to_read():
    code = (
        "import sys, io; from novikoff.data.formats.jsonl import JSONL;"
        's = JSONL(io.BytesIO(b\'{"y": 1}\\n{"y": 0}\'));'
        "assert len(list(s.batches())) == 1; assert not {'numba', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("key", "chosen"),
    [("label", "by its name"), ("y", "last column"), ("TARGET", "by its name"), ("outcome", "last column")],
)
def test_the_label_is_under_a_known_key_or_the_last_of_the_first_object(key, chosen):
    rows = json_lines({"a": 5, key: 1}, {key: 0, "a": 6}, {key: 1, "b": 7})
    stream = JSONL(io.BytesIO(rows))
    for _ in range(2):
        assert [y for y, _, _ in FORM.rows_of(stream.batches())] == [1, -1, 1]
        assert stream.target_column == (key, chosen)


def test_key_label_has_precedence():
    rows = json_lines({"target": 5, "y": 6, "label": 1}, {"target": 5, "y": 6, "label": 0})
    assert signs(rows) == [1, -1]
    assert signs(rows + json_lines({"target": 6, "y": 6, "label": 1}), label="target") == [-1, -1, 1]


def test_first_of_keys_that_differ_in_case_counts():
    for first, other in (("Label", "label"), ("label", "LABEL")):
        assert signs(json_lines({first: 1, other: 5}, {first: 0, other: 5})) == [1, -1]


def test_larger_boolean_or_text_label_is_plus_one():
    for low, high in ((False, True), ("ham", "spam"), ("9", "10")):
        assert signs(labelled(high, low, high)) == [1, -1, 1]
    assert signs(labelled(True, 0, "1")) == [1, -1, 1]


def test_text_labels_are_reported_as_they_are():
    stream = JSONL(io.BytesIO(labelled("spam", "ham")))
    list(stream.batches())
    assert stream.labels == Labels("ham", "spam")


@pytest.mark.parametrize("chunk", [1, 10, 1000])
def test_a_third_text_label_is_an_error_that_names_the_line(chunk):
    stream = JSONL(io.BytesIO(labelled("a") + b"\n" + labelled("b") + b"\n" + labelled("c", "a")), chunk=chunk)
    got = []
    with pytest.raises(SourceError, match='line 5 of a BytesIO has a third value, "c", .* Pass positive='):
        got.extend(stream.batches())
    assert [y for y, _, _ in FORM.rows_of(got)] == [-1, 1]


@pytest.mark.parametrize(
    ("rows", "positive", "expected", "labels"),
    [
        (["a", "b", "c"], "b", [-1, 1, -1], Labels('not "b"', "b")),
        (["1", "2", "2.0"], 2, [-1, 1, 1], Labels(1, 2)),
        ([True, False], True, [1, -1], Labels(0, 1)),
    ],
)
def test_one_label_against_every_other(rows, positive, expected, labels):
    stream = JSONL(io.BytesIO(labelled(*rows)), positive=positive)
    assert [y for y, _, _ in FORM.rows_of(stream.batches())] == expected
    assert stream.labels == labels


def test_absent_positive_text_is_noted():
    stream = JSONL(io.BytesIO(labelled("a", "b")), positive="c")
    for _ in range(2):
        assert [y for y, _, _ in FORM.rows_of(stream.batches())] == [-1, -1]
        assert stream.notes == ['no label of a BytesIO is "c", the positive label: all are -1.']


def test_a_positive_label_must_be_a_number_where_labels_are():
    assert "the positive label must be a number, not 'spam': line 1 of" in FORM.fails(BOTH, positive="spam")


def test_numbered_labels_must_not_be_text():
    assert 'line 1 of a BytesIO has "a"' in FORM.fails(labelled("a", "b"), multiclass=3)


def test_a_file_is_looked_through_for_its_second_label(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    path = tmp_path / "sorted.jsonl"
    path.write_bytes(labelled("spam") * 300 + b"x\n" + labelled("ham") * 300)
    assert signs(path, chunk=50, skip_bad=1) == [1] * 300 + [-1] * 300


def test_text_labels_must_be_two_where_the_source_cannot_be_looked_through(monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    assert 'there is only "a"' in FORM.fails(labelled("a") * 99, chunk=50)


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
        (
            b'{"y": 1, "a": 1, "a": 1}',
            'a key must not be repeated in an object: line 3, key "a" of a BytesIO has two values',
        ),
        (
            b'{"y": 1, "b": {"y": 1, "y": 1}}',
            'a key must not be repeated in an object: line 3, key "y" of a BytesIO has two',
        ),
        (
            b'{"y": 1, "a": 1, "\\u0061": 1}',
            'a key must not be repeated in an object: line 3, key "a" of a BytesIO has two',
        ),
        (b'{"y": 1, "5": 1e308, "05": 1e308}', 'values of one index must have a finite sum: line 3, key "05" of'),
        (b'{"y": 1, "5": 1e308, "": {"05": 1e308}}', 'values of one index must have a finite sum: line 3, key "'),
        (b'{"y": 1, "a": ' * 5000, "an object is nested too deeply"),
        (b'{"y": ' + b"[" * 100_000, "an object is nested too deeply: line 3, column 1"),
    ],
)
def test_a_bad_line_names_file_line_and_key_or_column(line, said):
    assert_bad_line(FORM, line, "line 3, ", said)


@pytest.mark.parametrize("depth", [100, 500, 900, 1500, 5000])
def test_a_deep_object_is_read_or_refused_but_never_a_crash(depth):
    text = b'{"y": 1, "a": ' + b'{"b": ' * depth + b"1" + b"}" * (depth + 1) + b"\n"
    rows = FORM.read(BOTH + text, skip_bad=1)
    assert len(rows) in ((3,) if depth == 100 else (2, 3))
    assert len(rows) == 2 or rows[2] == (1, [index("a" + ".b" * (depth - 1), "b")], values(1))


def test_the_first_object_must_have_a_key():
    assert "an object must have a label: line 1, column 1 of a BytesIO has" in FORM.fails(b"{}\n" + BOTH)
    assert FORM.read(b"{}\n" + BOTH, skip_bad=1) == FORM.read(BOTH)
    assert 'key "lable" of a BytesIO has none' in FORM.fails(BOTH, label="lable")


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


@settings(max_examples=tries(150))
@given(st.lists(objects(), max_size=20), st.integers(1, 400), st.integers(1, 32))
def test_rows_are_those_of_a_slow_reader_for_any_chunk(rows, chunk, bits):
    data = b'{"y": 1}\n{"y": -1}\n' + b"".join(rows)
    want, bad = FORM.expected(data, bits=bits)
    assert FORM.read(data, chunk=chunk, bits=bits, skip_bad=len(bad)) == want


def test_resuming_from_any_end_keeps_the_key_of_the_label(tmp_path):
    data = json_lines({"a": 1, "y": 1}) + labelled(-1) + FORM.table(random.Random(5), 100)
    path = tmp_path / "t.jsonl"
    path.write_bytes(data.replace(b'"y"', b'"outcome"'))
    whole = list(JSONL(path, chunk=300).batches())
    rows = FORM.rows_of(whole)
    assert len(whole) > 20
    for stop in whole:
        rest = JSONL(path, chunk=700).batches(json.loads(json.dumps(stop.end)))
        got = [(int(y), i.tolist(), v.tobytes()) for b in rest for (i, v), y in b.rows()]
        assert got == rows[stop.end["row"] :]


def test_memory_does_not_grow_with_the_names(monkeypatch):
    monkeypatch.setattr(jsonl, "MOST_NAMES", 100)
    stream = JSONL(io.BytesIO(json_lines(*({"y": k % 2, f"a{k}": {f"b{k}": 1, "c": f"{k}"}} for k in range(1000)))))
    FORM.rows_of(stream.batches())
    assert sum(1 + len(indices) for _, indices in stream._names._known.values()) <= 100


def test_a_game_on_json_lines_is_that_on_the_same_vw_text(tmp_path):
    rng = random.Random(12)
    rows = [
        {"label": rng.choice([1, -1]), "f": {f"w{rng.randrange(50)}": rng.random() for _ in range(5)}}
        for _ in range(400)
    ]
    (tmp_path / "a.jsonl").write_bytes(json_lines(*rows))
    text = "".join(f"{r['label']} |f {' '.join(f'{k}:{v!r}' for k, v in r['f'].items())}\n" for r in rows)
    (tmp_path / "a.vw").write_text(text)
    ours, theirs = (nk.play(nk.Perceptron(), nk.read(tmp_path / name)) for name in ("a.jsonl", "a.vw"))
    assert ours.mistakes == theirs.mistakes > 50
    assert np.array_equal(ours.learner.weights, theirs.learner.weights)
