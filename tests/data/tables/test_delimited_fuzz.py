"""Tables in text against Python's own reader, row for row: arbitrary cells, quotes, line ends and chunks."""

import csv
import io
import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers import tries
from novikoff.core.errors import NovikoffError
from novikoff.core.types import Sparse
from novikoff.data.tables.column import NO_FEATURE, NO_NUMBER, is_missing
from novikoff.data.tables.csv_reader import Delimited
from novikoff.data.tables.table import Table

NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(-1e9, 1e9).map(repr),
    st.sampled_from(["", "NA", "nan", "?", " 7 "]),
)
WORDS = st.text(st.sampled_from('ab"x,;\n\r\t é€0'), max_size=6)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
ALPHABET = b'0123456789.,,;\t""\n\n\r+-eExabuv _\x00\x1a\xc3\xff'
ROWS = st.lists(st.tuples(NUMBERS, WORDS, NUMBERS, WORDS, st.sampled_from(["no", "yes"])), min_size=1, max_size=12)


def written(rows, quoting, end):
    """The table in text; cells with a line end of any kind are quoted."""
    lines = []
    for row in [["a", "b", "c", "d", "y"], *rows]:
        text = io.StringIO(newline="")
        csv.writer(text, quoting=quoting, lineterminator="\r\n").writerow(row)
        lines.append(text.getvalue().removesuffix("\r\n") + end)
    return "".join(lines).encode()


WHOLE, CUT = r"\A([+-]?[0-9]+)\.0+\Z", r"\1"
"""A whole number with a fraction of zeros, and without."""


def expected(row):
    """The features of a row by name, as Python reads its cells."""
    found = {}
    for name, cell in zip("abcd", row, strict=False):
        text = cell.strip()
        if is_missing(text, NO_NUMBER if name in "ac" else NO_FEATURE):
            found[f"{name} is missing"] = 1.0
        elif name in "ac":
            found[name] = float(text)
        else:
            found[f"{name}={re.sub(WHOLE, CUT, text)}"] = 1.0
    return found


def told(table):
    rows, y = [], []
    for batch in table.batches():
        assert isinstance(batch.x, Sparse)
        names = table.encoding.features
        rows += [{names[i]: v for i, v in zip(*map(np.ndarray.tolist, row), strict=True)} for row in batch.x.rows()]
        y += batch.y.tolist()
    return rows, y


@given(ROWS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), ENDS, st.integers(1, 80))
@example([("1", '"', "2", "\n", "no"), ("3", '""\n,', "", "é", "yes")], csv.QUOTE_MINIMAL, "\n", 7)
@settings(max_examples=tries(60))
def test_rows_are_those_that_python_reads(rows, quoting, end, chunk):
    text = written(rows, quoting, end)
    again = list(csv.reader(io.StringIO(text.decode(), newline="")))[1:]
    reader = Delimited(io.BytesIO(text), header=True, delimiter=",", chunk=chunk, threads=2)
    table = Table(reader, label="y", positive="yes", number=["a", "c"], category=["b", "d"])
    found, y = told(table)
    assert found == [expected(row) for row in again if row]
    assert y == [1 if row[4] == "yes" else -1 for row in again if row]


@given(st.binary(max_size=200), st.integers(1, 50))
@settings(max_examples=tries(200))
def test_any_bytes_are_read_or_refused_with_a_novikoff_error(content, chunk):
    with suppress(NovikoffError):  # any other is a failure
        for batch in Table(Delimited(io.BytesIO(content), chunk=chunk)).batches():
            assert len(batch) > 0


def check(content, chunk):
    """What is not refused is read as Python reads it; True if it was."""
    again = [row for row in csv.reader(io.StringIO(content.decode("utf-8", "surrogateescape"), newline="")) if row]
    try:
        table = Table(Delimited(io.BytesIO(content), header=True, delimiter=",", chunk=chunk, threads=2), label="y",
                      positive="yes", number=["a", "c"], category=["b", "d"])  # fmt: skip
        found, y = told(table)
    except NovikoffError:
        return False
    again[0] = [cell.strip() for cell in again[0]]
    assert again[0] == ["a", "b", "c", "d", "y"]
    again = [row for row in again[1:] if not is_missing(row[4])]  # rows without a label are skipped
    assert found == [expected(row) for row in again], (content, chunk)
    assert y == [1 if row[4].strip() == "yes" else -1 for row in again], (content, chunk)
    return True


CONTENT = 'a,b,c,d,y\r\n1,"é,\r""x",.5,u,yes\r2,w,"3",,no\n\n-4,"p\nq",1e-3,é,"no"\n'.encode()


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_every_change_of_one_byte_is_refused_or_read_as_python_does(half):
    assert check(CONTENT, 2**20)
    read = 0
    for at in range(len(CONTENT)):
        for byte in (*b'",\n\r0x\0\xff', None)[(at + half) % 2 :: 2]:
            data = CONTENT[:at] + (b"" if byte is None else bytes([byte])) + CONTENT[at + 1 :]
            read += check(data, (7, 2**20)[at // 2 % 2])
    assert read > 50


def test_every_cut_is_refused_or_read_as_python_does():
    for cut in range(len(CONTENT)):
        for chunk in (4, 13, 2**20):
            check(CONTENT[:cut], chunk)


@st.composite
def malformed(draw):
    """Rows with line ends of every kind and a few bytes put in, taken out, changed or said twice."""
    ends = {end: written(draw(ROWS), csv.QUOTE_MINIMAL, end) for end in ("\n", "\r\n", "\r")}
    parts = [ends[end] if k == 0 else ends[end].split(b"y", 1)[1].lstrip(b"\r\n") for k, end in enumerate(ends)]
    text = bytearray(b"".join(parts))
    for _ in range(draw(st.integers(0, 3))):
        at, how = draw(st.integers(0, len(text))), draw(st.integers(0, 3))
        byte = bytes([draw(st.sampled_from(ALPHABET))])
        text[at : at + (how == 1)] = byte if how < 2 else b"" if how == 2 else text[at : at + 9] * 2
    return bytes(text)


@given(malformed(), st.integers(1, 80))
@settings(max_examples=tries(60))
def test_malformed_tables_are_refused_or_read_as_python_does(content, chunk):
    check(content, chunk)


@pytest.mark.slow
@settings(max_examples=20_000)
@given(malformed(), st.integers(1, 80))
def test_malformed_tables_are_refused_or_read_as_python_does_many_times(content, chunk):
    check(content, chunk)


@pytest.mark.slow
@settings(max_examples=20_000)
@given(ROWS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), ENDS, st.integers(1, 80))
def test_rows_are_those_that_python_reads_many_times(rows, quoting, end, chunk):
    test_rows_are_those_that_python_reads.hypothesis.inner_test(rows, quoting, end, chunk)
