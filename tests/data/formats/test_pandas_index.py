"""The index of a pandas frame numbers rows: wherever it comes from, it is neither a feature nor the label."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import novikoff as nk
from novikoff.core.errors import SourceError
from novikoff.data.tables.read_experts import read_experts
from novikoff.data.tables.table_formats import Frame
from novikoff.data.unlabelled import unlabelled


def target_frame(frame, label=None, **options):
    return Frame(frame, label, outcomes="numbers", **options)


def target_table(source, label=None, **options):
    return nk.read(source, label=label, outcomes="numbers", **options)


ROWS = 400


def columns(rows=ROWS):
    x = np.random.default_rng(7).normal(size=(rows, 2))
    return {"a": x[:, 0], "b": x[:, 1], "out": np.where(x @ [1.0, 2.0] >= 0, 1, -1)}


def with_index(table, index, where="last"):
    """The table as pyarrow writes a pandas frame with that index: among the columns, named in the metadata."""
    meta = {b"pandas": json.dumps({"index_columns": list(index), "columns": []}).encode()}
    both = {**table, **index} if where == "last" else {**index, **table}
    return pa.table(both).replace_schema_metadata(meta)


def shuffled(rows=ROWS):
    return np.random.default_rng(1).permutation(rows)


INDICES = {
    "without a name": {"__index_level_0__": shuffled()},
    "with a name": {"customer": shuffled()},
    "of two levels": {"year": shuffled(), "__index_level_1__": shuffled()},
    "of text": {"name": [f"row {i}" for i in range(ROWS)]},
}


@pytest.fixture(params=INDICES, ids=lambda name: name.replace(" ", "-"))
def index(request):
    return INDICES[request.param]


@pytest.fixture(params=["last", "first"])
def indexed(request, index):
    return with_index(columns(), index, request.param)


@pytest.fixture(params=["arrow", "parquet"])
def written(request, tmp_path):
    """What writes a table to a file."""

    def write(table, name="table"):
        path = tmp_path / f"{name}.{request.param}"
        if request.param == "arrow":
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
        else:
            pq.write_table(table, path, row_group_size=150)
        return str(path)

    return write


def rows(stream):
    return np.concatenate([batch.x for batch in stream.batches()])


def played(source):
    ledger = nk.play(nk.Perceptron(), source)
    return ledger.mistakes, ledger.learner.weights.tolist()


def test_a_frame_is_played_without_its_index(indexed):
    stream = nk.Frame(indexed)
    assert (stream.features, stream.domain.width) == (("a", "b"), 2)
    assert stream.labels == nk.Labels(-1, 1)  # of `out`, the last column that is one
    assert played(indexed) == played(pa.table(columns()))


def test_a_file_is_played_without_its_index(indexed, written):
    stream = nk.read(written(indexed))
    assert (stream.features, len(stream)) == (("a", "b"), ROWS)
    assert any("index of" in note and "is ignored" in note for note in stream.notes)
    assert played(stream) == played(pa.table(columns()))


def test_an_index_that_lost_its_metadata_is_known_by_its_name(written):
    lost = with_index(columns(), INDICES["without a name"]).replace_schema_metadata(None)
    assert nk.Frame(lost).features == nk.read(written(lost)).features == ("a", "b")


def test_a_range_that_pandas_did_not_write_out_takes_no_column():
    kept = {"kind": "range", "name": None, "start": 0, "stop": ROWS, "step": 1}
    meta = {b"pandas": json.dumps({"index_columns": [kept], "columns": []}).encode()}
    assert nk.Frame(pa.table(columns()).replace_schema_metadata(meta)).features == ("a", "b")


@pytest.mark.parametrize("told", [b"{", b"[]", b"null", b'{"index_columns": 3}', b'{"index_columns": null}'])
def test_metadata_that_are_not_of_pandas_name_no_index(told):
    assert nk.Frame(pa.table(columns()).replace_schema_metadata({b"pandas": told})).features == ("a", "b")


def test_numbers_to_be_predicted_are_not_predicted_from_the_index(indexed, written):
    plain = target_frame(pa.table(columns()))
    for stream in (target_frame(indexed), target_table(written(indexed))):
        assert stream.features == ("a", "b")
        assert np.array_equal(rows(stream), rows(plain))


def test_the_index_is_no_expert(indexed, written):
    table = read_experts(written(indexed), loss="squared")
    assert table.experts == ("a", "b")
    assert sum(len(batch) for batch in table.batches()) == table.count() == ROWS
    assert read_experts(written(indexed), loss="table").experts == ("a", "b", "out")
    name = next(name for name in indexed.column_names if name not in columns())
    assert read_experts(written(indexed), loss="squared", without=[name]).experts == ("a", "b")


def test_examples_without_labels_have_no_index(indexed, written):
    stream = unlabelled(written(indexed.drop_columns(["out"])))
    assert (stream.features, stream.domain.width) == (("a", "b"), 2)


def test_columns_are_numbered_without_the_index(written):
    first = with_index(columns(), {"customer": shuffled()}, "first")
    for stream in (nk.Frame(first, label=-1, columns=[0]), nk.read(written(first), label=-1, columns=[0])):
        assert (stream.features, stream.labels) == (("a",), nk.Labels(-1, 1))


@pytest.mark.parametrize("asked", [{"label": "customer"}, {"columns": ["customer"]}, {"columns": "customer"}])
def test_an_index_that_is_requested_is_an_error_that_suggests_a_fix(written, asked):
    table = with_index(columns(), {"customer": shuffled()})
    said = r'"customer" is the index, not a column, of .*reset_index'
    with pytest.raises(SourceError, match=said):
        nk.Frame(table, **asked)
    with pytest.raises(SourceError, match=said):
        nk.read(written(table), **asked)


def test_an_index_that_is_called_as_a_label_is_not_passed_over_in_silence(written):
    table = with_index(columns(), {"Y": np.arange(ROWS) % 2})
    with pytest.raises(SourceError, match='"Y" is the index, not a column'):
        nk.play(nk.Perceptron(), table)
    with pytest.raises(SourceError, match='"Y" is the index, not a column'):
        nk.read(written(table))
    with pytest.raises(SourceError, match='"Y" is the index, not a column'):
        read_experts(written(table))
    assert nk.Frame(table, label="out").features == ("a", "b")
    labelled = with_index({**columns(), "label": np.arange(ROWS) % 2}, {"y": np.arange(ROWS)})
    assert nk.Frame(labelled).features == ("a", "b", "out")


def test_names_that_are_there_twice_do_not_bring_the_index_back(tmp_path):
    arrays = [pa.array([1.0, 2.0]), pa.array([3.0, 4.0]), pa.array([9, 8]), pa.array([0, 1])]
    meta = {b"pandas": json.dumps({"index_columns": ["i"], "columns": []}).encode()}
    fields = [(name, array.type) for name, array in zip("aaiy", arrays, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, meta))
    pq.write_table(table, tmp_path / "twice.parquet")
    (batch,) = nk.read(tmp_path / "twice.parquet").batches()
    assert batch.x.tolist() == [[1.0, 3.0], [2.0, 4.0]]


# what pandas itself makes


@pytest.mark.parametrize("rename", [None, "customer", "a"])
def test_shuffled_pandas_frame_ignores_its_index(tmp_path, rename):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(columns()).sample(frac=1, random_state=1).rename_axis(rename)
    plain = played(frame.reset_index(drop=True))
    assert nk.Frame(frame).domain.width == 2
    assert played(frame) == plain
    frame.to_parquet(tmp_path / "frame.parquet")
    assert played(nk.read(tmp_path / "frame.parquet")) == plain
    levels = frame.set_index([frame.index, frame.index + 1])
    levels.index.names = [rename, None]
    assert played(levels) == plain
    frame.rename_axis(None).to_csv(tmp_path / "frame.csv")
    assert played(nk.read(tmp_path / "frame.csv")) == plain


# text


@pytest.mark.parametrize("front", ["", ",", ",,"])
def test_columns_without_a_name_before_all_others_are_an_index(tmp_path, front):
    path = tmp_path / "table.csv"
    cells = "".join(f"{i}," for i in range(len(front)))
    path.write_text(f"{front}a,b,out\n{cells}1.5,2,0\n{cells}2.5,3,1\n")
    stream = nk.read(path)
    assert (stream.features, stream.labels) == (("a", "b"), nk.Labels(0, 1))
    assert [batch.x.tolist() for batch in stream.batches()] == [[[1.5, 2.0], [2.5, 3.0]]]
    assert any("like the index that pandas and R write" in note for note in stream.notes) == bool(front)
    assert read_experts(path, loss="squared").experts == ("a", "b")
    assert target_table(path).domain.width == 2
    assert unlabelled(path).domain.width == 3
    assert nk.read(path, columns=["a", "b"]).labels == nk.Labels(0, 1)


def test_the_names_of_rows_as_R_writes_them_are_no_feature(tmp_path):
    path = tmp_path / "cars.csv"
    path.write_text('"","mpg","cyl","am"\n"Mazda RX4",21,6,1\n"Datsun 710",22.8,4,0\n')
    assert nk.read(path).features == ("mpg", "cyl")


def test_a_column_without_a_name_can_be_requested_by_its_number(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(",a,out\n5,1,0\n6,2,1\n")
    stream = nk.read(path, columns=[0, "a"])
    assert [batch.x.tolist() for batch in stream.batches()] == [[[5, 1], [6, 2]]]
    assert not any("index" in note for note in stream.notes)


def test_a_column_without_a_name_among_others_is_a_feature(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,,out\n5,1,0\n6,2,1\n")
    assert nk.read(path).domain.width == 2
