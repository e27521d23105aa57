"""svmlight text: what no other format has. The rest is in test_text_formats.py."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samples
from novikoff.data._loops import svmlight as kernel
from novikoff.data.formats.svmlight import Svmlight
from text_formats import SVMLIGHT as FORM
from text_formats import assert_bad_line, to_bits, values

FILES = {
    "svmlight": (
        samples.lines(lambda x, y: f"{y} " + " ".join(f"{i}:{v}" for i, v in enumerate(x) if v)),
        {"chunk": 200},
    )
}
"""Sample for tests/data/test_every_stream.py."""

LARGEST = 2**32 - 2


def slow(data):
    return to_bits(*FORM.slow(data))


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
    assert FORM.read(b"-1\n" + line + end) == [(-1, [], b""), (1, indices, values(*numbers))]


@pytest.mark.parametrize("count", [200, 600])
def test_colliding_indices_are_merged(count):
    hashes = np.arange(2**21, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    clash = np.flatnonzero(hashes >> np.uint64(53) == 0)[:count].tolist()  # the top bits are all 0
    assert len(clash) == count
    text = b"1" + b"".join(b" %d:1" % i for i in clash + clash[::-1])
    assert FORM.read(b"-1\n" + text)[1] == (1, clash, values(*[2.0] * count))


def test_blank_lines_and_comments_are_no_rows_and_lines_are_still_counted():
    text = b"# head\n\n   \n\t# more\r\n\r\n1 1:1\n#\n-1 1:1\n\n1 1:x\n"
    assert "line 10, column 5 of" in FORM.fails(text)
    assert FORM.read(text, skip_bad=1) == [(1, [1], values(1)), (-1, [1], values(1))]


def test_the_width_is_the_largest_index_so_far_and_one():
    stream = Svmlight(io.BytesIO(b"1\n-1\n1 5:1\n1 2:1\n1 9:1 3:1\n"), chunk=1)
    assert [batch.x.width for batch in stream.batches()] == [0, 0, 6, 6, 10]


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
        (b"1 -1:2", 3, "an index must be an integer from 0"),
        (b"1 +1:2", 3, "an index must be an integer from 0"),
        (b"1 1.0:2", 3, "an index must be an integer from 0"),
        (b"1 :2", 3, "an index must be an integer from 0"),
        (b"1 a:2", 3, "an index must be an integer from 0"),
        (b"1 \xd9\xa3:2", 3, "an index must be an integer from 0"),
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
        (b"1 2:3 qid:4", 7, "an index must be an integer from 0"),
        (b"1 qid:x 2:3", 3, "qid must be an integer"),
        (b"1 qid: 2:3", 3, "qid must be an integer"),
        (b"1 qid:1 qid:2", 9, "an index must be an integer from 0"),
        (b"1 5:1e308 5:1e308", 11, "values of one index must have a finite sum"),
        (b"1," * 100, 1, 'has "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,..."'),
    ],
)
def test_a_bad_line_names_file_line_and_column(line, column, said):
    assert_bad_line(FORM, line, f"line 3, column {column} of a BytesIO has", said)


@given(st.randoms(use_true_random=False), st.integers(1, 60), st.integers(1, 400), st.integers(1, 4))
def test_rows_are_those_of_a_slow_reader_for_any_chunk_and_threads(rng, rows, chunk, threads):
    data = b"1 1:1\n-1\n" + FORM.table(rng, rows)
    want, bad = FORM.expected(data)
    assert not bad
    assert FORM.read(data, chunk=chunk, threads=threads) == want


def test_a_file_of_plain_lines_needs_the_plain_kernel_alone(monkeypatch):
    text = b"1 1:1\n-1 2:2\n+1 3:0.25 7:-4.5\n-1.5 1:3 2:12345678\r\n1 5:1 \n1 100:0 200:0.12345678\n" * 20
    expected = FORM.parse(text)
    monkeypatch.setattr(kernel, "parse_all", None)
    assert FORM.parse(text) == expected == slow(text)
    for other in (b"1 1:1e3", b"1 2:1 1:1", b"1", b"# all", b"1e0 1:1", b"1 1:0.123456789", b"1 qid:3 1:1", b" 1 1:1"):
        with pytest.raises(TypeError, match="'NoneType' object is not callable"):
            FORM.parse(text + other + b"\n")


@pytest.mark.parametrize("name", ["parse", "parse_all"])
def test_loop_writes_nothing_beyond_its_output(name):
    rng = random.Random(8)
    first = b"1 1:1 2:2 3:3 4:4\n" if name == "parse" else b""  # plain lines are read from the second on
    tight = [b"1 1:1 2:2 3:3\n", b"1\n" * 50, b"1 " + b" ".join([b"1:1"] * 40) + b"\n", b"1 1:1\n\n"]
    for data in [*tight, *(FORM.mutated(rng) + b"\n" for _ in range(3000))]:
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
        arrays = tuple(a[: {**places, **sizes}[n][0]] for n, a in {**found, **guarded}.items())
        getattr(kernel, name)(text, np.uint64(len(data)), state, arrays[:4], arrays[4:9], *arrays[9:])
        for what, array in {**found, **guarded}.items():
            behind = array[{**places, **sizes}[what][0] :]
            assert np.all(behind == (0 if what == "table" else 123)), (what, data)
        assert state[kernel.AT] <= len(data)


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
        assert FORM.parse(data) == slow(data)


def test_one_odd_byte_anywhere_in_a_plain_line_is_never_read_as_something_else():
    line = b"1 12:0.25 345:-7 6789:1.00000001 12345678:42"
    odd = [bytes([byte]) for byte in range(256) if byte != 10]
    for at in range(len(line) + 1):
        data = b"# first\n" + b"".join(line[:at] + byte + line[at + gone :] + b"\n" for byte in odd for gone in (0, 1))
        assert FORM.parse(data) == slow(data)
