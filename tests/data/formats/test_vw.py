from __future__ import annotations

import gzip
import importlib.util
import io
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
from collections import deque
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

import novikoff as nk
from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data import streaming_labels
from novikoff.data._loops import vw as kernel
from novikoff.data.formats import labelled_lines
from novikoff.data.formats.lines import BadLineError
from novikoff.data.formats.vw import VW, ChunkParser, read_line
from novikoff.data.hashing import hashed, murmur
from novikoff.numerics import decimals

BOTH = b"1 | 1:1\n-1 | 1:1\n"
NUMBER = rb"[-+]?(?:\d+|\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?"


# an independent reader: slow, plain, the whole text at once, with scikit-learn's hash


def slow(data, bits=18, ignore=False):
    """The rows (line, label, {index: value}) and the numbers of bad lines, from 0."""
    rows, bad = [], []
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == b"" else lines):
        line = line[:-1] if line[-1:] == b"\r" else line
        if line.replace(b" ", b"").replace(b"\t", b"") == b"":
            continue
        try:
            rows.append((number, *slow_row(line, bits, ignore)))
        except ValueError:
            bad.append(number)
    return rows, bad


def slow_row(line, bits, ignore):
    if b"|" not in line or any(c < 32 and c != 9 for c in line):
        raise ValueError
    before, *parts = line.split(b"|")
    words = before.split(b" ")
    if words[-1] or next(filter(None, reversed(words)), b"").startswith(b"'"):
        words = list(filter(None, words))[:-1]  # the last is a tag
    words = list(filter(None, words))
    if b"\t" in before or not 1 <= len(words) <= 3:
        raise ValueError
    label, importance, base = (*map(slow_number, words), *[1.0, 0.0][len(words) - 1 :])
    if not ignore and (importance != 1 or base != 0):
        raise ValueError
    row = {}
    for part in parts:
        seed, weight, nameless = 0, 1.0, 0
        words = re.split(rb"[ \t]+", part)
        if words[0]:
            name, weight = split(words[0])
            if name == b"":
                raise ValueError
            seed = slow_hash(name, 0)
        for word in filter(None, words[1:]):
            name, value = split(word)
            if name == b"":
                i = seed + nameless
                nameless += 1
            else:
                i = slow_hash(name, seed)
            i %= 2**bits
            row[i] = row[i] + value * weight if i in row else value * weight
            if not math.isfinite(row[i]) or not math.isfinite(value * weight):
                raise ValueError
    return label, row


def split(word):
    name, *value = word.split(b":", 1)
    return name, slow_number(value[0]) if value else 1.0


def slow_number(word):
    if not re.fullmatch(NUMBER, word) or math.isinf(float(word)):
        raise ValueError
    return float(word)


def slow_hash(name, seed):
    if re.fullmatch(rb"[0-9]+", name):
        n = 0
        for digit in name:
            n = (10 * n + digit - 48) % 2**32
        return (n + seed) % 2**32
    return murmurhash3_32(name, seed=seed, positive=True)


def bits_of(x):
    return struct.pack("<d", x)


def as_slow(parsed):
    """What was parsed, in the form of `slow`, doubles as their bytes."""
    rows = [
        (int(line), bits_of(label), [(int(i), bits_of(v)) for i, v in zip(*row, strict=True)])
        for line, label, row in zip(parsed.row_lines, parsed.labels, parsed.x.rows(), strict=True)
    ]
    return rows, [line for line, _ in parsed.bad]


def from_slow(data, bits=18, ignore=False):
    rows, bad = slow(data, bits, ignore)
    return [(n, bits_of(y), [(i, bits_of(v)) for i, v in row.items()]) for n, y, row in rows], bad


def parser(compiled=kernel, bits=18, ignore=False):
    return ChunkParser(compiled, bits, ignore, 10**9, deque(), lambda size: False)


def parse(data, compiled=kernel, bits=18, ignore=False):
    """The whole text as one chunk."""
    text = bytearray(data if data.endswith(b"\n") else data + b"\n")
    return parser(compiled, bits, ignore).parse(text + b"7" * decimals.PADDING, len(text), 0)


def read(data, **options):
    """Every row as (y, indices, values)."""
    stream = VW(io.BytesIO(data) if isinstance(data, bytes) else data, **options)
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


# what is read


def test_a_line_is_a_label_a_bar_and_features():
    assert read(b"1 | 1:0.5 7:-2\n-1 | 3:1e-3\n") == [(1, [1, 7], values(0.5, -2)), (-1, [3], values(0.001))]


F = hashed(b"f", 0) & (2**18 - 1)


@pytest.mark.parametrize(
    ("line", "indices", "numbers"),
    [
        (b"1 |", [], []),
        (b"1 | ", [], []),
        (b"1 |f", [], []),
        (b"1 |||f|", [], []),
        (b"  1   |  2:3 \t 4:5\t", [2, 4], [3, 5]),
        (b"1 | 0 3:2 12", [0, 3, 12], [1, 2, 1]),
        (b"1 | 9 2 5", [9, 2, 5], [1, 1, 1]),
        (b"1 |f 0 1 2", [F, F + 1, F + 2], [1, 1, 1]),
        (b"1 |f:2 0 1:3|f:-0.5 2:4", [F, F + 1, F + 2], [2, 6, -2]),
        (b"1 |f 0|f 1 | 7", [F, F + 1, 7], [1, 1, 1]),
        (b"1 | :5 :6 1:7 :8", [0, 1, 2], [5, 13, 8]),
        (b"1 |f :5 :6|f :8", [F, F + 1], [13, 6]),
        (b"1 |3 4", [7], [1]),
        (b"1 | 262143 262144 262145", [2**18 - 1, 0, 1], [1, 1, 1]),
        (b"1 | 007", [7], [1]),
        (b"1 | 0000000000000000000012", [12], [1]),
        (b"1 | 12345678901234567890123456789012345678901", [12345678901234567890123456789012345678901 % 2**18], [1]),
        (b"1 'tag | 2", [2], [1]),
        (b"1 'tag| 2", [2], [1]),
        (b"1 tag| 2", [2], [1]),
        (b"1 '| 2", [2], [1]),
        (b"1 1| 2", [2], [1]),
        (b"1 1 | 2", [2], [1]),
        (b"1 1.0 0 | 2", [2], [1]),
        (b"1 100e-2 -0.0 'tag | 2", [2], [1]),
        (b"1 1 0 tag| 2", [2], [1]),
        (b"1 1.0000000000000000000000000000 0.00000000000000000000000000000 | 2", [2], [1]),
        (b"1 | 1:0 2:-0 3:0.0", [1, 2, 3], [0.0, -0.0, 0.0]),
        (b"1 | 1:+1 2:1e-3 3:.5 4:5. 5:-.5e+2", [1, 2, 3, 4, 5], [1, 0.001, 0.5, 5, -50]),
        (b"1 | 1:0.1234567890123456789012345678901234567890", [1], [0.12345678901234568]),
        (b"1 | 1:1e-400 2:5e-324", [1, 2], [0, 5e-324]),
        (b"1 | 3 2 3:2 2:4 3:8", [3, 2], [11, 5]),
        (b"1 | 3:1e308 3:-1e308", [3], [0]),
        (b"1 | 3 3:123456789012345678901234567890", [3], [1.2345678901234568e29]),
        (b"1.0 | 1", [1], [1]),
        (b"100e-2 | 1", [1], [1]),
        (b"1.00000000000000000000000000 | 1", [1], [1]),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_the_format_in_all_its_forms(line, indices, numbers, end):
    assert read(b"-1 |\n" + line + end) == [(-1, [], b""), (1, indices, values(*numbers))]


@pytest.mark.parametrize(
    ("line", "indices"),
    [
        (b"1 |f 9:0.5 x:2 x:3", [34884, 76460]),
        (b"1 | 7 12345678901 name", [7, 7221, 214000]),
        (b"1 |a:2 x|b:3 y", [55432, 152274]),
        (b"1 |f a\tb:2", [14355, 146788]),
        (b"1 |1 5", [6]),
        (b"1 |f 007 1.5 -3", [34882, 53731, 12089]),
        ("1 |é é".encode(), [hashed("é".encode(), hashed("é".encode(), 0)) % 2**18]),
    ],
)
def test_indices_are_those_that_vowpal_wabbit_9_prints(line, indices):
    assert read(b"-1 |\n" + line)[1][1] == indices


def test_rows_are_those_of_vowpal_wabbit_itself():
    wabbit = pytest.importorskip("vowpalwabbit").Workspace("--quiet -b 14 --noconstant")
    rng = random.Random(3)
    for _ in range(500):
        line = table(rng, 1, ignore=True).strip(b"\r\n").replace(b"\xff", b"e")
        if not line.strip(b" \t"):
            continue
        examples = wabbit.parse(line.decode())
        example = examples[0] if isinstance(examples, list) else examples
        want = {}
        for i, value in example.iter_features():
            want[i % 2**14] = want.get(i % 2**14, 0.0) + value
        label, row, ignored = read_line(line, 14, True)
        assert label == pytest.approx(example.get_simplelabel_label(), rel=1e-6)
        weights = example.get_simplelabel_weight(), example.get_simplelabel_initial()
        assert ignored == (weights != (1.0, 0.0)), line
        assert {i for i, v in row.items() if v} >= {i for i, v in want.items() if v}, line
        for i, value in row.items():
            assert want.get(i, 0.0) == pytest.approx(value, rel=1e-4, abs=1e-5), line
    wabbit.finish()


@settings(max_examples=300)
@given(st.binary(max_size=30), st.integers(0, 2**32 - 1))
def test_the_hash_is_murmur(name, seed):
    assert murmur(name, seed) == murmurhash3_32(name, seed=seed, positive=True)
    assert hashed(name, seed) == slow_hash(name, seed)


def test_a_name_belongs_to_its_namespace():
    rows = read(b"1 |a x\n-1 |b x\n1 | x\n1 |a:3 x:2\n")
    assert len({tuple(indices) for _, indices, _ in rows}) == 3
    assert rows[3] == (1, rows[0][1], values(6))


@pytest.mark.parametrize("bits", [1, 5, 31, 32])
def test_an_index_is_below_two_to_the_bits(bits):
    line = b"1 |f a b c 4294967295 :1 | 4294967295 4294967296 99\n"
    want, _ = slow(line, bits)
    got = read(b"-1 |\n" + line, bits=bits)
    assert got[1] == (1, list(want[0][2]), values(*want[0][2].values()))


def test_repeats_are_added_in_their_order_at_the_place_of_the_first():
    row = [(7, 1e16), (3, 0.5), (7, 1.0), (3, 0.25), (7, -1e16)]
    line = b"1 | " + b" ".join(b"%d:%r" % (i, v) for i, v in row)
    assert read(b"-1 |\n" + line)[1] == (1, [7, 3], values((1e16 + 1.0) - 1e16, 0.75))


@pytest.mark.parametrize("count", [2, 3, 100, 8192, 8193, 20_000])
def test_long_unsorted_rows_with_repeats_are_merged(count):
    rng = random.Random(count)
    row = [(rng.randrange(count), rng.randrange(9)) for _ in range(count)]
    want = {}
    for i, v in row:
        want[i] = want.get(i, 0) + v
    text = b"1 |" + b"".join(b" %d:%d" % pair for pair in row) + b"\n"
    got = read(b"-1 |\n" + text + text)
    assert got[1] == got[2] == (1, list(want), values(*want.values()))


@pytest.mark.parametrize("chunk", [1, 1000])
def test_a_row_behind_one_whose_sum_is_too_large_is_right(chunk):
    """What the merging of a bad row left behind must not be taken for entries of the next."""
    text = b"1 | 9 5:8e307 5:8e307 5:8e307\n1 | 9 5 3 4\n-1 |\n"
    want = [(1, [9, 5, 3, 4], values(1, 1, 1, 1)), (-1, [], b"")]
    assert read(text, skip_bad=1, chunk=chunk) == want


def test_blank_lines_are_no_rows_and_lines_are_still_counted():
    text = b"\n\n   \n\t\r\n\r\n1 | 1\n \t \n-1 | 1\n\n1 | 1:x\n"
    assert "line 10, column 7 of" in fails(text)
    assert read(text, skip_bad=1) == [(1, [1], values(1)), (-1, [1], values(1))]


def test_a_byte_order_mark_is_skipped():
    assert read(b"\xef\xbb\xbf1 | 1\n-1 | 2") == [(1, [1], values(1)), (-1, [2], values(1))]
    assert "line 2, column 1" in fails(b"1 | 1\n\xef\xbb\xbf-1 | 1\n")


def test_the_stream_says_what_it_is(tmp_path):
    path = tmp_path / "mail.vw"
    path.write_bytes(BOTH)
    stream = VW(path, bits=10)
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
    data = b"1 |\n-1 | 1:1" + end
    *_, last = VW(io.BytesIO(data), chunk=1).batches()
    assert (last.end["byte"], last.end["row"], last.end["line"]) == (len(data), 2, 2)
    assert list(VW(io.BytesIO(data)).batches(last.end)) == []


def test_numba_is_not_imported_before_reading_begins():
    code = (
        "import sys, io; from novikoff.data.formats.vw import VW; s = VW(io.BytesIO(b'1 | 1:1\\n-1 |'));"
        "b = s.batches(); assert 'numba' not in sys.modules; next(b); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_padding_is_that_of_the_kernels():
    assert labelled_lines.PADDING >= decimals.PADDING


# importance weights and bases


@pytest.mark.parametrize(
    ("line", "column", "must"),
    [
        (b"1 2.50 | 1", 3, 'an importance weight must be 1, as the theorems count every round once: %s has "2.50"'),
        (b"1 0 'tag | 1", 3, 'an importance weight must be 1, as the theorems count every round once: %s has "0"'),
        (b"1 1 -.5 | 1", 5, 'a base must be 0, as the theorems know no score but the learner\'s: %s has "-.5"'),
        (b"1 3 4 tag| 1", 3, 'an importance weight must be 1, as the theorems count every round once: %s has "3"'),
    ],
)
def test_an_importance_or_a_base_is_an_error_unless_it_is_ignored(line, column, must):
    text = BOTH + line + b"\n1 2 | 1\n"
    where = f"line 3, column {column} of a BytesIO"
    hint = "Pass ignore_weights=True to count every row once, or pass skip_bad=N to skip up to N bad lines."
    assert fails(text) == f"{must % where}. {hint}"
    for chunk in (1, 1000):
        stream = VW(io.BytesIO(text), ignore_weights=True, chunk=chunk)
        for _ in range(2):
            assert rows_of(stream.batches()) == read(BOTH + b"1 | 1\n1 | 1\n")
            assert stream.notes == ["importance weights and bases of 2 rows of a BytesIO left out: each counts once."]


def test_ignored_weights_must_still_be_numbers():
    assert "an importance weight must be a finite number" in fails(BOTH + b"1 x | 1\n", ignore_weights=True)
    assert "a base must be a finite number" in fails(BOTH + b"1 2 x | 1\n", ignore_weights=True)


def test_weights_of_lines_that_python_reads_are_noted_too():
    long = b"1.00000000000000000000000000 2 | 1\n"  # more digits than the kernel takes
    stream = VW(io.BytesIO(BOTH + long + b"1 3 | 1\n" + long), ignore_weights=True)
    assert rows_of(stream.batches()) == read(BOTH + b"1 | 1\n" * 3)
    assert stream.notes == ["importance weights and bases of 3 rows of a BytesIO left out: each counts once."]


def test_weights_that_say_nothing_are_not_noted():
    stream = VW(io.BytesIO(b"1 1 | 1\n-1 1.0 0.0 | 1\n"), ignore_weights=True)
    list(stream.batches())
    assert stream.notes == []


# labels


def test_labels_of_two_values_the_larger_is_plus_one():
    assert [y for y, _, _ in read(b"2 | 1\n1 | 1\n2 | 1\n")] == [1, -1, 1]
    assert [y for y, _, _ in read(b"0 |\n1 |\n0 |\n")] == [-1, 1, -1]


def test_a_third_label_is_an_error_that_names_the_line_whatever_the_chunk():
    text = b"1 | 1\n \n2 | 1\n\n3 | 1\n4 | 1\n"
    for chunk in (1, 10, 1000):
        stream = VW(io.BytesIO(text), chunk=chunk)
        got = []
        with pytest.raises(SourceError, match="line 5 of a BytesIO has a third, 3, beside 1 and 2. Pass positive=2"):
            got.extend(stream.batches())
        assert [y for y, _, _ in rows_of(got)] == [-1, 1]  # the rows before it


@pytest.mark.parametrize("chunk", [1, 1000])
def test_lines_behind_a_third_label_are_not_said_to_be_skipped(chunk):
    stream = VW(io.BytesIO(b"1 |\nx\n2 |\n3 |\nx\nx\n"), skip_bad=3, chunk=chunk)
    with pytest.raises(SourceError, match="line 4 of a BytesIO has a third, 3"):
        list(stream.batches())
    assert [line for line, _ in stream.skipped] == [2]


def test_a_pass_knows_nothing_of_the_labels_of_an_earlier_one(tmp_path):
    path = tmp_path / "t.vw"
    path.write_bytes(b"1 |\n2 |\n")
    stream = VW(path)
    assert [y for y, _, _ in rows_of(stream.batches())] == [-1, 1]
    path.write_bytes(b"4 |\n3 |\n")
    assert [y for y, _, _ in rows_of(stream.batches())] == [1, -1]
    assert stream.labels == Labels(3, 4)


def test_one_label_against_every_other():
    stream = VW(io.BytesIO(b"1 |\n2 |\n3 |\n"), positive="2")
    assert [y for y, _, _ in rows_of(stream.batches())] == [-1, 1, -1]
    assert stream.labels == Labels("not 2", 2)


def test_a_positive_label_that_is_not_there_is_noted():
    stream = VW(io.BytesIO(b"1 |\n2 |\n"), positive=7)
    for _ in range(2):
        assert [y for y, _, _ in rows_of(stream.batches())] == [-1, -1]
        assert stream.notes == ["no label of a BytesIO is 7, the positive one: all are -1."]


@pytest.mark.parametrize("positive", ["spam", "nan", float("inf"), [1]])
def test_a_positive_label_must_be_a_number(positive):
    with pytest.raises(SourceError, match="the positive label must be a number"):
        VW(io.BytesIO(BOTH), positive=positive)


def test_many_labels_stay_as_they_are():
    stream = VW(io.BytesIO(b"0 | 1\n2 | 1\n"), many=3)
    (batch,) = stream.batches()
    assert batch.y.tolist() == [0, 2]
    assert batch.y.dtype == np.int32
    assert stream.labels is None
    assert "line 2 of a BytesIO has 3" in fails(b"0 |\n3 |\n", many=3)


def test_a_file_is_looked_through_for_its_second_label(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    path = tmp_path / "sorted.vw"
    for text in (b"1 | 1\n" * 1000 + b"2 | 1\n" * 1000, b"5 |\n" * 1000 + b"x\n" + b"3 |\n"):
        path.write_bytes(text)
        got = [y for y, _, _ in read(path, chunk=50, skip_bad=1)]
        assert got == ([-1] * 1000 + [1] * 1000 if len(text) > 9000 else [1] * 1000 + [-1])
        path.write_bytes(gzip.compress(text))
        assert [y for y, _, _ in read(path, chunk=50, skip_bad=1)] == got


def test_what_cannot_be_looked_through_goes_by_the_first_label(monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    assert [y for y, _, _ in read(b"1 | 1\n" * 99 + b"0 |\n", chunk=50)] == [1] * 99 + [-1]
    assert [y for y, _, _ in read(b"0 | 1\n" * 99, chunk=50)] == [-1] * 99
    said = fails(b"1 | 1\n" * 99 + b"2 | 1\n", chunk=50)
    assert "line 100 of a BytesIO has 2, after rows of 1 alone, which was taken for +1. Pass positive=2." in said
    assert "there is only 5" in fails(b"5 | 1\n" * 99, chunk=50)


def test_rows_of_one_label_are_held_back_once_only(monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 1000)
    stream = VW(io.BytesIO(b"1 | 1\n" * 10_000), chunk=100)
    batches = stream.batches()
    next(batches)
    before = stream._origin._file.tell()
    next(batches), next(batches)
    assert before < 1000 + 10 * 100 * (stream._threads + 2)
    assert len(list(batches)) > 500


# bad lines


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        (b"x | 1", 1, 'a label must be a finite number: line 3, column 1 of a BytesIO has "x"'),
        (b"nan | 1", 1, "a label must be a finite number"),
        (b"1e400 |", 1, "a label must be finite"),
        (b"1:2:0.5 | a", 1, "a label must be a finite number"),
        (b"shared | a", 1, "a label must be a finite number"),
        (b"1_0 | 1", 1, "a label must be a finite number"),
        (b"| a b", 1, 'a line must have a label: line 3, column 1 of a BytesIO has "| a b"'),
        (b"|f a b", 1, "a line must have a label"),
        (b"  |f a b", 1, "a line must have a label"),
        (b"1|f a b", 1, 'a line must have a label: line 3, column 1 of a BytesIO has "1|f a b"'),
        (b"'tag |f a", 1, "a line must have a label"),
        (b"1", 1, 'a line must have a bar before its features: line 3, column 1 of a BytesIO has "1"'),
        (b"1 2:3 4:5", 1, "a line must have a bar before its features"),
        (b"1\t| a", 2, 'words before the bar must have blanks between them: line 3, column 2 of a BytesIO has "\\t"'),
        (b"\t1 | a", 1, "words before the bar must have blanks between them"),
        (b"1 1 0 0 | a", 7, "a label must be one number, with an importance and a base at most: line 3, column 7 of"),
        (b"1 'tag 1 | a", 3, "an importance weight must be a finite number"),
        (b"1 tag | a", 3, 'an importance weight must be a finite number: line 3, column 3 of a BytesIO has "tag"'),
        (b"1 1 tag | a", 5, 'a base must be a finite number: line 3, column 5 of a BytesIO has "tag"'),
        (b"1 'a 'b | x", 3, "an importance weight must be a finite number"),
        (b"1 1e999 | a", 3, "an importance weight must be finite"),
        (b"1 |: a", 5, "a weight must be a finite number"),
        (b"1 |:2 a", 4, 'a namespace must have a name: line 3, column 4 of a BytesIO has ":2"'),
        (b"1 |f: a", 6, 'a weight must be a finite number: line 3, column 6 of a BytesIO has ""'),
        (b"1 |f:x a", 6, 'a weight must be a finite number: line 3, column 6 of a BytesIO has "x"'),
        (b"1 |f:1:2 a", 6, 'a weight must be a finite number: line 3, column 6 of a BytesIO has "1:2"'),
        (b"1 | a:nan", 7, "a value must be a finite number"),
        (b"1 | a:2 bb:inf", 12, "a value must be a finite number"),
        (b"1 | a:1e309", 7, "a value must be finite"),
        (b"1 | a:", 7, 'a value must be a finite number: line 3, column 7 of a BytesIO has ""'),
        (b"1 | :", 6, "a value must be a finite number"),
        (b"1 | a: 2", 7, "a value must be a finite number"),
        (b"1 | a:|f", 7, "a value must be a finite number"),
        (b"1 | city:paris", 10, 'a value must be a finite number: line 3, column 10 of a BytesIO has "paris"'),
        (b"1 | a:2x", 7, 'a value must be a finite number: line 3, column 7 of a BytesIO has "2x"'),
        (b"1 | a:2:3", 7, "a value must be a finite number"),
        (b"1 | a::3", 7, "a value must be a finite number"),
        (b"1 |f a|g b:0x10", 12, "a value must be a finite number"),
        (b"1 | a:1_0", 7, "a value must be a finite number"),
        (b"1 | a:2\xa0", 7, "a value must be a finite number"),
        (b"1 |f:1e200 a:1e200", 12, "a value times the weight of its namespace must be finite: line 3, column 12 of"),
        (b"1 | a:2\x0bb:3", 8, 'a line must have no control characters: line 3, column 8 of a BytesIO has "\\x0b"'),
        (b"1 | a\x00b", 6, "a line must have no control characters"),
        (b"1 |\x01a b", 4, "a line must have no control characters"),
        (b"1 \x01| b", 3, "a line must have no control characters"),
        (b"1 | a:2\rb:3", 8, 'a line must have no control characters: line 3, column 8 of a BytesIO has "\\r"'),
        (b"1 | a:2\r", 8, "a line must have no control characters"),
        (b"1 | 5:1e308 5:1e308", 13, "values of one index must have a finite sum"),
        (b"1 | 5:8e307 5:8e307 5:8e307", 21, "values of one index must have a finite sum"),
        (b"1," * 100, 1, 'has "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,..."'),
    ],
)
def test_a_bad_line_names_file_line_and_column(line, column, said):
    for end in (b"\n", b"\r\n") if not line.endswith(b"\r") else (b"\r\n",):
        message = fails(BOTH + line + end + b"1 | 1\n")
        assert said in message
        assert f"line 3, column {column} of a BytesIO has" in message
        assert message.endswith(", or pass skip_bad=N to skip up to N bad lines.")


def test_rows_before_a_bad_line_come_first_whatever_the_chunk():
    text = BOTH * 3 + b"1 | 9:9 x:\n" + BOTH
    for chunk in (1, 20, 1000):
        got = []
        with pytest.raises(SourceError, match="line 7, column 11 of"):
            got.extend(VW(io.BytesIO(text), chunk=chunk).batches())
        assert rows_of(got) == read(BOTH * 3)
        assert got[-1].end is None or chunk < 1000


@pytest.mark.parametrize("chunk", [1, 16, 1000])
def test_bad_lines_are_skipped_up_to_a_number_and_told(chunk):
    text = b"1 | 1\nx\n-1 | 1\n1 | 1:\n1 | 2\nx"
    stream = VW(io.BytesIO(text), skip_bad=3, chunk=chunk)
    for _ in range(2):
        assert rows_of(list(stream.batches())) == read(b"1 | 1\n-1 | 1\n1 | 2\n")
        assert [line for line, _ in stream.skipped] == [2, 4, 6]
        assert stream.skipped[1][1] == 'a value must be a finite number: line 4, column 7 of a BytesIO has ""'
        assert stream.notes == [f"3 bad lines of a BytesIO skipped, the first: {stream.skipped[0][1]}"]
    message = fails(text, skip_bad=2, chunk=chunk)
    assert 'line 6, column 1 of a BytesIO has "x" after 2 that were skipped. Is it Vowpal Wabbit text?' in message


def test_notes_of_others_stay():
    stream = VW(io.BytesIO(b"1 |\n-1 |\nx\n"), skip_bad=1)
    stream.notes.append("read as vw")
    list(stream.batches())
    list(stream.batches())
    assert len(stream.notes) == 2
    assert stream.notes[0] == "read as vw"
    assert stream.notes[1].startswith("1 bad line of a BytesIO skipped")


@pytest.mark.parametrize("text", [b"", b"\n", b" \t\n\n", b"x\n"])
def test_a_source_must_not_be_empty(text):
    assert fails(text, skip_bad=1) == "a source must not be empty: a BytesIO has no rows."


@pytest.mark.parametrize(
    "wrong",
    [{"skip_bad": -1}, {"threads": 0}, {"chunk": 0}, {"bits": 0}, {"bits": 33}, {"positive": 1, "many": 2}],
)
def test_options_must_make_sense(wrong):
    with pytest.raises(SourceError, match="must be"):
        VW(io.BytesIO(BOTH), **wrong)


# any chunk, any number of threads, any stop

NAMES = (
    b"a",
    b"b",
    b"9",
    b"123",
    b"007",
    b"12345678",
    b"123456789012345678901234",
    b"word",
    b"a longer name".split()[2],
)
MORE_NAMES = (b"abcdefgh", b"abcdefghi", b"1.5", b"-3", b"a=b", b"a^b", b"#", b"12345678a", b"x\xff", b"'quoted", b"_")


def table(rng, rows, ignore=False):
    """Random lines, good ones."""
    lines = []
    for _ in range(rows):
        kind = rng.randrange(12)
        if kind == 0:
            lines.append(rng.choice([b"", b"  ", b"\t", b" \t "]))
            continue
        line = rng.choice([b"1", b"-1", b"+1", b"-1.0", b" 1e0"])
        line += rng.choice([b"", b"", b" 1", b" 1.0 0"] if not ignore else [b"", b" 2", b" 1 0", b"  0.5 -2 "])
        line += rng.choice([b" ", b"  ", b" 'tag ", b" 'tag", b" tag", b" 7"])
        for _ in range(rng.randrange(1, 4)):
            space = rng.choice((b"", *NAMES, *MORE_NAMES))
            line += b"|" + space + (b":" + plain(rng) if space and rng.randrange(4) == 0 else b"")
            for _ in range(rng.randrange(5)):
                name = rng.choice((b"", b"%d" % rng.randrange(2**34), *NAMES, *MORE_NAMES))
                line += rng.choice([b" ", b"\t", b"  "]) + name
                line += b":" + (plain if ignore else anything)(rng) if not name or rng.randrange(2) else b""
        lines.append(line + rng.choice([b"", b" ", b"\r"]))
    return b"\n".join(lines) + rng.choice([b"", b"\n"])


def plain(rng):
    return rng.choice([b"1", b"0.5", b"3", b"-2", b"1e1", b".25", b"%.4f" % rng.random()])


def anything(rng):
    """A finite number in one of many forms, small enough to be added up."""
    kind = rng.randrange(6)
    if kind == 0:
        return repr(struct.unpack("d", struct.pack("Q", rng.getrandbits(64) & ~(1 << 62)))[0]).encode()
    if kind == 1:
        return b"%.*f" % (rng.randrange(25), rng.random() * 10 ** rng.randint(-3, 3))
    if kind == 2:
        return b"%d" % rng.randrange(-20, 20)
    if kind == 3:
        return b"%.*e" % (rng.randrange(20), rng.random())
    if kind == 4:
        return b"%d.%de%d" % (rng.randrange(9), rng.getrandbits(70), rng.randint(-330, 290))
    return b"%.4f" % rng.random()


@given(
    st.randoms(use_true_random=False), st.integers(1, 60), st.integers(1, 400), st.integers(1, 4), st.integers(1, 32),
    st.booleans(),
)  # fmt: skip
def test_rows_are_those_of_a_slow_reader_whatever_chunk_and_threads(rng, rows, chunk, threads, bits, ignore):
    data = b"1 | 1:1\n-1 |\n" + table(rng, rows, ignore)
    want, bad = slow(data, bits, ignore)
    assert not bad
    got = read(data, chunk=chunk, threads=threads, bits=bits, ignore_weights=ignore)
    assert got == [(1 if y == 1 else -1, list(row), values(*row.values())) for _, y, row in want]


@pytest.mark.parametrize("packed", [False, True])
def test_going_on_from_any_end_is_the_same_as_no_stop(packed, tmp_path):
    rng = random.Random(5)
    data = b"1 | 1\n" * 20 + b"-1 | 1\nx | 1\n" + table(rng, 200) + b"\n1 | 1:\n1 | 1\n"
    path = tmp_path / "t.vw"
    path.write_bytes(gzip.compress(data) if packed else data)
    whole = list(VW(path, chunk=250, skip_bad=2).batches())
    rows = rows_of(whole)
    assert len(whole) > 20
    for k, stop in enumerate(whole):
        stream = VW(path, chunk=700, skip_bad=2)
        rest = list(stream.batches(json.loads(json.dumps(stop.end))))
        assert [b.first for b in rest][:1] == [len(rows_of(whole[: k + 1])) + 1][: len(rest)]
        got = [(int(y), i.tolist(), v.tobytes()) for b in rest for (i, v), y in b.rows()]
        assert got == rows[stop.end["row"] :]
        assert not rest or rest[-1].end == whole[-1].end
        assert [line for line, _ in stream.skipped] == [n for n in (22, data.count(b"\n") - 1) if n > stop.end["line"]]


def test_going_on_counts_lines_and_labels_from_the_start():
    data = b"0 | 1\n0 | 2\n" * 10 + b"1 | 1\nx\n"
    first = next(VW(io.BytesIO(data), chunk=12).batches())
    stream = VW(io.BytesIO(data), chunk=12)
    with pytest.raises(SourceError, match="line 22, column 1"):
        list(stream.batches(first.end))
    assert stream.labels == Labels(0, 1)


def test_a_line_may_be_longer_than_the_chunk():
    long = b"1 | " + b" ".join(b"%d" % i for i in range(5000)) + b"\n"
    data = BOTH + long + b"-1 |\n" + long * 2
    assert read(data, chunk=64) == read(data)


def test_a_stream_can_be_left_in_the_middle(tmp_path):
    path = tmp_path / "t.vw"
    path.write_bytes(BOTH * 10_000)
    before = set(threading.enumerate())
    for batch in VW(path, chunk=100, threads=3).batches():
        if batch.first > 20:
            break
    del batch
    from helpers import soon  # here: a process of its own imports this file too

    assert soon(lambda: set(threading.enumerate()) <= before)  # those of other tests may end meanwhile


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "t.vw"

    def peak(copies):
        path.write_bytes(b"".join(BOTH + b"1 |f a:0.25 b:1e-3\n" for _ in range(copies)))
        tracemalloc.start()
        rows = sum(len(batch) for batch in VW(path, chunk=2**14, threads=2).batches())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert rows == 3 * copies
        return most

    peak(100)
    assert peak(60_000) < 1.5 * peak(6_000) + 2**18


# pipes


def test_a_pipe_gives_the_same_rows_as_the_file():
    from helpers import typed  # not above: processes of other tests import this file

    rng = random.Random(7)
    data = b"1 | 1:1\n-1 |\n" + table(rng, 3000)
    for sent in (data, gzip.compress(data)):
        with typed(sent):
            stream = VW("-", chunk=5000)
            assert not stream.rereadable
            assert (stream.name, stream.fingerprint()) == ("standard input", {})
            found = [(int(y), i.tolist(), v.tobytes()) for b in stream.batches() for (i, v), y in b.rows()]
        assert found == read(data)
        assert str(stream.labels) == "-1 is -1, 1 is +1"


def test_a_pipe_is_read_once():
    reader, writer = os.pipe()
    os.write(writer, BOTH)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        stream = VW(file)
        assert not stream.rereadable
        assert len(list(stream.batches())) >= 1
        with pytest.raises(SourceError, match="rereadable"):
            list(stream.batches())


def test_a_silent_pipe_holds_back_no_row(monkeypatch):
    """Every row is answered before the next is sent, so nothing may wait for a full chunk."""
    monkeypatch.setattr(streaming_labels, "LABEL_SECONDS", 0.05)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as file:
        stream = VW(file, threads=2)
        os.write(writer, b"1 | 1\n1 | 2:")
        batches = stream.batches()
        assert len(next(batches)) == 1
        assert stream.labels == Labels(-1, 1)
        for text in (b"1\n", b"0 | 1\n", b"\n1 | 1\n"):
            os.write(writer, text)
            assert len(next(batches)) == 1
        assert stream.labels == Labels(0, 1)
        os.write(writer, b"1 |")
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

ALPHABET = b"0123456789.:-+eE \t\r\n|'abtf_\x00\x80\xff"
SEEDS = (
    b"1 |f 1:0.5 a:1e-3 7:.5", b"-1 1 'tag |f:2 1:1 b a:3|g a b a", b"+1 tag| 4294967294:1 0:-0", b"1 2 0.5 |a b",
    b"1 | 5:1 2:2 5:3\r\n-1 |f 1:1", b"0.123456789012345678 | 1:12345678901234567890", b"1 |f :1 :2|f :3 word\t12 7",
    b"1 1.0 0 |n:1e300 12345678:1.2345678 abcdefgh:123456789.5e-300", b"1 | 9 5:8e307 5:8e307 5:8e307\n1 | 9 5 3 4 5 3",
    b"1 |f a:1e308 a:1e308", b"\n\n1 |", b"1 |x 1:1.7976931348623157e308 2:5e-324 3:9007199254740993",
    b"1 'a|abcdefghijklmnopqrstuvwxyz:0.25 0123456789012345678901234567890123456789:1 x12345678901234567",
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


def fuzz(seed, count, compiled=kernel, pieces=1):
    """Compare what is taken and what is refused, bit for bit; how many inputs had a bad line."""
    rng = random.Random(seed)
    parsers = {(b, i): parser(compiled, b, i) for b in (2, 18, 32) for i in (False, True)}
    refused = 0
    for _ in range(count):
        data = b"\n".join(mutated(rng) for _ in range(pieces)) + b"\n"
        text = bytearray(data + rng.randbytes(decimals.PADDING))
        how = rng.choice(list(parsers))
        got, want = as_slow(parsers[how].parse(text, len(data), 0)), from_slow(data, *how)
        assert got == want, (data, how)
        parsers[how]._free.clear()
        refused += bool(want[1])
    return refused


def test_malformed_inputs_are_refused_and_the_others_right():
    assert 3_000 < fuzz(1, 10_000) < 9_000


def test_malformed_lines_leave_their_neighbours_right():
    fuzz(2, 300, pieces=50)


@pytest.mark.slow
def test_malformed_inputs_are_refused_and_the_others_right_200_000_times():
    assert fuzz(3, 200_000) > 60_000


@settings(max_examples=300)
@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_at_all_are_rows_or_errors_of_ours(data, chunk):
    want, bad = slow(data.removeprefix(b"\xef\xbb\xbf"))
    if data[:2] == b"\x1f\x8b" or data[:3] == b"BZh" or not want:
        with pytest.raises(SourceError):
            read(data, positive=1, chunk=chunk, skip_bad=len(bad))
    else:
        got = read(data, positive=1, chunk=chunk, skip_bad=len(bad))
        assert got == [(1 if y == 1 else -1, list(row), values(*row.values())) for _, y, row in want]


def test_the_line_reader_agrees_with_the_slow_one():
    rng = random.Random(4)
    for _ in range(5_000):
        line = mutated(rng).replace(b"\n", b" ")
        rows, bad = from_slow(line + b"\n")
        if bad:
            with pytest.raises(BadLineError):
                read_line(line, 18)
        else:
            row = read_line(line, 18)
            got = [(0, bits_of(row[0]), [(i, bits_of(v)) for i, v in row[1].items()])] if row else []
            assert got == rows, line


# bounds


PLACES = {
    **{name: f"novikoff.numerics.{name}" for name in ("decimals", "repeats")},
    **{name: f"novikoff.data._loops.{name}" for name in ("svmlight", "vw", "words")},
}


@pytest.fixture
def twin():
    """The kernel as plain Python, where numpy checks every index."""
    before, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 1
    names = ("decimals", "words", "repeats")
    real = {name: sys.modules.get(PLACES[name]) for name in names}
    try:
        for name in names:
            sys.modules[PLACES[name]] = _load(name)
        yield _load("vw")
    finally:
        for name, module in real.items():
            sys.modules[PLACES[name]] = module
        numba.config.DISABLE_JIT = before


def _load(name):
    found = importlib.util.find_spec(PLACES[name])
    spec = importlib.util.spec_from_file_location(PLACES[name], found.origin)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_plain_twin_reads_and_writes_within_bounds_and_agrees(twin):
    with np.errstate(over="ignore"):
        fuzz(5, 1_000, twin)
        data = table(random.Random(6), 50)
        assert as_slow(parse(data, twin)) == from_slow(data)


def test_the_kernel_writes_nothing_behind_the_room_it_was_promised():
    rng = random.Random(8)
    tight = [b"1 | a b c\n", b"1 |\n" * 50, b"1 |" + b" a" * 40 + b"\n", b"1 | a\n\n", b"1 | a b|c d|\n"]
    for data in [*tight, *(mutated(rng) + b"\n" for _ in range(3000))]:
        rows, entries = len(data) // 4 + 1, len(data) // 2 + 1
        state = np.zeros(5, dtype=np.uint64)
        text = np.frombuffer(bytearray(data + b"1" * decimals.PADDING), dtype=np.uint8)
        sizes = {
            "labels": (rows, float),
            "lines": (rows, np.uint32),
            "indptr": (rows + 1, np.uint64),
            "indices": (entries, np.uint32),
            "values": (entries, float),
            "table": (kernel.SLOTS, np.uint32),
        }
        guarded = {name: np.full(size + 64, 123, dtype=kind) for name, (size, kind) in sizes.items()}
        guarded["table"][:] = 0
        arrays = [a[: sizes[n][0]] for n, a in guarded.items()]
        kernel.parse(text, np.uint64(len(data)), np.uint64(2**18 - 1), False, state, *arrays)
        for name, array in guarded.items():
            assert np.all(array[sizes[name][0] :] == (0 if name == "table" else 123)), (name, data)
        assert state[kernel.AT] <= len(data)


GUARDED = """
import ctypes, mmap, random, sys
import numpy as np
from novikoff.data._loops import vw as kernel
from novikoff.numerics import decimals
sys.path.insert(0, sys.argv[1])
from test_vw import mutated
page = mmap.PAGESIZE
area = mmap.mmap(-1, 2 * page)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + page), page, 0) == 0
memory = np.frombuffer(area, dtype=np.uint8)
rng = random.Random(9)
arrays = [np.zeros(page, t) for t in (float, np.uint32, np.uint64, np.uint32, float)]
arrays.append(np.zeros(kernel.SLOTS, np.uint32))
for _ in range(20000):
    data = mutated(rng)[:200] + b"\\n"
    text = memory[page - decimals.PADDING - len(data) : page]
    text[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    text[len(data) :] = rng.choice([10, 48, 49, 57, 97])
    arrays[-1][:] = 0
    kernel.parse(text, np.uint64(len(data)), np.uint64(2**18 - 1), True, np.zeros(5, np.uint64), *arrays)
print("alive")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")
def test_the_kernel_reads_nothing_behind_the_padding():
    """The page behind it is forbidden: a read there would kill the process."""
    command = [sys.executable, "-c", GUARDED, os.path.dirname(__file__)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "alive", done.stderr


@pytest.mark.slow
def test_the_kernel_stays_in_bounds_when_numba_checks_them(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_vw as t; t.fuzz(10, 20_000);"
        "t.fuzz(11, 200, pieces=50); t.test_long_unsorted_rows_with_repeats_are_merged(8192); print('alive')"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code, os.path.dirname(__file__)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.strip() == "alive", done.stderr


# played


def test_a_game_on_vw_text_is_that_on_the_same_svmlight_text(tmp_path):
    rng = random.Random(12)
    lines = [
        (rng.choice([b"1", b"-1"]), b" ".join(b"%d:%.3f" % (i, rng.random()) for i in sorted(rng.sample(range(99), 9))))
        for _ in range(500)
    ]
    for name, middle in (("a.vw", b" | "), ("a.svm", b" ")):
        (tmp_path / name).write_bytes(b"\n".join(label + middle + row for label, row in lines))
    ours, theirs = (nk.play(nk.Perceptron(), nk.read(tmp_path / name)) for name in ("a.vw", "a.svm"))
    assert ours.mistakes == theirs.mistakes > 50
    weights, same = ours.learner.weights, theirs.learner.weights
    assert np.array_equal(weights[: len(same)], same)
    assert not weights[len(same) :].any()


@pytest.mark.parametrize(("name", "plus", "minus"), [("rcv1_small.dat", 459, 541), ("rcv1_small_test.data", 245, 255)])
def test_the_rcv1_sample_of_vowpal_wabbit_runs_as_it_is(name, plus, minus):
    places = (folder / "shared" / "data" / "rcv1_vw" / name for folder in Path(__file__).resolve().parents)
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        pytest.skip("the sample is not on this machine")
    stream = nk.read(path)
    ledger = nk.play(nk.Perceptron(), stream)
    assert stream.notes == ["read as vw"]
    assert ledger.rounds == plus + minus
    want, bad = slow(path.read_bytes())
    assert not bad
    assert read(path) == [(int(y), list(row), values(*row.values())) for _, y, row in want]
    assert [sum(y == sign for _, y, _ in want) for sign in (1, -1)] == [plus, minus]
    assert any(certificate.status == "valid" for certificate in ledger.certify())
    assert not any(certificate.status == "violated" for certificate in ledger.certify())
