from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import novikoff as nk
import samples
from helpers import novikoff
from novikoff.core.errors import MismatchError, SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data._loops import words as kernel
from novikoff.data.formats.labelled_text import Text

FILES = {
    "text": (samples.lines(lambda x, y: f"{'spam' if y == 1 else 'ham'}\tword{x[0]} and w{x[1]} too"), {"chunk": 200})
}
"""Sample for tests/data/test_every_stream.py."""

FRESH = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
MAIL = b"spam\tWINNER!! Call now, call\nham\tOk lar...\nham\t\nspam\tFree 2 a wkly comp\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="mail.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def kernel_hash(word, function=kernel.count_words):
    """The hash of a lone word."""
    indices, values = np.zeros(2, dtype=np.uint32), np.zeros(2)
    data, table = np.frombuffer(word, dtype=np.uint8), np.full(256, -1, dtype=np.int64)
    assert function(data, 0, len(word), np.uint64(2**32 - 1), table, 0, indices, values, 0, np.uint64(0)) == 1
    return int(indices[0])


def murmur_by_the_book(data):
    """MurmurHash3 x86_32 of seed 0, from its definition, in Python's own integers."""
    h, mask = 0, 0xFFFFFFFF
    turn = lambda x, r: ((x << r) | (x >> (32 - r))) & mask
    for i in range(0, len(data), 4):
        k = int.from_bytes(data[i : i + 4], "little") * 0xCC9E2D51 & mask
        h ^= turn(k, 15) * 0x1B873593 & mask
        if i + 4 <= len(data):
            h = turn(h, 13) * 5 + 0xE6546B64 & mask
    h ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> shift)) * factor & mask
    return h ^ (h >> 16)


def twin(content, bits=18):
    """(line, label, {index: count}) of each row, and the lines that are none, read slowly."""
    rows, bad = [], []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip(b" \t\r"):
            continue
        label, tab, message = line.partition(b"\t")
        if not tab or not label.strip(b" "):
            bad.append(number)
            continue
        counts = {}
        for word in re.findall(rb"[0-9A-Za-z\x80-\xff]+", message):
            index = murmur_by_the_book(word.lower()) % 2**bits
            counts[index] = counts.get(index, 0.0) + 1.0
        rows.append((number, label.strip(b" "), counts))
    return rows, bad


def rows_of(stream, start=None):
    """Every row as (label, indices, values); batches must be numbered on."""
    rows, first = [], start["row"] + 1 if start else 1
    for batch in stream.batches(start):
        assert batch.first == first
        assert batch.x.width == 2**stream.bits
        first += len(batch)
        rows += [(y, i.tolist(), v.tolist()) for (i, v), y in batch.rows()]
    return rows


def until_it_fails(stream):
    """The rows up to an error, as (label, {index: count}), and what it says; nothing if there is none."""
    seen = []
    try:
        for batch in stream.batches():
            seen += [(y, dict(zip(i.tolist(), v.tolist(), strict=True))) for (i, v), y in batch.rows()]
    except SourceError as error:
        return seen, str(error)
    return seen, ""


def fails(said, source, played=0, **options):
    """A pass must fail with these words after so many rows."""
    seen, error = until_it_fails(Text(source, **options))
    assert said in error
    assert len(seen) == played
    return error


# the hash


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"", 0x00000000),
        (b"\x00\x00\x00\x00", 0x2362F9DE),
        (b"\x21\x43\x65\x87", 0xF55B516B),
        (b"\x21\x43\x65", 0x7E4A8634),
        (b"\x21\x43", 0xA0F7B07A),
        (b"\x21", 0x72661CF4),
        (b"Hello, world!", 0xC0363E43),
        (b"The quick brown fox jumps over the lazy dog", 0x2E4FF723),
    ],
)
def test_the_hash_of_these_tests_gives_the_published_values(data, value):
    assert murmur_by_the_book(data) == value


@pytest.mark.parametrize(("word", "value"), [(b"test", 0xBA6BD213), (b"\xff\xff\xff\xff", 0x76293B50)])
def test_the_kernel_gives_the_published_values(word, value):
    assert kernel_hash(word) == murmur_by_the_book(word) == value


@given(st.text(alphabet="abcxyz019éß", min_size=1, max_size=20).map(str.encode))
def test_the_kernel_hashes_as_the_book_and_scikit_learn_do(word):
    from sklearn.utils import murmurhash3_32

    assert kernel_hash(word.upper()) == kernel_hash(word)  # bytes.upper makes ASCII letters large, no others
    assert kernel_hash(word) == murmur_by_the_book(word) == murmurhash3_32(word, 0, positive=True)


# what is read


def test_a_labelled_text_is_a_stream(write):
    stream = Text(write(MAIL))
    (batch,) = stream.batches()
    assert stream.labels == Labels("ham", "spam")
    assert stream.domain == Domain("vector", 2**18)
    assert stream.rereadable
    assert batch.y.dtype == np.int8
    assert batch.y.tolist() == [1, -1, -1, 1]
    assert (batch.x.indptr.dtype, batch.x.indices.dtype, batch.x.values.dtype) == (np.uint64, np.uint32, np.float64)
    index = lambda word: murmur_by_the_book(word) % 2**18
    (indices, values), *_ = batch.x.rows()
    assert indices.tolist() == [index(b"winner"), index(b"call"), index(b"now")]
    assert values.tolist() == [1.0, 2.0, 1.0]
    assert np.diff(batch.x.indptr).tolist() == [3, 2, 0, 5]


def test_words_are_runs_of_letters_digits_and_bytes_beyond_ascii(write):
    content = "a\tCafé-CAFÉ don't 1st_2nd\x00x\rÉ\nb\tq\n".encode()
    (batch,) = Text(write(content), bits=32).batches()
    (indices, values), _ = batch.x.rows()
    words = ["café", "cafÉ", "don", "t", "1st", "2nd", "x", "É"]  # only ASCII letters are made small
    assert indices.tolist() == [murmur_by_the_book(word.encode()) for word in words]
    assert values.tolist() == [1.0] * len(words)


def test_words_that_collide_are_added_up(write):
    stream = Text(write(b"a\tone two three four five six\nb\tone\n"), bits=1)
    (batch,) = stream.batches()
    (indices, values), _ = batch.x.rows()
    assert sorted(indices.tolist()) == [0, 1]
    assert values.sum() == 6
    assert stream.domain.width == batch.x.width == 2


@pytest.mark.parametrize(
    "content",
    [
        MAIL[:-1],
        MAIL.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + MAIL,
        b"\n \n" + MAIL.replace(b"\n", b"\n\n\t \r\n"),
        MAIL.replace(b"spam", b" spam "),
        MAIL.replace(b"now", b"\tnow\t"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_line_ends_blank_lines_spaces_and_chunks_make_no_difference(write, content, chunk):
    assert rows_of(Text(write(content), chunk=chunk)) == rows_of(Text(write(MAIL, "same.txt")))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_unpacked_and_resumed(write, pack):
    content = b"".join(b"%s\tword%d and %d\n" % ([b"u", b"v"][i % 2], i, i % 7) for i in range(2000))
    whole = Text(write(content), chunk=4096)
    packed = Text(write(pack(content), "packed"), chunk=4096)
    assert rows_of(packed) == rows_of(whole)
    end = [batch.end for batch in packed.batches()][3]
    assert rows_of(packed, end) == rows_of(whole)[end["row"] :]


line = st.one_of(
    st.builds(
        lambda label, message: label + b"\t" + message,
        st.sampled_from([b"u", b"v", b" u", b"v "]),
        st.text(alphabet="aAbB 1.é\t\r\x00", max_size=30).map(str.encode),
    ),
    st.sampled_from([b"", b" ", b"\t", b"\r"]),
)


@FRESH
@given(
    lines=st.lists(line, max_size=12),
    chunk=st.integers(1, 60),
    bits=st.sampled_from([1, 3, 18, 32]),
    last=st.booleans(),
)
def test_rows_are_those_of_the_slow_reader_for_any_chunk(tmp_path, lines, chunk, bits, last):
    content = b"u\tfirst\nv\tsecond\n" + b"\n".join(lines) + (b"\n" if last else b"")
    path = tmp_path / "mail.txt"
    path.write_bytes(content)
    rows, bad = twin(content, bits)
    assert bad == []
    expected = [(1 if label == b"v" else -1, list(counts), list(counts.values())) for _, label, counts in rows]
    assert rows_of(Text(path, bits=bits, chunk=chunk)) == expected
    assert rows_of(Text(io.BytesIO(content), bits=bits, chunk=chunk)) == expected


@FRESH
@given(content=st.binary(max_size=60).map(lambda data: b"u\tx\nv\ty\n" + data), chunk=st.integers(1, 30))
def test_any_bytes_are_read_as_the_slow_reader_does_or_are_a_novikoff_error(tmp_path, content, chunk):
    path = tmp_path / "mail.txt"
    path.write_bytes(content)
    rows, bad = twin(content)
    third = [number for number, label, _ in rows if label not in (b"u", b"v")]
    seen, error = until_it_fails(Text(path, chunk=chunk))
    end = min([*bad, *third, 10**9])
    assert (f"line {end} of {path}" in error) if bad or third else not error
    assert seen == [(1 if label == b"v" else -1, counts) for number, label, counts in rows if number < end]


def test_the_compiled_reader_and_its_python_twin_agree(write, monkeypatch):
    content = "".join(f"{'uv'[i % 2]}\tThe {i % 5}th WORD, word & é{i}\n" for i in range(60)).encode() + b"\n u\t.\n"
    compiled = rows_of(Text(write(content), bits=5))
    monkeypatch.setattr(kernel, "read_lines", kernel.read_lines.py_func)
    for name in ("count_words", "add_entry", "same_bytes", "finish", "mix", "scramble"):
        monkeypatch.setattr(kernel, name, getattr(kernel, name).py_func)
    assert rows_of(Text(write(content), bits=5)) == compiled


def test_a_line_may_be_longer_than_a_chunk_and_memory_is_that_of_the_line(write):
    long = b" ".join(b"w%d" % i for i in range(30_000))
    rows = rows_of(Text(write(b"u\ta\nv\t" + long + b"\nu\tb\n"), bits=30, chunk=10))
    assert [len(indices) for _, indices, _ in rows] == [1, 30_000, 1]


def test_a_line_of_as_many_words_as_it_can_hold_is_counted(write):
    letters = [bytes([c]) for c in range(256) if c >= 128 or (chr(c).isalnum() and not chr(c).isupper())]
    message = b" ".join(letters)
    (row, _) = rows_of(Text(write(b"u\t" + message + b"\nv\t\n"), bits=32))
    assert row == (-1, [murmur_by_the_book(letter) for letter in letters], [1.0] * len(letters))


def test_a_byte_order_mark_counts_only_at_the_start(write):
    for chunk in (1, 1 << 20):
        content = b"\xef\xbb\xbfu\tx\nv\ty\n\xef\xbb\xbfu\tz\n"
        fails("labels must take two values: line 3 of", write(content), played=2, chunk=chunk)


def test_memory_does_not_grow_with_the_file(write):
    block = b"".join(b"%s\tsome words of message %d\n" % ([b"ham", b"spam"][i % 2], i) for i in range(1000))
    path = write(block * 200)
    stream = Text(path, chunk=1 << 16)
    tracemalloc.start()
    rows = sum(len(batch) for batch in stream.batches())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows == 200_000
    assert peak < path.stat().st_size / 2


def test_many_distinct_labels_and_bad_lines_in_a_chunk_are_all_seen(write):
    content = b"".join(b"l%d\tx\nno tab\n" % i for i in range(700))
    stream = Text(write(content), positive="l600", skip_bad=700)
    y = np.concatenate([batch.y for batch in stream.batches()])
    assert np.flatnonzero(y == 1).tolist() == [600]
    assert [number for number, _ in stream.skipped] == list(range(2, 1401, 2))


# positions


@pytest.mark.parametrize("chunk", [1, 50, 1000])
def test_a_pass_resumes_from_the_end_of_any_batch(write, chunk):
    content = b"\xef\xbb\xbf" + b"".join(b"%s\tm %d\nbad\n\n" % ([b"u", b"v"][i % 3 == 0], i) for i in range(50))
    path = write(content)
    rows = rows_of(Text(path, skip_bad=50, chunk=chunk))
    ends = [json.loads(json.dumps(batch.end)) for batch in Text(path, skip_bad=50, chunk=chunk).batches()]
    assert ends[-1]["row"] == 50
    for end in ends:
        again = Text(path, skip_bad=50, chunk=64)
        assert rows_of(again, end) == rows[end["row"] :]
        assert end["bad"] + len(again.skipped) == 50


def test_bad_lines_skipped_before_count_after_resuming(write):
    path = write(b"u\ta\nbad\nv\tb\nbad\nu\tc\n")
    ends = [batch.end for batch in Text(path, skip_bad=2, chunk=1).batches()]
    assert [end["bad"] for end in ends] == [0, 1, 2]
    with pytest.raises(SourceError, match="line 4 of"):
        rows_of(Text(path, skip_bad=1), ends[1])


def test_two_passes_give_the_same(write):
    stream = Text(write(MAIL))
    assert rows_of(stream) == rows_of(stream)


# labels


@pytest.mark.parametrize(
    ("first", "second", "labels"),
    [
        (b"spam", b"ham", Labels("ham", "spam")),
        (b"-1", b"+1", Labels(-1, 1)),
        (b"+1", b"-1", Labels(-1, 1)),
        (b"9", b"10", Labels(9, 10)),
        (b"yes", b"1", Labels("1", "yes")),
    ],
)
def test_the_larger_label_is_positive_and_numbers_are_compared_as_numbers(write, first, second, labels):
    stream = Text(write(first + b"\tx\n" + second + b"\ty\n"))
    (batch,) = stream.batches()
    assert stream.labels == labels
    assert sorted(batch.y.tolist()) == [-1, 1]
    assert (batch.y[0] == 1) == (str(labels.positive) == first.decode().lstrip("+"))


def test_the_second_label_of_a_file_is_found_however_late_it_comes(write, monkeypatch):
    monkeypatch.setattr("novikoff.data.streaming_labels.LOOK_AHEAD_BYTES", 100)
    stream = Text(write(b"spam\tx\n" * 500 + b"ham\ty\n"), chunk=50)
    first = next(stream.batches())
    assert stream.labels == Labels("ham", "spam")
    assert set(first.y.tolist()) == {1}


def test_positive_is_one_value_against_all_others(write):
    path = write(b"a\tx\nb\tx\nc\tx\n")
    stream = Text(path, positive="b")
    assert [y for y, _, _ in rows_of(stream)] == [-1, 1, -1]
    assert stream.labels.positive == "b"
    numbers = Text(write(b"1\tx\n2\tx\n3\tx\n"), positive="2")
    assert [y for y, _, _ in rows_of(numbers)] == [-1, 1, -1]
    for positive in (1, "1", "+1", 1.0):
        mixed = Text(write(b"+1\tx\nspam\tx\n1.0\tx\n0.5\tx\n1e999\tx\n"), positive=positive)
        assert [y for y, _, _ in rows_of(mixed)] == [1, -1, 1, -1, -1]
    assert [y for y, _, _ in rows_of(Text(write(b"1\tx\nspam\tx\n"), positive="spam"))] == [-1, 1]


def test_a_positive_label_that_never_comes_is_reported_once(write):
    stream = Text(write(MAIL), positive="Spam")
    assert {y for y, _, _ in rows_of(stream)} == {-1}
    rows_of(stream)
    (note,) = stream.notes
    assert '"Spam", the positive label' in note


def test_many_labels_stay_as_they_are(write):
    stream = Text(write(b"2\tx\n0\ty\n"), multiclass=3)
    (batch,) = stream.batches()
    assert stream.labels is None
    assert batch.y.dtype == np.int32
    assert batch.y.tolist() == [2, 0]
    fails("labels must be integers from 0 to 2: line 2 of", write(b"2\tx\n3\ty\n"), played=1, multiclass=3)


def test_a_third_label_is_an_error_that_names_its_line(write):
    for chunk in (1, 20, 1 << 20):
        fails(
            'labels must take two values: line 6 of', write(b"ham\ta\nspam\tb\n\nham\tc\nham\td\nspma\te\n"), played=4,
            chunk=chunk,
        )  # fmt: skip


def test_one_label_alone_is_an_error(write):
    assert "Pass positive and" in fails('there is only "ham"', write(b"ham\ta\nham\tb\n"))


def test_a_label_that_is_not_utf8_or_no_number_is_an_error_that_names_its_line(write):
    for chunk in (1, 1 << 20):
        fails(
            "a label must be UTF-8 without zero bytes: line 3 of",
            write(b"u\ta\nv\tb\n\xff\tc\n"),
            played=2,
            chunk=chunk,
        )
        fails("line 4 of", write(b"0\ta\n1\tb\n\nmaybe\tc\n"), played=2, chunk=chunk)
    fails("because the first is a number", write(b"0\ta\n1\tb\n1e999\tc\n"), played=2)


def test_a_label_with_a_zero_byte_is_an_error(write):
    """UTF-16, for one; and numpy would take "u" and "u\\0" for the same label."""
    said = "a label must be UTF-8 without zero bytes: line 3 of"
    for options in ({}, {"positive": "u"}):
        fails(said, write(b"u\ta\nv\tb\nu\0\tc\nu\td\n"), played=2, **options)
    fails("zero bytes: line 1 of", write("u\ta\nv\tb\n".encode("utf-16-le")))


def test_whole_labels_that_a_double_cannot_distinguish_are_not_taken_for_one(write):
    content = b"9007199254740992\ta\n5\tb\n9007199254740993\tc\n"
    fails("integers exact as doubles, because the first is a number: line 3 of", write(content), played=2)
    for positive, signs in ((2**53, [1, -1, -1]), (2**53 + 1, [-1, -1, 1]), ("9007199254740992.0", [1, -1, -1])):
        assert [y for y, _, _ in rows_of(Text(write(content), positive=positive))] == signs
    assert [y for y, _, _ in rows_of(Text(write(b"9007199254740992\ta\n5\tb\n")))] == [1, -1]


@pytest.mark.parametrize("chunk", [1, 9, 1 << 20])
def test_the_first_fault_is_the_one_that_is_reported_for_any_chunk(write, chunk):
    path = write(b"0\ta\n1\tb\nno tab\nmaybe\tc\nno tab\n")
    fails("line 3 of", path, played=2, chunk=chunk)
    fails("line 4 of", path, played=2, chunk=chunk, skip_bad=1)
    fails("line 5 of", path, played=2, chunk=chunk, skip_bad=2)
    stream = Text(write(b"0\ta\n1\tb\n2\tc\nno tab\n"), chunk=chunk, skip_bad=5)
    _, error = until_it_fails(stream)
    assert "line 3 of" in error
    assert stream.skipped == []


@pytest.mark.parametrize("chunk", [1, 9, 1 << 20])
def test_a_label_behind_one_that_cannot_be_decides_nothing(write, chunk):
    seen, error = until_it_fails(Text(write(b"0\ta\nmaybe\tb\n-1\tc\n"), chunk=chunk))
    assert [y for y, _ in seen] == [-1]  # 0 alone; with the -1 it would be +1
    assert "line 2 of" in error


# bad lines


@pytest.mark.parametrize(
    ("bad", "said"),
    [(b"no tab here", "has no TAB"), (b"\tno label", "has nothing before"), (b"  \tno label", "has nothing")],
)
@pytest.mark.parametrize("chunk", [1, 9, 1 << 20])
def test_a_bad_line_is_an_error_that_names_it(write, bad, said, chunk):
    path = write(b"u\ta\nv\tb\n" + bad + b"\nu\tc\n")
    message = fails(f"line 3 of {path} {said}", path, played=2, chunk=chunk)
    assert "skip_bad=N" in message


@pytest.mark.parametrize("chunk", [1, 9, 1 << 20])
def test_bad_lines_are_skipped_and_reported_up_to_a_number(write, chunk):
    path = write(b"bad\nu\ta\nworse\nv\tb\nu\tc\nworst\nv\td\n")
    stream = Text(path, skip_bad=3, chunk=chunk)
    assert len(rows_of(stream)) == len(rows_of(stream)) == 4
    assert [number for number, _ in stream.skipped] == [1, 3, 6]
    (note,) = stream.notes
    assert "3 bad lines" in note
    assert "line 1 of" in note
    message = fails("line 6 of", path, played=3, skip_bad=2, chunk=chunk)
    assert "has no TAB after 2 that were skipped" in message


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b" \t \r\n"])
def test_an_empty_source_is_an_error(write, content):
    fails("a source must not be empty", write(content))


@pytest.mark.parametrize("options", [{"bits": 0}, {"bits": 33}, {"skip_bad": -1}, {"chunk": 0}])
def test_options_must_make_sense(write, options):
    with pytest.raises(SourceError, match="must be from 1 to 32|skip_bad must be at least 0"):
        Text(write(MAIL), **options)


def test_a_line_without_end_is_an_error(write, monkeypatch):
    monkeypatch.setattr("novikoff.data.formats.lines.LONGEST_LINE", 1000)
    fails("a line must be shorter than 1,000 bytes", write(b"u\t" + b"x" * 5000), chunk=10)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(SourceError, match="file not found"):
        Text(tmp_path / "nothing")


# pipes


def test_a_pipe_shows_its_rows_while_it_is_open():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as source, os.fdopen(writing, "wb", buffering=0) as sink:
        stream = Text(source)
        assert not stream.rereadable
        sink.write(b"ham\tone\nspam\ttwo\nha")
        batches = stream.batches()
        first = next(batches)
        assert first.y.tolist() == [-1, 1]
        sink.write(b"m\tthree\n")
        assert next(batches).y.tolist() == [-1]
        sink.close()
        assert list(batches) == []


def test_a_pipe_gives_the_rows_of_the_file(write):
    content = b"".join(b"%s\tmessage %d of many\n" % ([b"ham", b"spam"][i % 4 == 0], i) for i in range(20_000))
    reading, writing = os.pipe()

    def fill():
        with os.fdopen(writing, "wb") as sink:
            sink.write(content)

    thread = threading.Thread(target=fill)
    thread.start()
    with os.fdopen(reading, "rb") as source:
        rows = rows_of(Text(source))
    thread.join()
    assert rows == rows_of(Text(write(content)))


@FRESH
@given(st.lists(st.lists(st.sampled_from([b"call", b"now", b"free", b"ok"]), max_size=9), min_size=2, max_size=30),
       st.integers(1, 60))  # fmt: skip
def test_presence_counts_each_word_of_a_message_once(messages, chunk):
    lines = b"".join([b"spam" if i % 2 else b"ham", b"\t", b" ".join(words), b"\n"][j] for i, words in
                     enumerate(messages) for j in range(4))  # fmt: skip
    counted, once = (
        [row for batch in Text(io.BytesIO(lines), bits=12, chunk=chunk, presence=p).batches() for row in batch.x.rows()]
        for p in (False, True)
    )
    assert [len(indices) for indices, _ in once] == [len({*words}) for words in messages]
    for (known, _), (indices, values) in zip(counted, once, strict=True):
        assert np.array_equal(known, indices)
        assert set(values.tolist()) <= {1.0}


def test_presence_of_the_words_is_kept_with_a_game(write):
    path, more = write(MAIL), write(b"spam\tcall call\nham\tlar lar\n", "more.txt")
    ledger = nk.play("perceptron", nk.read(path, presence=True))
    assert ledger.fingerprint["presence"] is True
    assert len(ledger.predict(nk.read(more, presence=True))) == 2
    with pytest.raises(MismatchError, match="the game counted each word once: .*more.txt is read otherwise. Pass pres"):
        ledger.predict(nk.read(more))
    with pytest.raises(MismatchError, match="counted each word once"):
        nk.play(None, nk.read(more), ledger=ledger)
    plain = nk.play("perceptron", nk.read(path))
    with pytest.raises(MismatchError, match="every occurrence of a word.* Leave out presence"):
        plain.predict(nk.read(more, presence=True))


def test_presence_on_the_command_line(write, tmp_path):
    path, model = write(MAIL), tmp_path / "model.nk"
    assert novikoff("run", "perceptron", path, "--presence", "--save", model)[0] == 0
    assert novikoff("predict", model, path, "--presence")[0] == 0
    code, _, error = novikoff("predict", model, path)
    assert (code, "Pass --presence." in error) == (2, True)
