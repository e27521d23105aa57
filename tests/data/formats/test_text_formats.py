"""What the readers of labelled lines have in common: svmlight, Vowpal Wabbit and JSON lines."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff
from helpers import tries
from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data import streaming_labels
from novikoff.data.formats.lines import BadLineError
from text_formats import FORMATS, JSON_LINES, SVMLIGHT, VW, plain_python, svmlight_kernel, to_bits, values, vw_kernel

COMPILED = [SVMLIGHT, VW]
every_format = pytest.mark.parametrize("form", FORMATS, ids=repr)
every_kernel = pytest.mark.parametrize("form", COMPILED, ids=repr)


def both(form):
    """A row of each label."""
    return form.line(1, (1, 1)) + form.line(-1, (1, 1))


def signs(rows):
    return [y for y, _, _ in rows]


# what is read


@every_format
def test_a_line_is_a_label_and_features(form):
    text = form.line(1, (1, 0.5), (7, -2)) + form.line(-1, (3, 0.001))
    assert form.read(text) == [(1, [1, 7], values(0.5, -2)), (-1, [3], values(0.001))]


@every_format
def test_repeats_are_added_in_their_order_at_the_place_of_the_first(form):
    row = [(7, 1e16), (3, 0.5), (7, 1.0), (3, 0.25), (7, -1e16)]
    assert form.read(form.line(-1) + form.line(1, *row))[1] == (1, [7, 3], values((1e16 + 1.0) - 1e16, 0.75))


@every_format
@pytest.mark.parametrize("count", [2, 3, 100, 8192, 8193, 20_000])
def test_long_unsorted_rows_with_repeats_are_merged(form, count):
    rng = random.Random(count)
    row = [(rng.randrange(count), rng.randrange(9)) for _ in range(count)]
    want = {}
    for i, v in row:
        want[i] = want.get(i, 0) + v
    text = form.line(1, *row)
    got = form.read(form.line(-1) + text + text)
    assert got[1] == got[2] == (1, list(want), values(*want.values()))


@every_format
@pytest.mark.parametrize("chunk", [1, 1000])
def test_row_after_an_overflowing_row_is_correct(form, chunk):
    """What the merging of a bad row left behind must not be taken for entries of the next."""
    text = form.line(1, (9, 1), *[(5, 8e307)] * 3) + form.line(1, (9, 1), (5, 1), (3, 1), (4, 1)) + form.line(-1)
    want = [(1, [9, 5, 3, 4], values(1, 1, 1, 1)), (-1, [], b"")]
    assert form.read(text, skip_bad=1, chunk=chunk) == want


@every_format
def test_blank_lines_are_no_rows_and_lines_are_still_counted(form):
    text = b"\n\n   \n\t\r\n\r\n" + form.line(1) + b" \t \n" + form.line(-1) + b"\n" + form.bad + b"\n"
    assert form.fault.format(line=10) in form.fails(text)
    assert form.read(text, skip_bad=1) == [(1, [], b""), (-1, [], b"")]


@every_format
def test_a_byte_order_mark_is_skipped(form):
    mark = b"\xef\xbb\xbf"
    assert form.read(mark + both(form)) == form.read(both(form))
    assert "line 2, column 1" in form.fails(form.line(1) + mark + form.line(-1))


@every_format
def test_stream_has_a_description(form, tmp_path):
    path = tmp_path / f"mail.{form.name}"
    path.write_bytes(both(form))
    bits = {"bits": 10} if form.hashed else {}
    stream = form.reader(path, **bits)
    assert (stream.name, stream.rereadable, stream.bits) == (str(path), True, bits.get("bits"))
    assert stream.domain == Domain("vector", 2**10 if bits else None)
    fingerprint = stream.fingerprint()
    assert (fingerprint["size"], fingerprint["mtime_ns"]) == (len(both(form)), path.stat().st_mtime_ns)
    assert stream.labels is None
    (batch,) = stream.batches()
    assert stream.labels == Labels(-1, 1)
    assert batch.y.dtype == np.int8
    assert stream.notes == []
    assert batch.end["row"] == 2
    assert batch.end["byte"] == len(both(form))
    assert json.loads(json.dumps(batch.end)) == batch.end


@every_format
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
def test_the_last_end_is_the_size_of_the_source(form, end):
    data = both(form)[:-1] + end
    *_, last = form.reader(io.BytesIO(data), chunk=1).batches()
    assert (last.end["byte"], last.end["row"], last.end["line"]) == (len(data), 2, 2)
    assert list(form.reader(io.BytesIO(data)).batches(last.end)) == []


@every_kernel
def test_numba_is_not_imported_before_reading_begins(form):
    code = (
        f"import sys, io; from {form.reader.__module__} import {form.reader.__name__} as reader;"
        f"b = reader(io.BytesIO({both(form)!r})).batches(); assert 'numba' not in sys.modules;"
        "next(b); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# labels


@every_format
def test_labels_of_two_values_the_larger_is_plus_one(form):
    for low, high in ((1, 2), (0, 1), (-1, 1), (0.25, 0.5)):
        assert signs(form.read(form.line(high) + form.line(low) + form.line(high))) == [1, -1, 1]


@every_format
@pytest.mark.parametrize("chunk", [1, 10, 1000])
def test_a_third_label_is_an_error_that_names_the_line_for_any_chunk(form, chunk):
    text = form.line(1, (1, 1)) + b" \n" + form.line(2, (1, 1)) + b"\n" + form.line(3, (1, 1)) + form.line(4, (1, 1))
    stream = form.reader(io.BytesIO(text), chunk=chunk)
    got = []
    with pytest.raises(SourceError, match="line 5 of a BytesIO has a third value, 3, after 1 and 2. Pass positive=2"):
        got.extend(stream.batches())
    assert signs(form.rows_of(got)) == [-1, 1]  # the rows before it


@every_format
@pytest.mark.parametrize("chunk", [1, 1000])
def test_lines_after_a_third_label_are_not_reported_as_skipped(form, chunk):
    text = form.line(1) + b"x\n" + form.line(2) + form.line(3) + b"x\nx\n"
    stream = form.reader(io.BytesIO(text), skip_bad=3, chunk=chunk)
    with pytest.raises(SourceError, match="line 4 of a BytesIO has a third value, 3"):
        list(stream.batches())
    assert [line for line, _ in stream.skipped] == [2]


@every_format
def test_a_pass_knows_nothing_of_the_labels_of_an_earlier_one(form, tmp_path):
    path = tmp_path / "t"
    path.write_bytes(form.line(1) + form.line(2))
    stream = form.reader(path)
    assert signs(form.rows_of(stream.batches())) == [-1, 1]
    path.write_bytes(form.line(4) + form.line(3))
    assert signs(form.rows_of(stream.batches())) == [1, -1]
    assert stream.labels == Labels(3, 4)


@every_format
def test_one_label_against_every_other(form):
    stream = form.reader(io.BytesIO(form.line(1) + form.line(2) + form.line(3)), positive="2")
    assert signs(form.rows_of(stream.batches())) == [-1, 1, -1]
    assert stream.labels == Labels("not 2", 2)


@every_format
def test_absent_positive_label_is_noted(form):
    stream = form.reader(io.BytesIO(form.line(1) + form.line(2)), positive=7)
    for _ in range(2):
        assert signs(form.rows_of(stream.batches())) == [-1, -1]
        assert stream.notes == ["no label of a BytesIO is 7, the positive label: all are -1."]


@every_kernel
@pytest.mark.parametrize("positive", ["spam", "nan", float("inf"), [1]])
def test_a_positive_label_must_be_a_number(form, positive):
    with pytest.raises(SourceError, match="the positive label must be a number"):
        form.reader(io.BytesIO(both(form)), positive=positive)


@every_format
def test_many_labels_stay_as_they_are(form):
    stream = form.reader(io.BytesIO(form.line(0, (1, 1)) + form.line(2, (1, 1))), multiclass=3)
    (batch,) = stream.batches()
    assert batch.y.tolist() == [0, 2]
    assert batch.y.dtype == np.int32
    assert stream.labels is None
    assert "line 2 of a BytesIO has 3" in form.fails(form.line(0) + form.line(3), multiclass=3)


@every_format
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_is_looked_through_for_its_second_label(form, pack, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    path = tmp_path / "sorted"
    path.write_bytes(pack(form.line(1, (1, 1)) * 300 + form.line(2, (1, 1)) * 300))
    assert signs(form.read(path, chunk=50, skip_bad=1)) == [-1] * 300 + [1] * 300
    path.write_bytes(pack(form.line(5) * 300 + b"x\n" + form.line(3)))
    assert signs(form.read(path, chunk=50, skip_bad=1)) == [1] * 300 + [-1]


@every_format
def test_unseekable_source_uses_the_first_label(form, monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 100)
    ones = form.line(1, (1, 1)) * 99
    assert signs(form.read(ones + form.line(0), chunk=50)) == [1] * 99 + [-1]
    assert signs(form.read(form.line(0, (1, 1)) * 99, chunk=50)) == [-1] * 99
    message = form.fails(ones + form.line(2, (1, 1)), chunk=50)
    assert "line 100 of a BytesIO has 2, after rows with 1 only, which was read as +1. Pass positive=2." in message
    assert "there is only 5" in form.fails(form.line(5, (1, 1)) * 99, chunk=50)


@every_kernel
def test_rows_of_one_label_are_held_back_once_only(form, monkeypatch):
    monkeypatch.setattr(streaming_labels, "LOOK_AHEAD_BYTES", 1000)
    file = io.BytesIO(form.line(1, (1, 1)) * 10_000)
    batches = form.reader(file, chunk=100, threads=2).batches()
    next(batches)
    before = file.tell()
    next(batches), next(batches)
    assert before < 1000 + 10 * 100 * (2 + 2)
    assert len(list(batches)) > 500


# bad lines


@every_format
@pytest.mark.parametrize("chunk", [1, 20, 1000])
def test_rows_before_a_bad_line_come_first_for_any_chunk(form, chunk):
    text = both(form) * 3 + form.bad + b"\n" + both(form)
    got = []
    with pytest.raises(SourceError) as caught:
        got.extend(form.reader(io.BytesIO(text), chunk=chunk).batches())
    assert form.fault.format(line=7) in str(caught.value)
    assert form.rows_of(got) == form.read(both(form) * 3)
    assert got[-1].end is None or chunk < 1000


@every_format
@pytest.mark.parametrize("chunk", [1, 16, 1000])
def test_bad_lines_are_skipped_up_to_a_number_and_reported(form, chunk):
    good = [form.line(1, (1, 1)), form.line(-1, (1, 1)), form.line(1, (2, 1))]
    text = b"x\n".join(good[:2]) + form.bad + b"\n" + good[2] + b"x"
    stream = form.reader(io.BytesIO(text), skip_bad=3, chunk=chunk)
    for _ in range(2):
        assert form.rows_of(list(stream.batches())) == form.read(b"".join(good))
        assert [line for line, _ in stream.skipped] == [2, 4, 6]
        assert stream.skipped[1][1] == form.fault.format(line=4)
        assert stream.notes == [f"3 bad lines of a BytesIO skipped, the first: {stream.skipped[0][1]}"]
    message = form.fails(text, skip_bad=2, chunk=chunk)
    assert f'line 6, column 1 of a BytesIO has "x" after 2 that were skipped. {form.advice}' in message


@every_format
def test_notes_of_others_stay(form):
    stream = form.reader(io.BytesIO(both(form) + b"x\n"), skip_bad=1)
    stream.notes.append("format: text")
    list(stream.batches())
    list(stream.batches())
    assert len(stream.notes) == 2
    assert stream.notes[0] == "format: text"
    assert stream.notes[1].startswith("1 bad line of a BytesIO skipped")


@every_format
@pytest.mark.parametrize("text", [b"", b"\n", b" \t\n\n", b"x\n"])
def test_a_source_must_not_be_empty(form, text):
    assert form.fails(text, skip_bad=1) == "a source must not be empty: a BytesIO has no rows."


@pytest.mark.parametrize(
    ("form", "wrong"),
    [
        *(
            (form, wrong)
            for form in FORMATS
            for wrong in ({"skip_bad": -1}, {"chunk": 0}, {"positive": 1, "multiclass": 2})
        ),
        *((form, {"threads": 0}) for form in COMPILED),
        *((form, {"bits": bits}) for form in (VW, JSON_LINES) for bits in (0, 33)),
    ],
)
def test_options_must_make_sense(form, wrong):
    with pytest.raises(SourceError, match="must be|are binary or multiclass"):
        form.reader(io.BytesIO(both(form)), **wrong)


# any chunk, any stop


@every_format
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_resume_from_any_end_matches_uninterrupted_read(form, pack, tmp_path):
    head = form.line(1, (1, 1)) * 20 + form.line(-1, (1, 1)) + b"x\n"
    data = head + form.table(random.Random(5), 100).removesuffix(b"\n") + b"\n" + form.bad + b"\n" + form.line(1)
    path = tmp_path / "t"
    path.write_bytes(pack(data))
    whole = list(form.reader(path, chunk=150, skip_bad=2).batches())
    rows = form.rows_of(whole)
    assert len(whole) > 20
    for stop in whole:
        stream = form.reader(path, chunk=400, skip_bad=2)
        rest = list(stream.batches(json.loads(json.dumps(stop.end))))
        got = [(int(y), i.tolist(), v.tobytes()) for b in rest for (i, v), y in b.rows()]
        assert got == rows[stop.end["row"] :]
        assert [line for line, _ in stream.skipped] == [n for n in (22, data.count(b"\n") - 1) if n > stop.end["line"]]
        if rest:
            assert rest[0].first == stop.end["row"] + 1
            assert (rest[-1].x.width, rest[-1].end) == (whole[-1].x.width, whole[-1].end)


@every_format
def test_resuming_counts_lines_and_labels_from_the_start(form):
    data = (form.line(0, (1, 1)) + form.line(0, (2, 1))) * 10 + form.line(1, (1, 1)) + b"x\n"
    first = next(form.reader(io.BytesIO(data), chunk=12).batches())
    stream = form.reader(io.BytesIO(data), chunk=12)
    with pytest.raises(SourceError, match="line 22, column 1"):
        list(stream.batches(first.end))
    assert stream.labels == Labels(0, 1)


@every_format
def test_a_line_may_be_longer_than_the_chunk(form):
    long = form.line(1, *((i, 1) for i in range(3000)))
    data = both(form) + long + form.line(-1) + long * 2
    assert form.read(data, chunk=64) == form.read(data)


@every_format
def test_a_stream_can_be_left_in_the_middle(form, tmp_path):
    from helpers import soon  # here: a process of its own imports this file too

    path = tmp_path / "t"
    path.write_bytes(both(form) * 3000)
    before = set(threading.enumerate())
    for batch in form.reader(path, chunk=100).batches():
        if batch.first > 20:
            break
    del batch
    assert soon(lambda: set(threading.enumerate()) <= before)  # those of other tests may end meanwhile


@every_format
def test_memory_does_not_grow_with_the_file(form, tmp_path):
    path = tmp_path / "t"

    def peak(copies):
        path.write_bytes((both(form) + form.line(1, (5, 0.25), (6, 1e-3))) * copies)
        tracemalloc.start()
        rows = sum(len(batch) for batch in form.reader(path, chunk=2**13).batches())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert rows == 3 * copies
        return most

    peak(100)
    assert peak(20_000) < 1.5 * peak(2_000) + 2**18


# pipes


@every_format
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_gives_the_same_rows_as_the_file(form, pack):
    from helpers import typed  # here: a process of its own imports this file too

    data = both(form) + form.table(random.Random(7), 500)
    with typed(pack(data)):
        stream = form.reader("-", chunk=5000)
        assert not stream.rereadable
        assert (stream.name, stream.fingerprint()) == ("standard input", {})
        found = [(int(y), i.tolist(), v.tobytes()) for b in stream.batches() for (i, v), y in b.rows()]
    assert found == form.read(data)
    assert str(stream.labels) == "-1 is -1, 1 is +1"


@every_format
def test_a_pipe_is_read_once(form):
    reader, writer = os.pipe()
    os.write(writer, both(form))
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        stream = form.reader(file)
        assert not stream.rereadable
        assert len(list(stream.batches())) >= 1
        with pytest.raises(SourceError, match="cannot be read again"):
            list(stream.batches())


@every_format
def test_a_silent_pipe_holds_back_no_row(form, monkeypatch):
    """Every row is answered before the next is sent, so nothing may wait for a full chunk."""
    monkeypatch.setattr(streaming_labels, "LABEL_SECONDS", 0.05)
    one, zero = form.line(1, (1, 1)), form.line(0, (1, 1))
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as file:
        stream = form.reader(file)
        os.write(writer, one + one[:4])
        batches = stream.batches()
        assert len(next(batches)) == 1
        assert stream.labels == Labels(-1, 1)
        for text in (one[4:], zero, b"\n" + one):
            os.write(writer, text)
            assert len(next(batches)) == 1
        assert stream.labels == Labels(0, 1)
        os.write(writer, one.removesuffix(b"\n"))
        os.close(writer)
        assert [len(batch) for batch in batches] == [1]


@every_format
def test_a_pipe_that_comes_in_pieces_is_put_together(form):
    data = both(form) * 10
    reader, writer = os.pipe()

    def send():
        for k in range(0, len(data), 7):
            os.write(writer, data[k : k + 7])
            time.sleep(0.001)
        os.close(writer)

    thread = threading.Thread(target=send)
    thread.start()
    with os.fdopen(reader, "rb") as file:
        assert form.read(file) == form.read(data)
    thread.join()


# fuzz: never a crash, never a silently wrong row


@every_format
def test_malformed_inputs_are_refused_and_the_others_right(form):
    assert 0.3 < form.fuzz(1, 300 if form is JSON_LINES else 800) < 0.98


@every_format
def test_malformed_lines_leave_their_neighbours_right(form):
    form.fuzz(2, 100, pieces=50)


@pytest.mark.slow
@every_format
def test_malformed_inputs_are_refused_and_the_others_right_200_000_times(form):
    assert 0.3 < form.fuzz(3, 200_000) < 0.98


@every_format
@settings(max_examples=tries(100))
@given(data=st.binary(max_size=200), chunk=st.integers(1, 50))
def test_any_bytes_are_rows_or_novikoff_errors(form, data, chunk):
    want, bad = form.expected(data.removeprefix(b"\xef\xbb\xbf"))
    if data[:2] == b"\x1f\x8b" or data[:3] == b"BZh" or not want:
        with pytest.raises(SourceError):
            form.read(data, positive=1, chunk=chunk, skip_bad=len(bad))
    else:
        assert form.read(data, positive=1, chunk=chunk, skip_bad=len(bad)) == want


@every_kernel
def test_the_line_reader_agrees_with_the_slow_one(form):
    rng = random.Random(4)
    for _ in range(2_000):
        line = form.mutated(rng).replace(b"\n", b" ")
        rows, bad = to_bits(*form.slow(line + b"\n"))
        if bad:
            with pytest.raises(BadLineError):
                form.read_line(line)
        else:
            row = form.read_line(line)
            assert to_bits([(0, *row[:2])] if row else [], []) == (rows, []), line


# bounds


@every_kernel
def test_the_plain_twin_reads_and_writes_within_bounds_and_agrees(form):
    with plain_python(svmlight_kernel if form is SVMLIGHT else vw_kernel) as twin, np.errstate(over="ignore"):
        form.fuzz(5, 500, kernel=twin)
        data = form.table(random.Random(6), 50)
        assert form.parse(data, kernel=twin) == to_bits(*form.slow(data))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")
def test_the_kernels_read_nothing_behind_the_padding():
    """The page behind it is forbidden: a read there would kill the process."""
    names = [form.name for form in COMPILED]
    code = "from text_formats import *\nfor name in sys.argv[1:]: parse_before_forbidden_page(name, 1_500); print(name)"
    assert in_process(code, *names).split() == names


@pytest.mark.slow
@every_kernel
def test_the_kernel_stays_in_bounds_when_numba_checks_them(form, tmp_path):
    code = (
        "import sys, test_text_formats as t; form = next(f for f in t.FORMATS if f.name == sys.argv[1]);"
        "form.fuzz(10, 20_000); form.fuzz(11, 200, pieces=50);"
        "t.test_long_unsorted_rows_with_repeats_are_merged(form, 8192); print('alive')"
    )
    assert in_process(code, form.name, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path)) == "alive"


def in_process(code, *arguments, **environment):
    """What this code prints in a process of its own, which finds the modules of tests and this very package."""
    here = Path(__file__)
    paths = os.pathsep.join(map(str, (here.parent, here.parents[2], Path(novikoff.__file__).parents[1])))
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **environment, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
