from __future__ import annotations

import gzip
import importlib.util
import io
import json
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

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data import streaming_labels
from novikoff.data._loops import svmlight as kernel
from novikoff.data.formats.lines import BadLineError
from novikoff.data.formats.svmlight import ChunkParser, Svmlight, read_line

BOTH = b"1 1:1\n-1 1:1\n"
LARGEST = 2**32 - 2


# an independent reader: slow, plain, the whole text at once


def slow(data):
    """The rows (line, label, {index: value}) and the numbers of bad lines, from 0."""
    rows, bad = [], []
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == b"" else lines):
        line = line[:-1] if line[-1:] == b"\r" else line
        words = re.split(rb"[ \t]+", line.split(b"#")[0].strip(b" \t"))
        if words == [b""]:
            continue
        try:
            label = slow_number(words.pop(0))
            if words and re.fullmatch(rb"qid:\d+", words[0]):
                words.pop(0)
            row = {}
            for word in words:
                index, value = re.fullmatch(rb"0*(\d{1,10}):(.*)", word, re.DOTALL).groups()
                if int(index) > LARGEST:
                    raise ValueError
                i = int(index)
                row[i] = row[i] + slow_number(value) if i in row else slow_number(value)
                if row[i] in (float("inf"), -float("inf")):
                    raise ValueError
            rows.append((number, label, row))
        except (ValueError, AttributeError):
            bad.append(number)
    return rows, bad


def slow_number(word):
    if not re.fullmatch(rb"[-+]?(\d+|\d+\.\d*|\.\d+)([eE][-+]?\d+)?", word):
        raise ValueError
    number = float(word)
    if number in (float("inf"), -float("inf")):
        raise ValueError
    return number


def bits(x):
    return struct.pack("<d", x)


def as_slow(parsed):
    """What was parsed, in the form of `slow`, doubles as their bytes."""
    rows = [
        (int(line), bits(label), [(int(i), bits(v)) for i, v in zip(*row, strict=True)])
        for line, label, row in zip(parsed.row_lines, parsed.labels, parsed.x.rows(), strict=True)
    ]
    return rows, [line for line, _ in parsed.bad]


def from_slow(data):
    rows, bad = slow(data)
    return [(n, bits(y), [(i, bits(v)) for i, v in row.items()]) for n, y, row in rows], bad


def parse(data, compiled=kernel):
    """The whole text as one chunk."""
    text = bytearray(data if data.endswith(b"\n") else data + b"\n")
    return ChunkParser(compiled, 10**9, deque(), lambda size: False).parse(text + b"7" * kernel.PADDING, len(text), 0)


def read(data, **options):
    """Every row as (y, indices, values) and the batches they came in."""
    stream = Svmlight(io.BytesIO(data) if isinstance(data, bytes) else data, **options)
    return rows_of(list(stream.batches()))


def rows_of(batches):
    rows, width = [], 0
    for batch in batches:
        assert batch.first == len(rows) + 1
        assert batch.x.width >= width
        width = batch.x.width
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


def test_a_line_is_a_label_and_features():
    assert read(b"+1 1:0.5 7:-2\n-1 3:1e-3\n") == [(1, [1, 7], values(0.5, -2)), (-1, [3], values(0.001))]


@pytest.mark.parametrize(
    ("line", "indices", "numbers"),
    [
        (b"1", [], []),
        (b"1 ", [], []),
        (b"1#c", [], []),
        (b"1 0:5", [0], [5]),
        (b"  1\t2:3 \t 4:5\t", [2, 4], [3, 5]),
        (b"1 2:3 # 4:5 \xff junk", [2], [3]),
        (b"1 2:3#4:5", [2], [3]),
        (b"1 qid:7 2:3", [2], [3]),
        (b"1 qid:123456789012345678901234567890 2:3", [2], [3]),
        (b"1 qid:7", [], []),
        (b"1 9:1 2:1 5:1", [9, 2, 5], [1, 1, 1]),
        (b"1 4294967294:1", [LARGEST], [1]),
        (b"1 0000000000000000000012:1", [12], [1]),
        (b"1 12345678:1 123456789:2 1234567890:3", [12345678, 123456789, 1234567890], [1, 2, 3]),
        (b"1 1:0 2:-0 3:0.0", [1, 2, 3], [0.0, -0.0, 0.0]),
        (b"1 1:+1 2:1e-3 3:.5 4:5. 5:-.5e+2", [1, 2, 3, 4, 5], [1, 0.001, 0.5, 5, -50]),
        (b"1 1:0.1234567890123456789012345678901234567890", [1], [0.12345678901234568]),
        (b"1 1:1e-400 2:5e-324", [1, 2], [0, 5e-324]),
        (b"1 3:1 2:1 3:2 2:4 3:8", [3, 2], [11, 5]),
        (b"1 3:1e308 3:-1e308", [3], [0]),
        (b"1 3:1 3:123456789012345678901234567890", [3], [1.2345678901234568e29]),
        (b"1.0 1:1", [1], [1]),
        (b"100e-2 1:1", [1], [1]),
        (b"1.00000000000000000000000000 1:1", [1], [1]),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_the_format_in_all_its_forms(line, indices, numbers, end):
    assert read(b"-1\n" + line + end) == [(-1, [], b""), (1, indices, values(*numbers))]


def test_repeats_are_added_in_their_order_at_the_place_of_the_first():
    row = [(7, 1e16), (3, 0.5), (7, 1.0), (3, 0.25), (7, -1e16)]
    line = b"1 " + b" ".join(b"%d:%r" % (i, v) for i, v in row)
    assert read(b"-1\n" + line)[1] == (1, [7, 3], values((1e16 + 1.0) - 1e16, 0.75))


@pytest.mark.parametrize("count", [2, 3, 100, 8192, 8193, 20_000])
def test_long_unsorted_rows_with_repeats_are_merged(count):
    rng = random.Random(count)
    row = [(rng.randrange(count), rng.randrange(9)) for _ in range(count)]
    want = {}
    for i, v in row:
        want[i] = want.get(i, 0) + v
    text = b"1" + b"".join(b" %d:%d" % pair for pair in row) + b"\n"
    got = read(b"-1\n" + text + text)
    assert got[1] == got[2] == (1, list(want), values(*want.values()))


@pytest.mark.parametrize("count", [200, 600])
def test_indices_that_all_fall_in_one_slot_are_merged_too(count):
    hashes = np.arange(2**21, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    clash = np.flatnonzero(hashes >> np.uint64(53) == 0)[:count].tolist()  # the top bits are all 0
    assert len(clash) == count
    text = b"1" + b"".join(b" %d:1" % i for i in clash + clash[::-1])
    assert read(b"-1\n" + text)[1] == (1, clash, values(*[2.0] * count))


def test_blank_lines_and_comments_are_no_rows_and_lines_are_still_counted():
    text = b"# head\n\n   \n\t# more\r\n\r\n1 1:1\n#\n-1 1:1\n\n1 1:x\n"
    assert "line 10, column 5 of" in fails(text)
    assert read(text, skip_bad=1) == [(1, [1], values(1)), (-1, [1], values(1))]


def test_a_byte_order_mark_is_skipped():
    assert read(b"\xef\xbb\xbf1 1:1\n-1 2:1") == [(1, [1], values(1)), (-1, [2], values(1))]
    assert "line 2, column 1" in fails(b"1 1:1\n\xef\xbb\xbf-1 1:1\n")


def test_the_width_is_the_largest_index_so_far_and_one():
    stream = Svmlight(io.BytesIO(b"1\n-1\n1 5:1\n1 2:1\n1 9:1 3:1\n"), chunk=1)
    assert [batch.x.width for batch in stream.batches()] == [0, 0, 6, 6, 10]


def test_the_stream_says_what_it_is(tmp_path):
    path = tmp_path / "mail.svm"
    path.write_bytes(BOTH)
    stream = Svmlight(path)
    assert (stream.name, stream.domain, stream.rereadable) == (str(path), Domain("vector", None), True)
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
    data = b"1\n-1 1:1" + end
    *_, last = Svmlight(io.BytesIO(data), chunk=1).batches()
    assert (last.end["byte"], last.end["row"], last.end["line"]) == (len(data), 2, 2)
    assert list(Svmlight(io.BytesIO(data)).batches(last.end)) == []


def test_numba_is_not_imported_before_reading_begins():
    code = (
        "import sys, io; from novikoff.data.formats.svmlight import Svmlight; s = Svmlight(io.BytesIO(b'1 1:1\\n-1'));"
        "b = s.batches(); assert 'numba' not in sys.modules; next(b); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# labels


def test_labels_of_two_values_the_larger_is_plus_one():
    assert [y for y, _, _ in read(b"2 1:1\n1 1:1\n2 1:1\n")] == [1, -1, 1]
    assert [y for y, _, _ in read(b"0\n1\n0\n")] == [-1, 1, -1]


def test_a_third_label_is_an_error_that_names_the_line_whatever_the_chunk():
    text = b"1 1:1\n# c\n2 1:1\n\n3 1:1\n4 1:1\n"
    for chunk in (1, 10, 1000):
        stream = Svmlight(io.BytesIO(text), chunk=chunk)
        got = []
        with pytest.raises(SourceError, match="line 5 of a BytesIO has a third, 3, beside 1 and 2. Pass positive=2"):
            got.extend(stream.batches())
        assert [y for y, _, _ in rows_of(got)] == [-1, 1]  # the rows before it


def test_one_label_against_every_other():
    stream = Svmlight(io.BytesIO(b"1\n2\n3\n"), positive="2")
    assert [y for y, _, _ in rows_of(stream.batches())] == [-1, 1, -1]
    assert stream.labels == Labels("not 2", 2)


def test_a_positive_label_that_is_not_there_is_noted():
    stream = Svmlight(io.BytesIO(b"1\n2\n"), positive=7)
    for _ in range(2):
        assert [y for y, _, _ in rows_of(stream.batches())] == [-1, -1]
        assert stream.notes == ["no label of a BytesIO is 7, the positive one: all are -1."]


@pytest.mark.parametrize("positive", ["spam", "nan", float("inf"), [1]])
def test_a_positive_label_must_be_a_number(positive):
    with pytest.raises(SourceError, match="the positive label must be a number"):
        Svmlight(io.BytesIO(BOTH), positive=positive)


def test_many_labels_stay_as_they_are():
    stream = Svmlight(io.BytesIO(b"0 1:1\n2 1:1\n"), many=3)
    (batch,) = stream.batches()
    assert batch.y.tolist() == [0, 2]
    assert batch.y.dtype == np.int32
    assert stream.labels is None
    assert "line 2 of a BytesIO has 3" in fails(b"0\n3\n", many=3)


def test_a_file_is_looked_through_for_its_second_label(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    path = tmp_path / "sorted.svm"
    for text in (b"1 1:1\n" * 1000 + b"2 1:1\n" * 1000, b"5\n" * 1000 + b"x\n" + b"3\n"):
        path.write_bytes(text)
        got = [y for y, _, _ in read(path, chunk=50, skip_bad=1)]
        assert got == ([-1] * 1000 + [1] * 1000 if len(text) > 9000 else [1] * 1000 + [-1])
        path.write_bytes(gzip.compress(text))
        assert [y for y, _, _ in read(path, chunk=50, skip_bad=1)] == got


def test_what_cannot_be_looked_through_goes_by_the_first_label(monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    assert [y for y, _, _ in read(b"1 1:1\n" * 99 + b"0\n", chunk=50)] == [1] * 99 + [-1]
    assert [y for y, _, _ in read(b"0 1:1\n" * 99, chunk=50)] == [-1] * 99
    said = fails(b"1 1:1\n" * 99 + b"2 1:1\n", chunk=50)
    assert "line 100 of a BytesIO has 2, after rows of 1 alone, which was taken for +1. Pass positive=2." in said
    assert "there is only 5" in fails(b"5 1:1\n" * 99, chunk=50)


def test_rows_of_one_label_are_held_back_once_only(monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 1000)
    stream = Svmlight(io.BytesIO(b"1 1:1\n" * 10_000), chunk=100)
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
        (b"x 1:2", 1, 'a label must be a finite number: line 3, column 1 of a BytesIO has "x"'),
        (b"nan 1:2", 1, "a label must be a finite number"),
        (b"-inf 1:2", 1, "a label must be a finite number"),
        (b"1e400", 1, "a label must be finite"),
        (b"1:2 3:4", 1, "a label must be a finite number"),
        (b"1_0 1:2", 1, "a label must be a finite number"),
        (b"  1\x00 1:2", 3, 'has "1\\x00"'),
        (b"1 1:nan", 5, "a value must be a finite number"),
        (b"1 1:2 22:inf", 10, "a value must be a finite number"),
        (b"1 1:1e309", 5, "a value must be finite"),
        (b"1 1:", 5, 'a value must be a finite number: line 3, column 5 of a BytesIO has ""'),
        (b"1 1: 2", 5, "a value must be a finite number"),
        (b"1 1:#2", 5, "a value must be a finite number"),
        (b"1 1 :2", 3, 'a feature must be index:value: line 3, column 3 of a BytesIO has "1"'),
        (b"1 12", 3, "a feature must be index:value"),
        (b"1 -1:2", 3, "an index must be a whole number from 0"),
        (b"1 +1:2", 3, "an index must be a whole number from 0"),
        (b"1 1.0:2", 3, "an index must be a whole number from 0"),
        (b"1 :2", 3, "an index must be a whole number from 0"),
        (b"1 a:2", 3, "an index must be a whole number from 0"),
        (b"1 \xd9\xa3:2", 3, "an index must be a whole number from 0"),
        (b"1 4294967295:2", 3, "an index must be at most 4294967294"),
        (b"1 99999999999:2", 3, "an index must be at most 4294967294"),
        (b"1 " + b"9" * 5000 + b":2", 3, "an index must be at most 4294967294"),
        (b"1 1:2x", 5, 'a value must be a finite number: line 3, column 5 of a BytesIO has "2x"'),
        (b"1 1:2:3", 5, "a value must be a finite number"),
        (b"1 1:0x10", 5, "a value must be a finite number"),
        (b"1 1:1_0", 5, "a value must be a finite number"),
        (b"1 1:2\xa0", 5, "a value must be a finite number"),
        (b"1 1:2\x0b2:3", 5, "a value must be a finite number"),
        (b"1 1:2\r2:3", 5, "a value must be a finite number"),
        (b"1\r1:2", 1, "a label must be a finite number"),
        (b"1 1:2\r", 5, "a value must be a finite number"),
        (b"1 2:3 qid:4", 7, "an index must be a whole number from 0"),
        (b"1 qid:x 2:3", 3, "qid must be a whole number"),
        (b"1 qid: 2:3", 3, "qid must be a whole number"),
        (b"1 qid:1 qid:2", 9, "an index must be a whole number from 0"),
        (b"1 5:1e308 5:1e308", 11, "values of one index must have a finite sum"),
        (b"1," * 100, 1, 'has "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,..."'),
    ],
)
def test_a_bad_line_names_file_line_and_column(line, column, said):
    for end in (b"\n", b"\r\n") if not line.endswith(b"\r") else (b"\r\n",):
        message = fails(BOTH + line + end + b"1 1:1\n")
        assert said in message
        assert f"line 3, column {column} of a BytesIO has" in message
        assert message.endswith(", or pass skip_bad=N to skip up to N bad lines.")


def test_rows_before_a_bad_line_come_first_whatever_the_chunk():
    text = BOTH * 3 + b"1 9:9 x\n" + BOTH
    for chunk in (1, 20, 1000):
        got = []
        with pytest.raises(SourceError, match="line 7, column 7 of"):
            got.extend(Svmlight(io.BytesIO(text), chunk=chunk).batches())
        assert rows_of(got) == read(BOTH * 3)
        assert got[-1].x.width == 2


@pytest.mark.parametrize("chunk", [1, 16, 1000])
def test_bad_lines_are_skipped_up_to_a_number_and_told(chunk):
    text = b"1 1:1\nx\n-1 1:1\n1 1:\n1 2:1\nx"
    stream = Svmlight(io.BytesIO(text), skip_bad=3, chunk=chunk)
    for _ in range(2):
        assert rows_of(list(stream.batches())) == read(b"1 1:1\n-1 1:1\n1 2:1\n")
        assert [line for line, _ in stream.skipped] == [2, 4, 6]
        assert stream.skipped[1][1] == 'a value must be a finite number: line 4, column 5 of a BytesIO has ""'
        assert stream.notes == [f"3 bad lines of a BytesIO skipped, the first: {stream.skipped[0][1]}"]
    message = fails(text, skip_bad=2, chunk=chunk)
    assert 'line 6, column 1 of a BytesIO has "x" after 2 that were skipped. Correct the line' in message


def test_notes_of_others_stay():
    stream = Svmlight(io.BytesIO(b"1\n-1\nx\n"), skip_bad=1)
    stream.notes.append("svmlight text")
    list(stream.batches())
    list(stream.batches())
    assert len(stream.notes) == 2
    assert stream.notes[0] == "svmlight text"
    assert stream.notes[1].startswith("1 bad line of a BytesIO skipped")


@pytest.mark.parametrize("text", [b"", b"\n", b"# nothing\n\n", b"x\n"])
def test_a_source_must_not_be_empty(text):
    assert fails(text, skip_bad=1) == "a source must not be empty: a BytesIO has no rows."


@pytest.mark.parametrize("wrong", [{"skip_bad": -1}, {"threads": 0}, {"chunk": 0}, {"positive": 1, "many": 2}])
def test_options_must_make_sense(wrong):
    with pytest.raises(SourceError, match="must be"):
        Svmlight(io.BytesIO(BOTH), **wrong)


# any chunk, any number of threads, any stop


def table(rng, rows):
    """Random lines, good ones."""
    lines = []
    for _ in range(rows):
        kind = rng.randrange(12)
        if kind == 0:
            lines.append(rng.choice([b"", b"  ", b"# c", b"\t#"]))
            continue
        line = rng.choice([b"1", b"-1", b"+1", b"-1.0", b"1e0"]) + (b" qid:3" if kind == 1 else b"")
        for _ in range(rng.randrange(6)):
            line += rng.choice([b" ", b"\t", b"  "]) + b"%d:" % rng.choice([rng.randrange(5), rng.randrange(2**32 - 1)])
            line += anything(rng)
        lines.append(line + rng.choice([b"", b" ", b" # c", b"\r"]))
    return b"\n".join(lines) + rng.choice([b"", b"\n"])


def anything(rng):
    """A finite number in one of many forms, as in tests/numerics/test_decimals.py."""
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


@given(st.randoms(use_true_random=False), st.integers(1, 60), st.integers(1, 400), st.integers(1, 4))
def test_rows_are_those_of_a_slow_reader_whatever_chunk_and_threads(rng, rows, chunk, threads):
    data = b"1 1:1\n-1\n" + table(rng, rows)
    want, bad = slow(data)
    assert not bad
    got = read(data, chunk=chunk, threads=threads)
    assert got == [(1 if y == 1 else -1, list(row), values(*row.values())) for _, y, row in want]


@pytest.mark.parametrize("packed", [False, True])
def test_going_on_from_any_end_is_the_same_as_no_stop(packed, tmp_path):
    rng = random.Random(5)
    data = b"1 1:1\n" * 20 + b"-1 1:1\nx 1:1\n" + table(rng, 200) + b"\n1 1:\n1 1:1\n"
    path = tmp_path / "t.svm"
    path.write_bytes(gzip.compress(data) if packed else data)
    whole = list(Svmlight(path, chunk=150, skip_bad=2).batches())
    rows = rows_of(whole)
    assert len(whole) > 20
    for k, stop in enumerate(whole):
        stream = Svmlight(path, chunk=400, skip_bad=2)
        rest = list(stream.batches(json.loads(json.dumps(stop.end))))
        assert [b.first for b in rest][:1] == [len(rows_of(whole[: k + 1])) + 1][: len(rest)]
        got = [(int(y), i.tolist(), v.tobytes()) for b in rest for (i, v), y in b.rows()]
        assert got == rows[stop.end["row"] :]
        assert not rest or rest[-1].x.width == whole[-1].x.width
        assert not rest or rest[-1].end == whole[-1].end
        assert [line for line, _ in stream.skipped] == [n for n in (22, data.count(b"\n") - 1) if n > stop.end["line"]]


def test_going_on_counts_lines_and_labels_from_the_start():
    data = b"0 1:1\n0 2:1\n" * 10 + b"1 1:1\nx\n"
    first = next(Svmlight(io.BytesIO(data), chunk=12).batches())
    stream = Svmlight(io.BytesIO(data), chunk=12)
    with pytest.raises(SourceError, match="line 22, column 1"):
        list(stream.batches(first.end))
    assert stream.labels == Labels(0, 1)


def test_a_line_may_be_longer_than_the_chunk():
    long = b"1 " + b" ".join(b"%d:1" % i for i in range(5000)) + b"\n"
    data = BOTH + long + b"-1\n" + long * 2
    assert read(data, chunk=64) == read(data)


def test_a_stream_can_be_left_in_the_middle(tmp_path):
    path = tmp_path / "t.svm"
    path.write_bytes(BOTH * 10_000)
    before = set(threading.enumerate())
    for batch in Svmlight(path, chunk=100, threads=3).batches():
        if batch.first > 20:
            break
    del batch
    from helpers import soon  # here: a process of its own imports this file too

    assert soon(lambda: set(threading.enumerate()) <= before)  # those of other tests may end meanwhile


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "t.svm"

    def peak(copies):
        path.write_bytes(b"".join(BOTH + b"1 5:0.25 6:1e-3\n" for _ in range(copies)))
        tracemalloc.start()
        rows = sum(len(batch) for batch in Svmlight(path, chunk=2**14, threads=2).batches())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert rows == 3 * copies
        return most

    peak(100)
    assert peak(60_000) < 1.5 * peak(6_000) + 2**18


# pipes


def test_a_pipe_gives_the_same_rows_as_the_file(tmp_path):
    from helpers import typed  # not above: processes of other tests import this file

    rng = random.Random(7)
    data = b"1 1:1\n-1\n" + table(rng, 3000)
    for sent in (data, gzip.compress(data)):
        with typed(sent):
            stream = Svmlight("-", chunk=5000)
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
        stream = Svmlight(file)
        assert not stream.rereadable
        assert len(list(stream.batches())) >= 1
        with pytest.raises(SourceError, match="rereadable"):
            list(stream.batches())


def test_a_silent_pipe_holds_back_no_row(monkeypatch):
    """Every row is answered before the next is sent, so nothing may wait for a full chunk."""
    monkeypatch.setattr(streaming_labels, "LABEL_SECONDS", 0.05)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as file:
        stream = Svmlight(file, threads=2)
        os.write(writer, b"1 1:1\n1 2:")
        batches = stream.batches()
        assert len(next(batches)) == 1
        assert stream.labels == Labels(-1, 1)
        for text in (b"1\n", b"0 1:1\n", b"# c\n1 1:1\n"):
            os.write(writer, text)
            assert len(next(batches)) == 1
        assert stream.labels == Labels(0, 1)
        os.write(writer, b"1")
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

ALPHABET = b"0123456789.:-+eE \t\r\n#qidnaxf_\x00\x80\xff"
SEEDS = (
    b"1 1:0.5 3:1e-3 7:.5 # c", b"-1 qid:3 1:1 2:2 1:3", b"+1 4294967294:1 0:-0", b"1 5:1 2:2 5:3\r\n-1 1:1",
    b"0.123456789012345678 1:12345678901234567890", b"1 12345678:1.2345678 123456789:123456789.5e-300",
    b"1 1:1e308 1:1e308", b"# c\n\n1", b"1 1:1.7976931348623157e308 2:5e-324 3:9007199254740993",
    b"1 3:0.5 17:-0.25 101:7 9999:1.00000001 12345678:12345678 12345679:-3 12345680:0.1\r", b"1 3:0.5 17:9.99999999 ",
    b"-1 1:0.12345678 2:1.2345678 3:1.234567 4:1.23456 5:1.2345 6:1.234 7:1.23 8:1.2 9:12 10:123456 11:1234567",
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
    parser = ChunkParser(compiled, 10**9, deque(), lambda size: False)
    refused = 0
    for _ in range(count):
        first = rng.choice((b"", b"# vectors need a few bytes before them\n"))
        data = first + b"\n".join(mutated(rng) for _ in range(pieces)) + b"\n"
        text = bytearray(data + rng.randbytes(kernel.PADDING))
        got, want = as_slow(parser.parse(text, len(data), 0)), from_slow(data)
        assert got == want, data
        parser._free.clear()
        refused += bool(want[1])
    return refused


def test_malformed_inputs_are_refused_and_the_others_right():
    assert 5_000 < fuzz(1, 15_000) < 14_000


def test_malformed_lines_leave_their_neighbours_right():
    fuzz(2, 300, pieces=50)


@pytest.mark.slow
def test_malformed_inputs_are_refused_and_the_others_right_300_000_times():
    assert fuzz(3, 300_000) > 100_000


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
                read_line(line)
        else:
            row = read_line(line)
            got = [(0, bits(row[0]), [(i, bits(v)) for i, v in row[1].items()])] if row else []
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
    names = ("decimals", "repeats")
    real = {name: sys.modules[PLACES[name]] for name in names}
    try:
        for name in names:
            sys.modules[PLACES[name]] = _load(name)
        yield _load("svmlight")
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


def test_a_file_of_plain_lines_needs_the_plain_kernel_alone(monkeypatch):
    text = b"1 1:1\n-1 2:2\n+1 3:0.25 7:-4.5\n-1.5 1:3 2:12345678\r\n1 5:1 \n1 100:0 200:0.12345678\n" * 20
    expected = as_slow(parse(text))
    monkeypatch.setattr(kernel, "parse_all", None)
    assert as_slow(parse(text)) == expected == from_slow(text)
    for other in (b"1 1:1e3", b"1 2:1 1:1", b"1", b"# all", b"1e0 1:1", b"1 1:0.123456789", b"1 qid:3 1:1", b" 1 1:1"):
        with pytest.raises(TypeError, match="'NoneType' object is not callable"):
            parse(text + other + b"\n")


@pytest.mark.parametrize("name", ["parse", "parse_all"])
def test_the_kernel_writes_nothing_behind_the_room_it_was_promised(name):
    rng = random.Random(8)
    first = b"1 1:1 2:2 3:3 4:4\n" if name == "parse" else b""  # plain lines are read from the second on
    tight = [b"1 1:1 2:2 3:3\n", b"1\n" * 50, b"1 " + b" ".join([b"1:1"] * 40) + b"\n", b"1 1:1\n\n"]
    for data in [*tight, *(mutated(rng) + b"\n" for _ in range(3000))]:
        data = first + data
        state = np.array([len(first), 0, 0, len(first) > 0, 0], dtype=np.uint64)
        text = np.frombuffer(bytearray(data + b"1" * kernel.PADDING), dtype=np.uint8)
        room = len(data) + kernel.PADDING
        places = dict.fromkeys(("colons", "blanks", "line colons", "line blanks"), (room, np.uint32))
        found = {name: np.full(size + 64, 123, dtype=kind) for name, (size, kind) in places.items()}
        rows, entries = map(int, kernel.places(text, np.uint64(len(data)), *(a[:room] for a in found.values())))
        sizes = {
            "labels": (rows, float),
            "lines": (rows, np.uint32),
            "indptr": (rows + 1, np.uint64),
            "indices": (entries + kernel.WIDE, np.uint32),
            "values": (entries + kernel.WIDE, float),
            "wrong": (kernel.WIDE, np.uint64),
            **({"table": (kernel.SLOTS, np.uint32)} if name == "parse_all" else {}),
        }
        guarded = {name: np.full(size + 64, 123, dtype=kind) for name, (size, kind) in sizes.items()}
        if name == "parse_all":
            guarded["table"][:] = 0
        arrays = (a[: {**places, **sizes}[n][0]] for n, a in {**found, **guarded}.items())
        getattr(kernel, name)(text, np.uint64(len(data)), state, *arrays)
        for what, array in {**found, **guarded}.items():
            behind = array[{**places, **sizes}[what][0] :]
            assert np.all(behind == (0 if what == "table" else 123)), (what, data)
        assert state[kernel.AT] <= len(data)


GUARDED = """
import ctypes, mmap, random, sys
import numpy as np
from novikoff.data._loops import svmlight as kernel
sys.path.insert(0, sys.argv[1])
from test_svmlight import mutated
page = mmap.PAGESIZE
area = mmap.mmap(-1, 2 * page)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + page), page, 0) == 0
memory = np.frombuffer(area, dtype=np.uint8)
rng = random.Random(9)
found = [np.zeros(page, np.uint32) for _ in range(4)]
arrays = [np.zeros(page, t) for t in (float, np.uint32, np.uint64, np.uint32, float)]
arrays += [np.zeros(kernel.WIDE, np.uint64), np.zeros(kernel.SLOTS, np.uint32)]
first = b"1 1:1 2:2 3:3 4:4\\n"
for _ in range(20000):
    data = first + mutated(rng)[:200] + b"\\n"
    text = memory[page - kernel.PADDING - len(data) : page]
    text[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    text[len(data) :] = rng.choice([10, 48, 49, 57, 58])
    arrays[-1][:] = 0
    kernel.places(text, np.uint64(len(data)), *found)
    kernel.parse_all(text, np.uint64(len(data)), np.zeros(5, np.uint64), *found, *arrays)
    behind = np.array([len(first), 0, 0, 1, 0], np.uint64)
    kernel.parse(text, np.uint64(len(data)), behind, *found, *arrays[:-1])
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
        "import sys; sys.path.insert(0, sys.argv[1]); import test_svmlight as t; t.fuzz(10, 20_000);"
        "t.fuzz(11, 200, pieces=50); t.test_long_unsorted_rows_with_repeats_are_merged(8192); print('alive')"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code, os.path.dirname(__file__)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.strip() == "alive", done.stderr


@pytest.mark.parametrize("chunk", [1, 1000])
def test_a_row_behind_one_whose_sum_is_too_large_is_right(chunk):
    """What the merging of a bad row left behind must not be taken for entries of the next."""
    text = b"1 9:1 5:8e307 5:8e307 5:8e307\n1 9:1 5:1 3:1 4:1\n-1 1:1\n"
    rows = [x for batch in Svmlight(io.BytesIO(text), skip_bad=1, chunk=chunk).batches() for x, _ in batch.rows()]
    assert [indices.tolist() for indices, _ in rows] == [[9, 5, 3, 4], [1]]


@pytest.mark.parametrize("chunk", [1, 1000])
def test_lines_behind_a_third_label_are_not_said_to_be_skipped(chunk):
    stream = Svmlight(io.BytesIO(b"1\nx\n2\n3\nx\nx\n"), skip_bad=3, chunk=chunk)
    with pytest.raises(SourceError, match="line 4 of a BytesIO has a third, 3"):
        list(stream.batches())
    assert [line for line, _ in stream.skipped] == [2]


def test_plain_numbers_of_every_length_are_read_to_the_very_double_four_at_a_time():
    rng = random.Random(12)
    for tail in (b"", b" ", b"\r", b"\t"):
        rows = [b"# a first line, so that there are bytes before the next"]
        for count in range(1, 40):
            row = [b"1"]
            for k in range(count):
                digits = str(rng.randrange(10 ** rng.randrange(1, 9)))
                point = f"{rng.randrange(10)}.{rng.randrange(10**8):08d}"[: rng.randrange(3, 11)]
                value = rng.choice(("", "-")) + rng.choice((digits, point))
                row.append(f"{1000 * k + rng.randrange(1000)}:{value}".encode())
            rows.append(b" ".join(row) + tail)
        data = b"\n".join(rows) + b"\n"
        assert as_slow(parse(data)) == from_slow(data)


def test_one_odd_byte_anywhere_in_a_plain_line_is_never_read_as_something_else():
    line = b"1 12:0.25 345:-7 6789:1.00000001 12345678:42"
    odd = [bytes([byte]) for byte in range(256) if byte != 10]
    for at in range(len(line) + 1):
        data = b"# first\n" + b"".join(line[:at] + byte + line[at + gone :] + b"\n" for byte in odd for gone in (0, 1))
        assert as_slow(parse(data)) == from_slow(data)
