"""Tables of predictions in every format: the numbers Python reads, the places of what is wrong, one pass."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novikoff.core.errors import SourceError
from novikoff.core.types import Domain
from novikoff.data.tables.expert_cells import FIRST_TEXT
from novikoff.data.tables.read_experts import read_experts

FRESH = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def all_of(stream, start=None):
    batches = list(stream.batches(start))
    rows = [len(batch) for batch in batches]
    assert [batch.first for batch in batches] == (batches[0].first + np.cumsum([0, *rows])[:-1]).tolist()
    if stream.domain.kind == "losses":
        assert all(batch.x is None for batch in batches)
        return np.concatenate([batch.y for batch in batches]), None
    assert all(batch.x.flags.c_contiguous and batch.x.dtype == batch.y.dtype == np.float64 for batch in batches)
    return np.concatenate([batch.x for batch in batches]), np.concatenate([batch.y for batch in batches])


def fails(said, path, **options):
    """Reading must fail with our error, which names the file and says this."""
    with pytest.raises(SourceError) as caught:
        all_of(read_experts(path, **options))
    message = str(caught.value)
    assert str(path) in message
    assert said in message.replace(str(path), "FILE"), message
    return message


# columns


def test_the_outcome_is_the_column_called_so_and_the_others_are_experts(write):
    stream = read_experts(write("anna,outcome,ben\n0.25,1,.5\n0.75,0,1e-3\n"))
    x, y = all_of(stream)
    assert stream.experts == ("anna", "ben")
    assert stream.domain == Domain("advice", 2)
    assert x.tolist() == [[0.25, 0.5], [0.75, 0.001]]
    assert y.tolist() == [1.0, 0.0]
    assert stream.labels is None
    assert stream.rereadable


def test_without_a_name_the_outcome_is_the_last_column(write):
    stream = read_experts(write("0.25,0.5,1\n0.75,0.5,0\n"))
    assert stream.experts == ("e0", "e1")
    assert all_of(stream)[1].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("outcome", ["rain", 1, "1", -2])
def test_the_outcome_is_requested_by_name_or_number(write, outcome):
    stream = read_experts(write("a;rain;b\n0.25;1;0.5\n"), outcome=outcome)
    assert stream.experts == ("a", "b")
    assert all_of(stream)[1].tolist() == [1.0]


def test_columns_can_be_left_out_even_of_text(write):
    stream = read_experts(write("day,a,note,b,y\nmon,0.25,?,0.5,1\ntue,0.125,wet,1,0\n"), without=["day", "note"])
    x, y = all_of(stream)
    assert stream.loss == "squared"
    assert stream.experts == ("a", "b")
    assert x.tolist() == [[0.25, 0.5], [0.125, 1.0]]
    assert y.tolist() == [1.0, 0.0]


def test_experts_of_one_name_are_distinguished(write):
    assert read_experts(write("m,m,y\n0.5,0.5,1\n")).experts == ("m (column 0)", "m (column 1)")


def test_missing_column_error_lists_available_columns(write):
    path = write("a,b,y\n0.5,0.5,1\n")
    fails("the outcome must be one of a, b, y: 'rain' is not a column", path, outcome="rain")
    fails("a column to leave out must be one of a, b, y: 7 is not a column", path, without=[7])
    fails("a table must have an outcome and an expert", path, without=["a", "b"])


def test_a_table_of_losses_has_no_outcome(write):
    stream = read_experts(write("a,b,y\n0.5,0.25,1\n0,1,0\n"), loss="table")
    losses, _ = all_of(stream)
    assert stream.domain == Domain("losses", 3)
    assert stream.experts == ("a", "b", "y")
    assert losses.tolist() == [[0.5, 0.25, 1.0], [0.0, 1.0, 0.0]]
    with pytest.raises(SourceError, match="a table of losses must have no outcome"):
        read_experts(write("a,b\n0,1\n"), outcome="a", loss="table")


# the loss


@pytest.mark.parametrize(
    ("content", "loss"),
    [
        ("a,b,y\n0.5,1,1\n", "squared"),
        ("a,b,y\n0,1,1\n1,1,0\n", "zero-one"),
        ("a,b,y\ncat,dog,cat\ndog,dog,cat\n", "zero-one"),
        ('{"a": 0.5, "y": 1}\n', "squared"),
        ('{"a": "cat", "y": "dog"}\n', "zero-one"),
    ],
)
def test_the_loss_is_guessed_by_the_first_rows_and_reported(write, content, loss):
    stream = read_experts(write(content))
    assert stream.loss == loss
    assert any(note.startswith(f"loss: {loss} (") for note in stream.notes)
    asked = read_experts(write(content), loss="zero-one")
    assert not any("loss:" in note for note in asked.notes)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("a,b,y\n50,60,55\n", "the numbers 50, 55, 60, which may be labels or amounts"),
        ("a,b,y\n1,2,3\n4,5,1\n", "the numbers 1, 2, 3 …, which may be labels or amounts"),
        ("a,b,y\n0.5,1.5,1\n", "the numbers 0.5, 1, 1.5, which may be labels or amounts"),
        ("a,b,y\n-0.5,1,1\n", "the numbers -0.5, 1, which may be labels or amounts"),
        ("a,b,y\n1,1,1\n1,1,1\n", "only the value 1"),
        ("a,b,y\n1,0,yes\n0,0,no\n", 'text as outcomes, such as "yes", and numbers in column "a"'),
        ("a,b,y\n0.7,no,yes\n0.3,yes,no\n", 'text as outcomes, such as "yes", and numbers in column "a"'),
        ("a,b,y\n1,yes,1\n0,no,0\n", 'numbers as outcomes, and text in column "b", such as "yes"'),
        ('{"a": 50, "y": 55}\n', "the numbers 50, 55"),
    ],
)
def test_a_loss_is_requested_where_the_first_rows_leave_a_choice(write, content, what):
    message = fails(f"the first rows of FILE have {what}", write(content))
    assert message.startswith("the loss is ambiguous and must be named")
    assert all(loss in message for loss in ("loss=", "zero-one", "absolute", "squared", "log", "table"))
    assert read_experts(write(content), loss="zero-one").loss == "zero-one"


@pytest.mark.parametrize("name", ["table.csv", "table.jsonl", "table.parquet"])
def test_third_value_is_refused_after_two_chose_the_loss(tmp_path, name):
    """The first 50 rows do not speak for those that come later."""
    columns = {"a": [0, 1] * 40, "b": [1, 1] * 40, "y": [1, 0] * 40}
    assert read_experts(saved(columns, tmp_path / name)).loss == "zero-one"
    where = {"table.csv": "line 72", "table.jsonl": "line 71", "table.parquet": "row 71"}[name]
    for column, what in (("b", "predictions"), ("y", "outcomes")):
        path = saved({**columns, column: [*columns[column][:70], 7, *columns[column][71:]]}, tmp_path / name)
        message = fails(f'{where}, column "{column}" of FILE has 7', path)
        assert message.startswith(f"{what} must be 0 or 1, from which the zero-one loss was inferred")
        batches = read_experts(path).batches()
        assert len(next(batches)) == 70
        with pytest.raises(SourceError):
            next(batches)
        assert len(all_of(read_experts(path, loss="zero-one"))[1]) == 80


def test_sleeping_expert_is_no_third_value(write):
    x, _ = all_of(read_experts(write("a,b,y\n0,1,1\n1,,0\n"), sleeping=True))
    assert math.isnan(x[1, 1])


def test_unknown_loss_is_refused(write):
    with pytest.raises(SourceError, match="a loss must be one of zero-one, absolute, squared, log, table: got 'hinge'"):
        read_experts(write("a,y\n1,1\n"), loss="hinge")


# text


def test_text_gets_numbers_shared_by_outcome_and_experts(write):
    stream = read_experts(write("anna,ben,outcome\ncat,dog,cat\ndog,dog,dog\ncat,1,bird\n"))
    x, y = all_of(stream)
    cat, dog, bird = (float(FIRST_TEXT + k) for k in range(3))
    assert x.tolist() == [[cat, dog], [dog, dog], [cat, 1.0]]
    assert y.tolist() == [cat, dog, bird]
    assert stream.values.texts == ["cat", "dog", "bird"]
    assert [stream.values.shown(value) for value in (cat, 1.0)] == ["cat", 1.0]


def test_a_text_table_without_names_has_no_header(write):
    stream = read_experts(write("cat,dog,cat\ndog,dog,dog\n"))
    assert len(all_of(stream)[1]) == 2


def test_a_number_that_could_be_taken_for_a_text_is_refused(write):
    fails('line 3, column "a" of FILE', write(f"a,b,y\n1,2,1\n{2**52},1,1\n"), loss="zero-one")


def test_text_is_for_zero_one_loss_only(write):
    message = fails('line 3, column "b" of FILE has "cat"', write("a,b,y\n0.5,0.5,1\n0.5,cat,1\n"))
    assert message.startswith("predictions must be numbers")
    assert 'loss="zero-one"' in message


def test_one_wrong_cell_among_probabilities_does_not_make_them_text(write):
    fails('line 3, column "b" of FILE has "inf"', write("a,b,y\n0.5,0.5,1\n0.5,inf,1\n"))
    fails("predictions must be finite", write("a,b,y\n1,0,1\n1,-Infinity,1\n"), loss="zero-one")


def test_too_many_texts_are_no_predictions(write, monkeypatch):
    monkeypatch.setattr("novikoff.data.tables.expert_cells.MOST_TEXTS", 3)
    fails("has one more", write("a,y\n" + "".join(f"w{k},w0\n" for k in range(4))), loss="zero-one")


# what is missing


@pytest.mark.parametrize("nothing", ["", "NA", "nan", "?", "null", "N/A", '""', "  "])
def test_a_missing_prediction_names_its_place_and_sleeping(write, nothing):
    path = write(f"a,b,y\n0.5,0.25,1\n0.5,{nothing},0\n")
    message = fails('line 3, column "b" of FILE', path)
    assert message.startswith("predictions must not be missing")
    assert "sleeping=True" in message
    x, y = all_of(read_experts(path, sleeping=True))
    assert math.isnan(x[1, 1])
    assert x[1, 0] == 0.5
    assert y.tolist() == [1.0, 0.0]


def test_a_missing_outcome_is_an_error_even_where_experts_sleep(write):
    path = write("a,b,y\n0.5,0.25,1\n0.5,0.25,\n")
    assert fails('line 3, column "y" of FILE is empty', path, sleeping=True).startswith("outcomes must not be missing")


# what is wrong


def test_errors_name_line_and_column(write):
    fails('line 3, column "b" of FILE has "0,5"', write("a;b;y\n0.5;0.5;1\n0.5;0,5;1\n"))
    fails('line 2, column "a" of FILE has "1e999"', write("a,b,y\n1e999,0.5,1\n"))
    fails("every row must have 3 cells, as the first has: line 4 of FILE has 2", write("a,b,y\n.5,.5,1\n\n.5,1\n"))
    fails("Is a quote left open?", write('a,b,y\n0.5,0.5,1\n0.5,"0.5,1\n0.5,0.5,1\n'))
    fails("text must be UTF-8: line 3 of FILE", write(b"a,b,y\n0.5,0.5,1\n0.5,\xff,1\n"))
    fails("a source must not be empty: FILE has no rows", write(""))
    fails("has a header on line 1 and no rows", write("a,b,y\n"))
    fails("FILE is not one", write("just words\nand words\n"))
    fails("file not found: FILE", "/nowhere/table.csv")


def test_rows_before_a_wrong_one_are_played_first(write):
    stream = read_experts(write("a,y\n0.5,1\n0.25,1\nx,1\n0.5,1\n"))
    batches = stream.batches()
    assert next(batches).x.tolist() == [[0.5], [0.25]]
    with pytest.raises(SourceError, match="line 4"):
        next(batches)


# numbers

CELL = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 1).map(lambda value: f"{value:.4f}"),
    st.decimals(-10, 10, allow_nan=False, places=9).map(str),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(["0", "1", "-0", "+1", ".5", "1.", "00.25", "1e-5", "0.12345678", "0.123456789", " 1.5 ", '"0.5"']),
)


@FRESH
@given(
    st.integers(1, 9).flatmap(lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1)),
    st.sampled_from(["\n", "\r\n"]), st.sampled_from([",", "\t", ";"]), st.integers(1, 200), st.booleans(),
)  # fmt: skip
def test_numbers_are_those_of_python_for_any_chunks(write, rows, newline, delimiter, chunk, last):
    text = newline.join(delimiter.join(row) for row in rows) + (newline if last else "")
    stream = read_experts(write(text), loss="table", header=False, delimiter=delimiter, chunk=chunk)
    losses, _ = all_of(stream)
    wanted = [[float(cell.strip().strip('"')) for cell in row] for row in rows]
    assert losses.tobytes() == np.array(wanted).tobytes()


@FRESH
@given(st.binary(max_size=40), st.integers(0, 60))
def test_any_bytes_are_read_as_pythons_own_reader_reads_them_or_refused(write, noise, at):
    """One odd stretch anywhere in a table of plain numbers: the same numbers as csv and float, or an error of ours."""
    plain = b"0.25,0.5,0.125\n1.5,2.5,3.5\n0.1234,7,0.9\n"
    text = b"a,b,c\n" + plain + plain[:at] + noise + plain[at:] + plain
    try:
        losses, _ = all_of(read_experts(write(text), loss="table", header=True, delimiter=","))
    except SourceError:
        return
    rows = csv.reader(io.StringIO(text.decode(), newline=""))
    wanted = [[float(cell) for cell in row] for row in list(rows)[1:] if row]
    assert losses.tolist() == wanted


@pytest.mark.parametrize("outcome", range(7))
def test_the_outcome_may_stand_anywhere_among_many(write, outcome):
    rng = np.random.default_rng(outcome)
    table = np.round(rng.random((50, 7)), 4)
    names = [f"m{k}" for k in range(7)]
    text = ",".join(names) + "\n" + "".join(",".join(f"{value:.4f}" for value in row) + "\n" for row in table)
    x, y = all_of(read_experts(write(text), outcome=outcome))
    assert x.tolist() == np.delete(table, outcome, axis=1).tolist()
    assert y.tolist() == table[:, outcome].tolist()
    x, y = all_of(read_experts(write(text), outcome=outcome, without=[(outcome + 2) % 7]))
    assert x.tolist() == np.delete(table, [outcome, (outcome + 2) % 7], axis=1).tolist()


def test_threads_and_chunks_change_nothing(write):
    rng = np.random.default_rng(0)
    rows = [
        ",".join([*(repr(float(value)) for value in rng.random(5)), "1" if rng.random() < 0.5 else ""])
        for _ in range(400)
    ]
    path = write("y,a,b,c,d,e\n" + "\n".join(rows) + "\n")
    wanted = all_of(read_experts(path, sleeping=True))
    for threads, chunk in ((1, 100), (3, 1000), (4, 2**14)):
        found = all_of(read_experts(path, sleeping=True, threads=threads, chunk=chunk))
        assert [part.tobytes() for part in found] == [part.tobytes() for part in wanted]


# positions


@pytest.mark.parametrize("name", ["table.csv", "table.jsonl", "table.parquet", "table.arrow", "table.csv.gz"])
def test_a_pass_resumes_where_a_batch_ended(tmp_path, monkeypatch, name):
    monkeypatch.setattr("novikoff.data.tables.read_experts.CELLS_AT_ONCE", 1)
    rng = np.random.default_rng(1)
    words = ["sun", "rain", "snow"]
    columns = {name: rng.choice(words, 300).tolist() for name in ("a", "b", "y")}
    path = saved(columns, tmp_path / name)
    batches = list(read_experts(path, chunk=200).batches())
    assert len(batches) > 3
    for batch in batches[:-1]:
        again = read_experts(path)
        x, y = all_of(again, json.loads(json.dumps(batch.end)))
        behind = batch.first - 1 + len(batch)
        whole = all_of(read_experts(path))
        assert x.tolist() == whole[0][behind:].tolist()
        assert y.tolist() == whole[1][behind:].tolist()


def saved(columns, path):
    """The columns as a file of the kind that its name says."""
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path, row_group_size=100)
    elif path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, pa.table(columns).schema) as writer:
            writer.write_table(pa.table(columns), max_chunksize=90)
    else:
        cells = [["" if value is None else str(value) for value in row] for row in rows]
        text = "\n".join([",".join(columns), *(",".join(row) for row in cells)]) + "\n"
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return str(path)


# the other formats

FORMATS = ["table.csv", "table.tsv.gz", "table.jsonl", "table.parquet", "table.arrow"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_numbers(tmp_path, name):
    rng = np.random.default_rng(2)
    columns = {"a": rng.random(500).tolist(), "y": rng.integers(0, 2, 500).tolist(), "b": rng.random(500).tolist()}
    columns["b"][7] = None
    stream = read_experts(saved(columns, tmp_path / name), sleeping=True)
    x, y = all_of(stream)
    assert stream.experts == ("a", "b")
    assert stream.loss == "squared"
    assert stream.count() == 500
    assert x[:, 0].tolist() == columns["a"]
    assert math.isnan(x[7, 1])
    assert np.delete(x[:, 1], 7).tolist() == [value for value in columns["b"] if value is not None]
    assert y.tolist() == columns["y"]
    assert set(stream.fingerprint()) == {"size", "mtime_ns", "place", "sample", "experts"}
    assert stream.fingerprint()["experts"] == list(stream.experts)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_locates_missing_values(tmp_path, name):
    columns = {"a": [0.5, 0.5, None], "y": [1, 0, 1]}
    path = saved(columns, tmp_path / name)
    row = "row 3" if name.endswith(("parquet", "arrow")) else "line 3" if name.endswith("jsonl") else "line 4"
    message = fails(f'{row}, column "a" of FILE', path)
    assert "sleeping=True" in message
    assert next(read_experts(path).batches()).x.tolist() == [[0.5], [0.5]]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_text_for_zero_one_loss(tmp_path, name):
    columns = {"a": ["sun", "rain", "sun"], "b": ["rain", "rain", "sun"], "outcome": ["sun", "sun", "fog"]}
    stream = read_experts(saved(columns, tmp_path / name))
    x, y = all_of(stream)
    assert stream.loss == "zero-one"
    assert (x[:, 0] == y).tolist() == [True, False, False]
    assert (x[:, 1] == y).tolist() == [False, False, False]
    assert stream.values.texts == ["sun", "rain", "fog"]


def test_repeated_parquet_name_is_no_outcome(tmp_path):
    path = str(tmp_path / "twice.parquet")
    pq.write_table(
        pa.Table.from_arrays([pa.array([0.5]), pa.array([0.25]), pa.array([1])], names=["a", "a", "y"]), path
    )
    fails("the outcome must be one of a, a (column 1), y: 'a' is the name of several columns", path, outcome="a")
    assert read_experts(path).experts == ("a", "a (column 1)")


def test_truth_values_and_integers_of_parquet_are_numbers(tmp_path):
    table = {"a": [True, False], "b": [3, 4], "c": [1, 2], "y": [1, 0]}
    x, _ = all_of(read_experts(saved(table, tmp_path / "t.parquet"), loss="zero-one"))
    assert x.tolist() == [[1.0, 3.0, 1.0], [0.0, 4.0, 2.0]]


def test_truth_values_next_to_text_in_json_lines_are_those_of_other_columns(write):
    """Truth values are 1 and 0 in every column, alone or beside text, so that they can be compared."""
    x, y = all_of(
        read_experts(write('{"a": true, "b": 1, "y": true}\n{"a": "no", "b": 0, "y": false}\n'), loss="zero-one")
    )
    assert (x == y[:, None]).tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_frame_reads_as_table(library):
    columns = {"a": [0.25, 0.75], "outcome": [1, 0], "b": [0.5, None]}
    frame = pa.table(columns) if library == "pyarrow" else pytest.importorskip(library).DataFrame(columns)
    stream = read_experts(frame, sleeping=True)
    x, y = all_of(stream)
    assert (stream.experts, stream.loss, len(stream)) == (("a", "b"), "squared", 2)
    assert x[:, 0].tolist() == [0.25, 0.75]
    assert x[0, 1] == 0.5
    assert math.isnan(x[1, 1])
    assert y.tolist() == [1.0, 0.0]
    with pytest.raises(SourceError, match='predictions must not be missing: row 2, column "b" of frame is empty'):
        all_of(read_experts(frame, loss="squared"))


@pytest.mark.parametrize("name", ["table.parquet", "table.arrow"])
def test_a_wide_table_comes_in_batches_of_about_as_many_numbers(tmp_path, monkeypatch, name):
    monkeypatch.setattr("novikoff.data.tables.read_experts.CELLS_AT_ONCE", 6400)
    table = pa.table({f"m{k}": np.arange(400.0) for k in range(80)})
    pq.write_table(table, tmp_path / "table.parquet")
    with pa.OSFile(str(tmp_path / "table.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    sizes = [len(batch) for batch in read_experts(tmp_path / name, loss="table").batches()]
    assert (max(sizes), sum(sizes)) == (80, 400)


def test_an_infinite_number_of_parquet_is_refused(tmp_path):
    path = saved({"a": [0.5, math.inf], "y": [1, 0]}, tmp_path / "t.parquet")
    fails('row 2, column "a" of FILE', path)


def test_json_lines_must_keep_to_the_keys_of_the_first(write):
    path = write('{"a": 0.5, "y": 1}\n\n{"y": 0, "c": 1}\n', "t.jsonl")
    fails('line 3 of FILE has a new key, "c"', path)
    assert math.isnan(all_of(read_experts(write('{"a": 0.5, "y": 1}\n{"y": 0}\n'), sleeping=True))[0][1, 0])
    fails("a line must be one JSON object: line 2 of FILE", write('{"a": 0.5, "y": 1}\n{"a": 0.5,\n'))
    fails(
        'values must be plain, as in the first lines: line 2, column "a" of FILE has "[1]"',
        write('{"a": 0.5, "y": 1}\n{"a": [1], "y": 1}\n'),
    )


# sources


def test_a_pipe_is_read_once_and_as_it_comes():
    reading, writing = os.pipe()
    more = threading.Event()

    def feed():
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(b"a,b,y\n0.5,0.25,1\n0.5,1,0\n0.5,1,0\n0.5,1,0\n")
            pipe.flush()
            assert more.wait(10)
            pipe.write(b"0.125,1,1\n")

    thread = threading.Thread(target=feed)
    thread.start()
    with os.fdopen(reading, "rb") as pipe:
        stream = read_experts(pipe)
        assert not stream.rereadable
        assert stream.count() is None
        batches = stream.batches()
        assert len(next(batches)) == 4
        more.set()
        assert next(batches).x.tolist() == [[0.125, 1.0]]
        assert next(batches, None) is None
    thread.join()
    with pytest.raises(SourceError, match="cannot be read again"):
        next(stream.batches())


def test_a_file_object_is_read_from_where_it_is():
    stream = read_experts(io.BytesIO(b"a,y\n0.5,1\n"))
    for _ in range(2):
        assert all_of(stream)[0].tolist() == [[0.5]]


def test_rows_are_counted_without_blank_lines(write):
    for text in ("a,y\n1,1\n\n0,1\r\n\r\n1,0", "a,y\n1,1\n0,1\n1,0\n\n"):
        stream = read_experts(write(text), chunk=3)
        assert stream.count() == len(all_of(stream)[1]) == 3


def test_a_byte_order_mark_is_no_part_of_a_cell(write):
    assert read_experts(write(b"\xef\xbb\xbfy,a\n1,0.5\n")).experts == ("a",)
    assert all_of(read_experts(write(b"\xef\xbb\xbf0.25,0.5\n0.5,1\n")))[0].tolist() == [[0.25], [0.5]]


def test_rows_longer_than_the_first_look_are_read(write):
    width = 30_000
    row = ",".join(["0.25"] * width)
    stream = read_experts(write(f"{row}\n{row}\n"), loss="table")
    assert stream.domain == Domain("losses", width)
    assert np.all(all_of(stream)[0] == 0.25)


def test_a_bad_line_among_json_lines_is_reported_as_one(write):
    fails("a line must be one JSON object: line 2 of FILE", write('{"a": 0.5, "y": 1}\nnot json\n'))
