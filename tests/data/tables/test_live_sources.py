"""Arrow streams, lists of paths, sequences of frames and cursors: the rows of the same table in CSV, to the bit."""

import io
import sqlite3
from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pytest
from tests.mixed_rows import as_csv, bits_of, mixed

import novikoff as nk
from novikoff.core.errors import InputError, SourceError

ROWS = mixed(250, text=True)
CUTS = (0, 3, 100, 101, 250)
"""Borders of the parts; the first part has too few rows to detect every kind."""


class Streaming:
    """A result of a query, as duckdb and ADBC have it: only the Arrow stream interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class ArrowCursor:
    """A cursor that has its rows in Arrow, as those of duckdb and ADBC."""

    description = (("never read",),)

    def __init__(self, table):
        self._table = table

    def execute(self, query):
        raise AssertionError(query)

    def fetchmany(self, size):
        raise AssertionError("the Arrow stream is faster")

    def fetch_record_batch(self):
        return self._table.to_reader(max_chunksize=40)


def table():
    return pa.Table.from_pylist(ROWS)


def frames():
    return [pd.DataFrame(ROWS[start:end]) for start, end in pairwise(CUTS)]


def cursor(query="SELECT * FROM t"):
    connection = sqlite3.connect(":memory:")
    names = list(ROWS[0])
    connection.execute(f"CREATE TABLE t ({', '.join(names)})")
    rows = [[str(one).lower() if isinstance(one, bool) else one for one in row.values()] for row in ROWS]
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
    return connection.execute(query)


def polars_frame():
    return pytest.importorskip("polars").from_arrow(table())


SOURCES = {
    "RecordBatchReader": lambda: table().to_reader(max_chunksize=60),
    "__arrow_c_stream__": lambda: Streaming(table()),
    "list of frames": frames,
    "iterator of frames": lambda: iter(frames()),
    "generator of polars frames": lambda: (polars_frame()[start:end] for start, end in pairwise(CUTS)),
    "iterator of record batches": lambda: iter(table().to_batches(max_chunksize=70)),
    "cursor": cursor,
    "cursor with Arrow": lambda: ArrowCursor(table()),
}


@pytest.fixture(scope="module")
def in_csv():
    return bits_of(nk.read(io.BytesIO(as_csv(ROWS))))


@pytest.mark.parametrize("name", SOURCES)
def test_rows_match_csv_to_the_bit(name, in_csv):
    assert bits_of(nk.read(SOURCES[name]())) == in_csv


@pytest.mark.parametrize("name", SOURCES)
def test_play_takes_the_source(name):
    expected = nk.play("logistic", nk.read(io.BytesIO(as_csv(ROWS))))
    ledger = nk.play("logistic", SOURCES[name]())
    assert (ledger.rounds, ledger.mistakes) == (250, expected.mistakes)
    assert ledger.metrics.log_loss == expected.metrics.log_loss


def test_options_of_tables():
    stream = nk.read(iter(frames()), label="vip", drop=["note"], positive=False)
    assert (stream.label, stream.labels.positive) == ("vip", False)
    assert "note" not in {column.name for column in stream.columns}
    with pytest.raises(SourceError, match="got header"):
        nk.read(iter(frames()), header=True)
    assert nk.play("logistic", cursor(), label="vip").rounds == 250


def test_sources_that_are_read_once_say_so():
    for name in ("RecordBatchReader", "iterator of frames", "cursor"):
        stream = nk.read(SOURCES[name]())
        assert not stream.rereadable
        assert len(bits_of(stream)) == 250
        with pytest.raises(SourceError, match="can be read once"):
            bits_of(stream)
    again = nk.read(frames())
    assert again.rereadable
    assert bits_of(again) == bits_of(again)
    assert again.rows == 250


@pytest.mark.parametrize("name", ["RecordBatchReader", "iterator of frames", "list of frames"])
def test_pass_that_ends_early_resumes_at_its_position(name, in_csv, monkeypatch):
    monkeypatch.setattr("novikoff.data.tables.live_sources.ROWS_AT_ONCE", 30)
    stream = nk.read(SOURCES[name]())
    pieces = stream.batches()
    first = next(pieces)
    pieces.close()
    assert first.end is not None
    rest = list(stream.batches(first.end))
    assert len(first) + sum(map(len, rest)) == 250
    assert [y for batch in (first, *rest) for y in batch.y.tolist()] == [row[-1] for row in in_csv]


@pytest.mark.parametrize("name", ["RecordBatchReader", "list of frames"])
def test_read_from_the_middle_of_a_batch(name):
    pieces = nk.read(SOURCES[name]()).reader.read({"row": 130}, {"amount": "number"})
    found = [value for piece in pieces for value in piece.arrays["amount"].to_pylist()]
    assert found == [row["amount"] for row in ROWS[130:]]


def test_later_frames_are_matched_by_name():
    parts = frames()
    parts[2] = parts[2][parts[2].columns[::-1]]
    assert bits_of(nk.read(parts)) == bits_of(nk.read(frames()))
    with pytest.raises(SourceError, match='frame 3 of frames lacks "city"'):
        bits_of(nk.read([*frames()[:2], frames()[2].drop(columns="city")]))
    with pytest.raises(SourceError, match='frame 3 of frames has "new"'):
        bits_of(nk.read(iter([*frames()[:2], frames()[2].assign(new=1)])))
    with pytest.raises(SourceError, match="item 3 of frames is dict"):
        bits_of(nk.read(iter([*frames()[:2], {"age": 1}])))


def test_empty_and_unexecuted_sources():
    with pytest.raises(SourceError, match="has no rows"):
        nk.read(table().schema.empty_table().to_reader())
    with pytest.raises(SourceError, match="has no rows"):
        nk.read(cursor("SELECT * FROM t WHERE age > 1000"))
    with pytest.raises(InputError, match="Execute a query first"):
        nk.read(sqlite3.connect(":memory:").cursor())
    with pytest.raises(SourceError, match="must have columns: Streaming has not"):
        nk.read(Streaming(pa.chunked_array([[1, 2]])))


def test_error_of_a_producer_is_reported_with_its_rows():
    def batches():
        yield from table().to_batches(max_chunksize=125)
        raise OSError("connection lost")

    stream = pa.RecordBatchReader.from_batches(table().schema, batches())
    with pytest.raises(SourceError, match="after 250 rows.*connection lost"):
        nk.read(stream)


def test_list_of_paths(tmp_path, in_csv):
    paths = []
    for k, (start, end) in enumerate(pairwise((0, 120, 200, 250))):
        paths.append(tmp_path / f"{'cab'[k]}.csv")
        paths[-1].write_bytes(as_csv(ROWS[start:end]))
    stream = nk.read(paths)
    assert [row[-1] for row in bits_of(stream)] == [row[-1] for row in in_csv]
    assert stream.name == f"{paths[0]} and 2 other files"
    ledger = nk.play("logistic", list(map(str, paths)))
    assert ledger.mistakes == nk.play("logistic", io_table()).mistakes
    mixed_list = nk.read([paths[0], tmp_path / "[ab].csv"])
    assert [row[-1] for row in bits_of(mixed_list)] == [
        row[-1] for row in bits_of(nk.read([paths[k] for k in (0, 1, 2)]))
    ]
    assert nk.play("logistic", paths, label="vip", positive=True).rounds == 250
    with pytest.raises(SourceError, match="absent"):
        nk.read([paths[0], tmp_path / "absent.csv"])


def io_table():
    return nk.read(io.BytesIO(as_csv(ROWS)))
