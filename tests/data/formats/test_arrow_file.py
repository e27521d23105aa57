from __future__ import annotations

import decimal
import gc
import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samples
from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels, Sparse
from novikoff.data.formats.arrow_lists import first_repeat
from novikoff.data.tables.table_formats import Arrow

TABLE = pa.table({"a": samples.X[:, 0], "b": samples.X[:, 1] / 4, "y": samples.Y})


def arrow():
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=16)
    return sink.getvalue()


def parquet():
    sink = io.BytesIO()
    pq.write_table(TABLE, sink, row_group_size=16)
    return sink.getvalue()


FILES = {"arrow": (arrow(), {}), "parquet": (parquet(), {})}
"""Sample for tests/data/test_every_stream.py."""

KINDS = ["arrow", "feather", "parquet"]


@pytest.fixture(params=KINDS)
def write(request, tmp_path):
    return lambda table, name="rows", rows=2: write_as(request.param, table, tmp_path / f"{name}.{request.param}", rows)


def write_as(kind, table, path, rows=2):
    """Some rows to a record batch or row group."""
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=rows)
    elif kind == "feather":
        pyarrow.feather.write_feather(table, str(path), compression="lz4", chunksize=rows)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
    return path


def lists(rows, kind):
    return pa.array(rows, type=kind)


def sparse_table(indices, values, labels, index=None, value=None):
    return pa.table(
        {
            "label": labels,
            "indices": lists(indices, index or pa.large_list(pa.uint32())),
            "values": lists(values, value or pa.large_list(pa.float64())),
        }
    )


def rows_of(stream, start=None):
    rows, first = [], start["row"] + 1 if start else 1
    for batch in stream.batches(start):
        assert batch.first == first
        first += len(batch)
        for x, y in batch.rows():
            rows.append(([part.tolist() for part in x] if isinstance(batch.x, Sparse) else x.tolist(), y))
    return rows


def fails(said, path, **options):
    """Opening or reading must fail, and the message must name the file."""
    with pytest.raises(SourceError) as caught:
        rows_of(Arrow(path, **options))
    message = str(caught.value)
    assert said in message.replace(str(path), "FILE")
    assert str(path) in message


# columns


def test_columns_of_numbers_and_a_label_are_a_stream(write):
    table = pa.table({"a": [1.5, -2.0, 0.0], "label": ["ham", "spam", "ham"], "b": pa.array([1, 2, 3], pa.int8())})
    stream = Arrow(write(table))
    assert stream.labels == Labels("ham", "spam")
    assert stream.domain == Domain("vector", 2)
    assert stream.features == ("a", "b")
    assert stream.rereadable
    assert len(stream) == stream.rows == 3
    batch, _ = stream.batches()
    assert batch.x.dtype == np.float64
    assert batch.x.flags.c_contiguous
    assert batch.y.dtype == np.int8
    assert rows_of(stream) == rows_of(stream) == [([1.5, 1.0], -1), ([-2.0, 2.0], 1), ([0.0, 3.0], -1)]


def test_integers_are_points(write):
    table = pa.table({"a": [2**63 - 1, -(2**63)], "b": [True, False], "c": pa.array([1, 2], pa.uint8()), "y": [0, 1]})
    stream = Arrow(write(table))
    assert stream.domain == Domain("point", 3)
    assert rows_of(stream) == [([2**63 - 1, 1, 1], -1), ([-(2**63), 0, 2], 1)]


def test_decimals_and_categories_of_numbers_are_numbers(write):
    cents = pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50")], pa.decimal128(6, 2))
    table = pa.table({"price": cents, "size": pa.array([3.5, 4.5]).dictionary_encode(), "y": [0, 1]})
    assert rows_of(Arrow(write(table))) == [([1.25, 3.5], -1), ([2.5, 4.5], 1)]


def test_the_label_and_the_columns_can_be_chosen(write):
    path = write(pa.table({"a": [1, 2], "t": ["x", "y"], "b": [3, 4], "target": [0, 1]}))
    assert Arrow(path, columns=["b"]).features == ("b",)
    stream = Arrow(path, label="t", columns=["b", "a"])
    assert stream.labels == Labels("x", "y")
    assert rows_of(stream) == [([3, 1], -1), ([4, 2], 1)]
    assert rows_of(Arrow(path, label=-3, columns=[0])) == [([1], -1), ([2], 1)]
    fails("the label column must be one of a, t, b, target", path, label="nothing")


@pytest.mark.parametrize(
    ("labels", "options", "told", "y"),
    [
        (["b", "a", "b"], {}, Labels("a", "b"), [1, -1, 1]),
        ([2, 1, 2], {}, Labels(1, 2), [1, -1, 1]),
        ([2.0, 1.0, 2.0], {}, Labels(1, 2), [1, -1, 1]),
        ([True, False, True], {}, Labels(False, True), [1, -1, 1]),
        (pa.array(["b", "a", "b"]).dictionary_encode(), {}, Labels("a", "b"), [1, -1, 1]),
        (["a", "b", "c"], {"positive": "b"}, Labels('not "b"', "b"), [-1, 1, -1]),
        ([1, 2, 3], {"positive": "3"}, Labels("not 3", 3), [-1, -1, 1]),
        ([0, 2, 1], {"multiclass": 3}, None, [0, 2, 1]),
        ([1, 1, 1], {}, Labels(-1, 1), [1, 1, 1]),
    ],
)
def test_labels_are_those_of_a_csv_file(write, labels, options, told, y):
    stream = Arrow(write(pa.table({"x": [1.0, 2.0, 3.0], "label": labels})), **options)
    assert [label for _, label in rows_of(stream)] == y
    assert stream.labels == told
    assert next(stream.batches()).y.dtype == (np.int32 if "multiclass" in options else np.int8)


def test_a_large_table_is_shown_in_pieces(tmp_path):
    table = pa.table({"a": np.arange(150_000.0), "y": np.arange(150_000) % 2})
    for kind in KINDS:
        path = write_as(kind, table, tmp_path / f"large.{kind}", rows=150_000)
        batches = list(Arrow(path).batches())
        assert [len(batch) for batch in batches] == [65_536, 65_536, 18_928]
        assert np.concatenate([batch.x for batch in batches])[:, 0].tolist() == table["a"].to_pylist()


# lists


@pytest.mark.parametrize("index", [pa.large_list(pa.uint32()), pa.list_(pa.uint32()), pa.list_(pa.int64())])
@pytest.mark.parametrize("value", [pa.large_list(pa.float64()), pa.list_(pa.float32()), pa.list_(pa.float16())])
def test_lists_of_indices_and_values_are_sparse_rows(write, index, value):
    values = [np.array(row, value.value_type.to_pandas_dtype()) for row in ([0.5, -2.0], [], [1.5], [3.0, 0.0, 7.0])]
    table = sparse_table([[7, 2], [], [0], [1, 9, 4]], values, [1, 0, 0, 1], index, value)
    stream = Arrow(write(table))
    assert stream.domain == Domain("vector", None)
    assert stream.labels == Labels(0, 1)
    batch, last = stream.batches()
    assert (batch.x.width, last.x.width) == (8, 10)
    assert batch.x.indices.dtype == np.uint32
    assert batch.x.indptr.dtype == np.uint64
    assert batch.x.values.dtype == (np.float32 if value.value_type == pa.float32() else np.float64)
    expected = [([[7, 2], [0.5, -2.0]], 1), ([[], []], -1), ([[0], [1.5]], -1), ([[1, 9, 4], [3.0, 0.0, 7.0]], 1)]
    assert rows_of(stream) == expected


def test_uint32_and_float_lists_of_a_mapped_file_are_not_copied(tmp_path):
    path = write_as("arrow", sparse_table([[1, 2], [3]], [[1.0, 2.0], [3.0]], [0, 1]), tmp_path / "a.arrow")
    before = pa.total_allocated_bytes()
    (batch,) = Arrow(path).batches()
    assert pa.total_allocated_bytes() == before
    for part in (batch.x.indptr, batch.x.indices, batch.x.values):
        assert not part.flags.writeable
        assert not part.flags.owndata


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64(), pa.uint8()])
def test_lists_of_one_length_are_dense_rows(write, kind):
    table = pa.table({"x": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(kind, 2)), "y": ["u", "v", "u"]})
    stream = Arrow(write(table))
    assert stream.domain == Domain("point" if pa.types.is_integer(kind) else "vector", 2)
    assert rows_of(stream) == [([1, 2], -1), ([3, 4], 1), ([5, 6], -1)]


def test_the_width_so_far_resumes_with_the_position(write):
    path = write(sparse_table([[9], [1], [2], [30]], [[1.0]] * 4, [0, 1, 0, 1]), rows=1)
    widths = [batch.x.width for batch in Arrow(path).batches()]
    assert widths == [10, 10, 10, 31]
    end = next(batch.end for batch in Arrow(path).batches())
    assert [batch.x.width for batch in Arrow(path).batches(end)] == widths[1:]


@given(st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=8))
def test_the_first_repeated_index_is_found(rows):
    ends = np.cumsum([0, *map(len, rows)]).astype(np.uint64)
    indices = np.array([index for row in rows for index in row], dtype=np.uint32)
    slow = [number for number, row in enumerate(rows) if len(set(row)) < len(row)]
    assert first_repeat(ends, indices) == (slow[0] if slow else None)


# positions


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_a_pass_resumes_from_any_row(write, rows):
    table = sparse_table([[i, i + 1] for i in range(10)], [[1.0, i] for i in range(10)], [i % 2 for i in range(10)])
    stream = Arrow(write(table, rows=rows))
    all_rows = rows_of(stream)
    for batch in stream.batches():
        end = json.loads(json.dumps(batch.end))
        assert rows_of(stream, end) == all_rows[end["row"] :]
    assert rows_of(stream, {"row": 5, "width": 7}) == all_rows[5:]


def test_a_file_object_is_copied_for_as_long_as_it_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = write_as("arrow", pa.table({"a": [1, 2], "y": [0, 1]}), tmp_path / "a.arrow")
    stream = Arrow(io.BytesIO(path.read_bytes()))
    assert rows_of(stream) == rows_of(stream) == [([1], -1), ([2], 1)]
    assert "copied to a temporary file" in stream.notes[0]
    (copy,) = tmp_path.glob("novikoff-*")
    del stream
    gc.collect()
    assert not copy.exists()


# errors


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([[1], [2], [3]], 'columns must have plain values: column "a" of FILE'),
        ([float("-inf"), 2.0, 3.0], 'numbers must be finite: row 1, column "a" of FILE has -inf'),
        (pa.array([1, 2, 2**63], pa.uint64()), 'below 2^63: row 3, column "a" of FILE'),
    ],
)
def test_a_column_that_is_not_of_numbers_is_an_error_that_names_column_and_row(write, column, said):
    fails(said, write(pa.table({"a": column, "y": [0, 1, 0]})))


@pytest.mark.parametrize(
    ("labels", "said", "options"),
    [
        (["a", "b", "c"], 'labels must take two values: row 3, column "y" of FILE has a third value, "c"', {}),
        (["a", "a", "a"], 'labels must take two values: up to row 2, column "y" of FILE there is only "a"', {}),
        ([0, 1, 3], 'labels must be integers from 0 to 2: row 3, column "y" of FILE', {"multiclass": 3}),
    ],
)
def test_an_invalid_label_is_an_error_that_names_its_row(write, labels, said, options):
    fails(said, write(pa.table({"a": [1, 2, 3], "y": labels})), **options)


@pytest.mark.parametrize(
    ("indices", "values", "said"),
    [
        ([[1], [2], [5, 3, 5]], [[1.0], [1.0], [1.0, 1.0, 1.0]], "an index must occur once in a row: row 3 of FILE"),
        ([[1], [2], [3]], [[1.0], [1.0, 2.0], [1.0]], "as many indices as values: row 2 of FILE"),
        ([[1], [2], [3, 4]], [[1.0], [], [1.0, float("nan")]], "as many indices as values: row 2 of FILE"),
        ([[1], [2], [3, 4]], [[1.0], [2.0], [1.0, float("nan")]], "values must be finite: row 3 of FILE has nan"),
        ([[1], [], [3, 4]], [[1.0], [], [float("inf"), 1.0]], "values must be finite: row 3 of FILE has inf"),
        ([[1], None, [3]], [[1.0], [2.0], [3.0]], "indices must not be missing: row 2 of FILE"),
        ([[1], [2], [3]], [[1.0], [2.0], None], "values must not be missing: row 3 of FILE"),
        ([[1], [2], [3, None]], [[1.0], [2.0], [3.0, 4.0]], "indices must not have a missing number: row 3 of FILE"),
        ([[1], [2], [3, 4]], [[1.0], [2.0], [3.0, None]], "values must not have a missing number: row 3 of FILE"),
    ],
)
@pytest.mark.parametrize("rows", [1, 3])
def test_a_sparse_row_that_is_not_one_is_an_error_that_names_it(write, indices, values, said, rows):
    fails(said, write(sparse_table(indices, values, [0, 1, 0]), rows=rows))


def test_large_values_are_finite_even_if_their_sum_is_not(write):
    table = sparse_table([[1, 2], [3, 4]], [[1.5e308, 1.5e308], [-1.5e308, 1e-320]], [0, 1])
    assert rows_of(Arrow(write(table))) == [([[1, 2], [1.5e308, 1.5e308]], -1), ([[3, 4], [-1.5e308, 1e-320]], 1)]
    both = sparse_table([[1, 2], [3]], [[float("inf"), float("-inf")], [1.0]], [0, 1])
    fails("values must be finite: row 1 of FILE has inf", write(both))


def test_an_index_beyond_uint32_or_below_0_is_an_error(write):
    for index in (-1, 2**32 - 1, 2**40):
        table = sparse_table([[1], [2, index]], [[1.0], [1.0, 1.0]], [0, 1], pa.list_(pa.int64()))
        fails(f"an index must be from 0 to 4294967294: row 2 of FILE has {index}", write(table))


def test_lists_of_the_wrong_type_are_errors(write):
    fails("indices must be lists of integers", write(sparse_table([[1.0]], [[1.0]], [1], pa.list_(pa.float64()))))
    fails("x must be lists of numbers", write(pa.table({"x": pa.array([["a"]], pa.list_(pa.string(), 1)), "y": [1]})))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (None, "x must not be missing: row 2 of FILE"),
        ([1.0, None], "x must not have a missing number: row 2 of FILE"),
        ([1.0, float("nan")], "x must be finite: row 2, feature 1 of FILE is nan"),
    ],
)
def test_a_dense_row_that_is_not_one_is_an_error_that_names_it(tmp_path, row, said):
    table = pa.table({"x": pa.array([[1.0, 2.0], row], pa.list_(pa.float64(), 2)), "y": [0, 1]})
    for kind in ("arrow", "feather"):  # Parquet does not keep the length of a missing list
        fails(said, write_as(kind, table, tmp_path / f"x.{kind}"))


def test_an_empty_file_a_label_alone_and_a_missing_file_are_errors(write, tmp_path):
    fails("a source must not be empty", write(pa.table({"a": pa.array([], pa.int64()), "y": pa.array([], pa.int64())})))
    fails("a table must have a label and a feature", write(pa.table({"y": [0, 1]}), "label"))
    fails("file not found: FILE", tmp_path / "nothing.arrow")


def test_a_file_that_is_packed_or_of_another_format_is_an_error(tmp_path):
    path = write_as("arrow", pa.table({"a": [1, 2], "y": [0, 1]}), tmp_path / "a.arrow")
    packed, other = tmp_path / "a.arrow.gz", tmp_path / "a.csv"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    other.write_bytes(b"1,2\n")
    fails("must not be compressed as a whole: FILE", packed)
    fails("must begin with ARROW1", other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_a_novikoff_error_or_is_read(tmp_path, kind):
    table = sparse_table([[7, 2], [], [0], [1, 9, 4]], [[0.5, -2.0], [], [1.5], [3.0, 0.0, 7.0]], [1, 0, 0, 1])
    whole = write_as(kind, table, tmp_path / f"whole.{kind}").read_bytes()
    path = tmp_path / f"damaged.{kind}"
    for cut in range(8, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:cut])
        fails("FILE", path)
    random, caught = np.random.default_rng(0), 0
    for _ in range(150):
        damaged = bytearray(whole)
        for at in random.integers(8, len(whole), size=3):
            damaged[at] = random.integers(256)
        path.write_bytes(damaged)
        try:
            for batch in Arrow(path).batches():
                assert int(batch.x.indptr[-1]) == len(batch.x.indices) == len(batch.x.values)
                assert np.all(np.diff(batch.x.indptr.astype(np.int64)) >= 0)
                assert int(batch.x.indices.max(initial=0)) < max(batch.x.width, 1)
                assert np.isfinite(batch.x.values).all()
        except SourceError:
            caught += 1
    assert caught
