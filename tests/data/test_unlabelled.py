"""Examples without labels: the x of the labelled reader, and messages that name the places of the file."""

import bz2
import gzip
import io
import json
import os
import threading

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import SourceError
from novikoff.data.convert import convert
from novikoff.data.formats.jsonl import JSONL
from novikoff.data.formats.labelled_text import Text
from novikoff.data.formats.svmlight import Svmlight
from novikoff.data.formats.vw import VW
from novikoff.data.tables.table import Table
from novikoff.data.tables.table_formats import CSV
from novikoff.data.unlabelled import unlabelled


def rows(stream):
    """Every x of a pass, as lists; y must be -1s."""
    found = []
    for batch in stream.batches():
        if getattr(stream, "unlabelled", False):
            assert batch.y.dtype == np.int8
            assert (batch.y == -1).all()
        assert batch.first == len(found) + 1
        found += [
            (x[0].tolist(), x[1].tolist()) if isinstance(x, tuple) else np.asarray(x).tolist() for x, _ in batch.rows()
        ]
    return found


def of(data, **reading):
    return unlabelled(io.BytesIO(data), **reading)


@pytest.mark.parametrize(
    ("data", "features"),
    [
        (b"a,b\n1,2\n3,4.5\n", ("a", "b")),
        (b"1,2\n3,4.5", None),
        (b"\xef\xbb\xbfa\tb\r\n1\t2\r\n3\t4.5\r\n", ("a", "b")),
        (b"label;y\n1;2\n3;4.5\n", ("label", "y")),
    ],
)
def test_every_column_of_a_table_is_a_feature(data, features):
    stream = of(data)
    assert isinstance(stream, Table)
    assert (stream.features, stream.domain.kind, stream.domain.width) == (features, "vector", 2)
    assert (stream.labels, stream.unlabelled) == (None, True)
    assert rows(stream) == rows(stream) == [[1.0, 2.0], [3.0, 4.5]]


def test_a_single_column_is_a_table():
    assert rows(of(b"age\n31\n7\n")) == [[31.0], [7.0]]


def test_header_can_be_declared():
    assert rows(of(b"1,2\n3,4\n", header=True)) == [[3.0, 4.0]]


@pytest.mark.parametrize("write", [pa.feather.write_feather, pa.parquet.write_table])
def test_plain_columns_of_arrow_and_parquet_are_features(write, tmp_path):
    write(pa.table({"a": [1, 3], "b": [0.5, 2.0]}), tmp_path / "t")
    stream = unlabelled(tmp_path / "t")
    assert stream.features == ("a", "b")
    assert rows(stream) == [[1.0, 0.5], [3.0, 2.0]]


def test_columns_of_lists_are_refused(tmp_path):
    pa.parquet.write_table(pa.table({"x": [[1, 3]]}), tmp_path / "t")
    with pytest.raises(SourceError, match='column "x" of .* has lists'):
        unlabelled(tmp_path / "t")


def test_a_converted_file_is_read_with_the_labels_it_has(tmp_path):
    convert(CSV(io.BytesIO(b"a,b,label\n1,2,ham\n3,4.5,spam\n")), tmp_path / "t.arrow")
    stream = unlabelled(tmp_path / "t.arrow")
    assert not getattr(stream, "unlabelled", False)
    assert stream.labels.positive == "spam"
    assert any("has labels" in note for note in stream.notes)


LINES = {
    "svmlight": (b"3:0.5 7:1\nqid:2 0:2.5 # why\n5:1 5:2\n", Svmlight, b"1 "),
    "vw": (b"|f a b:2\n'tag |g 7:0.5\n| z\n", VW, b"1 "),
    "text": (b"WINNER!! Call now\nsee you, at 5\n# hash\n", Text, b"0\t"),
}


@pytest.mark.parametrize("packed", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("name", LINES)
def test_lines_without_a_label_have_the_features_of_lines_with_one(name, packed):
    data, reader, label = LINES[name]
    stream = of(packed(data))
    assert isinstance(stream, reader)
    assert f"format: {name}, without labels" in stream.notes
    labelled = b"".join(label + line for line in data.splitlines(keepends=True))
    wanted = rows(reader(io.BytesIO(labelled), positive=1))
    assert len(wanted) == 3
    assert rows(stream) == rows(stream) == wanted  # and a second pass
    assert stream.domain == reader(io.BytesIO(labelled)).domain
    assert not any("positive" in note for note in stream.notes)


def test_objects_have_the_features_of_objects_with_a_label():
    objects = [{"age": 3, "city": "Rome", "f": {"hot": 1}}, {}, {"pixels": [0.5, 2]}]
    bare = "".join(json.dumps(one) + "\n" for one in objects).encode()
    full = "".join(json.dumps({"label": 1, **one}) + "\n" for one in objects).encode()
    assert rows(of(b" " + bare)) == rows(JSONL(io.BytesIO(full), label="label", positive=1))


def test_objects_are_rows_of_a_table_where_numbers_are_predicted():
    stream = of(b'{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', numbers=True)
    assert stream.features == ("a", "b")
    assert rows(stream) == [[1.0, 2.0], [3.0, 4.0]]


def test_a_key_that_may_be_the_label_is_reported():
    assert any('"label" is read as a feature' in note for note in of(b'{"a": [1], "label": "ham"}\n').notes)
    assert not any("is read as a feature" in note for note in of(b'{"a": [1], "labels": "ham"}\n').notes)


@given(
    st.lists(st.sampled_from([b"3:1", b"", b" ", b"# c", b"0:2 9:1.5", b"\t4:1\r", b"\r"]), min_size=1),
    st.booleans(),
)
def test_blank_lines_and_comments_are_no_examples_and_are_counted(lines, ended):
    data = b"7:1\n" + b"\n".join(lines) + (b"\n" if ended else b"")
    stream = of(data, format="svmlight")
    wanted = [line for line in data.split(b"\n") if line.strip() and not line.startswith(b"#")]
    assert len(rows(stream)) == len(wanted)
    there = len(data.split(b"\n")) - (data.endswith(b"\n"))
    left = there - len(wanted)
    assert any(f"{left:,} line(s)" in note for note in stream.notes) == (left > 0)


def test_blanks_alone_are_no_message():
    stream = of(b"hello you\n \t \n\t\nsee you\n  ", format="text")
    assert len(rows(stream)) == 2
    assert any("3 line(s)" in note for note in stream.notes)


def test_lines_are_whole_across_the_pieces_they_are_read_in(tmp_path):
    lines = [f"{i % 7}:{i} {7 + i % 11}:1" for i in range(150_000)]
    (tmp_path / "x.svm").write_text("\n".join(lines))
    found = 0
    for batch in unlabelled(tmp_path / "x.svm").batches():
        for t, (indices, values) in enumerate(batch.x.rows(), start=found):
            if t % 1000 == 0 or t >= found + len(batch) - 2 or t < found + 2:
                assert (indices.tolist(), values.tolist()) == ([t % 7, 7 + t % 11], [t, 1.0])
        found += len(batch)
    assert found == len(lines)


@pytest.mark.parametrize(
    "data", [b"3:0.5 7:1\n2:1\n", b"a,b\n1,2\n3,4\n", b"see you soon\nhello you\n", b'{"a": 1}\n{"a": 2}\n']
)
def test_a_pipe_is_read_once(data):
    out, into = os.pipe()

    def write():
        with open(into, "wb", buffering=0) as pipe:
            for k in range(len(data)):
                pipe.write(data[k : k + 1])

    writer = threading.Thread(target=write)
    writer.start()
    with open(out, "rb", buffering=0) as pipe:
        stream = unlabelled(pipe)
        assert len(rows(stream)) == 2
    writer.join()
    assert not stream.rereadable


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"3:1\n4:1 5:x\n3:1\n", 'line 2, column 7 of .* has "x"'),
        (b"|f a\n|f b c:x\n|f d\n", 'line 2, column 8 of .* has "x"'),
        (b"|f a\nfoo\n|f b\n", 'line 2, column 1 of .* has "foo"'),
        (b'{"a": [1]}\n{"a": 1, x}\n', 'line 2, column 10 of .* has "x}"'),
        (b"a,b\n1,2\n3,4\n5,x\n", 'a numeric column must contain numbers: line 4, column "b" of .* has "x"'),
        (b"a,b\n1,2\n3\n", "every row must have 2 cells.*: line 3"),
    ],
)
def test_errors_name_the_place_in_the_file(data, place):
    with pytest.raises(SourceError, match=place):
        rows(of(data))


def test_bad_lines_are_skipped_where_that_is_requested():
    stream = of(b"3:1\n4:1 5:x\n6:1\n", skip_bad=1)
    assert len(rows(stream)) == 2
    assert any("line 2, column 7" in note for note in stream.notes)


@pytest.mark.parametrize(
    "data",
    [b"1 3:0.5\n-1 4:1\n", b"1 |f a\n-1 |f b\n", b"spam\tcall me now\nham\tsee you soon\n"],
)
def test_lines_with_labels_are_refused(data):
    with pytest.raises(SourceError, match="Leave out unlabelled"):
        of(data)


@pytest.mark.parametrize("data", [b"", b"\n\n", gzip.compress(b"", mtime=0)])
@pytest.mark.parametrize("format", [None, "csv", "svmlight", "text", "jsonl", "vw"])
def test_an_empty_file_is_an_error(data, format):
    with pytest.raises(SourceError, match="must not be empty"):
        rows(of(data, format=format))


@pytest.mark.parametrize(
    ("source", "reading", "told"),
    [
        ("demo:iris", {}, "has labels"),
        ("stream:separable", {}, "has labels"),
        ("no such file", {}, "file not found"),
        (io.BytesIO(b"1,2\n"), {"format": "xml"}, "a format must be one of"),
        (io.BytesIO(b"1,2\n"), {"label": "a"}, "takes header, delimiter, columns.*; got label"),
        (io.BytesIO(b"3:1\n"), {"label": "a"}, "takes skip_bad, threads; got label"),
    ],
)
def test_invalid_arguments_are_refused(source, reading, told):
    with pytest.raises(SourceError, match=told):
        unlabelled(source, **reading)


@pytest.mark.parametrize("data", [b"3:1\n4:1\n", b"see you\nhello you\n", b"|f a\n|f b\n", b'{"a": 1}\n{"a": 2}\n'])
def test_a_byte_order_mark_is_no_part_of_the_first_line(data):
    assert rows(of(b"\xef\xbb\xbf" + data)) == rows(of(data))
