from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels, Sparse
from novikoff.data.arrays import Arrays, SparseMatrix, is_frame
from novikoff.data.tables.table_formats import Frame

COLUMNS = {"a": [1.5, -2.0, 0.0], "label": ["ham", "spam", "ham"], "b": [1, 2, 3]}


def rows_of(stream, start=None):
    rows, first = [], start["row"] + 1 if start else 1
    for batch in stream.batches(start):
        assert batch.first == first
        first += len(batch)
        for x, y in batch.rows():
            rows.append(([part.tolist() for part in x] if isinstance(batch.x, Sparse) else x.tolist(), y))
    return rows


def frames(columns):
    """The columns as a frame of each library that is there."""
    yield pa.table(columns)
    for library in ("pandas", "polars"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        yield module.DataFrame(columns)


# frames


def test_a_frame_is_a_stream():
    for frame in frames(COLUMNS):
        stream = Frame(frame)
        assert stream.name == "frame"
        assert stream.labels == Labels("ham", "spam")
        assert stream.domain == Domain("vector", 2)
        assert stream.features == ("a", "b")
        assert stream.rereadable
        assert len(stream) == 3
        assert rows_of(stream) == rows_of(stream) == [([1.5, 1.0], -1), ([-2.0, 2.0], 1), ([0.0, 3.0], -1)]
        (batch,) = stream.batches()
        assert batch.x.flags.c_contiguous
        assert (batch.x.dtype, batch.y.dtype) == (np.float64, np.int8)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_other_libraries_are_streams(library):
    module = pytest.importorskip(library)
    stream = Frame(module.DataFrame(COLUMNS), positive="ham", columns=["b"])
    assert rows_of(stream) == [([1], 1), ([2], -1), ([3], 1)]
    gap = Frame(module.DataFrame({"a": [1.0, None], "y": [0, 1]}))
    assert rows_of(gap) == [([1.0, 0.0], -1), ([0.0, 1.0], 1)]


def test_integers_are_points_and_options_are_those_of_a_table():
    frame = pa.table({"a": [1, 2], "kind": [0, 1], "b": [3, 4], "y": [5, 6]})
    assert Frame(frame).domain == Domain("point", 3)
    assert rows_of(Frame(frame, label="kind", columns=["b", "a"])) == [([3, 1], -1), ([4, 2], 1)]
    assert rows_of(Frame(frame, label=1, positive=0)) == [([1, 3, 5], 1), ([2, 4, 6], -1)]
    assert rows_of(Frame(frame, label="kind", multiclass=5))[1] == ([2, 4, 6], 1)
    assert Frame(frame, label="kind", multiclass=5).labels is None


def test_a_frame_in_chunks_is_shown_in_batches_and_resumes_anywhere():
    part = pa.table({"a": np.arange(50_000.0), "y": np.arange(50_000) % 2})
    stream = Frame(pa.concat_tables([part, part, part]))
    batches = list(stream.batches())
    assert [len(batch) for batch in batches] == [65_536, 65_536, 18_928]
    assert np.concatenate([batch.x for batch in batches])[:, 0].tolist() == [*range(50_000)] * 3
    assert len(rows_of(stream, batches[0].end)) == 150_000 - 65_536


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": [1.0, np.inf], "y": [0, 1]}, 'numbers must be finite: row 2, column "a" of frame has inf'),
        ({"a": [1, 2, 3], "y": ["u", "v", "w"]}, 'row 3, column "y" of frame has a third value, "w"'),
    ],
)
def test_errors_in_a_frame_name_row_and_column(columns, said):
    with pytest.raises(SourceError) as caught:
        list(Frame(pa.table(columns)).batches())
    assert said in str(caught.value)


def test_invalid_frame_is_an_error():
    with pytest.raises(SourceError, match="a frame must be a data frame.*got list"):
        Frame([1, 2])


# sparse matrices


@pytest.mark.parametrize(
    "make", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.lil_matrix, sp.csr_array, sp.coo_array]
)
def test_a_sparse_matrix_is_a_stream(make):
    X = make(np.array([[0, 1.5, 0], [0, 0, 0], [2, 0, 3]]))
    stream = SparseMatrix(X, ["u", "v", "u"])
    assert stream.domain == Domain("vector", 3)
    assert stream.labels == Labels("u", "v")
    assert len(stream) == 3
    assert stream.rereadable
    assert rows_of(stream) == rows_of(stream) == [([[1], [1.5]], -1), ([[], []], 1), ([[0, 2], [2.0, 3.0]], -1)]
    (batch,) = stream.batches()
    assert (batch.x.indptr.dtype, batch.x.indices.dtype) == (np.uint64, np.uint32)
    assert batch.x.width == 3


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.int64, np.float64),
        (bool, np.float64),
        (np.uint8, np.float64),
    ],
)
def test_float32_stays_and_all_else_becomes_float64(dtype, kept):
    stream = SparseMatrix(sp.csr_array(np.eye(2, dtype=dtype)), [0, 1])
    (batch,) = stream.batches()
    assert batch.x.values.dtype == kept
    assert batch.x.values.tolist() == [1, 1]


def test_repeated_entries_are_added_up_and_the_matrix_is_left_unchanged():
    X = sp.csr_matrix((np.array([1.0, 2.0, 4.0, 0.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    stream = SparseMatrix(X, [0, 1])
    assert rows_of(stream) == [([[0, 2], [2.0, 5.0]], -1), ([[1], [0.0]], 1)]  # an explicit zero stays
    assert X.indices.tolist() == [2, 0, 2, 1]
    assert X.data.tolist() == [1.0, 2.0, 4.0, 0.0]


@given(st.lists(st.dictionaries(st.integers(0, 5), st.integers(-9, 9), max_size=4), min_size=2, max_size=8))
def test_a_sparse_matrix_has_the_rows_of_the_dense_one(rows):
    X = np.zeros((len(rows), 6))
    for t, row in enumerate(rows):
        for i, value in row.items():
            X[t, i] = value
    y = np.arange(len(rows)) % 2
    dense = rows_of(Arrays(X, y))
    for (pair, label), (whole, expected) in zip(rows_of(SparseMatrix(sp.csr_array(X), y)), dense, strict=True):
        spread = np.zeros(6)
        spread[pair[0]] = pair[1]
        assert spread.tolist() == whole
        assert label == expected


def test_a_long_matrix_is_shown_in_batches_and_resumes_anywhere():
    rows = 150_000
    X = sp.csr_matrix((np.ones(rows), np.arange(rows) % 7, np.arange(rows + 1)), shape=(rows, 7))
    stream = SparseMatrix(X, np.arange(rows) % 2)
    batches = list(stream.batches())
    assert [len(batch) for batch in batches] == [65_536, 65_536, 18_928]
    (rest,) = stream.batches(batches[1].end)
    assert rest.first == 131_073
    assert [row.tolist() for row, _ in rest.x.rows()] == [row.tolist() for row, _ in batches[2].x.rows()]
    assert rest.y.tolist() == batches[2].y.tolist()


def test_positive_and_many_are_those_of_arrays():
    X = sp.csr_matrix(np.eye(3))
    assert [y for _, y in rows_of(SparseMatrix(X, ["a", "b", "c"], positive="b"))] == [-1, 1, -1]
    assert SparseMatrix(X, [0, 2, 1], multiclass=3).labels is None


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (
            sp.csr_matrix([[1.0, 0.0], [0.0, np.nan]]),
            [0, 1],
            "X must be finite: row 2, feature 1 of sparse matrix is nan",
        ),
        (
            sp.csr_matrix([[1.0, 0.0], [np.inf, 0.0]]),
            [0, 1],
            "X must be finite: row 2, feature 0 of sparse matrix is inf",
        ),
        (sp.csr_matrix([[1j]]), [1], "X must be real numbers: got complex128"),
        (sp.csr_matrix([[2**60 + 1]]), [1], "whole numbers must be at most 2\\^53"),
        (sp.csr_matrix([[1.0]]), [0, 1], "X and y must have one length: got 1 and 2"),
        (sp.csr_matrix([[1.0]]), [[1]], "X must have two dimensions and y one"),
        (sp.csr_matrix((0, 3)), [], "a source must not be empty"),
        (sp.coo_array(([1.0], ([0], [2**32])), shape=(1, 2**32 + 1)), [1], "at most 2\\^32 columns"),
        (np.eye(2), [0, 1], "X must be a scipy.sparse matrix: got ndarray"),
    ],
)
def test_a_matrix_that_cannot_be_played_is_an_error(X, y, said):
    with pytest.raises(SourceError, match=said):
        SparseMatrix(X, y)


def test_sums_that_are_not_finite_and_broken_indices_are_errors():
    twice = sp.csr_matrix((np.array([1e308, 1e308]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    with pytest.raises(SourceError, match="row 1, feature 1 of sparse matrix is inf"):
        SparseMatrix(twice, [1])
    broken = sp.csr_matrix(np.eye(2))
    broken.indices[1] = 7
    with pytest.raises(SourceError, match="X must be a valid matrix"):
        SparseMatrix(broken, [0, 1])


# what is played


def test_frames_and_sparse_pairs_are_played_as_they_are():
    from novikoff.data.as_stream import as_stream
    from novikoff.linear.perceptron import Perceptron

    assert is_frame(pa.table(COLUMNS))
    assert isinstance(as_stream(pa.table(COLUMNS), Perceptron()), Frame)
    assert isinstance(as_stream((sp.csr_matrix(np.eye(2)), [0, 1]), Perceptron()), SparseMatrix)


def test_libraries_are_imported_only_when_needed():
    code = (
        "import sys; from novikoff.data import arrays; import numpy as np;"
        "arrays.is_sparse(np.eye(2)); arrays.is_frame([(1, 1)]);"
        "print({'narwhals', 'scipy', 'pyarrow', 'pandas', 'numba'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "set()"
