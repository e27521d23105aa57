"""Table columns as trees use them."""

import math

import numpy as np
import pyarrow as pa
import pytest

import novikoff as nk
from novikoff.core.errors import ModelFileError
from novikoff.core.feature_places import Features
from novikoff.data.tables.encoding import Encoding
from novikoff.trees.columns import MOST_COLUMNS, Columns, ColumnsError

CSV = """age,colour,day,label
1,red,2024-01-30,a
?,blue,2024-02-01,b
3,?,?,a
4,red,2024-02-02,b
5,green,2024-01-30,a
"""


def batches(tmp_path, text=CSV, **how):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    stream = nk.read(str(path), **how)
    return list(stream.batches()), stream.encoding


def test_columns_of_a_table_are_numbers_categories_and_parts_of_dates(tmp_path):
    (batch,), encoding = batches(tmp_path)
    columns = Columns()
    x = columns.learn(batch.x, encoding)
    assert columns.names == ["age", "colour", "day", "day: month", "day: weekday"]
    assert columns.kinds.tolist() == [0, 1, 0, 1, 1]
    gone = math.nan
    expected = [[1, 0, 0, 0, 0], [gone, 1, 2, 1, 1], [3, gone, gone, gone, gone], [4, 0, 3, 1, 2], [5, 2, 0, 0, 0]]
    np.testing.assert_array_equal(x, np.array(expected, dtype=np.float64))
    assert columns.categories[1] == ["red", "blue", "green"]
    assert columns.categories[3] == ["Jan", "Feb"]


def test_single_rows_give_the_same_columns_as_a_batch(tmp_path):
    (batch,), encoding = batches(tmp_path)
    whole, single = Columns(), Columns()
    x = whole.learn(batch.x, encoding)
    rows = [single.learn_one(row, encoding) for row, _ in batch.rows()]
    for t, row in enumerate(rows):  # columns that a row was the first to have are absent from those before it
        np.testing.assert_array_equal(np.append(row[0], whole.absent[row.shape[1] :]), x[t])
    assert single.state()["names"] == whole.state()["names"]
    np.testing.assert_array_equal(single.column_of, whole.column_of)
    np.testing.assert_array_equal(single.code_of, whole.code_of)


def test_an_unseen_category_is_marked_and_gets_no_number_in_a_prediction(tmp_path):
    (batch,), encoding = batches(tmp_path)
    columns = Columns()
    columns.learn(batch.x, encoding)
    before = columns.state()
    arrays = {"age": pa.array([7.0]), "colour": pa.array(["pink"]), "day": pa.array(["2024-01-30"])}
    row = columns.rows(encoding.rows(arrays, 1, learn=False))
    assert row.tolist() == [[7.0, -1.0, 0.0, 0.0, 0.0]]
    assert all(np.array_equal(before[name], columns.state()[name]) for name in ("column_of", "code_of", "names"))


def test_a_missing_number_of_a_dense_table_is_undone(tmp_path):
    (batch,), encoding = batches(tmp_path, "a,b,label\n1,2,x\n3,?,y\n?,6,x\n")
    assert isinstance(batch.x, np.ndarray)
    assert encoding.dense
    x = Columns().learn(batch.x, encoding)
    np.testing.assert_array_equal(x, [[1, 2], [3, math.nan], [math.nan, 6]])


def test_features_without_a_table_are_columns_of_numbers():
    features, columns = Features(), Columns()
    first = columns.learn_one(features.row({"b": 2.0, "a": 1.0}, learn=True), None)
    second = columns.learn_one(features.row({"a": 3.0, "c": 4.0}, learn=True), None)
    assert first.tolist() == [[2.0, 1.0]]
    assert second.tolist() == [[0.0, 3.0, 4.0]]
    assert columns.row(features.row({"d": 9.0}, learn=False)).tolist() == [[0.0, 0.0, 0.0]]
    assert columns.name(2, list(features.names)) == "c"
    assert columns.name(1) == "x1"


def test_too_many_columns_are_refused_and_change_nothing():
    columns = Columns()
    columns.learn(np.ones((1, 3)), None)
    with pytest.raises(ColumnsError, match="at most 256 columns: got 257"):
        columns.learn(np.ones((1, MOST_COLUMNS + 1)), None)
    assert columns.count == 3


def test_hashed_features_are_refused(tmp_path):
    (batch,), encoding = batches(tmp_path, bits=10)
    with pytest.raises(ColumnsError, match="hashed"):
        Columns().learn(batch.x, encoding)


def test_restored_columns_continue_their_numbering(tmp_path):
    (batch,), encoding = batches(tmp_path)
    columns = Columns()
    columns.learn(batch.x[:2], encoding)
    other = Columns.restore(columns.state())
    np.testing.assert_array_equal(other.learn(batch.x, encoding), columns.learn(batch.x, encoding))
    assert other.categories == columns.categories


@pytest.mark.parametrize(
    ("name", "value"), [("column_of", 9), ("code_of", 7), ("code_of", -3), ("kinds", 0), ("names", [])]
)
def test_damaged_columns_are_refused(tmp_path, name, value):
    (batch,), encoding = batches(tmp_path)
    columns = Columns()
    columns.learn(batch.x, encoding)
    state = columns.state()
    state[name] = value if name == "names" else np.full_like(state[name], value)
    with pytest.raises(ModelFileError):
        Columns.restore(state)


def test_names_that_look_like_features_keep_their_own_columns(tmp_path):
    text = "a,a=x,a: month,label\nx,1,p,1\ny,2,q,0\n"
    (batch,), encoding = batches(tmp_path, text)
    columns = Columns()
    x = columns.learn(batch.x, encoding)
    assert sorted(columns.names) == ["a", "a: month", "a=x"]
    assert x[:, columns.names.index("a=x")].tolist() == [1.0, 2.0]
    assert [one.kind for one in Encoding.restore(encoding.state()).meanings()].count("number") == 1
