"""Tables in text against Python's own reader, row for row: arbitrary cells, quotes, line ends and chunks."""

import csv
import io
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from novikoff.errors import NovikoffError
from novikoff.tables.column import is_missing
from novikoff.tables.delimited import Delimited
from novikoff.tables.table import Table
from novikoff.types import Sparse

NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(-1e9, 1e9).map(repr),
    st.sampled_from(["", "NA", "nan", "?", " 7 "]),
)
WORDS = st.text(st.sampled_from('ab"x,;\n\t é€0'), max_size=6)
ROWS = st.lists(st.tuples(NUMBERS, WORDS, NUMBERS, WORDS, st.sampled_from(["no", "yes"])), min_size=1, max_size=12)


def written(rows, quoting, end):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator=end).writerows([["a", "b", "c", "d", "y"], *rows])
    return text.getvalue().encode()


def expected(row):
    """The features of a row by name, as Python reads its cells."""
    found = {}
    for name, cell in zip("abcd", row, strict=False):
        text = cell.strip()
        if is_missing(text):
            found[f"{name} is missing"] = 1.0
        elif name in "ac":
            found[name] = float(text)
        else:
            found[f"{name}={text}"] = 1.0
    return found


def told(table):
    rows, y = [], []
    for batch in table.batches():
        assert isinstance(batch.x, Sparse)
        names = table.encoding.features
        rows += [{names[i]: v for i, v in zip(*map(np.ndarray.tolist, row), strict=True)} for row in batch.x.rows()]
        y += batch.y.tolist()
    return rows, y


@given(ROWS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.sampled_from(["\n", "\r\n"]), st.integers(1, 80))
@example([("1", '"', "2", "\n", "no"), ("3", '""\n,', "", "é", "yes")], csv.QUOTE_MINIMAL, "\n", 7)
@settings(max_examples=150)
def test_rows_are_those_that_python_reads(rows, quoting, end, chunk):
    text = written(rows, quoting, end)
    again = list(csv.reader(io.StringIO(text.decode(), newline="")))[1:]
    reader = Delimited(io.BytesIO(text), header=True, delimiter=",", chunk=chunk, threads=2)
    table = Table(reader, label="y", positive="yes", number=["a", "c"], category=["b", "d"])
    found, y = told(table)
    assert found == [expected(row) for row in again if row]
    assert y == [1 if row[4] == "yes" else -1 for row in again if row]


@given(st.binary(max_size=200), st.integers(1, 50))
@settings(max_examples=200)
def test_any_bytes_are_read_or_refused_with_an_error_of_ours(content, chunk):
    with suppress(NovikoffError):  # any other is a failure
        for batch in Table(Delimited(io.BytesIO(content), chunk=chunk)).batches():
            assert len(batch) > 0


@pytest.mark.slow
@settings(max_examples=20_000)
@given(ROWS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.sampled_from(["\n", "\r\n"]), st.integers(1, 80))
def test_rows_are_those_that_python_reads_many_times(rows, quoting, end, chunk):
    test_rows_are_those_that_python_reads.hypothesis.inner_test(rows, quoting, end, chunk)
